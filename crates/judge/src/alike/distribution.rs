//! Distributions of sizes, and a test whether two of them differ by more than natural variation of contents.

use evidence::SizeClasses;

use super::{OTHER_SHARE, STANDARD_ERRORS, Typical};

/// Share by which sizes may differ.
const SIZE_MAX_DIFFERENCE: f64 = 0.1;
/// Kolmogorov-Smirnov distance of two samples of one distribution, times the square root of the harmonic size, that is
/// exceeded by chance once in 1,000.
const KS_CRITICAL: f64 = 1.95;

/// Sizes in bytes, or numbers of rows: each with its count, in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distribution(Vec<(f64, f64)>);

impl Distribution {
    /// Adds the sizes of a run.
    pub(super) fn add(&mut self, classes: &SizeClasses) {
        let size = |(count, sum): &(u64, u64)| (*sum as f64 / *count as f64, *count as f64);
        self.0.extend(classes.0.iter().filter(|(count, _)| *count > 0).map(size));
        self.settle();
    }

    /// Adds the sizes of another step.
    pub(super) fn merge(&mut self, more: &Self) {
        self.0.extend(&more.0);
        self.settle();
    }

    /// Restores the order, and joins sizes that are within 1 % of each other, so that many runs take no more memory than one.
    fn settle(&mut self) {
        self.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.0.dedup_by(|(size, count), (kept, kept_count)| {
            let is_near = *size <= *kept * 1.01;
            if is_near {
                *kept = (*kept * *kept_count + *size * *count) / (*kept_count + *count);
                *kept_count += *count;
            }
            is_near
        });
    }

    fn count(&self) -> f64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Returns the share of sizes up to `size`.
    fn share_within(&self, size: f64) -> f64 {
        self.0.iter().take_while(|(known, _)| *known <= size).map(|(_, count)| count).sum::<f64>()
            / self.count()
    }

    /// Returns the smallest size that at least `share` of all sizes do not exceed.
    fn at(&self, share: f64) -> f64 {
        let rank = share.clamp(0.0, 1.0) * self.count();
        let mut seen = 0.0;
        let reached = |(_, count): &&(f64, f64)| {
            seen += count;
            seen >= rank
        };
        self.0.iter().find(reached).or(self.0.last()).map_or(0.0, |(size, _)| *size)
    }

    fn mean(&self) -> f64 {
        self.0.iter().map(|(size, count)| size * count).sum::<f64>() / self.count()
    }

    /// Returns the standard error of the mean.
    fn mean_standard_error(&self) -> f64 {
        let (mean, count) = (self.mean(), self.count());
        let squares: f64 = self.0.iter().map(|(size, count)| (size - mean).powi(2) * count).sum();
        (squares / count / count).sqrt()
    }

    fn typical(&self) -> Typical {
        Typical { median: self.at(0.5), mean: self.mean() }
    }

    /// Returns an interval for the true median, which misses it only by chance.
    fn median_between(&self) -> [f64; 2] {
        let half = STANDARD_ERRORS * 0.5 / self.count().sqrt();
        [self.at(0.5 - half), self.at(0.5 + half)]
    }

    fn mean_between(&self) -> [f64; 2] {
        let half = STANDARD_ERRORS * self.mean_standard_error();
        [self.mean() - half, self.mean() + half]
    }
}

/// Returns the typical sizes of both distributions if they differ. `None` if they are alike, or if one is empty. Sizes
/// whose difference is at most `slack` are equal.
pub(super) fn differ(first: &Distribution, second: &Distribution, slack: f64) -> Option<[Typical; 2]> {
    if first.0.is_empty() || second.0.is_empty() {
        return None;
    }
    let larger = |size: f64| size * (1.0 + SIZE_MAX_DIFFERENCE) + slack;
    let chance = KS_CRITICAL * (1.0 / first.count() + 1.0 / second.count()).sqrt();
    let is_other = |share: f64| share > OTHER_SHARE + chance;
    let empty = first.share_within(0.0) - second.share_within(0.0);
    // Share of replies of `a` that are smaller than their counterparts of `b` by more than the tolerance.
    let smaller = |a: &Distribution, b: &Distribution| {
        let share = |(size, _): &(f64, f64)| a.share_within(*size) - b.share_within(larger(*size));
        a.0.iter().map(share).fold(0.0, f64::max)
    };
    let is_shifted = is_other(smaller(first, second)) || is_other(smaller(second, first));
    let are_apart = |[a, b]: [[f64; 2]; 2]| larger(a[1]) < b[0] || larger(b[1]) < a[0];
    let sides = [first, second];
    // The interval of a median needs more than a handful of sizes.
    let is_scaled = OTHER_SHARE + chance < 1.0
        && are_apart(sides.map(Distribution::median_between))
        && are_apart(sides.map(Distribution::mean_between));
    (is_other(empty.abs()) || is_shifted || is_scaled).then(|| sides.map(Distribution::typical))
}
