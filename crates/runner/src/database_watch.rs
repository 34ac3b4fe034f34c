//! What a database says of itself under load: what its sessions wait for, several times a second, and its counters once a second.
//!
//! One session of its own asks, on a thread of its own. It is not among those that it counts. Where the quickest of the last answers
//! took more than 4 ms, samples are rarer, down to one a second. What cannot be read is named once.

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
use loading::{Answer, Database, Error, HeldSession};

use crate::databases;
use tally::{Sample, Tally};

/// Between samples: at least, and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// How many times as long as asking takes a pause is.
const PAUSE_FACTOR: u32 = 50;
/// The quickest of so many answers shows what asking costs: the others had to wait for a core.
const ANSWERS: usize = 5;
/// Between two readings of counters.
const COUNTERS_EVERY: Duration = Duration::from_secs(1);
/// How often a server that broke off is tried again.
const RETRIES_MAX: u32 = 30;
/// How long the session may take to end.
const ENDS_WITHIN: Duration = Duration::from_millis(500);
/// Connections that must be left for others.
const ROOM_MIN: f64 = 1.0;

/// Reads what a database says of itself.
pub trait DatabaseWatch: Debug {
    /// What was read since the last call.
    fn take(&mut self) -> Vec<Reading>;

    /// Ends. What was not taken before, and what could not be read.
    fn end(self: Box<Self>) -> (Vec<Reading>, Vec<NotAvailable>);
}

/// What differs from one kind of server to another.
pub(crate) trait Dialect: Send {
    /// Prepares a new session. Room for connections: those that are open, and how many may be.
    fn begin(&mut self, asked: &mut Asked<'_>) -> Result<Option<[f64; 2]>, Error>;

    /// What every session does at this instant.
    fn sample(&mut self, asked: &mut Asked<'_>) -> Result<Vec<Sample>, Error>;

    /// Sessions that others wait for, with the number of those that do. Asked only if some wait for a lock.
    fn blocking(&mut self, asked: &mut Asked<'_>) -> Result<Vec<(String, f64)>, Error>;

    /// Counters since the start of the server, and sizes.
    fn counters(&mut self, asked: &mut Asked<'_>) -> Result<Vec<Counter>, Error>;

    /// What statements added to their statistics since the last call of this session, most time first.
    fn statements(&mut self, _asked: &mut Asked<'_>) -> Result<Vec<Grown>, Error> {
        Ok(Vec::new())
    }
}

/// One value of a server's own statistics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counter {
    pub(crate) metric: &'static str,
    pub(crate) label: String,
    pub(crate) value: f64,
    /// Whether it only grows, and is read as growth.
    pub(crate) grows: bool,
}

/// What executions of a statement added to its statistics.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grown {
    /// Its shape.
    pub(crate) statement: String,
    pub(crate) calls: f64,
    /// Execution time.
    pub(crate) time_s: f64,
}

/// A session, and a place for reasons why something cannot be read.
pub(crate) struct Asked<'a> {
    session: &'a mut HeldSession,
    pub(crate) shared: &'a Shared,
}

impl Asked<'_> {
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Answer, Error> {
        self.session.ask(sql)
    }

    /// A question that a server may refuse, such as for lack of rights: then nothing, and the reason is noted.
    pub(crate) fn ask_if_allowed(&mut self, what: &str, sql: &str) -> Result<Option<Answer>, Error> {
        let answer = self.session.ask(sql);
        self.if_allowed(what, answer)
    }

    /// Of an answer that may be a refusal: nothing then, and the reason is noted.
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
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only the first reason of each thing is kept.
    pub(crate) fn lacks(&self, what: &str, because: &str) {
        let probe = if what.is_empty() { INSIDE.to_owned() } else { format!("{INSIDE}: {what}") };
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.iter().all(|known| known.probe != probe) {
            missing.push(NotAvailable { probe, because: one_line(because) });
        }
    }
}

/// The session on this machine, and its thread.
#[derive(Debug)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    /// Raised to end a question that is under way.
    is_given_up: Arc<AtomicBool>,
    /// Dropped to end the thread.
    pauses: Option<Sender<()>>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
}

impl Session {
    /// `None` for a database in this process, which has nobody to ask.
    pub(crate) fn begin(database: &plan::Database) -> Option<Self> {
        let dialect = databases::of(database.engine).watch?();
        let shared = Arc::new(Shared::default());
        let is_given_up = Arc::new(AtomicBool::new(false));
        let (pauses, ends) = mpsc::channel();
        let (alive, ended) = mpsc::channel();
        match crate::load_data::place(database) {
            Ok(place) => {
                let (shared, is_given_up) = (Arc::clone(&shared), Arc::clone(&is_given_up));
                let theirs = Arc::clone(&shared);
                let work = move || {
                    Watcher { place, dialect, shared: &theirs, is_given_up, ends }.run();
                    drop(alive);
                };
                // It is not joined: connecting may take longer than anybody waits.
                if let Err(error) = thread::Builder::new().name("database".into()).spawn(work) {
                    shared.lacks("", &format!("no thread can be started for it: {error}"));
                }
            }
            Err(refusal) => shared.lacks("", &refusal.to_string()),
        }
        Some(Self { shared, is_given_up, pauses: Some(pauses), ended })
    }

