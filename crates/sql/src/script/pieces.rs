//! Splits the text of a statement into constant parts and variables.

use std::ops::Range;

use wire::braces;

use crate::script::scan::{Quote, Quoted};
use crate::script::script_set::{Language, Names, is_name_byte, variable_name};
use crate::script::statement::{Piece, Place};

/// A variable reference in the text of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VariableReference<'a> {
    pub(crate) name: &'a str,
    /// Position in the text, including colon or braces.
    pub(crate) range: Range<usize>,
    pub(crate) mark: ReferenceSyntax,
}

/// Syntax of a variable reference, which decides how its value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceSyntax {
    /// `:name`. `is_quoted` is true within quotes or a comment, where only pgbench recognizes it.
    Colon { is_quoted: bool },
    /// `{name}`
    Braces(Place),
    /// `{name}` in a quotation that cannot contain every value safely. Holds the kind of quotes.
    Unsafe(&'static str),
}

/// Reason why a statement cannot be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SplitError {
    TooManyVariables,
    /// A value at this position cannot be written safely.
    Unsafe {
        at: usize,
        message: String,
    },
}

/// Splits a text at each variable. pgbench recognizes `:name` everywhere, even in quotes. The extended language recognizes it
/// outside of quotes, and `{name}` everywhere.
pub(crate) fn split_text(
    text: &[u8],
    quoted: &[Quoted],
    language: Language,
    names: &mut Names,
) -> Result<Vec<Piece>, SplitError> {
    if let Some(unfit) = quoted_by_psql(text, quoted) {
        return Err(unfit);
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for part in parts(text, quoted, language) {
        let (range, piece) = match part {
            Part::Braces(range, literal) => (range, Piece::Text(literal.to_owned())),
            Part::Name(VariableReference { name, range, mark }) => {
                let name = variable_name(name);
                let mut slot = || names.slot(&name).ok_or(SplitError::TooManyVariables);
                let piece = match mark {
                    ReferenceSyntax::Colon { .. } => Piece::Value { slot: slot()?, name },
                    ReferenceSyntax::Braces(place) => Piece::Insert { slot: slot()?, name, place },
                    ReferenceSyntax::Unsafe(quotes) => {
                        let message = format!(
                            "{{{name}}} within {quotes}, where no value can be escaped; write {{{name}:raw}} to \
                             insert the value as it is, or '…' instead of {quotes}"
                        );
                        return Err(SplitError::Unsafe { at: range.start, message });
                    }
                };
                (range, piece)
            }
        };
        push_text(&mut pieces, &text[from..range.start]);
        from = range.end;
        match piece {
            Piece::Text(literal) => push_text(&mut pieces, literal.as_bytes()),
            piece => pieces.push(piece),
        }
    }
    push_text(&mut pieces, &text[from..]);
    Ok(pieces)
}

/// The first `:'name'` or `:"name"`: psql quotes the value there, pgbench does not know it, and no server accepts it.
fn quoted_by_psql(text: &[u8], quoted: &[Quoted]) -> Option<SplitError> {
    quoted.iter().find_map(|Quoted { range, quote }| {
        let at = range.start.checked_sub(1).filter(|at| text.get(*at) == Some(&b':'))?;
        let is_cast = at > 0 && text[at - 1] == b':';
        let name = text.get(range.start + 1..range.end.checked_sub(1)?)?;
        let name = std::str::from_utf8(name).ok().filter(|_| name_at(name, 0) == Some(0..name.len()))?;
        let (quote, value) = match quote {
            Quote::Text => {
                ('\'', format!(":{name} for the value as a parameter, or '{{{name}}}' for quoted text"))
            }
            Quote::Double => ('"', format!("\"{{{name}}}\" for a quoted name")),
            _ => return None,
        };
        let message = format!(":{quote}{name}{quote} is read by psql only; write {value}");
        (!is_cast).then_some(SplitError::Unsafe { at, message })
    })
}

/// Variable references in a text, in order.
pub(crate) fn names<'a>(text: &'a [u8], quoted: &[Quoted], language: Language) -> Vec<VariableReference<'a>> {
    let names = parts(text, quoted, language).into_iter().filter_map(|part| match part {
        Part::Name(found) => Some(found),
        Part::Braces(..) => None,
    });
    names.collect()
}

