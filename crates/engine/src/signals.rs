//! Per-request bookkeeping with which a worker measures itself: a few additions per request, without reading clocks or system
//! calls.

use record::{Histogram, Loss, Moment, Pulse, Tail, WaitEnd, Waits};

use crate::answers::OkAnswers;
use crate::exchange::Exchange;
use crate::pending_windows::PendingWindows;
use crate::read_delays::ReadDelays;
use crate::timers::NEVER;

/// Delay from which a late turn counts as a stall, during which the thread did not run, and not only as late.
const STALL_NS: u64 = 50_000_000;
/// Delay from which a late turn reads the replies that have arrived before it waits again.
const CATCH_UP_MIN_NS: u64 = 1_000_000;

/// Measurements of one worker, collected from its requests and its turns.
pub(crate) struct Signals {
    measured_from_ns: u64,
    /// Sum of the end times of requests minus the sum of their send times, by phase. It wraps around while requests are in flight; their
    /// ends correct it.
    flights_ns: [u64; 2],
    tail: Tail,
    /// Time that replies spent in the kernel before they were read, for a sample.
    pub(crate) read_delays: ReadDelays,
    reply_bytes: u64,
    /// Number of replies on connections that later received a reply to no request, so that earlier replies may be wrong.
    pub(crate) doubted_replies: u64,
    /// Time at which the event loop asked to be woken.
    wake_due_ns: u64,
    /// Time since which replies that are read now may have waited in the kernel. [`NEVER`] if times of replies do not depend on
    /// reading: kernel timestamps, or no sockets.
    read_due_ns: u64,
    is_catching_up: bool,
    heartbeat_max_ns: u64,
    stalled_ns: u64,
    /// Number of requests sent and not ended.
    open: u32,
    waits: Waits,
    window: Window,
    /// Timeline in windows of 100 ms. `None` if the job does not ask for it.
    timeline: Option<Box<PendingWindows>>,
}

/// Current window.
struct Window {
    from_ns: u64,
    ended: u64,
    response_sum_ns: u64,
    /// Total time in flight of all requests that earlier windows have reported.
    reported_ns: u64,
    ok: u64,
    ok_response_sum_ns: u64,
    answers: OkAnswers,
}

impl Window {
    fn new(from_ns: u64, reported_ns: u64, is_open: bool) -> Self {
        Self {
            from_ns,
            ended: 0,
            response_sum_ns: 0,
            reported_ns,
            ok: 0,
            ok_response_sum_ns: 0,
            answers: OkAnswers::new(from_ns, Pulse::WINDOW_NS, is_open),
        }
    }
}

/// Totals at the end of a load.
pub(crate) struct LoadTotals {
    pub(crate) heartbeat_max_ns: u64,
    pub(crate) stalled_ns: u64,
    pub(crate) in_flight_ns: u64,
    pub(crate) tail: Tail,
    pub(crate) read_delay: Histogram,
    pub(crate) reply_bytes: u64,
    pub(crate) doubted_replies: u64,
    pub(crate) waits: Waits,
}

impl Signals {
    pub(crate) fn new(measured_from_ns: u64) -> Self {
        Self {
            measured_from_ns,
            flights_ns: [0; 2],
            tail: Tail::default(),
            read_delays: ReadDelays::new(),
            reply_bytes: 0,
            doubted_replies: 0,
            wake_due_ns: NEVER,
            read_due_ns: NEVER,
            is_catching_up: false,
            heartbeat_max_ns: 0,
            stalled_ns: 0,
            open: 0,
            waits: Waits::default(),
            window: Window::new(0, 0, false),
            timeline: None,
        }
    }

    /// Turns on the timeline in windows of 100 ms if `is_kept`.
    pub(crate) fn with_timeline(self, is_kept: bool) -> Self {
        Self { timeline: is_kept.then(|| Box::new(PendingWindows::new())), ..self }
    }

    #[inline]
    fn is_measured(&self, intended_ns: u64) -> bool {
        intended_ns >= self.measured_from_ns
    }

