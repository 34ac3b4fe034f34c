//! When ok answers came in a window of time, and since when somebody asked for one.

use record::Presence;

use crate::timers::NEVER;

/// One window of a worker. Times that have not come are [`NEVER`].
pub(crate) struct Answers {
    first_ok_ns: u64,
    last_ok_ns: u64,
    /// Since when a request is open: after the last ok answer, or from the start of the window on.
    asked_ns: u64,
    /// The same before the first ok answer, once there is one.
    asked_first_ns: u64,
    stalled_ns: u64,
}

impl Answers {
    /// A window that begins at this instant, with requests open or not.
    pub(crate) fn new(from_ns: u64, is_open: bool) -> Self {
        Self {
            first_ok_ns: NEVER,
            last_ok_ns: 0,
            asked_ns: if is_open { from_ns } else { NEVER },
            asked_first_ns: NEVER,
            stalled_ns: 0,
        }
    }

    /// A request is open.
    #[inline]
    pub(crate) fn asked(&mut self, intended_ns: u64) {
        self.asked_ns = self.asked_ns.min(intended_ns);
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

    pub(crate) fn presence(&self) -> Presence {
        let known = |at_ns: u64| (at_ns != NEVER).then_some(at_ns);
        let was_answered = self.first_ok_ns != NEVER;
        Presence {
            first_ok_ns: known(self.first_ok_ns),
            last_ok_ns: was_answered.then_some(self.last_ok_ns),
            asked_ns: known(if was_answered { self.asked_first_ns } else { self.asked_ns }),
            asked_again_ns: known(self.asked_ns).filter(|_| was_answered),
            stalled_ns: self.stalled_ns,
        }
    }
}
