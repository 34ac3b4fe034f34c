//! Why a report could not be written.

use std::io;

use store::{RunId, StoreError};

/// Why a report could not be written: what, where, and the way out.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing to report on.
    #[error("there is no run to report on; `tenbin history` lists those that are kept")]
    NoRuns,
    /// A request log was asked for of a run that kept none.
    #[error("run {run} kept no single requests; measure with `--log-requests 1000` to write a JTL file")]
    NoRequestLog {
        /// The run.
        run: RunId,
    },
    /// The format has room for one run.
    #[error("the format {format} holds one run; name one of the {runs}")]
    OneRunOnly {
        /// The format.
        format: &'static str,
        /// How many there were.
        runs: usize,
    },
    /// What is stored does not add up.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report could not be written out.
    #[error("the report cannot be written: {0}")]
    Io(#[from] io::Error),
}
