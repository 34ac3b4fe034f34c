//! All faults of a plan file, drawn with the lines they are in.

use std::fmt;

use super::findings::{Finding, Findings};
use super::span::line_at;
use crate::visible::{is_unseen, visible};

/// Columns of a source line that are shown around a fault.
const SHOWN_COLUMNS: usize = 100;
/// Columns kept before the fault when a long line is cut.
const BEFORE_COLUMNS: usize = 40;

/// Everything that is wrong with a plan file. Its `Display` is what a person sees: each fault with its line, a caret under
/// exactly the wrong part, and a way out.
#[derive(Clone, Debug)]
pub struct Faults {
    file: String,
    list: Vec<FileFault>,
    further: usize,
}

/// One fault in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Where; `None`: the file as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub what: String,
    /// `did you mean …?`
    pub note: Option<String>,
    /// What to do instead.
    pub way_out: String,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The line, made harmless, and cut if it is long.
    pub text: String,
    /// Columns of `text` before the wrong part, as a terminal counts them.
    pub before: usize,
    /// Columns of the wrong part; at least 1.
    pub width: usize,
}

impl Faults {
    pub(crate) fn new(file: String, source: &str, findings: Findings) -> Self {
        let mut list: Vec<Finding> = findings.list;
        list.sort_by_key(|finding| finding.at.map(|at| at.start));
        let list = list.into_iter().map(|finding| FileFault {
            place: finding.at.map(|at| Place::of(source, at.start, at.end)),
            what: finding.what,
            note: finding.note,
            way_out: finding.way_out,
        });
        Self { file: visible(&file), list: list.collect(), further: findings.further }
    }

    /// The faults, in the order of the file; at most a hundred.
    pub fn list(&self) -> &[FileFault] {
        &self.list
    }

    /// How many there are in all.
    pub fn count(&self) -> usize {
        self.list.len() + self.further
    }
}

impl Place {
    fn of(source: &str, start: usize, end: usize) -> Self {
        let line = line_at(source, start);
        let inside = start.saturating_sub(line.start).min(line.text.len());
        let until = end.saturating_sub(line.start).clamp(inside, line.text.len());
        let (before, wrong) = (&line.text[..inside], line.text[inside..until].trim_end());
        let is_long = fitting(line.text, SHOWN_COLUMNS) < line.text.len();
        let from = if is_long { inside - fitting_at_end(before, BEFORE_COLUMNS) } else { 0 };
        let shown = &line.text[from..];
        let shown = &shown[..if is_long { fitting(shown, SHOWN_COLUMNS) } else { shown.len() }];
        let marks =
            [if from > 0 { "…" } else { "" }, if from + shown.len() < line.text.len() { "…" } else { "" }];
        let seen = |c| if is_unseen(c) { ' ' } else { c };
        let text: String = marks[0].chars().chain(shown.chars().map(seen)).chain(marks[1].chars()).collect();
        let before_columns = width(marks[0]) + width(&line.text[from..inside]);
        let room = width(&text).saturating_sub(before_columns).max(1);
        Self {
            line: line.number,
            column: before.chars().count() + 1,
            text,
            before: before_columns,
            width: width(&wrong[..fitting(wrong, SHOWN_COLUMNS)]).clamp(1, room),
        }
    }
}

fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// How many bytes at the start of a text fit into so many columns.
fn fitting(text: &str, columns_max: usize) -> usize {
    fitting_of(text.chars(), columns_max)
}

/// How many bytes at the end of a text fit into so many columns.
fn fitting_at_end(text: &str, columns_max: usize) -> usize {
    fitting_of(text.chars().rev(), columns_max)
}

fn fitting_of(characters: impl Iterator<Item = char>, columns_max: usize) -> usize {
    let (mut left, mut bytes) = (columns_max, 0);
    for character in characters {
        if columns(character) > left {
            break;
        }
        left -= columns(character);
        bytes += character.len_utf8();
    }
    bytes
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in &self.list {
            match &fault.place {
                Some(place) => {
                    writeln!(f, "{}:{}:{}  {}", self.file, place.line, place.column, visible(&fault.what))?;
                    let note =
                        fault.note.as_ref().map_or(String::new(), |note| format!("  {}", visible(note)));
                    writeln!(f, "{:>5} | {}", place.line, place.text)?;
                    writeln!(f, "      | {}{}{note}", " ".repeat(place.before), "^".repeat(place.width))?;
                }
                None => writeln!(f, "{}  {}", self.file, visible(&fault.what))?,
            }
            writeln!(f, "   way out: {}\n", visible(&fault.way_out))?;
        }
        if self.further > 0 {
            writeln!(f, "… and {} more.\n", self.further)?;
        }
        let count = self.count();
        write!(f, "{count} fault{}; nothing was started.", if count == 1 { "" } else { "s" })
    }
}

impl std::error::Error for Faults {}

/// How many columns of a terminal a character takes.
fn columns(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::span::Span;
    use super::*;

    fn drawn(source: &str, start: usize, end: usize) -> String {
        let mut findings = Findings::default();
        findings.at(Span::new(start, end), "wrong", "right");
        Faults::new("p.yaml".to_owned(), source, findings).to_string()
    }

    #[test]
    fn the_caret_is_under_the_wrong_part() {
        let expected = "p.yaml:2:5  wrong\n    2 |  b: cc d\n      |     ^^\n   way out: right\n\n1 fault; nothing was started.";
        assert_eq!(drawn("a: 1\n b: cc d\n", 9, 11), expected);
    }

    #[test]
    fn wide_characters_move_the_caret_and_unseen_ones_do_nothing() {
        let text = drawn("天秤: \u{1b}[31mx y", 8, 10);
        assert!(text.contains("p.yaml:1:5"), "{text}");
        assert!(text.contains("\n    1 | 天秤:  [31mx y\n      |       ^^\n"), "{text}");
    }

    #[test]
    fn long_lines_are_cut_around_the_fault() {
        let source = format!("{}WRONG{}", "a".repeat(5_000), "b".repeat(5_000));
        let text = drawn(&source, 5_000, 5_005);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].len() < 130, "{text}");
        let at = lines[1].chars().position(|c| c == 'W');
        assert_eq!(at, lines[2].chars().position(|c| c == '^'), "{text}");
        assert!(lines[2].ends_with("^^^^^") && lines[2].matches('^').count() == 5, "{text}");
    }

    #[test]
    fn a_place_behind_the_end_is_a_place() {
        assert!(drawn("a: [", 99, 120).contains("p.yaml:1:5"));
        assert!(drawn("", 0, 0).contains("p.yaml:1:1"));
    }
}
