//! Systems that stay up from one run of an experiment to the next. Users, generator, and limits change without a restart.

use std::cell::{Cell, RefCell};

use lab::limits::Limits;
use lab::{Failure, Recipe};
use progress::{RunEvent, Stream};

use crate::stage::Stage;
use crate::systems::StartedSystem;

/// A system between two runs, with its ports and files.
#[derive(Debug)]
pub(crate) struct KeptSystem {
    // Field order: the system is stopped before its folder is removed.
    system: RefCell<Option<Box<dyn StartedSystem>>>,
    pub(crate) stage: Stage,
    limits_to_come: Vec<Limits>,
    /// Whether the system was started for the current run.
    is_new: Cell<bool>,
}

/// A run on a kept system.
#[derive(Debug)]
pub(crate) struct RunOnKeptSystem<'a> {
    pub(crate) system: &'a KeptSystem,
    /// Limits of the system in this run.
    pub(crate) limits: Limits,
}

impl KeptSystem {
    /// Creates it without a running system.
    pub(crate) fn of(stage: Stage, limits_to_come: Vec<Limits>) -> Self {
        Self { system: RefCell::new(None), stage, limits_to_come, is_new: Cell::new(true) }
    }

    /// Whether a system is running, and none of its processes has died.
    pub(crate) fn is_running(&self) -> bool {
        self.system.borrow_mut().as_mut().is_some_and(|system| system.died().is_none())
    }

    /// Takes the system back after a run. `None` if it is gone.
    pub(crate) fn put(&self, system: Option<Box<dyn StartedSystem>>) {
        *self.system.borrow_mut() = system;
    }

    /// Stops the system, and publishes failures as remarks.
    pub(crate) fn stop(self, stream: &Stream) {
        let Some(system) = self.system.into_inner() else { return };
        for failure in system.stop().failures {
            let remark = plan::mask_secrets(&failure.to_string());
            stream.publish(None, RunEvent::Remark(remark));
        }
    }
}

impl RunOnKeptSystem<'_> {
    /// Whether the system was started for this run.
    pub(crate) fn is_new(&self) -> bool {
        self.system.is_new.get()
    }

    /// Takes the system of the previous run, or starts one, and sets the limits of this run.
    pub(crate) fn take_or_start(
        &self,
        mut recipe: Recipe,
        start: impl FnOnce(Recipe) -> Result<Box<dyn StartedSystem>, Failure>,
    ) -> Result<Box<dyn StartedSystem>, Failure> {
        let running = self.system.system.borrow_mut().take();
        self.system.is_new.set(running.is_none());
        let system = match running {
            Some(system) => system,
            None => {
                recipe.limits_to_come.extend_from_slice(&self.system.limits_to_come);
                start(recipe)?
            }
        };
        match system.limit(&self.limits) {
            Ok(()) => Ok(system),
            Err(what) => {
                let outputs = system.stop().outputs;
                let way_out =
                    "run the experiment again; if it persists, leave out `diagnose` and --why".to_owned();
                Err(Failure { stage: lab::Stage::Limits, process: None, what, way_out, outputs })
            }
        }
    }
}
