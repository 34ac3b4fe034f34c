//! Collects the seconds of the workers, stores each as it arrives, and sums them.

use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use engine::{Message, StopLevel, WorkerEnd};
use progress::{Account, RunEvent, Second};
use record::{Counts, Gaps, Interval, Moment, Moments, Phase, Pulses, Whole};
use store::StoreError;

use crate::busiest::Busiest;
use crate::clock::Clock;
use crate::early_end::{EarlyEnd, UnusableReply};
use crate::extension::Extension;
use crate::feed::Feed;
use crate::figures::{PlannedEnd, figures};
use crate::generator::{Generator, RunningLoad};
use crate::monitor::Monitor;
use crate::run_error::RunError;
use crate::stopper::Stopper;
use crate::usage::Usage;

/// Interval at which stop requests are checked.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time for which the seconds of several workers are collected, to be stored together.
const GATHER_TIME: Duration = Duration::from_millis(20);
/// Max time of a run beyond its duration and its deadline, after which it is asked to stop: three of five seconds.
const OVERRUN_MAX: Duration = Duration::from_secs(3);

/// Results of a load.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// Sums by step and phase.
    pub(crate) wholes: Vec<[Whole; 2]>,
    pub(crate) ends: Vec<WorkerEnd>,
    /// Errors of this program or its machine.
    pub(crate) broke: Vec<String>,
    /// Reasons why the load could not continue.
    pub(crate) hopeless: Vec<String>,
    /// Whether the load did not end in time, and was stopped.
    pub(crate) overran: bool,
    /// Number of times the load was extended because it was not steady.
    pub(crate) extended: u32,
    /// Planned end at which the load was steady, and was ended. `None` if there was none.
    pub(crate) settled_at_ns: Option<u64>,
    /// Whether the system ended before the load.
    pub(crate) is_gone: bool,
    /// Whether the load was aborted because the system rejected every request.
    pub(crate) was_given_up: bool,
    /// Resources that the generator used since the load started.
    pub(crate) usage: Usage,
    /// External load generator. `None` if it was Tenbin's engine.
    pub(crate) tool: Option<evidence::LoadTool>,
    /// Notes from an external load generator on its figures.
    pub(crate) tool_notes: Vec<String>,
    /// Run time of the measured command of an external load generator.
    pub(crate) tool_ran: Option<Duration>,
    /// Time series of the load, over all workers.
    pub(crate) pulses: Pulses,
    /// Outages: times without an ok answer.
    pub(crate) gaps: Gaps,
    /// Windows of 100 ms that are not stored yet.
    moments: Moments,
    /// Busiest ten seconds of a worker.
    pub(crate) busiest: Busiest,
}

impl Collected {
    /// Number of workers that have reported their end.
    fn done(&self) -> usize {
        self.ends.len() + self.broke.len() + self.hopeless.len()
    }

    fn note_moments(&mut self, parts: &[Moment]) {
        parts.iter().for_each(|part| self.moments.note(part));
    }

    /// Whether requests ended, but none of them with a usable reply.
    pub(crate) fn is_unusable(&self, unusable: UnusableReply) -> bool {
        unusable.is_all(self.wholes.iter().flatten().map(Whole::tally))
    }

    /// Counts of a phase so far, over all steps.
    pub(crate) fn counts(&self, phase: Phase) -> Counts {
        self.wholes.iter().fold(Counts::default(), |mut all, step| {
            all.add(&step[phase as usize].tally().counts);
            all
        })
    }
}

/// Intervals of the workers in one second, by step.
type Steps = BTreeMap<u16, Vec<Interval>>;

pub(crate) struct Collector<'a> {
    pub(crate) feed: Feed<'a>,
    pub(crate) stopper: &'a Stopper,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) generator: &'a dyn Generator,
    pub(crate) monitor: &'a mut dyn Monitor,
    pub(crate) planned: PlannedEnd,
    /// Time limit of the last request.
    pub(crate) timeout: Duration,
    /// Number of workers that will report their end.
    pub(crate) threads: usize,
    /// Number of steps of the plan.
    pub(crate) steps: usize,
    /// Start of the measured window, in nanoseconds since the start of the load.
    pub(crate) warm_up_ns: u64,
    /// Rule by which the load may end at the first steady point. `None` if it has a single possible end.
    pub(crate) extension: Option<Extension>,
    /// Rule by which the load ends because no reply is usable. `None` if it does not.
    pub(crate) early_end: Option<EarlyEnd>,
}

