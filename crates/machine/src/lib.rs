//! Measures the capabilities of this machine: repeated trials of memory, disk, timers, thread switches, and loopback, each with
//! median and range.
//!
//! `figure.rs` lists and defines all figures. A trial that is not possible on this machine reports the reason, which is not an
//! error.

mod aligned;
mod disk;
mod effort;
mod figure;
mod json;
mod loopback;
mod random;
mod shift;
mod site;
mod stat;
mod stopwatch;
mod switch;
mod table;
mod timer;
mod trials;
mod words;

pub use disk::{DiskError, check as check_folder};
pub use effort::Effort;
pub use figure::{Definition, FIGURES, Figure, Findings, Missing, Unit};
pub use json::json;
pub use site::Site;
pub use table::table;
pub use trials::{NullServer, brief, measure};
