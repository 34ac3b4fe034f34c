//! Trouble that begins when somebody asks for it: what the cost of an event is graded on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::settings::{DAY, Faults};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// Nothing is accepted, read or answered.
    Stall,
    /// Every connection is reset, once.
    Reset,
    /// Every request is answered `503` at once.
    Reject,
    /// Holds are three times longer, and less and less so until the end.
    Slow,
}

/// Trouble, each time somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happens.
    pub kind: TroubleKind,
    /// For how long; above 0, and of no meaning for resets.
    pub lasting: Duration,
}

/// How many times longer holds are at first, less one.
const SLOWER: f64 = 2.0;

impl Trouble {
    pub(crate) fn check(self, faults: &mut Faults) {
        faults.unless(!self.lasting.is_zero(), "trouble", || "lasting must be above 0".into());
        faults.unless(self.lasting <= DAY, "trouble", || {
            format!("lasting must be at most 24h, found {:?}", self.lasting)
        });
    }
}

/// The trouble of a running target.
pub(crate) struct Troubles {
    trouble: Option<Trouble>,
    started: Instant,
    /// When it began last, in nanoseconds since the start; [`u64::MAX`] until it has.
    begun_ns: AtomicU64,
}

impl Troubles {
    pub(crate) fn new(trouble: Option<Trouble>, started: Instant) -> Self {
        Self { trouble, started, begun_ns: AtomicU64::new(u64::MAX) }
    }

    /// Begins now; returns what happens.
    pub(crate) fn begin(&self) -> Option<TroubleKind> {
        let trouble = self.trouble?;
        let ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.begun_ns.store(ns, Ordering::Release);
        Some(trouble.kind)
    }

    /// How long it still lasts, and that as a share of all of it, if it is of this kind and has begun.
    fn left(&self, kind: TroubleKind, now: Instant) -> Option<(Duration, f64)> {
        let trouble = self.trouble.filter(|trouble| trouble.kind == kind)?;
        let begun_ns = Some(self.begun_ns.load(Ordering::Acquire)).filter(|ns| *ns != u64::MAX)?;
        let end = self.started.checked_add(Duration::from_nanos(begun_ns))?.checked_add(trouble.lasting)?;
        let left = end.saturating_duration_since(now);
        (!left.is_zero()).then(|| (left, left.as_secs_f64() / trouble.lasting.as_secs_f64()))
    }

    /// How long nothing is done yet.
    pub(crate) fn stalled_for(&self, now: Instant) -> Option<Duration> {
        self.left(TroubleKind::Stall, now).map(|(left, _)| left)
    }

    /// Whether requests are rejected.
    pub(crate) fn rejects(&self, now: Instant) -> bool {
        self.left(TroubleKind::Reject, now).is_some()
    }

    /// A hold as long as it becomes.
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
    fn trouble_begins_when_it_is_asked_for_and_ends_by_itself() {
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
