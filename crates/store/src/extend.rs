//! Extends a finished study by more blocks.

use evidence::{EXTENSIONS_MAX, Extension, Study, StudyId, StudyPlace};

use crate::Result;
use crate::begin::json;
use crate::error::StoreError;
use crate::store::{Durability, Store};
use crate::writer::Writer;

impl Store {
    /// Takes over a complete study, and plans the places that extend it to `blocks` blocks. All of them are on disk when this
    /// returns. `within_s` is a time limit as in [`Self::resume_study`].
    pub fn extend_study(
        &self,
        study: &Study,
        within_s: Option<f64>,
        blocks: u32,
        places: &[StudyPlace],
    ) -> Result<()> {
        let extensions = self.with_extension(study, blocks, places)?;
        let transaction = self.transaction(Durability::Full)?;
        let number = self.study_number(&study.id)?;
        let (writer, has_ended) = self.writer_of(&transaction, &study.id, number)?;
        if !has_ended {
            return Err(StoreError::StudyRunning { study: study.id.clone(), pid: writer.pid() });
        }
        let query = "SELECT count(*) AS planned FROM place WHERE study = ?1";
        let planned = self.one(&transaction, query, [number], |row| self.get::<u32>(row, "planned"))?;
        // Another process may have extended the study since it was read.
        if planned as usize != study.new.planned.len() {
            return Err(StoreError::StudyTakenOver { study: study.id.clone(), pid: writer.pid() });
        }
        let (writer, extensions) = (json(&Writer::this_process())?, json(&extensions)?);
        transaction
            .execute("DELETE FROM study_ending WHERE study = ?1", [number])
            .and_then(|_| {
                let update = "UPDATE study SET writer = ?2, within_s = coalesce(?3, within_s), extensions = ?4 \
                              WHERE number = ?1";
                transaction.execute(update, (number, writer, within_s, extensions))
            })
            .map_err(|error| self.explain(error))?;
        places.iter().try_for_each(|place| self.insert_place(&transaction, number, place))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Returns the extensions of a study plus a new one.
    fn with_extension(&self, study: &Study, blocks: u32, places: &[StudyPlace]) -> Result<Vec<Extension>> {
        let planned = study.new.planned.len();
        let first = study.new.planned.last().map_or(0, |place| place.position.saturating_add(1));
        let fault = if planned.saturating_add(places.len()) > crate::begin_study::PLACES_MAX {
            Some("a study of over 100,000 runs")
        } else if !(first..).zip(places).all(|(position, place)| place.position == position) {
            Some("more runs whose positions do not go on")
        } else if study.extensions.len() >= EXTENSIONS_MAX
            || study.extensions.last().is_some_and(|last| blocks <= last.blocks)
        {
            Some("an extension that adds nothing")
        } else {
            None
        };
        if let Some(what) = fault {
            return Err(StoreError::Unstorable { what });
        }
        let planned = u32::try_from(planned).unwrap_or(u32::MAX);
        Ok(study.extensions.iter().copied().chain([Extension { blocks, planned }]).collect())
    }

    /// Parses the stored extensions of a study, whose numbers of blocks must increase.
    pub(crate) fn extensions(&self, id: &StudyId, kept: Option<&str>) -> Result<Vec<Extension>> {
        let Some(kept) = kept else { return Ok(Vec::new()) };
        let extensions: Vec<Extension> = self.json(id, "extensions", kept)?;
        // A duel that was decided early may be extended to fewer blocks than its original maximum.
        let grows =
            |one: &Extension, next: &Extension| one.blocks < next.blocks && one.planned <= next.planned;
        if extensions.len() > EXTENSIONS_MAX || !extensions.is_sorted_by(grows) {
            return Err(self.damaged(id, "its extensions do not add to it"));
        }
        Ok(extensions)
    }
}
