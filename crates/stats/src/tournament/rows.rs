//! Results of every variant in each block of a best-of search.

use alloc::vec::Vec;

use libm::log;

use crate::scale::is_figure;
use crate::{ErrorGap, RunResult, look_at};

/// Finished block: result by variant, `None` for variants that were not in it.
pub(super) type Row = Vec<Option<RunResult>>;

/// Finished blocks, in order.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// +1 if a larger figure is better, otherwise -1.
    sign: f64,
    rows: Vec<Row>,
}

impl Rows {
    pub(super) fn new(higher_is_better: bool) -> Self {
        Self { sign: if higher_is_better { 1.0 } else { -1.0 }, rows: Vec::new() }
    }

    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Returns the blocks from index `from` on.
    pub(super) fn since(&self, from: usize) -> &[Row] {
        &self.rows[from..]
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the merit of a variant in a block: the log of its figure, with the sign chosen so that larger is better. `None` without a
    /// figure.
    pub(super) fn merit(&self, row: &Row, setting: usize) -> Option<f64> {
        usable_figure(row.get(setting)?.as_ref()?).map(|value| self.sign * log(value))
    }

    /// Returns the merits of the given variants in a block. A missing merit counts as 0, which cannot happen: variants in a race are in all
    /// of its blocks.
    pub(super) fn merits(&self, row: usize, of: &[usize]) -> Vec<f64> {
        of.iter().map(|setting| self.merit(&self.rows[row], *setting).unwrap_or(0.0)).collect()
    }

    /// Returns the lead of the first variant over the second in each common block from index `from` on.
    pub(super) fn leads(&self, from: usize, first: usize, second: usize) -> impl Iterator<Item = f64> {
        self.rows[from..]
            .iter()
            .filter_map(move |row| Some(self.merit(row, first)? - self.merit(row, second)?))
    }

    /// Returns the mean lead of the first variant over the second. `None` without a common block.
    pub(super) fn lead(&self, from: usize, first: usize, second: usize) -> Option<f64> {
        let (count, sum) =
            self.leads(from, first, second).fold((0u32, 0.0), |(count, sum), lead| (count + 1, sum + lead));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Returns the ratio of the first figure to the second for a given lead.
    pub(super) fn ratio(&self, lead: f64) -> Option<f64> {
        Some(libm::exp(self.sign * lead)).filter(|ratio| ratio.is_finite())
    }

    /// Returns the mean merit in the blocks from index `from` on.
    pub(super) fn mean(&self, from: usize, setting: usize) -> Option<f64> {
        let merits = self.rows[from..].iter().filter_map(|row| self.merit(row, setting));
        let (count, sum) = merits.fold((0u32, 0.0), |(count, sum), merit| (count + 1, sum + merit));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Returns the variant with the highest mean merit from index `from` on; the first of several equal ones.
    pub(super) fn best(&self, from: usize, of: &[usize]) -> Option<usize> {
        let means = of.iter().filter_map(|setting| Some((*setting, self.mean(from, *setting)?)));
        means.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(setting, _)| setting)
    }

    /// Returns whether the first variant has significantly more errors than the second.
    pub(super) fn has_more_errors(&self, from: usize, first: usize, second: usize) -> bool {
        let pairs: Vec<[RunResult; 2]> =
            self.rows[from..].iter().filter_map(|row| Some([row[first]?, row[second]?])).collect();
        let Ok(look) = look_at(pairs.len(), pairs.len(), 1) else { return false };
        let gap = ErrorGap::over(&pairs[..look.blocks as usize], look.critical);
        gap.and_then(|gap| gap.against(true)).is_some_and(|more| more.is_shown)
    }

    /// Returns the variant with the smallest error share from index `from` on.
    pub(super) fn fewest_errors(&self, from: usize, of: &[usize]) -> Option<usize> {
        let share = |setting: usize| {
            let seen = self.rows[from..].iter().filter_map(|row| row[setting].as_ref());
            let (count, sum) =
                seen.fold((0u32, 0.0), |(count, sum), seen| (count + 1, sum + seen.error_share()));
            sum / f64::from(count.max(1))
        };
        of.iter().copied().min_by(|one, other| share(*one).total_cmp(&share(*other)))
    }
}

/// Returns the figure of a run. `None` if it has no logarithm.
pub(super) fn usable_figure(seen: &RunResult) -> Option<f64> {
    seen.value().filter(is_figure)
}
