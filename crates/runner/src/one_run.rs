//! Single run from start to end, for a URL or a study.

use evidence::{Failure, NewRun, RunId, SteadyStart, Verdict};
use judge::{Written, WrittenCheck};
use progress::{RunEvent, Stream};
use store::Store;

use crate::databases;
use crate::describe;
use crate::feed::Feed;
use crate::made_run::{CompletedRun, UnstoredRun};
use crate::measure::{Measured, measure};
use crate::monitor::MonitoredSystem;
use crate::planned_run::{FirstReplyRule, PlannedRun};
use crate::pooling::Warning;
use crate::recording;
use crate::run_error::RunError;
use crate::stage::kept;
use crate::statement_plans;
use crate::systems::StartedSystem;
use crate::thread_check::{ConfirmationRun, Threads};
use crate::tools::Tools;
use crate::written::WrittenRows;

/// Performs runs, one after another.
#[derive(Clone, Copy, Debug)]
pub struct Runner<'a> {
    /// Store of the runs.
    pub store: &'a Store,
    /// Generator, lab, clock, and stopper of the runs.
    pub tools: Tools<'a>,
}

impl Runner<'_> {
    /// Starts the system if required, runs the load, stops the system, and stores the results. A failure of the system is a result,
    /// not an error.
    pub fn make(&self, planned: PlannedRun<'_>, stream: &Stream) -> Result<CompletedRun, RunError> {
        self.make_on(planned, &mut None, false, stream)
    }

    /// Like [`Self::make`], on a system that may be `up` already. Leaves the system in `up` if `stays_up` and the run succeeded.
    pub(crate) fn make_on(
        &self,
        mut planned: PlannedRun<'_>,
        up: &mut Option<Box<dyn StartedSystem>>,
        stays_up: bool,
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let new = planned.describe(&self.tools);
        let (mut loaded, outputs) = match planned.start(&self.tools, up.take(), stream) {
            Ok(mut monitored) => {
                let loaded = self.load(&mut planned, new, &mut monitored, stream);
                if let Some(keeps) = &planned.keeps
                    && loaded.as_ref().is_ok_and(|loaded| !loaded.has_failed())
                {
                    keeps.system.put(monitored.take_system());
                }
                let is_well =
                    loaded.as_ref().is_ok_and(|loaded| !loaded.has_failed()) && !monitored.has_died();
                // However the load ended, the system is stopped, unless the next run or slice needs it.
                let left = match stays_up && is_well && !self.tools.is_stopped() {
                    true => monitored.leave_running(up),
                    false => monitored.stop(),
                };
                let mut loaded = loaded?;
                let outputs = left.add_to(&mut loaded.ending);
                (loaded, outputs)
            }
            Err(failure) => {
                let loaded = self.store_without_load(&new, kept(&failure))?;
                let outputs = if loaded.has_failed() { failure.outputs } else { Vec::new() };
                (loaded, outputs)
            }
        };
        if self.tools.is_stopped() {
            loaded.interrupt();
        }
        loaded.keep(self.store, stream, &planned, &outputs)
    }

    /// Prepares and runs the load, and judges the result. Only errors of the store or of this program are returned, and end the
    /// study.
    fn load(
        &self,
        planned: &mut PlannedRun<'_>,
        mut new: NewRun,
        monitored: &mut MonitoredSystem<'_>,
        stream: &Stream,
    ) -> Result<UnstoredRun, RunError> {
        let prepared = match planned.prepare(&self.tools, stream) {
            Ok(prepared) => prepared,
            Err(failure) => return self.store_without_load(&new, failure),
        };
        new.parts = describe::parts(&planned.plan);
        if !planned.changes_shards() {
            describe::shards(&planned.plan, &mut new);
        }
        let notes = recording::record(&planned.plan, &prepared, &mut new);
        let rows = match planned.begin_readings(&|| self.tools.is_stopped()) {
            Ok((figures, rows)) => {
                monitored.set_figures(figures);
                rows
            }
            Err(failure) => return self.store_without_load(&new, failure),
        };
        let warnings = prepared.learnt.warnings.clone();
        if planned.first != FirstReplyRule::Any {
            let remarks = warnings.iter().map(|warning| RunEvent::Remark(format!("warning: {warning}")));
            remarks.for_each(|remark| stream.publish(None, remark));
        }
        let threads = Threads::of(&self.tools, &planned.plan, &prepared);
        let run = self.store.begin(&new)?;
        let feed = Feed { store: self.store, run: &run, stream };
        let steady_start = monitored.steady_start();
        if let Some(steady) = steady_start.as_ref().filter(|steady| is_notable(steady)) {
            feed.publish(RunEvent::Steady(steady.clone()));
        }
        monitored.begin_costs();
        let mut measured = match measure(self, planned, prepared, feed, monitored) {
            Err(RunError::Threads(error)) => {
                let failure = planned.is_out_of_threads(error)?;
                return Ok(UnstoredRun::without_load(&self.tools, run, Verdict::Aborted, Some(failure)));
            }
            measured => measured?,
        };
        measured.ending.steady_start = steady_start;
        self.end_monitoring(planned, monitored, &mut measured, feed)?;
        self.check_rows(planned, rows, &mut measured, feed)?;
        measured.ending.notes.extend(warnings.iter().map(Warning::note));
        let inconsistency = note_consistency(planned, &mut measured);
        self.store_statement_plans(planned, &run, &measured)?;
        let is_first_answer = planned.judge_first(&self.tools, &mut measured)?;
        self.confirm_threads(planned, threads, &mut measured, feed)?;
        // The load was complete, so its verdict is kept.
        measured.ending.failure = measured.ending.failure.take().or(inconsistency);
        if planned.set_up.is_some() {
            measured.wait();
            measured.ending.notes.extend(planned.tear_down(&self.tools));
            measured.go_on();
        }
        Ok(match planned.place {
            // The system may take long to stop, and the study's plan has the notes for all its runs.
            Some(_) => UnstoredRun { watchdog: None, ..UnstoredRun::of(run, measured, is_first_answer) },
            None => UnstoredRun::of(run, measured, is_first_answer).with_notes(notes),
        })
    }

    /// Stores the plans of a replay's statements. Querying them may take longer than the watchdog allows.
    fn store_statement_plans(
        &self,
        planned: &PlannedRun<'_>,
        run: &RunId,
        measured: &Measured,
    ) -> Result<(), RunError> {
        if planned.plan.replay.is_none() || self.tools.is_stopped() {
            return Ok(());
        }
        measured.wait();
        for output in statement_plans::slowest(&planned.plan, &self.store.load(run)?)? {
            self.store.keep_output(run, &output.process, &output.text, output.dropped_bytes)?;
        }
        measured.go_on();
        Ok(())
    }

    /// Stores the profile, events, and figures that end with the load, while the system is still running. Each may take longer than the
    /// watchdog allows.
    fn end_monitoring(
        &self,
        planned: &PlannedRun<'_>,
        monitored: &mut MonitoredSystem<'_>,
        measured: &mut Measured,
        feed: Feed<'_>,
    ) -> Result<(), RunError> {
        if let Some(stacks) = planned.plan.profile.filter(|_| monitored.is_profiled()) {
            // Reading debug information may take long.
            measured.wait();
            monitored.store_profile(stacks, feed.store, feed.run)?;
            measured.go_on();
        }
        if planned.has_events() {
            // An event may take long to end.
            measured.wait();
            monitored.end_events(feed)?;
            measured.go_on();
        }
        if !planned.plan.figures.is_empty() {
            // A figure may take long to read.
            measured.wait();
            if let Some(failure) = monitored.take_figures().end(feed, &|| self.tools.is_stopped())? {
                measured.fail(failure);
            }
            measured.go_on();
        }
        Ok(())
    }

    /// Counts the rows that the load wrote, and notes if they do not add up. Reading them may take longer than the watchdog allows.
    fn check_rows(
        &self,
        planned: &PlannedRun<'_>,
        rows: Option<WrittenRows>,
        measured: &mut Measured,
        feed: Feed<'_>,
    ) -> Result<(), RunError> {
        if let Some((rows, written)) = rows.zip(planned.plan.written.as_ref()) {
            measured.wait();
            measured.ending.notes.extend(rows.end(written, feed)?);
            let found = Written::of_run(&self.store.load(feed.run)?)?;
            let broken = found.filter(|written| written.check() != WrittenCheck::Holds);
            measured.ending.notes.extend(broken.map(|written| written.words()));
            measured.go_on();
        }
        Ok(())
    }

    /// Makes a confirmation run if the measured run is suspect and a repetition of its load is comparable.
    fn confirm_threads(
        &self,
        planned: &PlannedRun<'_>,
        threads: Threads,
        measured: &mut Measured,
        feed: Feed<'_>,
    ) -> Result<(), RunError> {
        // The load of a confirmation run has no events, so it is not comparable to a load with events. No other load runs between
        // slices, and a second replay finds the data that the first one left.
        if planned.plan.replay.is_some()
            || measured.was_given_up
            || planned.has_events()
            || planned.is_slice()
        {
            return Ok(());
        }
        let confirmation = ConfirmationRun { runner: self, plan: &planned.plan, threads };
        confirmation.resolve_suspicion(feed.run, measured, feed.stream)
    }

    /// Stores a run in which the load never started, because it was stopped first or an error occurred.
    fn store_without_load(&self, new: &NewRun, failure: Failure) -> Result<UnstoredRun, RunError> {
        let run = self.store.begin(new)?;
        Ok(match self.tools.is_stopped() {
            true => UnstoredRun::without_load(&self.tools, run, Verdict::Partial, None),
            false => UnstoredRun::without_load(&self.tools, run, Verdict::Aborted, Some(failure)),
        })
    }
}

/// Notes whether the load left consistent tables. Returns the violation of a condition. A check reads whole tables, which may take
/// longer than the watchdog allows.
fn note_consistency(planned: &PlannedRun<'_>, measured: &mut Measured) -> Option<Failure> {
    let mut violation = None;
    for endpoint in &planned.plan.endpoints {
        let Some(check) = databases::kind_at(endpoint).check_after else { continue };
        measured.wait();
        match check(endpoint) {
            Some(Ok(note)) => measured.ending.notes.push(note),
            Some(Err(failure)) => violation = violation.or(Some(failure)),
            None => {}
        }
        measured.go_on();
    }
    violation
}

/// Wait for a steady system, in seconds, up to which it is not worth a message.
const STEADY_USUAL_S: f64 = 0.6;

fn is_notable(steady: &SteadyStart) -> bool {
    !steady.is_steady || steady.waited_s > STEADY_USUAL_S
}
