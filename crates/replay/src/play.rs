//! Plays a trace over connections, and compares each result with the log.
//!
//! The engine's script has one step, which sends the next item of its connection. Each fingerprint is a separately counted part: part 1 + n
//! is fingerprint n.

pub(crate) mod outcomes;
mod requests;
mod row_hash;
mod sql;

pub use self::outcomes::{DIFFERENCES_MAX, Difference, FingerprintOutcome, Outcomes};
pub use self::requests::{RequestPlay, RequestPlayer};
pub use self::sql::{OpenSession, SqlPlay, SqlPlayer};
pub use crate::databases::{CommandPlay, CommandPlayer};

/// Error for a system with a protocol that has neither statements nor requests.
pub const NOT_REPLAYABLE: &str = "traffic cannot be replayed in the protocol of this system";

/// Number of the part of a fingerprint.
pub(crate) fn part(fingerprint: u16) -> u16 {
    fingerprint.saturating_add(1)
}
