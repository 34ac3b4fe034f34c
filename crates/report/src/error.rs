//! Why a report could not be written.

use std::io;

use evidence::{EvidenceError, RunId, StudyId};

/// Why a report could not be written: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing to report on.
    #[error("there is no run to report on\n  help: `tenbin history` lists the stored runs")]
    NoRuns,
    /// A request log was asked for of a run that kept none.
    #[error(
        "run {run} kept no single requests\n  help: measure with `--log-requests 1000` to write a JTL file"
    )]
    NoRequestLog {
        /// The run.
        run: RunId,
    },
    /// The format has room for one run.
    #[error("the format {format} holds one run\n  help: name one of the {runs}")]
    OneRunOnly {
        /// The format.
        format: &'static str,
        /// How many there were.
        runs: usize,
    },
    /// The format has room for single runs only.
    #[error("the format {format} is for single runs, and {study} is a study of several\n  help: name one of its runs{}", such_as(.example))]
    NoStudies {
        /// The format.
        format: &'static str,
        /// The study.
        study: StudyId,
        /// One of its runs, if it has any.
        example: Option<RunId>,
    },
    /// Two things of which a ratio would say nothing.
    #[error("{what}\n  help: {way_out}")]
    NotComparable {
        /// Why, with their names.
        what: String,
        /// What to do instead.
        way_out: String,
    },
    /// What is stored does not add up.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The report could not be written out.
    #[error("the report cannot be written: {0}")]
    Io(#[from] io::Error),
}

fn such_as(example: &Option<RunId>) -> String {
    example.as_ref().map_or_else(String::new, |run| format!(", such as {run}"))
}