/// A part that is not constant text.
enum Part<'a> {
    Name(VariableReference<'a>),
    /// `{{name}}`, which yields the literal text `{name}`.
    Braces(Range<usize>, &'a str),
}

fn parts<'a>(text: &'a [u8], quoted: &[Quoted], language: Language) -> Vec<Part<'a>> {
    let mut found = Vec::new();
    if language == Language::Pgbench {
        let is_quoted = |at: usize| {
            let is_around = |part: &Quoted| part.quote != Quote::Protected && part.range.contains(&at);
            quoted.iter().any(is_around)
        };
        find_values(text, 0..text.len(), is_quoted, &mut found);
        return found;
    }
    let mut from = 0;
    for quoted in quoted {
        // Trailing white space of a comment may have been cut off the text.
        let [start, end] = [quoted.range.start, quoted.range.end].map(|at| at.min(text.len()));
        find(text, from..start, None, &mut found);
        find(text, start..end, Some(quoted.quote), &mut found);
        from = end;
    }
    find(text, from..text.len(), None, &mut found);
    found
}

/// Finds variables in a part of the text with one kind of quotation.
fn find<'a>(text: &'a [u8], part: Range<usize>, quote: Option<Quote>, found: &mut Vec<Part<'a>>) {
    for (range, piece) in braces::spans(&text[part.clone()]) {
        let range = range.start + part.start..range.end + part.start;
        let (name, mark) = match piece {
            braces::Piece::Name(name) => (name, mark(text, &part, quote)),
            braces::Piece::Raw(name) => (name, ReferenceSyntax::Braces(Place::Bare)),
            braces::Piece::Text(literal) if literal.len() < range.len() => {
                found.extend(std::str::from_utf8(literal).ok().map(|literal| Part::Braces(range, literal)));
                continue;
            }
            braces::Piece::Text(_) if quote.is_some() => continue,
            braces::Piece::Text(_) => {
                find_values(text, range, |_| false, found);
                continue;
            }
        };
        found.push(Part::Name(VariableReference { name, range, mark }));
    }
}

/// Finds each `:name` that is not part of `::name`.
fn find_values<'a>(
    text: &'a [u8],
    part: Range<usize>,
    is_quoted: impl Fn(usize) -> bool,
    found: &mut Vec<Part<'a>>,
) {
    let mut at = part.start;
    while let Some(colon) = text[at..part.end].iter().position(|byte| *byte == b':') {
        at += colon;
        let colons = text[at..part.end].iter().take_while(|byte| **byte == b':').count();
        let name = name_at(&text[..part.end], at + 1).filter(|_| colons == 1);
        let Some(name) = name else {
            at += colons;
            continue;
        };
        let range = at..name.end;
        at = name.end;
        if let Ok(name) = std::str::from_utf8(&text[name]) {
            let mark = ReferenceSyntax::Colon { is_quoted: is_quoted(range.start) };
            found.push(Part::Name(VariableReference { name, range, mark }));
        }
    }
}

/// Determines how a `{name}` is written in a part of the text.
fn mark(text: &[u8], part: &Range<usize>, quote: Option<Quote>) -> ReferenceSyntax {
    let is_after_unicode_mark = || text[..part.start].to_ascii_lowercase().ends_with(b"u&");
    ReferenceSyntax::Braces(match quote {
        None | Some(Quote::Protected) => Place::Bare,
        Some(Quote::Text | Quote::Double) if is_after_unicode_mark() => {
            return ReferenceSyntax::Unsafe("U&'…'");
        }
        Some(Quote::Text) => Place::Text,
        Some(Quote::Escaped) => Place::Escaped,
        Some(Quote::Double) => Place::Double,
        Some(Quote::Backtick) => Place::Backtick,
        Some(Quote::Dollar) => return ReferenceSyntax::Unsafe("$$…$$"),
        // MySQL and MariaDB execute the content of these comments.
        Some(Quote::Comment) if is_executed(&text[part.clone()]) => {
            return ReferenceSyntax::Unsafe("/*! … */");
        }
        Some(Quote::Comment) => Place::Comment,
    })
}

fn is_executed(comment: &[u8]) -> bool {
    comment.starts_with(b"/*!") || comment.starts_with(b"/*M!")
}

fn push_text(pieces: &mut Vec<Piece>, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(text);
    match pieces.last_mut() {
        Some(Piece::Text(last)) => last.push_str(&text),
        _ => pieces.push(Piece::Text(text.into_owned())),
    }
}

