//! Response times of a short period, in classes at most 3.2 % wide.

use alloc::collections::BTreeMap;

use crate::histogram::Histogram;
use crate::percentile::Percentile;

/// Number of classes per power of two.
const PARTS: u64 = 32;
/// Number of classes up to [`Histogram::HIGHEST_NS`].
pub(crate) const CLASSES: u16 = 38 * PARTS as u16;

/// Response times by class. Only used classes take memory. Merging is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Responses(BTreeMap<u16, u64>);

impl Responses {
    /// Counts one response time.
    #[inline]
    pub fn record(&mut self, response_ns: u64) {
        *self.0.entry(class(response_ns)).or_default() += 1;
    }

    /// Adds the response times of another period.
    pub fn merge(&mut self, more: &Self) {
        for (class, count) in &more.0 {
            let sum = self.0.entry(*class).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// Returns the number of response times.
    pub fn count(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the response time at a percentile, in nanoseconds, with the times of a class assumed to be evenly spread over it. `None` if
    /// empty.
    pub fn value_at(&self, percentile: Percentile) -> Option<f64> {
        let rank = percentile.rank(self.count())?;
        let mut below = 0;
        for (class, count) in &self.0 {
            if below + count >= rank {
                let (from_ns, width_ns) = (lowest_in(*class), width(*class));
                let share = ((rank - below) as f64 - 0.5) / *count as f64;
                return Some(from_ns as f64 + width_ns as f64 * share);
            }
            below += count;
        }
        None
    }

    /// Returns the number of response times up to `response_ns`, with the times of a class assumed to be evenly spread over it.
    pub fn count_within(&self, response_ns: f64) -> f64 {
        let within = |(class, count): (&u16, &u64)| {
            let (from_ns, width_ns) = (lowest_in(*class) as f64, width(*class) as f64);
            *count as f64 * ((response_ns - from_ns) / width_ns).clamp(0.0, 1.0)
        };
        self.0.iter().map(within).sum()
    }

    /// Returns the used classes in order: number and count.
    pub(crate) fn classes(&self) -> impl ExactSizeIterator<Item = (u16, u64)> + '_ {
        self.0.iter().map(|(class, count)| (*class, *count))
    }

    /// Adds to the class with this number, which must be below [`CLASSES`].
    pub(crate) fn add(&mut self, class: u16, count: u64) {
        let sum = self.0.entry(class).or_default();
        *sum = sum.saturating_add(count);
    }
}

/// Returns the number of the class of a value, which may also be a size in bytes.
#[inline]
pub(crate) fn class(response_ns: u64) -> u16 {
    let response_ns = response_ns.min(Histogram::HIGHEST_NS);
    if response_ns < PARTS {
        return response_ns as u16;
    }
    let top = u64::from(response_ns.ilog2());
    ((top - 4) * PARTS + ((response_ns >> (top - 5)) & (PARTS - 1))) as u16
}

fn lowest_in(class: u16) -> u64 {
    let class = u64::from(class);
    if class < PARTS { class } else { (PARTS + class % PARTS) << (class / PARTS - 1) }
}

fn width(class: u16) -> u64 {
    let class = u64::from(class);
    if class < PARTS { 1 } else { 1 << (class / PARTS - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_contiguous_and_narrow() {
        for response_ns in (0..200_000).chain([1 << 30, (1 << 42) - 1, u64::MAX]) {
            let (class, capped_ns) = (class(response_ns), response_ns.min(Histogram::HIGHEST_NS));
            let (from_ns, width_ns) = (lowest_in(class), width(class));
            assert!(
                class < CLASSES && from_ns <= capped_ns && capped_ns < from_ns + width_ns,
                "{response_ns}"
            );
            assert!(width_ns == 1 || width_ns * 32 <= from_ns, "{response_ns}");
        }
    }

    #[test]
    fn percentiles_are_accurate_to_a_class() {
        let mut responses = Responses::default();
        assert_eq!(responses.value_at(Percentile::P50), None);
        (1..=1_000).for_each(|us| responses.record(us * 1_000));
        for (percentile, us) in [(Percentile::P50, 500.0), (Percentile::P90, 900.0), (Percentile::P99, 990.0)]
        {
            let found_us = responses.value_at(percentile).unwrap() / 1e3;
            assert!((found_us / us - 1.0).abs() < 0.032, "{found_us} for {us}");
        }
        let mut twice = responses.clone();
        twice.merge(&responses);
        assert_eq!(twice.count(), 2_000);
        assert_eq!((twice.count_within(0.0), twice.count_within(2e6)), (0.0, 2_000.0));
        let half = twice.count_within(500e3);
        assert!((half / 1_000.0 - 1.0).abs() < 0.032, "{half}");
        let medians = [&responses, &twice].map(|of| of.value_at(Percentile::P50).unwrap());
        assert!((medians[0] / medians[1] - 1.0).abs() < 0.01, "{medians:?}");
    }
}
