//! Interface to labs: the lab on this machine, or a substitute that makes equal observations.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lab::events::{Event, Timeline};
use lab::hosts::Network;
use lab::limits::Limits;
use lab::probes::{Look, LookTimes, NotAvailable, Subject};
use lab::profiler::{Profile, ProfileOptions};
use lab::{Command, Failure, Recipe, Root, Steady, Stopped};

use crate::database_cost::CostMeter;
use crate::database_watch::{self, DatabaseWatch, MonitoredDatabase};
use crate::environment::EnvironmentBefore;
use crate::events::RunningEvents;
use crate::prepare::Prepared;
use crate::recipe;
use crate::run_error::RunError;
use crate::scratch::Scratch;

/// Lab that starts and observes systems. It is called a few times per run.
pub trait Lab: Debug {
    /// Allocates free ports, and a folder.
    ///
    /// # Errors
    /// No ports are free, or no folder can be created.
    fn room(&self, ports: usize) -> Result<Room, RunError>;

    /// Allocates a network for a host.
    ///
    /// # Errors
    /// No network is free.
    fn network(&self) -> Result<Network, RunError> {
        lab::hosts::free_network().map_err(|failure| RunError::Network(failure.to_string()))
    }

    /// First line of a command's output. `None` if the command fails. `keeper` runs its process.
    fn first_line(
        &self,
        command: &Command,
        keeper: &[std::ffi::OsString],
        cancelled: &dyn Fn() -> bool,
    ) -> Option<String>;

    /// Starts a system, and waits until it is ready.
    ///
    /// # Errors
    ///
    /// The system did not become ready. All of its processes have been stopped.
    fn start(&self, recipe: Recipe, cancelled: &dyn Fn() -> bool) -> Result<Box<dyn StartedSystem>, Failure>;

    /// Starts to observe machine, generator, and system at these times.
    fn watch(&self, subject: Subject, times: LookTimes) -> Box<dyn Watch>;

    /// Starts to monitor the database of a load. `None` if it cannot be monitored.
    fn watch_database(&self, _database: &MonitoredDatabase) -> Option<Box<dyn DatabaseWatch>> {
        None
    }

    /// Reads the counters of a database before a load. `None` if it has none.
    fn meter_costs(&self, _database: &MonitoredDatabase) -> Option<CostMeter> {
        None
    }

    /// Starts to profile the processes of an order. The lab sets its folder and keeper.
    ///
    /// # Errors
    /// Reason why profiling is impossible, with help.
    fn profile(&self, _order: ProfileOptions) -> Result<Box<dyn Sampling>, String> {
        Err("this lab has no profiler; leave out --profile".to_owned())
    }

    /// Observes once which processes listen on the endpoints of a load, and which others use the machine.
    fn observe_environment(&self, prepared: &Prepared) -> EnvironmentBefore;

    /// Share of the time for which the busiest thread of these processes runs or is ready for a core without a load. `None` if unknown.
    fn busiest_thread_at_rest(&self, _processes: &BTreeSet<u32>) -> Option<f64> {
        None
    }

    /// Path of the program `tenbin`, which includes the instant target. The error states why the target cannot be started.
    fn tenbin(&self) -> Result<PathBuf, String>;
}

/// A system that was started and was ready.
pub trait StartedSystem: Debug {
    /// Root processes, in the order of their start.
    fn roots(&self) -> Vec<Root>;

    /// Folders of the control groups that limit CPU time and memory. `None` without a limit.
    fn limits(&self) -> (Option<PathBuf>, Option<PathBuf>) {
        (None, None)
    }

    /// Wait of the start until the system was steady. `None` if it did not wait.
    fn steady(&self) -> Option<Steady> {
        None
    }

    /// Changes limits while the system runs. Limits that are not set stay as at the start.
    ///
    /// # Errors
    /// The system was started without control groups for them, or the kernel rejected the change.
    fn limit(&self, limits: &Limits) -> Result<(), String> {
        if limits.is_none() { Ok(()) } else { Err("its limits cannot be changed".to_owned()) }
    }

    /// A process that ended without being stopped. Each is returned once.
    fn died(&mut self) -> Option<Failure>;

    /// Starts the events of a load that started at `origin`.
    ///
    /// # Errors
    ///
    /// Their threads could not be started. No event takes place.
    fn begin_events(&mut self, events: Vec<Event>, origin: Instant) -> io::Result<Box<dyn RunningEvents>>;

    /// Pauses the processes until [`Self::go_on`]. Returns whether it succeeded.
    fn hold(&mut self) -> bool {
        false
    }

    /// Resumes the processes.
    fn go_on(&mut self) {}

    /// Stops all processes. No event is in progress.
    fn stop(self: Box<Self>) -> Stopped;
}

/// Observation about once per second.
pub trait Watch: Debug {
    /// Looks since the last call, oldest first.
    fn take(&mut self) -> Vec<Look>;

    /// Takes a last look, and ends. Returns the remaining looks, and the probes that were not available.
    fn end(self: Box<Self>) -> (Vec<Look>, Vec<NotAvailable>);
}

/// A profiler in progress.
pub trait Sampling: Debug {
    /// Root process of the profiler.
    fn keeper_pid(&self) -> u32;

    /// Stops sampling, without waiting.
    fn stop(&mut self);

