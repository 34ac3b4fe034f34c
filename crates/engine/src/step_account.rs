//! The account of one step on one worker: what fell due, what was sent, what was given up, and the recorder of it all.

use record::{Phase, Recorder};

use crate::timers::NEVER;

/// The account of one step, or of one part of a step.
pub(crate) struct StepAccount {
    pub(crate) recorder: Recorder,
    /// By phase; kept apart from the recorder, whose seconds are handed over as they pass.
    totals: [Totals; 2],
}

#[derive(Clone, Copy, Default)]
struct Totals {
    planned: u64,
    sent: u64,
    not_sent: u64,
}

impl StepAccount {
    pub(crate) fn new(recorder: Recorder) -> Self {
        Self { recorder, totals: [Totals::default(); 2] }
    }

    #[inline]
    fn totals(&mut self, intended_ns: u64) -> &mut Totals {
        &mut self.totals[self.recorder.phase(intended_ns) as usize]
    }

    /// Counts a request whose instant has come, whether or not it can be started.
    #[inline]
    pub(crate) fn note_due(&mut self, intended_ns: u64) {
        self.totals(intended_ns).planned += 1;
        self.recorder.tally(intended_ns).note_due(1);
    }

    /// Counts the start of a request that was counted as due.
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

    /// Counts the start of a request that is due because somebody is ready for it.
    #[inline]
    pub(crate) fn note_sent(&mut self, intended_ns: u64, now_ns: u64) {
        let totals = self.totals(intended_ns);
        totals.planned += 1;
        totals.sent += 1;
        self.recorder.tally(intended_ns).note_sent(now_ns);
    }

    /// Gives up what was due and never started.
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
