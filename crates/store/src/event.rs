//! Stores and loads the events of a run.

use evidence::{Event, RunId};
use rusqlite::{Connection, Row, params};

use crate::Result;
use crate::error::StoreError;
use crate::store::{Durability, Store, signed};

impl Store {
    /// Stores events of a run: all of them, or none. Replaces events with equal name and occurrence.
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

    /// Loads events in order of their start, followed by those that did not start.
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
