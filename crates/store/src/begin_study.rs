//! Beginning and end of a study, and ownership by a single writer.

use evidence::{Baseline, NewStudy, StudyEnding, StudyId, StudyPlace};
use rusqlite::{Connection, Transaction, named_params, params};

use crate::Result;
use crate::begin::{DRAWS_MAX, is_taken, json};
use crate::error::StoreError;
use crate::store::{Durability, Store};
use crate::writer::Writer;

/// Maximum number of runs in a study.
pub(crate) const PLACES_MAX: usize = 100_000;

impl Store {
    /// Begins a study that this process will write, and returns its name. The study is on disk when this returns.
    pub fn begin_study(&self, new: &NewStudy) -> Result<StudyId> {
        self.begin_study_with_baseline(new, None)
    }

    /// Like [`Self::begin_study`], with a baseline that the study is compared with.
    pub fn begin_study_with_baseline(&self, new: &NewStudy, baseline: Option<&Baseline>) -> Result<StudyId> {
        if !new.compare.is_finite() {
            return Err(StoreError::NOT_FINITE);
        }
        if new.planned.len() > PLACES_MAX {
            return Err(StoreError::Unstorable { what: "a study of over 100,000 runs" });
        }
        let transaction = self.transaction(Durability::Full)?;
        let id = self.insert_study(&transaction, new)?;
        let study = transaction.last_insert_rowid();
        new.planned.iter().try_for_each(|place| self.insert_place(&transaction, study, place))?;
        baseline.map_or(Ok(()), |baseline| self.insert_baseline(&transaction, id.as_str(), baseline))?;
        transaction.commit().map_err(|error| self.explain(error))?;
        Ok(id)
    }

    fn insert_study(&self, transaction: &Transaction<'_>, new: &NewStudy) -> Result<StudyId> {
        let (host, gates, stamps) = (json(&new.host)?, json(&new.gates)?, json(&new.stamps)?);
        let loads = json(&new.loads)?;
        let (procedure, also) = (json(&new.compare.procedure)?, json(&new.compare.also)?);
        let writer = json(&Writer::this_process())?;
        let mut insert = transaction
            .prepare(
                "INSERT INTO study (id, started_at_unix_ms, title, question, source, plan_hash, tenbin_version, host, \
                 seed, is_quick, compare_by, higher_is_better, matters, blocks, procedure, also, baseline, within_s, gates, \
                 stamps, loads, writer) VALUES (:id, \
                 :started_at_unix_ms, :title, :question, :source, :plan_hash, :tenbin_version, :host, :seed, :is_quick, \
                 :compare_by, :higher_is_better, :matters, :blocks, :procedure, :also, :baseline, \
                 :within_s, :gates, :stamps, :loads, :writer)",
            )
            .map_err(|error| self.explain(error))?;
        let mut draws = 1;
        loop {
            let id = StudyId::generate(new.started_at_unix_ms);
            let inserted = insert.execute(named_params! {
                ":id": id.as_str(),
                ":started_at_unix_ms": new.started_at_unix_ms,
                ":title": new.title,
                ":question": new.question,
                ":source": new.source,
                ":plan_hash": new.plan_hash,
                ":tenbin_version": new.tenbin_version,
                ":host": host,
                ":seed": new.seed.cast_signed(),
                ":is_quick": new.is_quick,
                ":compare_by": new.compare.by,
                ":higher_is_better": new.compare.higher_is_better,
                ":matters": new.compare.matters,
                ":blocks": new.compare.blocks,
                ":procedure": procedure,
                ":also": also,
                ":baseline": new.compare.baseline,
                ":within_s": new.compare.within_s,
                ":gates": gates,
                ":stamps": stamps,
                ":loads": loads,
                ":writer": writer,
            });
            match inserted {
                Ok(_) => return Ok(id),
                Err(error) if is_taken(&error) && draws < DRAWS_MAX => draws += 1,
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    pub(crate) fn insert_place(
        &self,
        transaction: &Transaction<'_>,
        study: i64,
        place: &StudyPlace,
    ) -> Result<()> {
        if let Some(what) = place.fault() {
            return Err(StoreError::Unstorable { what });
        }
        let StudyPlace {
            block,
            position,
            system,
            variant,
            knobs,
            load,
            stage,
            users,
            rate_per_s,
            intervention,
        } = place;
        let (knobs, intervention) = (json(knobs)?, intervention.as_ref().map(json).transpose()?);
        let inserted = transaction
            .prepare_cached(
                "INSERT INTO place (study, position, block, system, variant, knobs, load, stage, users, rate_per_s, \
                 intervention) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    study, position, block, system, variant, knobs, load, stage, users, rate_per_s, intervention
                ])
            });
        match inserted {
            Err(error) if is_taken(&error) => {
                Err(StoreError::Unstorable { what: "a study with two runs at one position" })
            }
            answer => answer.map(drop).map_err(|error| self.explain(error)),
        }
    }

