//! When to start each request and with which values: arithmetic only.
//!
//! Times are nanoseconds since the load began, rates are per second. The crate is `no_std`: it has no clock, no socket and
//! no thread, and every draw comes from a seed, so that the same seed gives the same load anywhere.
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
pub use schedule::{Arrivals, Schedule, Spacing};
pub use share::Share;
pub use stop::Stop;
pub use values::{DataSource, Values};

/// Nanoseconds in a second, the unit of rates against the unit of times.
pub const SECOND_NS: u64 = 1_000_000_000;

/// How much load, and whether users wait for replies.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// A number of users, each of whom waits for a reply before the next request.
    Closed(Closed),
    /// Requests that start at their own times, whatever the system does.
    Open(Open),
}

impl Load {
    /// Memory of what was recorded for it, in bytes; 0 where send times are computed.
    pub fn kept_bytes(&self) -> u64 {
        match self {
            // Each user has a copy of its instants, which take half of what the arrivals do.
            Self::Closed(closed) => closed.schedule.as_ref().map_or(0, |of| of.kept_bytes() / 2 * 3),
            Self::Open(open) => open.schedule.kept_bytes(),
        }
    }
}
