//! Late reading of replies in open loads, with the receive timestamps of the kernel.
//!
//! Waking up for each reply costs as much as sending a request. With spare connections, a worker of a dense open load sleeps until
//! the next requests are due. It then reads all replies that have arrived. Their times are the kernel's receive timestamps, which
//! are more accurate than the time of reading.

use load::Load;
use wire::Reply;

use super::Worker;
use crate::clock::Clock;
use crate::driver::Driver;
use crate::job::{Endpoint, Job, Peer};

/// Max time that a reply may wait in the kernel.
const WAIT_MAX_NS: u64 = 600_000;
/// Max size of replies that are read late. Larger ones would fill the socket's receive buffer and block the sender.
const REPLY_BYTES_MAX: u64 = 16 * 1024;

/// Smallest change of the offset between the real-time clock and the load's clock, from one turn to the next, that shows that the
/// clock was set.
const STEP_NS: u64 = 100_000;

/// State for reading replies late.
#[derive(Debug)]
pub(super) struct LateReading {
    clocks: Clocks,
    has_unfit_reply: bool,
}

impl LateReading {
    /// Enables late reading for an open load on one peer over TCP whose replies trigger no further requests. `None` for other
    /// loads: they must continue when a reply arrives, or their sockets have no timestamps.
    pub(super) fn for_job(job: &Job) -> Option<Self> {
        let is_tcp = |peer: &Peer| peer.endpoints.iter().all(|endpoint| matches!(endpoint, Endpoint::Tcp(_)));
        let is_one_over_tcp = matches!(job.peers.as_slice(), [only] if is_tcp(only));
        let is_fit =
            matches!(&job.load, Load::Open(_)) && is_one_over_tcp && !job.scenarios.has_later_steps();
        is_fit.then(|| Self { clocks: Clocks::default(), has_unfit_reply: false })
    }

    /// Compares the clocks after each poll of the sockets, because the real-time clock may be set during a load.
    pub(super) fn set_clock(&mut self, clock: &Clock) {
        // In this order, a pause between the two readings makes timestamps later, but never later than the read.
        let real_time_ns = Clock::real_time_ns();
        self.clocks.compare(real_time_ns, clock.now());
    }

    /// Returns whether replies that arrived since the last poll may wait until `next_ns`: not longer than [`WAIT_MAX_NS`], and not past the
    /// next timer `timer_ns`, which may be a deadline.
    fn may_defer(&self, next_ns: u64, timer_ns: Option<u64>) -> bool {
        let until_ns = self.clocks.now_ns.saturating_add(WAIT_MAX_NS);
        next_ns <= until_ns && timer_ns.is_none_or(|timer_ns| timer_ns > until_ns)
    }

    /// Converts the timestamp of a reply, whose request was sent at `sent_ns`, to the load's time.
    pub(super) fn time_of(&self, real_time_ns: i64, sent_ns: u64, clock: &Clock) -> u64 {
        self.clocks.time_of(real_time_ns, sent_ns, || clock.now())
    }

    /// Turns off late reading after a reply that is too large for the receive buffer, or that is followed by a close. A close has
    /// no timestamp and leads to a new connection.
    pub(super) fn note_reply(&mut self, reply: &Reply) {
        self.has_unfit_reply |= reply.received_bytes > REPLY_BYTES_MAX || !reply.reusable;
    }
}

/// Offset between the real-time clock, on which timestamps are based, and the load's clock.
#[derive(Debug, Default)]
struct Clocks {
    /// Real-time clock minus the load's clock.
    real_time_ahead_ns: i64,
    /// Load's time of the latest comparison.
    now_ns: u64,
    /// Whether the real-time clock was set between the latest two comparisons.
    was_set: bool,
}

impl Clocks {
    fn compare(&mut self, real_time_ns: i64, now_ns: u64) {
        let ahead_ns = real_time_ns.saturating_sub_unsigned(now_ns);
        self.was_set = ahead_ns.abs_diff(self.real_time_ahead_ns) > STEP_NS;
        (self.real_time_ahead_ns, self.now_ns) = (ahead_ns, now_ns);
    }

    /// Converts a timestamp to the load's time. Returns the time of reading if the timestamp cannot be right: taken while the
    /// real-time clock was set, before the request was sent, or in the future.
    fn time_of(&self, real_time_ns: i64, sent_ns: u64, read_at: impl FnOnce() -> u64) -> u64 {
        match u64::try_from(real_time_ns.saturating_sub(self.real_time_ahead_ns)) {
            Ok(at_ns) if !self.was_set && (sent_ns..=self.now_ns).contains(&at_ns) => at_ns,
            Ok(at_ns) if !self.was_set && at_ns > self.now_ns => at_ns.min(read_at()),
            _ => read_at(),
        }
    }
}

