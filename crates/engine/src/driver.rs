//! Source of the next request: users who wait for replies (closed load), or scheduled send times (open load).

mod shared;
mod user_schedules;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use load::closed::Cadence;
use load::{Arrivals, Load, Share, Stop};

use shared::SharedArrivals;
pub(crate) use user_schedules::UserSchedules;

/// Window within which requests are sent together, when the last of them is due. Each is delayed by less than the window, and the
/// thread wakes up once for all of them, which costs far less CPU time.
const GROUP_WINDOW_NS: u64 = 60_000;
/// Max send times that one such group may have.
const GROUP_MAX: usize = 64;

/// Part of the load that one worker drives.
pub(crate) enum Driver {
    /// Closed load: users wait for replies.
    Closed {
        cadence: Cadence,
        /// Number of users who may still start a request.
        active: u32,
        /// Start times of each user's iterations. `None`: `cadence` decides.
        schedules: Option<UserSchedules>,
    },
    /// Open load: each arrival takes an idle user.
    Open(Box<OpenDriver>),
}

/// The open load of one worker.
pub(crate) struct OpenDriver {
    source: ArrivalSource,
    /// Users who are not in an iteration.
    pub(crate) idle: VecDeque<u32>,
    /// Users whose connections are opened only when no other user is idle.
    pub(crate) spare: Range<u32>,
    /// Time at which an arrival found neither an idle nor a spare user. `None` before that, or if there were never spare ones.
    pub(crate) limit_reached_ns: Option<u64>,
    pub(crate) shed_after_ns: Option<u64>,
}

/// Source of the send times of a worker.
#[expect(clippy::large_enum_variant, reason = "there is one for each thread")]
enum ArrivalSource {
    /// Separate sequence of this worker.
    Own {
        /// Iterator of requests to start.
        starts: ArrivalQueue,
        /// Iterator of requests that fall due. It runs ahead of `starts` while connections are short, and counts separately: the
        /// number of planned requests stays right even if sending fails.
        dues: ArrivalQueue,
        group_left: usize,
    },
    /// Sequence shared by all workers, each of whose threads has one connection.
    SharedArrivals(SharedArrivals),
}

/// First request of an iteration of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    pub(crate) at_ns: u64,
    /// Position among the requests of all workers, from 0.
    pub(crate) number: u64,
}

/// Sequence of send times up to the end of the load.
pub(crate) struct ArrivalQueue {
    arrivals: Arrivals,
    share: Share,
    /// Number of send times taken.
    taken: u64,
    /// Total number of send times. `None` until the load is cut short.
    end: Option<u64>,
    /// Send times computed but not yet taken.
    ahead: VecDeque<u64>,
    stop: Stop,
    measured_from_ns: u64,
    measured: u64,
}

impl ArrivalQueue {
    pub(crate) fn new(arrivals: Arrivals, share: Share, stop: Stop, measured_from_ns: u64) -> Self {
        let mut queue = Self {
            arrivals,
            share,
            taken: 0,
            end: None,
            ahead: VecDeque::with_capacity(GROUP_MAX + 1),
            stop,
            measured_from_ns,
            measured: 0,
        };
        queue.look_ahead();
        queue
    }

    #[inline]
    fn next_ns(&self) -> Option<u64> {
        self.ahead.front().copied()
    }

    /// Takes the next send time if it has come.
    #[inline]
    fn take_due(&mut self, now_ns: u64) -> Option<OpenRequest> {
        let at_ns = self.next_ns().filter(|next_ns| *next_ns <= now_ns)?;
        let number = u64::from(self.share.index) + self.taken * u64::from(self.share.of);
        self.taken += 1;
        self.ahead.pop_front();
        if self.ahead.is_empty() {
            self.look_ahead();
        }
        Some(OpenRequest { at_ns, number })
    }

    /// Returns the last send time within `window_ns` of the next one.
    fn group_end_ns(&mut self, window_ns: u64) -> Option<u64> {
        let end_ns = self.next_ns()?.saturating_add(window_ns);
        while self.ahead.back().is_some_and(|last_ns| *last_ns <= end_ns) && self.ahead.len() < GROUP_MAX {
            if !self.look_ahead() {
                break;
            }
        }
        self.ahead.iter().rev().find(|at_ns| **at_ns <= end_ns).copied()
    }

    /// Returns the number of due send times if the last one of the next group is due. `None` before that.
    fn group_due(&mut self, now_ns: u64) -> Option<usize> {
        self.group_end_ns(GROUP_WINDOW_NS).filter(|end_ns| *end_ns <= now_ns)?;
        Some(self.ahead.iter().take_while(|at_ns| **at_ns <= now_ns).count())
    }

