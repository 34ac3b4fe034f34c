//! Events: what is done to a system while it is under load, when, and how that went.
//!
//! [`Action`] is the list of what can be done. A new action is a variant, a line in `Act::perform`, and a function in a file of
//! [`self`].

mod act;
mod command;
mod disk;
mod links;
mod pause;
mod processes;
mod settings;
mod sign;
mod timeline;

use std::fmt::Debug;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use timeline::Timeline;

use crate::limits::Limits;
use crate::{Command, Signal};

/// How much of the end of an event's output is kept.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// One event, with nothing left open.
#[derive(Debug)]
pub struct Event {
    /// Unique among the events of a run.
    pub name: String,
    /// When it begins.
    pub moment: Moment,
    /// What is done.
    pub action: Action,
    /// What shows that it had its effect; without one, that the action is done.
    pub until: Option<Sign>,
    /// How long action and sign may take together.
    pub within: Duration,
}

/// When an event begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At times that are known before.
    At {
        /// Since the load began.
        first: Duration,
        /// From one to the next. One that still goes on delays the next.
        every: Duration,
        /// How often.
        times: u32,
    },
    /// Some time after a process has written a text, counted from the beginning of the load.
    AfterText {
        /// The name of the process.
        process: String,
        /// What it writes.
        text: String,
        /// How long after that.
        delay: Duration,
    },
    /// Some time after another event has ended.
    AfterEvent {
        /// Its name.
        name: String,
        /// How long after that.
        delay: Duration,
    },
}

/// What is done. Processes are given by their names.
#[derive(Debug)]
pub enum Action {
    /// Runs a command, which must exit with 0.
    Run {
        /// The command. Its own time limit is not looked at.
        command: Command,
        /// What is held meanwhile.
        lock: Option<Box<dyn Lock>>,
    },
    /// Sends a signal to the main process.
    Signal(Signalled),
    /// Starts a process that does not run, and waits until it is ready.
    Start(String),
    /// Stops a process as at the end of the run.
    Stop(String),
    /// Kills a process and all that it started.
    Kill(String),
    /// Stops a process, starts it again, and waits until it is ready.
    Restart(String),
    /// Holds a process and all that it started up by SIGSTOP.
    Pause {
        /// Which.
        process: String,
        /// For how long.
        lasting: Duration,
    },
    /// Sets other limits. They stay, or last for a time.
    Limit {
        /// What becomes different; the system was started with these as limits to come.
        limits: Limits,
        /// For how long.
        lasting: Lasting,
    },
    /// Gives an order to a proxy. What it does stays, or lasts for a time.
    Link {
        /// To which, and what.
        link: LinkOrder,
        /// For how long.
        lasting: Lasting,
    },
    /// Fills the system's own disk. It stays full, or for a time.
    Fill {
        /// The room that is left.
        leave_bytes: u64,
        /// For how long.
        lasting: Lasting,
    },
    /// Writes files of the system again, and has it read them.
    Set {
        /// Paths relative to the system's folder.
        files: Vec<(PathBuf, Vec<u8>)>,
        /// How it reads them.
        reload: Reload,
    },
}

/// For how long something is so; `None`: until the system is stopped.
pub type Lasting = Option<Duration>;

/// An order to a proxy, as `tenbin proxy` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOrder {
    /// The name of the proxy in the plan.
    pub name: String,
    /// The socket at which it takes orders.
    pub control: PathBuf,
    /// One JSON object.
    pub order: String,
    /// The order that undoes it, if it can be undone.
    pub undo: Option<String>,
}

/// A signal for the main process: the one that was started, or, if it has ended, the oldest of those that it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// The name of the process.
    pub process: String,
    /// What is sent.
    pub signal: Signal,
}

/// How a system is made to read its files again.
#[derive(Clone, Debug)]
pub enum Reload {
    /// By a signal.
    Signal(Signalled),
    /// By a command.
    Run(Command),
}

/// What shows that an action had its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A process writes this text, after the action began.
    Text {
        /// The name of the process.
        process: String,
        /// What it writes.
        text: String,
    },
    /// An HTTP GET is answered with 2xx.
    Get {
        /// Where to connect.
        address: SocketAddr,
        /// Path and query.
        path: String,
    },
    /// A connection is accepted.
    Tcp(SocketAddr),
}

/// Something that is held while a command runs, such as a lock in a database. Dropping it lets go.
pub trait Lock: Debug + Send {
    /// Takes hold. `is_given_up` is asked every few tenths of a second.
    ///
    /// # Errors
    /// Why it could not, as a sentence without its full stop. Nothing is held then.
    fn take(&mut self, is_given_up: &(dyn Fn() -> bool + Sync)) -> Result<(), String>;

    /// Lets go.
    ///
    /// # Errors
    /// What went wrong, as a sentence without its full stop. Nothing is held then either.
    fn release(&mut self) -> Result<(), String>;
}

/// What is known of an event, or of one occurrence of it. Times are nanoseconds since the load began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Happened {
    /// The event.
    pub name: String,
    /// Which of its occurrences, from 0.
    pub occurrence: u32,
    /// When it was to begin; `None`: what it waits for has not come.
    pub planned_ns: Option<u64>,
    /// When it began.
    pub begun_ns: Option<u64>,
    /// When it ended.
    pub ended_ns: Option<u64>,
    /// What its command exited with.
    pub exit: Option<i32>,
    /// The signal that ended its command.
    pub signal: Option<i32>,
    /// The end of what its command wrote: at most [`OUTPUT_BYTES_MAX`].
    pub output: Vec<u8>,
    /// What it wrote before that.
    pub dropped_bytes: u64,
    /// Why it failed.
    pub failure: Option<String>,
    /// It failed because the load ended first.
    pub is_cut: bool,
}
