//! Estimates with intervals, and comparisons with a known error rate. Pure: it knows no system, no SQL, no printing.
//!
//! The formulas and where they come from are in `docs/statistics.md`.
#![no_std]

extern crate alloc;

mod compare;
mod look;
mod search;
mod signed_rank;
mod spread;
pub mod usl;
mod walsh;

pub use compare::{Comparison, Discards, NoVerdict, Verdict, compare};
pub use look::{FIXED, LOOKS, Look, look_at};
pub use search::{At, Capacity, Judged, Level, Search, SearchEnd, SearchRules, SearchStage, SearchStep, Tally};
pub use signed_rank::{critical_value, p_value};
pub use spread::{Spread, median};
pub use walsh::Walsh;