    /// Computes one more send time. Returns whether there is one.
    fn look_ahead(&mut self) -> bool {
        if self.end.is_some_and(|end| self.taken + self.ahead.len() as u64 >= end) {
            return false;
        }
        let next_ns = self.arrivals.next().filter(|next_ns| self.stop.admits(*next_ns, self.measured));
        self.measured += u64::from(next_ns.is_some_and(|next_ns| next_ns >= self.measured_from_ns));
        self.ahead.extend(next_ns);
        next_ns.is_some()
    }

    /// Ends the sequence after `count` send times.
    fn end_after(&mut self, count: u64) {
        self.end = Some(count);
        self.ahead.truncate(count.saturating_sub(self.taken) as usize);
    }

    fn end_at(&mut self, end_ns: u64) {
        self.stop.at_ns = Some(self.stop.at_ns.map_or(end_ns, |at_ns| at_ns.min(end_ns)));
        self.ahead.retain(|at_ns| *at_ns < end_ns);
    }
}

impl OpenDriver {
    /// Takes the next request to start if its send time has come.
    #[inline]
    pub(crate) fn take_start(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.source {
            ArrivalSource::Own { starts, .. } => starts.take_due(now_ns),
            ArrivalSource::SharedArrivals(shared) => shared.take_start(now_ns),
        }
    }

    /// Like [`OpenDriver::take_start`], but waits until all requests of the next group are due.
    #[inline]
    pub(crate) fn take_grouped_start(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.source {
            ArrivalSource::Own { starts, group_left, .. } => {
                if *group_left == 0 {
                    *group_left = starts.group_due(now_ns)?;
                }
                *group_left -= 1;
                starts.take_due(now_ns)
            }
            ArrivalSource::SharedArrivals(shared) => shared.take_start(now_ns),
        }
    }

    /// Takes the next due request that has not been counted as planned.
    #[inline]
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.source {
            ArrivalSource::Own { dues, .. } => dues.take_due(now_ns),
            ArrivalSource::SharedArrivals(shared) => shared.take_due(now_ns, !self.idle.is_empty()),
        }
    }

    /// Returns the send time of the next request to start. `None` at the end of the load.
    #[inline]
    pub(crate) fn next_start_ns(&self) -> Option<u64> {
        match &self.source {
            ArrivalSource::Own { starts, .. } => starts.next_ns(),
            ArrivalSource::SharedArrivals(shared) => shared.next_start_ns(),
        }
    }

    /// Returns the time to wake up for the next start, at which the last request of its group is due.
    #[inline]
    pub(crate) fn next_wake_ns(&mut self) -> Option<u64> {
        match &mut self.source {
            ArrivalSource::Own { starts, group_left, .. } => {
                if *group_left > 0 {
                    starts.next_ns()
                } else {
                    starts.group_end_ns(GROUP_WINDOW_NS)
                }
            }
            ArrivalSource::SharedArrivals(shared) => shared.next_wake_ns(),
        }
    }

    /// Returns whether a user is available for an arrival.
    pub(crate) fn has_user(&self) -> bool {
        !self.idle.is_empty() || !self.spare.is_empty()
    }

    /// Takes a user for an arrival: an idle one, or else a spare one whose connection is opened now.
    pub(crate) fn take_user(&mut self) -> Option<u32> {
        self.idle.pop_front().or_else(|| self.spare.next())
    }

    /// Makes all users from number `first` on spare.
    pub(crate) fn make_spare_from(&mut self, first: u32) {
        let count = self.idle.len() as u32;
        self.idle.truncate(first as usize);
        self.spare = first.min(count)..count;
    }

    /// Notes the time at which a due arrival finds no user, in a load that opens connections on demand.
    pub(crate) fn note_limit(&mut self, now_ns: u64) {
        // An empty range keeps its end, which shows that there were spare users.
        let has_grown = self.spare.end > 0 && self.limit_reached_ns.is_none();
        if has_grown && self.next_start_ns().is_some_and(|start_ns| start_ns <= now_ns) {
            self.limit_reached_ns = Some(now_ns);
        }
    }

    /// Ends the load after the requests counted as planned. They are still started; later ones are not.
    pub(crate) fn end_with_due(&mut self) {
        // A shared sequence ends by its own count.
        if let ArrivalSource::Own { starts, dues, .. } = &mut self.source {
            let count = dues.taken;
            dues.end_after(count);
            starts.end_after(count);
        }
    }

    /// Starts no more requests, not even due ones. Due requests are still counted as planned.
    pub(crate) fn stop_starting(&mut self) {
        match &mut self.source {
            ArrivalSource::Own { starts, .. } => starts.end_at(0),
            ArrivalSource::SharedArrivals(shared) => shared.is_closed = true,
        }
    }

    /// Ends the load at `now_ns`: later send times are dropped. Requests already due still count.
    pub(crate) fn end_at(&mut self, now_ns: u64) {
        match &mut self.source {
            ArrivalSource::Own { starts, dues, .. } => {
                starts.end_at(now_ns);
                dues.end_at(now_ns);
            }
            ArrivalSource::SharedArrivals(shared) => shared.end_at(now_ns),
        }
    }
}

