//! Recorded traffic that a load replays, instead of the steps of a scenario.

use std::fmt;
use std::sync::Arc;

use ::replay::{Recorded, SharedSessions, Trace, Traffic};
use load::{Arrival, Closed, Load, Open, Recording, Schedule, Stop, Streamed, UserTimes};
use serde_json::{Value, json};

use crate::check_load::CONNECTIONS_DEFAULT;
use crate::fault::Fault;
use crate::units::show_duration;

/// Default time by which a wait for a lock may exceed the longest statement of the log, in nanoseconds.
pub(crate) const LOCK_WINDOW_NS: u64 = 10_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// Name of the only step of a load that replays a log.
pub(crate) const STEP: &str = "replay";

/// Statements or requests of a log, with the times at which they are sent.
#[derive(Clone)]
pub struct Replay {
    /// Name of the log in the plan.
    pub log: String,
    /// Kind of its entries.
    pub traffic: &'static Traffic,
    /// Statements or requests to send. Their times have the speed of the load.
    pub trace: Arc<Trace>,
    /// Texts of the fingerprints with masked values, by number.
    pub fingerprints: Arc<[String]>,
    /// Whether database sessions are set to read only.
    pub is_read_only: bool,
    /// Connections that sessions share. `None` if each session has its own.
    pub shared: Option<SharedSessions>,
    /// Whether the rows that statements return are hashed.
    pub hashes_rows: bool,
    /// Longest wait for a lock in nanoseconds: the longest statement of the log, and the window of the plan.
    pub lock_wait_max_ns: u64,
    /// Factor that times are divided by. `None` if there are no pauses.
    pub speed: Option<f64>,
    /// Number of statements that may write.
    pub(crate) writes: u64,
    /// Whether the plan allows statements that may write.
    pub(crate) allows_writes: bool,
    /// Hash of the log and of the selection from it, as 16 hex digits.
    pub(crate) hash: String,
}

/// Send times of a trace: each slot is a user.
pub fn schedule(trace: &Arc<Trace>) -> Schedule {
    if trace.is_in_file() {
        return Schedule::Streamed(Streamed(Arc::new(TraceTimes(Arc::clone(trace)))));
    }
    let arrivals = trace.times().map(|(at_ns, slot)| Arrival { at_ns, session: Some(slot) });
    Schedule::Recorded(Recording::new(arrivals.collect()))
}

/// Send times of a trace in a file.
#[derive(Debug)]
struct TraceTimes(Arc<Trace>);

impl UserTimes for TraceTimes {
    fn times_for(&self, user: u64) -> Box<dyn Iterator<Item = u64> + Send> {
        let mut reader = self.0.reader(usize::try_from(user).unwrap_or(usize::MAX));
        // A file that cannot be read ends the load where the statement is read.
        Box::new(std::iter::from_fn(move || reader.next_item().ok().flatten().map(|(item, _)| item.at_ns)))
    }

    fn peak_per_s(&self) -> f64 {
        self.0.peak_per_s()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("log", &self.log).field("hash", &self.hash).finish_non_exhaustive()
    }
}

impl Replay {
    /// Takes what was read from a log, without fingerprints that are not sent.
    pub(crate) fn of(log: String, recorded: Recorded, speed: Option<f64>, hash: String) -> Self {
        let Recorded { survey, mut trace, format, .. } = recorded;
        let mut numbers: Vec<u16> = Vec::new();
        let mut fingerprints = Vec::new();
        for counted in &survey.fingerprints {
            numbers.push(fingerprints.len() as u16);
            if counted.count > 0 {
                fingerprints.push(counted.text.clone());
            }
        }
        trace.renumber(&numbers);
        trace.speed_up(speed);
        Self {
            log,
            traffic: format.traffic,
            trace: Arc::new(trace),
            fingerprints: fingerprints.into(),
            is_read_only: false,
            shared: None,
            hashes_rows: false,
            lock_wait_max_ns: survey.duration_max_ns.saturating_add(LOCK_WINDOW_NS),
            speed,
            writes: survey.writes,
            allows_writes: false,
            hash,
        }
    }

