//! Stores and loads the 100 ms windows of a load.

use evidence::RunId;
use record::{Malformed, Moment};
use rusqlite::{Connection, params};

use crate::Result;
use crate::checksum;
use crate::error::StoreError;
use crate::store::{Durability, Store, signed};

impl Store {
    /// Stores windows or parts of windows, in ascending order: all of them, or none.
    pub fn keep_moments(&self, run: &RunId, windows: &[Moment]) -> Result<()> {
        let Some(first) = windows.first() else { return Ok(()) };
        let packed = Moment::encode_all(windows);
        if Moment::decode_all(&packed).is_err() {
            return Err(StoreError::Unstorable {
                what: "a course of a load that is out of order or too large",
            });
        }
        let first = first.number;
        let checksum = checksum::of_moments(run, first, &packed);
        // Durable like the seconds of the load.
        let transaction = self.transaction(Durability::Normal)?;
        let number = self.number(run)?;
        let first = signed(first)?;
        transaction
            .prepare_cached("INSERT INTO moments (run, first, packed, checksum) VALUES (?, ?, ?, ?)")
            .and_then(|mut insert| insert.execute(params![number, first, packed, checksum]))
            .map_err(|error| self.explain(error))?;
        transaction.commit().map_err(|error| self.explain(error))
    }

    /// Loads encoded windows in order of insertion. Checks that each decodes.
    pub(crate) fn packed_moments(
        &self,
        snapshot: &Connection,
        id: &RunId,
        run: i64,
    ) -> Result<Vec<Box<[u8]>>> {
        let query = "SELECT first, packed, checksum FROM moments WHERE run = ?1 ORDER BY number";
        self.all(snapshot, query, [run], |row| {
            let (first, packed) = (self.count(id, row, "first")?, self.get::<Box<[u8]>>(row, "packed")?);
            if self.get::<u32>(row, "checksum")? != checksum::of_moments(id, first, &packed) {
                let what =
                    format!("its course from window {first} on is not as it was kept: its checksum differs");
                return Err(self.damaged(id, &what));
            }
            match Moment::decode_all(&packed) {
                Ok(_) => Ok(packed),
                Err(Malformed) => Err(self.damaged(id, "its course does not unpack")),
            }
        })
    }
}
