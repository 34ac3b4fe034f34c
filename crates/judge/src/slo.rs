//! Judges whether a run meets its conditions (SLOs).

mod backlog;
mod connections;
mod decided;
mod drift;
mod figure;
mod judge;

pub use decided::Decided;
pub use figure::Figure;
pub use judge::{FailedCondition, SloJudgement, judge};
