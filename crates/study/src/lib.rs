//! Decides which run of a study comes next: order, procedures, time limit, and resumption.
//!
//! `study.rs` has the main loop. `run_maker.rs` has the interface to the code that makes the runs. The crate does not
//! know how runs are made.

mod arrivals;
mod likely_bottlenecks;
mod pace;
mod procedure;
mod run_maker;
mod schedule;
mod study;
mod study_error;

pub use procedure::{level_words, procedure, slos};
pub use run_maker::{Draws, Journal, RunMaker, StoredStudy};
pub use stats::OVERRULE_LEAD;
pub use study::{begin_study, blocks_of, extend_study, is_of, run_study};
pub use study_error::{RunStudyError, StudyError};
