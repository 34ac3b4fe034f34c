//! Tools of a run: generator, lab, clock, and stopper.

use crate::clock::{Clock, WallClock};
use crate::consent::PublicLoads;
use crate::generator::{Generator, LocalGenerator};
use crate::stopper::{StopLevel, Stopper};
use crate::systems::{Lab, LocalLab};

/// Generator for loopback and private addresses.
static LOCAL_GENERATOR: LocalGenerator = LocalGenerator { public: PublicLoads::Refused };

/// Tools of a run.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// Handle to stop the run.
    pub stopper: &'a Stopper,
    /// Generator of the load.
    pub generator: &'a dyn Generator,
    /// Lab that starts and observes the system.
    pub lab: &'a dyn Lab,
    /// Source of time.
    pub clock: &'a dyn Clock,
}

impl<'a> Tools<'a> {
    /// Engine and lab of this machine.
    pub fn local(stopper: &'a Stopper) -> Self {
        Self { stopper, generator: &LOCAL_GENERATOR, lab: &LocalLab, clock: &WallClock }
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.stopper.level() != StopLevel::Go
    }
}
