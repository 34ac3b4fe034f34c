//! Streams a log in bounded memory, regardless of its length.

use std::io::{self, BufRead, Cursor, Read};

use crate::entry::Entry;
use crate::formats::{Format, Layout};
use crate::lines;
use crate::output::{Output, Reader};
use crate::skipped::{Reason, Skipped};

/// Bytes at the start of a log that determine its format.
const SAMPLE_BYTES: u64 = 1 << 20;

/// A log that is being read.
pub struct Log<R> {
    /// Format of the log.
    pub format: &'static Format,
    input: io::Chain<Cursor<Vec<u8>>, R>,
    reader: Box<dyn Reader>,
    out: Output,
    line: Vec<u8>,
    has_ended: bool,
}

/// Reason why a log cannot be read.
#[derive(Debug)]
pub enum LogError {
    /// Error of the operating system.
    Io(io::Error),
    /// Unknown format in all lines.
    Unknown,
    /// The layout that the user gave cannot be used, with the reason.
    Layout(String),
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<R: BufRead> Log<R> {
    /// Begins to read a log. Without a format, the first lines decide.
    ///
    /// # Errors
    ///
    /// See [`LogError`].
    pub fn open(mut input: R, format: Option<&'static Format>, layout: &Layout) -> Result<Self, LogError> {
        let mut sample = Vec::new();
        (&mut input).take(SAMPLE_BYTES).read_to_end(&mut sample)?;
        let format = match format {
            Some(format) => format,
            None => Format::detect(&sample).ok_or(LogError::Unknown)?,
        };
        let reader = format.open(layout, &sample).map_err(LogError::Layout)?;
        let input = Cursor::new(sample).chain(input);
        Ok(Self { format, input, reader, out: Output::default(), line: Vec::new(), has_ended: false })
    }

    /// Next entry. `None` at the end of the log.
    ///
    /// # Errors
    ///
    /// Errors of the operating system.
    pub fn next_entry(&mut self) -> io::Result<Option<Entry>> {
        loop {
            if let Some(entry) = self.out.entries.pop_front() {
                return Ok(Some(entry));
            }
            if self.has_ended {
                return Ok(None);
            }
            match lines::next_line(&mut self.input, &mut self.line)? {
                Some(is_too_long) => {
                    self.out.line += 1;
                    if is_too_long {
                        self.out.skip(Reason::TooLong);
                    } else {
                        self.reader.line(&self.line, &mut self.out);
                    }
                }
                None => {
                    self.has_ended = true;
                    self.reader.end(&mut self.out);
                }
            }
        }
    }

    /// Counts the entry that was returned last as skipped.
    pub fn skip(&mut self, reason: Reason) {
        self.out.skip(reason);
    }

    /// Number of lines so far.
    pub fn lines(&self) -> u64 {
        self.out.line
    }

    /// Skipped lines so far.
    pub fn skipped(&self) -> &Skipped {
        &self.out.skipped
    }
}

impl<R> std::fmt::Debug for Log<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("format", &self.format.name).finish_non_exhaustive()
    }
}
