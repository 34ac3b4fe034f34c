//! Extracts figures from the output of tools by surrounding words.

use serde_json::Value;

/// Returns the first number after `label`, in the first line with this label.
///
/// # Errors
///
/// Returns a message that names the missing label or number.
pub fn number_after(text: &str, label: &str) -> Result<f64, String> {
    let line = text
        .lines()
        .find(|line| line.contains(label))
        .ok_or_else(|| format!("its output has no {label:?}"))?;
    let rest = line.split_once(label).map_or("", |(_, rest)| rest).trim_start();
    leading_number(rest)
        .map(|(number, _)| number)
        .ok_or_else(|| format!("its output has no number after {label:?}"))
}

/// Returns the number before `label`, in the first line with this label.
///
/// # Errors
///
/// Returns a message that names the missing label or number.
pub fn number_before(text: &str, label: &str) -> Result<f64, String> {
    let line = text
        .lines()
        .find(|line| line.contains(label))
        .ok_or_else(|| format!("its output has no {label:?}"))?;
    let start = line.split_once(label).map_or("", |(start, _)| start);
    let word = start.split([' ', '\t', ',']).rfind(|word| !word.is_empty()).unwrap_or_default();
    word.parse().map_err(|_| format!("its output has no number before {label:?}"))
}

/// Converts a number to a count.
///
/// # Errors
///
/// Returns a message with the number if it is negative or not an integer.
pub fn count(number: f64) -> Result<u64, String> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if (0.0..EXACT_MAX).contains(&number) {
        Ok(number.round() as u64)
    } else {
        Err(format!("{number} is no count"))
    }
}

/// Parses a time such as `833.00us`, `1.04ms`, `2.00s`, or `1.20m`. Returns microseconds.
///
/// # Errors
///
/// Returns a message with the text if it is not a time.
pub fn time_us(text: &str) -> Result<f64, String> {
    let (number, unit) = leading_number(text.trim()).ok_or_else(|| format!("{text:?} is no time"))?;
    let unit_us = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        "h" => 3_600e6,
        _ => return Err(format!("{text:?} has an unknown unit")),
    };
    Ok(number * unit_us)
}

/// Parses the first JSON object in a text.
///
/// # Errors
///
/// Returns a message if there is none, or if it is truncated.
pub fn json(text: &str) -> Result<Value, String> {
    let start = text.find('{').ok_or("its output has no JSON object")?;
    let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    objects.next().unwrap_or(Ok(Value::Null)).map_err(|error| format!("its JSON cannot be read: {error}"))
}

/// Returns the number at a JSON pointer, such as `/latency_us/p50`.
///
/// # Errors
///
/// Returns a message that names the missing pointer.
pub fn at(json: &Value, pointer: &str) -> Result<f64, String> {
    json.pointer(pointer)
        .and_then(Value::as_f64)
        .ok_or_else(|| format!("its JSON has no number at {pointer}"))
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_label() {
        let text = "a line\n  12 requests in 1.10s, 26.71MB read\nRequests/sec: 158161.51\n";
        assert_eq!(number_before(text, " requests in"), Ok(12.0));
        assert_eq!(number_after(text, "Requests/sec:"), Ok(158_161.51));
        assert_eq!(number_before("1 total, 7 failed, 0 x", " failed"), Ok(7.0));
        assert!(number_after(text, "Transfer/sec:").unwrap_err().contains("Transfer/sec"));
        assert!(number_after("Requests/sec: -nan", "Requests/sec:").is_err());
        assert!(number_before(" requests in", " requests in").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time_us("833.00us"), Ok(833.0));
        assert_eq!(time_us(" 1.04ms"), Ok(1_040.0));
        assert_eq!(time_us("2.00s"), Ok(2e6));
        assert_eq!(time_us("1.50m"), Ok(90e6));
        for odd in ["", "ms", "1.0", "1.0 parsecs", "1.2.3ms", "-1ms"] {
            assert!(time_us(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn counts_must_be_integers() {
        assert_eq!(count(12.0), Ok(12));
        assert!(count(-1.0).is_err() && count(f64::NAN).is_err() && count(1e300).is_err());
    }

    #[test]
    fn json_may_follow_other_text_but_not_be_truncated() {
        let json = json("starting\n{\"a\": {\"b\": 2}}\ndone").unwrap();
        assert_eq!(at(&json, "/a/b"), Ok(2.0));
        assert!(at(&json, "/a/c").unwrap_err().contains("/a/c"));
        assert!(super::json("{\"a\": ").is_err() && super::json("none").is_err());
    }
}
