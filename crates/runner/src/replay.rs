//! Replays recorded traffic on a system, and sums the engine's measurements by fingerprint.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use ::replay::play::Outcomes;
use ::replay::{ReplayTarget, Trace};
use engine::{Job, Message, StopLevel};
use load::{Load, Open, Share, Stop};
use plan::{Endpoint, Fault, Plan, PlannedStep};
use record::{Histogram, Outcome, Percentile, Tally, Whole};
use wire::Channels;

use crate::consent::PublicLoads;
use crate::databases;
use crate::prepare::{EngineLoad, Prepared, Refusal, prepare_engine};
use crate::protocol::Steps;
use crate::stopper::Stopper;

/// Interval at which stop requests are checked, and progress is reported.
const STEP: Duration = Duration::from_millis(50);

/// Traffic to replay.
#[derive(Debug)]
pub struct Traffic {
    /// Kind of its entries.
    pub kind: &'static ::replay::Traffic,
    /// Statements or requests to send.
    pub trace: Arc<Trace>,
    /// Results by fingerprint, which the connections add to.
    pub outcomes: Arc<Outcomes>,
    /// Texts of the fingerprints, by number.
    pub fingerprints: Vec<String>,
    /// Whether database sessions are set to read only.
    pub is_read_only: bool,
    /// Whether entries are sent without pauses.
    pub is_unpaced: bool,
    /// Lock timeout in nanoseconds, after which the server ends the statement. `None` if there is no limit.
    pub lock_wait_max_ns: Option<u64>,
}

/// Times and counts of a replay.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Figures of all statements or requests.
    pub all: ReplayFigures,
    /// Figures by number of the fingerprint. Empty where nothing was sent.
    pub by_fingerprint: Vec<ReplayFigures>,
    /// Time from the start to the end of the last reply.
    pub took: Duration,
    /// Largest delay of a wake-up of the generator in nanoseconds.
    pub generator_delay_max_ns: u64,
    /// 99th percentile of the delays of wake-ups of the generator in nanoseconds. `None` without wake-ups.
    pub generator_delay_p99_ns: Option<u64>,
    /// CPU time of the generator's threads in nanoseconds.
    pub generator_cpu_ns: u64,
    /// Number of generator threads.
    pub threads: u32,
    /// Number of connections that were opened.
    pub connections: u64,
    /// Classes of errors with their numbers, the most frequent first.
    pub errors: Vec<(String, u64)>,
    /// Whether a stop request ended the replay early.
    pub was_stopped: bool,
}

/// Counts and times of statements or requests. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayFigures {
    /// Number of statements that were due.
    pub planned: u64,
    /// Number of statements that were sent.
    pub sent: u64,
    /// Number of statements by name of their outcome.
    pub outcomes: [(&'static str, u64); Outcome::ALL.len()],
    /// Sum of the times from sending to the end of the reply.
    pub service_sum_ns: u64,
    /// Median time from sending to the end of the reply. `None` if nothing ended.
    pub service_p50_ns: Option<u64>,
    /// 99th percentile of the time from sending to the end of the reply.
    pub service_p99_ns: Option<u64>,
    /// 99th percentile of the send delay: the time from the intended start to sending.
    pub delay_p99_ns: Option<u64>,
    /// Largest send delay.
    pub delay_max_ns: Option<u64>,
}

/// Reason why a replay ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The system is not ready, or must not be loaded.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The load could not go on, or its accounts do not add up.
    #[error("{0}")]
    Broken(String),
}

