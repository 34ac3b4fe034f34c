//! Formats numbers for reports: digits in groups, and the unit that fits. All sentences and tables use these functions.

/// Formats a duration with its unit and about three digits. 0 is shown as 0 ms, since hardly any time is measured to the nanosecond.
pub fn duration(ns: f64) -> String {
    if ns == 0.0 {
        return "0 ms".to_owned();
    }
    let (unit, name) = match ns {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = ns / unit;
    let decimals = if unit == 1.0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{} {name}", decimal(value, decimals))
}

/// Formats a count with its digits in groups of three.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Formats a number with `decimals` decimals, and its integer digits in groups of three.
pub fn decimal(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.decimals$}");
    // A negative value that rounds to zero has no sign.
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    let text = if is_zero { text.trim_start_matches('-') } else { &text };
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", grouped(whole)),
        None => grouped(text),
    }
}

/// Formats a rate with one decimal, or with none if it is at least 100,000.
pub fn rate(value: f64) -> String {
    decimal(value, if value < 99_999.95 { 1 } else { 0 })
}

/// Formats a share in percent with as many decimals as matter: 12.3 %, 1.23 %, 0.0123 %, and 99.95 % just below all.
pub fn percent_of(share: f64) -> String {
    let decimals = match share {
        share if share > 0.0 && share < 0.001 => 4,
        share if share < 0.1 || (share > 0.999 && share < 1.0) => 2,
        _ => 1,
    };
    percent(share, decimals)
}

/// Formats a share in percent with `decimals` decimals.
pub fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", decimal(share * 100.0, decimals))
}

/// Formats a share in percent with at most `decimals_max` decimals: `3 %`, `1.2 %`.
pub fn percent_up_to(share: f64, decimals_max: usize) -> String {
    format!("{} %", without_trailing_zeros(&decimal(share * 100.0, decimals_max)))
}

/// Strips trailing zeros of a decimal number, and a trailing decimal point.
pub(crate) fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Formats a size in MiB.
pub fn mebibytes(bytes: u64) -> String {
    decimal(bytes as f64 / (1 << 20) as f64, 1)
}

fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (place, digit) in digits.chars().enumerate() {
        let left = digits.len() - place;
        let after_digit = grouped.ends_with(|last: char| last.is_ascii_digit());
        if left.is_multiple_of(3) && after_digit {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(decimal(1_234_567.891, 1), "1,234,567.9");
        assert_eq!(decimal(-123_456.0, 0), "-123,456");
        assert_eq!(decimal(-1_000.0, 0), "-1,000");
        assert_eq!(decimal(1.5e300, 1), "1.500e300");
        assert_eq!([-0.001, -0.0, -0.006].map(|value| decimal(value, 2)), ["0.00", "0.00", "-0.01"]);
    }

    #[test]
    fn percentages_have_as_many_decimals_as_matter() {
        let cases = [
            (0.0, "0.00 %"),
            (0.000_012, "0.0012 %"),
            (0.012_34, "1.23 %"),
            (0.123_4, "12.3 %"),
            (0.998_4, "99.8 %"),
            (0.999_54, "99.95 %"),
            (1.0, "100.0 %"),
        ];
        for (share, text) in cases {
            assert_eq!(percent_of(share), text);
        }
    }

    #[test]
    fn trailing_zeros_of_a_percentage_are_left_out() {
        let cases = [(0.03, 2, "3 %"), (0.125, 2, "12.5 %"), (1.0, 0, "100 %"), (0.000_4, 2, "0.04 %")];
        for (share, decimals_max, text) in cases {
            assert_eq!(percent_up_to(share, decimals_max), text);
        }
    }

    #[test]
    fn single_duration_has_fitting_unit() {
        let cases = [
            (0.0, "0 ms"),
            (12.0, "12 ns"),
            (1_500.0, "1.50 µs"),
            (99_960.0, "100 µs"),
            (12.34e6, "12.3 ms"),
            (4.0e9, "4.00 s"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(ns), text);
        }
    }
}