impl Driver {
    /// Creates the driver of `share`, or of a sequence `shared` by all workers. `users` are numbered over all workers.
    pub(crate) fn new(
        load: &Load,
        share: Share,
        stop: Stop,
        measured_from_ns: u64,
        users: Range<u32>,
        shared: Option<Arc<Mutex<ArrivalQueue>>>,
    ) -> Self {
        match load {
            Load::Closed(closed) => {
                let schedules = closed.schedule.as_ref().map(|of| UserSchedules::new(of, users.clone()));
                Self::Closed { cadence: closed.cadence(share), active: users.len() as u32, schedules }
            }
            Load::Open(open) => {
                // In an open load, the number of requests limits the sequence of send times.
                let queue = || ArrivalQueue::new(open.arrivals(share), share, stop, measured_from_ns);
                let source = match shared {
                    Some(queue) => ArrivalSource::SharedArrivals(SharedArrivals::new(queue)),
                    None => ArrivalSource::Own { starts: queue(), dues: queue(), group_left: 0 },
                };
                let (idle, shed_after_ns) = ((0..users.len() as u32).collect(), open.shed_after_ns);
                let (spare, limit_reached_ns) = (0..0, None);
                Self::Open(Box::new(OpenDriver { source, idle, spare, limit_reached_ns, shed_after_ns }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::open::Profile;
    use load::{Open, Schedule, Spacing};

    fn driver(stop: Stop, measured_from_ns: u64) -> OpenDriver {
        let load = Load::Open(Open {
            schedule: Schedule::Rate(Profile::constant(1_000.0), Spacing::EVEN),
            connections: 2,
            shed_after_ns: None,
        });
        match Driver::new(&load, Share::WHOLE, stop, measured_from_ns, 0..2, None) {
            Driver::Open(open) => *open,
            Driver::Closed { .. } => unreachable!("the load is open"),
        }
    }

    #[test]
    fn due_requests_are_counted_separately_from_started_ones() {
        let mut open = driver(Stop { at_ns: Some(10_000_000), requests: None }, 0);
        assert_eq!(open.take_start(0), Some(OpenRequest { at_ns: 0, number: 0 }));
        assert_eq!(open.take_start(0), None);
        assert_eq!(std::iter::from_fn(|| open.take_due(5_000_000)).count(), 6);
        assert_eq!(open.next_start_ns(), Some(1_000_000));
        open.end_at(3_000_000);
        assert_eq!(std::iter::from_fn(|| open.take_due(u64::MAX)).count(), 0);
        assert_eq!(
            std::iter::from_fn(|| open.take_start(u64::MAX)).count(),
            2,
            "due before the end, started late"
        );
    }

    #[test]
    fn request_count_excludes_warm_up() {
        let mut open = driver(Stop { at_ns: None, requests: Some(5) }, 3_000_000);
        assert_eq!(std::iter::from_fn(|| open.take_start(u64::MAX)).count(), 3 + 5);
    }

    #[test]
    fn load_ended_with_due_requests_still_starts_them() {
        let mut open = driver(Stop { at_ns: Some(10_000_000), requests: None }, 0);
        assert_eq!(std::iter::from_fn(|| open.take_due(3_000_000)).count(), 4);
        // Groups look further ahead than the requests that are due.
        open.take_grouped_start(0);
        open.end_with_due();
        assert_eq!(std::iter::from_fn(|| open.take_due(u64::MAX)).count(), 0);
        let rest: Vec<u64> =
            std::iter::from_fn(|| open.take_start(u64::MAX)).map(|start| start.number).collect();
        assert_eq!(rest, [1, 2, 3]);
    }

    #[test]
    fn arrivals_are_numbered_over_all_workers() {
        let load = Load::Open(Open {
            schedule: Schedule::Rate(Profile::constant(1_000.0), Spacing::EVEN),
            connections: 3,
            shed_after_ns: None,
        });
        let stop = Stop { at_ns: Some(10_000_000), requests: None };
        let mut all: Vec<(u64, u64)> = (0..3)
            .flat_map(|index| {
                let Driver::Open(mut open) = Driver::new(&load, Share { index, of: 3 }, stop, 0, 0..1, None)
                else {
                    unreachable!("the load is open")
                };
                std::iter::from_fn(move || open.take_due(u64::MAX)).map(|due| (due.number, due.at_ns))
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).map(|number| (number, number * 1_000_000)).collect::<Vec<_>>());
    }
}
