//! A system that runs on from one run of an experiment to the next: users, the generator, and limits change without a restart.

use std::cell::{Cell, RefCell};

use lab::limits::Limits;
use lab::{Failure, Recipe};
use progress::{RunEvent, Stream};

use crate::stage::Stage;
use crate::systems::Started;

/// A system between two runs, and where it has its ports and its files.
#[derive(Debug)]
pub(crate) struct KeptSystem {
    // Stopped before its folder goes.
    system: RefCell<Option<Box<dyn Started>>>,
    pub(crate) stage: Stage,
    limits_to_come: Vec<Limits>,
    /// Whether it was started for the run that is made.
    is_new: Cell<bool>,
}

/// A run on such a system.
#[derive(Debug)]
pub(crate) struct Keeps<'a> {
    pub(crate) system: &'a KeptSystem,
    /// What it is held to in this run.
    pub(crate) limits: Limits,
}

impl KeptSystem {
    /// Nothing runs yet.
    pub(crate) fn of(stage: Stage, limits_to_come: Vec<Limits>) -> Self {
        Self { system: RefCell::new(None), stage, limits_to_come, is_new: Cell::new(true) }
    }

    /// Whether there is one, and nothing of it has died.
    pub(crate) fn is_running(&self) -> bool {
        self.system.borrow_mut().as_mut().is_some_and(|system| system.died().is_none())
    }

    /// Takes it back after a run; `None`: it is gone.
    pub(crate) fn put(&self, system: Option<Box<dyn Started>>) {
        *self.system.borrow_mut() = system;
    }

    /// Stops it, and says what went wrong.
    pub(crate) fn stop(self, stream: &Stream) {
        let Some(system) = self.system.into_inner() else { return };
        for failure in system.stop().failures {
            let remark = plan::without_secrets(&failure.to_string());
            stream.publish(None, RunEvent::Remark(remark));
        }
    }
}

impl Keeps<'_> {
    /// Whether the run has a system that was started for it.
    pub(crate) fn is_new(&self) -> bool {
        self.system.is_new.get()
    }

    /// The system of the run before, or one that is started now, held to the limits of this run.
    pub(crate) fn take_or(
        &self,
        mut recipe: Recipe,
        start: impl FnOnce(Recipe) -> Result<Box<dyn Started>, Failure>,
    ) -> Result<Box<dyn Started>, Failure> {
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
