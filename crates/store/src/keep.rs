//! Writes the seconds of a run into the file.

use evidence::{RunId, StoredSecond};
use record::{Counts, Interval, Ledger, Sampled, Statuses, WindowCounts};
use rusqlite::{Connection, ErrorCode, params};

use crate::Result;
use crate::checksum;
use crate::error::StoreError;
use crate::outcome::stored_name;
use crate::redaction::Redaction;
use crate::store::{Durability, Store, signed};

impl Store {
    /// Stores intervals of one step: all of them, or none.
    ///
    /// Each interval becomes its own part, so a second may be stored several times, by several threads.
    pub fn keep_second(&self, run: &RunId, step: u16, intervals: &[Interval]) -> Result<()> {
        // A power failure may lose the last seconds, but a crash of this program may not. Neither corrupts the file.
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        for interval in intervals {
            insert_part(&transaction, run, number, &pack_second(step, interval, &self.redaction)).map_err(
                |failure| match failure {
                    Failure::Store(error) => error,
                    Failure::Sqlite(error)
                        if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
                    {
                        StoreError::UnknownStep { run: run.clone(), step }
                    }
                    Failure::Sqlite(error) => self.explain(error),
                },
            )?;
        }
        transaction.commit().map_err(|error| self.explain(error))
    }
}

impl Store {
    /// Counts of the first `steps` steps, including the warm-up.
    pub fn kept_counts(&self, run: &RunId, steps: usize) -> Result<Counts> {
        let query = "SELECT coalesce(sum(planned), 0) AS planned, coalesce(sum(sent), 0) AS sent, \
                     coalesce(sum(not_sent), 0) AS not_sent, coalesce(sum(ok), 0) AS ok, coalesce(sum(refused), 0) AS refused, \
                     coalesce(sum(failed), 0) AS failed, coalesce(sum(timed_out), 0) AS timed_out, \
                     coalesce(sum(unfinished), 0) AS unfinished FROM part WHERE run = ?1 AND step < ?2";
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        let snapshot = self.snapshot()?;
        self.one(&snapshot, query, (self.number(run)?, steps), |row| {
            let count = |column| self.count(run, row, column);
            Ok(Counts {
                planned: count("planned")?,
                sent: count("sent")?,
                not_sent: count("not_sent")?,
                ok: count("ok")?,
                rejected: count("refused")?,
                failed: count("failed")?,
                timed_out: count("timed_out")?,
                unfinished: count("unfinished")?,
            })
        })
    }
}

