//! Loads readings, output, and gates of a run.

use evidence::{
    Bounds, Decision, GateResult, Monitored, Output, ReadingKey, Readings, RunId, StudyId, StudyPlace,
};
use rusqlite::{Connection, Row};

use crate::Result;
use crate::checksum;
use crate::monitored::{GATES_MAX, OUTPUT_BYTES_MAX, OUTPUTS_MAX};
use crate::store::Store;

impl Store {
    pub(crate) fn monitored(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Monitored> {
        Ok(Monitored {
            readings: self.readings(snapshot, id, run)?,
            outputs: self.outputs(snapshot, id, run)?,
            gates: self.gates(snapshot, id, run)?,
            events: self.events(snapshot, id, run)?,
            moments: self.packed_moments(snapshot, id, run)?,
            course: Vec::new(),
            event_costs: self.event_costs(snapshot, id, run)?,
            cpu_profile: self.cpu_profile(snapshot, id, run)?,
        })
    }

    fn readings(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Readings> {
        let query = "SELECT * FROM reading_kind WHERE run = ?1 ORDER BY number";
        let kinds = self.all(snapshot, query, [run], |row| {
            let text = |column| self.get::<String>(row, column);
            let kind =
                ReadingKey { subject: text("subject")?, metric: text("metric")?, label: text("label")? };
            Ok((self.count(id, row, "number")?, kind))
        })?;
        let is_in_order = (0..).zip(&kinds).all(|(place, (number, _))| place == *number);
        if !is_in_order || kinds.len() > Readings::KINDS_MAX {
            return Err(self.damaged(id, "its kinds of readings are not counted from 0"));
        }
        let query = "SELECT second, packed, checksum FROM readings WHERE run = ?1 ORDER BY second, number";
        let seconds = self.all(snapshot, query, [run], |row| {
            let (second, packed) = (self.count(id, row, "second")?, self.get::<Box<[u8]>>(row, "packed")?);
            let kept: Option<u32> = self.get(row, "checksum")?;
            if kept.is_some_and(|kept| kept != checksum::of_readings(id, second, &packed)) {
                let what = format!(
                    "what was read in its second {second} is not as it was kept: its checksum differs"
                );
                return Err(self.damaged(id, &what));
            }
            Ok((second, packed))
        })?;
        let kinds = kinds.into_iter().map(|(_, kind)| kind).collect();
        Readings::checked(kinds, seconds).map_err(|_| self.damaged(id, "its readings do not unpack"))
    }

    fn outputs(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Vec<Output>> {
        let query = "SELECT process, text, dropped_bytes FROM output WHERE run = ?1 ORDER BY number LIMIT ?2";
        let outputs = self.all(snapshot, query, (run, OUTPUTS_MAX as i64 + 1), |row| {
            let text: Vec<u8> = self.get(row, "text")?;
            if text.len() > OUTPUT_BYTES_MAX {
                return Err(self.damaged(id, "an output is too long"));
            }
            Ok(Output {
                process: self.get(row, "process")?,
                text,
                dropped_bytes: self.count(id, row, "dropped_bytes")?,
            })
        })?;
        if outputs.len() > OUTPUTS_MAX {
            return Err(self.damaged(id, "it has too many outputs"));
        }
        Ok(outputs)
    }

    fn gates(&self, snapshot: &Connection, id: &RunId, run: i64) -> Result<Vec<GateResult>> {
        let query = "SELECT * FROM gate WHERE run = ?1 ORDER BY position LIMIT ?2";
        let gates = self.all(snapshot, query, (run, GATES_MAX as i64 + 1), |row| self.gate(id, row))?;
        if gates.len() > GATES_MAX {
            return Err(self.damaged(id, "it has too many gates"));
        }
        Ok(gates)
    }

    fn gate(&self, id: &RunId, row: &Row<'_>) -> Result<GateResult> {
        let observed: Option<f64> = self.get(row, "observed")?;
        let gate = GateResult {
            text: self.get(row, "text")?,
            step: self.get(row, "step")?,
            observed,
            bounds: self.bounds(id, row)?,
            limit: self.get(row, "bound")?,
            unit: self.get(row, "unit")?,
            decision: self.decision(id, row, observed.is_some())?,
            samples_needed: self.get::<Option<i64>>(row, "samples_needed")?.map(i64::unsigned_abs),
        };
        if !gate.limit.is_finite() || !gate.observed.is_none_or(f64::is_finite) {
            return Err(self.damaged(id, "a gate has a figure that is not a number"));
        }
        Ok(gate)
    }

    fn bounds(&self, id: &RunId, row: &Row<'_>) -> Result<Option<Bounds>> {
        let Some(low) = self.get::<Option<f64>>(row, "low")? else { return Ok(None) };
        let high = self.get::<Option<f64>>(row, "high")?.unwrap_or(f64::INFINITY);
        let bounds = Bounds::new(low, high);
        bounds.map(Some).ok_or_else(|| self.damaged(id, "a gate has bounds that contain no figure"))
    }

    /// Reads the decision of a gate. Earlier versions stored only whether it holds, and no figure if it could not be
    /// judged.
    fn decision(&self, id: &RunId, row: &Row<'_>, is_observed: bool) -> Result<Decision> {
        let holds: bool = self.get(row, "holds")?;
        Ok(match self.get::<Option<String>>(row, "decision")? {
            Some(name) => Decision::from_name(&name)
                .ok_or_else(|| self.damaged(id, "a gate has an unknown decision"))?,
            None if holds => Decision::Holds,
            None if is_observed => Decision::Fails,
            None => Decision::Undecided,
        })
    }

    /// Reads study and place of a run from its row with the column `place`.
    pub(crate) fn place_of(
        &self,
        snapshot: &Connection,
        id: &RunId,
        row: &Row<'_>,
    ) -> Result<Option<(StudyId, StudyPlace)>> {
        let Some(place) = self.get::<Option<i64>>(row, "place")? else { return Ok(None) };
        let query =
            "SELECT id, place.* FROM place JOIN study ON study.number = place.study WHERE place.number = ?1";
        let places = self.all(snapshot, query, [place], |row| {
            let study: StudyId =
                self.get::<String>(row, "id")?.parse().map_err(|_| self.not_found("study"))?;
            let place = self.place(&study, row)?;
            Ok((study, place))
        })?;
        let place = places.into_iter().next();
        place.map(Some).ok_or_else(|| self.damaged(id, "its place is in no study"))
    }
}
