//! Everything that can go wrong with evidence.

use std::error::Error;

use record::IdentityBroken;

use crate::run_id::RunId;

/// Why a run or a study does not say what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// A study holds the sums of its runs only.
    #[error("the seconds of run {run} did not come with its study; ask for the run by itself")]
    SummedUp {
        /// The run.
        run: RunId,
    },
    /// The figures of a stored run do not unpack, or are out of all proportion.
    #[error(
        "run {run}: its figures are damaged or were written by another version\n  help: delete it and measure again"
    )]
    DamagedRun {
        /// The run.
        run: RunId,
    },
    /// The accounting of a stored run does not add up.
    #[error("run {run}: {source}; no figure of it can be believed\n  help: delete it and measure again")]
    Identity {
        /// The run.
        run: RunId,
        /// The counts.
        source: IdentityBroken,
    },
    /// A run could not be read from where it is kept.
    #[error(transparent)]
    Unreadable(Box<dyn Error + Send + Sync>),
}
