//! What a study asks of the part that makes its runs.

use std::time::Instant;

use evidence::{Run, RunId, Study, StudyEnding, StudyId, StudyPlace};
use plan::Amount;
use progress::{Ahead, RunEvent};
use store::{Store, StoreError};

/// Makes the runs of a study, keeps them, and publishes its events.
pub trait RunMaker {
    /// Why a run did not come to its end.
    type Error;

    /// Makes the run of a place. When this returns it is kept, whatever came of it.
    ///
    /// # Errors
    /// Nothing more can be made.
    fn make(&mut self, place: &StudyPlace, draws: &Draws, ahead: &Ahead) -> Result<(), Self::Error>;

    /// Whether the study can be resumed after this error, once its cause is removed.
    fn is_resumable(&self, error: &Self::Error) -> bool;

    /// Publishes an event of the study. The runs publish their own.
    fn publish(&mut self, event: RunEvent);

    /// Whether a stop was requested.
    fn is_stopped(&self) -> bool;

    /// The instant that it is.
    fn now(&self) -> Instant;
}

/// How much load a run has, and which.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// In place of what the plan says of its load.
    pub amount: Option<Amount>,
    /// What everything is drawn from, if there is no such amount, which has its own.
    pub seed: u64,
    /// Whether its system stays up, because another slice of the same start follows.
    pub stays_up: bool,
}

/// What is kept of a study: all that it knows of its runs.
pub trait Journal {
    /// Everything so far.
    fn study(&self) -> Result<Study, StoreError>;

    /// Brings what was read before up to now. Nothing is read again of the runs that it has.
    fn catch_up(&self, study: &mut Study) -> Result<(), StoreError>;

    /// A run of it, with its seconds.
    fn run(&self, run: &RunId) -> Result<Run, StoreError>;

    /// Keeps what is planned from now on.
    fn plan_more(&self, places: &[StudyPlace]) -> Result<(), StoreError>;

    /// Keeps how it ended.
    fn finish(&self, ending: &StudyEnding) -> Result<(), StoreError>;

    /// Takes over a study that has ended, and keeps that these places bring it to so many blocks, and how long it may take.
    fn extend(
        &self,
        kept: &Study,
        within_s: Option<f64>,
        blocks: u32,
        places: &[StudyPlace],
    ) -> Result<(), StoreError>;
}

/// A study in a store.
#[derive(Clone, Copy, Debug)]
pub struct StoredStudy<'a> {
    /// Where it is.
    pub store: &'a Store,
    /// Its name there.
    pub id: &'a StudyId,
}

impl Journal for StoredStudy<'_> {
    fn study(&self) -> Result<Study, StoreError> {
        self.store.load_study(self.id)
    }

    fn catch_up(&self, study: &mut Study) -> Result<(), StoreError> {
        self.store.reload_study(study)
    }

    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        self.store.load(run)
    }

    fn plan_more(&self, places: &[StudyPlace]) -> Result<(), StoreError> {
        self.store.plan_more(self.id, places)
    }

    fn finish(&self, ending: &StudyEnding) -> Result<(), StoreError> {
        self.store.finish_study(self.id, ending)
    }

    fn extend(
        &self,
        kept: &Study,
        within_s: Option<f64>,
        blocks: u32,
        places: &[StudyPlace],
    ) -> Result<(), StoreError> {
        self.store.extend_study(kept, within_s, blocks, places)
    }
}
