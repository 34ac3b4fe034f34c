//! SQLite database behind `/insert`, with a pool of connections.

use rusqlite::{Connection, ErrorCode, params};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Result of an insert.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Created,
    Duplicate,
    Failed(String),
}

/// Callback with the result of an insert, and with its wait for a connection.
pub(crate) type Answer = Box<dyn FnOnce(Outcome, Duration) + Send>;

/// Database with one thread per pooled connection. Inserts wait for a free connection in FIFO order.
pub(crate) struct Database {
    pool: Arc<Pool>,
    threads: Vec<JoinHandle<()>>,
    /// Separate connection for counting rows, so that counting does not disturb the pool under measurement.
    observer: Mutex<Connection>,
}

#[derive(Default)]
struct Pool {
    queue: Mutex<Queue>,
    work: Condvar,
    /// SQLite allows one writer. This lock avoids its sleeping retries.
    writer: Mutex<()>,
    created: AtomicU64,
}

#[derive(Default)]
struct Queue {
    waiting: std::collections::VecDeque<Insert>,
    closed: bool,
}

struct Insert {
    email: String,
    asked: Instant,
    answer: Answer,
}

/// Reason why the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Database {
    /// Opens `path`, or a temporary file if it is `None`, with this many connections.
    pub(crate) fn open(path: Option<&Path>, connections: usize) -> Result<Self, OpenError> {
        match path {
            Some(path) => Self::in_file(path, connections, false),
            None => Self::temporary(&std::env::temp_dir(), connections),
        }
    }

    /// Opens a file in a temporary folder, and unlinks it.
    fn temporary(folder: &Path, connections: usize) -> Result<Self, OpenError> {
        let folder = tempfile::Builder::new().prefix("tenbin-target-").tempdir_in(folder)?;
        // All connections have the files open when the folder is removed, so the files last exactly as long as this process.
        Self::in_file(&folder.path().join("target.sqlite"), connections, true)
    }

    fn in_file(file: &Path, connections: usize, is_temporary: bool) -> Result<Self, OpenError> {
        let observer = connect(file, is_temporary)?;
        observer.execute_batch(
            "CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE)",
        )?;
        let mut database = Self { pool: Arc::default(), threads: Vec::new(), observer: Mutex::new(observer) };
        for _ in 0..connections {
            let connection = connect(file, is_temporary)?;
            let pool = Arc::clone(&database.pool);
            let serve = move || pool.serve(&connection);
            database.threads.push(std::thread::Builder::new().name("target-pool".into()).spawn(serve)?);
        }
        Ok(database)
    }

    /// Inserts `email` once a connection is free. `answer` runs on the thread of that connection.
    pub(crate) fn insert(&self, email: String, answer: Answer) {
        self.pool.lock().waiting.push_back(Insert { email, asked: Instant::now(), answer });
        self.pool.work.notify_one();
    }

    /// Returns the number of rows created since the start.
    pub(crate) fn created(&self) -> u64 {
        self.pool.created.load(Ordering::Acquire)
    }

    /// Returns the number of rows in the table.
    pub(crate) fn rows(&self) -> rusqlite::Result<u64> {
        let observer = self.observer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        observer
            .query_row("SELECT count(*) FROM accounts", [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.pool.lock().closed = true;
        self.pool.work.notify_all();
        for thread in self.threads.drain(..) {
            // Ignores a panic, which was already reported.
            let _ = thread.join();
        }
    }
}

impl Pool {
    fn serve(&self, connection: &Connection) {
        while let Some(Insert { email, asked, answer }) = self.next() {
            let waited = asked.elapsed();
            let outcome = self.insert(connection, &email);
            if outcome == Outcome::Created {
                self.created.fetch_add(1, Ordering::Release);
            }
            answer(outcome, waited);
        }
    }

    fn next(&self) -> Option<Insert> {
        let mut queue = self.lock();
        while !queue.closed {
            if let Some(insert) = queue.waiting.pop_front() {
                return Some(insert);
            }
            queue = self.work.wait(queue).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        None
    }

    fn insert(&self, connection: &Connection, email: &str) -> Outcome {
        let _turn = self.writer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let result = connection
            .prepare_cached("INSERT INTO accounts (email) VALUES (?1)")
            .and_then(|mut statement| statement.execute(params![email]));
        match result {
            Ok(_) => Outcome::Created,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Outcome::Duplicate
            }
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn connect(file: &Path, is_temporary: bool) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    // Bounds the wait for a writer in another process, and so the time to stop the target.
    connection.busy_timeout(Duration::from_millis(500))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A temporary file need not survive a power failure.
    connection.pragma_update(None, "synchronous", if is_temporary { "OFF" } else { "NORMAL" })?;
    // Opens the write-ahead log now, because SQLite opens it lazily.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn row_is_created_once_and_counted() {
        let database = Database::open(None, 2).expect("a temporary database");
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..3 {
            let sender = sender.clone();
            database.insert(
                "a@b.c".into(),
                Box::new(move |outcome, _| sender.send(outcome).expect("a listener")),
            );
        }
        let outcomes: Vec<_> = outcomes.iter().take(3).collect();
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Created).count(), 1);
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Duplicate).count(), 2);
        assert_eq!((database.created(), database.rows().expect("a count")), (1, 1));
    }

    #[test]
    fn temporary_file_is_unlinked_and_usable() {
        let folder = tempfile::tempdir().expect("a folder");
        let databases: Vec<Database> =
            (0..3).map(|_| Database::temporary(folder.path(), 3).expect("a temporary database")).collect();
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "it keeps its name");
        let (sender, outcomes) = mpsc::channel();
        for number in 0..3_000 {
            let sender = sender.clone();
            let answer = Box::new(move |outcome, _| sender.send(outcome).expect("a listener"));
            databases[number % 3].insert(format!("{number}@b.c"), answer);
        }
        assert!(outcomes.iter().take(3_000).all(|outcome| outcome == Outcome::Created));
        assert!(databases.iter().all(|database| database.rows().expect("a count") == 1_000));
    }
}
