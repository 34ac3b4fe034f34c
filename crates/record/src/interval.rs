//! Seconds of a run on their way to the store, and their exact sum.

use alloc::vec::Vec;

use crate::counts::IdentityBroken;
use crate::sample::Sampled;
use crate::tally::{Malformed, Tally};

/// Whether a request belongs to the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Intended before the warm-up was over: kept, shown, and left out of every figure.
    WarmUp,
    /// Intended after it.
    Measured,
}

impl Phase {
    /// Both, in order of time.
    pub const ALL: [Self; 2] = [Self::WarmUp, Self::Measured];
}

/// What one thread saw in one second, of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Whole seconds since the load began.
    pub second: u64,
    /// The phase of the requests in it. A second can have both.
    pub phase: Phase,
    /// What was seen.
    pub tally: Tally,
    /// Single requests kept for a log, if one was asked for.
    pub sampled: Vec<Sampled>,
}

/// The sum of all intervals of one phase so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    tally: Tally,
}

impl Whole {
    /// Adds an interval and asserts the accounting identity of everything up to now, in release builds too.
    pub fn absorb(&mut self, more: &Tally) -> Result<(), IdentityBroken> {
        self.tally.merge(more);
        self.tally.counts.in_flight().map(drop)
    }

    /// Adds histograms from bytes that [`Tally::encode_histograms`] made; see [`Tally::add_histograms`].
    pub fn absorb_histograms(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.tally.add_histograms(bytes)
    }

    /// Everything up to now.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The final sum, once nothing is in flight any more.
    pub fn settle(self) -> Result<Tally, IdentityBroken> {
        self.tally.counts.settled().map(|()| self.tally)
    }

    /// The final sum of a run that was cut short: what was in flight is called unfinished, what waited not sent.
    pub fn cut_short(mut self) -> Result<Tally, IdentityBroken> {
        self.tally.counts = self.tally.counts.cut_short()?;
        Ok(self.tally)
    }
}
