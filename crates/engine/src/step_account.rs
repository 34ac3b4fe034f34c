//! Account of one step on one worker: requests due, sent, and not sent, and the recorder of their results.

use record::{Phase, Recorder};

use crate::contents::Contents;
use crate::timers::NEVER;

/// Account of a step, of a part of a step, or of an address.
pub(crate) struct StepAccount {
    pub(crate) recorder: Recorder,
    /// Totals by phase. They are separate from the recorder, which hands over each second when it is complete.
    totals: [Totals; 2],
    /// Content of the replies. Empty for parts and addresses.
    pub(crate) contents: Contents,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    planned: u64,
    sent: u64,
    not_sent: u64,
}

impl StepAccount {
    pub(crate) fn new(recorder: Recorder) -> Self {
        Self { recorder, totals: [Totals::default(); 2], contents: Contents::default() }
    }

    #[inline]
    fn totals(&mut self, intended_ns: u64) -> &mut Totals {
        &mut self.totals[self.recorder.phase(intended_ns) as usize]
    }

    /// Counts a due request, whether or not it can be started.
    #[inline]
    pub(crate) fn note_due(&mut self, intended_ns: u64) {
        self.totals(intended_ns).planned += 1;
        self.recorder.tally(intended_ns).note_due(1);
    }

    /// Counts the start of a request that was counted as due before.
    #[inline]
    pub(crate) fn note_due_sent(&mut self, intended_ns: u64, now_ns: u64) {
        self.totals(intended_ns).sent += 1;
        self.recorder.tally(intended_ns).note_due_sent(now_ns);
    }

    /// Counts a request that was counted as due and will never be started.
    pub(crate) fn note_due_not_sent(&mut self, intended_ns: u64) {
        self.totals(intended_ns).not_sent += 1;
        self.recorder.tally(intended_ns).note_due_not_sent(1);
    }

    /// Counts a request that is due and started at the same time, as in a closed load.
    #[inline]
    pub(crate) fn note_sent(&mut self, intended_ns: u64, now_ns: u64) {
        let totals = self.totals(intended_ns);
        totals.planned += 1;
        totals.sent += 1;
        self.recorder.tally(intended_ns).note_sent(now_ns);
    }

    /// Counts due requests that were never started as not sent.
    pub(crate) fn settle(&mut self) {
        for (phase, totals) in Phase::ALL.into_iter().zip(self.totals) {
            let Totals { planned, sent, not_sent } = totals;
            let intended_ns = if phase == Phase::Measured { NEVER } else { 0 };
            if planned > sent + not_sent {
                self.recorder.tally(intended_ns).note_due_not_sent(planned - sent - not_sent);
            }
        }
    }
}
