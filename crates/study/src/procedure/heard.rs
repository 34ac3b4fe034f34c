//! What runs said: each is read once, however often its study is asked what to run next.

use std::cell::RefCell;
use std::collections::BTreeMap;

use evidence::{EvidenceError, Run, RunId};
use judge::ComparedBy;
use stats::Seen;

/// What the runs of a study said by its metric.
pub(super) struct Heard {
    by: ComparedBy,
    said: RefCell<BTreeMap<RunId, Seen>>,
}

impl Heard {
    /// Nothing so far.
    pub(super) fn of(by: ComparedBy) -> Self {
        Self { by, said: RefCell::default() }
    }

    /// By what the runs are compared.
    pub(super) fn by(&self) -> &ComparedBy {
        &self.by
    }

    /// What a run that is over says.
    pub(super) fn said(&self, run: &Run) -> Result<Seen, EvidenceError> {
        if let Some(said) = self.said.borrow().get(&run.id) {
            return Ok(*said);
        }
        let said = judge::said(run, &self.by)?;
        self.said.borrow_mut().insert(run.id.clone(), said);
        Ok(said)
    }
}
