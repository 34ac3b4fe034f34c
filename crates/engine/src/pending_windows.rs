//! Timeline of a load in windows of 100 ms, as one worker sees it, for jobs that ask for it.

use record::{Loss, Moment, Moments};

use crate::answers::OkAnswers;

/// Windows that were not handed over yet.
pub(crate) struct PendingWindows {
    moments: Moments,
    /// Answers in the current window.
    answers: OkAnswers,
    number: u64,
}

/// Number of windows that may wait to be handed over. There can be many because requests may be sent long after their intended
/// time.
const WINDOWS_MAX: usize = 4096;

impl PendingWindows {
    pub(crate) fn new() -> Self {
        Self { moments: Moments::default(), answers: OkAnswers::new(0, Moment::WINDOW_NS, false), number: 0 }
    }

    /// Counts a request planned for `intended_ns`.
    #[inline]
    pub(crate) fn planned(&mut self, intended_ns: u64) {
        self.at(intended_ns).planned += 1;
    }

    /// Counts a request that is sent now.
    #[inline]
    pub(crate) fn begun(&mut self, intended_ns: u64) {
        self.at(intended_ns).sent += 1;
        self.answers.asked(intended_ns);
    }

    /// Notes that a request has been waiting to be sent since `since_ns`.
    pub(crate) fn waiting(&mut self, since_ns: u64) {
        self.answers.asked(since_ns);
    }

    /// Notes that no request is open any more.
    #[inline]
    pub(crate) fn idle(&mut self, at_ns: u64) {
        self.answers.idle(at_ns);
    }

    /// Counts an OK answer. `is_open`: other requests are still open.
    #[inline]
    pub(crate) fn answered(&mut self, intended_ns: u64, at_ns: u64, is_open: bool) {
        self.at(at_ns).note_ok(at_ns.saturating_sub(intended_ns), at_ns);
        self.answers.answered(at_ns, is_open);
    }

    /// Counts a request that ended without an OK answer.
    pub(crate) fn count_loss(&mut self, loss: Loss, intended_ns: u64, at_ns: u64) {
        self.at(at_ns).note_lost(loss, intended_ns);
    }

    /// Notes that a turn of the event loop began `late_ns` late, `stalled_ns` of which count as a stall.
    #[inline]
    pub(crate) fn late(&mut self, late_ns: u64, stalled_ns: u64) {
        if late_ns > 0 {
            let window = self.moments.window(self.number);
            window.late_ns = window.late_ns.max(late_ns);
            self.answers.stalled(stalled_ns);
        }
    }

    /// Returns the end of the current window.
    #[inline]
    pub(crate) fn window_end_ns(&self) -> u64 {
        (self.number + 1) * Moment::WINDOW_NS
    }

    /// Ends the windows that are over, and the current one if `is_end`. Returns whether the number of waiting windows requires that they
    /// are handed over now.
    pub(crate) fn end_windows(&mut self, now_ns: u64, is_open: bool, is_end: bool) -> bool {
        while now_ns >= self.window_end_ns() {
            self.end_window(self.window_end_ns(), is_open);
        }
        if is_end {
            self.end_window(now_ns, is_open);
        }
        self.moments.len() >= WINDOWS_MAX
    }

    fn end_window(&mut self, to_ns: u64, is_open: bool) {
        let presence = self.answers.presence(to_ns, is_open);
        self.moments.note(&Moment { presence, ..Moment::numbered(self.number) });
        self.number += 1;
        self.answers = OkAnswers::new(self.number * Moment::WINDOW_NS, Moment::WINDOW_NS, is_open);
    }

    /// Takes all windows so far. Later counts for these windows come as further windows of the same numbers, to be added.
    pub(crate) fn take(&mut self) -> Vec<Moment> {
        std::mem::take(&mut self.moments).into_windows()
    }

    #[inline]
    fn at(&mut self, at_ns: u64) -> &mut Moment {
        self.moments.window(at_ns / Moment::WINDOW_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn requests_count_in_window_of_intended_time_and_answers_in_window_of_arrival() {
        let mut timeline = PendingWindows::new();
        [10, 20, 30].into_iter().for_each(|ms| timeline.planned(ms * MS));
        timeline.begun(10 * MS);
        timeline.begun(20 * MS);
        timeline.answered(10 * MS, 60 * MS, true);
        assert!(!timeline.end_windows(250 * MS, true, false));
        timeline.late(60 * MS, 60 * MS);
        timeline.count_loss(Loss::Reset, 20 * MS, 260 * MS);
        timeline.begun(30 * MS);
        timeline.answered(30 * MS, 270 * MS, false);
        timeline.end_windows(290 * MS, false, true);
        let windows = timeline.take();
        assert_eq!(windows.iter().map(|window| window.number).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((windows[0].planned, windows[0].sent, windows[0].ok), (3, 3, 1));
        assert_eq!(windows[0].presence.asked_ns, Some(10 * MS));
        assert_eq!(windows[0].presence.asked_again_ns, Some(60 * MS));
        assert_eq!((windows[1].ok, windows[1].presence.asked_ns), (0, Some(100 * MS)));
        assert_eq!(windows[2].losses.get(&(Loss::Reset, 2)), Some(&1));
        let presence = windows[2].presence;
        assert_eq!((presence.first_ok_ns, presence.asked_ns), (Some(270 * MS), Some(30 * MS)));
        assert_eq!((presence.stalled_ns, windows[2].late_ns), (60 * MS, 60 * MS));
        assert_eq!(timeline.take(), []);
    }
}
