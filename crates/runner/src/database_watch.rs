//! Monitors a database under load: wait events of its sessions several times a second, and its counters once a second.
//!
//! One session on a separate thread sends the queries, and excludes itself. If even the fastest of the last answers took more than 4 ms,
//! the sample rate decreases, down to one per second. Statistics that cannot be read are reported once.

pub(crate) mod shape;
pub(crate) mod tally;

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use judge::{BLOCKING_SEPARATOR, INSIDE};
use lab::probes::{NotAvailable, Reading};
use loading::{Answer, Error, HeldSession};

pub use crate::databases::monitored::MonitoredDatabase;
use tally::{Sample, Tally};

/// Shortest and longest pause between samples.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// Ratio of a pause to the time of an answer. It limits the cost of queries to 2 % for answers of 4 to 20 ms.
const PAUSE_FACTOR: u32 = 50;
/// Number of queries of which the fastest gives the cost of a reading: slower ones also waited for a core.
const ANSWERS: usize = 5;
/// Interval between two readings of counters.
const COUNTERS_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of reconnects to a server that closed the session.
const RETRIES_MAX: u32 = 30;
/// Time limit for closing the session.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// Number of connections that must stay free for others.
const ROOM_MIN: f64 = 1.0;

/// Monitors a database from inside.
pub trait DatabaseWatch: Debug {
    /// Readings since the last call.
    fn take(&mut self) -> Vec<Reading>;

    /// Ends the monitor. Returns the remaining readings, and the statistics that could not be read.
    fn end(self: Box<Self>) -> (Vec<Reading>, Vec<NotAvailable>);
}

/// Queries and their interpretation for one kind of server.
pub(crate) trait Dialect: Send {
    /// Prepares a new session. Returns the number of open connections and the maximum. `None` if they are unknown.
    fn begin(&mut self, asked: &mut MonitorSession<'_>) -> Result<Option<[f64; 2]>, Error>;

    /// Samples the state of every session.
    fn sample(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Sample>, Error>;

    /// Sessions that block others, with the number of blocked sessions. Called only if some wait for a lock.
    fn blocking(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<(String, f64)>, Error>;

    /// Counters since the start of the server, and sizes.
    fn counters(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Counter>, Error>;

    /// Last statements of sessions, and plans of statements that scan whole tables.
    fn texts(&mut self, _asked: &mut MonitorSession<'_>) -> Result<StatementTexts, Error> {
        Ok(StatementTexts::default())
    }

    /// Growth of the statistics of statements since the last call in this session, longest time first.
    fn statements(&mut self, _asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        Ok(Vec::new())
    }

    /// Sample of commands by key. Called once a second, after `counters`. `None` if none was taken.
    fn sampled_keys(&mut self, _asked: &mut MonitorSession<'_>) -> Option<SampledKeys> {
        None
    }
}

/// Sample of commands of a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SampledKeys {
    /// Number of commands in the sample.
    pub(crate) commands: f64,
    /// Most frequent keys with the number of commands, largest first.
    pub(crate) keys: Vec<(String, f64)>,
}

/// Value of the server's statistics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counter {
    pub(crate) metric: &'static str,
    pub(crate) label: String,
    pub(crate) value: f64,
    /// Whether the value is a counter, so that its growth is reported.
    pub(crate) grows: bool,
}

/// Growth of the statistics of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatementGrowth {
    /// Text of the statement without values.
    pub(crate) statement: String,
    pub(crate) calls: f64,
    /// Execution time, in seconds.
    pub(crate) time_s: f64,
}

/// Last statements of sessions, and new plans.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StatementTexts {
    /// Normalized statement of each session.
    pub(crate) last: Vec<String>,
    pub(crate) plans: Vec<StatementPlan>,
}

/// Part of a plan that reads a whole table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatementPlan {
    /// Normalized statement.
    pub(crate) statement: String,
    /// Line of the plan, without values.
    pub(crate) plan: String,
}

/// Session for queries.
pub(crate) trait QuerySession {
    /// Sends a query in the language of the server. The rows of the answer are untrusted.
    fn ask(&mut self, query: &str) -> Result<Answer, Error>;
}

impl QuerySession for HeldSession {
    fn ask(&mut self, query: &str) -> Result<Answer, Error> {
        HeldSession::ask(self, query)
    }
}

/// Opens a session, which waits for answers until the flag is set.
pub(crate) type OpenSession = dyn Fn(&Arc<AtomicBool>) -> Result<Box<dyn QuerySession>, Error> + Send;

/// A session, and a list for reasons why statistics cannot be read.
pub(crate) struct MonitorSession<'a> {
    session: &'a mut dyn QuerySession,
    pub(crate) shared: &'a Shared,
}

