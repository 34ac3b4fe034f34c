//! What runs said: each is read once, however often its study is asked what to run next.

use std::cell::RefCell;
use std::collections::BTreeMap;

use judge::Metric;
use stats::Seen;
use store::{Run, RunId, StoreError};

/// What the runs of a study said by its metric.
pub(super) struct Heard {
    metric: &'static Metric,
    said: RefCell<BTreeMap<RunId, Seen>>,
}

impl Heard {
    /// Nothing so far.
    pub(super) fn of(metric: &'static Metric) -> Self {
        Self { metric, said: RefCell::default() }
    }

    /// By what the runs are compared.
    pub(super) fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// What a run that is over says.
    pub(super) fn said(&self, run: &Run) -> Result<Seen, StoreError> {
        if let Some(said) = self.said.borrow().get(&run.id) {
            return Ok(*said);
        }
        let said = judge::said(run, self.metric)?;
        self.said.borrow_mut().insert(run.id.clone(), said);
        Ok(said)
    }
}
