//! Starts, watches and stops systems. It generates no load.

mod failure;
pub mod ports;
pub mod probes;
mod processes;
mod recipe;
mod signal;
mod system;

pub use failure::{Failure, Output, Stage};
pub use recipe::{Command, Process, Ready, Recipe, StopHow, When};
pub use signal::Signal;
pub use system::{Root, Stopped, System, start};
