//! Loads a run from the file.

use std::collections::BTreeSet;

use evidence::{Ending, Failure, Model, NewRun, Run, RunId, RunState, StepPart, StoredSecond, Unit, Verdict};
use record::{Counts, Finish, Ledger, LedgerEntry, Outcome, Phase, Sampled, Statuses, WindowCounts};
use rusqlite::{Connection, Row};

use crate::Result;
use crate::checksum;
use crate::earlier;
use crate::outcome::stored_name;
use crate::spread;
use crate::store::Store;

/// Parts of a run in index order. Any other order would make SQLite sort all histograms.
const PARTS: &str = "SELECT * FROM part WHERE run = ?1 ORDER BY second, phase, step, number";

impl Store {
    /// Loads a whole run, and checks that all of its data decodes and adds up.
    pub fn load(&self, id: &RunId) -> Result<Run> {
        // A snapshot is consistent even while the run continues.
        let snapshot = self.snapshot()?;
        self.load_from(&snapshot, id)
    }

    pub(crate) fn load_from(&self, snapshot: &Connection, id: &RunId) -> Result<Run> {
        let number = self.number(id)?;
        let run = "SELECT * FROM run WHERE number = ?1";
        let mut new = self.one(snapshot, run, [number], |row| self.new_run(id, row, snapshot))?;
        self.steps(id, snapshot, number, &mut new)?;
        let ending =
            "SELECT * FROM ending LEFT JOIN failure ON failure.run = ending.run WHERE ending.run = ?1";
        let ending = self.all(snapshot, ending, [number], |row| self.ending(id, row))?.pop();
        let state = match &ending {
            Some(ending) => RunState::Ended(ending.verdict),
            None => {
                let state = "SELECT writer, NULL AS verdict FROM run WHERE number = ?1";
                self.one(snapshot, state, [number], |row| self.state(id, row))?
            }
        };
        let parts = self.all(snapshot, PARTS, [number], |row| self.part(id, row, &new, snapshot))?;
        let beside = self.monitored(snapshot, id, number)?;
        // A run of a study is compared with the baseline of the study.
        let baseline = if new.place.is_none() { self.baseline_of(snapshot, id)? } else { None };
        let mut run = Run::assemble(id.clone(), new, ending, state, parts, beside)?;
        run.baseline = baseline;
        Ok(run)
    }

    /// Loads the steps, followed by their parts.
    fn steps(&self, id: &RunId, snapshot: &Connection, number: i64, new: &mut NewRun) -> Result<()> {
        let query = "SELECT name, unit, part_of FROM step WHERE run = ?1 ORDER BY number";
        let rows = self.all(snapshot, query, [number], |row| {
            Ok((self.get(row, "name")?, self.get::<String>(row, "unit")?, self.get(row, "part_of")?))
        })?;
        if rows.len() > usize::from(u16::MAX) + 1 {
            return Err(self.damaged(id, "it has too many steps"));
        }
        for (name, unit, part_of) in rows {
            match part_of {
                Some(of) => new.parts.push(StepPart { name, of }),
                None if !new.parts.is_empty() => {
                    return Err(self.damaged(id, "a step comes after a part of one"));
                }
                None => {
                    let unit = Unit::from_name(&unit);
                    new.units.push(unit.ok_or_else(|| self.damaged(id, "the unit of a step is unknown"))?);
                    new.steps.push(name);
                }
            }
        }
        if new.parts.iter().any(|part| usize::from(part.of) >= new.steps.len()) {
            return Err(self.damaged(id, "a part belongs to no step"));
        }
        Ok(())
    }

    /// Loads the description of a run without its steps.
    fn new_run(&self, id: &RunId, row: &Row<'_>, snapshot: &Connection) -> Result<NewRun> {
        let text = |column: &str| self.get::<String>(row, column);
        let model =
            Model::from_name(&text("model")?).ok_or_else(|| self.damaged(id, "its model is unknown"))?;
        let (load_words, is_profiled) = self.load_words(row)?;
        Ok(NewRun {
            started_at_unix_ms: self.get(row, "started_at_unix_ms")?,
            title: text("title")?,
            plan_text: text("plan_text")?,
            plan_json: self.json(id, "plan", &text("plan")?)?,
            plan_hash: text("plan_hash")?,
            tenbin_version: text("tenbin_version")?,
            host: self.json(id, "host", &text("host")?)?,
            users: match self.get(row, "users")? {
                None => earlier::users(model, &load_words),
                users => users,
            },
            load_words,
            is_profiled,
            model,
            steps: Vec::new(),
            units: Vec::new(),
            parts: Vec::new(),
            warm_up_ns: self.count(id, row, "warm_up_ns")?,
            planned_duration_ns: self.optional_count(id, row, "planned_duration_ns")?,
            latency_limit_ns: self.optional_count(id, row, "latency_limit_ns")?,
            connects_each: self.get(row, "connects_each")?,
            stamps: self.json(id, "stamps", &text("stamps")?)?,
            place: self.place_of(snapshot, id, row)?,
            system_version: self.get(row, "system_version")?,
        })
    }

