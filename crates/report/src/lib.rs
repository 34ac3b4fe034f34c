//! Writes reports on stored runs and studies in several formats, all from one view of the data.
//!
//! Reports read only the store, so they cannot show a measurement that was not stored. The crate depends neither on the engine nor on the
//! lab.

mod alike;
mod answer;
mod apart;
mod baseline;
mod bottleneck;
mod breaches;
mod capacity;
mod checks;
mod compared;
mod comparison;
mod cpu_profile;
mod durations;
mod ending;
mod error;
mod event_causes;
mod event_costs;
mod events;
mod figures;
mod formats;
mod html;
mod inside;
mod item;
mod load_tool;
mod metric;
mod notes;
mod noun;
mod origin;
mod outage;
mod over_time;
mod own_figures;
mod physical_cost;
mod pools;
mod process_cost;
mod processes;
mod ratio;
mod run;
mod shards;
mod shared;
mod short;
mod spark;
mod stated;
mod statements;
mod steadiness;
mod study;
mod style;
mod system;
mod table;
mod text;
mod times;
mod transactions;
mod trust;
mod units;
mod view;
mod words;
mod written;

use std::io;

use evidence::{EvidenceError, Run, RunId};
use judge::CommandEnding;

pub use compared::Compared;
pub use error::ReportError;
pub use formats::{
    FORMATS, Format, GITHUB, JSON, JUNIT, MARKDOWN, PAGE, REQUEST_LOG, TERMINAL, format,
    names as format_names,
};
pub use origin::build;
pub use shared::Anonymizer;
pub use spark::bars;
pub use text::{shell_quote, shortened, visible, visible_lines};

/// Options for the reader's terminal or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the terminal format may use color.
    pub color: bool,
    /// Maximum width of the terminal format in columns. Exceeded if it is too narrow for a table.
    pub width: usize,
    /// Whether the terminal format shows all details, or only the brief report.
    pub is_wide: bool,
}

/// Writes a report on one or more stored runs, in the given order.
pub fn write(
    format: &Format,
    runs: &[Run],
    options: &Options,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let views = runs.iter().map(view::View::of).collect::<Result<Vec<_>, _>>()?;
    format.write_runs(&views, options, out)
}

/// Loads one run with its per-second data. A study only has the totals of its runs.
pub type LoadRun<'a> = &'a dyn Fn(&RunId) -> Result<Run, EvidenceError>;

/// Command ending of a study, according to its report. [`CommandEnding::CouldNotRun`] for a study that has not ended.
pub fn study_ending(study: &evidence::Study, load_run: LoadRun<'_>) -> Result<CommandEnding, EvidenceError> {
    let view = study::StudyView::of(study, load_run)?;
    Ok(ending::of_study(&view).unwrap_or(CommandEnding::CouldNotRun))
}

/// Writes a report on a study: its variants side by side, and the result. Formats with per-second data load one run after the
/// other, and keep none in memory.
pub fn write_study(
    format: &Format,
    study: &evidence::Study,
    load_run: LoadRun<'_>,
    options: &Options,
    out: &mut dyn io::Write,
) -> Result<(), ReportError> {
    format.write_study(&study::StudyView::of(study, load_run)?, options, out)
}

/// Facts that exclude each other, and impossible figures, in a report on a run. Tests require that there are none.
pub fn contradictions(run: &Run) -> Result<Vec<String>, EvidenceError> {
    Ok(stated::contradictions_of_run(&view::View::of(run)?))
}

/// Like [`contradictions`], in a report on a study.
pub fn study_contradictions(
    study: &evidence::Study,
    load_run: LoadRun<'_>,
) -> Result<Vec<String>, EvidenceError> {
    Ok(stated::contradictions_of_study(&study::StudyView::of(study, load_run)?))
}
