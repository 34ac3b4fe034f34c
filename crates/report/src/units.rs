//! Numbers for people: digits in groups, and units that fit.

pub(crate) use judge::words::{
    count, decimal, duration, mebibytes, percent as percent_with, percent_of, percent_up_to, rate,
};

/// A unit of time for a whole column, with as many decimals as make sense in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    /// What is written after the number.
    pub(crate) name: &'static str,
    ns: f64,
    decimals: usize,
}

const MICROSECONDS: TimeUnit = TimeUnit { name: "µs", ns: 1e3, decimals: 1 };
const MILLISECONDS: TimeUnit = TimeUnit { name: "ms", ns: 1e6, decimals: 3 };
const SECONDS: TimeUnit = TimeUnit { name: "s", ns: 1e9, decimals: 3 };

impl TimeUnit {
    /// For a column in which the middle of rows goes from `least_ns` to `middle_ns`, and nothing is beyond `max_ns`.
    pub(crate) fn fitting(least_ns: f64, middle_ns: f64, max_ns: f64) -> Self {
        if middle_ns < 1e6 && max_ns < 100e6 {
            MICROSECONDS
        } else if middle_ns < 1e9 || least_ns < 100e6 {
            // In seconds a fast row beside a slow one would be left without digits.
            MILLISECONDS
        } else {
            SECONDS
        }
    }

    /// The number alone.
    pub(crate) fn write(&self, ns: f64) -> String {
        decimal(ns / self.ns, self.decimals)
    }
}

/// Volume per second, given in units of 1024 bytes, in a unit that fits.
pub(crate) fn volume_rate(kb_per_s: f64) -> String {
    let (unit, name) = match kb_per_s {
        kb if kb < 1024.0 => (1.0, "KB/s"),
        kb if kb < 1024.0 * 1024.0 => (1024.0, "MB/s"),
        _ => (1024.0 * 1024.0, "GB/s"),
    };
    format!("{} {name}", decimal(kb_per_s / unit, 1))
}

/// A share of a whole; `n/a` of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "n/a".to_owned();
    }
    percent_of(part as f64 / whole as f64)
}

/// Memory in GiB.
pub(crate) fn gibibytes(bytes: u64) -> String {
    decimal(bytes as f64 / (1u64 << 30) as f64, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_get_a_unit_that_fits() {
        for (kb, text) in
            [(0.0, "0.0 KB/s"), (1_023.9, "1,023.9 KB/s"), (1_024.0, "1.0 MB/s"), (3_669_082.0, "3.5 GB/s")]
        {
            assert_eq!(volume_rate(kb), text);
        }
    }

    #[test]
    fn a_column_keeps_one_unit() {
        assert_eq!(TimeUnit::fitting(80e3, 80e3, 2e6).write(2e6), "2,000.0");
        assert_eq!(TimeUnit::fitting(80e3, 80e3, 2e9).write(80e3), "0.080");
        assert_eq!(TimeUnit::fitting(2e9, 2e9, 2e9).write(1_234e6), "1.234");
        assert_eq!(TimeUnit::fitting(2e6, 2e9, 3e9).write(2e6), "2.000");
    }

    #[test]
    fn small_shares_are_not_rounded_away() {
        assert_eq!(percent(1, 4), "25.00 %");
        assert_eq!(percent(3, 100_000), "0.0030 %");
        assert_eq!(percent(0, 5), "0.00 %");
        assert_eq!(percent(0, 0), "n/a");
    }
}
