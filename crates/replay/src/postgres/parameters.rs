//! Values of parameters, as the server writes them: `$1 = '42', $2 = NULL`.

/// Parses the list after `Parameters: `. `None` if it is malformed, or if a value may be cut: the server ends a cut value with
/// three dots.
pub(crate) fn read(text: &str) -> Option<Vec<Option<String>>> {
    let mut rest = text.trim_end();
    let mut values = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('$')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = rest[..digits].parse().ok()?;
        rest = rest[digits..].strip_prefix(" = ")?;
        let (value, after) = value(rest)?;
        if number != values.len() + 1 || value.as_ref().is_some_and(|value| value.ends_with("...")) {
            return None;
        }
        values.push(value);
        rest = match after {
            "" => "",
            after => after.strip_prefix(", ")?,
        };
    }
    Some(values)
}

/// Value at the beginning of `text`, and the text after it.
fn value(text: &str) -> Option<(Option<String>, &str)> {
    if let Some(rest) = text.strip_prefix("NULL") {
        return Some((None, rest));
    }
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let quote = rest.find('\'')?;
        value.push_str(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix('\'') {
            Some(further) => {
                value.push('\'');
                rest = further;
            }
            None => return Some((Some(value), rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_quotes_and_nulls() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read("$1 = '42', $2 = NULL, $3 = 'it''s, $4 = ''x'''"),
            Some(vec![some("42"), None, some("it's, $4 = 'x'")])
        );
        assert_eq!(read("$1 = ''"), Some(vec![some("")]));
        assert_eq!(read(""), Some(vec![]));
    }

    #[test]
    fn cut_or_malformed_values_are_rejected() {
        for text in ["$1 = '{ inval...'", "$1 = 'a", "$2 = 'a'", "$1 = a", "$1 = 'a' $2 = 'b'", "x"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
