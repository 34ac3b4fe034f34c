//! What this machine can do: repeated trials of memory, disk, waiting, waking, and loopback, each with median and range.
//!
//! `figure.rs` lists and defines every figure. A trial that cannot be made here says why; it is no error.

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

pub use disk::{NoDisk, check as check_folder};
pub use effort::Effort;
pub use figure::{Definition, FIGURES, Figure, Findings, Missing, Unit};
pub use json::json;
pub use site::Site;
pub use table::table;
pub use trials::{NullServer, brief, measure};
