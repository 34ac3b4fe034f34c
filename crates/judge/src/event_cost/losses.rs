//! Requests without an ok answer that belong to an event, and the part of them that exceeds the usual losses.

use evidence::Lost;
use record::{Loss, Moment};

use super::{WindowSeries, number};

/// Number of standard deviations above the expected losses, plus one request, above which losses exceed the usual.
const SIGMAS: f64 = 3.0;

/// Number of kinds of lost requests: the classes of sent requests, plus unsent requests.
const KINDS: usize = Loss::ALL.len() + 1;
const NOT_SENT: usize = Loss::ALL.len();

/// Number of lost requests, by kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Losses([u64; KINDS]);

/// Losses before an event.
#[derive(Clone)]
pub(super) struct Usual {
    lost: Losses,
    planned: u64,
}

impl Usual {
    pub(super) fn of(before: &[Moment]) -> Self {
        let mut lost = Losses::default();
        for window in before {
            window.losses.iter().for_each(|((loss, _), count)| lost.add(*loss as usize, *count));
            lost.add(NOT_SENT, window.not_sent());
        }
        Self { lost, planned: before.iter().map(|window| window.planned).sum() }
    }
}

impl Losses {
    /// Counts the losses of an event: requests intended during its period, whenever they ended, and requests intended
    /// earlier that ended during it. `spans` are the periods of all events, so that no request counts twice.
    pub(super) fn of(course: &WindowSeries, (from_ns, to_ns): (u64, u64), spans: &[(u64, u64)]) -> Self {
        let within = |window: usize, (from_ns, to_ns): (u64, u64)| {
            number(from_ns) <= window && window < to_ns.div_ceil(Moment::WINDOW_NS) as usize
        };
        let is_intended_in_another =
            |window: usize| spans.iter().any(|span| *span != (from_ns, to_ns) && within(window, *span));
        let mut lost = Self::default();
        for (place, window) in course.windows.iter().enumerate().skip(number(from_ns)) {
            for ((loss, before), count) in &window.losses {
                let intended = place.saturating_sub(usize::try_from(*before).unwrap_or(usize::MAX));
                let is_earlier = intended < number(from_ns) && !is_intended_in_another(intended);
                if within(intended, (from_ns, to_ns)) || is_earlier && within(place, (from_ns, to_ns)) {
                    lost.add(*loss as usize, *count);
                }
            }
            if within(place, (from_ns, to_ns)) {
                lost.add(NOT_SENT, window.not_sent());
            }
        }
        lost
    }

    fn add(&mut self, kind: usize, count: u64) {
        self.0[kind] = self.0[kind].saturating_add(count);
    }

    /// Returns the number of all lost requests.
    pub(super) fn all(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the losses beyond the usual ones among `planned` requests. A kind without earlier losses counts in full.
    /// Otherwise, a number that noise does not explain counts, minus the expected number.
    pub(super) fn excess_over(&self, usual: &Usual, planned: u64) -> Lost {
        let of = |kind: usize| {
            let (here, before) = (self.0[kind] as f64, usual.lost.0[kind] as f64);
            if before == 0.0 {
                return self.0[kind];
            }
            let expected = before * planned as f64 / usual.planned.max(1) as f64;
            let sigma = (expected * (1.0 + expected / before)).sqrt();
            if here > expected + SIGMAS * sigma + 1.0 { (here - expected).round() as u64 } else { 0 }
        };
        let of_loss = |loss: Loss| of(loss as usize);
        Lost {
            rejected: of_loss(Loss::Rejected),
            timed_out: of_loss(Loss::TimedOut),
            connect: of_loss(Loss::Connect),
            reset: of_loss(Loss::Reset),
            other: of_loss(Loss::Other),
            not_sent: of(NOT_SENT),
            stale_reuse: of_loss(Loss::StaleReuse),
        }
    }
}
