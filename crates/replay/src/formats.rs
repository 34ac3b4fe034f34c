//! The formats of logs that can be replayed.

use crate::databases::monitor;
use crate::mysql::{general, slow};
use crate::output::Reader;
use crate::postgres::{csvlog, jsonlog, stderr};
use crate::traffic::Traffic;
use crate::web::{caddy, har, text};

/// Number of lines of a sample that decide which format a log has.
const SAMPLE_LINES_MAX: usize = 1_000;

/// A format of logs.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Name in `--log-format`.
    pub name: &'static str,
    /// Description for help texts and documents.
    pub sentence: &'static str,
    /// Kind of its entries.
    pub traffic: &'static Traffic,
    /// Number of lines of a sample that begin a record of this format.
    pub(crate) count: fn(&[u8]) -> usize,
    /// Creates a reader for a log that begins with this sample.
    pub(crate) open: OpenReader,
}

/// Layout of the lines of a log, as the user gives it.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// `log_line_prefix` of PostgreSQL. `None` tries known ones.
    pub prefix: Option<String>,
    /// Format of an access log, with variables of nginx or letters of Apache.
    pub pattern: Option<String>,
}

/// Creates a reader for a log that begins with a sample.
pub(crate) type OpenReader = fn(&Layout, &[u8]) -> Result<Box<dyn Reader>, String>;

/// All formats. If several formats match equally many lines, the first one wins.
pub const FORMATS: &[Format] = &[
    csvlog::FORMAT,
    jsonlog::FORMAT,
    stderr::FORMAT,
    slow::FORMAT,
    general::FORMAT,
    monitor::FORMAT,
    text::COMBINED_FORMAT,
    text::COMMON_FORMAT,
    caddy::FORMAT,
    har::FORMAT,
    text::ACCESS_FORMAT,
];

impl Format {
    /// Finds a format by its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Format with a line prefix that users may configure.
    pub fn prefixed() -> Option<&'static Self> {
        Self::named("postgres")
    }

    /// Finds the format of a log by its first lines. `None` if no line has any format.
    pub fn detect(sample: &[u8]) -> Option<&'static Self> {
        let counted = FORMATS.iter().map(|format| ((format.count)(sample), format));
        counted
            .rev()
            .max_by_key(|(count, _)| *count)
            .filter(|(count, _)| *count > 0)
            .map(|(_, format)| format)
    }

    /// Creates a reader for a log that begins with `sample`.
    ///
    /// # Errors
    ///
    /// A message if the layout cannot be used, or if no known layout fits.
    pub fn open(&self, layout: &Layout, sample: &[u8]) -> Result<Box<dyn Reader>, String> {
        (self.open)(layout, sample)
    }
}

/// First lines of a sample.
pub(crate) fn lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    sample.split(|byte| *byte == b'\n').take(SAMPLE_LINES_MAX)
}

/// Number of the first lines of a sample that are records.
pub(crate) fn count_records(sample: &[u8], is_record: fn(&[u8]) -> bool) -> usize {
    lines(sample).filter(|line| is_record(line.strip_suffix(b"\r").unwrap_or(line))).count()
}
