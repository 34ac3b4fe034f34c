//! Beginning and end of a run.

use evidence::{Ending, Failure, NewRun, Outage, RunId, Steadiness, SteadyStart, Unit};
use rusqlite::{ErrorCode, Transaction, named_params};
use serde::Serialize;

use crate::Result;
use crate::error::StoreError;
use crate::spread;
use crate::store::{Durability, Store, signed};
use crate::writer::Writer;

/// Maximum number of names to try. Even with a million names per second, they are never all taken.
pub(crate) const DRAWS_MAX: usize = 100;

impl Store {
    /// Begins a run that this process will write, and returns its name. The run is on disk when this returns.
    pub fn begin(&self, new: &NewRun) -> Result<RunId> {
        if new.units.len() != new.steps.len() {
            return Err(StoreError::Unstorable { what: "a run whose steps do not all have a unit" });
        }
        if new.parts.iter().any(|part| usize::from(part.of) >= new.steps.len()) {
            return Err(StoreError::Unstorable { what: "a run with a part of no step" });
        }
        let transaction = self.transaction(Durability::Full)?;
        let id = self.insert_run(&transaction, new)?;
        let number = transaction.last_insert_rowid();
        self.insert_steps(&transaction, number, new)?;
        transaction.commit().map_err(|error| self.explain(error))?;
        Ok(id)
    }

    /// Inserts the steps, followed by their parts.
    fn insert_steps(&self, transaction: &Transaction<'_>, run: i64, new: &NewRun) -> Result<()> {
        let steps = new.steps.iter().zip(&new.units).map(|(name, unit)| (name, *unit, None));
        let parts = new.parts.iter().map(|part| (&part.name, Unit::Requests, Some(part.of)));
        let mut insert = transaction
            .prepare("INSERT INTO step (run, number, name, unit, part_of) VALUES (?1, ?2, ?3, ?4, ?5)")
            .map_err(|error| self.explain(error))?;
        for (number, (name, unit, part_of)) in steps.chain(parts).enumerate() {
            let number = u16::try_from(number)
                .map_err(|_| StoreError::Unstorable { what: "a run of over 65,536 steps and parts" })?;
            insert.execute((run, number, name, unit.name(), part_of)).map_err(|error| self.explain(error))?;
        }
        Ok(())
    }

