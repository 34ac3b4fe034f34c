//! Formats numbers: integers fast, because they go into statements, and doubles like C's `%.15g`.

/// Appends an integer.
pub(crate) fn write_int(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Number of significant digits of `%.15g`.
const DIGITS: i32 = 15;

/// Appends a number like `%.15g`: 15 significant digits without trailing zeros, with an exponent below −4 or beyond the digits. NaN
/// and infinity are written as in PostgreSQL.
pub(crate) fn write_double(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if value.is_infinite() {
        return out.extend_from_slice(b"Infinity");
    }
    let scientific = format!("{:.*e}", DIGITS as usize - 1, value.abs());
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..kept];
    if (-4..DIGITS).contains(&exponent) {
        write_fixed(digits, exponent, out);
    } else {
        write_point(digits, 1, out);
        out.push(b'e');
        out.push(if exponent < 0 { b'-' } else { b'+' });
        out.extend_from_slice(format!("{:02}", exponent.abs()).as_bytes());
    }
}

fn write_fixed(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(digits);
        return;
    }
    let whole = exponent as usize + 1;
    write_point(digits, whole.min(digits.len()), out);
    out.extend(std::iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
}

fn write_point(digits: &[u8], whole: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&digits[..whole]);
    if whole < digits.len() {
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

/// Formats a number like `%f`, for messages.
pub(crate) fn fixed(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    format!("{value:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_exactly() {
        for value in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            write_int(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }

    #[test]
    fn doubles_are_written_like_c() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (15.0, "15"),
            (-27.0, "-27"),
            (0.1, "0.1"),
            (-0.125, "-0.125"),
            (-0.000_32, "-0.00032"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (9_223_372_036_854_775_807_f64.powi(2), "8.50705917302346e+37"),
            (1e30, "1e+30"),
            (1e100, "1e+100"),
            (123_456_789_012_345.0, "123456789012345"),
            (1_234_567_890_123_456.0, "1.23456789012346e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (100_000.0, "100000"),
            (1.0 / 3.0, "0.333333333333333"),
            (2.0 / 3.0, "0.666666666666667"),
            (std::f64::consts::PI * 4.9, "15.39380400259"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
            (f64::MIN_POSITIVE, "2.2250738585072e-308"),
            (f64::MAX, "1.79769313486232e+308"),
        ] {
            let mut out = Vec::new();
            write_double(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert_eq!(
            (fixed(1e3), fixed(f64::NAN), fixed(-0.5)),
            ("1000.000000".into(), "NaN".into(), "-0.500000".into())
        );
    }
}
