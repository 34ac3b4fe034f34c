//! Activity of the connections of this process, for a monitor: what each does now, and how often one waited for the lock of its file.

use std::cell::RefCell;
use std::fs;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::sleep;
use std::time::Duration;

/// Pauses between tries to get a lock, in milliseconds, as in SQLite itself. The last one is repeated.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

static CONNECTIONS: Mutex<Vec<Weak<Connection>>> = Mutex::new(Vec::new());
static WAITS: AtomicU64 = AtomicU64::new(0);
static TRIES: AtomicU64 = AtomicU64::new(0);
static REJECTED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Connection whose call this thread makes. SQLite asks whether to go on waiting without saying for which connection.
    static CURRENT: RefCell<Option<Arc<Connection>>> = const { RefCell::new(None) };
}

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In no call.
    Idle,
    /// In a call of SQLite.
    Executing,
    /// In a call that waits for the lock of the file.
    WaitsForLock,
}

/// A connection as a monitor sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSnapshot {
    /// State at the time of the look.
    pub state: State,
    /// Thread that makes the calls. `None` before the first one, or if its ID cannot be read.
    pub thread: Option<u32>,
}

/// Counters of all connections since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCounters {
    /// Number of times that a call had to wait for the lock.
    pub waits: u64,
    /// Number of tries in these waits.
    pub tries: u64,
    /// Number of statements that ended with `SQLITE_BUSY`, with or without a wait.
    pub rejected: u64,
}

/// Shared state of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    state: AtomicU8,
    thread: AtomicU32,
    busy_timeout_ms: u64,
}

impl Connection {
    /// Adds a connection with this timeout for a locked file.
    pub(crate) fn new(busy_timeout_ms: u64) -> Arc<Self> {
        let (state, thread) = (AtomicU8::new(State::Idle as u8), AtomicU32::new(0));
        let connection = Arc::new(Self { state, thread, busy_timeout_ms });
        let mut all = all();
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&connection));
        connection
    }

    /// Makes a call, which this thread is in until `call` returns.
    pub(crate) fn run_call<T>(self: &Arc<Self>, call: impl FnOnce() -> T) -> T {
        CURRENT.with_borrow_mut(|current| {
            if !current.as_ref().is_some_and(|known| Arc::ptr_eq(known, self)) {
                self.thread.store(thread_id(), Ordering::Relaxed);
                *current = Some(Arc::clone(self));
            }
        });
        self.set(State::Executing);
        let result = call();
        self.set(State::Idle);
        result
    }

    fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::Relaxed);
    }

    fn seen(&self) -> ConnectionSnapshot {
        let state = match self.state.load(Ordering::Relaxed) {
            state if state == State::Executing as u8 => State::Executing,
            state if state == State::WaitsForLock as u8 => State::WaitsForLock,
            _ => State::Idle,
        };
        let thread = self.thread.load(Ordering::Relaxed);
        ConnectionSnapshot { state, thread: (thread != 0).then_some(thread) }
    }
}

/// Open connections of this process.
pub fn connections() -> Vec<ConnectionSnapshot> {
    all().iter().filter_map(Weak::upgrade).map(|connection| connection.seen()).collect()
}

/// Counters of this process.
pub fn lock_counters() -> LockCounters {
    let [waits, tries, rejected] = [&WAITS, &TRIES, &REJECTED].map(|count| count.load(Ordering::Relaxed));
    LockCounters { waits, tries, rejected }
}

/// Counts a statement that ended with `SQLITE_BUSY`.
pub(crate) fn note_rejection() {
    REJECTED.fetch_add(1, Ordering::Relaxed);
}

/// Pauses before the next try to get a lock, as SQLite's own handler does. Returns false when the timeout is over.
pub(crate) fn wait_for_lock(tries: i32) -> bool {
    let current = CURRENT.with_borrow(|current| current.clone());
    let Some(connection) = current else { return false };
    if tries == 0 {
        WAITS.fetch_add(1, Ordering::Relaxed);
    }
    TRIES.fetch_add(1, Ordering::Relaxed);
    let Some(pause_ms) = pause_ms(tries.max(0) as usize, connection.busy_timeout_ms) else { return false };
    connection.set(State::WaitsForLock);
    sleep(Duration::from_millis(pause_ms));
    connection.set(State::Executing);
    true
}

/// Pause after a number of tries. `None` when the timeout is over.
fn pause_ms(tries: usize, timeout_ms: u64) -> Option<u64> {
    let last = PAUSES_MS[PAUSES_MS.len() - 1];
    let pause = PAUSES_MS.get(tries).copied().unwrap_or(last);
    let beyond = tries.saturating_sub(PAUSES_MS.len()) as u64;
    let before = PAUSES_MS.iter().take(tries).sum::<u64>() + beyond.saturating_mul(last);
    Some(pause.min(timeout_ms.saturating_sub(before))).filter(|pause| *pause > 0)
}

/// ID of this thread; 0 if it cannot be read.
fn thread_id() -> u32 {
    let link = fs::read_link("/proc/thread-self").ok();
    let id = link.as_ref().and_then(|link| link.file_name()?.to_str()?.parse().ok());
    id.unwrap_or(0)
}

fn all() -> MutexGuard<'static, Vec<Weak<Connection>>> {
    CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_timeout() {
        let pauses: Vec<u64> = (0..).map_while(|tries| pause_ms(tries, 700)).collect();
        assert_eq!(pauses, [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100, 100, 100, 100, 72]);
        assert_eq!(pauses.iter().sum::<u64>(), 700);
        assert_eq!(pause_ms(0, 0), None);
    }

    #[test]
    fn call_is_seen_while_it_is_made() {
        let connection = Connection::new(1_000);
        let thread = Some(thread_id());
        let seen = connection.run_call(|| connection.seen());
        assert_eq!(seen, ConnectionSnapshot { state: State::Executing, thread });
        assert_eq!(connection.seen().state, State::Idle);
        assert!(connections().contains(&ConnectionSnapshot { state: State::Idle, thread }));
    }
}