    fn close(&mut self) {
        self.is_given_up.store(true, Ordering::Relaxed);
        if self.pauses.take().is_some() {
            // Whatever it is: there is nobody left to wait for.
            let _ = self.ended.recv_timeout(ENDS_WITHIN);
        }
    }
}

impl DatabaseWatch for Session {
    fn take(&mut self) -> Vec<Reading> {
        self.shared.tally().take()
    }

    fn end(mut self: Box<Self>) -> (Vec<Reading>, Vec<NotAvailable>) {
        self.close();
        let readings = self.take();
        let missing =
            std::mem::take(&mut *self.shared.missing.lock().unwrap_or_else(PoisonError::into_inner));
        (readings, missing)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// The thread.
struct Watcher<'a> {
    place: Database,
    dialect: Box<dyn Dialect>,
    shared: &'a Shared,
    is_given_up: Arc<AtomicBool>,
    ends: Receiver<()>,
}

/// Why a session is over.
enum Over {
    /// It is not wanted any more, or of no use.
    ForGood,
    /// Something went wrong.
    Failed(Error),
}

impl Watcher<'_> {
    fn run(mut self) {
        let mut retries = 0;
        let mut has_worked = false;
        while let Over::Failed(error) = self.watch(&mut has_worked) {
            let is_ended = self.is_given_up.load(Ordering::Relaxed);
            if !is_ended || matches!(error, Error::Broken { .. }) && !self.is_asked_to_end() {
                self.shared.lacks(if has_worked { "for a while" } else { "" }, &error.to_string());
            }
            retries += 1;
            // A server that never answered is not bothered again. One that broke off may be about to start again.
            if is_ended || !has_worked || retries > RETRIES_MAX || self.pause(PAUSE[1]) {
                return;
            }
        }
    }

    /// Asks over one session until it ends.
    fn watch(&mut self, has_worked: &mut bool) -> Over {
        self.watch_until_it_fails(has_worked).map_or_else(Over::Failed, |()| Over::ForGood)
    }

    fn watch_until_it_fails(&mut self, has_worked: &mut bool) -> Result<(), Error> {
        let mut session = HeldSession::open_to_watch(&self.place, Arc::clone(&self.is_given_up))?;
        let mut asked = Asked { session: &mut session, shared: self.shared };
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
        // What was before the load is nobody's.
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
                let mut tally = self.shared.tally();
                tally.add_blocking(blocking);
                tally.count(counters, false);
                tally.add_grown(grown);
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

    /// Says whether the end has come.
    fn pause(&self, pause: Duration) -> bool {
        !matches!(self.ends.recv_timeout(pause), Err(RecvTimeoutError::Timeout))
    }

    fn is_asked_to_end(&self) -> bool {
        matches!(self.ends.try_recv(), Err(mpsc::TryRecvError::Disconnected))
    }
}

/// Without the help, which is about filling tables, and cut.
fn one_line(text: &str) -> String {
    const CHARACTERS_MAX: usize = 300;
    plan::split_help(text).0.replace('\n', " ").chars().take(CHARACTERS_MAX).collect()
}

/// A field of an answer as text; nothing for NULL and for a field that is not there.
pub(crate) fn text(row: &[Option<String>], place: usize) -> &str {
    row.get(place).and_then(Option::as_deref).unwrap_or_default()
}

/// A field of an answer as a number, unless it is none.
pub(crate) fn number(row: &[Option<String>], place: usize) -> Option<f64> {
    text(row, place).parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Who blocks others, of rows with number, state, statement, whether it waits for a lock itself, and how many it blocks. Those
/// that wait themselves are left out where others do not: they are in the queue, not at its head.
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
    fn who_blocks_is_at_the_head_of_the_queue() {
        let row = |fields: [&str; 5]| fields.map(|field| Some(field.to_owned())).to_vec();
        let head = row(["17", "idle in transaction", "SELECT 1", "f", "3"]);
        let queued = row(["18", "active", "UPDATE t SET a = 1", "t", "9"]);
        let told = blocking(&vec![queued.clone(), head], shape::Quotes::Names);
        assert_eq!(told, [("session 17, idle in transaction: SELECT ?".to_owned(), 3.0)]);
        let told = blocking(&vec![queued], shape::Quotes::Names);
        assert_eq!(told, [("session 18, active: UPDATE t SET a = ?".to_owned(), 9.0)]);
    }
}
