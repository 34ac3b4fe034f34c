//! Errors that end a study early.

use evidence::EvidenceError;
use plan::Fault;
use store::StoreError;

/// Error of the study itself, as opposed to an error in a run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The study cannot be planned or extended.
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

/// Error that ended a study early, from the study itself or from its run maker.
#[derive(Debug)]
pub enum RunStudyError<E> {
    /// Error of the study itself.
    Study(StudyError),
    /// A run could not be completed.
    Run(E),
}

impl<E, S: Into<StudyError>> From<S> for RunStudyError<E> {
    fn from(error: S) -> Self {
        Self::Study(error.into())
    }
}
