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
mod script_fault;
mod scripts;
mod secrets;
mod study;
mod transactions;
mod visible;

pub use database::Database;
pub use draft::{Draft, Played};
pub use fault::Fault;
pub use file::{Faults, FileFault, Place, reference, schema};
pub use plan::{Action, HttpAction, Peer, Pin, Plan, PlannedStep, SqlAction, Trust};
pub use scripts::known_workload;
pub use secrets::without_secrets;
pub use sql::Engine;
pub use study::{
    Amount, Around, At, Cmd, Compare, Find, How, Knob, Launch, Proc, Ready, ReadyWhen, Searched, StopHow,
    Study, StudyLoad, StudyPin, System, Tables, Variant,
};
pub use transactions::Transactions;
pub use units;
