//! Loads a study from the file.

use std::collections::BTreeMap;

use evidence::{
    Compare, NewStudy, Procedure, Run, RunId, Study, StudyEnding, StudyId, StudyPlace, StudyState, Verdict,
};
use rusqlite::{Connection, Row};

use crate::Result;
use crate::begin_study::PLACES_MAX;
use crate::store::Store;

/// SQL condition on a row of `ending` that is equivalent to [`crate::Ending::is_done`].
pub(crate) const IS_DONE: &str = "(ending.verdict IN ('complete', 'degraded', 'invalid') \
     OR EXISTS (SELECT 1 FROM failure WHERE failure.run = ending.run))";

/// Progress of a run, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    CutShort,
    Ended,
    Done,
}

impl Store {
    /// Loads a study with its runs, and checks that all of their data decodes and adds up.
    ///
    /// Keeps only the totals of each run, not its seconds, so that a study of many runs fits in memory.
    pub fn load_study(&self, id: &StudyId) -> Result<Study> {
        self.load_study_with(id, Vec::new())
    }

    /// Reloads a study. Runs that it already has are not read again, because ended runs do not change.
    pub fn reload_study(&self, study: &mut Study) -> Result<()> {
        *study = self.load_study_with(&study.id, std::mem::take(&mut study.runs))?;
        Ok(())
    }

    /// Loads a study. Runs in `known` were loaded before, and are reused if they still count.
    fn load_study_with(&self, id: &StudyId, known: Vec<Run>) -> Result<Study> {
        // A snapshot is consistent even while the study continues.
        let snapshot = self.snapshot()?;
        let number = self.study_number(id)?;
        let study = "SELECT * FROM study LEFT JOIN study_ending ON study = number WHERE number = ?1";
        let (mut new, ending, extensions) = self.one(&snapshot, study, [number], |row| {
            let extensions: Option<String> = self.get(row, "extensions")?;
            let new = self.new_study(id, row)?;
            let extensions = self.extensions(id, extensions.as_deref())?;
            Ok((new, self.study_ending(id, row)?, extensions))
        })?;
        let places = "SELECT * FROM place WHERE study = ?1 ORDER BY position";
        new.planned = self.all(&snapshot, places, [number], |row| self.place(id, row))?;
        if new.planned.len() > PLACES_MAX {
            return Err(self.damaged(id, "it has too many places"));
        }
        let (writer, has_ended) = self.writer_of(&snapshot, id, number)?;
        let is_whole = self.is_whole(&snapshot, id, number)?;
        let state = StudyState::of(has_ended, is_whole, || writer.is_alive());
        let (counting, superseded) = self.select_runs(&snapshot, number)?;
        let mut known: BTreeMap<RunId, Run> = known.into_iter().map(|run| (run.id.clone(), run)).collect();
        let read = |id: &RunId| match known.remove(id) {
            Some(run) => Ok(run),
            None => Ok(self.load_from(&snapshot, id)?.summed_up()?),
        };
        let runs = counting.iter().map(read).collect::<Result<_>>()?;
        let baseline = self.baseline_of(&snapshot, id)?;
        Ok(Study { id: id.clone(), new, ending, state, runs, extensions, superseded, baseline })
    }

    /// Returns planned places without a completed run, in order of their positions. A resumed study makes these runs.
    pub fn missing(&self, id: &StudyId) -> Result<Vec<StudyPlace>> {
        let snapshot = self.snapshot()?;
        self.missing_places(&snapshot, id, self.study_number(id)?)
    }

    pub(crate) fn missing_places(
        &self,
        snapshot: &Connection,
        id: &StudyId,
        study: i64,
    ) -> Result<Vec<StudyPlace>> {
        let query = format!(
            "SELECT * FROM place WHERE study = ?1 AND NOT EXISTS (SELECT 1 FROM run \
             JOIN ending ON ending.run = run.number WHERE run.place = place.number AND {IS_DONE}) ORDER BY position"
        );
        self.all(snapshot, &query, [study], |row| self.place(id, row))
    }

    /// Returns whether a study would be complete once ended. Only the procedure knows what it would still plan, so the
    /// reason in the ending decides.
    pub(crate) fn is_whole(&self, snapshot: &Connection, id: &StudyId, study: i64) -> Result<bool> {
        let query =
            "SELECT procedure, why FROM study LEFT JOIN study_ending ON study = number WHERE number = ?1";
        let (is_planned_at_once, is_permanent) = self.one(snapshot, query, [study], |row| {
            Ok((
                self.procedure(id, row)? == Procedure::Blocks,
                StudyEnding::is_permanent(self.get::<Option<String>>(row, "why")?.as_deref()),
            ))
        })?;
        Ok(is_permanent || is_planned_at_once && self.missing_places(snapshot, id, study)?.is_empty())
    }

