//! Runs a plan from first to last.
//!
//! `one_run.rs` fits on a screen and names every stage. The crate never knows report formats.

mod beside;
mod collect;
mod host;
mod live;
mod one_run;
mod prepare;
mod resolve;
mod stopper;
mod usage;
mod validity;
mod watchdog;

pub use live::{Live, Observer};
pub use one_run::{Finished, RunError, run};
pub use prepare::{Prepared, Refusal, prepare};
pub use resolve::ResolveError;
pub use stopper::{StopLevel, Stopper};
