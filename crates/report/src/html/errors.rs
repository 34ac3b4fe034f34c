//! Kinds of errors under one load: the most frequent ones, and the number of others.

use super::document::ErrorKind;
use super::of_run::sentence;
use crate::figures::Figures;
use crate::text::sanitize;

/// Maximum number of kinds of errors under one load.
const KINDS_MAX: usize = 12;
/// Maximum numbers of characters of a class, and of a message.
const CHARACTERS_MAX: [usize; 2] = [48, 300];

/// Kinds of errors of all rows, most frequent first. The rest of each row is combined into one kind `others`.
pub(super) fn of_rows<'a>(rows: impl Iterator<Item = Option<&'a Figures>>) -> Vec<ErrorKind> {
    let mut kinds: Vec<ErrorKind> = Vec::new();
    for (row, figures) in rows.enumerate() {
        let Some(figures) = figures else { continue };
        let planned = figures.counts.planned;
        kinds.extend(figures.errors.iter().map(|line| {
            ErrorKind {
                row,
                class: sanitize(line.class.as_str(), CHARACTERS_MAX[0]),
                message: sanitize(&line.message, CHARACTERS_MAX[1]),
                count: line.count,
                share: if planned > 0 { line.count as f64 / planned as f64 } else { 0.0 },
                help: line
                    .class
                    .known()
                    .map(|class| format!("{} {}", sentence(class.words()), sentence(class.help()))),
            }
        }));
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    let rest = kinds.split_off(kinds.len().min(KINDS_MAX));
    let mut others: Vec<(ErrorKind, usize)> = Vec::new();
    for kind in rest {
        match others.iter_mut().find(|(known, _)| known.row == kind.row) {
            Some((known, kinds)) => {
                known.count = known.count.saturating_add(kind.count);
                known.share += kind.share;
                *kinds += 1;
            }
            None => others.push((ErrorKind { class: "others".to_owned(), help: None, ..kind }, 1)),
        }
    }
    kinds.extend(others.into_iter().map(|(kind, kinds)| match kinds {
        1 => kind,
        _ => ErrorKind { message: format!("{kinds} more kinds"), ..kind },
    }));
    kinds
}
