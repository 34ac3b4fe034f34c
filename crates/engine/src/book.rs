//! One step's accounts on one worker: what fell due, what was sent, what was given up, and the notebook it all goes into.

use record::{Phase, Recorder};

use crate::connection::NEVER;

/// The book of one step.
pub(crate) struct Book {
    pub(crate) recorder: Recorder,
    /// By phase; kept beside the notebook, whose seconds are handed over as they pass.
    accounts: [Account; 2],
}

#[derive(Clone, Copy, Default)]
struct Account {
    planned: u64,
    sent: u64,
    not_sent: u64,
}

impl Book {
    pub(crate) fn new(recorder: Recorder) -> Self {
        Self { recorder, accounts: [Account::default(); 2] }
    }

    #[inline]
    fn account(&mut self, intended_ns: u64) -> &mut Account {
        &mut self.accounts[self.recorder.phase(intended_ns) as usize]
    }

    /// Counts a request whose instant has come, whether or not it can be started.
    #[inline]
    pub(crate) fn note_due(&mut self, intended_ns: u64) {
        self.account(intended_ns).planned += 1;
        self.recorder.tally(intended_ns).note_due(1);
    }

    /// Counts the start of a request that was counted as due.
    #[inline]
    pub(crate) fn note_due_sent(&mut self, intended_ns: u64, now_ns: u64) {
        self.account(intended_ns).sent += 1;
        self.recorder.tally(intended_ns).note_due_sent(now_ns);
    }

    /// Counts a request that was counted as due and will never be started.
    pub(crate) fn note_due_not_sent(&mut self, intended_ns: u64) {
        self.account(intended_ns).not_sent += 1;
        self.recorder.tally(intended_ns).note_due_not_sent(1);
    }

    /// Counts the start of a request that is due because somebody is ready for it.
    #[inline]
    pub(crate) fn note_sent(&mut self, intended_ns: u64, now_ns: u64) {
        let account = self.account(intended_ns);
        account.planned += 1;
        account.sent += 1;
        self.recorder.tally(intended_ns).note_sent(now_ns);
    }

    /// Gives up what was due and never started.
    pub(crate) fn settle(&mut self) {
        for (phase, account) in Phase::ALL.into_iter().zip(self.accounts) {
            let Account { planned, sent, not_sent } = account;
            let intended_ns = if phase == Phase::Measured { NEVER } else { 0 };
            if planned > sent + not_sent {
                self.recorder.tally(intended_ns).note_due_not_sent(planned - sent - not_sent);
            }
        }
    }
}
