//! Formats numbers: grouped digits and suitable units.

pub(crate) use judge::words::{
    Share, count, decimal, duration, mebibytes, percent as percent_with, percent_of, percent_up_to, rate,
};

/// Unit of time for a whole column, and its number of decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    /// Symbol after the number.
    pub(crate) name: &'static str,
    ns: f64,
    decimals: usize,
}

const MICROSECONDS: TimeUnit = TimeUnit { name: "µs", ns: 1e3, decimals: 1 };
const MILLISECONDS: TimeUnit = TimeUnit { name: "ms", ns: 1e6, decimals: 3 };
const SECONDS: TimeUnit = TimeUnit { name: "s", ns: 1e9, decimals: 3 };

impl TimeUnit {
    /// Unit for a column whose medians range from `least_ns` to `middle_ns`, and whose maximum is `max_ns`.
    pub(crate) fn fitting(least_ns: f64, middle_ns: f64, max_ns: f64) -> Self {
        if middle_ns < 1e6 && max_ns < 100e6 {
            MICROSECONDS
        } else if middle_ns < 1e9 || least_ns < 100e6 {
            // In seconds, a fast row near a slow one would lose its digits.
            MILLISECONDS
        } else {
            SECONDS
        }
    }

    /// The number without its unit.
    pub(crate) fn write(&self, ns: f64) -> String {
        decimal(ns / self.ns, self.decimals)
    }
}

/// Formats a volume per second in a suitable unit. `kb_per_s` is in units of 1,024 bytes.
pub(crate) fn volume_rate(kb_per_s: f64) -> String {
    let (unit, name) = match kb_per_s {
        kb if kb < 1024.0 => (1.0, "KB/s"),
        kb if kb < 1024.0 * 1024.0 => (1024.0, "MB/s"),
        _ => (1024.0 * 1024.0, "GB/s"),
    };
    format!("{} {name}", decimal(kb_per_s / unit, 1))
}

/// Formats a volume in bytes with three significant digits: `2 B`, `1.50 kB`. A kB has 1,000 bytes.
pub(crate) fn volume(bytes: f64) -> String {
    let (unit, name) = match bytes {
        bytes if bytes < 999.5 => return format!("{} B", decimal(bytes, 0)),
        bytes if bytes < 999.5e3 => (1e3, "kB"),
        bytes if bytes < 999.5e6 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    let value = bytes / unit;
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{} {name}", decimal(value, decimals))
}

/// Formats a share in percent. `n/a` if `whole` is 0, or does not contain the part.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    Share::of_count(part, whole).map_or_else(|| "n/a".to_owned(), Share::percent)
}

/// Formats memory in GiB.
pub(crate) fn gibibytes(bytes: u64) -> String {
    decimal(bytes as f64 / (1u64 << 30) as f64, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_rates_have_suitable_unit() {
        for (kb, text) in
            [(0.0, "0.0 KB/s"), (1_023.9, "1,023.9 KB/s"), (1_024.0, "1.0 MB/s"), (3_669_082.0, "3.5 GB/s")]
        {
            assert_eq!(volume_rate(kb), text);
        }
    }

    #[test]
    fn volumes_have_three_digits() {
        for (bytes, text) in [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (1_500.0, "1.50 kB"),
            (99_950.0, "100 kB"),
            (135_200.0, "135 kB"),
            (2.5e9, "2.50 GB"),
        ] {
            assert_eq!(volume(bytes), text);
        }
    }

    #[test]
    fn columns_have_one_unit() {
        assert_eq!(TimeUnit::fitting(80e3, 80e3, 2e6).write(2e6), "2,000.0");
        assert_eq!(TimeUnit::fitting(80e3, 80e3, 2e9).write(80e3), "0.080");
        assert_eq!(TimeUnit::fitting(2e9, 2e9, 2e9).write(1_234e6), "1.234");
        assert_eq!(TimeUnit::fitting(2e6, 2e9, 3e9).write(2e6), "2.000");
    }

    #[test]
    fn small_shares_are_not_rounded_to_zero() {
        assert_eq!(percent(1, 4), "25.0 %");
        assert_eq!(percent(3, 100_000), "0.0030 %");
        assert_eq!(percent(0, 5), "0.00 %");
        assert_eq!([percent(0, 0), percent(5, 4), percent(u64::MAX, 1)], ["n/a"; 3]);
    }
}
