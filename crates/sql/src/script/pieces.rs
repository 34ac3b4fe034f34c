//! A statement's text in pieces: what stays as it is, and where values belong.

use std::ops::Range;

use crate::script::deck::{Language, Names, is_of_name};
use crate::script::statement::Piece;

/// Cuts a text at each `:name`, and in the extended language at each `{name}` too. pgbench sees a `:name` everywhere, also
/// where it is quoted; the extended language leaves alone what is quoted. `None`: there are too many variables.
pub(crate) fn cut(
    text: &[u8],
    quoted: &[Range<usize>],
    language: Language,
    names: &mut Names,
) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    let mut quoted = quoted.iter().peekable();
    while at < text.len() {
        if language == Language::Extended {
            quoted.next_if(|range| range.end <= at);
            if let Some(range) = quoted.next_if(|range| range.contains(&at)) {
                at = range.end;
                continue;
            }
        }
        let (name, end) = match text[at] {
            b':' => match name_at(text, at + 1) {
                Some(name) => (Some(name.clone()), name.end),
                None => (None, at + text[at..].iter().take_while(|byte| **byte == b':').count()),
            },
            b'{' if language == Language::Extended => match name_at(text, at + 1) {
                Some(name) if text.get(name.end) == Some(&b'}') => (Some(name.clone()), name.end + 1),
                _ => (None, at + 1),
            },
            _ => (None, at + 1),
        };
        if let Some(name) = name {
            let name = String::from_utf8_lossy(&text[name]).into_owned();
            let slot = names.slot(&name)?;
            push_text(&mut pieces, &text[from..at]);
            pieces.push(if text[at] == b':' {
                Piece::Value { slot, name }
            } else {
                Piece::Insert { slot, name }
            });
            from = end;
        }
        at = end;
    }
    push_text(&mut pieces, &text[from..]);
    Some(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, text: &[u8]) {
    if !text.is_empty() {
        pieces.push(Piece::Text(String::from_utf8_lossy(text).into_owned()));
    }
}

fn name_at(text: &[u8], from: usize) -> Option<Range<usize>> {
    let length = text[from..].iter().take_while(|byte| is_of_name(**byte)).count();
    (length > 0 && !text[from].is_ascii_digit()).then_some(from..from + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::scan::Scanner;

    fn shown(text: &str, language: Language) -> String {
        let (collected, _) = Scanner::new(text.as_bytes()).scan();
        let pieces = cut(&collected.text, &collected.quoted, language, &mut Names::default()).unwrap();
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value { name, .. } => format!("<{name}>"),
            Piece::Insert { name, .. } => format!("<<{name}>>"),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn names_follow_colons() {
        for (text, pgbench, extended) in [
            ("a = :b and :c::int", "a = <b> and <c>::int", "a = <b> and <c>::int"),
            ("a::b, :::c, :1a, : d, :=", "a::b, :::c, :1a, : d, :=", "a::b, :::c, :1a, : d, :="),
            ("':a' -- :b", "'<a>' -- <b>", "':a' -- :b"),
            ("'12:30'", "'12:30'", "'12:30'"),
            ("t{n} '{n}' {1} {a {é}", "t{n} '{n}' {1} {a {é}", "t<<n>> '{n}' {1} {a <<é>>"),
            (":é:a", "<é><a>", "<é><a>"),
            (r"a\:b", "a<b>", "a:b"),
            (":", ":", ":"),
            (":a", "<a>", "<a>"),
        ] {
            assert_eq!(shown(text, Language::Pgbench), pgbench);
            assert_eq!(shown(text, Language::Extended), extended);
        }
    }
}
