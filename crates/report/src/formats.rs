//! The list of formats.

use std::io;

use crate::Options;
use crate::error::ReportError;
use crate::html;
use crate::study::StudyView;
use crate::view::View;

mod csv;
mod hlog;
mod json;
mod jtl;
mod md;
mod terminal;

pub(crate) use md::escaped as escaped_markdown;

/// A way to write a report.
pub struct Format {
    /// What follows `--format`.
    pub name: &'static str,
    /// What it is good for.
    pub sentence: &'static str,
    /// How files of it end, without the dot.
    pub extension: &'static str,
    pub(crate) write: fn(&[View<'_>], &Options, &mut dyn io::Write) -> Result<(), ReportError>,
    /// `None` if the format has room for single runs only.
    pub(crate) study: Option<WriteStudy>,
}

type WriteStudy = fn(&StudyView<'_>, &Options, &mut dyn io::Write) -> Result<(), ReportError>;

/// Every format, in the order of the help text.
pub const FORMATS: &[Format] = &[
    Format {
        name: "terminal",
        sentence: "for reading here and now",
        extension: "txt",
        write: terminal::write,
        study: Some(terminal::study::write),
    },
    Format {
        name: "json",
        sentence: "for programs: the schema tenbin.run/1, or tenbin.study/1 of several runs",
        extension: "json",
        write: json::write,
        study: Some(json::study::write),
    },
    Format {
        name: "md",
        sentence: "Markdown, for a pull request",
        extension: "md",
        write: md::write,
        study: Some(md::study::write),
    },
    Format {
        name: "html",
        sentence: "one page with pictures, for a browser: nothing else is needed to see it",
        extension: "html",
        write: html::write,
        study: Some(html::write_study),
    },
    Format {
        name: "csv",
        sentence: "for spreadsheets: the columns of JMeter's Aggregate Report, times in milliseconds, and more columns",
        extension: "csv",
        write: csv::write,
        study: Some(csv::study::write),
    },
    Format {
        name: "jtl",
        sentence: "single requests as JMeter writes them, of a run that kept them (--log-requests)",
        extension: "jtl",
        write: jtl::write,
        study: None,
    },
    Format {
        name: "hlog",
        sentence: "HdrHistogram's interval log: response, service and lateness of every second, in nanoseconds",
        extension: "hlog",
        write: hlog::write,
        study: None,
    },
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
