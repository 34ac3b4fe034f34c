//! Closed model: a fixed number of users, each of which waits for a reply before its next request.

mod ramp_up;
mod think_time;
mod throughput;

pub use think_time::ThinkTime;

use crate::chance::Chance;
use crate::schedule::Schedule;
use crate::share::Share;
use throughput::Throughput;

/// Closed load.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// Number of concurrent users.
    pub users: u32,
    /// Time over which the users start, at equal distances.
    pub ramp_up_ns: u64,
    /// Think time between the end of an iteration and the next one.
    pub think_time: ThinkTime,
    /// Minimum time between the starts of two iterations of a user. 0 for none.
    pub pacing_ns: u64,
    /// Maximum number of iterations started per second, over all users. `None` for no limit.
    pub throughput_per_s: Option<f64>,
    /// Seed of the think times.
    pub seed: u64,
    /// Scheduled iteration starts of each user. An iteration starts at its scheduled time, or as soon after it as the previous one
    /// ends. A schedule overrides ramp-up, think time, pacing, and throughput. `None` if the users follow these.
    pub schedule: Option<Schedule>,
    /// Whether the schedule gives only the order of iterations: each is due when the previous one of its user ends, and none is late.
    pub is_unpaced: bool,
}

impl Closed {
    /// Creates the rule for the iteration starts of one worker's users.
    pub fn cadence(&self, share: Share) -> Cadence {
        Cadence {
            think_time: self.think_time,
            pacing_ns: self.pacing_ns,
            throughput: self.throughput_per_s.map(|per_s| Throughput::new(per_s, share)),
            chance: Chance::stream(self.seed, u64::from(share.index)),
        }
    }
}

/// Rule that computes when the users of one worker start their next iteration. An iteration may be a single request.
#[derive(Clone, Debug)]
pub struct Cadence {
    think_time: ThinkTime,
    pacing_ns: u64,
    throughput: Option<Throughput>,
    chance: Chance,
}

impl Cadence {
    /// Returns the start of the first iteration of a user that arrives at `arrival_ns`.
    pub fn first(&mut self, arrival_ns: u64) -> u64 {
        self.throttle(arrival_ns)
    }

    /// Returns the start of the iteration after one that was scheduled for `intended_ns` and ended at `finished_ns`.
    #[inline]
    pub fn next(&mut self, intended_ns: u64, finished_ns: u64) -> u64 {
        let rested_ns = finished_ns.saturating_add(self.think_time.draw(&mut self.chance));
        let paced_ns = intended_ns.saturating_add(self.pacing_ns);
        self.throttle(rested_ns.max(paced_ns))
    }

    fn throttle(&mut self, ready_ns: u64) -> u64 {
        self.throughput.as_mut().map_or(ready_ns, |throughput| throughput.take(ready_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> Closed {
        Closed {
            users: 4,
            ramp_up_ns: 0,
            think_time: ThinkTime::None,
            pacing_ns: 0,
            throughput_per_s: None,
            seed: 1,
            schedule: None,
            is_unpaced: false,
        }
    }

    #[test]
    fn next_request_starts_with_the_reply_without_pauses() {
        assert_eq!(closed().cadence(Share::WHOLE).next(0, 123), 123);
    }

    #[test]
    fn pacing_counts_from_the_start_and_never_lies_in_the_past() {
        let mut cadence = Closed { pacing_ns: 100, ..closed() }.cadence(Share::WHOLE);
        assert_eq!(cadence.next(0, 40), 100);
        assert_eq!(cadence.next(0, 140), 140);
    }

    #[test]
    fn think_time_counts_from_the_reply() {
        let mut cadence = Closed { think_time: ThinkTime::Constant { ns: 70 }, pacing_ns: 100, ..closed() }
            .cadence(Share::WHOLE);
        assert_eq!(cadence.next(0, 40), 110);
    }

    #[test]
    fn throughput_limit_spaces_the_starts_of_all_users() {
        let mut cadence = Closed { throughput_per_s: Some(10.0), ..closed() }.cadence(Share::WHOLE);
        let starts = [cadence.first(0), cadence.first(0), cadence.next(0, 1), cadence.next(0, 1_000_000_000)];
        assert_eq!(starts, [0, 100_000_000, 200_000_000, 1_000_000_000]);
    }
}