    /// Counts a request as in flight from `sent_ns` on.
    #[inline]
    pub(crate) fn sent(&mut self, intended_ns: u64, sent_ns: u64) {
        let flights_ns = &mut self.flights_ns[usize::from(intended_ns >= self.measured_from_ns)];
        *flights_ns = flights_ns.wrapping_sub(sent_ns);
        self.open = self.open.wrapping_add(1);
        self.window.answers.asked(intended_ns);
    }

    /// Removes a request that is abandoned at `at_ns` from those in flight. Its outcome stays unknown.
    #[inline]
    pub(crate) fn left(&mut self, intended_ns: u64, at_ns: u64) {
        let flights_ns = &mut self.flights_ns[usize::from(intended_ns >= self.measured_from_ns)];
        *flights_ns = flights_ns.wrapping_add(at_ns);
        self.open = self.open.wrapping_sub(1);
        if self.open == 0 {
            self.window.answers.idle(at_ns);
            if let Some(timeline) = &mut self.timeline {
                timeline.idle(at_ns);
            }
        }
    }

    /// Corrects the send time of an open request that waited for its connection and is sent only now.
    #[inline]
    pub(crate) fn correct_send_time(&mut self, request: &Exchange, sent_ns: u64) {
        let flights_ns = &mut self.flights_ns[usize::from(request.intended_ns >= self.measured_from_ns)];
        *flights_ns = flights_ns.wrapping_add(request.sent_ns).wrapping_sub(sent_ns);
    }

    /// Notes that requests have been waiting to be sent since `since_ns`, the end of a back-off included, even if nothing else is
    /// open.
    pub(crate) fn waiting(&mut self, since_ns: u64) {
        self.window.answers.asked(since_ns);
        if let Some(timeline) = &mut self.timeline {
            timeline.waiting(since_ns);
        }
    }

    /// Counts the end of a request at `at_ns`, which may lie before the present turn. This program caused `lag_ns` of its send
    /// delay.
    #[inline]
    pub(crate) fn ended(&mut self, request: &Exchange, lag_ns: u64, at_ns: u64) {
        let Exchange { intended_ns, sent_ns, .. } = *request;
        self.left(intended_ns, at_ns);
        let response_ns = at_ns.saturating_sub(intended_ns);
        self.window.ended += 1;
        self.window.response_sum_ns = self.window.response_sum_ns.saturating_add(response_ns);
        if self.is_measured(intended_ns) {
            let read_late_ns = at_ns.saturating_sub(self.read_due_ns.max(sent_ns));
            self.tail.note(response_ns, lag_ns.saturating_add(read_late_ns));
        }
    }

    /// Records how long bytes for a request waited in the kernel before they were read. Values longer than the time since its
    /// sending are ignored.
    pub(crate) fn note_late_read(&mut self, request: &Exchange, queued_ns: u64, at_ns: u64) {
        if self.is_measured(request.intended_ns) && queued_ns <= at_ns.saturating_sub(request.sent_ns) {
            self.read_delays.record(queued_ns);
        }
    }

    /// Counts the OK answer to a request that has ended.
    #[inline]
    pub(crate) fn count_ok(&mut self, intended_ns: u64, at_ns: u64) {
        let window = &mut self.window;
        window.ok += 1;
        let response_ns = at_ns.saturating_sub(intended_ns);
        window.ok_response_sum_ns = window.ok_response_sum_ns.saturating_add(response_ns);
        window.answers.answered(at_ns, self.open > 0);
        if let Some(timeline) = &mut self.timeline {
            timeline.answered(intended_ns, at_ns, self.open > 0);
        }
    }

