//! Events: actions on a system while it is under load, their timing, and their results.
//!
//! [`Action`] lists all actions. A new action needs a variant, a line in `Act::perform`, and a function in a file of [`self`].

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

/// Max bytes stored from the end of an event's output.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// Event, fully resolved.
#[derive(Debug)]
pub struct Event {
    /// Name, unique among the events of a run.
    pub name: String,
    /// Time of the start.
    pub moment: Moment,
    /// Action to perform.
    pub action: Action,
    /// Condition that shows that the action took effect. `None` if the end of the action is enough.
    pub until: Option<Sign>,
    /// Timeout of the action and the condition together.
    pub within: Duration,
}

/// Time at which an event starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Fixed times, known before the load starts.
    At {
        /// Time of the first occurrence since the load began.
        first: Duration,
        /// Interval between occurrences. An occurrence that still runs delays the next one.
        every: Duration,
        /// Number of occurrences.
        times: u32,
    },
    /// Delay after a process has written a text since the load began.
    AfterText {
        /// Name of the process.
        process: String,
        /// Text to wait for.
        text: String,
        /// Delay after the text.
        delay: Duration,
    },
    /// Delay after another event has ended.
    AfterEvent {
        /// Name of the other event.
        name: String,
        /// Delay after its end.
        delay: Duration,
    },
}

/// Action of an event. Processes are given by name.
#[derive(Debug)]
pub enum Action {
    /// Runs a command, which must exit with 0.
    Run {
        /// Command to run. Its own timeout is ignored.
        command: Command,
        /// Lock that is held while the command runs.
        lock: Option<Box<dyn Lock>>,
    },
    /// Sends a signal to the main process.
    Signal(Signalled),
    /// Starts a process that is not running, and waits until it is ready.
    Start(String),
    /// Stops a process with the method used at the end of the run.
    Stop(String),
    /// Kills a process and all its descendants.
    Kill(String),
    /// Stops a process, starts it again, and waits until it is ready.
    Restart(String),
    /// Pauses a process and all its descendants with SIGSTOP.
    Pause {
        /// Name of the process.
        process: String,
        /// Duration of the pause.
        lasting: Duration,
    },
    /// Changes limits, permanently or for a time.
    Limit {
        /// Limits to change. The system must have been started with them in `to_come`.
        limits: Limits,
        /// Duration of the change.
        lasting: EffectDuration,
    },
    /// Sends an order to a proxy. Its effect is permanent or temporary.
    Link {
        /// Proxy and order.
        link: LinkOrder,
        /// Duration of the effect.
        lasting: EffectDuration,
    },
    /// Fills the disk of the system, permanently or for a time.
    Fill {
        /// Bytes that stay free.
        leave_bytes: u64,
        /// Duration for which the disk stays full.
        lasting: EffectDuration,
    },
    /// Rewrites files of the system, and makes it reload them.
    Set {
        /// Paths relative to the folder of the system, and contents.
        files: Vec<(PathBuf, Vec<u8>)>,
        /// Way to make the system reload the files.
        reload: Reload,
    },
    /// Changes the load, without an action on the system.
    Switch(Box<dyn Switch>),
}

/// Duration of an effect. `None` if it lasts until the system stops.
pub type EffectDuration = Option<Duration>;

/// Order for a proxy, in the form that `tenbin proxy` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOrder {
    /// Name of the proxy in the plan.
    pub name: String,
    /// Control socket of the proxy.
    pub control: PathBuf,
    /// Order: one JSON object.
    pub order: String,
    /// Order that reverts it. `None` if it cannot be reverted.
    pub undo: Option<String>,
}

/// Signal for the main process: the process that was started, or, if it has ended, its oldest orphan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// Name of the process.
    pub process: String,
    /// Signal to send.
    pub signal: Signal,
}

/// Way to make a system reload its files.
#[derive(Clone, Debug)]
pub enum Reload {
    /// Sends a signal.
    Signal(Signalled),
    /// Runs a command.
    Run(Command),
}

/// Condition that shows that an action took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A process writes a text after the action began.
    Text {
        /// Name of the process.
        process: String,
        /// Text to wait for.
        text: String,
    },
    /// An HTTP GET is answered with 2xx.
    Get {
        /// Address to connect to.
        address: SocketAddr,
        /// Path and query.
        path: String,
    },
    /// A TCP connection is accepted.
    Tcp(SocketAddr),
}

/// Resource that is held while a command runs, such as a lock in a database. Dropping it releases the resource.
pub trait Lock: Debug + Send {
    /// Acquires the resource. Calls `is_given_up` every few tenths of a second.
    ///
    /// # Errors
    /// Reason of the failure, as a sentence without its full stop. The resource is not held then.
    fn take(&mut self, is_given_up: &(dyn Fn() -> bool + Sync)) -> Result<(), String>;

    /// Releases the resource.
    ///
    /// # Errors
    /// Reason of the failure, as a sentence without its full stop. The resource is not held then either.
    fn release(&mut self) -> Result<(), String>;
}

/// Change of the load, such as the number of servers that get requests. It takes effect at once.
pub trait Switch: Debug + Send {
    /// Makes the change.
    fn switch(&mut self);
}

/// State of one occurrence of an event. Times are nanoseconds since the load began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// Name of the event.
    pub name: String,
    /// Index of the occurrence, from 0.
    pub occurrence: u32,
    /// Planned start. `None` if the trigger has not occurred.
    pub planned_ns: Option<u64>,
    /// Actual start. `None` before the start.
    pub begun_ns: Option<u64>,
    /// End. `None` before the end.
    pub ended_ns: Option<u64>,
    /// Exit code of the command. `None` without a command or if a signal ended it.
    pub exit: Option<i32>,
    /// Signal that ended the command. `None` if it exited.
    pub signal: Option<i32>,
    /// End of the command's output, at most [`OUTPUT_BYTES_MAX`] bytes.
    pub output: Vec<u8>,
    /// Bytes of output before that, which were dropped.
    pub dropped_bytes: u64,
    /// Reason of the failure. `None` if the occurrence did not fail.
    pub failure: Option<String>,
    /// Whether the action failed because the load ended first.
    pub is_cut: bool,
}
