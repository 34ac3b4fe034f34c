//! Splits a text into statements, and a statement into words.

use crate::databases::Engine;

/// Splits a text into statements at semicolons outside of quotes and comments. An unterminated quotation extends to the end.
pub fn split(text: &str, engine: Engine) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        if let Some(end) = quoted_end(text, at, engine) {
            at = end;
            continue;
        }
        if bytes[at] == b';' {
            pieces.push(&text[from..at]);
            from = at + 1;
        }
        at += 1;
    }
    pieces.push(&text[from..]);
    let is_something = |piece: &&str| !piece.trim().is_empty();
    pieces.into_iter().filter(is_something).collect()
}

/// A word of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Text as written. Empty for a quoted name.
    pub(crate) text: &'a str,
    /// True if a parenthesis follows.
    pub(crate) is_call: bool,
}

impl Word<'_> {
    /// True if it equals `word`, ignoring case.
    pub(crate) fn is(self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// Words outside of quotes and comments, and quoted names that are called.
pub(crate) fn words(text: &str, engine: Engine) -> Vec<Word<'_>> {
    let bytes = text.as_bytes();
    let is_call = |at: usize| text[at..].trim_start().starts_with('(');
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if let Some(end) = quoted_end(text, at, engine) {
            if matches!(bytes[at], b'"' | b'`') && is_call(end) {
                words.push(Word { text: "", is_call: true });
            }
            at = end;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_word_byte(**byte)).count();
        if length == 0 {
            at += 1;
            continue;
        }
        let end = at + length;
        words.push(Word { text: &text[at..end], is_call: is_call(end) });
        at = end;
    }
    words
}

/// End of the quotation or comment that begins here. `None` if none begins.
pub(crate) fn quoted_end(text: &str, at: usize, engine: Engine) -> Option<usize> {
    let bytes = text.as_bytes();
    let dialect = engine.dialect();
    let next = bytes.get(at + 1);
    Some(match bytes[at] {
        quote @ (b'\'' | b'"' | b'`') => {
            let has_escapes = match dialect.lexical_rules.has_escapes_in_quotes {
                true => quote != b'`',
                false => quote == b'\'' && has_escape_prefix(bytes, at),
            };
            skip_quote(bytes, at + 1, quote, has_escapes)
        }
        b'-' if next == Some(&b'-')
            && (!dialect.lexical_rules.dashes_need_blank
                || bytes.get(at + 2).is_none_or(|byte| *byte <= b' ')) =>
        {
            skip_past(text, at + 2, "\n")
        }
        b'#' if dialect.lexical_rules.has_hash_comments => skip_past(text, at + 1, "\n"),
        b'/' if next == Some(&b'*') => skip_past(text, at + 2, "*/"),
        b'$' if dialect.lexical_rules.has_dollar_quotes && !(at > 0 && is_word_byte(bytes[at - 1])) => {
            let tag = dollar_tag(&text[at..])?;
            skip_past(text, at + tag.len(), tag)
        }
        _ => return None,
    })
}

/// True if the quote here follows PostgreSQL's prefix of a text with escapes.
fn has_escape_prefix(bytes: &[u8], at: usize) -> bool {
    match &bytes[..at] {
        [before @ .., b'e' | b'E'] => before.last().is_none_or(|byte| !is_word_byte(*byte)),
        _ => false,
    }
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn skip_quote(bytes: &[u8], from: usize, quote: u8, has_escapes: bool) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == quote {
            return at;
        }
        if has_escapes && *byte == b'\\' {
            at += 1;
        }
    }
    bytes.len()
}

fn skip_past(text: &str, from: usize, end: &str) -> usize {
    text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |at| from + at + end.len())
}

/// Tag `$tag$` that begins a dollar-quoted text in PostgreSQL.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))? + 1;
    text[end..].starts_with('$').then(|| &text[..=end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        super::split(text, Engine::PostgreSql)
    }

    #[test]
    fn semicolons_in_quotes_and_comments_are_ignored() {
        assert_eq!(split("a; b"), ["a", " b"]);
        assert_eq!(split("'x;''y'; \"q;\" ; `m;`").len(), 3);
        assert_eq!(split("$$ ; $$; $t$ ; $$ ; $t$").len(), 2);
        assert_eq!(split("-- ;\na; /* ; */ b").len(), 2);
        assert_eq!(split("'open ; forever").len(), 1);
        assert_eq!(split(" ; ").len(), 0);
        assert_eq!(split("$1 + $2; $é$ ; $é$").len(), 2);
    }
    #[test]
    fn quotes_and_comments_depend_on_the_database() {
        for (text, on_postgres, on_mysql) in [
            (r"'\'; COMMIT", 2, 1),
            (r"E'\'; COMMIT'; x", 2, 2),
            (r"'it\'s'; COMMIT", 1, 2),
            (r"`\`; COMMIT", 2, 2),
            ("# ; COMMIT", 2, 1),
            ("1--2; COMMIT", 1, 2),
            ("$a$ ; $a$", 1, 2),
            ("a$b$ ; COMMIT", 2, 2),
            (r"'open\", 1, 1),
        ] {
            let count = |engine| super::split(text, engine).len();
            assert_eq!((count(Engine::PostgreSql), count(Engine::MySql)), (on_postgres, on_mysql), "{text}");
        }
    }

    #[test]
    fn words_exclude_quotes_and_comments() {
        let found = words("a.b (1) 'c(' \"d\" (2) -- e\n/* f() */ g", Engine::PostgreSql);
        let found: Vec<_> = found.into_iter().map(|word| (word.text, word.is_call)).collect();
        assert_eq!(found, [("a", false), ("b", true), ("1", false), ("", true), ("2", false), ("g", false)]);
    }
    proptest! {
        #[test]
        fn any_text_is_split_without_a_panic(text in "[\\\\'\"`;$#*/ \\-aeE(é\\n]{0,60}") {
            for engine in [Engine::PostgreSql, Engine::MySql, Engine::Sqlite] {
                let pieces = super::split(&text, engine);
                let piece_bytes = pieces.iter().map(|piece| piece.len()).sum::<usize>();
                prop_assert!(piece_bytes <= text.len());
                prop_assert!(words(&text, engine).iter().map(|word| word.text.len()).sum::<usize>() <= text.len());
            }
        }
    }
}
