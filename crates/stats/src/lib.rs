//! Estimates with intervals, and comparisons with a known error rate. Pure: it knows no system, no SQL, no printing.
//!
//! The formulas and where they come from are in `docs/statistics.md`.
#![no_std]

extern crate alloc;

mod compare;
mod look;
mod signed_rank;
mod spread;
mod walsh;

pub use compare::{Comparison, Discards, NoVerdict, Verdict, compare};
pub use look::{FIXED, LOOKS, Look, look_at};
pub use signed_rank::{critical_value, p_value};
pub use spread::{Spread, median};
pub use walsh::Walsh;
