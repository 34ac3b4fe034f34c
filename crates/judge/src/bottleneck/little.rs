//! Little's law applied to answers: how many requests a system works on at once, and whether they wait for each other.

use stats::median;

use super::cause::Refutation;
use super::evidence::{Evidence, RunEvidence};
use crate::pace::Pace;
use crate::waits::Workers;

/// Min ratio of the fastest answer to the mean one at which no request waits for another.
const UNCONTENDED_MIN_RATIO: f64 = 0.85;

/// Min share of requests in flight that wait to be accepted at which few threads serve few connections at a time.
const UNACCEPTED_MIN_SHARE: f64 = 0.25;

/// A thread that still works on an answer has not sent all of it.
pub(super) const REPLY_IN_PROGRESS: Refutation = Refutation {
    when: "half of the requests in flight were held by threads of the system that slept for something else, or ran",
    is_read: |evidence| {
        let held = |workers: &Workers| workers.asleep() + workers.computing();
        let held = evidence.workers().values().map(held).sum();
        evidence.in_flight_share(held).is_some_and(|share| share >= 0.5)
    },
};

impl Evidence<'_> {
    /// Returns the median over all runs of a figure of the speed and evenness of answers.
    pub(super) fn pace(&self, figure: impl Fn(&Pace) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| figure(&run.measured.pace)))
    }

    /// Returns the requests that ended per second, with any outcome: the median of all runs.
    pub(super) fn ended_per_s(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| Some(run.measured.window?.ended_per_s())))
    }

    /// Returns the concurrency of the system by Little's law: throughput × fastest answer.
    pub(super) fn concurrency(&self) -> Option<f64> {
        let of_run = |run: &RunEvidence<'_>| {
            let window = run.measured.window?;
            Some(window.per_s(window.counts.ok) * run.measured.pace.fastest_ns? / 1e9)
        };
        median(self.runs.iter().filter_map(of_run)).filter(|concurrency| concurrency.is_finite())
    }

    /// Returns p90 − p10 of the service time of ok answers, as a share of p50.
    pub(super) fn spread(&self) -> Option<f64> {
        self.pace(|pace| pace.ok_ns.and_then(relative))
    }

    /// Returns p90 − p10 of the service time of rejected answers, as a share of p50.
    pub(super) fn rejected_spread(&self) -> Option<f64> {
        self.pace(|pace| pace.rejected_ns.and_then(relative))
    }

    /// Returns the share of an ok answer's time after its first byte.
    pub(super) fn transfer(&self) -> Option<f64> {
        let ok_ns = self.together.ok_ns?;
        let first_ns = self.pace(|pace| pace.first_byte_ns)?;
        Some((1.0 - first_ns / ok_ns).clamp(0.0, 1.0)).filter(|share| share.is_finite())
    }

    /// Returns whether the fastest answer took nearly as long as the mean one, so that requests did not wait for each
    /// other. `false` for a program that started cold, because it had a queue before it was fast.
    pub(super) fn is_uncontended(&self) -> bool {
        let shares = self.pace(|pace| pace.fastest_ns).zip(self.together.ok_ns);
        // Connections that are not accepted wait, even if all others are answered quickly.
        let is_kept_out =
            self.in_flight().is_some_and(|all| self.queued() >= (UNACCEPTED_MIN_SHARE * all).max(1.0));
        !self.is_cold_start()
            && !is_kept_out
            && shares.is_some_and(|(fastest, mean)| fastest >= UNCONTENDED_MIN_RATIO * mean)
    }

    /// Returns whether the first answers of any run were slower than later ones.
    pub(super) fn is_cold_start(&self) -> bool {
        self.runs.iter().any(|run| run.measured.pace.is_cold_start)
    }

    /// Returns the largest share of requests in flight that slept in one identifiable kind of wait: a disk, a peer, a
    /// pipe, a database wait, or a futex.
    pub(super) fn other_sleep_share(&self) -> f64 {
        let locked: f64 = self.workers().values().map(|workers| workers.same_futex).fold(0.0, f64::max);
        let locked = if locked >= 2.0 { self.in_flight_share(locked).unwrap_or(0.0) } else { 0.0 };
        self.asleep().max(self.database_sleep_share()).max(locked)
    }
}

fn relative([low, middle, high]: [f64; 3]) -> Option<f64> {
    Some((high - low) / middle).filter(|share| share.is_finite())
}
