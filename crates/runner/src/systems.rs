//! The systems of runs, and what is seen of them: by the lab on this machine, or by anything else that tells the same.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lab::events::{Event, Timeline};
use lab::hosts::Network;
use lab::limits::Limits;
use lab::probes::{Look, NotAvailable, Subject};
use lab::profiler::{Order, Profile};
use lab::{Command, Failure, Recipe, Root, Steady, Stopped};

use crate::database_watch::{self, DatabaseWatch};
use crate::environment::Before;
use crate::events::Happenings;
use crate::prepare::Prepared;
use crate::recipe;
use crate::run_error::RunError;
use crate::scratch::Scratch;

/// Starts systems, and looks at them. It is asked a few times for each run.
pub trait Lab: Debug {
    /// Finds so many free ports, and makes a folder.
    ///
    /// # Errors
    /// There are none.
    fn room(&self, ports: usize) -> Result<Room, RunError>;

    /// A network for a host of its own.
    ///
    /// # Errors
    /// There is none.
    fn network(&self) -> Result<Network, RunError> {
        lab::hosts::free_network().map_err(|failure| RunError::Network(failure.to_string()))
    }

    /// The first line that a command writes, if it works. `keeper` holds it.
    fn first_line(
        &self,
        command: &Command,
        keeper: &[std::ffi::OsString],
        cancelled: &dyn Fn() -> bool,
    ) -> Option<String>;

    /// Starts a system, and waits until it is ready.
    ///
    /// # Errors
    /// It is not, and nothing is left of it.
    fn start(&self, recipe: Recipe, cancelled: &dyn Fn() -> bool) -> Result<Box<dyn Started>, Failure>;

    /// Looks at machine, generator and system once a second from now on.
    fn watch(&self, subject: Subject) -> Box<dyn Watch>;

    /// Asks the database of a load what its sessions wait for from now on, if it is one that can be asked.
    fn watch_database(&self, _database: &plan::Database) -> Option<Box<dyn DatabaseWatch>> {
        None
    }

    /// Samples from now on where the processes of an order spend CPU time. The folder and the keeper are the lab's own.
    ///
    /// # Errors
    /// Why it is not possible, and what to do about it.
    fn profile(&self, _order: Order) -> Result<Box<dyn Sampling>, String> {
        Err("this lab has no profiler; leave out --profile".to_owned())
    }

    /// Looks once at who listens where a load will go, and who else uses the machine.
    fn look_around(&self, prepared: &Prepared) -> Before;

    /// The program `tenbin`, which has the target that answers at once; or why it cannot be started.
    fn tenbin(&self) -> Result<PathBuf, String>;
}

/// A system that was ready once.
pub trait Started: Debug {
    /// Its processes, in the order of their start.
    fn roots(&self) -> Vec<Root>;

    /// The folders of the control groups that limit its CPU time and its memory, if there are any.
    fn limits(&self) -> (Option<PathBuf>, Option<PathBuf>) {
        (None, None)
    }

    /// How long its start waited for it to be steady; `None` if it did not.
    fn steady(&self) -> Option<Steady> {
        None
    }

    /// Holds it to other limits while it runs. What they do not name is limited as at the start.
    ///
    /// # Errors
    /// It was started without groups for them, or what the kernel said.
    fn limit(&self, limits: &Limits) -> Result<(), String> {
        if limits.is_none() { Ok(()) } else { Err("its limits cannot be changed".to_owned()) }
    }

    /// A process that has ended although nobody asked it to. Each is returned once.
    fn died(&mut self) -> Option<Failure>;

    /// Begins the events of a load that began at `origin`.
    ///
    /// # Errors
    /// Their threads could not be started; then none takes place.
    fn begin_events(&mut self, events: Vec<Event>, origin: Instant) -> io::Result<Box<dyn Happenings>>;

    /// Stops its processes, which stay where they are until [`Self::go_on`]. Whether it did.
    fn hold(&mut self) -> bool {
        false
    }

    /// Lets them go on.
    fn go_on(&mut self) {}

    /// Stops all of it. No event is under way.
    fn stop(self: Box<Self>) -> Stopped;
}

/// Observes once a second.
pub trait Watch: Debug {
    /// The looks since the last call, oldest first.
    fn take(&mut self) -> Vec<Look>;

    /// Looks a last time, and ends. What was not taken before, and what could not be read at all.
    fn end(self: Box<Self>) -> (Vec<Look>, Vec<NotAvailable>);
}

/// Samples stacks.
pub trait Sampling: Debug {
    /// Below it is everything that samples.
    fn keeper_pid(&self) -> u32;

    /// Ends it, without waiting.
    fn stop(&mut self);

    /// What was sampled. The processes should still run.
    ///
    /// # Errors
    /// Why nothing was, and what to do about it.
    fn fold(self: Box<Self>) -> Result<Profile, String>;
}

/// Where a system has its ports and its files. The folder goes when this is dropped, if the lab has made it.
#[derive(Debug)]
pub struct Room {
    /// Ports that were free a moment ago.
    pub ports: Vec<u16>,
    dir: PathBuf,
    _scratch: Option<Scratch>,
}

impl Room {
    /// A room in a folder of another process.
    pub fn at(dir: PathBuf, ports: Vec<u16>) -> Self {
        Self { ports, dir, _scratch: None }
    }

    /// What a plan calls `{dir}`.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// The lab on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalLab;

impl Lab for LocalLab {
    fn room(&self, ports: usize) -> Result<Room, RunError> {
        let ports = lab::ports::free(ports).map_err(|error| RunError::Ports(error.to_string()))?;
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

    fn start(&self, recipe: Recipe, cancelled: &dyn Fn() -> bool) -> Result<Box<dyn Started>, Failure> {
        Ok(Box::new(lab::start(recipe, cancelled)?))
    }

    fn watch(&self, subject: Subject) -> Box<dyn Watch> {
        Box::new(lab::probes::Watch::begin(subject))
    }

    fn watch_database(&self, database: &plan::Database) -> Option<Box<dyn DatabaseWatch>> {
        database_watch::Session::begin(database)
            .map(|session| -> Box<dyn DatabaseWatch> { Box::new(session) })
    }

    fn profile(&self, order: Order) -> Result<Box<dyn Sampling>, String> {
        let keeper = recipe::keeper(&self.tenbin()?);
        let scratch =
            Scratch::new().map_err(|error| format!("no folder could be made for it: {error}; free space"))?;
        let order = Order { dir: scratch.path().to_path_buf(), keeper, ..order };
        Ok(Box::new(InScratch { profiler: lab::profiler::Profiler::begin(order)?, _scratch: scratch }))
    }

    fn look_around(&self, prepared: &Prepared) -> Before {
        Before::look(prepared)
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

/// A profiler, and the folder of its file.
#[derive(Debug)]
struct InScratch {
    // Ended before the folder goes.
    profiler: lab::profiler::Profiler,
    _scratch: Scratch,
}

impl Sampling for InScratch {
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

impl Started for lab::System {
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

    fn begin_events(&mut self, events: Vec<Event>, origin: Instant) -> io::Result<Box<dyn Happenings>> {
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
