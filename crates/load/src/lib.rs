//! Computes when each request starts, and its values.
//!
//! Times are nanoseconds since the load began, and rates are per second. The crate is `no_std`: it has no clock, socket, or thread.
//! Every random number comes from a seed, so a seed gives identical loads on every machine.
#![no_std]

extern crate alloc;

pub mod chance;
pub mod closed;
mod condition;
pub mod open;
mod recording;
mod scenario;
mod schedule;
mod share;
mod stop;
pub mod values;
pub mod xoroshiro;

pub use closed::{Closed, ThinkTime};
pub use condition::{Condition, Guard, Subject, Test};
pub use open::Open;
pub use recording::{Arrival, Recording};
pub use scenario::{Order, Routes, Scenario, ScenarioPosition, Scenarios, Visit};
pub use schedule::{Arrivals, Schedule, Spacing, Streamed, UserTimes};
pub use share::Share;
pub use stop::Stop;
pub use values::{DataSource, Values};

/// Nanoseconds per second, to convert between rates and times.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Load: closed or open.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Fixed number of users, each of which waits for a reply before its next request.
    Closed(Closed),
    /// Requests that start at scheduled times, regardless of replies.
    Open(Open),
}

impl Load {
    /// Returns the memory of the recorded arrivals, in bytes. 0 if send times are computed.
    pub fn kept_bytes(&self) -> u64 {
        match self {
            // Each user has its own copy of its send times, which takes half as much as the arrivals.
            Self::Closed(closed) => closed.schedule.as_ref().map_or(0, |of| of.kept_bytes() / 2 * 3),
            Self::Open(open) => open.schedule.kept_bytes(),
        }
    }
}
