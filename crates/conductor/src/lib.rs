//! Runs a plan from first to last.
//!
//! `one_run.rs` fits on a screen and names every stage. The crate never knows report formats.

mod around;
mod arrivals;
mod beside;
mod busiest;
mod ceiling;
mod collect;
mod cores;
mod course;
mod doubling;
mod extension;
mod filling;
mod gates;
mod host;
mod judging;
mod live;
mod lone_pass;
mod memory;
mod one_run;
mod pace;
mod place;
mod preflight;
mod prepare;
mod questions;
mod recipe;
mod recording;
mod rehearsal;
mod resolve;
mod schedule;
mod scratch;
mod server_count;
mod spoken;
mod stage;
mod stopper;
mod stretching;
mod study;
mod usage;
mod watchdog;

pub use course::{CapacityAnswer, capacity_answers, level_words, procedure, slos};
pub use filling::{FillError, Progress, fill};
pub use live::{Live, Observer};
pub use loading::{Error as LoadingError, Options as LoadingOptions, PartitionMethod};
pub use one_run::{Finished, RunError, run};
pub use place::{Brief, PlaceEnded};
pub use preflight::preflight;
pub use prepare::{Prepared, Refusal, prepare};
pub use questions::Unready;
pub use rehearsal::{Rehearsed, rehearse};
pub use resolve::ResolveError;
pub use scratch::abandon;
pub use stopper::{StopLevel, Stopper};
pub use study::{Ahead, StudyObserver, begin_study, blocks_of, extend_study, is_of, run_study, tidy_up};