/// Replays traffic on the system of a plan of one endpoint. `progress` gets the number of statements that have ended, now and then.
///
/// # Errors
///
/// See [`ReplayError`].
pub fn replay(
    plan: &Plan,
    traffic: &Traffic,
    public: &PublicLoads,
    stopper: &Stopper,
    progress: &mut dyn FnMut(u64),
) -> Result<Replayed, ReplayError> {
    let script = script(plan, traffic)?;
    let prepared = prepare_engine(plan, public, |load| recorded(load, traffic, script))?;
    let threads = prepared.threads;
    let broken = |error: std::io::Error| ReplayError::Broken(error.to_string());
    let mut underway = prepared.ready.start(Share::WHOLE).map_err(broken)?;
    let mut sums = Sums::new(traffic.fingerprints.len() + 1, threads);
    loop {
        underway.stop(stopper.level());
        match underway.next(STEP) {
            Ok(message) => sums.take(message)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        progress(sums.ended);
    }
    underway.join().map_err(|died| ReplayError::Broken(died.join("; ")))?;
    sums.was_stopped = stopper.level() != StopLevel::Go;
    sums.settle()
}

/// Prepares the replay of a plan, which has the schedule of the log.
pub(crate) fn prepare(plan: &Plan, log: &plan::Replay, public: &PublicLoads) -> Result<Prepared, Refusal> {
    let traffic = Traffic {
        kind: log.traffic,
        trace: Arc::clone(&log.trace),
        outcomes: Arc::new(Outcomes::new(log.fingerprints.len()).with_row_hashes(log.hashes_rows)),
        fingerprints: log.fingerprints.to_vec(),
        is_read_only: log.is_read_only,
        is_unpaced: log.speed.is_none(),
        lock_wait_max_ns: Some(log.lock_wait_max_ns),
    };
    let script = script(plan, &traffic)?;
    let prepared = prepare_engine(plan, public, |EngineLoad { job, .. }| EngineLoad {
        job: Job { stop: stop(&job.load, &traffic), ..job },
        script: Steps::compiled(script),
    })?;
    Ok(Prepared { replayed: Some(traffic.outcomes), ..prepared })
}

/// Replaces the schedule and the script of the plan with the ones of the traffic.
fn recorded(load: EngineLoad, traffic: &Traffic, script: Box<dyn Channels>) -> EngineLoad {
    let schedule = plan::schedule(&traffic.trace);
    let EngineLoad { mut job, .. } = load;
    let (connections, is_unpaced) = (job.connections(), traffic.is_unpaced);
    job.load = match job.load {
        Load::Closed(closed) if traffic.kind.has_sessions => {
            Load::Closed(load::Closed { schedule: Some(schedule), is_unpaced, ..closed })
        }
        // Each connection takes the next request when it has its reply.
        Load::Closed(closed) if is_unpaced => Load::Closed(closed),
        _ => Load::Open(Open { schedule, connections, shed_after_ns: None }),
    };
    job.stop = stop(&job.load, traffic);
    (job.warm_up_ns, job.parts) = (0, traffic.fingerprints.len() as u16);
    EngineLoad { job, script: Steps::compiled(script) }
}

/// End of a replay: with its schedule, or after the last entry if there is none.
fn stop(load: &Load, traffic: &Traffic) -> Stop {
    let has_schedule = !matches!(load, Load::Closed(closed) if closed.schedule.is_none());
    Stop { at_ns: None, requests: (!has_schedule).then_some(traffic.trace.len() as u64) }
}

/// Script that sends the traffic.
fn script(plan: &Plan, traffic: &Traffic) -> Result<Box<dyn Channels>, Refusal> {
    let endpoint = plan.endpoint();
    (databases::kind_at(endpoint).compile_traffic)(plan, endpoint, traffic)
}

/// Script that sends recorded entries in a protocol that owns its steps.
pub(crate) fn entries(
    plan: &Plan,
    endpoint: &Endpoint,
    traffic: &Traffic,
) -> Result<Box<dyn Channels>, Refusal> {
    let like = plan.steps.first().and_then(PlannedStep::owned);
    let replaying = ReplayTarget {
        trace: Arc::clone(&traffic.trace),
        outcomes: Arc::clone(&traffic.outcomes),
        fingerprints: &traffic.fingerprints,
        protocol: endpoint.protocol(),
        like: like.map(|action| &*action.step),
        access: &endpoint.peer().access.filled(&plan.secrets),
        secrets: &plan.secrets,
    };
    (traffic.kind.play)(&replaying).map_err(|what| {
        Refusal::Plan(Fault::new(endpoint.name.clone(), what, "name another system with --to"))
    })
}

/// Sums of the messages of a load.
struct Sums {
    wholes: Vec<Whole>,
    threads: u32,
    ended: u64,
    wake_lag: Histogram,
    cpu_ns: u64,
    broken: Option<String>,
    was_stopped: bool,
}

impl Sums {
    fn new(accounts: usize, threads: u32) -> Self {
        Self {
            wholes: (0..accounts).map(|_| Whole::default()).collect(),
            threads,
            ended: 0,
            wake_lag: Histogram::default(),
            cpu_ns: 0,
            broken: None,
            was_stopped: false,
        }
    }

    fn take(&mut self, message: Message) -> Result<(), ReplayError> {
        match message {
            Message::Interval { step, interval } => {
                if step == 0 {
                    self.ended += interval.tally.counts.ended();
                }
                if let Some(whole) = self.wholes.get_mut(usize::from(step)) {
                    let unequal = |broken| {
                        ReplayError::Broken(format!("an internal account does not add up: {broken:?}"))
                    };
                    whole.absorb(&interval.tally).map_err(unequal)?;
                }
            }
            Message::Ended(end) => {
                self.wake_lag.merge(&end.health.wake_lag);
                self.cpu_ns += end.health.cpu_ns;
            }
            Message::Broke(what) | Message::Unrecoverable(what) => self.broken = Some(what),
            Message::Begins(_) | Message::Pulse { .. } | Message::Moments(_) => {}
        }
        Ok(())
    }

    fn settle(self) -> Result<Replayed, ReplayError> {
        if let Some(what) = self.broken {
            return Err(ReplayError::Broken(what));
        }
        let settled: Result<Vec<Tally>, _> = self.wholes.into_iter().map(Whole::settle).collect();
        let unequal =
            |broken| ReplayError::Broken(format!("an internal account does not add up: {broken:?}"));
        let tallies = settled.map_err(unequal)?;
        let Some((all, parts)) = tallies.split_first() else { return Ok(Replayed::default()) };
        let mut errors: Vec<(String, u64)> = Vec::new();
        for entry in all.errors.entries() {
            match errors.iter_mut().find(|(class, _)| *class == entry.class.as_str()) {
                Some((_, count)) => *count += entry.count,
                None => errors.push((entry.class.to_string(), entry.count)),
            }
        }
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(Replayed {
            all: figures(all),
            by_fingerprint: parts.iter().map(figures).collect(),
            took: Duration::from_nanos(all.last_finished_ns.unwrap_or(0)),
            generator_delay_max_ns: self.wake_lag.max_ns().unwrap_or(0),
            generator_delay_p99_ns: self.wake_lag.value_at(Percentile::P99),
            generator_cpu_ns: self.cpu_ns,
            threads: self.threads,
            connections: all.connections,
            errors,
            was_stopped: self.was_stopped,
        })
    }
}

fn figures(tally: &Tally) -> ReplayFigures {
    let (counts, service, delay) = (&tally.counts, tally.service.all(), tally.lateness.all());
    ReplayFigures {
        planned: counts.planned,
        sent: counts.sent,
        outcomes: Outcome::ALL.map(|outcome| (outcome.name(), counts.of(outcome))),
        service_sum_ns: u64::try_from(service.sum_ns()).unwrap_or(u64::MAX),
        service_p50_ns: service.value_at(Percentile::P50),
        service_p99_ns: service.value_at(Percentile::P99),
        delay_p99_ns: delay.value_at(Percentile::P99),
        delay_max_ns: delay.max_ns(),
    }
}
