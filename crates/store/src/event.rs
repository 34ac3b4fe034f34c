//! What was done to a system while it was under load, and how that went.

use rusqlite::{Connection, Row, params};

use crate::Result;
use crate::error::StoreError;
use crate::run_id::RunId;
use crate::store::{Durability, Store, signed};

/// One event of a run, or one occurrence of an event that repeats. All times are nanoseconds since the load began, warm-up included.
/// Texts are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event's name in the plan.
    pub name: String,
    /// Which of the event's occurrences it is, from 0.
    pub occurrence: u32,
    /// What was done, in words and without secrets.
    pub action: String,
    /// When it was to begin; `None` if it waited for something that did not come.
    pub planned_ns: Option<u64>,
    /// When it began; `None` if it did not.
    pub begun_ns: Option<u64>,
    /// When it had ended, its sign of success included; `None` if the run ended before it.
    pub ended_ns: Option<u64>,
    /// With which code its command exited; `None` if it ran none, or a signal ended it.
    pub exit: Option<i32>,
    /// The number of the signal that ended its command.
    pub signal: Option<i32>,
    /// The end of what it wrote, at most [`Event::OUTPUT_BYTES_MAX`].
    pub output: Vec<u8>,
    /// How much it wrote before that, which is not kept.
    pub dropped_bytes: u64,
    /// Why it failed; `None` if it did not, as far as is known.
    pub failure: Option<String>,
    /// Whether the run goes on and counts although it failed.
    pub may_fail: bool,
}

/// How an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// It did what it should.
    Done,
    /// It failed.
    Failed,
    /// It began, and nothing tells how it ended.
    Underway,
    /// It did not begin.
    NotBegun,
}

impl Event {
    /// Of what one event wrote.
    pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
    /// Of one run, occurrences included.
    pub const COUNT_MAX: usize = 1_000;

    /// How it went.
    pub fn outcome(&self) -> EventOutcome {
        match (&self.failure, self.begun_ns, self.ended_ns) {
            (Some(_), ..) => EventOutcome::Failed,
            (None, None, _) => EventOutcome::NotBegun,
            (None, Some(_), None) => EventOutcome::Underway,
            (None, Some(_), Some(_)) => EventOutcome::Done,
        }
    }

    /// How long it took; `None` if it did not begin or did not end.
    pub fn lasting_ns(&self) -> Option<u64> {
        self.ended_ns?.checked_sub(self.begun_ns?)
    }

    fn is_possible(&self) -> bool {
        let is_in_order = match (self.begun_ns, self.ended_ns) {
            (Some(begun), Some(ended)) => begun <= ended,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        is_in_order && self.output.len() <= Self::OUTPUT_BYTES_MAX
    }
}

impl EventOutcome {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Underway => "underway",
            Self::NotBegun => "not begun",
        }
    }
}

impl Store {
    /// Keeps events of a run: all of them, or none. What was kept of the same name and occurrence is replaced.
    pub fn keep_events(&self, run: &RunId, events: &[Event]) -> Result<()> {
        if !events.iter().all(Event::is_possible) {
            return Err(StoreError::Unstorable {
                what: "an event that ended before it began, or wrote too much",
            });
        }
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        for event in events {
            insert(&transaction, number, &self.redaction.event(event))?
                .map_err(|error| self.explain(error))?;
        }
        let query = "SELECT count(*) FROM event WHERE run = ?1";
        let kept: i64 =
            transaction.query_row(query, [number], |row| row.get(0)).map_err(|error| self.explain(error))?;
        if kept > Event::COUNT_MAX as i64 {
            return Err(StoreError::Unstorable { what: "a run with over 1,000 events" });
        }
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// In the order in which they began; then those that did not.
    pub(crate) fn events(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Vec<Event>> {
        let query = "SELECT * FROM event WHERE run = ?1 \
                     ORDER BY begun_ns IS NULL, begun_ns, planned_ns IS NULL, planned_ns, name, occurrence LIMIT ?2";
        let limit = Event::COUNT_MAX as i64 + 1;
        let events = self.all(snapshot, query, (run, limit), |row| self.event(id, row))?;
        if events.len() > Event::COUNT_MAX {
            return Err(self.damaged(id, "it has too many events"));
        }
        Ok(events)
    }

    fn event(&self, id: &RunId, row: &Row<'_>) -> Result<Event> {
        let time = |column| self.optional_count(id, row, column);
        let event = Event {
            name: self.get(row, "name")?,
            occurrence: self.get(row, "occurrence")?,
            action: self.get(row, "action")?,
            planned_ns: time("planned_ns")?,
            begun_ns: time("begun_ns")?,
            ended_ns: time("ended_ns")?,
            exit: self.get(row, "exit")?,
            signal: self.get(row, "signal")?,
            output: self.get(row, "output")?,
            dropped_bytes: self.count(id, row, "dropped_bytes")?,
            failure: self.get(row, "failure")?,
            may_fail: self.get(row, "may_fail")?,
        };
        if !event.is_possible() {
            return Err(self.damaged(id, "an event ended before it began, or wrote too much"));
        }
        Ok(event)
    }
}

fn insert(connection: &Connection, run: i64, event: &Event) -> Result<rusqlite::Result<usize>> {
    let time = |time: Option<u64>| time.map(signed).transpose();
    let (planned, begun, ended) = (time(event.planned_ns)?, time(event.begun_ns)?, time(event.ended_ns)?);
    let dropped_bytes = signed(event.dropped_bytes)?;
    let Event { name, occurrence, action, exit, signal, output, failure, may_fail, .. } = event;
    let insert = "INSERT OR REPLACE INTO event (run, name, occurrence, action, planned_ns, begun_ns, ended_ns, exit, \
                  signal, output, dropped_bytes, failure, may_fail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    Ok(connection.prepare_cached(insert).and_then(|mut insert| {
        insert.execute(params![
            run,
            name,
            occurrence,
            action,
            planned,
            begun,
            ended,
            exit,
            signal,
            output,
            dropped_bytes,
            failure,
            may_fail,
        ])
    }))
}
