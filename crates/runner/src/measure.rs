//! Load of a run: starts it, stores every second, and judges the result.

use std::time::Duration;

use evidence::{Ending, Failure, RunId, Verdict};
use load::Share;
use progress::{Began, Readings, RunEvent};
use record::{Counts, Phase};
use store::Store;

use crate::collect::Collector;
use crate::environment;
use crate::extension::Extension;
use crate::feed::Feed;
use crate::figures::PlannedEnd;
use crate::judging::{self, LoadContext};
use crate::monitor::MonitoredSystem;
use crate::one_run::Runner;
use crate::planned_run::PlannedRun;
use crate::prepare::Prepared;
use crate::profile::RunProfiler;
use crate::replay_results;
use crate::run_error::RunError;
use crate::stopper::StopLevel;
use crate::watchdog::Watchdog;

/// Time beyond the duration and the deadline of the last request after which the watchdog ends the process.
const GRACE: Duration = Duration::from_secs(5);

/// Finished load, before its ending is stored.
pub(crate) struct Measured {
    pub(crate) ending: Ending,
    /// Counts of the measured phase.
    pub(crate) counts: Counts,
    /// Whether all requests ended without a usable reply, warm-up included. If broken replies ended the load early, they count as unusable.
    pub(crate) is_rejected: bool,
    /// Whether the load was aborted because no reply was usable.
    pub(crate) was_given_up: bool,
    /// Watchdog that ends the process if the store hangs.
    pub(crate) watchdog: Watchdog,
}

impl Measured {
    /// Makes the run a failed one.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.ending.verdict = Verdict::Aborted;
        self.ending.failure.get_or_insert(failure);
    }

    /// Suspends the watchdog during work of unknown length.
    pub(crate) fn wait(&self) {
        self.watchdog.rearm(None);
    }

    /// Resumes the watchdog: the run must be stored within [`GRACE`].
    pub(crate) fn go_on(&self) {
        self.watchdog.rearm(Some(GRACE));
    }
}

/// Runs the load of a run that has begun, and stores every second. Does not store the ending.
pub(crate) fn measure(
    runner: &Runner<'_>,
    planned: &PlannedRun<'_>,
    prepared: Prepared,
    feed: Feed<'_>,
    monitored: &mut MonitoredSystem<'_>,
) -> Result<Measured, RunError> {
    let Runner { store, tools } = *runner;
    let (plan, stopper) = (&*planned.plan, tools.stopper);
    feed.publish(RunEvent::Began(Box::new(describe_start(planned, &prepared))));
    let timeout = Duration::from_nanos(plan.timeout_ns);
    let length = plan.planned_ns().map(Duration::from_nanos);
    let opening = Duration::from_nanos(plan.connect_timeout_ns);
    let watchdog = tools.clock.watchdog(length.map(|length| opening + length + timeout + GRACE))?;

    let mut before = tools.lab.observe_environment(&prepared);
    monitored.set_found_system(std::mem::take(&mut before.subject));
    monitored.expect_load(Duration::from_nanos(plan.warm_up_ns), length);
    monitored.set_profiler(RunProfiler::of(plan, &before.listeners));
    monitored.observe_idle_threads(&before);
    let Prepared { threads, thread_rule, cores, resolved, tls, ready, replayed, .. } = prepared;
    let underway = ready.start(Share::WHOLE)?;
    monitored.set_generator(underway.keeper_pid());
    let steps = plan.steps.len();
    let mut collector = Collector {
        feed,
        stopper,
        clock: tools.clock,
        generator: tools.generator,
        monitor: monitored,
        planned: PlannedEnd { after: length, requests: plan.stop.requests },
        timeout,
        threads: threads as usize,
        steps,
        warm_up_ns: plan.warm_up_ns,
        extension: Extension::of(plan, threads),
        early_end: planned.first.early_end(plan),
    };
    let collected = collector.collect(underway);
    feed.publish(RunEvent::LoadEnded);
    let collected = collected?;
    let counts = collected.counts(Phase::Measured);
    check_stored(store, feed.run, steps, collected.counts(Phase::WarmUp), counts)?;
    let (is_rejected, was_given_up) =
        (collected.is_unusable(planned.first.unusable()), collected.was_given_up);
    let asked = if collected.is_gone { stopper.level().max(StopLevel::Drain) } else { stopper.level() };
    let closed = judging::close(plan, collected, asked)?;
    let surroundings = LoadContext { plan, tools: &tools, store, threads, cores: &cores, before };
    let (surrounding, shared_cores) = judging::environment(surroundings, &closed, monitored);
    let mut ending = judging::ending(closed, &surrounding, threads);
    ending.generator.thread_rule = thread_rule;
    ending.is_system_local = shared_cores.is_some();
    ending.notes.extend(shared_cores);
    let ended_ns = ending.window_ns.map_or(0, |window_ns| window_ns.saturating_add(plan.warm_up_ns));
    let others = environment::other_programs(&surrounding);
    if !others.is_empty() {
        // A second after the measured ones, because the census covers the whole load.
        let second = ended_ns.div_ceil(1_000_000_000);
        feed.readings(Readings { at_ns: ended_ns, second, readings: others })?;
    }
    if let Some(outcomes) = &replayed {
        ending.notes.extend(replay_results::note(outcomes));
        replay_results::keep(outcomes, ended_ns, feed)?;
    }
    ending.resolved_ns = resolved.map(|took| took.as_nanos() as u64);
    ending.tls = tls;
    Ok(Measured { ending, counts, is_rejected, was_given_up, watchdog })
}

/// Description of a load at its start.
fn describe_start(planned: &PlannedRun<'_>, prepared: &Prepared) -> Began {
    let (plan, bytes) = (&*planned.plan, prepared.memory_bound_bytes);
    Began {
        load: plan.load_words(),
        steps: plan.steps.iter().map(|step| step.name.clone()).collect(),
        endpoints: plan
            .steps
            .iter()
            .map(|step| plan.endpoints[usize::from(step.endpoint)].name.clone())
            .collect(),
        place: planned.place.clone(),
        warm_up_ns: plan.warm_up_ns,
        planned_ns: plan.planned_ns(),
        memory_bound_bytes: (bytes > 0).then_some(bytes),
    }
}

/// Checks that the seconds in the store add up to the counts.
fn check_stored(
    store: &Store,
    run: &RunId,
    steps: usize,
    warm_up: Counts,
    measured: Counts,
) -> Result<(), RunError> {
    let (kept, mut counted) = (store.kept_counts(run, steps)?, measured);
    counted.add(&warm_up);
    if kept == counted {
        Ok(())
    } else {
        Err(RunError::Kept { kept: Box::new(kept), counted: Box::new(counted) })
    }
}
