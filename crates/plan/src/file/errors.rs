//! All errors of a plan file, drawn with the lines they are in.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::findings::{Finding, Findings};
use super::span::line_at;
use crate::visible::{is_unseen, visible};

/// Columns of the terminal that an error is drawn for.
const COLUMNS: usize = 140;
/// Bytes of a line that are kept before an error, and after its start: a file may be one line.
const KEPT_BYTES: usize = 16 * 1024;

/// Everything that is wrong with a plan file. Its `Display` is what a person sees: each error with its line, a caret under
/// exactly the wrong part, and what to do.
#[derive(Clone, Debug)]
pub struct FileErrors {
    file: String,
    list: Vec<FileError>,
    further: usize,
}

/// One error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Where; `None`: the file as a whole.
    pub place: Option<FilePosition>,
    /// What is wrong.
    pub what: String,
    /// `did you mean …?`
    pub note: Option<String>,
    /// What to do instead.
    pub help: String,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePosition {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The line, made harmless: a part of it if it is very long.
    text: String,
    /// The wrong part of `text`, in bytes; nothing if something is missing there.
    wrong: Range<usize>,
    /// Whether `text` begins later than the line.
    is_cut: bool,
}

/// A warning with its place and what to do, on two lines.
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

    /// The errors, in the order of the file; at most a hundred.
    pub fn list(&self) -> &[FileError] {
        &self.list
    }

    /// How many there are in all.
    pub fn count(&self) -> usize {
        self.list.len() + self.further
    }
}

impl FileError {
    /// The error with its line.
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
                    // The column in the text is not that in the line.
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
        let from = line.text.floor_char_boundary(inside.saturating_sub(KEPT_BYTES));
        let kept = line.text.floor_char_boundary(inside + KEPT_BYTES);
        let until = line.text.floor_char_boundary(end.saturating_sub(line.start)).clamp(inside, kept);
        let wrong = line.text[inside..until].trim_end();
        // What nobody sees, and what moves a cursor, is a space.
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
    fn the_caret_is_under_the_wrong_part() {
        let expected = "error: wrong\n --> p.yaml:2:5\n  |\n2 |  b: cc d\n  |     ^^\n  |\n  = help: right\n\n\
                        1 error; nothing was started.";
        assert_eq!(drawn("a: 1\n b: cc d\n", 9, 11), expected);
    }

    #[test]
    fn wide_characters_move_the_caret_and_unseen_ones_do_nothing() {
        let text = drawn("天秤: \u{1b}[31mx y", 8, 10);
        assert!(text.contains("p.yaml:1:5"), "{text}");
        assert!(text.contains("\n1 | 天秤:  [31mx y\n  |       ^^\n"), "{text}");
    }

    #[test]
    fn long_lines_are_cut_around_the_error() {
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
    fn a_place_behind_the_end_is_a_place() {
        assert!(drawn("a: [", 99, 120).contains("p.yaml:1:5"));
        assert!(drawn("", 0, 0).contains("p.yaml:1:1"));
    }
}