impl MonitorSession<'_> {
    pub(crate) fn ask(&mut self, query: &str) -> Result<Answer, Error> {
        self.session.ask(query)
    }

    /// Sends a query that a server may reject, for example for lack of privileges. A rejection yields `None`, and the reason is noted.
    pub(crate) fn ask_if_allowed(&mut self, what: &str, query: &str) -> Result<Option<Answer>, Error> {
        let answer = self.session.ask(query);
        self.if_allowed(what, answer)
    }

    /// Turns a rejection by the server into `None`, and notes the reason.
    pub(crate) fn if_allowed(
        &self,
        what: &str,
        answer: Result<Answer, Error>,
    ) -> Result<Option<Answer>, Error> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(Error::Refused { said, .. }) => {
                self.shared.lacks(what, &said);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    tally: Mutex<Tally>,
    missing: Mutex<Vec<NotAvailable>>,
}

impl Shared {
    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Statistics that could not be read.
    pub(crate) fn take_missing(&self) -> Vec<NotAvailable> {
        std::mem::take(&mut *self.missing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a reason. Only the first reason for each `what` is kept.
    pub(crate) fn lacks(&self, what: &str, because: &str) {
        let probe = if what.is_empty() { INSIDE.to_owned() } else { format!("{INSIDE}: {what}") };
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.iter().all(|known| known.probe != probe) {
            missing.push(NotAvailable { probe, because: one_line(because) });
        }
    }
}

/// Monitoring session of this process, and its thread.
#[derive(Debug)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    /// Set to abort a query in progress.
    is_canceled: Arc<AtomicBool>,
    /// Dropped to end the thread.
    pauses: Option<Sender<()>>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
}

impl Session {
    /// Starts the monitor. `None` for a database in this process, which has no sessions.
    pub(crate) fn begin(database: &MonitoredDatabase) -> Option<Self> {
        let (dialect, open) = database.session()?;
        let shared = Arc::new(Shared::default());
        let is_canceled = Arc::new(AtomicBool::new(false));
        let (pauses, ends) = mpsc::channel();
        let (alive, ended) = mpsc::channel();
        match open {
            Ok(open) => {
                let (shared, is_canceled) = (Arc::clone(&shared), Arc::clone(&is_canceled));
                let theirs = Arc::clone(&shared);
                let work = move || {
                    Watcher { open, dialect, shared: &theirs, is_canceled, ends }.run();
                    drop(alive);
                };
                // The thread is not joined, because connecting may take longer than the load.
                if let Err(error) = thread::Builder::new().name("database".into()).spawn(work) {
                    shared.lacks("", &format!("no thread can be started for it: {error}"));
                }
            }
            Err(refusal) => shared.lacks("", &refusal.to_string()),
        }
        Some(Self { shared, is_canceled, pauses: Some(pauses), ended })
    }

    fn close(&mut self) {
        self.is_canceled.store(true, Ordering::Relaxed);
        if self.pauses.take().is_some() {
            // A timeout is ignored: the thread ends on its own.
            let _ = self.ended.recv_timeout(CLOSE_TIMEOUT);
        }
    }
}

impl DatabaseWatch for Session {
    fn take(&mut self) -> Vec<Reading> {
        self.shared.tally().take()
    }

    fn end(mut self: Box<Self>) -> (Vec<Reading>, Vec<NotAvailable>) {
        self.close();
        (self.take(), self.shared.take_missing())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// Body of the monitoring thread.
struct Watcher<'a> {
    open: Box<OpenSession>,
    dialect: Box<dyn Dialect>,
    shared: &'a Shared,
    is_canceled: Arc<AtomicBool>,
    ends: Receiver<()>,
}

/// Reason for the end of a session.
enum SessionEnd {
    /// The session is not needed any more, or useless.
    ForGood,
    /// The session failed.
    Failed(Error),
}

impl Watcher<'_> {
    fn run(mut self) {
        let mut retries = 0;
        let mut has_worked = false;
        while let SessionEnd::Failed(error) = self.watch(&mut has_worked) {
            let is_ended = self.is_canceled.load(Ordering::Relaxed);
            if !is_ended || matches!(error, Error::Broken { .. }) && !self.is_stop_requested() {
                self.shared.lacks(if has_worked { "for a while" } else { "" }, &error.to_string());
            }
            retries += 1;
            // A server that never answered is not queried again. A server that closed the session may be restarting.
            if is_ended || !has_worked || retries > RETRIES_MAX || self.pause(PAUSE[1]) {
                return;
            }
        }
    }

    /// Sends queries over one session until it ends.
    fn watch(&mut self, has_worked: &mut bool) -> SessionEnd {
        self.watch_until_error(has_worked).map_or_else(SessionEnd::Failed, |()| SessionEnd::ForGood)
    }