impl<'a> Collector<'a> {
    /// Receives messages until the last worker is done.
    pub(crate) fn collect(&mut self, mut underway: Box<dyn RunningLoad>) -> Result<Collected, RunError> {
        let wholes = (0..self.steps).map(|_| Default::default()).collect();
        let gaps = Gaps::new(self.warm_up_ns);
        let mut collected = Collected { wholes, gaps, ..Collected::default() };
        let mut begun = (self.clock.now(), self.generator.usage());
        let mut stop_asked: Option<Instant> = None;
        loop {
            let level = self.level(&collected, begun.0);
            underway.stop(level);
            if level != StopLevel::Go {
                stop_asked.get_or_insert_with(|| self.clock.now());
            }
            let are_all_done = collected.done() >= self.threads;
            if !are_all_done && self.is_overdue(begun.0, stop_asked) {
                collected.overran = true;
                underway.stop(StopLevel::Abort);
            }
            let first = match underway.next(STOP_CHECK_INTERVAL) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut seconds: BTreeMap<u64, Steps> = BTreeMap::new();
            let mut next = first;
            let gathered_by = self.clock.now() + GATHER_TIME;
            while let Some(message) = next {
                match message {
                    Message::Begins(origin) => {
                        begun = (origin, self.generator.usage());
                        self.monitor.begins(origin);
                    }
                    Message::Interval { step, interval } => {
                        let second = seconds.entry(interval.second).or_default();
                        second.entry(step).or_default().push(*interval);
                    }
                    Message::Pulse { worker, pulse } => {
                        collected.pulses.note(&pulse);
                        collected.gaps.note(&pulse);
                        collected.busiest.note(worker, &pulse);
                    }
                    Message::Moments(parts) => collected.note_moments(&parts),
                    Message::Ended(end) => collected.ends.push(*end),
                    Message::Broke(what) => collected.broke.push(what),
                    Message::Unrecoverable(what) => collected.hopeless.push(what),
                }
                let wait = gathered_by.saturating_duration_since(self.clock.now());
                next = underway.next(wait).ok();
            }
            let kept = self.take(&mut collected, seconds, begun.0).and_then(|()| {
                collected.was_given_up |= self.must_give_up(&collected, begun.0);
                collected.is_gone |= collected.was_given_up;
                let is_gone = self.monitor.poll(self.feed);
                collected.is_gone |= is_gone.map_err(|error| storage(error, &collected))?;
                Ok(())
            });
            if let Err(error) = kept {
                underway.stop(StopLevel::Abort);
                return Err(error);
            }
        }
        self.monitor.ends(self.feed).map_err(|error| storage(error, &collected))?;
        if let Some(extension) = &self.extension {
            (collected.extended, collected.settled_at_ns) = (extension.extended, extension.settled_at_ns());
        }
        collected.usage = underway.usage().unwrap_or_else(|| self.generator.usage().since(begun.1));
        (collected.tool, collected.tool_notes) = (underway.tool(), underway.notes());
        collected.tool_ran = underway.tool_ran();
        collected.broke.extend(underway.join().err().unwrap_or_default());
        Ok(collected)
    }

    /// Stop level of the load: the requested one, or draining because the system has ended or the load was steady.
    fn level(&mut self, collected: &Collected, begun: Instant) -> StopLevel {
        let elapsed = self.clock.now().saturating_duration_since(begun);
        if let Some(extension) = &mut self.extension {
            extension.look(elapsed.as_nanos() as u64, &collected.pulses);
        }
        let is_settled = self.extension.as_ref().is_some_and(|extension| extension.settled_at_ns().is_some());
        let level = self.stopper.level();
        if collected.is_gone || is_settled { level.max(StopLevel::Drain) } else { level }
    }

    /// Whether to end now because no reply is usable. If the load has a number of requests and has sent all of them, it already has its
    /// result.
    fn must_give_up(&self, collected: &Collected, begun: Instant) -> bool {
        let Some(EarlyEnd { after, unusable }) = self.early_end else { return false };
        let lasts = || {
            let elapsed = self.clock.now().saturating_duration_since(begun);
            elapsed >= after && collected.done() < self.threads
        };
        (after.is_zero() || lasts()) && collected.is_unusable(unusable)
    }

    fn is_overdue(&self, begun: Instant, stop_asked: Option<Instant>) -> bool {
        let planned_end = self.planned.after.map(|planned| begun + planned);
        let ends = [planned_end, stop_asked].into_iter().flatten().min();
        ends.is_some_and(|end| self.clock.now() > end + self.timeout + OVERRUN_MAX)
    }

    fn take(
        &mut self,
        collected: &mut Collected,
        seconds: BTreeMap<u64, Steps>,
        begun: Instant,
    ) -> Result<(), RunError> {
        let moments = std::mem::take(&mut collected.moments).into_windows();
        self.feed.store.keep_moments(self.feed.run, &moments).map_err(|error| storage(error, collected))?;
        for (second, steps) in seconds {
            for (step, intervals) in &steps {
                // Parts of steps have numbers above the step numbers. Sums over steps exclude them.
                if let Some(wholes) = collected.wholes.get_mut(usize::from(*step)) {
                    for interval in intervals {
                        wholes[interval.phase as usize].absorb(&interval.tally)?;
                    }
                }
                let kept = self.feed.store_step(*step, intervals);
                kept.map_err(|error| storage(error, collected))?;
            }
            let of_steps = steps.iter().filter(|(step, _)| usize::from(**step) < self.steps);
            let intervals: Vec<&Interval> = of_steps.flat_map(|(_, intervals)| intervals).collect();
            let elapsed = self.clock.now().saturating_duration_since(begun);
            let figures = figures(&intervals, collected, elapsed, self.planned)?;
            let intervals =
                steps.into_iter().map(|(step, intervals)| (Account::of_step(step), intervals)).collect();
            self.feed.publish(RunEvent::Second(Second { second, figures, intervals }));
        }
        Ok(())
    }
}

/// Adds the counts so far to an error of the store, so that the user sees them at least once. Requests in flight count as unfinished.
fn storage(error: StoreError, collected: &Collected) -> RunError {
    match collected.counts(Phase::Measured).cut_short() {
        Ok(counts) => RunError::storage(error, Some(counts)),
        Err(broken) => broken.into(),
    }
}
