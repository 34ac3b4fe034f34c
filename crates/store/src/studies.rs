//! Lists studies.

use evidence::{Procedure, StudyEnding, StudyId, StudyState, StudySummary};
use rusqlite::{OptionalExtension, Row};

use crate::Result;
use crate::error::StoreError;
use crate::load_study::IS_DONE;
use crate::store::Store;
use crate::writer::Writer;

impl Store {
    /// Lists all studies, newest first.
    pub fn studies(&self) -> Result<Vec<StudySummary>> {
        let explain = |error| self.explain(error);
        let mut select = self
            .connection
            .prepare(&format!(
                "SELECT id, started_at_unix_ms, title, question, writer, verdict, procedure, why, \
                 (SELECT count(*) FROM place WHERE place.study = study.number) AS planned, \
                 (SELECT count(*) FROM place WHERE place.study = study.number AND EXISTS (SELECT 1 FROM run \
                 JOIN ending ON ending.run = run.number WHERE run.place = place.number AND {IS_DONE})) AS done \
                 FROM study LEFT JOIN study_ending ON study_ending.study = study.number \
                 ORDER BY number DESC"
            ))
            .map_err(explain)?;
        let mut rows = select.query([]).map_err(explain)?;
        let mut summaries = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            summaries.push(self.study_summary(row)?);
        }
        Ok(summaries)
    }

    /// Returns the machine descriptions of up to `most` of the newest studies, newest first.
    pub fn newest_hosts(&self, most: u32) -> Result<Vec<serde_json::Value>> {
        let explain = |error| self.explain(error);
        let select = "SELECT host FROM study ORDER BY number DESC LIMIT ?1";
        let mut select = self.connection.prepare_cached(select).map_err(explain)?;
        let mut rows = select.query([most]).map_err(explain)?;
        let mut hosts = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let text: String = self.get(row, "host")?;
            // Damage is reported when the study itself is read.
            hosts.extend(serde_json::from_str::<serde_json::Value>(&text));
        }
        Ok(hosts)
    }

    fn study_summary(&self, row: &Row<'_>) -> Result<StudySummary> {
        let id: StudyId = self.get::<String>(row, "id")?.parse().map_err(|_| self.not_found("study"))?;
        let verdict = self.study_verdict(&id, row)?;
        let writer: Writer = self.json(&id, "writer", &self.get::<String>(row, "writer")?)?;
        let planned = self.unsigned(&id, "planned", self.get(row, "planned")?)?;
        let done = self.unsigned(&id, "done", self.get(row, "done")?)?;
        let is_permanent = StudyEnding::is_permanent(self.get::<Option<String>>(row, "why")?.as_deref());
        let has_all = self.procedure(&id, row)? == Procedure::Blocks && done == planned;
        Ok(StudySummary {
            started_at_unix_ms: self.get(row, "started_at_unix_ms")?,
            title: self.get(row, "title")?,
            question: self.get(row, "question")?,
            planned,
            done,
            state: StudyState::of(verdict.is_some(), is_permanent || has_all, || writer.is_alive()),
            verdict,
            id,
        })
    }

    /// Returns the row number of a study.
    pub(crate) fn study_number(&self, study: &StudyId) -> Result<i64> {
        self.connection
            .prepare_cached("SELECT number FROM study WHERE id = ?1")
            .and_then(|mut select| select.query_row([study.as_str()], |row| row.get(0)).optional())
            .map_err(|error| self.explain(error))?
            .ok_or_else(|| StoreError::UnknownStudy { path: self.path.clone(), text: study.to_string() })
    }
}