    fn watch_until_error(&mut self, has_worked: &mut bool) -> Result<(), Error> {
        let mut session = (self.open)(&self.is_canceled)?;
        let mut asked = MonitorSession { session: &mut *session, shared: self.shared };
        if let Some([open, max]) = self.dialect.begin(&mut asked)?
            && max - open < ROOM_MIN
        {
            let because = format!("all {max} connections of the server are taken: the last one is left free");
            self.shared.lacks("", &because);
            return Ok(());
        }
        *has_worked = true;
        let mut counters_at = Instant::now();
        let mut answers = [Duration::MAX; ANSWERS];
        let mut number = 0;
        self.shared.tally().count(self.dialect.counters(&mut asked)?, true);
        // Sets the baseline of the growth: statements before the load do not count.
        self.dialect.statements(&mut asked)?;
        loop {
            let begun = Instant::now();
            let samples = self.dialect.sample(&mut asked)?;
            let is_locked = samples.iter().any(Sample::is_locked);
            self.shared.tally().add(samples);
            if begun.saturating_duration_since(counters_at) >= COUNTERS_EVERY {
                counters_at = begun;
                let blocking = if is_locked { self.dialect.blocking(&mut asked)? } else { Vec::new() };
                let counters = self.dialect.counters(&mut asked)?;
                let grown = self.dialect.statements(&mut asked)?;
                let texts = self.dialect.texts(&mut asked)?;
                let sampled = self.dialect.sampled_keys(&mut asked);
                let mut tally = self.shared.tally();
                tally.add_blocking(blocking);
                tally.count(counters, false);
                tally.add_grown(grown);
                tally.add_texts(texts);
                sampled.into_iter().for_each(|sampled| tally.add_keys(sampled));
            }
            let took = begun.elapsed();
            self.shared.tally().took(took);
            answers[number % ANSWERS] = took;
            number += 1;
            let cost = answers.into_iter().min().unwrap_or(took);
            if self.pause((cost * PAUSE_FACTOR).clamp(PAUSE[0], PAUSE[1])) {
                return Ok(());
            }
        }
    }

    /// Pauses. Returns whether the monitor is to end.
    fn pause(&self, pause: Duration) -> bool {
        !matches!(self.ends.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
    }

    fn is_stop_requested(&self) -> bool {
        matches!(self.ends.try_recv(), Err(mpsc::TryRecvError::Disconnected))
    }
}

/// Shortens an error to one line, without its help, which is about loading data.
fn one_line(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    plan::split_help(text).0.replace('\n', " ").chars().take(CHARACTERS_MAX).collect()
}

/// Field of an answer as text. Empty for NULL and for a missing field.
pub(crate) fn text(row: &[Option<String>], place: usize) -> &str {
    row.get(place).and_then(Option::as_deref).unwrap_or_default()
}

/// Field of an answer as a number. `None` if it is missing, negative, or not finite.
pub(crate) fn number(row: &[Option<String>], place: usize) -> Option<f64> {
    text(row, place).parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Sessions that block others, from rows of process, state, statement, whether it waits for a lock, and number of blocked sessions. Omits
/// sessions that wait themselves if others do not: they are in the queue, not at its head.
pub(crate) fn blocking(answer: &Answer, quotes: shape::Quotes) -> Vec<(String, f64)> {
    let at_head: Vec<_> = answer.iter().filter(|row| text(row, 3) != "t").collect();
    let rows = if at_head.is_empty() { answer.iter().collect() } else { at_head };
    let who = |row: &Vec<Option<String>>| {
        let statement = shape::shape(text(row, 2), quotes);
        let separator = if statement.is_empty() { "" } else { BLOCKING_SEPARATOR };
        let who = format!("session {}, {}{separator}{statement}", text(row, 0), text(row, 1));
        Some((who, number(row, 4)?))
    };
    rows.into_iter().filter_map(who).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocking_sessions_are_those_at_the_head_of_the_queue() {
        let row = |fields: [&str; 5]| fields.map(|field| Some(field.to_owned())).to_vec();
        let head = row(["17", "idle in transaction", "SELECT 1", "f", "3"]);
        let queued = row(["18", "active", "UPDATE t SET a = 1", "t", "9"]);
        let told = blocking(&vec![queued.clone(), head], shape::Quotes::Names);
        assert_eq!(told, [("session 17, idle in transaction: SELECT ?".to_owned(), 3.0)]);
        let told = blocking(&vec![queued], shape::Quotes::Names);
        assert_eq!(told, [("session 18, active: UPDATE t SET a = ?".to_owned(), 9.0)]);
    }
}
