//! The words for outcomes in the file.

use record::Outcome;

/// The word for an outcome in the columns and checksums of every version: *rejected* was once called *refused*.
pub(crate) const fn stored_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "refused",
        Outcome::Ok | Outcome::Failed | Outcome::TimedOut | Outcome::Unfinished => outcome.name(),
    }
}
