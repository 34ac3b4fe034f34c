//! Inserts the records of a built-in workload into a store, over the steps of its protocol.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::{Message, StopLevel};
use load::Share;
use plan::{Plan, RecordLoading, RunningSystem};
use record::{Outcome, Tally, Whole};

use crate::consent::PublicLoads;
use crate::load_data::{FillError, Progress};
use crate::prepare::{Refusal, prepare_unless_stopped};
use crate::stopper::Stopper;

/// Interval at which stop requests are checked, and progress is reported.
const STEP: Duration = Duration::from_millis(50);

/// Inserts all records, each once.
///
/// # Errors
///
/// The system cannot be loaded, or rejected some records.
pub fn load_records(
    loading: &RecordLoading,
    system: &RunningSystem,
    public: &PublicLoads,
    stopper: &Stopper,
    tell: Progress<'_>,
) -> Result<(), FillError> {
    let plans = loading.plans(system).map_err(|mut faults| Refusal::Plan(faults.remove(0)))?;
    let records = loading.shape.records;
    for plan in &plans {
        tell(0, records, plan.steps.first().map_or("records", |step| step.name.as_str()));
        let inserted = insert(plan, public, stopper, &mut |ended| tell(ended, records, ""))?;
        let ok = inserted.counts.of(Outcome::Ok);
        if stopper.level() != StopLevel::Go {
            return Err(FillError::Records(format!("stopped: {ok} of {records} records were inserted")));
        }
        if ok < records {
            return Err(FillError::Records(missing(&inserted, ok, records)));
        }
    }
    Ok(())
}

/// Message about records that were not inserted, with the classes of errors.
fn missing(inserted: &Tally, ok: u64, records: u64) -> String {
    let errors = inserted.errors.entries().iter();
    let errors: Vec<String> = errors.map(|entry| format!("{} {}", entry.count, entry.class)).collect();
    format!(
        "{ok} of {records} records were inserted: {}\n  help: remove the records of an earlier load from the store, and see its log",
        errors.join(", ")
    )
}

/// Makes a load that ends after a number of requests. `progress` gets the number of requests that have ended, now and then.
fn insert(
    plan: &Plan,
    public: &PublicLoads,
    stopper: &Stopper,
    progress: &mut dyn FnMut(u64),
) -> Result<Tally, FillError> {
    let prepared = prepare_unless_stopped(plan, public, stopper)?;
    let mut underway =
        prepared.ready.start(Share::WHOLE).map_err(|error| FillError::Records(error.to_string()))?;
    let (mut whole, mut ended) = (Whole::default(), 0);
    loop {
        underway.stop(stopper.level());
        match underway.next(STEP) {
            Ok(Message::Interval { step: 0, interval }) => {
                ended += interval.tally.counts.ended();
                whole.absorb(&interval.tally).map_err(unequal)?;
            }
            Ok(Message::Broke(what) | Message::Unrecoverable(what)) => return Err(FillError::Records(what)),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        progress(ended);
    }
    underway.join().map_err(|died| FillError::Records(died.join("; ")))?;
    whole.settle().map_err(unequal)
}

fn unequal(broken: impl std::fmt::Debug) -> FillError {
    FillError::Records(format!("an internal account does not add up: {broken:?}"))
}
