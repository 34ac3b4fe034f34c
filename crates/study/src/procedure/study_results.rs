//! Cache of run results: each run is evaluated once, although its study decides after every turn.

use std::cell::RefCell;
use std::collections::BTreeMap;

use evidence::{EvidenceError, Run, RunId};
use judge::ComparedBy;
use stats::RunResult;

/// Results of the runs of a study by its metric.
pub(super) struct StudyResults {
    by: ComparedBy,
    said: RefCell<BTreeMap<RunId, RunResult>>,
}

impl StudyResults {
    /// Creates an empty cache.
    pub(super) fn of(by: ComparedBy) -> Self {
        Self { by, said: RefCell::default() }
    }

    /// Returns the metric by which runs are compared.
    pub(super) fn by(&self) -> &ComparedBy {
        &self.by
    }

    /// Returns the result of a run that has ended.
    pub(super) fn said(&self, run: &Run) -> Result<RunResult, EvidenceError> {
        if let Some(said) = self.said.borrow().get(&run.id) {
            return Ok(*said);
        }
        let said = judge::said(run, &self.by)?;
        self.said.borrow_mut().insert(run.id.clone(), said);
        Ok(said)
    }
}