    /// Returns the description of the load without the mention of a profile, and whether the load was profiled, from a
    /// row of table `run`.
    pub(crate) fn load_words(&self, row: &Row<'_>) -> Result<(String, bool)> {
        let load = self.get::<String>(row, "load")?;
        Ok(match self.get(row, "is_profiled")? {
            Some(is_profiled) => (load, is_profiled),
            None => earlier::unprofiled(load),
        })
    }

    fn ending(&self, id: &RunId, row: &Row<'_>) -> Result<Ending> {
        let text = |column: &str| self.get::<String>(row, column);
        let verdict = Verdict::from_name(&text("verdict")?);
        let spread: Option<spread::StoredSpread> =
            self.optional_json(id, "spread", self.get(row, "spread")?)?;
        let notes: Vec<String> = self.json(id, "notes", &text("notes")?)?;
        Ok(Ending {
            ended_at_unix_ms: self.get(row, "ended_at_unix_ms")?,
            verdict: verdict.ok_or_else(|| self.damaged(id, "its verdict is unknown"))?,
            validity: self.json(id, "validity", &text("validity")?)?,
            generator: self.json(id, "generator", &text("generator")?)?,
            spread: spread.map(spread::StoredSpread::into_spread),
            planned_left: self.count(id, row, "planned_left")?,
            resolved_ns: self.optional_count(id, row, "resolved_ns")?,
            tls: self.get(row, "tls")?,
            system: self.optional_json(id, "system", self.get(row, "system")?)?,
            failure: self.failure(row)?,
            not_available: self.json(id, "not_available", &text("not_available")?)?,
            steadiness: self.optional_json(id, "steadiness", self.get(row, "steadiness")?)?,
            window_ns: self.optional_count(id, row, "window_ns")?,
            outage: self.optional_json(id, "outage", self.get(row, "outage")?)?,
            is_system_local: self
                .get::<Option<bool>>(row, "is_system_local")?
                .unwrap_or_else(|| earlier::is_system_local(&notes)),
            resumed_handshakes: self
                .get::<Option<i64>>(row, "resumed_handshakes")?
                .and_then(|resumed| u64::try_from(resumed).ok())
                .unwrap_or_default(),
            contents: self.optional_json(id, "contents", self.get(row, "contents")?)?.unwrap_or_default(),
            same_body: self.optional_json(id, "same_body", self.get(row, "same_body")?)?,
            notes,
            connections_by_process: self.optional_json(
                id,
                "connections_by_process",
                self.get(row, "connections_by_process")?,
            )?,
            steady_start: self.optional_json(id, "steady_start", self.get(row, "steady_start")?)?,
        })
    }

    /// Reads the failure from a row with the columns of table `failure`, which are NULL if there is none.
    fn failure(&self, row: &Row<'_>) -> Result<Option<Failure>> {
        let Some(stage) = self.get(row, "stage")? else { return Ok(None) };
        let (process, what, way_out) =
            (self.get(row, "process")?, self.get(row, "what")?, self.get(row, "way_out")?);
        Ok(Some(Failure { stage, process, what, way_out }))
    }

    fn part(&self, id: &RunId, row: &Row<'_>, new: &NewRun, snapshot: &Connection) -> Result<StoredSecond> {
        let count = |column| self.count(id, row, column);
        let number = self.get(row, "number")?;
        let step: u16 = self.get(row, "step")?;
        if usize::from(step) >= new.steps.len() + new.parts.len() {
            return Err(self.damaged(id, "a second belongs to no step"));
        }
        let phase = usize::try_from(count("phase")?).ok().and_then(|phase| Phase::ALL.get(phase).copied());
        let part = StoredSecond {
            step,
            second: count("second")?,
            phase: phase.ok_or_else(|| self.damaged(id, "a second has no known phase"))?,
            counts: Counts {
                planned: count("planned")?,
                sent: count("sent")?,
                not_sent: count("not_sent")?,
                ok: count("ok")?,
                rejected: count("refused")?,
                failed: count("failed")?,
                timed_out: count("timed_out")?,
                unfinished: count("unfinished")?,
            },
            received_bytes: count("received_bytes")?,
            sent_bytes: count("sent_bytes")?,
            connections: count("connections")?,
            first_sent_ns: self.optional_count(id, row, "first_sent_ns")?,
            last_finished_ns: self.optional_count(id, row, "last_finished_ns")?,
            window: self.window(id, row)?,
            statuses: self.statuses(id, snapshot, number)?,
            errors: self.errors(id, snapshot, number, count("other_errors")?)?,
            histograms: self.get(row, "histograms")?,
            sampled: self.sampled(id, snapshot, number)?,
        };
        let kept: Option<u32> = self.get(row, "checksum")?;
        if kept.is_some_and(|kept| kept != checksum::of_second(&part, id)) {
            let what = format!("its second {} is not as it was kept: its checksum differs", part.second);
            return Err(self.damaged(id, &what));
        }
        Ok(part)
    }

