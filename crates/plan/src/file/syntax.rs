//! What is wrong with the syntax of a YAML file, in words for people who do not know YAML's own.

use granit_parser::{ErrorKind, ScanError};

use super::findings::Findings;
use super::parse::DEPTH_MAX;
use super::span::{Span, line_at};

const CHECK: &str =
    "check how far this line is indented, and put quotes around texts with : # { } [ ] , or quotes in them";
const QUOTE: &str = "put quotes around the text";
const SPACES: &str = "indent with spaces";

/// One finding at the mark of the error.
pub(super) fn explain(error: &ScanError, source: &str, opened: Option<Span>, findings: &mut Findings) {
    let byte = error.marker().byte_offset().unwrap_or(source.len()).min(source.len());
    let rest = source.get(byte..).unwrap_or_default();
    let width = rest.chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    let mut at = Span::new(byte, byte + width);
    if rest.trim().is_empty() {
        // Behind the last line there is nothing to point at.
        let end = source.trim_end().len();
        at = Span::new(end, end);
    }
    let line = line_at(source, at.start);
    let indent = line.text.len() - line.text.trim_start().len();
    if let Some(tab) = line.text[..indent].find('\t') {
        let tab = line.start + tab;
        findings.at(Span::new(tab, tab + 1), "a tab indents this line", SPACES);
        return;
    }
    // A line that is not indented further than the one with the bracket does not belong between brackets.
    let is_outside = |opened: &Span| {
        let first = line_at(source, opened.start);
        first.number < line.number && indent <= first.text.len() - first.text.trim_start().len()
    };
    if let Some(opened) = opened.filter(is_outside) {
        let (open, close) = if source.as_bytes()[opened.start] == b'[' { ('[', ']') } else { ('{', '}') };
        let what =
            format!("this {open} is not closed before line {}, which does not go on with it", line.number);
        findings.at(Span::new(opened.start, opened.start + 1), what, format!("close it with {close}"));
        return;
    }
    let (what, way_out) = words(error.kind());
    findings.at(at, what, way_out);
}

fn words(kind: &ErrorKind) -> (String, &'static str) {
    if let Some((what, way_out)) = bracket_words(kind).or_else(|| line_words(kind)) {
        return (what.to_owned(), way_out);
    }
    match kind {
        ErrorKind::RecursionLimitExceeded => (
            format!("lists and mappings lie in each other more than {DEPTH_MAX} deep"),
            "a plan needs no more than ten levels",
        ),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => (
            format!("there is a character here that nobody sees (U+{:04X})", u32::from(*character)),
            "leave it out, or write it in double quotes with a backslash",
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("a text cannot begin with {:?}", character.to_string()), QUOTE)
        }
        other => (format!("this is not YAML: {other}"), CHECK),
    }
}

/// What is wrong between brackets and braces.
fn bracket_words(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as Kind;
    Some(match kind {
        Kind::UnclosedFlowCollection { open: '[' } | Kind::UnexpectedEofFlowSequence => {
            ("a list that begins with [ does not end", "close it with ]")
        }
        Kind::UnclosedFlowCollection { .. }
        | Kind::UnexpectedEofFlowMapping
        | Kind::UnexpectedEofImplicitFlowMapping => {
            ("a mapping that begins with { does not end", "close it with }")
        }
        Kind::MismatchedFlowCollectionEnd { open: '[', .. } => {
            ("what begins with [ must end with ]", "close it with ]")
        }
        Kind::MismatchedFlowCollectionEnd { .. } => ("what begins with { must end with }", "close it with }"),
        Kind::MisplacedFlowCollectionEnd => {
            ("nothing was opened that this could close", "leave it out, or put quotes around the text")
        }
        Kind::ExpectedFlowMappingSeparator => (
            "after a value in { … } comes a comma or the end",
            "put quotes around texts with { } [ ] or , in them, such as get: \"/items?n={n}\"",
        ),
        Kind::ExpectedFlowSequenceSeparator => (
            "after a value in [ … ] comes a comma or the end",
            "put quotes around texts with { } [ ] or , in them",
        ),
        _ => return None,
    })
}

/// What is wrong with lines, keys and texts.
fn line_words(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as Kind;
    Some(match kind {
        Kind::TabNotAllowed
        | Kind::TabInBlockIndentation
        | Kind::TabInIndentation
        | Kind::TabAtBlockScalarStart => ("a tab stands where only spaces may", SPACES),
        Kind::TabInPlainScalar => ("there is a tab in a text without quotes", QUOTE),
        Kind::UnclosedQuotedScalar => ("a text in quotes does not end", "close the quotes"),
        Kind::UnknownAnchor => (
            "this alias (*…) repeats nothing: no &… of its name stands before it",
            "write the value out, or put quotes around a text that begins with *",
        ),
        Kind::DirectiveDisallowed => ("a line that begins with % has no meaning in a plan", "leave it out"),
        Kind::BomInsideDocument => {
            ("there is a byte order mark inside the file", "save it as UTF-8 without one")
        }
        Kind::MappingValueNotAllowed | Kind::MappingKeyNotAllowed | Kind::InvalidColonPlacement => {
            ("a key cannot stand here", CHECK)
        }
        Kind::InvalidIndentation
        | Kind::InvalidFlowScalarIndent
        | Kind::InvalidBlockScalarIndent
        | Kind::ExpectedBlockSequenceEntry => (
            "this line is not indented like what it belongs to",
            "indent the keys of one mapping, and the items of one list, alike",
        ),
        Kind::ExpectedBlockMappingKey | Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => {
            ("a key and a colon are wanted here", CHECK)
        }
        Kind::InvalidQuotedScalarIndent => (
            "a text in quotes goes on in this line, which is not indented",
            "close the quotes, or indent the lines of the text",
        ),
        Kind::BlockSequenceEntryNotAllowed => ("an item of a list cannot stand here", CHECK),
        Kind::UnknownQuotedScalarEscape | Kind::InvalidQuotedScalarHexEscape => {
            ("this is no escape in double quotes", "write \\\\ for a backslash, or use single quotes")
        }
        _ => return None,
    })
}