    fn insert_run(&self, transaction: &Transaction<'_>, new: &NewRun) -> Result<RunId> {
        let warm_up_ns = signed(new.warm_up_ns)?;
        let planned_duration_ns = new.planned_duration_ns.map(signed).transpose()?;
        let latency_limit_ns = new.latency_limit_ns.map(signed).transpose()?;
        let (plan, host, stamps) = (json(&new.plan_json)?, json(&new.host)?, json(&new.stamps)?);
        let system_version = self.redaction.optional(new.system_version.as_ref());
        let writer = Writer::this_process();
        let place = match &new.place {
            Some((study, place)) => Some(self.place_number(transaction, study, place, &writer)?),
            None => None,
        };
        let writer = json(&writer)?;
        let mut insert = transaction
            .prepare(
                "INSERT INTO run (id, started_at_unix_ms, title, plan_text, plan, plan_hash, tenbin_version, host, load, \
                 model, users, is_profiled, warm_up_ns, planned_duration_ns, latency_limit_ns, connects_each, stamps, place, \
                 system_version, writer) VALUES (:id, \
                 :started_at_unix_ms, :title, :plan_text, :plan, :plan_hash, :tenbin_version, :host, :load, :model, :users, :is_profiled, \
                 :warm_up_ns, :planned_duration_ns, :latency_limit_ns, :connects_each, :stamps, :place, :system_version, :writer)",
            )
            .map_err(|error| self.explain(error))?;
        let mut draws = 1;
        loop {
            let id = RunId::generate(new.started_at_unix_ms);
            let inserted = insert.execute(named_params! {
                ":id": id.as_str(),
                ":started_at_unix_ms": new.started_at_unix_ms,
                ":title": new.title,
                ":plan_text": new.plan_text,
                ":plan": plan,
                ":plan_hash": new.plan_hash,
                ":tenbin_version": new.tenbin_version,
                ":host": host,
                ":load": new.load_words,
                ":model": new.model.name(),
                ":users": new.users,
                ":is_profiled": new.is_profiled,
                ":warm_up_ns": warm_up_ns,
                ":planned_duration_ns": planned_duration_ns,
                ":latency_limit_ns": latency_limit_ns,
                ":connects_each": new.connects_each,
                ":stamps": stamps,
                ":place": place,
                ":system_version": system_version,
                ":writer": writer,
            });
            match inserted {
                Ok(_) => return Ok(id),
                Err(error) if is_taken(&error) && draws < DRAWS_MAX => draws += 1,
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    /// Ends a run, which is possible only once. The ending is on disk when this returns.
    pub fn finish(&self, run: &RunId, ending: &Ending) -> Result<()> {
        let spread = match &ending.spread {
            Some(spread) => Some(json(&spread::StoredSpread::of(spread).ok_or(StoreError::NOT_FINITE)?)?),
            None => None,
        };
        let is_finite = ending.steadiness.as_ref().is_none_or(Steadiness::is_finite)
            && ending.outage.as_ref().is_none_or(Outage::is_finite)
            && ending.steady_start.as_ref().is_none_or(SteadyStart::is_finite);
        if !ending.generator.is_finite() || !ending.validity.is_finite() || !is_finite {
            return Err(StoreError::NOT_FINITE);
        }
        let transaction = self.transaction(Durability::Full)?;
        let number = self.number(run)?;
        let inserted = transaction.execute(
            "INSERT INTO ending (run, ended_at_unix_ms, verdict, validity, generator, spread, planned_left, notes, \
             resolved_ns, tls, system, not_available, steadiness, window_ns, outage, is_system_local, connections_by_process, \
             steady_start, same_body, contents, resumed_handshakes) VALUES (:run, :ended_at_unix_ms, \
             :verdict, :validity, :generator, :spread, :planned_left, :notes, :resolved_ns, :tls, :system, :not_available, \
             :steadiness, :window_ns, :outage, :is_system_local, :connections_by_process, :steady_start, :same_body, :contents, :resumed_handshakes)",
            named_params! {
                ":run": number,
                ":ended_at_unix_ms": ending.ended_at_unix_ms,
                ":verdict": ending.verdict.name(),
                ":validity": self.redaction.json(&ending.validity)?,
                ":generator": self.redaction.json(&ending.generator)?,
                ":spread": spread,
                ":planned_left": signed(ending.planned_left)?,
                ":notes": self.redaction.json(&ending.notes)?,
                ":resolved_ns": ending.resolved_ns.map(signed).transpose()?,
                ":tls": ending.tls,
                ":system": ending.system.as_ref().map(|system| self.redaction.json(system)).transpose()?,
                ":not_available": self.redaction.json(&ending.not_available)?,
                ":steadiness": ending.steadiness.as_ref().map(json).transpose()?,
                ":window_ns": ending.window_ns.map(signed).transpose()?,
                ":outage": ending.outage.as_ref().map(json).transpose()?,
                ":is_system_local": ending.is_system_local,
                ":connections_by_process": ending.connections_by_process.as_ref().map(|of| self.redaction.json(of)).transpose()?,
                ":steady_start": ending.steady_start.as_ref().map(json).transpose()?,
                ":contents": (!ending.contents.is_empty()).then(|| json(&ending.contents)).transpose()?,
                ":resumed_handshakes": signed(ending.resumed_handshakes)?,
                ":same_body": ending.same_body.as_ref().map(|body| self.redaction.json(body)).transpose()?,
            },
        );
        inserted.map_err(|error| match is_taken(&error) {
            true => StoreError::AlreadyFinished { run: run.clone() },
            false => self.explain(error),
        })?;
        if let Some(failure) = &ending.failure {
            let Failure { stage, process, what, way_out } = self.redaction.failure(failure);
            let insert = "INSERT INTO failure (run, stage, process, what, way_out) VALUES (?, ?, ?, ?, ?)";
            transaction
                .execute(insert, (number, stage, process, what, way_out))
                .map_err(|error| self.explain(error))?;
        }
        transaction.commit().map_err(|error| self.explain(error))
    }
}

pub(crate) fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Serializes a value for a JSON column.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|_| StoreError::Unstorable { what: "a value that JSON cannot write" })
}
