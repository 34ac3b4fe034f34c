//! Records the results of requests: outcomes, histograms, and intervals, which merge exactly.
//!
//! The crate is `no_std`: it cannot read a clock, open a file, or start a thread. The caller passes times in nanoseconds. The crate
//! knows neither who sent a request nor where a record is stored.
#![no_std]

extern crate alloc;

mod asked;
mod by_second;
mod bytes;
mod counts;
mod encoding;
mod finish;
mod gaps;
mod health;
mod histogram;
mod interval;
mod ledger;
mod moment;
mod moment_encoding;
mod percentile;
mod pulse;
mod recorder;
mod responses;
mod sample;
mod sizes;
mod spread;
mod tail;
mod tally;
mod waits;
mod window;

pub use asked::OpenParts;
pub use by_second::LoadSecond;
pub use counts::{Counts, IdentityBroken};
pub use encoding::IntervalDecodeError;
pub use finish::Finish;
pub use gaps::{Gap, Gaps};
pub use health::Health;
pub use histogram::Histogram;
pub use interval::{Interval, Phase, Whole};
pub use ledger::{Ledger, LedgerEntry};
pub use moment::{Loss, Moment, Moments};
pub use outcome::{Blame, ClassName, ErrorClass, Outcome};
pub use percentile::{PRINTED, Percentile};
pub use pulse::{Presence, Pulse, Pulses};
pub use recorder::Recorder;
pub use responses::Responses;
pub use sample::Sampled;
pub use sizes::Sizes;
pub use spread::{ConnectionTotals, MinMedianMax, Spread};
pub use tail::{Tail, TailSum};
pub use tally::{Malformed, OutcomeHistograms, Statuses, Tally};
pub use waits::{WaitEnd, Waits};
pub use window::{Backlog, WindowBroken, WindowCounts};
