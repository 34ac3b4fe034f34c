//! Distribution of durations: counts in bins whose edges have equal ratios, so that a long tail does not hide the body.

use record::{Histogram, Percentile};

/// Min ratio of upper to lower bound. Below it, edges of neighboring bins look equal in three digits.
const RATIO_MIN: f64 = 1.1;
/// Percentile at the lower bound of the bins, so that a few short outliers do not stretch them.
const LOWEST: Percentile = match Percentile::from_ppm(10_000) {
    Some(percentile) => percentile,
    None => Percentile::P50,
};
/// Candidates for the percentile at the upper bound of the bins before the last: the first with enough samples above it
/// applies.
const HIGHEST: [Percentile; 4] = [Percentile::P99_9, Percentile::P99, Percentile::P95, Percentile::P90];

/// Durations longer than the end of the previous bin, up to `until_ns`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Longest duration of the bin, in nanoseconds.
    pub until_ns: f64,
    /// Number of durations.
    pub count: u64,
}

/// Counts in at most `bins_max` bins, from short to long. Edges grow by one ratio, and the last bin holds the tail up to the maximum.
///
/// `None` if there are too few samples for a 90th percentile, or if durations differ too little for bins.
pub fn log_bins(durations: &Histogram, bins_max: usize) -> Option<Vec<Bin>> {
    let high_ns = HIGHEST.into_iter().find_map(|percentile| durations.printable_at(percentile))? as f64;
    let low_ns = durations.value_at(LOWEST)?.max(1) as f64;
    let max_ns = durations.max_ns()? as f64;
    let ratio = high_ns / low_ns;
    let below_tail = bins_max.checked_sub(1).filter(|bins| *bins > 0 && ratio >= RATIO_MIN)?;
    let edge = |bin: usize| low_ns * ratio.powf(bin as f64 / below_tail as f64);
    let edges = (1..below_tail).map(edge).chain([high_ns, max_ns]);
    let mut bins: Vec<Bin> = edges.map(|until_ns| Bin { until_ns, count: 0 }).collect();
    for (value_ns, count) in durations.counters() {
        let place = bins.partition_point(|bin| bin.until_ns < value_ns as f64);
        bins[place.min(below_tail)].count += count;
    }
    // Without a duration above the upper bound there is no tail.
    bins.pop_if(|tail| tail.count == 0);
    Some(bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(samples_ns: impl Iterator<Item = u64>) -> Histogram {
        let mut durations = Histogram::default();
        samples_ns.for_each(|ns| durations.record(ns));
        durations
    }

    #[test]
    fn edges_grow_by_one_ratio_and_each_sample_is_in_one_bin() {
        let durations = histogram((1..=10_000).map(|sample| sample * 1_000).chain([1_000_000_000]));
        let bins = log_bins(&durations, 9).expect("bins");
        assert_eq!((bins.len(), bins.iter().map(|bin| bin.count).sum::<u64>()), (9, 10_001));
        let ratios: Vec<f64> = bins[..8].windows(2).map(|two| two[1].until_ns / two[0].until_ns).collect();
        assert!(ratios.iter().all(|ratio| (ratio / ratios[0] - 1.0).abs() < 1e-9), "{ratios:?}");
        // Samples are spread evenly, so each bin holds more than the one before, except for the first and the tail.
        assert!(bins[1..8].is_sorted_by_key(|bin| bin.count), "{bins:?}");
        assert_eq!(bins.last().map(|bin| bin.until_ns), Some(1e9));
    }

    #[test]
    fn distant_tail_is_apart_from_the_body() {
        let body = (0..9_900).map(|sample| 900_000 + sample * 20);
        let durations = histogram(body.chain((0..100).map(|sample| 500_000_000 + sample * 1_000_000)));
        let bins = log_bins(&durations, 9).expect("bins");
        assert!(bins[0].count > 9_000 && bins[1..7].iter().all(|bin| bin.count == 0), "{bins:?}");
        assert_eq!(bins[7..].iter().map(|bin| bin.count).sum::<u64>(), 100, "{bins:?}");
    }

    #[test]
    fn few_or_equal_samples_make_no_bins() {
        assert_eq!(log_bins(&Histogram::default(), 9), None);
        assert_eq!(log_bins(&histogram((1..60).map(|sample| sample * 1_000)), 9), None);
        assert_eq!(log_bins(&histogram((0..5_000).map(|_| 1_000)), 9), None);
        assert_eq!(log_bins(&histogram((0..5_000).map(|sample| 1_000_000 + sample)), 9), None);
    }
}
