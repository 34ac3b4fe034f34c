//! One-second intervals of a run on their way to the store, and their exact sum.

use alloc::vec::Vec;

use crate::counts::IdentityBroken;
use crate::sample::Sampled;
use crate::tally::{Malformed, Tally};

/// Phase of a run, which decides whether a request counts in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Scheduled before the end of the warm-up: recorded and shown, but excluded from all figures.
    WarmUp,
    /// Scheduled after the warm-up.
    Measured,
}

impl Phase {
    /// Both phases, in time order.
    pub const ALL: [Self; 2] = [Self::WarmUp, Self::Measured];
}

/// Data of one thread in one second of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Whole seconds since the load began.
    pub second: u64,
    /// Phase of the requests. A second may have intervals of both phases.
    pub phase: Phase,
    /// Counts and durations.
    pub tally: Tally,
    /// Individual requests kept for a request log. Empty without a log.
    pub sampled: Vec<Sampled>,
}

/// Sum of all intervals of one phase so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    tally: Tally,
}

impl Whole {
    /// Adds an interval, and asserts the accounting identity of the sum, in release builds too.
    pub fn absorb(&mut self, more: &Tally) -> Result<(), IdentityBroken> {
        self.tally.merge(more);
        self.tally.counts.in_flight().map(drop)
    }

    /// Adds histograms encoded by [`Tally::encode_histograms`]: see [`Tally::add_histograms`].
    pub fn absorb_histograms(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.tally.add_histograms(bytes)
    }

    /// Returns the sum so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the final sum. Fails if a request is still in flight.
    pub fn settle(self) -> Result<Tally, IdentityBroken> {
        self.tally.counts.check_settled().map(|()| self.tally)
    }

    /// Returns the final sum of an interrupted run: requests in flight count as unfinished, and waiting ones as not sent.
    pub fn cut_short(mut self) -> Result<Tally, IdentityBroken> {
        self.tally.counts = self.tally.counts.cut_short()?;
        Ok(self.tally)
    }
}
