//! Which run next: order, procedures, budget, and how a study is resumed.
//!
//! `study.rs` is the whole loop; `run_maker.rs` says what it asks of whoever makes the runs. The crate never knows how a run is
//! made.

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
pub use stats::OVERRULED_BY;
pub use study::{begin_study, blocks_of, extend_study, is_of, run_study};
pub use study_error::{Broken, StudyError};