    /// Returns the run that counts for each place, in order of places, and all other runs, in order of their start.
    fn select_runs(&self, snapshot: &Connection, study: i64) -> Result<(Vec<RunId>, Vec<RunId>)> {
        let query = format!(
            "SELECT run.id, position, ending.run IS NOT NULL AS has_ended, coalesce({IS_DONE}, 0) AS is_done FROM place \
             JOIN run ON run.place = place.number LEFT JOIN ending ON ending.run = run.number \
             WHERE place.study = ?1 ORDER BY run.number"
        );
        let runs = self.all(snapshot, &query, [study], |row| {
            let progress = match (self.get(row, "is_done")?, self.get(row, "has_ended")?) {
                (true, _) => Progress::Done,
                (false, true) => Progress::Ended,
                (false, false) => Progress::CutShort,
            };
            Ok((self.id(row)?, self.get::<u32>(row, "position")?, progress))
        })?;
        let mut best: BTreeMap<u32, (Progress, usize)> = BTreeMap::new();
        for (order, (_, position, progress)) in runs.iter().enumerate() {
            let this = (*progress, order);
            best.entry(*position).and_modify(|best| *best = this.max(*best)).or_insert(this);
        }
        best.retain(|_, (progress, _)| *progress > Progress::CutShort);
        let counting = best.values().map(|(_, order)| runs[*order].0.clone()).collect();
        let counts =
            |order: &usize, position: &u32| best.get(position).is_some_and(|(_, best)| best == order);
        let others = runs.iter().enumerate().filter(|(order, (_, position, _))| !counts(order, position));
        Ok((counting, others.map(|(_, (id, ..))| id.clone()).collect()))
    }

    /// Loads the description of a study without its places.
    fn new_study(&self, id: &StudyId, row: &Row<'_>) -> Result<NewStudy> {
        let text = |column: &str| self.get::<String>(row, column);
        let compare = Compare {
            by: text("compare_by")?,
            higher_is_better: self.get(row, "higher_is_better")?,
            matters: self.get(row, "matters")?,
            blocks: self.get(row, "blocks")?,
            procedure: self.procedure(id, row)?,
            also: self.json(id, "further metrics", &text("also")?)?,
            baseline: self.get(row, "baseline")?,
            within_s: self.get(row, "within_s")?,
        };
        if !compare.is_finite() {
            return Err(self.damaged(id, "a figure of its comparison is not a number"));
        }
        let loads: Option<String> = self.get(row, "loads")?;
        let loads = loads.map(|loads| self.json(id, "loads", &loads)).transpose()?;
        Ok(NewStudy {
            started_at_unix_ms: self.get(row, "started_at_unix_ms")?,
            title: text("title")?,
            question: self.get(row, "question")?,
            source: text("source")?,
            plan_hash: text("plan_hash")?,
            tenbin_version: text("tenbin_version")?,
            host: self.json(id, "host", &text("host")?)?,
            seed: self.get::<i64>(row, "seed")?.cast_unsigned(),
            is_quick: self.get(row, "is_quick")?,
            compare,
            gates: self.json(id, "gates", &text("gates")?)?,
            loads: loads.unwrap_or_default(),
            planned: Vec::new(),
            stamps: self.json(id, "stamps", &text("stamps")?)?,
        })
    }

    fn study_ending(&self, id: &StudyId, row: &Row<'_>) -> Result<Option<StudyEnding>> {
        let Some(verdict) = self.study_verdict(id, row)? else { return Ok(None) };
        let (ended_at_unix_ms, why) = (self.get(row, "ended_at_unix_ms")?, self.get(row, "why")?);
        Ok(Some(StudyEnding { ended_at_unix_ms, verdict, why }))
    }

    /// Reads the procedure from a row with the column `procedure`.
    pub(crate) fn procedure(&self, id: &StudyId, row: &Row<'_>) -> Result<Procedure> {
        self.json(id, "procedure", &self.get::<String>(row, "procedure")?)
    }

    /// Reads the verdict from a row with the column `verdict`, which is NULL without an ending.
    pub(crate) fn study_verdict(&self, id: &StudyId, row: &Row<'_>) -> Result<Option<Verdict>> {
        let verdict: Option<String> = self.get(row, "verdict")?;
        let known = |verdict: String| {
            Verdict::from_name(&verdict).ok_or_else(|| self.damaged(id, "its verdict is unknown"))
        };
        verdict.map(known).transpose()
    }

    /// Reads a place from a row of table `place`.
    pub(crate) fn place(&self, study: &StudyId, row: &Row<'_>) -> Result<StudyPlace> {
        let intervention: Option<String> = self.get(row, "intervention")?;
        let place = StudyPlace {
            block: self.get(row, "block")?,
            position: self.get(row, "position")?,
            system: self.get(row, "system")?,
            variant: self.get(row, "variant")?,
            knobs: self.json(study, "knobs", &self.get::<String>(row, "knobs")?)?,
            load: self.get(row, "load")?,
            stage: self.get(row, "stage")?,
            users: self.get(row, "users")?,
            rate_per_s: self.get(row, "rate_per_s")?,
            intervention: intervention
                .map(|text| self.json(study, "what an experiment changes", &text))
                .transpose()?,
        };
        match place.fault() {
            Some(what) => Err(self.damaged(study, &format!("it plans {what}"))),
            None => Ok(place),
        }
    }
}
