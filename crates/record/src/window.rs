//! Measured window: replies that count in a rate, and requests open at both of its ends.

use core::fmt;

use crate::tally::Tally;
use outcome::Outcome;

/// Requests by the time they ended, no matter when they were scheduled. Ends before the window are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCounts {
    /// Ended ok within the window.
    pub ok: u64,
    /// Rejected within the window.
    pub rejected: u64,
    /// Failed or timed out within the window.
    pub other: u64,
    /// Ended after the window with any outcome, while the load drained.
    pub after: u64,
}

impl WindowCounts {
    /// Counts an end at or after the start of the window. An unfinished request has no end.
    #[inline]
    pub(crate) fn note(&mut self, outcome: Outcome, is_after: bool) {
        let counter = match outcome {
            Outcome::Unfinished => return,
            _ if is_after => &mut self.after,
            Outcome::Ok => &mut self.ok,
            Outcome::Rejected => &mut self.rejected,
            Outcome::Failed | Outcome::TimedOut => &mut self.other,
        };
        *counter += 1;
    }

    /// Adds another part of the run.
    pub fn add(&mut self, more: &Self) {
        self.ok += more.ok;
        self.rejected += more.rejected;
        self.other += more.other;
        self.after += more.after;
    }

    /// Returns the number of replies within the window, ok or rejected.
    pub fn answers(&self) -> u64 {
        self.ok.saturating_add(self.rejected)
    }

    /// Returns the number of requests that ended within the window, with any outcome.
    pub fn ended(&self) -> u64 {
        self.answers().saturating_add(self.other)
    }
}

/// Requests that were planned and had not ended, at both ends of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Backlog at the start of the window.
    pub at_start: u64,
    /// Backlog at the end of the window.
    pub at_end: u64,
}

/// More requests ended in the window than were open at its start or scheduled in it: a bug in Tenbin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBroken {
    /// Requests that ended in the window.
    pub ended: u64,
    /// Requests scheduled in the window.
    pub planned: u64,
    /// Warm-up requests open at the start of the window. `None` if more of them ended than were planned.
    pub backlog: Option<u64>,
}

impl Backlog {
    /// Computes the backlog from the sums of both phases. Checks that completions ≤ scheduled + backlog at the start, so that no
    /// rate can exceed the offered load.
    pub fn of(warm_up: &Tally, measured: &Tally) -> Result<Self, WindowBroken> {
        let (warm, here) = (&warm_up.window, &measured.window);
        let planned = measured.counts.planned;
        let ended = warm.ended().saturating_add(here.ended());
        let open_at_start = || {
            let answered = warm_up.counts.ended().checked_sub(warm_up.counts.unfinished)?;
            let before = answered.checked_sub(warm.ended())?.checked_sub(warm.after)?;
            warm_up.counts.planned.checked_sub(before)
        };
        let at_start = open_at_start();
        let broken = WindowBroken { ended, planned, backlog: at_start };
        let at_start = at_start.ok_or(broken)?;
        let at_end = planned.checked_add(at_start).and_then(|offered| offered.checked_sub(ended));
        Ok(Self { at_start, at_end: at_end.ok_or(broken)? })
    }
}

impl fmt::Display for WindowBroken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ended, planned, backlog } = *self;
        write!(f, "the window does not add up: {ended} requests ended in it, {planned} were planned in it")?;
        match backlog {
            Some(backlog) => write!(f, ", and {backlog} were open when it began"),
            None => write!(f, ", and more requests of the warm-up ended than were planned"),
        }
    }
}

impl core::error::Error for WindowBroken {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counts;

    fn tally(planned: u64, ended_ok: u64, window: WindowCounts) -> Tally {
        let counts = Counts { planned, sent: planned, ok: ended_ok, ..Counts::default() };
        Tally { counts, window, ..Tally::default() }
    }

    #[test]
    fn only_backlog_and_scheduled_requests_may_end_in_the_window() {
        // Ten of the warm-up: six ended in it, three in the window, and one after it.
        let warm_up = tally(10, 10, WindowCounts { ok: 3, after: 1, ..WindowCounts::default() });
        let measured = tally(5, 5, WindowCounts { ok: 4, after: 1, ..WindowCounts::default() });
        assert_eq!(Backlog::of(&warm_up, &measured), Ok(Backlog { at_start: 4, at_end: 2 }));
        let too_many = tally(5, 5, WindowCounts { ok: 10, ..WindowCounts::default() });
        assert_eq!(
            Backlog::of(&warm_up, &too_many),
            Err(WindowBroken { ended: 13, planned: 5, backlog: Some(4) })
        );
        let from_nowhere = tally(2, 2, WindowCounts { ok: 3, ..WindowCounts::default() });
        assert!(Backlog::of(&from_nowhere, &measured).is_err(), "more ended in the window than ended");
    }
}