    /// Aggregates the samples into a profile. The processes should still be running, so that their functions can be named.
    ///
    /// # Errors
    ///
    /// Reason why there is no profile, with help.
    fn fold(self: Box<Self>) -> Result<Profile, String>;
}

/// Ports and folder of a system. The folder is removed when dropped, if the lab created it.
#[derive(Debug)]
pub struct Room {
    /// Ports that were free a moment ago.
    pub ports: Vec<u16>,
    dir: PathBuf,
    _scratch: Option<Scratch>,
}

impl Room {
    /// Space in the folder of another process, which is not removed.
    pub fn at(dir: PathBuf, ports: Vec<u16>) -> Self {
        Self { ports, dir, _scratch: None }
    }

    /// Path of `{dir}` in plans.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Lab on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalLab;

impl Lab for LocalLab {
    fn room(&self, ports: usize) -> Result<Room, RunError> {
        let ports = lab::ports::find_free(ports).map_err(|error| RunError::Ports(error.to_string()))?;
        let scratch = Scratch::new().map_err(RunError::Folder)?;
        Ok(Room { ports, dir: scratch.path().to_path_buf(), _scratch: Some(scratch) })
    }

    fn first_line(
        &self,
        command: &Command,
        keeper: &[std::ffi::OsString],
        cancelled: &dyn Fn() -> bool,
    ) -> Option<String> {
        lab::first_line(command, keeper, cancelled)
    }

    fn start(&self, recipe: Recipe, cancelled: &dyn Fn() -> bool) -> Result<Box<dyn StartedSystem>, Failure> {
        Ok(Box::new(lab::start(recipe, cancelled)?))
    }

    fn watch(&self, subject: Subject, times: LookTimes) -> Box<dyn Watch> {
        Box::new(lab::probes::Watch::begin_at(subject, times))
    }

    fn watch_database(&self, database: &MonitoredDatabase) -> Option<Box<dyn DatabaseWatch>> {
        if let Some(watch) = database.in_process_watch() {
            return Some(watch());
        }
        database_watch::Session::begin(database)
            .map(|session| -> Box<dyn DatabaseWatch> { Box::new(session) })
    }

    fn meter_costs(&self, database: &MonitoredDatabase) -> Option<CostMeter> {
        CostMeter::begin(database)
    }

    fn profile(&self, order: ProfileOptions) -> Result<Box<dyn Sampling>, String> {
        let keeper = recipe::keeper(&self.tenbin()?);
        let scratch =
            Scratch::new().map_err(|error| format!("no folder could be made for it: {error}; free space"))?;
        let order = ProfileOptions { dir: scratch.path().to_path_buf(), keeper, ..order };
        Ok(Box::new(ScratchProfiler { profiler: lab::profiler::Profiler::begin(order)?, _scratch: scratch }))
    }

    fn observe_environment(&self, prepared: &Prepared) -> EnvironmentBefore {
        EnvironmentBefore::look(prepared)
    }

    fn busiest_thread_at_rest(&self, processes: &BTreeSet<u32>) -> Option<f64> {
        lab::busiest_thread_at_rest(processes)
    }

    fn tenbin(&self) -> Result<PathBuf, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
        if program.file_stem().is_none_or(|name| name != "tenbin") {
            return Err("this program is not tenbin, which has the target".to_owned());
        }
        Ok(program)
    }
}

/// Profiler, and the folder of its file.
#[derive(Debug)]
struct ScratchProfiler {
    // Field order: the profiler ends before its folder is removed.
    profiler: lab::profiler::Profiler,
    _scratch: Scratch,
}

impl Sampling for ScratchProfiler {
    fn keeper_pid(&self) -> u32 {
        self.profiler.keeper_pid()
    }

    fn stop(&mut self) {
        self.profiler.stop();
    }

    fn fold(self: Box<Self>) -> Result<Profile, String> {
        self.profiler.fold()
    }
}

impl StartedSystem for lab::System {
    fn roots(&self) -> Vec<Root> {
        lab::System::roots(self)
    }

    fn limits(&self) -> (Option<PathBuf>, Option<PathBuf>) {
        lab::System::limits(self).folders()
    }

    fn steady(&self) -> Option<Steady> {
        lab::System::steady(self)
    }

    fn limit(&self, limits: &Limits) -> Result<(), String> {
        let groups = lab::System::limits(self);
        groups.put_back()?;
        groups.change(limits)
    }

    fn died(&mut self) -> Option<Failure> {
        lab::System::died(self)
    }

    fn begin_events(&mut self, events: Vec<Event>, origin: Instant) -> io::Result<Box<dyn RunningEvents>> {
        Ok(Box::new(Timeline::begin(self, events, origin)?))
    }

    fn hold(&mut self) -> bool {
        lab::System::hold(self)
    }

    fn go_on(&mut self) {
        lab::System::go_on(self);
    }

    fn stop(self: Box<Self>) -> Stopped {
        lab::System::stop(*self)
    }
}

impl Watch for lab::probes::Watch {
    fn take(&mut self) -> Vec<Look> {
        lab::probes::Watch::take(self)
    }

    fn end(self: Box<Self>) -> (Vec<Look>, Vec<NotAvailable>) {
        lab::probes::Watch::end(*self)
    }
}
