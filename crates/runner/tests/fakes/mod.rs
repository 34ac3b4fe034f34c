//! A world without processes, sockets and waiting: a generator, a lab and a clock that a test moves on, and that fail on request.

mod generator;
mod lab;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use plan::Study;
use progress::{RunEvent, Stream};
use runner::{Clock, Stopper, Tools, Watchdog};
use store::Store;

/// What is so in the world just now, and what shall go wrong. Every part of it shares this.
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
    /// Since the world began.
    now: Duration,
    /// Everything that was asked for, in order.
    moments: Vec<String>,
    /// The moment that fails.
    trouble: Option<&'static str>,
    /// Moments at which somebody asks to stop, by their numbers.
    asked_at: Vec<usize>,
    /// When somebody first did.
    was_asked: Option<Duration>,
    /// Answers to requests are rejections.
    rejects: bool,
    pace: Pace,
    systems_running: i32,
    loads_running: i32,
}

/// How much the generator does, and how hard that is for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Requests a second of a load with one thread, with more of them, and against the target that answers at once.
    pub(crate) per_s: u64,
    pub(crate) per_s_with_more_threads: u64,
    pub(crate) target_per_s: u64,
    /// Of a core, in percent.
    pub(crate) cpu_percent: u64,
    /// The cores of its machine.
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

    /// A world in which this moment fails.
    pub(crate) fn with_trouble(moment: &'static str) -> Self {
        let world = Self::new();
        world.state().trouble = Some(moment);
        world
    }

    /// A world in which somebody asks to stop at these moments.
    pub(crate) fn stopped_at(moments: &[usize]) -> Self {
        let world = Self::new();
        world.state().asked_at = moments.to_vec();
        world
    }

    /// A world whose systems reject every request.
    pub(crate) fn that_rejects() -> Self {
        let world = Self::new();
        world.state().rejects = true;
        world
    }

    /// The same world with another generator.
    pub(crate) fn at_pace(self, pace: Pace) -> Self {
        self.state().pace = pace;
        self
    }

    pub(crate) fn tools(&self) -> Tools<'_> {
        Tools { stopper: &self.0.stopper, generator: self, lab: self, clock: self }
    }

    /// Everything that was asked for so far.
    pub(crate) fn moments(&self) -> Vec<String> {
        self.state().moments.clone()
    }

    pub(crate) fn has_seen(&self, moment: &str) -> bool {
        self.state().moments.iter().any(|seen| seen == moment)
    }

    /// How much time has passed in it.
    pub(crate) fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// How much time has passed since somebody asked to stop.
    pub(crate) fn since_asked(&self) -> Option<Duration> {
        let state = self.state();
        Some(state.now - state.was_asked?)
    }

    /// No system and no load is left behind.
    pub(crate) fn assert_nothing_is_left(&self) {
        let state = self.state();
        assert_eq!((state.systems_running, state.loads_running), (0, 0), "{:?}", state.moments);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no test breaks off with it")
    }

    /// Something is asked for. Says whether it fails.
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

/// A stream, and the events that it had so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) stream: Stream,
    events: Arc<Mutex<Vec<RunEvent>>>,
}

impl Heard {
    /// Nothing so far.
    pub(crate) fn nothing() -> Self {
        let heard = Self::default();
        let events = Arc::clone(&heard.events);
        heard.stream.listen(move |frame| events.lock().expect("no panic").push(frame.event.clone()));
        heard
    }

    /// The events so far, in order.
    pub(crate) fn events(&self) -> Vec<RunEvent> {
        self.events.lock().expect("no panic").clone()
    }

    /// How many events are of a kind.
    pub(crate) fn count(&self, is_of_kind: impl Fn(&RunEvent) -> bool) -> usize {
        self.events().iter().filter(|event| is_of_kind(event)).count()
    }
}

/// A store of its own, and the folder that it is in.
pub(crate) fn store() -> (Store, tempfile::TempDir) {
    // Where nothing waits for a disk, if there is such a place.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    (Store::open(&folder.path().join("runs.sqlite")).expect("a store"), folder)
}

/// From now on a store has no such table, or has it again.
pub(crate) fn rename_table(store: &Store, from: &str, to: &str) {
    let connection = rusqlite::Connection::open(store.path()).expect("the same file");
    let rename = format!("PRAGMA legacy_alter_table = ON; ALTER TABLE {from} RENAME TO {to}");
    connection.execute_batch(&rename).expect("the table is there");
}

/// The study of a plan.
pub(crate) fn study(text: &str) -> Study {
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

/// This program, as far as plans need one.
pub(crate) fn program() -> &'static Path {
    Path::new("/bin/true")
}
