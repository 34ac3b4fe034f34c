//! Durations, and how their percentiles are called.

use record::Percentile;

pub(crate) use judge::Durations;

/// How a percentile is called: `p99.9`.
pub(crate) fn name(percentile: Percentile) -> String {
    format!("p{}", f64::from(percentile.ppm()) / 10_000.0)
}

/// From how many samples on a percentile is printed.
pub(crate) fn samples_needed(percentile: Percentile) -> u64 {
    10_000_000u64.div_ceil(u64::from(1_000_000 - percentile.ppm()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::PRINTED;

    #[test]
    fn the_samples_needed_are_those_that_the_rule_asks_for() {
        for percentile in PRINTED {
            let needed = samples_needed(percentile);
            assert!(percentile.is_printable(needed) && !percentile.is_printable(needed - 1));
        }
    }

    #[test]
    fn percentiles_are_called_as_people_do() {
        assert_eq!(PRINTED.map(name), ["p50", "p90", "p95", "p99", "p99.9", "p99.99"]);
    }
}