fn name_at(text: &[u8], from: usize) -> Option<Range<usize>> {
    let length = text[from..].iter().take_while(|byte| is_name_byte(**byte)).count();
    (length > 0 && !text[from].is_ascii_digit()).then_some(from..from + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::scan::Scanner;

    fn shown(text: &str, language: Language) -> String {
        let (collected, _) = Scanner::new(text.as_bytes(), language).scan();
        let pieces = match split_text(&collected.text, &collected.quoted, language, &mut Names::default()) {
            Ok(pieces) => pieces,
            Err(SplitError::Unsafe { message, .. }) => {
                return message.split(',').next().unwrap_or_default().to_owned();
            }
            Err(other) => return format!("{other:?}"),
        };
        let show = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value { name, .. } => format!("<{name}>"),
            Piece::Insert { name, place, .. } => format!("<{name} {place:?}>"),
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn trailing_white_space_of_a_comment_may_be_cut_off() {
        let (collected, _) = Scanner::new(b"select --create ", Language::Extended).scan();
        let text = collected.text.trim_ascii_end();
        assert!(split_text(text, &collected.quoted, Language::Extended, &mut Names::default()).is_ok());
    }

    #[test]
    fn variables_follow_colons() {
        for (text, pgbench, extended) in [
            ("a = :b and :c::int", "a = <b> and <c>::int", "a = <b> and <c>::int"),
            ("a::b, :::c, :1a, : d, :=", "a::b, :::c, :1a, : d, :=", "a::b, :::c, :1a, : d, :="),
            ("':a' -- :b", "'<a>' -- <b>", "':a' -- :b"),
            ("'12:30'", "'12:30'", "'12:30'"),
            ("t{n} '{n}' {1} {a {é}", "t{n} '{n}' {1} {a {é}", "t<n Bare> '<n Text>' {1} {a {é}"),
            (":é:a", "<é><a>", "<é><a>"),
            (r"a\:b", "a<b>", "a:b"),
            (":", ":", ":"),
            (":a", "<a>", "<a>"),
        ] {
            assert_eq!(shown(text, Language::Pgbench), pgbench);
            assert_eq!(shown(text, Language::Extended), extended);
        }
    }

    #[test]
    fn rejects_psql_quoting_with_help() {
        for language in [Language::Pgbench, Language::Extended] {
            let rejected = |text: &str| {
                let (collected, _) = Scanner::new(text.as_bytes(), language).scan();
                match split_text(&collected.text, &collected.quoted, language, &mut Names::default()) {
                    Err(SplitError::Unsafe { at, message }) => Some((at, message)),
                    _ => None,
                }
            };
            let (at, message) = rejected("select :'name'").expect("an error");
            assert_eq!(at, 7);
            assert!(
                message.ends_with("write :name for the value as a parameter, or '{name}' for quoted text")
            );
            let (_, message) = rejected("select * from :\"t\"").expect("an error");
            assert!(message.contains("write \"{t}\" for a quoted name"), "{message}");
            for text in
                ["select ':name'", "a::\"char\"", "':' 'b'", "'a:' || 'b'", "'12:30'", ": 'a'", ":'a b'"]
            {
                assert_eq!(rejected(text), None, "{text}");
            }
        }
    }

    #[test]
    fn braces_are_accepted_where_values_can_be_written_safely() {
        for (text, expected) in [
            ("'a {n} b' E'{n}' 'it''s {n}'", "'a <n Text> b' E'<n Escaped>' 'it''s <n Text>'"),
            ("\"t{n}\" `t{n}` N'{n}'", "\"t<n Double>\" `t<n Backtick>` N'<n Text>'"),
            ("1 /* {n} */ -- {n}", "1 /* <n Comment> */ -- <n Comment>"),
            ("'{people.name}' {people.first-name}", "'<people_name Text>' <people_first_name Bare>"),
            ("'{{n}}' {{n}} '{{people.name}}'", "'{n}' {n} '{people.name}'"),
            ("'{{{n}}}' '{{n}' '{n}}'", "'{{n}}' '{<n Text>' '<n Text>}'"),
            ("'{1,2}' '{\"a\": 1}' '{a,b}' '{ n }'", "'{1,2}' '{\"a\": 1}' '{a,b}' '{ n }'"),
            ("'{n:raw}' {n:raw} $$ {n:raw} $$", "'<n Bare>' <n Bare> $$ <n Bare> $$"),
            ("$$ {1} {{n}} $$", "$$ {1} {n} $$"),
            ("do $x$ {n} $x$", "{n} within $$…$$"),
            ("U&'{n}'", "{n} within U&'…'"),
            ("u&\"{n}\"", "{n} within U&'…'"),
            ("/*!50000 {n} */ 1", "{n} within /*! … */"),
        ] {
            assert_eq!(shown(text, Language::Extended), expected, "{text}");
        }
    }
}
