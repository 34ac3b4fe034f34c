//! Values as SQL literals, for statements that are sent as text.

use crate::script::Literal;
use wire::sql::Value;

use crate::databases::{Backslash, Engine};

/// Appends a value as a literal that the server reads back unchanged, for any content.
pub(super) fn write(engine: Engine, value: Literal<'_>, out: &mut Vec<u8>) {
    match value {
        Literal::Null => out.extend_from_slice(b"NULL"),
        Literal::Plain(text) if is_plain(text) => {
            // Two adjacent minus signs would begin a comment.
            if text.starts_with(b"-") && out.ends_with(b"-") {
                out.push(b' ');
            }
            out.extend_from_slice(text);
        }
        Literal::Plain(text) | Literal::Text(text) => quote(engine, text, out),
    }
}

/// Value that is sent separately from the statement, with the meaning that its literal would have.
pub(super) fn value(literal: Literal<'_>, has_literals: bool) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Plain(text) if has_literals && !is_plain(text) => Value::Text(text),
        Literal::Plain(text) => Value::Bare(text),
        Literal::Text(text) => Value::Text(text),
    }
}

/// True if the text is an equal number without quotes. False for leading zeros, which would be lost.
fn is_plain(text: &[u8]) -> bool {
    match text.strip_prefix(b"-").unwrap_or(text) {
        [b'0'] | [b'0', b'.', ..] | [b'1'..=b'9', ..] => true,
        _ => matches!(text, b"true" | b"false"),
    }
}

/// Appends a quoted literal. The meaning of a backslash depends on settings of the server, so a text with one is encoded without
/// relying on it.
fn quote(engine: Engine, text: &[u8], out: &mut Vec<u8>) {
    let backslash = if text.contains(&b'\\') { engine.dialect().backslash } else { Backslash::Plain };
    match backslash {
        Backslash::Hexadecimal => return write_hexadecimal(text, out),
        Backslash::Doubled => out.extend_from_slice(b" E"),
        Backslash::Plain => {}
    }
    out.push(b'\'');
    for byte in text {
        match byte {
            b'\'' => out.push(b'\''),
            b'\\' if backslash == Backslash::Doubled => out.push(b'\\'),
            _ => {}
        }
        out.push(*byte);
    }
    out.push(b'\'');
}

fn write_hexadecimal(text: &[u8], out: &mut Vec<u8>) {
    let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
    out.extend_from_slice(b" _utf8mb4 x'");
    out.extend(text.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(engine: Engine, value: Literal<'_>) -> String {
        let mut out = Vec::new();
        write(engine, value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_bare_and_texts_quoted() {
        for (value, literal) in [
            (Literal::Null, "NULL"),
            (Literal::Plain(b"-5"), "-5"),
            (Literal::Plain(b"0"), "0"),
            (Literal::Plain(b"0.5"), "0.5"),
            (Literal::Plain(b"1e+30"), "1e+30"),
            (Literal::Plain(b"true"), "true"),
            (Literal::Plain(b"007"), "'007'"),
            (Literal::Plain(b"inf"), "'inf'"),
            (Literal::Text(b"5"), "'5'"),
            (Literal::Text(b"it's"), "'it''s'"),
            (Literal::Text(b"NULL"), "'NULL'"),
            (Literal::Text(b""), "''"),
        ] {
            assert_eq!(written(Engine::PostgreSql, value), literal);
        }
    }

    #[test]
    fn texts_cannot_leave_their_quotes() {
        let text = Literal::Text(br"\'; DROP TABLE t; --");
        assert_eq!(written(Engine::PostgreSql, text), r" E'\\''; DROP TABLE t; --'");
        assert_eq!(written(Engine::MySql, Literal::Text(br"\'")), " _utf8mb4 x'5c27'");
        assert_eq!(written(Engine::MySql, Literal::Text(b"it's")), "'it''s'");
        assert_eq!(written(Engine::Sqlite, text), r"'\''; DROP TABLE t; --'");
    }

    #[test]
    fn negative_number_does_not_begin_a_comment() {
        for (before, value, after) in [
            ("SELECT 1-", "-5", "SELECT 1- -5"),
            ("SELECT 1-", "5", "SELECT 1-5"),
            ("SELECT 1 - ", "-0.5", "SELECT 1 - -0.5"),
        ] {
            let mut out = before.as_bytes().to_vec();
            write(Engine::PostgreSql, Literal::Plain(value.as_bytes()), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), after);
        }
    }
}
