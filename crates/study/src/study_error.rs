//! Why a study does not go on.

use evidence::EvidenceError;
use plan::Fault;
use store::StoreError;

/// What is wrong with a study itself, and not with a run of it.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// It cannot be planned, or not be extended.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Plan(Vec<Fault>),
    /// The store failed.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl From<StoreError> for StudyError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<EvidenceError> for StudyError {
    fn from(error: EvidenceError) -> Self {
        StoreError::from(error).into()
    }
}

/// Why a study ended early: its own error, or one of its run maker.
#[derive(Debug)]
pub enum Broken<E> {
    /// For itself.
    Study(StudyError),
    /// A run did not come to its end.
    Run(E),
}

impl<E, S: Into<StudyError>> From<S> for Broken<E> {
    fn from(error: S) -> Self {
        Self::Study(error.into())
    }
}
