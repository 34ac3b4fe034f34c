//! Who starts the next request: users who wait for replies, or send times that wait for nobody.

mod shared;
mod user_schedules;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use load::closed::Cadence;
use load::{Arrivals, Load, Share, Stop};

use shared::Shared;
pub(crate) use user_schedules::UserSchedules;

/// Requests whose send times lie within this window are started in one go, when the last of them is due: each is late by
/// less than the window, and the machine wakes up once for all of them, at a fraction of the cost.
const GROUP_WINDOW_NS: u64 = 60_000;
/// Send times that are looked ahead for that.
const GROUP_MAX: usize = 64;

/// One worker's part of the load.
pub(crate) enum Driver {
    /// Users who wait for replies.
    Closed {
        cadence: Cadence,
        /// Users who may still start a request.
        active: u32,
        /// When each user starts its iterations, if the load says so instead of the cadence.
        schedules: Option<UserSchedules>,
    },
    /// Send times: each arrival takes a user who is idle.
    Open(Box<OpenDriver>),
}

/// The open load of one worker.
pub(crate) struct OpenDriver {
    rows: Rows,
    /// Users without an iteration.
    pub(crate) idle: VecDeque<u32>,
    /// Users whose connections are opened when no other is idle.
    pub(crate) spare: Range<u32>,
    /// When an arrival found neither an idle user nor a spare one, if there were spare ones once.
    pub(crate) limit_reached_ns: Option<u64>,
    pub(crate) shed_after_ns: Option<u64>,
}

/// Where the send times of a worker come from.
#[expect(clippy::large_enum_variant, reason = "there is one for each thread")]
enum Rows {
    /// A row of its own.
    Own {
        /// The next request to start.
        starts: Row,
        /// The next request to fall due. It runs ahead of `starts` while connections are short, and counts by itself: what
        /// was planned is known even if sending goes wrong.
        dues: Row,
        group_left: usize,
    },
    /// One row for all workers, of whose connections each keeps its thread waiting.
    Shared(Shared),
}

/// One request of an open load: the first of its iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenRequest {
    pub(crate) at_ns: u64,
    /// Its place among those of all workers.
    pub(crate) number: u64,
}

/// Send times in order, up to the end of the load.
pub(crate) struct Row {
    arrivals: Arrivals,
    share: Share,
    /// How many were taken.
    taken: u64,
    /// How many there are, once that is decided.
    end: Option<u64>,
    /// The next ones, as far as somebody looked ahead.
    ahead: VecDeque<u64>,
    stop: Stop,
    measured_from_ns: u64,
    measured: u64,
}

impl Row {
    pub(crate) fn new(arrivals: Arrivals, share: Share, stop: Stop, measured_from_ns: u64) -> Self {
        let mut row = Self {
            arrivals,
            share,
            taken: 0,
            end: None,
            ahead: VecDeque::with_capacity(GROUP_MAX + 1),
            stop,
            measured_from_ns,
            measured: 0,
        };
        row.look_ahead();
        row
    }

    #[inline]
    fn next_ns(&self) -> Option<u64> {
        self.ahead.front().copied()
    }

    /// The next instant, if it has come.
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

    /// The last of the next send times that lie within a window from the first of them.
    fn group_end_ns(&mut self, window_ns: u64) -> Option<u64> {
        let end_ns = self.next_ns()?.saturating_add(window_ns);
        while self.ahead.back().is_some_and(|last_ns| *last_ns <= end_ns) && self.ahead.len() < GROUP_MAX {
            if !self.look_ahead() {
                break;
            }
        }
        self.ahead.iter().rev().find(|at_ns| **at_ns <= end_ns).copied()
    }

    /// How many send times have come, once the last of the next window has.
    fn group_due(&mut self, now_ns: u64) -> Option<usize> {
        self.group_end_ns(GROUP_WINDOW_NS).filter(|end_ns| *end_ns <= now_ns)?;
        Some(self.ahead.iter().take_while(|at_ns| **at_ns <= now_ns).count())
    }

    /// Computes one instant more; says whether there is one.
    fn look_ahead(&mut self) -> bool {
        if self.end.is_some_and(|end| self.taken + self.ahead.len() as u64 >= end) {
            return false;
        }
        let next_ns = self.arrivals.next().filter(|next_ns| self.stop.admits(*next_ns, self.measured));
        self.measured += u64::from(next_ns.is_some_and(|next_ns| next_ns >= self.measured_from_ns));
        self.ahead.extend(next_ns);
        next_ns.is_some()
    }

    /// Ends the row after so many.
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
    /// The next request whose instant has come.
    #[inline]
    pub(crate) fn take_start(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.rows {
            Rows::Own { starts, .. } => starts.take_due(now_ns),
            Rows::Shared(shared) => shared.take_start(now_ns),
        }
    }

    /// As [`OpenDriver::take_start`], but not before those that follow closely have come as well.
    #[inline]
    pub(crate) fn take_start_of_group(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.rows {
            Rows::Own { starts, group_left, .. } => {
                if *group_left == 0 {
                    *group_left = starts.group_due(now_ns)?;
                }
                *group_left -= 1;
                starts.take_due(now_ns)
            }
            Rows::Shared(shared) => shared.take_start(now_ns),
        }
    }

