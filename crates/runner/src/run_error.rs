//! Errors that end a run.

use evidence::EvidenceError;
use plan::Fault;
use record::{Counts, IdentityBroken, WindowBroken};
use store::StoreError;

/// Reason why a run did not complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed.
    #[error("{source}")]
    Storage {
        /// Error of the store.
        source: Box<StoreError>,
        /// Counts so far. `None` if the load had not started.
        counts: Option<Box<Counts>>,
    },
    /// The threads of the load could not be started.
    #[error(
        "the threads of the load cannot be started: {0}\n  help: use fewer (--threads), or raise the limit of processes"
    )]
    Threads(#[from] std::io::Error),
    /// Requests were lost in the accounting.
    #[error("{0}; this is a fault of Tenbin, and none of the run's figures can be believed")]
    Identity(#[from] IdentityBroken),
    /// More requests ended in the measured window than were offered.
    #[error("{0}; this is a fault of Tenbin, and none of the run's figures can be believed")]
    Window(#[from] WindowBroken),
    /// The seconds in the store do not add up to the counts.
    #[error(
        "the seconds in the store add up to {kept:?}, and {counted:?} was counted; this is a fault of Tenbin, and none of the run's figures can be believed"
    )]
    Kept {
        /// Sum of the stored seconds.
        kept: Box<Counts>,
        /// Counts of the collector.
        counted: Box<Counts>,
    },
    /// A run of a study cannot be planned.
    #[error("{}", format_faults(.0))]
    Plan(Vec<Fault>),
    /// A stored study plans a run that is not in its plan.
    #[error(
        "the plan no longer has a run that this study planned\n  help: run the plan again, without --resume"
    )]
    NotInPlan,
    /// A system rejected its whole first load, and a single user afterwards. The caller adds help.
    #[error("{name}: every request was rejected, also those of a single user: {answers}")]
    Rejected {
        /// System and variant.
        name: String,
        /// Answers to each step, in one line of printable characters.
        answers: String,
    },
    /// All replies of a load were unusable, and so were those to a single user afterwards: they break their protocol, end too early, or
    /// reject.
    #[error("{name}: no request got a usable reply, also those of a single user: {answers}")]
    Unusable {
        /// URL of the load.
        name: String,
        /// Answers to each step, in one line of printable characters.
        answers: String,
    },
    /// The systems of a block are up, and do not fit into memory.
    #[error(
        "the systems of a block do not fit into memory together: {0}\n  help: use `interleave: runs`, which has one of them up at a time"
    )]
    NoMemory(String),
    /// Too few free ports for a system.
    #[error("no free ports for the system: {0}")]
    Ports(String),
    /// No free network for a host.
    #[error("no network for the host of the system: {0}")]
    Network(String),
    /// The folder for the files of a system cannot be created.
    #[error(
        "no folder can be made for the files of a system: {0}\n  help: see to the space and rights of the folder for temporary files (TMPDIR)"
    )]
    Folder(std::io::Error),
}

fn format_faults(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\nerror: ")
}

impl From<StoreError> for RunError {
    fn from(source: StoreError) -> Self {
        Self::storage(source, None)
    }
}

impl From<EvidenceError> for RunError {
    fn from(error: EvidenceError) -> Self {
        StoreError::from(error).into()
    }
}

impl RunError {
    pub(crate) fn storage(source: StoreError, counts: Option<Counts>) -> Self {
        Self::Storage { source: Box::new(source), counts: counts.map(Box::new) }
    }
}
