//! Opens the file: configuration, limits, and rejection of files that are not stores.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::Result;
use crate::error::{BUSY_MS, StoreError};
use crate::redaction::Redaction;
use crate::schema::{self, FileKind};
use crate::store::{self, Store};

/// Maximum length of a value. Valid values are far smaller, and a corrupt length must not make SQLite allocate more.
const VALUE_BYTES_MAX: i32 = 64 << 20;
/// Number of attempts to enable the write-ahead log, at intervals of 10 ms, while other processes open a new file.
const WAL_ATTEMPTS: u64 = BUSY_MS / 10;

impl Store {
    /// Opens the store. Creates the file and its folders if they do not exist, accessible for the owner only.
    pub fn open(path: &Path) -> Result<Self> {
        check_file_name(path)?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|source| StoreError::Folder { path: folder.to_path_buf(), source })?;
        }
        // Plans and output of systems may be confidential. SQLite gives its other files the mode of this one. An
        // existing file is not touched. If the file cannot be created, SQLite reports the reason.
        let _ = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens an existing store. A read-only file is opened for reading.
    pub fn open_existing(path: &Path) -> Result<Self> {
        check_file_name(path)?;
        match fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(StoreError::Missing { path: path.to_path_buf() })
            }
            _ => match Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
                Err(StoreError::NotWritable { .. }) => Self::open_to_read(path),
                opened => opened,
            },
        }
    }

    /// Opens a store in a read-only folder. Readers of a write-ahead log must write files next to it unless the
    /// database is immutable, so a remaining log cannot be read.
    fn open_to_read(path: &Path) -> Result<Self> {
        let mut log = OsString::from(path);
        log.push("-wal");
        if fs::metadata(log).is_ok_and(|log| log.len() > 0) {
            let why = "another program has not finished writing it";
            return Err(StoreError::CannotBeRead { path: path.to_path_buf(), why });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Self::open_as(&immutable_uri(path), path, flags)
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Self> {
        Self::open_as(path, path, flags)
    }

    /// Opens the store at `path` with the name that is passed to SQLite.
    fn open_as(name: &Path, path: &Path, flags: OpenFlags) -> Result<Self> {
        // A connection is used by one thread at a time, so SQLite needs no mutexes.
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let explain = |error| StoreError::of(path, error);
        let connection = Connection::open_with_flags(name, flags).map_err(explain)?;
        set_limits(&connection).map_err(explain)?;
        let path = path.to_path_buf();
        match schema::create_or_migrate(&connection).map_err(explain)? {
            FileKind::Ours => {
                if !connection.is_readonly("main").map_err(explain)? {
                    use_write_ahead_log(&connection).map_err(explain)?;
                }
                let file = store::file(&path);
                Ok(Self { connection, path, file, redaction: Redaction::default() })
            }
            FileKind::Older => {
                Err(StoreError::CannotBeRead { path, why: "its version must be brought up to date first" })
            }
            FileKind::Foreign => Err(StoreError::Foreign { path }),
            FileKind::Newer(found) => Err(StoreError::Newer { path, found, known: schema::VERSION }),
            FileKind::Altered => {
                Err(StoreError::Damaged { path, what: "its tables were changed".to_owned() })
            }
        }
    }
}

/// Rejects the special names with which SQLite opens something other than a file.
fn check_file_name(path: &Path) -> Result<()> {
    let is_file_name = !matches!(path.as_os_str().as_bytes(), b"" | b":memory:");
    if is_file_name { Ok(()) } else { Err(StoreError::NoFile { path: path.to_path_buf() }) }
}

/// Returns the URI that opens a file as immutable.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut name = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' => name.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => name.push(char::from(*byte)),
            byte => name += &format!("%{byte:02X}"),
        }
    }
    (name + "?immutable=1").into()
}

/// Sets the time-out for locks, and limits what a hostile file can make SQLite execute or allocate.
fn set_limits(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Otherwise, SQLite would prepare statements again for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Enables the write-ahead log, which lets readers and a writer proceed concurrently. SQLite does not wait for locks
/// here, so this function retries.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let mode = |query: &str| connection.query_row(query, [], |row| row.get::<_, String>(0));
    if mode("PRAGMA journal_mode")? == "wal" {
        return Ok(());
    }
    let mut attempt = 1;
    loop {
        match mode("PRAGMA journal_mode = wal") {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && attempt < WAL_ATTEMPTS =>
            {
                attempt += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            answer => return answer.map(drop),
        }
    }
}