impl Worker<'_> {
    /// Returns whether the thread may sleep for `wait_ns` without polling its sockets.
    pub(super) fn may_read_late(&self, wait_ns: u64) -> bool {
        let (Driver::Open(open), Some(late_reading)) = (&self.driver, &self.late_reading) else {
            return false;
        };
        self.unread.is_empty()
            && self.unsent.is_empty()
            && self.in_flight > 0
            && self.dialing == 0
            && wait_ns <= WAIT_MAX_NS
            && !late_reading.has_unfit_reply
            && open.idle.len() * 2 >= self.users.len()
    }

    /// Returns whether replies may wait in the kernel until further requests are due, so that one poll serves the replies of several turns.
    pub(super) fn may_defer_reading(&mut self) -> bool {
        let now_ns = self.clock.now();
        let Some(next_ns) = self.next_event_ns(now_ns) else { return false };
        let timer_ns = self.timers.next_ns();
        self.late_reading.as_ref().is_some_and(|late_reading| late_reading.may_defer(next_ns, timer_ns))
            && self.may_read_late(next_ns.saturating_sub(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const SECOND: i64 = 1_000_000_000;
    /// Real-time clock at the start of the load.
    const DATE: i64 = 1_700_000_000 * SECOND;

    /// Returns the time that is computed for a reply that arrives at 1,005 ms, is read at 1,005.5 ms, and answers a request sent at 1,000
    /// ms. The real-time clock is set by `step_ns` between the timestamp and the comparison, or between the comparison and the timestamp.
    fn read_across_a_step(step_ns: i64, is_stamped_before: bool) -> u64 {
        let (sent_ns, came_ns, read_ns) = (1_000 * MS, 1_005 * MS, 1_005 * MS + 500_000);
        let stamp_ns = |ahead_ns: i64| DATE + ahead_ns + came_ns as i64;
        let mut clocks = Clocks::default();
        clocks.compare(DATE + 1_004 * MS as i64, 1_004 * MS);
        if is_stamped_before {
            clocks.compare(DATE + step_ns + read_ns as i64, read_ns);
            clocks.time_of(stamp_ns(0), sent_ns, || read_ns)
        } else {
            clocks.compare(DATE + 1_004 * MS as i64 + 100_000, 1_004 * MS + 100_000);
            clocks.time_of(stamp_ns(step_ns), sent_ns, || read_ns)
        }
    }

    #[test]
    fn replies_may_wait_for_600_us_but_not_past_a_deadline() {
        let mut late_reading = LateReading { clocks: Clocks::default(), has_unfit_reply: false };
        let looked_ns = 5 * MS;
        late_reading.clocks.compare(DATE, looked_ns);
        let until_ns = looked_ns + WAIT_MAX_NS;
        assert!(late_reading.may_defer(looked_ns + 100_000, None));
        assert!(late_reading.may_defer(until_ns, Some(until_ns + 1)));
        assert!(!late_reading.may_defer(until_ns + 1, None), "too long");
        assert!(
            !late_reading.may_defer(looked_ns + 100_000, Some(until_ns)),
            "a reply may be in time and unread"
        );
    }

    #[test]
    fn kernel_timestamp_is_the_time_of_the_reply() {
        assert_eq!(read_across_a_step(0, true), 1_005 * MS);
        assert_eq!(read_across_a_step(0, false), 1_005 * MS);
    }

    #[test]
    fn clock_step_keeps_reply_time_between_send_and_read() {
        for step_ns in [-100 * SECOND, -SECOND, -10 * MS as i64, 10 * MS as i64, SECOND, 100 * SECOND] {
            for is_stamped_before in [true, false] {
                let at_ns = read_across_a_step(step_ns, is_stamped_before);
                assert_eq!(at_ns, 1_005 * MS + 500_000, "{step_ns} {is_stamped_before}");
            }
        }
        // A step shorter than the service time cannot be detected in a later timestamp; the result stays between the two times.
        for step_ns in [-(MS as i64), MS as i64] {
            let at_ns = read_across_a_step(step_ns, false);
            assert!((1_004 * MS..=1_005 * MS + 500_000).contains(&at_ns), "{step_ns}: {at_ns}");
        }
    }

    #[test]
    fn ignores_timestamp_from_before_an_earlier_clock_step() {
        let mut clocks = Clocks::default();
        clocks.compare(DATE, 0);
        clocks.compare(DATE + 100 * SECOND + 1_000, 1_000);
        clocks.compare(DATE + 100 * SECOND + 2_000, 2_000);
        assert!(!clocks.was_set);
        assert_eq!(clocks.time_of(DATE + 900, 500, || 2_100), 2_100);
    }

    #[test]
    fn slewed_clock_is_not_detected_as_set() {
        let mut clocks = Clocks::default();
        clocks.compare(DATE, 0);
        // adjtime(3) slews by at most 500 µs per second; here with a turn every 600 µs.
        for turn in 1..10_000_u64 {
            let now_ns = turn * 600_000;
            clocks.compare(DATE + (now_ns + now_ns / 2_000) as i64, now_ns);
            assert!(!clocks.was_set);
            let came_ns = now_ns - 300_000;
            let at_ns =
                clocks
                    .time_of(DATE + (came_ns + came_ns / 2_000) as i64, came_ns - MS.min(came_ns), || now_ns);
            assert!(at_ns.abs_diff(came_ns) <= 300, "{at_ns} {came_ns}");
        }
    }

    #[test]
    fn pause_between_clock_readings_never_makes_a_reply_earlier() {
        let mut clocks = Clocks::default();
        clocks.compare(DATE, 0);
        for pause_ns in [50_000, 20 * MS] {
            clocks.compare(DATE + 10 * MS as i64, 10 * MS + pause_ns);
            let at_ns = clocks.time_of(DATE + 9 * MS as i64, 5 * MS, || 10 * MS + pause_ns);
            assert!((9 * MS..=10 * MS + pause_ns).contains(&at_ns), "{pause_ns}: {at_ns}");
        }
    }

    #[test]
    fn accepts_dates_before_1970_and_at_the_end_of_the_range() {
        for date_ns in [i64::MIN, -DATE, i64::MAX] {
            let mut clocks = Clocks::default();
            clocks.compare(date_ns, 10 * MS);
            assert_eq!(clocks.time_of(DATE, 5 * MS, || 11 * MS), 11 * MS);
        }
    }
}