    /// The next request whose instant has come and that was not yet counted as planned.
    #[inline]
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<OpenRequest> {
        match &mut self.rows {
            Rows::Own { dues, .. } => dues.take_due(now_ns),
            Rows::Shared(shared) => shared.take_due(now_ns, !self.idle.is_empty()),
        }
    }

    /// When the next request is to start; `None` at the end of the load.
    #[inline]
    pub(crate) fn next_start_ns(&self) -> Option<u64> {
        match &self.rows {
            Rows::Own { starts, .. } => starts.next_ns(),
            Rows::Shared(shared) => shared.next_start_ns(),
        }
    }

    /// When to wake up for the next start: late enough to start those that follow closely together with it.
    #[inline]
    pub(crate) fn next_wake_ns(&mut self) -> Option<u64> {
        match &mut self.rows {
            Rows::Own { starts, group_left, .. } => {
                if *group_left > 0 {
                    starts.next_ns()
                } else {
                    starts.group_end_ns(GROUP_WINDOW_NS)
                }
            }
            Rows::Shared(shared) => shared.next_wake_ns(),
        }
    }

    /// Whether an arrival has a user.
    pub(crate) fn has_user(&self) -> bool {
        !self.idle.is_empty() || !self.spare.is_empty()
    }

    /// A user for an arrival: an idle one, or else one whose connection was not needed yet.
    pub(crate) fn take_user(&mut self) -> Option<u32> {
        self.idle.pop_front().or_else(|| self.spare.next())
    }

    /// From the user of this number on, users are spare. The others are idle.
    pub(crate) fn spare_from(&mut self, first: u32) {
        let count = self.idle.len() as u32;
        self.idle.truncate(first as usize);
        self.spare = first.min(count)..count;
    }

    /// Notes that an arrival which is due finds no user.
    pub(crate) fn note_limit(&mut self, now_ns: u64) {
        // An empty range keeps its end.
        let has_grown = self.spare.end > 0 && self.limit_reached_ns.is_none();
        if has_grown && self.next_start_ns().is_some_and(|start_ns| start_ns <= now_ns) {
            self.limit_reached_ns = Some(now_ns);
        }
    }

    /// Ends the load with what was counted as planned: that is still started, and nothing else.
    pub(crate) fn end_with_due(&mut self) {
        // A shared row ends by itself.
        if let Rows::Own { starts, dues, .. } = &mut self.rows {
            let count = dues.taken;
            dues.end_after(count);
            starts.end_after(count);
        }
    }

    /// Starts nothing more, not even what is due already; that is counted all the same.
    pub(crate) fn start_no_more(&mut self) {
        match &mut self.rows {
            Rows::Own { starts, .. } => starts.end_at(0),
            Rows::Shared(shared) => shared.is_closed = true,
        }
    }

    /// Ends the load at this instant: whatever is intended later will not come. What is due already still counts.
    pub(crate) fn end_at(&mut self, now_ns: u64) {
        match &mut self.rows {
            Rows::Own { starts, dues, .. } => {
                starts.end_at(now_ns);
                dues.end_at(now_ns);
            }
            Rows::Shared(shared) => shared.end_at(now_ns),
        }
    }
}

impl Driver {
    /// The part of `share`, or what comes of a row that all workers share. `users` are numbered over all workers.
    pub(crate) fn new(
        load: &Load,
        share: Share,
        stop: Stop,
        measured_from_ns: u64,
        users: Range<u32>,
        shared: Option<Arc<Mutex<Row>>>,
    ) -> Self {
        match load {
            Load::Closed(closed) => {
                let schedules = closed.schedule.as_ref().map(|of| UserSchedules::new(of, users.clone()));
                Self::Closed { cadence: closed.cadence(share), active: users.len() as u32, schedules }
            }
            Load::Open(open) => {
                // The count of an open load ends the one row of send times that all workers share.
                let row = || Row::new(open.arrivals(share), share, stop, measured_from_ns);
                let rows = match shared {
                    Some(row) => Rows::Shared(Shared::new(row)),
                    None => Rows::Own { starts: row(), dues: row(), group_left: 0 },
                };
                let (idle, shed_after_ns) = ((0..users.len() as u32).collect(), open.shed_after_ns);
                let (spare, limit_reached_ns) = (0..0, None);
                Self::Open(Box::new(OpenDriver { rows, idle, spare, limit_reached_ns, shed_after_ns }))
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
    fn what_is_due_is_counted_apart_from_what_is_started() {
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
    fn a_count_does_not_include_the_warm_up() {
        let mut open = driver(Stop { at_ns: None, requests: Some(5) }, 3_000_000);
        assert_eq!(std::iter::from_fn(|| open.take_start(u64::MAX)).count(), 3 + 5);
    }

    #[test]
    fn a_load_that_ends_with_what_is_due_still_starts_it() {
        let mut open = driver(Stop { at_ns: Some(10_000_000), requests: None }, 0);
        assert_eq!(std::iter::from_fn(|| open.take_due(3_000_000)).count(), 4);
        // Somebody looked further ahead for what is started together.
        open.take_start_of_group(0);
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
