//! Stall schedule, and a record of the actual pauses.

use crate::settings::Stall;
use crate::stop::Stop;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Maximum number of recorded pauses.
const PAUSES_MAX: usize = 100_000;

/// Actual pause of one worker, relative to the start of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Number of the worker.
    pub worker: usize,
    /// Time at which the worker stopped answering.
    pub from: Duration,
    /// Time at which the worker answered again.
    pub to: Duration,
}

/// Stall schedule shared by all workers.
pub(crate) struct Stalls {
    schedule: Option<Stall>,
    started: Instant,
    pauses: Mutex<Vec<Pause>>,
}

impl Stalls {
    pub(crate) fn new(schedule: Option<Stall>, started: Instant) -> Self {
        Self { schedule, started, pauses: Mutex::default() }
    }

    /// Sleeps until the current stall ends, if there is one. The schedule counts from `zero`. Records the pause of `worker`.
    pub(crate) fn sleep_through(&self, zero: Instant, worker: Option<usize>, stop: &Stop) {
        if self.schedule.is_none() {
            return;
        }
        let from = Instant::now();
        let Some(end) = self.end_of_current(zero, from) else { return };
        stop.sleep_until(end);
        if let Some(worker) = worker {
            let mut pauses = self.pauses.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if pauses.len() < PAUSES_MAX {
                pauses.push(Pause { worker, from: from - self.started, to: self.started.elapsed() });
            }
        }
    }

    /// Returns the start of the next stall after `now`. The schedule counts from `zero`.
    pub(crate) fn next_begin(&self, zero: Instant, now: Instant) -> Option<Instant> {
        let stall = self.schedule?;
        let passed = now.saturating_duration_since(zero);
        let offset = match (passed.checked_sub(stall.first), stall.every) {
            (None, _) => stall.first,
            (Some(_), None) => return None,
            (Some(since_first), Some(every)) => passed + every - remainder(since_first, every),
        };
        zero.checked_add(offset)
    }

    pub(crate) fn pauses(&self) -> Vec<Pause> {
        self.pauses.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    fn end_of_current(&self, zero: Instant, now: Instant) -> Option<Instant> {
        let stall = self.schedule?;
        let since_first = now.saturating_duration_since(zero).checked_sub(stall.first)?;
        let into = stall.every.map_or(since_first, |every| remainder(since_first, every));
        stall.lasting.checked_sub(into).filter(|left| !left.is_zero()).map(|left| now + left)
    }
}

fn remainder(of: Duration, by: Duration) -> Duration {
    let ns = of.as_nanos() % by.as_nanos();
    Duration::new((ns / 1_000_000_000) as u64, (ns % 1_000_000_000) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn schedule_repeats() {
        let start = Instant::now();
        let stalls = Stalls::new(Some(Stall { first: MS(50), lasting: MS(20), every: Some(MS(100)) }), start);
        let (next, end) = (
            |ms| stalls.next_begin(start, start + MS(ms)),
            |ms| stalls.end_of_current(start, start + MS(ms)),
        );
        assert_eq!(next(0), Some(start + MS(50)));
        assert_eq!(next(50), Some(start + MS(150)));
        assert_eq!(next(149), Some(start + MS(150)));
        assert_eq!([end(49), end(70), end(149), end(170)], [None; 4]);
        assert_eq!([end(50), end(69)], [Some(start + MS(70)); 2]);
        assert_eq!(end(255), Some(start + MS(270)));
    }

    #[test]
    fn single_stall_does_not_repeat() {
        let start = Instant::now();
        let stalls = Stalls::new(Some(Stall { first: MS(50), lasting: MS(20), every: None }), start);
        assert_eq!(stalls.next_begin(start, start + MS(60)), None);
        assert_eq!(stalls.end_of_current(start, start + MS(60)), Some(start + MS(70)));
        assert_eq!(stalls.end_of_current(start, start + MS(100)), None);
    }
}
