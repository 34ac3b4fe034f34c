//! Compares the histogram with HdrHistogram as an independent implementation.

use hdrhistogram::Histogram as Oracle;
use proptest::collection::vec;
use proptest::prelude::*;
use record::{Histogram, PRINTED, Percentile};

/// Returns durations of all magnitudes, from 1 ns to beyond the highest distinguishable value, with the number of times each is
/// recorded.
fn durations() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let value_ns = (0u32..44, any::<u64>()).prop_map(|(bits, raw)| raw & ((2 << bits) - 1));
    vec((value_ns, prop_oneof![9 => 1u64..4, 1 => 1u64..20_000]), 1..300)
}

fn ours(durations: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    durations.iter().for_each(|(value_ns, times)| histogram.record_many(*value_ns, *times));
    histogram
}

fn theirs(durations: &[(u64, u64)]) -> Oracle<u64> {
    let mut oracle = Oracle::new_with_bounds(1, Histogram::HIGHEST_NS, 3).expect("the bounds are valid");
    durations.iter().for_each(|(value_ns, times)| oracle.saturating_record_n(*value_ns, *times));
    oracle
}

/// Returns the value at an exact rank. The oracle's own lookup by a floating-point share may be off by one sample.
fn at_rank(oracle: &Oracle<u64>, rank: u64) -> u64 {
    let mut seen = 0;
    let found = oracle.iter_recorded().find(|step| {
        seen += step.count_since_last_iteration();
        seen >= rank
    });
    oracle.highest_equivalent(found.expect("the rank is within the count").value_iterated_to())
}

proptest! {
    #[test]
    fn percentiles_fall_into_the_oracles_counters(durations in durations()) {
        let (ours, theirs) = (ours(&durations), theirs(&durations));
        prop_assert_eq!(ours.count(), theirs.len());
        let largest = durations.iter().map(|(value_ns, _)| *value_ns).max().unwrap_or(0);
        prop_assert_eq!(ours.max_ns(), Some(largest.min(Histogram::HIGHEST_NS)), "the maximum is exact");
        for percentile in PRINTED.iter().copied() {
            let rank = percentile.rank(ours.count()).expect("there are samples");
            let (mine, other) = (ours.value_at(percentile).expect("there are samples"), at_rank(&theirs, rank));
            prop_assert!(theirs.equivalent(mine, other), "{percentile:?}: ours {mine}, theirs {other}");
            let lowest = ours.min_ns().unwrap_or(0);
            prop_assert_eq!(mine, other.clamp(lowest, ours.max_ns().unwrap_or(0)), "{:?}", percentile);
        }
    }

    #[test]
    fn counters_equal_the_oracles(durations in durations()) {
        let mine: Vec<(u64, u64)> = ours(&durations).counters().collect();
        let oracle = theirs(&durations);
        let other: Vec<(u64, u64)> = oracle
            .iter_recorded()
            .map(|step| (oracle.highest_equivalent(step.value_iterated_to()), step.count_at_value()))
            .collect();
        prop_assert_eq!(mine, other);
    }

    #[test]
    fn mean_equals_that_of_the_samples(durations in durations()) {
        let kept = || durations.iter().map(|(value_ns, times)| (*value_ns.min(&Histogram::HIGHEST_NS), *times));
        let sum: u128 = kept().map(|(value_ns, times)| u128::from(value_ns) * u128::from(times)).sum();
        let count: u64 = kept().map(|(_, times)| times).sum();
        let histogram = ours(&durations);
        prop_assert_eq!(histogram.sum_ns(), sum);
        prop_assert_eq!(histogram.mean_ns(), Some(sum as f64 / count as f64));
    }

    #[test]
    fn merging_in_any_order_equals_recording_in_one_histogram(
        a in durations(), b in durations(), c in durations()
    ) {
        let all = ours(&[a.clone(), b.clone(), c.clone()].concat());
        let merged = |parts: [&[(u64, u64)]; 3]| {
            parts.into_iter().fold(Histogram::new(), |mut sum, part| {
                sum.merge(&ours(part));
                sum
            })
        };
        prop_assert_eq!(&merged([&a, &b, &c]), &all);
        prop_assert_eq!(&merged([&c, &a, &b]), &all);
        let mut nested = ours(&b);
        nested.merge(&ours(&c));
        let mut outer = ours(&a);
        outer.merge(&nested);
        prop_assert_eq!(&outer, &all);
    }

    #[test]
    fn percentile_is_printed_only_with_ten_samples_above(count in 1u64..200_000) {
        let histogram = ours(&[(1_000, count)]);
        for percentile in PRINTED.iter().copied() {
            let above = count as f64 * f64::from(1_000_000 - percentile.ppm()) / 1e6;
            let is_printed = histogram.printable_at(percentile).is_some();
            prop_assert_eq!(is_printed, above >= 10.0, "{:?} of {} samples", percentile, count);
        }
    }
}

#[test]
fn cleared_histogram_equals_a_new_one() {
    let mut histogram = ours(&[(5, 1), (5_000_000, 7)]);
    histogram.clear();
    assert_eq!(histogram, Histogram::new());
    assert_eq!(histogram.value_at(Percentile::P50), None);
}
