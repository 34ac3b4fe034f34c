//! Interface to load generators: the engine in this process, or a substitute that sends equal messages.

use std::fmt::Debug;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::{Message, Running, StopLevel};
use load::Share;
use plan::{OwnData, Plan, RecordLoading, RunningSystem, Tables};
use progress::Stream;

use crate::consent::PublicLoads;
use crate::errand::{self, SetUp};
use crate::host::Machine;
use crate::load_data::{self, FillError};
use crate::prepare::{Prepared, Refusal, prepare_unless_stopped};
use crate::stopper::Stopper;
use crate::usage::Usage;

/// Generator of loads. It is called a few times per load, never per request.
pub trait Generator: Debug {
    /// Machine on which it generates loads.
    fn machine(&self) -> Machine;

    /// Resources that the generator has used so far.
    fn usage(&self) -> Usage;

    /// Creates the tables that a load needs.
    ///
    /// # Errors
    /// The tables could not be created, or differ from the requested ones.
    fn load_data(
        &self,
        plan: &Plan,
        tables: &Tables,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError>;

    /// Runs the own statements of a plan, and fills its own tables.
    ///
    /// # Errors
    /// A statement or a row was rejected.
    fn load_own_data(
        &self,
        plan: &Plan,
        own: &OwnData,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        let _ = (plan, own, stopper, stream);
        Ok(())
    }

    /// Inserts the records of a built-in workload into a store.
    ///
    /// # Errors
    /// A record was not inserted.
    fn load_records(
        &self,
        records: &RecordLoading,
        system: &RunningSystem,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        let _ = (records, system, stopper, stream);
        Ok(())
    }

    /// Sends the `setup` requests of a plan. `None` if it has none.
    ///
    /// # Errors
    ///
    /// A request was rejected, or not answered.
    fn set_up(&self, plan: &Plan, stopper: &Stopper) -> Result<Option<SetUp>, Refusal> {
        let _ = (plan, stopper);
        Ok(None)
    }

    /// Performs all steps that can fail before the first request, and sends no request. A stop request aborts the wait for a silent server.
    ///
    /// # Errors
    ///
    /// The plan cannot run here.
    fn prepare(&self, plan: &Plan, stopper: &Stopper) -> Result<Prepared, Refusal>;
}

/// A load that is ready to start.
pub trait Ready: Debug + Send {
    /// Also records the load in windows of 100 ms.
    fn record_windows(&mut self) {}

    /// Makes the messages of rejected requests quote the start of the reply's body.
    fn with_quoted_replies(self: Box<Self>) -> Box<dyn Ready>;

    /// Starts the part of the load that `share` selects. All parts together are the load.
    ///
    /// # Errors
    ///
    /// Resources are exhausted, such as threads.
    fn start(self: Box<Self>, share: Share) -> io::Result<Box<dyn RunningLoad>>;
}

/// Load in progress. The caller reads its messages about twenty times per second.
pub trait RunningLoad: Debug {
    /// Waits up to `wait` for the next message.
    ///
    /// # Errors
    ///
    /// No message arrived within `wait`, or every worker has reported its end.
    fn next(&mut self, wait: Duration) -> Result<Message, RecvTimeoutError>;

    /// Raises the stop level of the load. A lower level than before has no effect.
    fn stop(&mut self, level: StopLevel);

    /// Waits for the threads or processes of the load, after the last message.
    ///
    /// # Errors
    /// Threads that panicked.
    fn join(self: Box<Self>) -> Result<(), Vec<String>>;

    /// Root process of the generator. `None` if it is this process.
    fn keeper_pid(&self) -> Option<u32> {
        None
    }

    /// Resources used for the measured part. `None` if the caller measures them. Called after the last message.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// Run time of the measured command of another load generator, including its startup. Called after the last message.
    fn tool_ran(&self) -> Option<Duration> {
        None
    }

    /// Notes of another load generator on its figures. Called after the last message.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Load generator. `None` if it is Tenbin's engine. Called after the last message.
    fn tool(&self) -> Option<evidence::LoadTool> {
        None
    }
}

/// Engine in this process.
#[derive(Clone, Debug, Default)]
pub struct LocalGenerator {
    /// Policy for public addresses.
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

    fn load_own_data(
        &self,
        plan: &Plan,
        own: &OwnData,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        let Some(database) = plan.database() else { return Ok(()) };
        load_data::fill_own_for(database, own, stopper, stream).map(drop)
    }

    fn load_records(
        &self,
        records: &RecordLoading,
        system: &RunningSystem,
        stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        load_data::load_records_for(records, system, &self.public, stopper, stream)
    }

    fn set_up(&self, plan: &Plan, stopper: &Stopper) -> Result<Option<SetUp>, Refusal> {
        errand::set_up(plan, &self.public, stopper)
    }

    fn prepare(&self, plan: &Plan, stopper: &Stopper) -> Result<Prepared, Refusal> {
        prepare_unless_stopped(plan, &self.public, stopper)
    }
}

impl RunningLoad for Running {
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
