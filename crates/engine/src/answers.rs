//! OK answers in a window of time, and the times at which requests were open.

use record::{OpenParts, Presence};

use crate::timers::NEVER;

/// OK answers of one worker in a window. Times that have not occurred yet are [`NEVER`].
pub(crate) struct OkAnswers {
    from_ns: u64,
    window_ns: u64,
    first_ok_ns: u64,
    last_ok_ns: u64,
    /// Time since which a request is open: after the last OK answer, or since the start of the window.
    asked_ns: u64,
    /// Value of `asked_ns` before the first OK answer; set with that answer.
    asked_first_ns: u64,
    /// Time since which requests have been open, or waiting to be sent, without a gap.
    wanted_ns: u64,
    asked: OpenParts,
    /// Time range that the latest call marked in `asked`, rounded to parts of the window.
    marked_ns: (u64, u64),
    stalled_ns: u64,
}

impl OkAnswers {
    /// Creates a window of `window_ns` from `from_ns` on. `is_open`: requests are open at its start.
    pub(crate) fn new(from_ns: u64, window_ns: u64, is_open: bool) -> Self {
        let asked_ns = if is_open { from_ns } else { NEVER };
        Self {
            from_ns,
            window_ns,
            first_ok_ns: NEVER,
            last_ok_ns: 0,
            asked_ns,
            asked_first_ns: NEVER,
            wanted_ns: asked_ns,
            asked: OpenParts::default(),
            marked_ns: (0, 0),
            stalled_ns: 0,
        }
    }

    /// Notes that a request has been open, or waiting to be sent, since `intended_ns`.
    #[inline]
    pub(crate) fn asked(&mut self, intended_ns: u64) {
        self.asked_ns = self.asked_ns.min(intended_ns);
        self.wanted_ns = self.wanted_ns.min(intended_ns);
    }

    /// Notes that no request is open any more.
    #[inline]
    pub(crate) fn idle(&mut self, at_ns: u64) {
        let from_ns = std::mem::replace(&mut self.wanted_ns, NEVER);
        // Most requests end in the part of the window in which the previous one ended, which is marked already.
        if from_ns < self.marked_ns.0 || at_ns > self.marked_ns.1 {
            self.mark(from_ns, at_ns);
        }
    }

    fn mark(&mut self, from_ns: u64, to_ns: u64) {
        let (from_ns, to_ns) = (from_ns.max(self.from_ns), to_ns.min(self.from_ns + self.window_ns));
        let (Some(from_ns), Some(to_ns)) =
            (from_ns.checked_sub(self.from_ns), to_ns.checked_sub(self.from_ns))
        else {
            return;
        };
        if from_ns <= to_ns {
            self.asked.mark(from_ns, to_ns, self.window_ns);
            let part_ns = self.window_ns / OpenParts::COUNT;
            let (first, last) = (from_ns / part_ns, to_ns.max(from_ns + 1).div_ceil(part_ns));
            self.marked_ns = (self.from_ns + first * part_ns, self.from_ns + last * part_ns);
        }
    }

    /// Notes an OK answer. `is_open`: other requests are still open.
    #[inline]
    pub(crate) fn answered(&mut self, at_ns: u64, is_open: bool) {
        if self.first_ok_ns == NEVER {
            (self.first_ok_ns, self.asked_first_ns) = (at_ns, self.asked_ns);
        }
        self.last_ok_ns = self.last_ok_ns.max(at_ns);
        self.asked_ns = if is_open { at_ns } else { NEVER };
    }

    /// Adds a stall of the worker.
    #[inline]
    pub(crate) fn stalled(&mut self, for_ns: u64) {
        self.stalled_ns += for_ns;
    }

    /// Returns the summary of the window up to `to_ns`. `is_open`: requests are open, or waiting to be sent.
    pub(crate) fn presence(&mut self, to_ns: u64, is_open: bool) -> Presence {
        if is_open {
            self.mark(self.wanted_ns, to_ns);
        }
        let known = |at_ns: u64| (at_ns != NEVER).then_some(at_ns);
        let was_answered = self.first_ok_ns != NEVER;
        Presence {
            first_ok_ns: known(self.first_ok_ns),
            last_ok_ns: was_answered.then_some(self.last_ok_ns),
            asked_ns: known(if was_answered { self.asked_first_ns } else { self.asked_ns }),
            asked_again_ns: known(self.asked_ns).filter(|_| was_answered),
            asked: self.asked,
            stalled_ns: self.stalled_ns,
        }
    }
}
