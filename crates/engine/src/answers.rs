//! When ok answers came in a window of time, and when somebody wanted one.

use record::{AskedParts, Presence};

use crate::timers::NEVER;

/// One window of a worker. Times that have not come are [`NEVER`].
pub(crate) struct Answers {
    from_ns: u64,
    window_ns: u64,
    first_ok_ns: u64,
    last_ok_ns: u64,
    /// Since when a request is open: after the last ok answer, or from the start of the window on.
    asked_ns: u64,
    /// As `asked_ns`, before the first ok answer, once there is one.
    asked_first_ns: u64,
    /// Since when requests were open all the time, or somebody waited to send one.
    wanted_ns: u64,
    asked: AskedParts,
    /// The time that was marked last in `asked`.
    marked_ns: (u64, u64),
    stalled_ns: u64,
}

impl Answers {
    /// A window that begins at this instant and lasts so long, with requests open or not.
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
            asked: AskedParts::default(),
            marked_ns: (0, 0),
            stalled_ns: 0,
        }
    }

    /// A request is open, or waits to be sent, since this instant.
    #[inline]
    pub(crate) fn asked(&mut self, intended_ns: u64) {
        self.asked_ns = self.asked_ns.min(intended_ns);
        self.wanted_ns = self.wanted_ns.min(intended_ns);
    }

    /// The last open request has ended.
    #[inline]
    pub(crate) fn idle(&mut self, at_ns: u64) {
        let from_ns = std::mem::replace(&mut self.wanted_ns, NEVER);
        // Most requests end in the part of the window in which the one before them ended.
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
            let part_ns = self.window_ns / AskedParts::COUNT;
            let (first, last) = (from_ns / part_ns, to_ns.max(from_ns + 1).div_ceil(part_ns));
            self.marked_ns = (self.from_ns + first * part_ns, self.from_ns + last * part_ns);
        }
    }

    /// A request was answered ok, and others are open or not.
    #[inline]
    pub(crate) fn answered(&mut self, at_ns: u64, is_open: bool) {
        if self.first_ok_ns == NEVER {
            (self.first_ok_ns, self.asked_first_ns) = (at_ns, self.asked_ns);
        }
        self.last_ok_ns = self.last_ok_ns.max(at_ns);
        self.asked_ns = if is_open { at_ns } else { NEVER };
    }

    /// The worker was away for so long.
    #[inline]
    pub(crate) fn stalled(&mut self, for_ns: u64) {
        self.stalled_ns += for_ns;
    }

    /// What the window saw up to `to_ns`, with requests open, or waiting to be sent, or not.
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
