//! Judges whether a run held its conditions (SLOs).

mod backlog;
mod connections;
mod drift;
mod figure;
mod judge;

pub use figure::Figure;
pub use judge::{FailedCondition, SloJudgement, judge};
