//! Explains YAML syntax errors without YAML terms.

use granit_parser::{ErrorKind, ScanError};

use super::findings::Findings;
use super::parse::DEPTH_MAX;
use super::span::{Span, line_at};

/// Help for errors that have no more specific one.
const CHECK_HELP: &str =
    "check the indentation of this line, and quote texts that contain : # { } [ ] , or quotes";
const QUOTE_HELP: &str = "quote the text";
const SPACES_HELP: &str = "indent with spaces";

/// Adds one finding at the position of the error.
pub(super) fn explain(error: &ScanError, source: &str, opened: Option<Span>, findings: &mut Findings) {
    let byte = error.marker().byte_offset().unwrap_or(source.len()).min(source.len());
    let rest = source.get(byte..).unwrap_or_default();
    let width = rest.chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    let mut at = Span::new(byte, byte + width);
    if rest.trim().is_empty() {
        // An error behind the last line has no position to point at.
        let end = source.trim_end().len();
        at = Span::new(end, end);
    }
    let line = line_at(source, at.start);
    let indent = line.text.len() - line.text.trim_start().len();
    if let Some(tab) = line.text[..indent].find('\t') {
        let tab = line.start + tab;
        findings.at(Span::new(tab, tab + 1), "the line is indented with a tab", SPACES_HELP);
        return;
    }
    // A line that is not indented further than the line of the opening bracket is outside of the brackets.
    let is_outside = |opened: &Span| {
        let first = line_at(source, opened.start);
        first.number < line.number && indent <= first.text.len() - first.text.trim_start().len()
    };
    if let Some(opened) = opened.filter(is_outside) {
        let (open, close) = if source.as_bytes()[opened.start] == b'[' { ('[', ']') } else { ('{', '}') };
        let what = format!("the {open} is not closed before line {}, which is not part of it", line.number);
        findings.at(Span::new(opened.start, opened.start + 1), what, format!("close it with {close}"));
        return;
    }
    let (what, help) = words(error.kind());
    findings.at(at, what, help);
}

fn words(kind: &ErrorKind) -> (String, &'static str) {
    if let Some((what, help)) = bracket_words(kind).or_else(|| line_words(kind)) {
        return (what.to_owned(), help);
    }
    match kind {
        ErrorKind::RecursionLimitExceeded => (
            format!("lists and mappings are nested more than {DEPTH_MAX} levels deep"),
            "remove levels: a plan has no more than ten",
        ),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => (
            format!("invisible character U+{:04X}", u32::from(*character)),
            "remove it, or write it in double quotes as an escape",
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            (format!("a text without quotes cannot start with {:?}", character.to_string()), QUOTE_HELP)
        }
        other => (format!("invalid YAML: {other}"), CHECK_HELP),
    }
}

/// Message and help for errors between brackets and braces.
fn bracket_words(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as Kind;
    Some(match kind {
        Kind::UnclosedFlowCollection { open: '[' } | Kind::UnexpectedEofFlowSequence => {
            ("unclosed list: [ without ]", "close it with ]")
        }
        Kind::UnclosedFlowCollection { .. }
        | Kind::UnexpectedEofFlowMapping
        | Kind::UnexpectedEofImplicitFlowMapping => ("unclosed mapping: { without }", "close it with }"),
        Kind::MismatchedFlowCollectionEnd { open: '[', .. } => {
            ("a list that starts with [ must end with ]", "close it with ]")
        }
        Kind::MismatchedFlowCollectionEnd { .. } => {
            ("a mapping that starts with { must end with }", "close it with }")
        }
        Kind::MisplacedFlowCollectionEnd => {
            ("closing bracket without an opening one", "remove it, or quote the text")
        }
        Kind::ExpectedFlowMappingSeparator => (
            "expected , or } after a value in { … }",
            "quote texts that contain { } [ ] or , such as get: \"/items?n={n}\"",
        ),
        Kind::ExpectedFlowSequenceSeparator => {
            ("expected , or ] after a value in [ … ]", "quote texts that contain { } [ ] or ,")
        }
        _ => return None,
    })
}

/// Message and help for errors in lines, keys, and texts.
fn line_words(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as Kind;
    Some(match kind {
        Kind::TabNotAllowed
        | Kind::TabInBlockIndentation
        | Kind::TabInIndentation
        | Kind::TabAtBlockScalarStart => ("a tab is not allowed here", SPACES_HELP),
        Kind::TabInPlainScalar => ("a text without quotes contains a tab", QUOTE_HELP),
        Kind::UnclosedQuotedScalar => ("unclosed quotes", "close the quotes"),
        Kind::UnknownAnchor => (
            "undefined alias (*…): no anchor (&…) of this name precedes it",
            "write the value out, or quote a text that starts with *",
        ),
        Kind::DirectiveDisallowed => ("YAML directives (%…) are not supported", "remove the line"),
        Kind::BomInsideDocument => ("byte order mark inside the file", "save it as UTF-8 without one"),
        Kind::MappingValueNotAllowed | Kind::MappingKeyNotAllowed | Kind::InvalidColonPlacement => {
            ("a key is not allowed here", CHECK_HELP)
        }
        Kind::InvalidIndentation
        | Kind::InvalidFlowScalarIndent
        | Kind::InvalidBlockScalarIndent
        | Kind::ExpectedBlockSequenceEntry => (
            "inconsistent indentation",
            "indent all keys of a mapping, and all items of a list, by the same number of spaces",
        ),
        Kind::ExpectedBlockMappingKey | Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => {
            ("expected a key and a colon", CHECK_HELP)
        }
        Kind::InvalidQuotedScalarIndent => (
            "a text in quotes continues in this line, which is not indented",
            "close the quotes, or indent the lines of the text",
        ),
        Kind::BlockSequenceEntryNotAllowed => ("an item of a list is not allowed here", CHECK_HELP),
        Kind::UnknownQuotedScalarEscape | Kind::InvalidQuotedScalarHexEscape => {
            ("unknown escape in double quotes", "write \\\\ for a backslash, or use single quotes")
        }
        _ => return None,
    })
}
