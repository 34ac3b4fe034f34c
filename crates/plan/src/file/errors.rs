//! Errors of a plan file, shown with their lines.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::findings::{Finding, Findings};
use super::span::line_at;
use crate::visible::{is_unseen, visible};

/// Width of an error in terminal columns.
const COLUMNS: usize = 140;
/// Max bytes of a line that are kept before an error, and after its start. A file may consist of a single line.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// All errors of a plan file. `Display` shows each with its line, a caret under the wrong part, and the help.
#[derive(Clone, Debug)]
pub struct FileErrors {
    file: String,
    list: Vec<FileError>,
    further: usize,
}

/// Error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Position. `None` for the file as a whole.
    pub place: Option<FilePosition>,
    /// Message.
    pub what: String,
    /// Note next to the caret: `did you mean …?`
    pub note: Option<String>,
    /// Help: what to do instead.
    pub help: String,
}

/// Position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Text of the line with invisible characters replaced; only a part if the line is very long.
    text: String,
    /// Byte range of the wrong part of `text`. Empty if something is missing there.
    wrong: Range<usize>,
    /// Whether the start of the line is cut off in `text`.
    is_cut: bool,
}

/// Formats a warning on two lines, with its position and the help.
pub(crate) fn warning(finding: &Finding, file: &str, source: &str) -> String {
    let place = finding.at.map(|at| FilePosition::of(source, at.start, at.end));
    let place = place.map_or(String::new(), |place| format!(":{}:{}", place.line, place.column));
    format!("{}\n  help: {}", visible(&format!("{file}{place}: {}", finding.what)), visible(&finding.help))
}

impl FileErrors {
    pub(crate) fn new(file: String, source: &str, findings: Findings) -> Self {
        let mut list: Vec<Finding> = findings.list;
        list.sort_by_key(|finding| finding.at.map(|at| at.start));
        let list = list.into_iter().map(|finding| FileError {
            place: finding.at.map(|at| FilePosition::of(source, at.start, at.end)),
            what: finding.what,
            note: finding.note,
            help: finding.help,
        });
        Self { file: visible(&file), list: list.collect(), further: findings.further }
    }

    /// Errors in the order of the file, at most 100.
    pub fn list(&self) -> &[FileError] {
        &self.list
    }

    /// Total number of errors.
    pub fn count(&self) -> usize {
        self.list.len() + self.further
    }
}

impl FileError {
    /// Formats an error with its line.
    fn drawn(&self, file: &str) -> String {
        let (what, help) = (visible(&self.what), visible(&self.help));
        let note = self.note.as_deref().map(visible);
        let title = Level::ERROR.primary_title(what.as_str());
        let mut elements: Vec<Element<'_>> = Vec::new();
        match &self.place {
            None => elements.push(Origin::path(file).into()),
            Some(place) => {
                let mark = AnnotationKind::Primary.span(place.wrong.clone()).label(note.as_deref());
                let line = Snippet::source(place.text.as_str()).line_start(place.line).annotation(mark);
                if place.is_cut {
                    // The column in the file differs from the column in the shown part.
                    elements.push(Origin::path(file).line(place.line).char_column(place.column).into());
                    elements.push(line.into());
                } else {
                    elements.push(line.path(file).into());
                }
            }
        }
        elements.push(Level::HELP.message(help.as_str()).into());
        Renderer::plain().term_width(COLUMNS).render(&[title.elements(elements)])
    }
}

impl FilePosition {
    fn of(source: &str, start: usize, end: usize) -> Self {
        let line = line_at(source, start);
        let inside = line.text.floor_char_boundary(start.saturating_sub(line.start));
        let from = line.text.floor_char_boundary(inside.saturating_sub(KEPT_BYTES_MAX));
        let kept = line.text.floor_char_boundary(inside + KEPT_BYTES_MAX);
        let until = line.text.floor_char_boundary(end.saturating_sub(line.start)).clamp(inside, kept);
        let wrong = line.text[inside..until].trim_end();
        // Invisible characters, and characters that move the cursor, become spaces.
        let seen = |text: &str| text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect::<String>();
        let (before, wrong, after) =
            (seen(&line.text[from..inside]), seen(wrong), seen(&line.text[inside + wrong.len()..kept]));
        Self {
            line: line.number,
            column: line.text[..inside].chars().count() + 1,
            wrong: before.len()..before.len() + wrong.len(),
            text: [before, wrong, after].concat(),
            is_cut: from > 0,
        }
    }
}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in &self.list {
            writeln!(f, "{}\n", error.drawn(&self.file))?;
        }
        if self.further > 0 {
            writeln!(f, "… and {} more.\n", self.further)?;
        }
        let count = self.count();
        write!(f, "{count} error{}; nothing was started.", if count == 1 { "" } else { "s" })
    }
}

impl std::error::Error for FileErrors {}

#[cfg(test)]
mod tests {
    use super::super::span::Span;
    use super::*;

    fn drawn(source: &str, start: usize, end: usize) -> String {
        let mut findings = Findings::default();
        findings.at(Span::new(start, end), "wrong", "right");
        FileErrors::new("p.yaml".to_owned(), source, findings).to_string()
    }

    #[test]
    fn caret_is_under_the_wrong_part() {
        let expected = "error: wrong\n --> p.yaml:2:5\n  |\n2 |  b: cc d\n  |     ^^\n  |\n  = help: right\n\n\
                        1 error; nothing was started.";
        assert_eq!(drawn("a: 1\n b: cc d\n", 9, 11), expected);
    }

    #[test]
    fn wide_characters_move_the_caret_and_invisible_ones_do_not() {
        let text = drawn("天秤: \u{1b}[31mx y", 8, 10);
        assert!(text.contains("p.yaml:1:5"), "{text}");
        assert!(text.contains("\n1 | 天秤:  [31mx y\n  |       ^^\n"), "{text}");
    }

    #[test]
    fn long_line_is_cut_around_the_error() {
        for letters in [5_000, 50_000, 500_000] {
            let source = format!("{}WRONG{}", "a".repeat(letters), "b".repeat(letters));
            let text = drawn(&source, letters, letters + 5);
            assert!(text.contains(&format!("p.yaml:1:{}\n", letters + 1)), "{text}");
            let lines: Vec<&str> = text.lines().collect();
            let number = lines.iter().position(|line| line.contains("WRONG")).expect("the line is shown");
            assert!(lines[number].len() <= COLUMNS, "{text}");
            let at = lines[number].chars().position(|c| c == 'W');
            assert_eq!(at, lines[number + 1].chars().position(|c| c == '^'), "{text}");
            assert!(lines[number + 1].ends_with(" ^^^^^"), "{text}");
        }
    }

    #[test]
    fn accepts_position_behind_the_end() {
        assert!(drawn("a: [", 99, 120).contains("p.yaml:1:5"));
        assert!(drawn("", 0, 0).contains("p.yaml:1:1"));
    }
}
