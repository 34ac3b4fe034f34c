//! Results of a run, and their storage.

use evidence::{Ending, Failure, GateResult, Run, RunId, Verdict};
use judge::{Window, rates};
use lab::Output;
use progress::{Brief, Ended, Stream};
use record::{Counts, Percentile, Phase};
use store::{Store, StoreError};

use crate::describe::ending_without_load;
use crate::feed::Feed;
use crate::measure::Measured;
use crate::planned_run::PlannedRun;
use crate::run_error::RunError;
use crate::tools::Tools;
use crate::watchdog::Watchdog;

/// Completed and stored run.
#[derive(Clone, Debug)]
pub struct CompletedRun {
    /// Name of the run in the store.
    pub run: RunId,
    /// Ending of the run.
    pub ending: Ending,
    /// Results of the plan's gates.
    pub gates: Vec<GateResult>,
    /// Summary of a complete load. `None` if not requested.
    pub brief: Option<Brief>,
    /// Whether this run's answers were judged as the first ones of its scenario. Later runs need no such check.
    pub is_first_answer: bool,
}

/// Loads a run that has ended, and adds and stores the costs of its events.
fn with_event_costs(store: &Store, run: &RunId) -> Result<Run, StoreError> {
    let mut kept = store.load(run)?;
    if !kept.events().is_empty() {
        let costs = judge::event_cost::of_run(&kept);
        store.keep_event_costs(&mut kept, costs)?;
    }
    Ok(kept)
}

/// Summarizes a run in three figures.
fn brief(run: &Run) -> Result<Brief, StoreError> {
    let tally = run.whole(Phase::Measured)?;
    Ok(Brief {
        ok_per_s: Window::of(run).map_or(0.0, |window| window.ok_per_s()),
        p50_ns: tally.response.all().printable_at(Percentile::P50),
        errors_share: rates::error_share(&tally.counts),
    })
}

/// Run with a load that has ended or never started. Its ending is not stored yet.
pub(crate) struct UnstoredRun {
    pub(crate) run: RunId,
    pub(crate) ending: Ending,
    /// Counts of the measured phase. `None` if the load never started.
    pub(crate) counts: Option<Counts>,
    pub(crate) is_first_answer: bool,
    /// Watchdog that limits the time until the run is stored. `None` if the load never started, or a study stops its system first.
    pub(crate) watchdog: Option<Watchdog>,
}

impl UnstoredRun {
    pub(crate) fn of(run: RunId, measured: Measured, is_first_answer: bool) -> Self {
        let Measured { ending, counts, watchdog, .. } = measured;
        Self { run, ending, counts: Some(counts), is_first_answer, watchdog: Some(watchdog) }
    }

    /// Run in which the load never started.
    pub(crate) fn without_load(
        tools: &Tools<'_>,
        run: RunId,
        verdict: Verdict,
        failure: Option<Failure>,
    ) -> Self {
        let ending = ending_without_load(verdict, failure, tools.generator.usage().rss_peak_bytes);
        Self { run, ending, counts: None, is_first_answer: false, watchdog: None }
    }

    /// Adds notes to the ending.
    pub(crate) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.ending.notes.extend(notes);
        self
    }

    /// Turns a failure that an interruption may have caused into a note. It is not a result of the system, and a resumed study
    /// repeats the run.
    pub(crate) fn interrupt(&mut self) {
        if let Some(failure) = self.ending.failure.take() {
            self.ending.verdict = Verdict::Partial;
            self.ending.notes.push(format!("interrupted, and so no failure of the system: {}", failure.what));
        }
    }

    /// Whether the system failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.ending.failure.is_some()
    }

    /// Stores the output of processes, the ending, and the results of the gates if requested. Then publishes the end of the run.
    pub(crate) fn keep(
        self,
        store: &Store,
        stream: &Stream,
        planned: &PlannedRun<'_>,
        outputs: &[Output],
    ) -> Result<CompletedRun, RunError> {
        let Self { run, ending, counts, is_first_answer, watchdog } = self;
        for output in outputs {
            let process = plan::mask_secrets(&output.process);
            store.keep_output(&run, &process, &output.text, output.dropped_bytes)?;
        }
        store.finish(&run, &ending).map_err(|source| RunError::storage(source, counts))?;
        drop(watchdog);
        let (mut judged, mut figures) = (Vec::new(), None);
        let is_over = matches!(ending.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid);
        if let Some(gates) = planned.gates.as_deref().filter(|_| is_over) {
            if let Some(baseline) = &planned.baseline {
                store.keep_baseline(&run, baseline)?;
            }
            let kept = with_event_costs(store, &run)?;
            figures = Some(brief(&kept)?);
            judged = match planned.earlier.as_slice() {
                [] => judge::judge_gates(gates, &kept)?,
                earlier => {
                    let mut slices =
                        earlier.iter().map(|run| store.load(run)).collect::<Result<Vec<_>, _>>()?;
                    slices.push(kept);
                    judge::judge_gates_of_slices(gates, &slices)?
                }
            };
            store.keep_gates(&run, &judged)?;
        }
        let ended = Ended { ending: ending.clone(), gates: judged.clone(), brief: figures };
        Feed { store, run: &run, stream }.ended(ended);
        Ok(CompletedRun { run, ending, gates: judged, brief: figures, is_first_answer })
    }
}