    /// Reads the counts by end relative to the window. `None` for a part from an earlier version.
    fn window(&self, id: &RunId, row: &Row<'_>) -> Result<Option<WindowCounts>> {
        let count = |column| self.optional_count(id, row, column);
        let Some(ok) = count("window_ok")? else { return Ok(None) };
        let other = |column| count(column).map(Option::unwrap_or_default);
        let (rejected, other_ends) = (other("window_refused")?, other("window_other")?);
        Ok(Some(WindowCounts { ok, rejected, other: other_ends, after: other("window_after")? }))
    }

    fn statuses(&self, id: &RunId, snapshot: &Connection, part: i64) -> Result<Statuses> {
        let query = "SELECT status, count FROM status WHERE part = ?1 ORDER BY position";
        let read = |row: &Row<'_>| Ok((self.get(row, "status")?, self.count(id, row, "count")?));
        let all: Vec<(u16, u64)> = self.all(snapshot, query, [part], read)?;
        let distinct: BTreeSet<u16> = all.iter().map(|(status, _)| *status).collect();
        if all.len() > Statuses::KINDS_MAX || distinct.len() < all.len() {
            return Err(self.damaged(id, "a second has too many statuses"));
        }
        let mut statuses = Statuses::default();
        all.into_iter().for_each(|(status, count)| statuses.add(status, count));
        Ok(statuses)
    }

    fn errors(&self, id: &RunId, snapshot: &Connection, part: i64, others: u64) -> Result<Ledger> {
        let query = "SELECT class, code, message, count FROM error WHERE part = ?1 ORDER BY position";
        let all = self.all(snapshot, query, [part], |row| {
            let class = self.get::<String>(row, "class")?.into();
            let (code, message) = (self.get(row, "code")?, self.get(row, "message")?);
            Ok(LedgerEntry { class, code, message, count: self.count(id, row, "count")? })
        })?;
        if all.len() > Ledger::ENTRIES_MAX {
            return Err(self.damaged(id, "a second has too many kinds of errors"));
        }
        let mut errors = Ledger::default();
        all.into_iter().for_each(|entry| errors.insert(entry));
        errors.add_others(others);
        Ok(errors)
    }

    fn sampled(&self, id: &RunId, snapshot: &Connection, part: i64) -> Result<Vec<Sampled>> {
        let query = "SELECT * FROM request WHERE part = ?1 ORDER BY position";
        self.all(snapshot, query, [part], |row| {
            let name: String = self.get(row, "outcome")?;
            let outcome = Outcome::ALL.into_iter().find(|outcome| stored_name(*outcome) == name);
            let count = |column| self.count(id, row, column);
            let finish = Finish {
                intended_ns: count("intended_ns")?,
                sent_ns: count("sent_ns")?,
                first_byte_ns: self.optional_count(id, row, "first_byte_ns")?,
                finished_ns: count("finished_ns")?,
                outcome: outcome.ok_or_else(|| self.damaged(id, "a request ended in an unknown way"))?,
                status: self.get(row, "status")?,
            };
            Ok(Sampled {
                finish,
                connection: self.get(row, "connection")?,
                connect_ns: count("connect_ns")?,
                received_bytes: count("received_bytes")?,
                sent_bytes: count("sent_bytes")?,
            })
        })
    }

    pub(crate) fn count(&self, id: &RunId, row: &Row<'_>, column: &str) -> Result<u64> {
        self.unsigned(id, column, self.get(row, column)?)
    }

    pub(crate) fn optional_count(&self, id: &RunId, row: &Row<'_>, column: &str) -> Result<Option<u64>> {
        let value: Option<i64> = self.get(row, column)?;
        value.map(|value| self.unsigned(id, column, value)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_use_the_order_of_indexes_without_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s")).unwrap();
        let mut explain = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {PARTS}")).unwrap();
        let steps = explain.query_map([1], |row| row.get::<_, String>("detail")).unwrap();
        let steps: Vec<String> = steps.map(rusqlite::Result::unwrap).collect();
        assert_eq!(steps, ["SEARCH part USING INDEX part_by_second (run=?)"]);
    }
}
