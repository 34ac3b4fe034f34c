//! What a run must hold, and whether it did.

mod backlog;
mod connections;
mod drift;
mod figure;
mod judge;

pub use figure::Figure;
pub use judge::{FailedCondition, SloJudgement, judge};
