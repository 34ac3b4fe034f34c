//! Writes readings, output, and gates of a run into the file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use evidence::{Bounds, GateResult, Reading, ReadingKey, RunId, pack_reading};
use rusqlite::{Connection, params};

use crate::Result;
use crate::checksum;
use crate::error::StoreError;
use crate::store::{Durability, Store, signed};

/// Maximum stored output of one process, in bytes.
pub(crate) const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Maximum number of processes of one run whose output is stored.
pub(crate) const OUTPUTS_MAX: usize = 1_000;
/// Maximum number of gates of one run.
pub(crate) const GATES_MAX: usize = 1_000;

impl Store {
    /// Stores the readings of one second: all of them, or none. A second may be stored several times.
    pub fn keep_readings(&self, run: &RunId, second: u64, readings: &[Reading]) -> Result<()> {
        if !readings.iter().all(|reading| reading.value.is_finite()) {
            return Err(StoreError::NOT_FINITE);
        }
        let kept_second = signed(second)?;
        // Durable like the seconds of the load.
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        let mut kinds = kinds(&transaction, number).map_err(|error| self.explain(error))?;
        let mut packed = Vec::new();
        for Reading { subject, metric, label, value } in readings {
            let label = self.redaction.text(label).into_owned();
            let kind = ReadingKey { subject: subject.clone(), metric: metric.clone(), label };
            let next = kinds.len();
            let kind = match kinds.entry(kind) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let place = u16::try_from(next).map_err(|_| TOO_MANY_KINDS)?;
                    insert_kind(&transaction, number, place, new.key())
                        .map_err(|error| self.explain(error))?;
                    *new.insert(place)
                }
            };
            pack_reading(&mut packed, kind, *value);
        }
        let checksum = checksum::of_readings(run, second, &packed);
        transaction
            .prepare_cached("INSERT INTO readings (run, second, packed, checksum) VALUES (?, ?, ?, ?)")
            .and_then(|mut insert| insert.execute(params![number, kept_second, packed, checksum]))
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Stores the output of a process of the system, at most 1 MiB.
    pub fn keep_output(&self, run: &RunId, process: &str, text: &[u8], dropped_bytes: u64) -> Result<()> {
        if text.len() > OUTPUT_BYTES_MAX {
            return Err(StoreError::Unstorable { what: "over 1 MiB of output of one process" });
        }
        let (text, dropped_bytes) = (self.redaction.bytes(text), signed(dropped_bytes)?);
        // The replacement of a secret may be longer than the secret.
        let text = &text[..text.len().min(OUTPUT_BYTES_MAX)];
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        let kept: i64 = transaction
            .query_row("SELECT count(*) FROM output WHERE run = ?1", [number], |row| row.get(0))
            .map_err(|error| self.explain(error))?;
        if kept >= OUTPUTS_MAX as i64 {
            return Err(StoreError::Unstorable { what: "the output of over 1,000 processes of one run" });
        }
        transaction
            .execute(
                "INSERT INTO output (run, process, text, dropped_bytes) VALUES (?, ?, ?, ?)",
                params![number, process, text, dropped_bytes],
            )
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Stores the results of gates. Replaces earlier ones.
    pub fn keep_gates(&self, run: &RunId, gates: &[GateResult]) -> Result<()> {
        let figures = |gate: &GateResult| [gate.observed.unwrap_or(0.0), gate.limit];
        if !gates.iter().flat_map(figures).all(f64::is_finite) {
            return Err(StoreError::NOT_FINITE);
        }
        if gates.len() > GATES_MAX {
            return Err(StoreError::Unstorable { what: "a run with over 1,000 gates" });
        }
        let transaction = self.transaction(Durability::Full)?;
        let number = self.number(run)?;
        insert_gates(&transaction, number, gates).map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }
}

const TOO_MANY_KINDS: StoreError =
    StoreError::Unstorable { what: "a run with over 65,536 kinds of readings" };

fn kinds(connection: &Connection, run: i64) -> rusqlite::Result<HashMap<ReadingKey, u16>> {
    let mut select = connection
        .prepare_cached("SELECT number, subject, metric, label FROM reading_kind WHERE run = ?1")?;
    let kinds = select.query_map([run], |row| {
        Ok((ReadingKey { subject: row.get(1)?, metric: row.get(2)?, label: row.get(3)? }, row.get(0)?))
    })?;
    kinds.collect()
}

fn insert_kind(connection: &Connection, run: i64, number: u16, kind: &ReadingKey) -> rusqlite::Result<()> {
    let ReadingKey { subject, metric, label } = kind;
    connection
        .prepare_cached(
            "INSERT INTO reading_kind (run, number, subject, metric, label) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![run, number, subject, metric, label])?;
    Ok(())
}

fn insert_gates(connection: &Connection, run: i64, gates: &[GateResult]) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM gate WHERE run = ?1", [run])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO gate (run, position, text, step, observed, bound, unit, holds, decision, low, high, samples_needed) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (position, gate) in gates.iter().enumerate() {
        let GateResult { text, step, observed, bounds, limit, unit, decision, samples_needed } = gate;
        let (low, high) = (bounds.map(Bounds::low), bounds.and_then(Bounds::finite_high));
        let (position, samples_needed) = (position as i64, samples_needed.map(|samples| samples as i64));
        insert.execute(params![
            run,
            position,
            text,
            step,
            observed,
            limit,
            unit,
            gate.holds(),
            decision.name(),
            low,
            high,
            samples_needed
        ])?;
    }
    Ok(())
}
