//! Reads what a person asked for into a checked plan, or into a complete list of faults.
//!
//! A [`Plan`] cannot be built otherwise. The crate never knows the engine or the store.

mod check;
mod database;
mod draft;
mod explain;
mod fault;
mod file;
mod plan;
mod recorded;
mod request;
mod study;
pub mod units;
mod visible;

pub use database::{Database, Engine};
pub use draft::Draft;
pub use fault::Fault;
pub use file::{Faults, FileFault, Place, reference, schema};
pub use plan::{Peer, Pin, Plan, PlannedStep, Trust};
pub use study::{
    Around, Cmd, Compare, Gate, GateMetric, Knob, Launch, Metric, Proc, Ready, ReadyWhen, StopHow, Study,
    StudyLoad, StudyPin, System, Variant,
};
