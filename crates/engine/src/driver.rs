//! Who starts the next request: users who wait for replies, or instants that wait for nobody.

use std::collections::VecDeque;

use load::closed::Cadence;
use load::open::Arrivals;
use load::{Load, Share, Stop};

/// One worker's part of the load.
pub(crate) enum Driver {
    /// Each slot is a user.
    Closed {
        cadence: Cadence,
        /// Users who may still start a request.
        active: u32,
    },
    /// Slots are taken by whichever request is due.
    Open(OpenDriver),
}

/// The open load of one worker.
pub(crate) struct OpenDriver {
    /// The next request to start.
    starts: Row,
    /// The next request to fall due. It runs ahead of `starts` while connections are short, and counts by itself: what was
    /// planned is known even if sending goes wrong.
    dues: Row,
    /// Slots without a request.
    pub(crate) idle: VecDeque<u32>,
    pub(crate) shed_after_ns: Option<u64>,
}

/// Instants in order, up to the end of the load.
struct Row {
    arrivals: Arrivals,
    next_ns: Option<u64>,
    stop: Stop,
    measured_from_ns: u64,
    measured: u64,
}

impl Row {
    fn new(arrivals: Arrivals, stop: Stop, measured_from_ns: u64) -> Self {
        let mut row = Self { arrivals, next_ns: None, stop, measured_from_ns, measured: 0 };
        row.advance();
        row
    }

    /// The next instant, if it has come.
    #[inline]
    fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.next_ns.filter(|next_ns| *next_ns <= now_ns)?;
        self.advance();
        Some(due_ns)
    }

    fn advance(&mut self) {
        self.next_ns = self.arrivals.next().filter(|next_ns| self.stop.admits(*next_ns, self.measured));
        self.measured += u64::from(self.next_ns.is_some_and(|next_ns| next_ns >= self.measured_from_ns));
    }
}

impl OpenDriver {
    /// The next intended instant that has come, shed or to be started.
    #[inline]
    pub(crate) fn take_start(&mut self, now_ns: u64) -> Option<u64> {
        self.starts.take_due(now_ns)
    }

    /// The next intended instant that has come and was not yet counted as planned.
    #[inline]
    pub(crate) fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        self.dues.take_due(now_ns)
    }

    /// When the next request is to start; `None` at the end of the load.
    #[inline]
    pub(crate) fn next_start_ns(&self) -> Option<u64> {
        self.starts.next_ns
    }

    /// Ends the load at this instant: whatever is intended later will not come. What is due already still counts.
    pub(crate) fn end_at(&mut self, now_ns: u64) {
        for row in [&mut self.starts, &mut self.dues] {
            row.stop.at_ns = Some(row.stop.at_ns.map_or(now_ns, |at_ns| at_ns.min(now_ns)));
            row.next_ns = row.next_ns.filter(|next_ns| *next_ns < now_ns);
        }
    }
}

impl Driver {
    pub(crate) fn new(load: &Load, share: Share, stop: Stop, measured_from_ns: u64, slots: u32) -> Self {
        match load {
            Load::Closed(closed) => Self::Closed { cadence: closed.cadence(share), active: slots },
            Load::Open(open) => {
                // The count of an open load ends the one row of instants that all workers share.
                let row = || Row::new(open.arrivals(share), stop, measured_from_ns);
                Self::Open(OpenDriver {
                    starts: row(),
                    dues: row(),
                    idle: (0..slots).collect(),
                    shed_after_ns: open.shed_after_ns,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Open;
    use load::open::{Profile, Spacing};

    fn driver(stop: Stop, measured_from_ns: u64) -> OpenDriver {
        let load = Load::Open(Open {
            profile: Profile::constant(1_000.0),
            spacing: Spacing::Even,
            connections: 2,
            shed_after_ns: None,
        });
        match Driver::new(&load, Share::WHOLE, stop, measured_from_ns, 2) {
            Driver::Open(open) => open,
            Driver::Closed { .. } => unreachable!("the load is open"),
        }
    }

    #[test]
    fn what_is_due_is_counted_apart_from_what_is_started() {
        let mut open = driver(Stop { at_ns: Some(10_000_000), requests: None }, 0);
        assert_eq!(open.take_start(0), Some(0));
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
}
