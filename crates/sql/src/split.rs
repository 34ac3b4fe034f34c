//! Several statements in one text.

/// The statements of a text: between semicolons that are in no quotes and no comment. What is left open reaches to the end.
pub fn split(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            quote @ (b'\'' | b'"' | b'`') => past(text, at + 1, &char::from(quote).to_string()),
            b'-' if text[at..].starts_with("--") => past(text, at + 2, "\n"),
            b'/' if text[at..].starts_with("/*") => past(text, at + 2, "*/"),
            b'$' => match dollar_tag(&text[at..]) {
                Some(tag) => past(text, at + tag.len(), tag),
                None => at + 1,
            },
            b';' => {
                pieces.push(&text[from..at]);
                from = at + 1;
                from
            }
            _ => at + 1,
        };
        at = end;
    }
    pieces.push(&text[from..]);
    let is_something = |piece: &&str| !piece.trim().is_empty();
    pieces.into_iter().filter(is_something).collect()
}

fn past(text: &str, from: usize, end: &str) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let found = rest.windows(end.len()).position(|bytes| bytes == end.as_bytes());
    found.map_or(text.len(), |at| from + at + end.len())
}

/// `$tag$`, which begins a quoted text in PostgreSQL.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))? + 1;
    text[end..].starts_with('$').then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_quotes_and_comments_end_nothing() {
        assert_eq!(split("a; b"), ["a", " b"]);
        assert_eq!(split("'x;''y'; \"q;\" ; `m;`").len(), 3);
        assert_eq!(split("$$ ; $$; $t$ ; $$ ; $t$").len(), 2);
        assert_eq!(split("-- ;\na; /* ; */ b").len(), 2);
        assert_eq!(split("'open ; forever").len(), 1);
        assert_eq!(split(" ; ").len(), 0);
        assert_eq!(split("$1 + $2; $é$ ; $é$").len(), 2);
    }
}