    /// Replay on a system. `is_started` means that Tenbin starts the system, so that its data may change.
    ///
    /// # Errors
    ///
    /// The log has statements that may write, but writes are not allowed.
    pub(crate) fn for_system(&self, is_started: bool) -> Result<Self, Fault> {
        let may_write = self.allows_writes || is_started;
        if self.writes > 0 && !may_write {
            let what = format!("{}: {} of {} statements may write", self.log, self.writes, self.trace.len());
            let help = "leave them out with `only: reads`, or replay them with `allow-writes: true` on a copy of the data";
            return Err(Fault::new("replay", what, help));
        }
        Ok(Self { is_read_only: !may_write, ..self.clone() })
    }

    /// Limits the replay to `asked` connections, and returns it with their number. A log of requests has no sessions, so it uses exactly
    /// `asked`.
    pub(crate) fn with_connections(mut self, asked: Option<u64>) -> (Self, u64) {
        if !self.traffic.has_sessions {
            return (self, asked.unwrap_or(CONNECTIONS_DEFAULT));
        }
        if let Some(asked) = asked {
            let mut trace = (*self.trace).clone();
            let fingerprints = self.fingerprints.iter().map(String::as_str);
            self.shared = trace.share(usize::try_from(asked).unwrap_or(usize::MAX), fingerprints);
            self.trace = Arc::new(trace);
        }
        let connections = self.trace.slot_count() as u64;
        (self, connections)
    }

    /// The load with the times of the log.
    pub(crate) fn load(&self, load: Load) -> Load {
        let schedule = schedule(&self.trace);
        match (self.traffic.has_sessions, load) {
            (true, Load::Closed(closed)) => {
                Load::Closed(Closed { schedule: Some(schedule), is_unpaced: self.speed.is_none(), ..closed })
            }
            // Each connection takes the next request when it has its reply.
            (false, Load::Closed(closed)) if self.speed.is_none() => Load::Closed(closed),
            (_, load) => Load::Open(Open {
                schedule,
                connections: crate::plan::connections(&load),
                shed_after_ns: None,
            }),
        }
    }

    /// End of the load: after the last statement.
    pub(crate) fn stop(&self) -> Stop {
        Stop { at_ns: None, requests: Some(self.trace.len() as u64) }
    }

    /// End of the load as text.
    pub(crate) fn stop_words(&self) -> String {
        let last_ns = self.trace.last_ns();
        match self.speed {
            None => "until its end".to_owned(),
            Some(_) => {
                format!(
                    "until its end, after {} or more",
                    show_duration(last_ns / MILLISECOND_NS * MILLISECOND_NS)
                )
            }
        }
    }

    /// Load as text: `replay of postgresql.csv, 7264 statements of 9 sessions, 2x`.
    pub(crate) fn words(&self) -> String {
        let counted =
            |number: usize, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
        let number = self.trace.len();
        let what = counted(number, self.traffic.noun);
        let what = match self.traffic.has_sessions {
            true => format!("{what} of {}", counted(self.trace.sessions, "session")),
            false => what,
        };
        let speed = match self.speed {
            Some(1.0) => String::new(),
            Some(factor) => format!(", {factor}x"),
            None => ", without pauses".to_owned(),
        };
        let shared = match &self.shared {
            Some(shared) => {
                let waiting = counted(shared.waiting as usize, "transaction");
                format!(" over {}, {waiting} waiting", counted(shared.connections, "connection"))
            }
            None => String::new(),
        };
        format!("replay of {}, {what}{shared}{speed}", self.log)
    }

    /// Facts of the replay, for the record and the hash of a plan.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "log": self.log,
            "hash": self.hash,
            "fingerprints": self.fingerprints.len(),
            "speed": self.speed,
            "is_read_only": self.is_read_only,
        })
    }
}
