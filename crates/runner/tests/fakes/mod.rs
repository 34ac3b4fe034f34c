//! A world without processes, sockets, and waiting: generator, lab, and clock that a test advances, and that fail on request.

mod generator;
mod lab;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use plan::Study;
use progress::{RunEvent, Stream};
use runner::{Clock, Stopper, Tools, Watchdog};
use store::Store;

/// State of the world, and what shall fail. All fakes share it.
#[derive(Clone, Debug)]
pub(crate) struct World(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    stopper: Stopper,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Time since the world began.
    now: Duration,
    /// Names of all calls, in order.
    moments: Vec<String>,
    /// Name of the call that fails.
    trouble: Option<&'static str>,
    /// Indexes of the calls during which a stop is requested.
    asked_at: Vec<usize>,
    /// Time of the first stop request.
    was_asked: Option<Duration>,
    /// Whether the system rejects every request.
    rejects: bool,
    pace: Pace,
    systems_running: i32,
    loads_running: i32,
}

/// Pace of the generator, and its use of the CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Requests per second of a load with one thread, with more threads, and against the target that answers at once.
    pub(crate) per_s: u64,
    pub(crate) per_s_with_more_threads: u64,
    pub(crate) target_per_s: u64,
    /// Share of a core, in percent.
    pub(crate) cpu_percent: u64,
    /// Number of cores of the machine.
    pub(crate) cores: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { per_s: 100, per_s_with_more_threads: 100, target_per_s: 100, cpu_percent: 1, cores: 1 }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let (began, stopper) = (Instant::now(), Stopper::default());
        Self(Arc::new(Shared { began, stopper, state: Mutex::default() }))
    }

    /// World in which this call fails.
    pub(crate) fn failing_at(moment: &'static str) -> Self {
        let world = Self::new();
        world.state().trouble = Some(moment);
        world
    }

    /// World in which a stop is requested during these calls.
    pub(crate) fn stopped_at(moments: &[usize]) -> Self {
        let world = Self::new();
        world.state().asked_at = moments.to_vec();
        world
    }

    /// World whose systems reject every request.
    pub(crate) fn rejecting() -> Self {
        let world = Self::new();
        world.state().rejects = true;
        world
    }

    /// Sets another pace.
    pub(crate) fn at_pace(self, pace: Pace) -> Self {
        self.state().pace = pace;
        self
    }

    pub(crate) fn tools(&self) -> Tools<'_> {
        Tools { stopper: &self.0.stopper, generator: self, lab: self, clock: self }
    }

    /// Names of all calls so far.
    pub(crate) fn moments(&self) -> Vec<String> {
        self.state().moments.clone()
    }

    pub(crate) fn has_seen(&self, moment: &str) -> bool {
        self.state().moments.iter().any(|seen| seen == moment)
    }

    /// Time since the world began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Time since the first stop request. `None` if there was none.
    pub(crate) fn since_stop_request(&self) -> Option<Duration> {
        let state = self.state();
        Some(state.now - state.was_asked?)
    }

    /// Asserts that no system and no load is left running.
    pub(crate) fn assert_nothing_is_left(&self) {
        let state = self.state();
        assert_eq!((state.systems_running, state.loads_running), (0, 0), "{:?}", state.moments);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no test breaks off with it")
    }

    /// Records a call. Returns whether it fails.
    fn moment(&self, name: &str) -> bool {
        let mut state = self.state();
        let number = state.moments.len();
        state.moments.push(name.to_owned());
        let asked = state.asked_at.iter().filter(|at| **at == number).count();
        for _ in 0..asked {
            self.0.stopper.ask();
            let now = state.now;
            state.was_asked.get_or_insert(now);
        }
        state.trouble == Some(name)
    }

    fn pass(&self, time: Duration) {
        self.state().now += time;
    }
}

impl Clock for World {
    fn now(&self) -> Instant {
        self.0.began + self.state().now
    }

    fn sleep(&self, time: Duration) {
        self.moment("sleep");
        self.pass(time);
    }

    fn watchdog(&self, _limit: Option<Duration>) -> std::io::Result<Watchdog> {
        match self.moment("watchdog") {
            true => Err(std::io::Error::other("no thread")),
            false => Ok(Watchdog::unarmed()),
        }
    }
}

/// A stream, with a record of its events.
#[derive(Debug, Default)]
pub(crate) struct RecordedStream {
    pub(crate) stream: Stream,
    events: Arc<Mutex<Vec<RunEvent>>>,
}

impl RecordedStream {
    /// Starts recording.
    pub(crate) fn nothing() -> Self {
        let heard = Self::default();
        let events = Arc::clone(&heard.events);
        heard.stream.listen(move |frame| events.lock().expect("no panic").push(frame.event.clone()));
        heard
    }

    /// Events so far, in order.
    pub(crate) fn events(&self) -> Vec<RunEvent> {
        self.events.lock().expect("no panic").clone()
    }

    /// Number of events of a kind.
    pub(crate) fn count(&self, is_of_kind: impl Fn(&RunEvent) -> bool) -> usize {
        self.events().iter().filter(|event| is_of_kind(event)).count()
    }
}

/// A new store, and its folder.
pub(crate) fn store() -> (Store, tempfile::TempDir) {
    // Memory is faster than a disk, if there is such a folder.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    (Store::open(&folder.path().join("runs.sqlite")).expect("a store"), folder)
}

/// Renames a table of a store, to break and to repair it.
pub(crate) fn rename_table(store: &Store, from: &str, to: &str) {
    let connection = rusqlite::Connection::open(store.path()).expect("the same file");
    let rename = format!("PRAGMA legacy_alter_table = ON; ALTER TABLE {from} RENAME TO {to}");
    connection.execute_batch(&rename).expect("the table is there");
}

/// Parses a plan.
pub(crate) fn study(text: &str) -> Study {
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

/// Path of a program instead of Tenbin's, for plans that need one.
pub(crate) fn program() -> &'static Path {
    Path::new("/bin/true")
}