    /// Counts a request planned for `intended_ns`.
    #[inline]
    pub(crate) fn planned(&mut self, intended_ns: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.planned(intended_ns);
        }
    }

    /// Counts a request that has just become in flight.
    #[inline]
    pub(crate) fn begun(&mut self, intended_ns: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.begun(intended_ns);
        }
    }

    /// Counts a request that ended without an OK answer.
    #[inline]
    pub(crate) fn count_loss(&mut self, loss: Loss, intended_ns: u64, at_ns: u64) {
        if let Some(timeline) = &mut self.timeline {
            timeline.count_loss(loss, intended_ns, at_ns);
        }
    }

    /// Returns the part of a time range that counts as a wait of a user: the part after the warm-up.
    #[inline]
    pub(crate) fn wait_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        to_ns.saturating_sub(from_ns.max(self.measured_from_ns))
    }

    /// Records a wait of a user for an OK answer; see [`Waits::note`].
    #[inline]
    pub(crate) fn record_wait(&mut self, wait_ns: u64, end: WaitEnd) {
        self.waits.note(wait_ns, end);
    }

    /// Counts the bytes of a complete reply.
    #[inline]
    pub(crate) fn count_reply_bytes(&mut self, intended_ns: u64, reply_bytes: u64) {
        if self.is_measured(intended_ns) {
            self.reply_bytes += reply_bytes;
        }
    }

    /// Notes the start of a turn of the event loop.
    #[inline]
    pub(crate) fn note_turn(&mut self, now_ns: u64) {
        let late_ns = now_ns.saturating_sub(self.wake_due_ns);
        if late_ns >= STALL_NS {
            self.window.answers.stalled(late_ns);
            // A stall may begin in the warm-up; only the measured part counts.
            self.stalled_ns += now_ns.saturating_sub(self.wake_due_ns.max(self.measured_from_ns));
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.late(late_ns, if late_ns >= STALL_NS { late_ns } else { 0 });
        }
        if late_ns > self.heartbeat_max_ns && self.is_measured(now_ns) {
            self.heartbeat_max_ns = late_ns;
        }
        self.is_catching_up = late_ns >= CATCH_UP_MIN_NS && !self.is_catching_up;
    }

    /// Returns whether this turn began so late that it reads available replies without waiting. This separates replies that waited in the
    /// kernel from those that arrive now.
    #[inline]
    pub(crate) fn is_catching_up(&self) -> bool {
        self.is_catching_up
    }

    /// Notes that the event loop asks to be woken at `wake_due_ns`. `are_timed_by_reading`: times of replies are those of reading,
    /// not of the kernel.
    #[inline]
    pub(crate) fn note_wake_time(&mut self, wake_due_ns: u64, are_timed_by_reading: bool) {
        self.wake_due_ns = wake_due_ns;
        if !are_timed_by_reading {
            self.read_due_ns = NEVER;
        } else if !self.is_catching_up {
            self.read_due_ns = wake_due_ns;
        }
    }

    /// Returns the end of the current window.
    #[inline]
    pub(crate) fn window_end_ns(&self) -> u64 {
        self.window.from_ns + Pulse::WINDOW_NS
    }

    /// Returns the end of the current window of 100 ms. [`NEVER`] if the timeline is off.
    #[inline]
    pub(crate) fn moment_end_ns(&self) -> u64 {
        self.timeline.as_ref().map_or(NEVER, |timeline| timeline.window_end_ns())
    }

    /// Ends the windows of 100 ms that are over. `is_waiting`: requests wait to be sent. Returns whether windows must be handed
    /// over now.
    #[cold]
    pub(crate) fn end_moments(&mut self, now_ns: u64, is_waiting: bool, is_end: bool) -> bool {
        let is_open = self.open > 0 || is_waiting;
        self.timeline.as_mut().is_some_and(|timeline| timeline.end_windows(now_ns, is_open, is_end))
    }

    /// Takes the windows of 100 ms so far.
    pub(crate) fn take_moments(&mut self) -> Vec<Moment> {
        self.timeline.as_mut().map_or_else(Vec::new, |timeline| timeline.take())
    }

    /// Ends the current window at `to_ns` and returns its record. `is_waiting`: requests wait to be sent. The caller adds the CPU
    /// usage of the thread.
    pub(crate) fn end_window(&mut self, to_ns: u64, in_flight: u32, is_waiting: bool) -> Pulse {
        let flown_ns = self.flights_ns[0]
            .wrapping_add(self.flights_ns[1])
            .wrapping_add(u64::from(in_flight).wrapping_mul(to_ns));
        let Window { from_ns, ended, response_sum_ns, reported_ns, ok, ok_response_sum_ns, .. } = self.window;
        let is_open = self.open > 0 || is_waiting;
        let presence = self.window.answers.presence(to_ns, is_open);
        // Replies that came before this window and were read in it were reported as in flight until its start. If that excess is
        // larger than this window's time in flight, the next window makes up for the rest.
        let since_ns = (flown_ns.wrapping_sub(reported_ns) as i64).max(0) as u64;
        self.window = Window::new(to_ns, reported_ns.wrapping_add(since_ns), is_open);
        Pulse {
            at_ns: from_ns,
            lasting_ns: to_ns - from_ns,
            ended,
            response_sum_ns,
            ok,
            ok_response_sum_ns,
            in_flight_ns: since_ns,
            presence,
            ..Pulse::default()
        }
    }

    /// Returns the totals at the end of the load, when nothing is in flight.
    pub(crate) fn end(self) -> LoadTotals {
        LoadTotals {
            heartbeat_max_ns: self.heartbeat_max_ns,
            stalled_ns: self.stalled_ns,
            in_flight_ns: self.flights_ns[1],
            tail: self.tail,
            read_delay: self.read_delays.into_histogram(),
            reply_bytes: self.reply_bytes,
            doubted_replies: self.doubted_replies,
            waits: self.waits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: u64 = Pulse::WINDOW_NS;

    fn request(intended_ns: u64, sent_ns: u64) -> Exchange {
        Exchange::new(0, 0, intended_ns, sent_ns, sent_ns)
    }

    #[test]
    fn late_read_reply_is_corrected_in_the_next_window() {
        let mut signals = Signals::new(0);
        signals.sent(0, 100);
        signals.sent(0, WINDOW_NS - 50);
        let first = signals.end_window(WINDOW_NS, 2, false);
        assert_eq!((first.at_ns, first.lasting_ns, first.ended), (0, WINDOW_NS, 0));
        assert_eq!(first.in_flight_ns, WINDOW_NS - 100 + 50);
        // This reply came in the first window and was read in the second.
        signals.ended(&request(0, WINDOW_NS - 50), 0, WINDOW_NS - 20);
        let second = signals.end_window(2 * WINDOW_NS, 1, false);
        assert_eq!((second.ended, second.response_sum_ns), (1, WINDOW_NS - 20));
        assert_eq!(second.in_flight_ns, WINDOW_NS - 20);
        signals.ended(&request(0, 100), 0, 2 * WINDOW_NS + 7);
        let last = signals.end_window(2 * WINDOW_NS + 9, 0, false);
        assert_eq!((last.at_ns, last.lasting_ns, last.in_flight_ns), (2 * WINDOW_NS, 9, 7));
        let service_ns = 30 + 2 * WINDOW_NS + 7 - 100;
        assert_eq!(first.in_flight_ns + second.in_flight_ns + last.in_flight_ns, service_ns);
        assert_eq!(signals.end().in_flight_ns, service_ns);
    }

    #[test]
    fn time_in_flight_of_a_window_is_never_negative() {
        let mut signals = Signals::new(0);
        signals.sent(0, 0);
        assert_eq!(signals.end_window(WINDOW_NS, 1, false).in_flight_ns, WINDOW_NS);
        signals.ended(&request(0, 0), 0, WINDOW_NS - 500);
        assert_eq!(signals.end_window(2 * WINDOW_NS, 0, false).in_flight_ns, 0);
        signals.sent(0, 2 * WINDOW_NS);
        assert_eq!(signals.end_window(3 * WINDOW_NS, 1, false).in_flight_ns, WINDOW_NS - 500);
    }

    #[test]
    fn warm_up_counts_in_windows_and_not_in_totals() {
        let mut signals = Signals::new(1_000);
        signals.sent(999, 999);
        signals.note_wake_time(1_000, true);
        signals.ended(&request(999, 999), 5, 1_500);
        signals.count_reply_bytes(999, 70);
        signals.note_turn(999);
        assert_eq!(signals.end_window(WINDOW_NS, 0, false).ended, 1);
        let noted = signals.end();
        assert_eq!((noted.in_flight_ns, noted.reply_bytes, noted.heartbeat_max_ns), (0, 0, 0));
        assert_eq!(noted.tail, Tail::default());
    }

    #[test]
    fn late_wake_up_counts_as_lag_of_waiting_replies() {
        let mut signals = Signals::new(0);
        signals.note_wake_time(2_000, true);
        for (sent_ns, at_ns) in [(0, 1_900), (0, 5_000), (4_000, 5_000)] {
            signals.sent(0, sent_ns);
            signals.ended(&request(0, sent_ns), 10, at_ns);
        }
        signals.note_turn(5_100);
        // 10 each, 3,000 since the loop should have been back, and 1,000 for the request sent after that.
        let noted = signals.end();
        assert_eq!((noted.tail.all().lag_ns, noted.heartbeat_max_ns), (30 + 3_000 + 1_000, 3_100));
    }

    #[test]
    fn read_delay_longer_than_service_time_is_ignored() {
        let mut signals = Signals::new(100);
        for (intended_ns, queued_ns) in [(0, 10), (100, 10), (100, 900), (100, 901)] {
            signals.note_late_read(&request(intended_ns, intended_ns), queued_ns, 1_000);
        }
        let noted = signals.end().read_delay;
        assert_eq!((noted.count(), noted.max_ns()), (2, Some(900)));
    }

    #[test]
    fn late_turn_catches_up_and_the_next_one_does_not() {
        const MS: u64 = 1_000_000;
        let mut signals = Signals::new(0);
        let mut lags_ns = Vec::new();
        for (now_ns, wake_due_ns) in [(0, 20 * MS), (50 * MS, 50 * MS), (51 * MS, 71 * MS)] {
            signals.note_turn(now_ns);
            signals.note_wake_time(wake_due_ns, true);
            signals.sent(0, 0);
            signals.ended(&request(0, 0), 0, now_ns + MS);
            lags_ns.push(signals.tail.all().lag_ns);
        }
        assert_eq!(lags_ns, [0, 31 * MS, 31 * MS]);
        // If replies have kernel timestamps, a late read adds no lag.
        signals.note_wake_time(0, false);
        signals.sent(0, 0);
        signals.ended(&request(0, 0), 0, 90 * MS);
        assert_eq!(signals.end().tail.all().lag_ns, 31 * MS);
    }

    #[test]
    fn stalls_of_at_least_50_ms_add_up() {
        let mut signals = Signals::new(0);
        for (due_ms, back_ms) in [(10, 59), (100, 300), (400, 450)] {
            signals.note_wake_time(due_ms * 1_000_000, true);
            signals.note_turn(back_ms * 1_000_000);
        }
        let noted = signals.end();
        assert_eq!((noted.stalled_ns, noted.heartbeat_max_ns), (250_000_000, 200_000_000));
    }

    #[test]
    fn stalled_time_counts_from_the_end_of_the_warm_up() {
        let mut signals = Signals::new(200_000_000);
        for (due_ms, back_ms) in [(10, 80), (100, 300), (400, 460)] {
            signals.note_wake_time(due_ms * 1_000_000, true);
            signals.note_turn(back_ms * 1_000_000);
        }
        assert_eq!(signals.end().stalled_ns, 160_000_000);
    }

    #[test]
    fn wait_for_connection_does_not_count_as_in_flight() {
        let mut signals = Signals::new(0);
        signals.sent(10, 10);
        signals.correct_send_time(&request(10, 10), 60);
        signals.ended(&request(10, 60), 0, 100);
        assert_eq!(signals.end().in_flight_ns, 40);
    }
}
