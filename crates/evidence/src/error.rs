//! Errors of reading evidence.

use std::error::Error;

use record::IdentityBroken;

use crate::run_id::RunId;

/// Reason why a run or a study cannot provide the requested data.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The run was loaded with its study, so it has sums only.
    #[error("the seconds of run {run} did not come with its study; ask for the run by itself")]
    SummedUp {
        /// The run.
        run: RunId,
    },
    /// The figures of a stored run do not unpack, or are implausible.
    #[error(
        "run {run}: its figures are damaged or were written by another version\n  help: delete it and measure again"
    )]
    DamagedRun {
        /// The run.
        run: RunId,
    },
    /// The counts of a stored run do not add up.
    #[error("run {run}: {source}; no figure of it can be believed\n  help: delete it and measure again")]
    Identity {
        /// The run.
        run: RunId,
        /// The identity that does not hold.
        source: IdentityBroken,
    },
    /// A run could not be read from its storage.
    #[error(transparent)]
    Unreadable(Box<dyn Error + Send + Sync>),
}
