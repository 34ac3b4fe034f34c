//! Updates the statistics that a server uses to plan statements.
//!
//! If a server rejects the statement, its rows are still complete, so the load continues, and a note names the tables.

use std::sync::{Mutex, PoisonError};

use sql::Engine;

use crate::client::Client;
use crate::databases;
use crate::error::Error;

/// Tables with statistics that a server did not update.
#[derive(Debug)]
pub(crate) struct Statistics {
    engine: Engine,
    rejected: Mutex<Vec<Rejected>>,
}

/// A table, and the error of the server.
#[derive(Debug)]
struct Rejected {
    table: String,
    said: String,
}

impl Statistics {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, rejected: Mutex::default() }
    }

    /// Updates the statistics of a table.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    pub(crate) fn update(&self, client: &mut dyn Client, table: &str) -> Result<(), Error> {
        let sql = format!("{} {table}", self.analyze());
        match client.query(&sql, &format!("looking through {table}")) {
            Err(Error::Refused { said, .. }) => {
                let rejected = Rejected { table: table.to_owned(), said };
                self.rejected.lock().unwrap_or_else(PoisonError::into_inner).push(rejected);
                Ok(())
            }
            ended => ended.map(drop),
        }
    }

    /// Note with the tables and the first error. `None` if all statistics were updated.
    pub(crate) fn note(self) -> Option<String> {
        let analyze = self.analyze();
        let mut rejected = self.rejected.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Several connections update statistics: the order of the tables must not depend on which is first.
        rejected.sort_by(|one, other| one.table.cmp(&other.table));
        let said = &rejected.first()?.said;
        let tables: Vec<&str> = rejected.iter().map(|one| one.table.as_str()).collect();
        Some(format!(
            "all rows are there, but the server rejected {analyze} ({said}): it plans with statistics of its own making for {}",
            tables.join(", ")
        ))
    }

    fn analyze(&self) -> &'static str {
        databases::of(self.engine).analyze
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::client::{Answer, Batch};

    struct Server(Result<(), Error>);

    impl Client for Server {
        fn set_cancel_flag(&mut self, _: Arc<AtomicBool>) -> Result<(), Error> {
            Ok(())
        }

        fn query(&mut self, _: &str, _: &str) -> Result<Answer, Error> {
            self.0.clone().map(|()| Answer::default())
        }

        fn load(&mut self, _: &Batch<'_>, _: &mut dyn FnMut(u64) -> bool) -> Result<bool, Error> {
            Ok(true)
        }
    }

    #[test]
    fn rejected_statistics_are_a_note_and_a_broken_connection_is_an_error() {
        let statistics = Statistics::new(Engine::MySql);
        statistics.update(&mut Server(Ok(())), "c").unwrap();
        for table in ["b", "a"] {
            let said = "HY000: unsupported syntax".to_owned();
            let refused = Error::Refused { doing: "looking".to_owned(), said };
            statistics.update(&mut Server(Err(refused)), table).unwrap();
        }
        let broken = Error::Broken { doing: "looking".to_owned(), reason: "reset".to_owned() };
        assert_eq!(statistics.update(&mut Server(Err(broken.clone())), "d"), Err(broken));
        let note = statistics.note().unwrap();
        assert!(note.contains("rejected ANALYZE TABLE (HY000: unsupported syntax)"), "{note}");
        assert!(note.ends_with("for a, b"), "{note}");
        assert_eq!(Statistics::new(Engine::MySql).note(), None);
    }
}