/// Reason why an interval was not stored: an invalid value, or a failure of SQLite.
enum Failure {
    Store(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn pack_second(step: u16, interval: &Interval, redaction: &Redaction) -> StoredSecond {
    let Interval { second, phase, tally, sampled } = interval;
    StoredSecond {
        step,
        second: *second,
        phase: *phase,
        counts: tally.counts,
        received_bytes: tally.received_bytes,
        sent_bytes: tally.sent_bytes,
        connections: tally.connections,
        first_sent_ns: tally.first_sent_ns,
        last_finished_ns: tally.last_finished_ns,
        window: Some(tally.window),
        statuses: tally.statuses.capped(),
        errors: redaction.errors(&tally.errors),
        histograms: tally.encode_histograms(),
        sampled: sampled.clone(),
    }
}

fn insert_part(
    connection: &Connection,
    run: &RunId,
    number: i64,
    part: &StoredSecond,
) -> Result<(), Failure> {
    let counts = &part.counts;
    let window = |count: fn(&WindowCounts) -> u64| part.window.as_ref().map(count).map(signed).transpose();
    connection
        .prepare_cached(
            "INSERT INTO part (run, step, second, phase, planned, sent, not_sent, ok, refused, failed, timed_out, \
             unfinished, received_bytes, sent_bytes, connections, first_sent_ns, last_finished_ns, other_errors, \
             histograms, checksum, window_ok, window_refused, window_other, window_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
             ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            number,
            part.step,
            signed(part.second)?,
            part.phase as u8,
            signed(counts.planned)?,
            signed(counts.sent)?,
            signed(counts.not_sent)?,
            signed(counts.ok)?,
            signed(counts.rejected)?,
            signed(counts.failed)?,
            signed(counts.timed_out)?,
            signed(counts.unfinished)?,
            signed(part.received_bytes)?,
            signed(part.sent_bytes)?,
            signed(part.connections)?,
            part.first_sent_ns.map(signed).transpose()?,
            part.last_finished_ns.map(signed).transpose()?,
            signed(part.errors.others())?,
            part.histograms,
            checksum::of_second(part, run),
            window(|window| window.ok)?,
            window(|window| window.rejected)?,
            window(|window| window.other)?,
            window(|window| window.after)?,
        ])?;
    let number = connection.last_insert_rowid();
    insert_statuses(connection, number, &part.statuses)?;
    insert_errors(connection, number, &part.errors)?;
    insert_requests(connection, number, &part.sampled)
}

fn insert_statuses(connection: &Connection, part: i64, statuses: &Statuses) -> Result<(), Failure> {
    let mut insert = connection
        .prepare_cached("INSERT INTO status (part, position, status, count) VALUES (?, ?, ?, ?)")?;
    for (position, (status, count)) in statuses.iter().enumerate() {
        insert.execute(params![part, position as i64, status, signed(count)?])?;
    }
    Ok(())
}

fn insert_errors(connection: &Connection, part: i64, errors: &Ledger) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO error (part, position, class, code, message, count) VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (position, entry) in errors.entries().iter().enumerate() {
        let (class, code, message) = (entry.class.as_str(), entry.code, &entry.message);
        insert.execute(params![part, position as i64, class, code, message, signed(entry.count)?])?;
    }
    Ok(())
}

fn insert_requests(connection: &Connection, part: i64, sampled: &[Sampled]) -> Result<(), Failure> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO request (part, position, outcome, status, connection, intended_ns, sent_ns, first_byte_ns, \
         finished_ns, connect_ns, received_bytes, sent_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (position, request) in sampled.iter().enumerate() {
        let finish = &request.finish;
        insert.execute(params![
            part,
            position as i64,
            stored_name(finish.outcome),
            finish.status,
            request.connection,
            signed(finish.intended_ns)?,
            signed(finish.sent_ns)?,
            finish.first_byte_ns.map(signed).transpose()?,
            signed(finish.finished_ns)?,
            signed(request.connect_ns)?,
            signed(request.received_bytes)?,
            signed(request.sent_bytes)?,
        ])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::{Model, NewRun, Unit};
    use record::{Phase, Tally};

    #[test]
    fn full_disk_is_reported_and_keeps_stored_data() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        let new = NewRun {
            started_at_unix_ms: 0,
            title: String::new(),
            plan_text: String::new(),
            plan_json: serde_json::Value::Null,
            plan_hash: String::new(),
            tenbin_version: String::new(),
            host: serde_json::Value::Null,
            load_words: String::new(),
            is_profiled: false,
            model: Model::Open,
            users: None,
            steps: vec![String::new()],
            units: vec![Unit::Requests],
            parts: Vec::new(),
            warm_up_ns: 0,
            planned_duration_ns: None,
            latency_limit_ns: None,
            connects_each: false,
            stamps: Vec::new(),
            place: None,
            system_version: None,
        };
        let run = store.begin(&new).unwrap();
        let pages: i64 = store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        let limit = format!("PRAGMA max_page_count = {}", pages + 20);
        store.connection.query_row(&limit, [], |_| Ok(())).unwrap();

        let mut interval =
            Interval { second: 0, phase: Phase::Measured, tally: Tally::default(), sampled: vec![] };
        (0..3_000).for_each(|value_ns| interval.tally.response.ok.record(value_ns * value_ns));
        let kept_until_full = (0..1_000).find_map(|second| {
            interval.second = second;
            store.keep_second(&run, 0, std::slice::from_ref(&interval)).err().map(|error| (second, error))
        });
        let (kept, error) = kept_until_full.expect("the limit is reached");
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert!(kept > 0);
        assert_eq!(store.load(&run).unwrap().seconds().count() as u64, kept);
    }
}
