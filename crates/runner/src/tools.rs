//! What a run is made with: a generator, a lab, a clock, and a way to stop it.

use crate::clock::{Clock, WallClock};
use crate::consent::PublicLoads;
use crate::generator::{Generator, LocalGenerator};
use crate::stopper::{StopLevel, Stopper};
use crate::systems::{Lab, LocalLab};

/// Loads loopback and private addresses.
static LOCAL_GENERATOR: LocalGenerator = LocalGenerator { public: PublicLoads::Refused };

/// What a run is made with.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    /// How it is stopped.
    pub stopper: &'a Stopper,
    /// What makes its load.
    pub generator: &'a dyn Generator,
    /// What starts its system, and looks at it.
    pub lab: &'a dyn Lab,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

impl<'a> Tools<'a> {
    /// The engine and the lab of this machine.
    pub fn local(stopper: &'a Stopper) -> Self {
        Self { stopper, generator: &LOCAL_GENERATOR, lab: &LocalLab, clock: &WallClock }
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.stopper.level() != StopLevel::Go
    }
}
