//! Errors of reports.

use std::io;

use evidence::{EvidenceError, RunId, StudyId};

/// Error of writing a report: what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The report has no runs.
    #[error("there is no run to report on\n  help: `tenbin history` lists the stored runs")]
    NoRuns,
    /// The format needs a request log, which the run does not have.
    #[error(
        "run {run} kept no single requests\n  help: measure with `--log-requests 1000` to write a JTL file"
    )]
    NoRequestLog {
        /// Identifier of the run.
        run: RunId,
    },
    /// The format supports only one run.
    #[error("the format {format} holds one run\n  help: name one of the {runs}")]
    OneRunOnly {
        /// Name of the format.
        format: &'static str,
        /// Number of runs that were requested.
        runs: usize,
    },
    /// The format supports single runs only, and no studies.
    #[error("the format {format} is for single runs, and {study} is a study of several\n  help: name one of its runs{}", example_words(.example))]
    NoStudies {
        /// Name of the format.
        format: &'static str,
        /// Identifier of the study.
        study: StudyId,
        /// Example: one of its runs. `None` if it has none.
        example: Option<RunId>,
    },
    /// The two sides cannot be compared, because a ratio would be meaningless.
    #[error("{what}\n  help: {way_out}")]
    NotComparable {
        /// Reason, with the names of both sides.
        what: String,
        /// Advice.
        way_out: String,
    },
    /// The stored data is inconsistent.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The report could not be written to its destination.
    #[error("the report cannot be written: {0}")]
    Io(#[from] io::Error),
}

fn example_words(example: &Option<RunId>) -> String {
    example.as_ref().map_or_else(String::new, |run| format!(", such as {run}"))
}
