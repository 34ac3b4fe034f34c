//! Most frequent output of the processes of a system. If requests fail, it often names the reason.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evidence::Output;

/// Minimum number of similar lines that is reported.
const LINES_MIN: usize = 5;
/// Number of bytes of a line that are compared.
const COMPARED_BYTES: usize = 400;

/// The most frequent kind of line in the output of a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrequentLine<'a> {
    pub(super) process: &'a str,
    /// Last line of this kind. Arbitrary text: escape it.
    pub(super) line: Cow<'a, str>,
    /// Number of lines of this kind in the stored output.
    pub(super) lines: usize,
    /// Whether the output was cut, so that there may be more lines.
    pub(super) is_cut: bool,
}

/// Frequent lines of all processes that have one, in the order of the outputs. Lines that differ only in digits are one kind.
pub(super) fn frequent_lines(outputs: &[Output]) -> Vec<FrequentLine<'_>> {
    outputs.iter().filter_map(most_frequent_line).collect()
}

fn most_frequent_line(output: &Output) -> Option<FrequentLine<'_>> {
    let mut kinds: BTreeMap<Vec<u8>, (usize, usize, &[u8])> = BTreeMap::new();
    for (number, line) in output.text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if !line.is_empty() {
            let kind = kinds.entry(without_digits(line)).or_default();
            *kind = (kind.0 + 1, number, line);
        }
    }
    let (lines, _, line) = kinds.into_values().max()?;
    (lines >= LINES_MIN).then(|| FrequentLine {
        process: &output.process,
        line: String::from_utf8_lossy(line),
        lines,
        is_cut: output.dropped_bytes > 0,
    })
}

/// Replaces digits, so that numbers, dates, times, and process IDs are equal.
fn without_digits(line: &[u8]) -> Vec<u8> {
    let mut kind: Vec<u8> = line
        .iter()
        .take(COMPARED_BYTES)
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
    fn lines_that_differ_only_in_digits_are_grouped() {
        let outputs = [
            output("started\n1 full\n2 full\n3 full\nready\n4 full\n10 full\n"),
            output("one\ntwo\nthree\n"),
            output(""),
        ];
        let found = frequent_lines(&outputs);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].line.as_ref(), found[0].lines), ("10 full", 5));
    }
}