    /// Ends a study. The ending is on disk when this returns. A study ends once, unless it is resumed.
    pub fn finish_study(&self, study: &StudyId, ending: &StudyEnding) -> Result<()> {
        let transaction = self.transaction(Durability::Full)?;
        let number = self.study_number(study)?;
        self.check_owner(&transaction, study, number, &Writer::this_process())?;
        let StudyEnding { ended_at_unix_ms, verdict, why } = ending;
        transaction
            .execute(
                "INSERT INTO study_ending (study, ended_at_unix_ms, verdict, why) VALUES (?, ?, ?, ?)",
                (number, ended_at_unix_ms, verdict.name(), why),
            )
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Takes over a study that was interrupted or ran out of time. From then on only this process may write it. `within_s` is the
    /// new time limit, including the time spent so far; `None` keeps the old limit.
    ///
    /// Fails if its writer is alive and has not ended it, or if the study is complete.
    pub fn resume_study(&self, study: &StudyId, within_s: Option<f64>) -> Result<()> {
        if within_s.is_some_and(|within_s| !within_s.is_finite()) {
            return Err(StoreError::Unstorable { what: "a time that is no number" });
        }
        let transaction = self.transaction(Durability::Full)?;
        let number = self.study_number(study)?;
        let (writer, has_ended) = self.writer_of(&transaction, study, number)?;
        if !has_ended && writer.is_alive() {
            return Err(StoreError::StudyRunning { study: study.clone(), pid: writer.pid() });
        }
        if has_ended && self.is_whole(&transaction, study, number)? {
            return Err(StoreError::StudyComplete { study: study.clone() });
        }
        let writer = json(&Writer::this_process())?;
        transaction
            .execute("DELETE FROM study_ending WHERE study = ?1", [number])
            .and_then(|_| {
                let update =
                    "UPDATE study SET writer = ?2, within_s = coalesce(?3, within_s) WHERE number = ?1";
                transaction.execute(update, (number, writer, within_s))
            })
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Deletes a study with its runs and all their data.
    pub fn delete_study(&self, study: &StudyId) -> Result<()> {
        let transaction = self.transaction(Durability::Full)?;
        let number = self.study_number(study)?;
        transaction
            .execute("DELETE FROM study WHERE number = ?1", [number])
            .and_then(|_| transaction.execute("DELETE FROM origin WHERE id = ?1", [study.as_str()]))
            .and_then(|_| transaction.execute("DELETE FROM baseline WHERE id = ?1", [study.as_str()]))
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Returns the row number of a planned place, for a run that `writer` begins.
    pub(crate) fn place_number(
        &self,
        transaction: &Connection,
        study: &StudyId,
        place: &StudyPlace,
        writer: &Writer,
    ) -> Result<i64> {
        let number = self.study_number(study)?;
        self.check_owner(transaction, study, number, writer)?;
        let query = "SELECT * FROM place WHERE study = ?1 AND position = ?2";
        let planned = self.all(transaction, query, (number, place.position), |row| {
            Ok((self.get(row, "number")?, self.place(study, row)?))
        })?;
        let found = planned.into_iter().find(|(_, planned)| planned == place);
        found
            .map(|(number, _)| number)
            .ok_or_else(|| StoreError::UnknownPlace { study: study.clone(), position: place.position })
    }

    /// Fails unless this process writes the study and has not ended it.
    pub(crate) fn check_owner(
        &self,
        transaction: &Connection,
        study: &StudyId,
        number: i64,
        this: &Writer,
    ) -> Result<()> {
        let (writer, has_ended) = self.writer_of(transaction, study, number)?;
        if writer != *this {
            return Err(StoreError::StudyTakenOver { study: study.clone(), pid: writer.pid() });
        }
        if has_ended { Err(StoreError::StudyEnded { study: study.clone() }) } else { Ok(()) }
    }

    /// Returns the writer of a study, and whether the study has ended.
    pub(crate) fn writer_of(
        &self,
        transaction: &Connection,
        study: &StudyId,
        number: i64,
    ) -> Result<(Writer, bool)> {
        let query = "SELECT writer, ending.study IS NOT NULL AS has_ended FROM study \
                     LEFT JOIN study_ending AS ending ON ending.study = study.number WHERE number = ?1";
        self.one(transaction, query, [number], |row| {
            Ok((
                self.json(study, "writer", &self.get::<String>(row, "writer")?)?,
                self.get(row, "has_ended")?,
            ))
        })
    }
}
