//! The formats of logs that can be replayed.

use crate::databases::{self, monitor};
use crate::mysql::{self, general, slow};
use crate::output::Reader;
use crate::postgres::prefix::Prefix;
use crate::postgres::{self, csvlog, jsonlog, stderr};
use crate::traffic::Traffic;
use crate::web::pattern::{COMBINED, COMMON, Pattern};
use crate::web::{self, caddy, har, text};

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
    count: fn(&[u8]) -> usize,
    /// Creates a reader for a log that begins with this sample.
    open: OpenReader,
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
type OpenReader = fn(&Layout, &[u8]) -> Result<Box<dyn Reader>, String>;

/// All formats. If several formats match equally many lines, the first one wins.
pub const FORMATS: &[Format] = &[
    Format {
        name: "postgres-csv",
        sentence: "PostgreSQL, log_destination = csvlog",
        traffic: &postgres::TRAFFIC,
        count: |sample| records(sample, csvlog::is_record),
        open: |_, _| Ok(Box::new(csvlog::Csvlog::default())),
    },
    Format {
        name: "postgres-json",
        sentence: "PostgreSQL 15 and later, log_destination = jsonlog",
        traffic: &postgres::TRAFFIC,
        count: |sample| records(sample, jsonlog::is_record),
        open: |_, _| Ok(Box::new(jsonlog::Jsonlog::default())),
    },
    Format {
        name: "postgres",
        sentence: "PostgreSQL, log_destination = stderr, with any log_line_prefix (--log-prefix)",
        traffic: &postgres::TRAFFIC,
        count: |sample| stderr::detect(sample).map_or(0, |(_, count)| count),
        open: |layout, sample| {
            let prefix = match &layout.prefix {
                Some(text) => Prefix::compile(text)?,
                None => {
                    let unknown =
                        || "no known log_line_prefix fits: write yours with --log-prefix".to_owned();
                    stderr::detect(sample).map(|(prefix, _)| prefix).ok_or_else(unknown)?
                }
            };
            Ok(Box::new(stderr::Stderr::new(prefix)))
        },
    },
    Format {
        name: "mysql-slow",
        sentence: "MySQL and MariaDB, slow log (long_query_time = 0)",
        traffic: &mysql::TRAFFIC,
        count: |sample| records(sample, slow::is_record),
        open: |_, _| Ok(Box::new(slow::Slow::default())),
    },
    Format {
        name: "mysql-general",
        sentence: "MySQL and MariaDB, general log",
        traffic: &mysql::TRAFFIC,
        count: |sample| records(sample, general::is_record),
        open: |_, _| Ok(Box::new(general::General::default())),
    },
    Format {
        name: "monitor",
        sentence: "Redis, output of MONITOR",
        traffic: &databases::COMMANDS,
        count: |sample| records(sample, monitor::is_record),
        open: |_, _| Ok(Box::new(monitor::Monitor::default())),
    },
    Format {
        name: "combined",
        sentence: "nginx and Apache, combined format",
        traffic: &web::TRAFFIC,
        count: |sample| with_pattern(sample, COMBINED),
        open: |_, _| Ok(Box::new(text::Text::new(Pattern::compile(COMBINED)?))),
    },
    Format {
        name: "common",
        sentence: "nginx and Apache, common format",
        traffic: &web::TRAFFIC,
        count: |sample| with_pattern(sample, COMMON),
        open: |_, _| Ok(Box::new(text::Text::new(Pattern::compile(COMMON)?))),
    },
    Format {
        name: "caddy",
        sentence: "Caddy, JSON",
        traffic: &web::TRAFFIC,
        count: |sample| records(sample, caddy::is_record),
        open: |_, _| Ok(Box::new(caddy::Caddy)),
    },
    Format {
        name: "har",
        sentence: "HTTP archive of a browser or proxy (HAR), up to 256 MiB",
        traffic: &web::TRAFFIC,
        count: har::count,
        open: |_, _| Ok(Box::new(har::Har::default())),
    },
    Format {
        name: "access",
        sentence: "nginx and Apache, any format: --log-format '$remote_addr [$time_local] \"$request\" $request_time'",
        traffic: &web::TRAFFIC,
        count: |_| 0,
        open: |layout, _| {
            let pattern = layout.pattern.as_deref().ok_or("write the format itself instead of its name")?;
            Ok(Box::new(text::Text::new(Pattern::compile(pattern)?)))
        },
    },
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

fn lines(sample: &[u8]) -> impl Iterator<Item = &[u8]> {
    sample.split(|byte| *byte == b'\n').take(SAMPLE_LINES_MAX)
}

fn records(sample: &[u8], is_record: fn(&[u8]) -> bool) -> usize {
    lines(sample).filter(|line| is_record(line.strip_suffix(b"\r").unwrap_or(line))).count()
}

fn with_pattern(sample: &[u8], pattern: &str) -> usize {
    let Ok(pattern) = Pattern::compile(pattern) else { return 0 };
    lines(sample).filter(|line| text::is_record(&pattern, line)).count()
}
