//! Starts, watches and stops systems. It generates no load.

mod capture;
pub mod census;
mod commands;
mod control_groups;
mod deadline;
pub mod events;
mod exit;
mod failure;
mod first_line;
mod folder;
pub mod hosts;
mod in_words;
pub mod keeper;
mod kept_process;
pub mod leftovers;
pub mod limits;
pub mod listening;
mod marker;
mod namespaces;
pub mod ports;
pub mod probes;
mod processes;
mod ready;
mod recipe;
mod removal;
mod signal;
mod start;
mod stop;
mod system;

pub use failure::{Failure, Output, Stage};
pub use first_line::first_line;
pub use recipe::{Command, Process, Ready, Recipe, StopHow, When};
pub use removal::remove_folder;
pub use signal::Signal;
pub use start::start;
pub use system::{Root, Stopped, System};
