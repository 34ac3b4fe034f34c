//! The order in which people expect names: `workers=8` before `workers=16`.

use std::cmp::Ordering;

/// Compares texts; runs of digits count as numbers.
pub(super) fn order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while !left.is_empty() && !right.is_empty() {
        let (a_part, b_part) = (part(left), part(right));
        let by_part = match (is_number(a_part), is_number(b_part)) {
            (true, true) => by_value(a_part, b_part),
            _ => a_part.cmp(b_part),
        };
        if by_part != Ordering::Equal {
            return by_part;
        }
        (left, right) = (&left[a_part.len()..], &right[b_part.len()..]);
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The beginning of a text that is all digits, or has none.
fn part(text: &str) -> &str {
    let is_number = is_number(text);
    let end = text.find(|character: char| character.is_ascii_digit() != is_number);
    &text[..end.unwrap_or(text.len())]
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// Digits of any length.
fn by_value(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_as_numbers() {
        let mut names = ["w=16 t=1", "w=8 t=16", "w=8 t=2", "", "w=8", "100/s", "20/s", "天秤", "w=008 t=2"];
        names.sort_by(|a, b| order(a, b));
        assert_eq!(
            names,
            ["", "20/s", "100/s", "w=8", "w=008 t=2", "w=8 t=2", "w=8 t=16", "w=16 t=1", "天秤"]
        );
    }

    #[test]
    fn numbers_of_any_length_are_compared() {
        let huge = "9".repeat(100);
        assert_eq!(order(&huge, &format!("1{huge}")), Ordering::Less);
        assert_eq!(order("a1", "a1"), Ordering::Equal);
        assert_eq!(order("a1", "1a").reverse(), order("1a", "a1"));
    }
}
