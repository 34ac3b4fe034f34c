//! Lock in the plan's database that a session holds while a command runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use lab::events::Lock;
use loading::HeldSession;

use crate::load_data;

/// Interval at which cancellation is checked.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Time limit of the statement that releases the lock; its session is closed then.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);

/// Statements before and after the command, and the session between them.
pub(crate) struct HeldLock {
    database: plan::Database,
    statements: [String; 2],
    session: Option<(HeldSession, Arc<AtomicBool>)>,
}

/// Hides the statements and the log-in.
impl fmt::Debug for HeldLock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HeldLock {{ is_held: {} }}", self.session.is_some())
    }
}

impl HeldLock {
    pub(crate) fn boxed(database: &plan::Database, statements: &[String; 2]) -> Box<dyn Lock> {
        Box::new(Self { database: database.clone(), statements: statements.clone(), session: None })
    }
}

impl Lock for HeldLock {
    fn take(&mut self, is_canceled: &(dyn Fn() -> bool + Sync)) -> Result<(), String> {
        let place = load_data::place(&self.database).map_err(|error| one_line(&error.to_string()))?;
        let flag = Arc::new(AtomicBool::new(false));
        let (before, given_up) = (&self.statements[0], Arc::clone(&flag));
        let session = run_cancelable(&flag, is_canceled, move || {
            let mut session = HeldSession::open(&place, given_up).map_err(|error| error.to_string())?;
            session.run(before).map_err(|error| error.to_string())?;
            Ok(session)
        });
        let session = session.map_err(|why| format!("the lock was not taken: {}", one_line(&why)))?;
        self.session = Some((session, flag));
        Ok(())
    }

    fn release(&mut self) -> Result<(), String> {
        let Some((mut session, flag)) = self.session.take() else { return Ok(()) };
        flag.store(false, Ordering::Relaxed);
        let after = &self.statements[1];
        let asked = AtomicU32::new(0);
        let is_canceled =
            move || CANCEL_CHECK_INTERVAL * asked.fetch_add(1, Ordering::Relaxed) >= RELEASE_TIMEOUT;
        let released = run_cancelable(&flag, &is_canceled, move || {
            session.run(after).map_err(|error| error.to_string())
        });
        released.map_err(|why| {
            format!("the statement after the command failed, and the session was closed: {}", one_line(&why))
        })
    }
}

/// Runs `work`, which waits for a server, on its own thread. Sets `flag` when `is_canceled` returns true.
fn run_cancelable<T: Send>(
    flag: &AtomicBool,
    is_canceled: &(dyn Fn() -> bool + Sync),
    work: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    thread::scope(|scope| {
        let (teller, told) = mpsc::channel();
        let builder = thread::Builder::new().name("lock".to_owned());
        // The receiver lives until the thread has ended.
        let working = builder.spawn_scoped(scope, move || drop(teller.send(work())));
        working.map_err(|error| format!("no thread can be started for it: {error}"))?;
        loop {
            match told.recv_timeout(CANCEL_CHECK_INTERVAL) {
                Ok(done) => return done,
                Err(RecvTimeoutError::Timeout) if is_canceled() => flag.store(true, Ordering::Relaxed),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err("its thread ended".to_owned()),
            }
        }
    })
}

/// Shortens an error to one line, without its help, which is about loading data.
fn one_line(text: &str) -> String {
    plan::split_help(text).0.replace('\n', " ")
}
