//! Interfaces of a study: the run maker, and the journal that stores the runs.

use std::time::Instant;

use evidence::{Run, RunId, Study, StudyEnding, StudyId, StudyPlace};
use plan::Amount;
use progress::{RemainingStudy, RunEvent};
use store::{Store, StoreError};

/// Makes the runs of a study, stores them, and publishes its events.
pub trait RunMaker {
    /// Reason why a run could not be completed.
    type Error;

    /// Makes the run of a place. On return, the run is stored, successful or not.
    ///
    /// # Errors
    /// No more runs are possible.
    fn make(&mut self, place: &StudyPlace, draws: &Draws, ahead: &RemainingStudy) -> Result<(), Self::Error>;

    /// Returns whether the study can be resumed after this error, once its cause is removed.
    fn is_resumable(&self, error: &Self::Error) -> bool;

    /// Publishes an event of the study. Runs publish their own events.
    fn publish(&mut self, event: RunEvent);

    /// Returns whether a stop was requested.
    fn is_stopped(&self) -> bool;

    /// Returns the current time.
    fn now(&self) -> Instant;
}

/// Load of a run, and the seed of its random draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Amount of load that replaces the one in the plan. `None` for the amount in the plan.
    pub amount: Option<Amount>,
    /// Seed of all random draws. Ignored if `amount` is given, which has its own seed.
    pub seed: u64,
    /// Whether the system stays up after the run because another slice of its start follows.
    pub stays_up: bool,
}

/// Storage of one study and of its runs.
pub trait Journal {
    /// Loads the study with all runs so far, without their per-second data.
    fn study(&self) -> Result<Study, StoreError>;

    /// Updates a study that was loaded before. Runs that it already has are not read again.
    fn reload(&self, study: &mut Study) -> Result<(), StoreError>;

    /// Loads a run of the study with its per-second data.
    fn run(&self, run: &RunId) -> Result<Run, StoreError>;

    /// Appends planned runs.
    fn plan_more(&self, places: &[StudyPlace]) -> Result<(), StoreError>;

    /// Stores the ending of the study.
    fn finish(&self, ending: &StudyEnding) -> Result<(), StoreError>;

    /// Claims a finished study, and appends `places` to extend it to `blocks` blocks. `within_s` is the new time limit
    /// in seconds; `None` keeps the old limit.
    fn extend(
        &self,
        kept: &Study,
        within_s: Option<f64>,
        blocks: u32,
        places: &[StudyPlace],
    ) -> Result<(), StoreError>;
}

/// Journal of a study in a store.
#[derive(Clone, Copy, Debug)]
pub struct StoredStudy<'a> {
    /// The store.
    pub store: &'a Store,
    /// Identifier of the study in the store.
    pub id: &'a StudyId,
}

impl Journal for StoredStudy<'_> {
    fn study(&self) -> Result<Study, StoreError> {
        self.store.load_study(self.id)
    }

    fn reload(&self, study: &mut Study) -> Result<(), StoreError> {
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
