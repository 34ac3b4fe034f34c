//! Why a run did not come to its end.

use evidence::EvidenceError;
use plan::Fault;
use record::{Counts, IdentityBroken, WindowBroken};
use store::StoreError;

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed.
    #[error("{source}")]
    Storage {
        /// How.
        source: Box<StoreError>,
        /// What had been counted by then, if the load had begun.
        counts: Option<Box<Counts>>,
    },
    /// The load's threads could not be started.
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
    /// The seconds in the store do not add up to what was counted.
    #[error(
        "the seconds in the store add up to {kept:?}, and {counted:?} was counted; this is a fault of Tenbin, and none of the run's figures can be believed"
    )]
    Kept {
        /// The sum of the seconds.
        kept: Box<Counts>,
        /// What was counted as they came.
        counted: Box<Counts>,
    },
    /// A run of a study cannot be planned.
    #[error("{}", lines(.0))]
    Plan(Vec<Fault>),
    /// A kept study plans a run that its plan does not have.
    #[error(
        "the plan no longer has a run that this study planned\n  help: run the plan again, without --resume"
    )]
    NotInPlan,
    /// A system rejected all of its first load, and a single user afterwards. What to do depends on who asked for the study.
    #[error("{name}: every request was rejected, also those of a single user: {answers}")]
    Rejected {
        /// System and variant.
        name: String,
        /// What each step was answered, on one line of printable characters.
        answers: String,
    },
    /// Not one reply of a load was usable, and none to a single user afterwards: they break their protocol, end too early, or reject.
    #[error("{name}: no request got a usable reply, also those of a single user: {answers}")]
    Unusable {
        /// The URL.
        name: String,
        /// What each step was answered, on one line of printable characters.
        answers: String,
    },
    /// The systems of a block are up, and do not fit into memory.
    #[error(
        "the systems of a block do not fit into memory together: {0}\n  help: use `interleave: runs`, which has one of them up at a time"
    )]
    NoMemory(String),
    /// There are no ports for a system.
    #[error("no free ports for the system: {0}")]
    Ports(String),
    /// There is no network for a host.
    #[error("no network for the host of the system: {0}")]
    Network(String),
    /// There is no folder for a system's files.
    #[error(
        "no folder can be made for the files of a system: {0}\n  help: see to the space and rights of the folder for temporary files (TMPDIR)"
    )]
    Folder(std::io::Error),
}

fn lines(faults: &[Fault]) -> String {
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
