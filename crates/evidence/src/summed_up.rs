//! Runs without their seconds: the form in which a study holds its runs in memory.

use record::{Malformed, Tally, Whole};

use crate::Result;
use crate::run::{Run, StoredSecond};

impl Run {
    /// Sums up the seconds by step and phase. Totals stay the same, and memory shrinks to a small part, but single seconds are
    /// lost.
    pub fn summed_up(mut self) -> Result<Self> {
        let mut sums = Vec::new();
        for parts in self.parts.chunk_by(|one, next| (one.step, one.phase) == (next.step, next.phase)) {
            let mut sum = Whole::default();
            for part in parts {
                sum.absorb(&part.counted()).map_err(|source| self.broken(source))?;
                sum.absorb_histograms(&part.histograms).map_err(|Malformed| self.damaged())?;
            }
            sums.extend(parts.first().map(|first| first.with_tally(sum.tally().clone())));
        }
        self.parts = sums;
        self.by_second = Vec::new();
        self.monitored.course = self.course();
        self.monitored.moments = Vec::new();
        self.is_summed_up = true;
        Ok(self)
    }
}

impl StoredSecond {
    /// Returns a stored interval with the step, second, and phase of `self` and the contents of `tally`.
    fn with_tally(&self, tally: Tally) -> Self {
        Self {
            step: self.step,
            second: self.second,
            phase: self.phase,
            histograms: tally.encode_histograms(),
            counts: tally.counts,
            received_bytes: tally.received_bytes,
            sent_bytes: tally.sent_bytes,
            connections: tally.connections,
            first_sent_ns: tally.first_sent_ns,
            last_finished_ns: tally.last_finished_ns,
            window: Some(tally.window),
            statuses: tally.statuses,
            errors: tally.errors,
            sampled: Vec::new(),
        }
    }
}
