//! What the processes of a system said most often: under errors, that is where they say why.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evidence::Output;

/// Fewer than so many lines alike are not a habit.
const LINES_MIN: usize = 5;
/// Longer lines are distinguished by their beginning only.
const LOOKED_AT_BYTES: usize = 400;

/// The kind of line that a process wrote most often.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Habit<'a> {
    pub(super) process: &'a str,
    /// The last of them. May hold anything: escape it.
    pub(super) line: Cow<'a, str>,
    /// How many there are in what was kept.
    pub(super) lines: usize,
    /// Whether there may be more in what was not.
    pub(super) is_cut: bool,
}

/// One for each process that has one, in the order of the outputs. Lines that differ in digits only are alike.
pub(super) fn habits(outputs: &[Output]) -> Vec<Habit<'_>> {
    outputs.iter().filter_map(habit).collect()
}

fn habit(output: &Output) -> Option<Habit<'_>> {
    let mut kinds: BTreeMap<Vec<u8>, (usize, usize, &[u8])> = BTreeMap::new();
    for (number, line) in output.text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if !line.is_empty() {
            let kind = kinds.entry(without_digits(line)).or_default();
            *kind = (kind.0 + 1, number, line);
        }
    }
    let (lines, _, line) = kinds.into_values().max()?;
    (lines >= LINES_MIN).then(|| Habit {
        process: &output.process,
        line: String::from_utf8_lossy(line),
        lines,
        is_cut: output.dropped_bytes > 0,
    })
}

/// Numbers, dates, times and process ids become the same.
fn without_digits(line: &[u8]) -> Vec<u8> {
    let mut kind: Vec<u8> = line
        .iter()
        .take(LOOKED_AT_BYTES)
        .map(|byte| if byte.is_ascii_digit() { b'#' } else { *byte })
        .collect();
    kind.dedup_by(|a, b| *a == b'#' && *b == b'#');
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Output {
        Output { process: "nginx".to_owned(), text: text.as_bytes().to_vec(), dropped_bytes: 0 }
    }

    #[test]
    fn lines_that_differ_in_digits_are_one_kind() {
        let outputs = [
            output("started\n1 full\n2 full\n3 full\nready\n4 full\n10 full\n"),
            output("one\ntwo\nthree\n"),
            output(""),
        ];
        let found = habits(&outputs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].line.as_ref(), found[0].lines), ("10 full", 5));
    }
}
