//! Line and column of positions in a script, and excerpts around them.

/// Maximum length of an excerpt line in characters. Longer lines are shortened around the mark.
const EXCERPT_CHARS_MAX: usize = 160;
/// Maximum number of lines of a command before the marked one.
const EXCERPT_LINES_MAX: usize = 10;

/// Lines of a text.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    source: &'a [u8],
    /// Start of each line.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(source: &'a [u8]) -> Self {
        let ends = source.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { source, starts }
    }

    /// Number of the line, from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }

    /// Line and column, both from 1. Columns count characters.
    pub(crate) fn line_and_column(&self, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        (line as u32, 1 + characters(&self.source[start..at.min(self.source.len())]) as u32)
    }

    /// Text from `start` to the end of the line of `at`, and the number of characters before `at` in the last line.
    pub(crate) fn excerpt(&self, start: usize, at: Option<usize>) -> Option<(String, Option<u32>)> {
        let at_or_start = at.unwrap_or(start).min(self.source.len());
        let end = self.source[at_or_start..].iter().position(|byte| *byte == b'\n');
        let end = end.map_or(self.source.len(), |length| at_or_start + length);
        let text = String::from_utf8_lossy(self.source.get(start..end)?).into_owned();
        let text = text.trim_end().replace(['\t', '\r', '\0'], " ");
        if text.is_empty() && at.is_none() {
            return None;
        }
        let lines: Vec<&str> = text.split('\n').collect();
        let lines = &lines[lines.len().saturating_sub(EXCERPT_LINES_MAX)..];
        let (last, before) = lines.split_last()?;
        let last_start = self.source[start..at_or_start].iter().rposition(|byte| *byte == b'\n');
        let last_start = last_start.map_or(start, |found| start + found + 1);
        let mark = characters(&self.source[last_start..at_or_start]);
        let left_out = mark.saturating_sub(EXCERPT_CHARS_MAX / 2);
        let left_out = if last.len() > EXCERPT_CHARS_MAX { left_out } else { 0 };
        let mut excerpt = String::new();
        for line in before {
            excerpt.extend(line.chars().take(EXCERPT_CHARS_MAX));
            excerpt.push('\n');
        }
        excerpt.extend(last.chars().skip(left_out).take(EXCERPT_CHARS_MAX));
        Some((excerpt, at.map(|_| (mark - left_out) as u32)))
    }
}

fn characters(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).chars().count()
}
