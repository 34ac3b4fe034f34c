//! Trouble on request: temporary errors and delays of known size, to check measurements of event costs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::settings::{DAY, Faults};

/// Kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// Nothing is accepted, read, or answered.
    Stall,
    /// All connections are reset once.
    Reset,
    /// All requests are rejected immediately with `503`.
    Reject,
    /// Holds take three times as long at first, decreasing linearly to normal at the end.
    Slow,
}

/// Trouble that begins on request, any number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Kind of trouble.
    pub kind: TroubleKind,
    /// Duration; above 0, and ignored for resets.
    pub lasting: Duration,
}

/// Initial slowdown of holds: the factor minus one.
const SLOWER: f64 = 2.0;

impl Trouble {
    pub(crate) fn check(self, faults: &mut Faults) {
        faults.require(!self.lasting.is_zero(), "trouble", || "lasting must be above 0".into());
        faults.require(self.lasting <= DAY, "trouble", || {
            format!("lasting must be at most 24h, found {:?}", self.lasting)
        });
    }
}

/// Trouble of a running target.
pub(crate) struct Troubles {
    trouble: Option<Trouble>,
    started: Instant,
    /// Time of the last start, in nanoseconds since the start. [`u64::MAX`] before the first.
    begun_ns: AtomicU64,
}

impl Troubles {
    pub(crate) fn new(trouble: Option<Trouble>, started: Instant) -> Self {
        Self { trouble, started, begun_ns: AtomicU64::new(u64::MAX) }
    }

    /// Begins the trouble now, and returns its kind.
    pub(crate) fn begin(&self) -> Option<TroubleKind> {
        let trouble = self.trouble?;
        let ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.begun_ns.store(ns, Ordering::Release);
        Some(trouble.kind)
    }

    /// Returns the remaining time, absolute and as a share of the duration. `None` if the trouble is of another kind or not in
    /// progress.
    fn left(&self, kind: TroubleKind, now: Instant) -> Option<(Duration, f64)> {
        let trouble = self.trouble.filter(|trouble| trouble.kind == kind)?;
        let begun_ns = Some(self.begun_ns.load(Ordering::Acquire)).filter(|ns| *ns != u64::MAX)?;
        let end = self.started.checked_add(Duration::from_nanos(begun_ns))?.checked_add(trouble.lasting)?;
        let left = end.saturating_duration_since(now);
        (!left.is_zero()).then(|| (left, left.as_secs_f64() / trouble.lasting.as_secs_f64()))
    }

    /// Returns the remaining time of a stall. `None` if there is none.
    pub(crate) fn stalled_for(&self, now: Instant) -> Option<Duration> {
        self.left(TroubleKind::Stall, now).map(|(left, _)| left)
    }

    /// Returns true if requests are rejected.
    pub(crate) fn rejects(&self, now: Instant) -> bool {
        self.left(TroubleKind::Reject, now).is_some()
    }

    /// Returns the actual hold time for a drawn time.
    pub(crate) fn stretch(&self, drawn: Duration, now: Instant) -> Duration {
        match self.left(TroubleKind::Slow, now) {
            Some((_, share)) => drawn.mul_f64(1.0 + SLOWER * share.min(1.0)),
            None => drawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_begins_on_request_and_ends_by_itself() {
        let (started, ms) = (Instant::now(), Duration::from_millis);
        let of = |kind| Troubles::new(Some(Trouble { kind, lasting: ms(100_000) }), started);
        let slow = of(TroubleKind::Slow);
        assert_eq!(slow.stretch(ms(10), Instant::now()), ms(10), "it has not begun");
        assert_eq!(slow.begin(), Some(TroubleKind::Slow));
        let longest = slow.stretch(ms(10), Instant::now());
        assert!(ms(20) < longest && longest <= ms(30), "{longest:?}");
        assert_eq!(slow.stretch(ms(10), started + ms(200_000)), ms(10), "it is over");
        assert!(slow.stalled_for(Instant::now()).is_none() && !slow.rejects(Instant::now()));
        let reject = of(TroubleKind::Reject);
        assert!(!reject.rejects(Instant::now()));
        reject.begin();
        assert!(reject.rejects(Instant::now()) && !reject.rejects(started + ms(200_000)));
        assert_eq!(Troubles::new(None, started).begin(), None);
    }
}
