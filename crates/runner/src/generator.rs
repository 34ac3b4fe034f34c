//! What makes a load and tells of it: the engine in this process, or anything else that tells the same.

use std::fmt::Debug;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::{Message, Running, StopLevel};
use load::Share;
use plan::{Plan, Tables};
use progress::Stream;

use crate::consent::PublicLoads;
use crate::errand::{self, SetUp};
use crate::host::Machine;
use crate::load_data::{self, FillError};
use crate::prepare::{Prepared, Refusal, prepare_unless_stopped};
use crate::stopper::Stopper;
use crate::usage::Usage;

/// Makes loads. It is asked a few times for each load, and never for a request.
pub trait Generator: Debug {
    /// The machine that it makes loads on.
    fn machine(&self) -> Machine;

    /// What it has used itself so far.
    fn usage(&self) -> Usage;

    /// Makes the tables that a load needs.
    ///
    /// # Errors
    /// They are not there, or not as they were asked for.
    fn load_data(
        &self,
        plan: &Plan,
        tables: &Tables,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError>;

    /// Makes the requests that a plan has before its load; `None`: it has none.
    ///
    /// # Errors
    /// One of them was rejected, or not answered.
    fn set_up(&self, plan: &Plan, stopper: &Stopper) -> Result<Option<SetUp>, Refusal> {
        let _ = (plan, stopper);
        Ok(None)
    }

    /// Does everything that can fail before the first request, and sends none. Leaves a server to itself that keeps it waiting
    /// when a stop is requested.
    ///
    /// # Errors
    /// The plan cannot run here.
    fn prepare(&self, plan: &Plan, stopper: &Stopper) -> Result<Prepared, Refusal>;
}

/// A load that is ready to begin.
pub trait Ready: Debug + Send {
    /// Keeps the course of the load in windows of 100 ms as well.
    fn keep_course(&mut self) {}

    /// The same; the words of rejected requests quote the beginning of the reply's body.
    fn quoting(self: Box<Self>) -> Box<dyn Ready>;

    /// Begins. `share`: which part of the load is made here; all parts together are the load.
    ///
    /// # Errors
    /// There is no room for what makes the load, such as threads.
    fn start(self: Box<Self>, share: Share) -> io::Result<Box<dyn Underway>>;
}

/// A load under way. What it tells is taken some twenty times a second.
pub trait Underway: Debug {
    /// The next message, which is waited for so long at most.
    ///
    /// # Errors
    /// None came in that time, or nothing is left: every worker has said how it ended.
    fn next(&mut self, wait: Duration) -> Result<Message, RecvTimeoutError>;

    /// Asks the load to stop, at least as much as it was asked before.
    fn stop(&mut self, level: StopLevel);

    /// Waits for whatever makes the load, when nothing is left.
    ///
    /// # Errors
    /// Threads that died of an error of this program.
    fn join(self: Box<Self>) -> Result<(), Vec<String>>;

    /// The process below which everything makes the load, if that is not this one.
    fn keeper_pid(&self) -> Option<u32> {
        None
    }

    /// What was used for what was measured, if that is known here alone. Asked when nothing is left.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// How long the command of another load generator ran for what was measured, its own start included. Asked when nothing is left.
    fn tool_ran(&self) -> Option<Duration> {
        None
    }

    /// Notes of another load generator on its own figures. Asked when nothing is left.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The tool that made the load, if it was another load generator. Asked when nothing is left.
    fn tool(&self) -> Option<evidence::LoadTool> {
        None
    }
}

/// The engine in this process.
#[derive(Clone, Debug, Default)]
pub struct LocalGenerator {
    /// Whether it loads public addresses.
    pub public: PublicLoads,
}

impl Generator for LocalGenerator {
    fn machine(&self) -> Machine {
        Machine::here()
    }

    fn usage(&self) -> Usage {
        Usage::of_this_process()
    }

    fn load_data(
        &self,
        plan: &Plan,
        tables: &Tables,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        let Some(database) = plan.database() else { return Ok(()) };
        load_data::fill_for(database, tables, stopper, stream).map(drop)
    }

    fn set_up(&self, plan: &Plan, stopper: &Stopper) -> Result<Option<SetUp>, Refusal> {
        errand::set_up(plan, &self.public, stopper)
    }

    fn prepare(&self, plan: &Plan, stopper: &Stopper) -> Result<Prepared, Refusal> {
        prepare_unless_stopped(plan, &self.public, stopper)
    }
}

impl Underway for Running {
    fn next(&mut self, wait: Duration) -> Result<Message, RecvTimeoutError> {
        self.messages.recv_timeout(wait)
    }

    fn stop(&mut self, level: StopLevel) {
        Running::stop(self, level);
    }

    fn join(self: Box<Self>) -> Result<(), Vec<String>> {
        Running::join(*self)
    }
}
