//! Outline of a script: its statements and meta commands in the order of the text.

use crate::script::meta::Line;
use crate::script::place::Lines;
use crate::script::scan::{End, Scanner};
use crate::script::script_set::Language;

/// A part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutlineEntry {
    /// The next statement of the script.
    Statement,
    /// A meta command.
    Command {
        /// Line, from 1.
        line: u32,
        /// Name without its backslash, in lower case.
        name: String,
        /// Text after the backslash, in one line.
        text: String,
    },
}

/// Parts of a valid script.
pub(crate) fn outline(source: &str, language: Language) -> Vec<OutlineEntry> {
    let (lines, mut scanner) = (Lines::new(source.as_bytes()), Scanner::new(source.as_bytes(), language));
    let mut entries = Vec::new();
    loop {
        let (collected, end) = scanner.scan();
        if !collected.text.is_empty() {
            entries.push(OutlineEntry::Statement);
        }
        match end {
            End::Semicolon => {}
            End::Backslash => {
                let line = Line::from(source.as_bytes(), scanner.at);
                scanner.at = line.range.end;
                let text = String::from_utf8_lossy(&source.as_bytes()[line.range.clone()]);
                let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
                if let Some(name) = words.first() {
                    let (line, name) = (lines.line(line.range.start), name.to_ascii_lowercase());
                    entries.push(OutlineEntry::Command { line, name, text: words.join(" ") });
                }
            }
            End::Script | End::Open { .. } => return entries,
        }
    }
}
