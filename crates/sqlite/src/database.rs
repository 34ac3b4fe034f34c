//! SQLite database file, and configuration of connections to it.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// A database file, and how it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Path of the file.
    pub path: PathBuf,
    /// `journal_mode`, `synchronous`, `busy_timeout` (in milliseconds), and `cache_size` (in pages, or in KiB if negative), in any
    /// order.
    pub settings: Vec<(String, String)>,
    /// True to open it read-only.
    pub is_read_only: bool,
    /// True to create the file if it does not exist.
    pub creates_file: bool,
}

/// Default timeout for a locked database. SQLite's own default is no wait.
const BUSY_TIMEOUT_MS: u64 = 5_000;
/// Maximum number of attempts to change the journal mode, which only one connection can do at a time.
const JOURNAL_TRIES: u32 = 200;
/// Pause between attempts to change the journal mode.
const JOURNAL_PAUSE: Duration = Duration::from_millis(10);
/// Maximum number of prepared statements that a connection caches.
const STATEMENTS_KEPT: usize = 4_096;

const JOURNAL_MODES: [&str; 6] = ["delete", "truncate", "persist", "memory", "wal", "off"];
const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];

impl Database {
    /// An existing file, opened for writing, with default settings.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), settings: Vec::new(), is_read_only: false, creates_file: false }
    }

    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// A message if the file does not exist, is not a database, or does not support a setting.
    pub fn open(&self) -> Result<Connection, String> {
        let path = self.path.display();
        let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags |= match (self.is_read_only, self.creates_file) {
            (true, _) => OpenFlags::SQLITE_OPEN_READ_ONLY,
            (false, true) => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            (false, false) => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        if !self.creates_file && !self.path.exists() {
            return Err(format!("{path}: there is no such file: create its tables with tenbin prepare"));
        }
        let connection =
            Connection::open_with_flags(&self.path, flags).map_err(|error| format!("{path}: {error}"))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
        self.set(&connection).map_err(|error| format!("{path}: {error}"))?;
        // Opening reads nothing. The first read shows if the file is a database at all.
        let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        read.map_err(|error| format!("{path}: {error}"))?;
        Ok(connection)
    }

    /// Timeout for a locked database, in milliseconds.
    pub(crate) fn busy_timeout_ms(&self) -> Result<u64, String> {
        let Some(value) = self.value("busy_timeout") else { return Ok(BUSY_TIMEOUT_MS) };
        value.parse().map_err(|_| format!("busy_timeout: {value:?} is no number of ms"))
    }

    fn value(&self, name: &str) -> Option<String> {
        let found = self.settings.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_ascii_lowercase())
    }

    fn set(&self, connection: &Connection) -> Result<(), String> {
        let known = ["journal_mode", "synchronous", "busy_timeout", "cache_size"];
        if let Some((name, _)) = self.settings.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(format!("the setting {name:?} is not known: take one of {}", known.join(", ")));
        }
        let pragma = |name: &str, value: &str| {
            connection.pragma_update(None, name, value).map_err(|error| format!("{name}: {error}"))
        };
        let timeout = Duration::from_millis(self.busy_timeout_ms()?);
        connection.busy_timeout(timeout).map_err(|error| format!("busy_timeout: {error}"))?;
        if let Some(mode) = self.value("journal_mode") {
            one_of("journal_mode", &mode, &JOURNAL_MODES)?;
            set_journal_mode(connection, &mode)?;
        }
        if let Some(value) = self.value("synchronous") {
            one_of("synchronous", &value, &SYNCHRONOUS)?;
            pragma("synchronous", &value)?;
        }
        if let Some(value) = self.value("cache_size") {
            let pages: i64 =
                value.parse().map_err(|_| format!("cache_size: {value:?} is no whole number"))?;
            pragma("cache_size", &pages.to_string())?;
        }
        Ok(())
    }
}

fn one_of(name: &str, value: &str, words: &[&str]) -> Result<(), String> {
    if words.contains(&value) {
        return Ok(());
    }
    Err(format!("{name} cannot be {value:?}: take one of {}", words.join(", ")))
}

fn journal_mode(connection: &Connection, statement: &str) -> rusqlite::Result<String> {
    connection.query_row(statement, [], |row| row.get(0))
}

/// Sets the journal mode. A change to or from a write-ahead log briefly needs exclusive access to the file.
fn set_journal_mode(connection: &Connection, wanted: &str) -> Result<(), String> {
    let mut tries = 0;
    loop {
        tries += 1;
        let is_busy = |error: &rusqlite::Error| {
            let code = error.sqlite_error_code();
            matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
        };
        let now = journal_mode(connection, "PRAGMA journal_mode");
        if now.as_ref().is_ok_and(|mode| mode == wanted) {
            return Ok(());
        }
        let set = now.and_then(|_| journal_mode(connection, &format!("PRAGMA journal_mode = {wanted}")));
        match set {
            Ok(mode) if mode == wanted => return Ok(()),
            Err(error) if is_busy(&error) && tries < JOURNAL_TRIES => sleep(JOURNAL_PAUSE),
            Ok(mode) => return Err(format!("journal_mode is {mode} and cannot become {wanted}")),
            Err(error) => return Err(format!("journal_mode cannot become {wanted}: {error}")),
        }
    }
}
