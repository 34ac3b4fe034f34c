//! Comparison of a row with the reference of its load: the baseline, or the best row.

use judge::results::Verdict;

use super::{LoadView, Pair};
use crate::apart;

/// Ratio of the reference to itself.
const REFERENCE_RATIO: &str = "1";

/// Whether the row leads the load, and at least one other row is compared with it. It need not be proven best.
pub(super) fn is_reference(load: &LoadView<'_>, row: usize) -> bool {
    load.best_rows().next().is_some_and(|best| best.row == row)
        && (0..load.rows.len()).any(|other| pair_with_reference(load, other).is_some())
}

/// Comparison of a row with the best one, or with the baseline.
pub(super) fn pair_with_reference<'l>(load: &'l LoadView<'_>, row: usize) -> Option<&'l Pair> {
    let other = load
        .baseline
        .or_else(|| load.best_rows().next().map(|best| best.row))
        .filter(|other| *other != row)?;
    load.pairs
        .iter()
        .find(|pair| [pair.first, pair.second] == [row, other] || [pair.second, pair.first] == [row, other])
}

/// Estimate of the difference between a row and the reference, its interval, and the comparison. `None` for the reference itself,
/// and without an estimate.
pub(super) fn apart<'l>(load: &'l LoadView<'_>, row: usize) -> Option<(f64, Option<[f64; 2]>, &'l Pair)> {
    let pair = pair_with_reference(load, row).filter(|pair| pair.has_look())?;
    // The best row is the reference, even if it is slower in the common blocks.
    let from = if load.baseline.is_none() { pair.other(row) } else { pair.first };
    let (estimate, ends) = pair.estimate_for(from);
    Some((estimate?, ends, pair))
}

/// Reason why a row has no ratio. `None` if it has one, or if nothing is compared.
pub(super) fn why_no_ratio(load: &LoadView<'_>, row: usize) -> Option<String> {
    if apart(load, row).is_some() || load.pairs.is_empty() {
        return None;
    }
    let is_base = load.baseline == Some(row) || load.baseline.is_none() && is_reference(load, row);
    Some(
        match pair_with_reference(load, row) {
            _ if is_base => REFERENCE_RATIO,
            Some(pair) if pair.blocks_in_common == 0 => "no common block",
            Some(pair) if pair.too_few_samples > 0 => "too few samples",
            Some(_) => "too few blocks",
            None if load.rows[row].metric.is_none() => "no figure",
            None => "not compared",
        }
        .to_owned(),
    )
}

/// Ratio or difference of a row to the reference, or the reason why it has none, and the verdict as one word. `None` if nothing is
/// compared.
pub(crate) fn compared(load: &LoadView<'_>, row: usize) -> Option<(String, &'static str)> {
    if let Some((estimate, _, pair)) = apart(load, row) {
        let is_ahead = pair.ahead().0 == row;
        let verdict = match pair.comparison.verdict {
            _ if pair.has_more_errors => "none",
            Verdict::Differs { below_matters: true } => "below",
            Verdict::Differs { .. } if is_ahead => "better",
            Verdict::Differs { .. } => "worse",
            Verdict::Equivalent => "equivalent",
            Verdict::Inconclusive => "inconclusive",
            Verdict::MoreErrors(_) | Verdict::None(_) => "none",
        };
        return Some((apart::alone(&pair.by, estimate), verdict));
    }
    let why = why_no_ratio(load, row)?;
    Some(if why == REFERENCE_RATIO { (why, "reference") } else { (why, "none") })
}

/// Whether the comparison has a verdict.
pub(super) fn is_conclusive(pair: &Pair) -> bool {
    matches!(pair.comparison.verdict, Verdict::Differs { .. } | Verdict::Equivalent) && !pair.has_more_errors
}
