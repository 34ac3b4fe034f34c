//! Plans more runs of a study in progress.

use evidence::{StudyId, StudyPlace};

use crate::Result;
use crate::begin_study::PLACES_MAX;
use crate::error::StoreError;
use crate::store::{Durability, Store};
use crate::writer::Writer;

impl Store {
    /// Adds places to a study that this process writes. Their positions must continue the existing ones without gaps. They are on
    /// disk when this returns.
    pub fn plan_more(&self, study: &StudyId, places: &[StudyPlace]) -> Result<()> {
        let transaction = self.transaction(Durability::Full)?;
        let number = self.study_number(study)?;
        self.check_owner(&transaction, study, number, &Writer::this_process())?;
        let next = "SELECT coalesce(max(position) + 1, 0) AS next FROM place WHERE study = ?1";
        let next = self.one(&transaction, next, [number], |row| self.get::<u32>(row, "next"))?;
        if (next as usize).saturating_add(places.len()) > PLACES_MAX {
            return Err(StoreError::Unstorable { what: "a study of over 100,000 runs" });
        }
        if !(next..).zip(places).all(|(next, place)| place.position == next) {
            return Err(StoreError::Unstorable { what: "more runs whose positions do not go on" });
        }
        places.iter().try_for_each(|place| self.insert_place(&transaction, number, place))?;
        transaction.commit().map_err(|error| self.explain(error))
    }
}
