//! List of report formats, with the functions that write them.

use std::io;

use crate::compared::Compared;
use crate::error::ReportError;
use crate::html;
use crate::item::{Escape, Item};
use crate::study::StudyView;
use crate::view::View;
use crate::{Options, comparison, run};

mod csv;
mod github;
mod hlog;
mod json;
mod jtl;
mod junit;
mod md;
mod terminal;

/// All formats, in the order of the help text.
pub const FORMATS: &[Format] = &[
    terminal::FORMAT,
    json::FORMAT,
    md::FORMAT,
    html::FORMAT,
    csv::FORMAT,
    junit::FORMAT,
    github::FORMAT,
    jtl::FORMAT,
    hlog::FORMAT,
];

/// Text for a terminal, the default.
pub const TERMINAL: &Format = &terminal::FORMAT;
/// JSON for programs.
pub const JSON: &Format = &json::FORMAT;
/// HTML page for a browser.
pub const PAGE: &Format = &html::FORMAT;
/// Markdown for comments and summaries.
pub const MARKDOWN: &Format = &md::FORMAT;
/// Annotations for jobs of GitHub Actions.
pub const GITHUB: &Format = &github::FORMAT;
/// JUnit XML for build servers.
pub const JUNIT: &Format = &junit::FORMAT;
/// JTL log of single requests, for runs that kept them.
pub const REQUEST_LOG: &Format = &jtl::FORMAT;

/// A report format.
pub struct Format {
    /// Name after `--format`.
    pub name: &'static str,
    /// Purpose, for the help text.
    pub sentence: &'static str,
    /// File extension without the dot.
    pub extension: &'static str,
    pub(crate) way: FormatWriter,
}

/// Method by which a format writes reports.
pub(crate) enum FormatWriter {
    /// Draws the items that all reports for people consist of.
    Drawn { draw: Draw, escape: Escape },
    /// Selects figures from views. `None` if the format does not support studies or comparisons.
    Picked { runs: WriteRuns, study: Option<WriteStudy>, compared: Option<WriteCompared> },
}

type Draw = fn(&[Item], &Options, &mut dyn io::Write) -> io::Result<()>;
type WriteRuns = fn(&[View<'_>], &mut dyn io::Write) -> Result<(), ReportError>;
type WriteStudy = fn(&StudyView<'_>, &mut dyn io::Write) -> Result<(), ReportError>;
type WriteCompared = fn(&Compared, &mut dyn io::Write) -> Result<(), ReportError>;

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Format {
    /// Whether the format supports studies.
    pub fn supports_study(&self) -> bool {
        matches!(self.way, FormatWriter::Drawn { .. } | FormatWriter::Picked { study: Some(_), .. })
    }

    /// Whether the format supports comparisons of two runs or two studies.
    pub fn supports_comparison(&self) -> bool {
        matches!(self.way, FormatWriter::Drawn { .. } | FormatWriter::Picked { compared: Some(_), .. })
    }

    pub(crate) fn write_runs(
        &self,
        views: &[View<'_>],
        options: &Options,
        out: &mut dyn io::Write,
    ) -> Result<(), ReportError> {
        match (&self.way, views) {
            (FormatWriter::Drawn { draw, escape }, [view]) => {
                Ok(draw(&run::items(view, *escape)?, options, out)?)
            }
            (FormatWriter::Drawn { draw, escape }, _) => {
                Ok(draw(&comparison::items(views, *escape), options, out)?)
            }
            (FormatWriter::Picked { runs, .. }, _) => runs(views, out),
        }
    }

    pub(crate) fn write_study(
        &self,
        view: &StudyView<'_>,
        options: &Options,
        out: &mut dyn io::Write,
    ) -> Result<(), ReportError> {
        match &self.way {
            FormatWriter::Drawn { draw, escape } => {
                Ok(draw(&crate::study::items(view, *escape)?, options, out)?)
            }
            FormatWriter::Picked { study: Some(write), .. } => write(view, out),
            FormatWriter::Picked { study: None, .. } => Err(ReportError::NoStudies {
                format: self.name,
                study: view.study.id.clone(),
                example: view.study.runs.first().map(|run| run.id.clone()),
            }),
        }
    }

    pub(crate) fn write_compared(
        &self,
        compared: &Compared,
        options: &Options,
        out: &mut dyn io::Write,
    ) -> Result<(), ReportError> {
        match &self.way {
            FormatWriter::Drawn { draw, escape } => Ok(draw(&compared.items(*escape), options, out)?),
            FormatWriter::Picked { compared: Some(write), .. } => write(compared, out),
            FormatWriter::Picked { compared: None, .. } => Err(ReportError::NotComparable {
                what: format!("the format {} has no room for two things side by side", self.name),
                way_out: format!("write {}", names(Self::supports_comparison)),
            }),
        }
    }
}

/// Returns the format with this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Joins the names of the formats that satisfy a condition: `terminal, json or md`.
pub fn names(is_included: fn(&Format) -> bool) -> String {
    let mut names: Vec<&str> =
        FORMATS.iter().filter(|format| is_included(format)).map(|format| format.name).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        last => last.unwrap_or_default().to_owned(),
    }
}
