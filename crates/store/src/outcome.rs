//! Names of outcomes in the file.

use record::Outcome;

/// Returns the name of an outcome in the columns and checksums of every version. *Rejected* is still stored under its
/// old name *refused*.
pub(crate) const fn stored_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "refused",
        Outcome::Ok | Outcome::Failed | Outcome::TimedOut | Outcome::Unfinished => outcome.name(),
    }
}
