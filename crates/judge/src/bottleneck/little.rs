//! Little's law on the answers: how many requests a system works on at once, and whether they wait for each other.

use stats::median;

use super::cause::Refutation;
use super::evidence::{Evidence, RunEvidence};
use crate::pace::Pace;
use crate::waits::Workers;

/// Smallest ratio of the fastest answer to the mean one at which no request waits for another.
const UNCONTENDED: f64 = 0.85;

/// Smallest number of requests in flight at which most of them wait, if one proceeds at a time.
const QUEUED: f64 = 4.0;
/// Range of throughput × fastest answer that counts as one request at a time. It is not exactly 1, because the fastest answer is
/// faster than the others.
const ONE: std::ops::RangeInclusive<f64> = 0.7..=1.15;
/// Upper end of `ONE` if the fastest answer was one of the first of a cold system.
const ONE_MAX_COLD: f64 = 1.35;
/// Upper end of `ONE` if all answers take equally long, so that even the fastest one is slow.
const ONE_MAX_EVEN: f64 = 1.45;
/// Largest p90 − p10, as a share of p50, of answers that wait in one queue.
const QUEUED_SPREAD_MAX: f64 = 0.3;

/// Largest share of the system's CPU time that the busiest thread uses, if requests take turns among threads.
pub(super) const BUSIEST_THREAD_MAX_SHARE: f64 = 0.6;
/// Smallest number of threads that can carry requests, if work passes from one to another.
const CARRIER_THREADS_MIN: f64 = 2.5;
/// Share of the requests in flight that wait to be accepted, from which on few threads serve few connections at a time.
const UNACCEPTED_MIN_SHARE: f64 = 0.25;

/// A thread that still works on an answer has not sent all of it.
pub(super) const REPLY_IN_PROGRESS: Refutation = Refutation {
    when: "half of the requests in flight were held by threads of the system that slept for something else, or ran",
    is_read: |evidence| {
        let held = |workers: &Workers| workers.asleep() + workers.computing();
        let held = evidence.workers().values().map(held).sum();
        evidence.of_in_flight(held).is_some_and(|share| share >= 0.5)
    },
};

impl Evidence<'_> {
    /// Median over all runs of a figure of the speed and evenness of answers.
    pub(super) fn pace(&self, figure: impl Fn(&Pace) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| figure(&run.measured.pace)))
    }

    /// Requests that ended per second, with any outcome: the median of all runs.
    pub(super) fn ended_per_s(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| Some(run.measured.window?.ended_per_s())))
    }

    /// Share of the offered requests of an open load that ended; `None` for a closed load.
    pub(super) fn answered_of_offered(&self) -> Option<f64> {
        let of_run = |run: &RunEvidence<'_>| {
            let window = run.measured.window?;
            let offered_per_s = window.per_s(window.offered?);
            Some(window.ended_per_s() / offered_per_s).filter(|share| share.is_finite())
        };
        median(self.runs.iter().filter_map(of_run))
    }

    /// Concurrency of the system by Little's law: throughput × fastest answer.
    pub(super) fn at_once(&self) -> Option<f64> {
        let of_run = |run: &RunEvidence<'_>| {
            let window = run.measured.window?;
            Some(window.per_s(window.counts.ok) * run.measured.pace.fastest_ns? / 1e9)
        };
        median(self.runs.iter().filter_map(of_run)).filter(|at_once| at_once.is_finite())
    }

    /// Whether one request proceeds at a time while others wait for it: throughput × fastest answer is about one.
    pub(super) fn goes_on_one_at_a_time(&self) -> bool {
        let is_queued = self.in_flight().is_some_and(|in_flight| in_flight >= QUEUED);
        let is_even = self.spread().is_some_and(|spread| spread <= QUEUED_SPREAD_MAX);
        let most = match (is_even, self.began_slowly()) {
            (true, _) => ONE_MAX_EVEN,
            (false, true) => ONE_MAX_COLD,
            (false, false) => *ONE.end(),
        };
        is_queued && self.at_once().is_some_and(|at_once| (*ONE.start()..=most).contains(&at_once))
    }

    /// Whether one request proceeds at a time, in changing threads of several. A pool of one keeps its thread. A server of one
    /// connection at a time leaves the others in the accept queue.
    pub(super) fn moves_among_threads(&self) -> bool {
        let longest = self.signal(|signals| signals.busiest_thread);
        let used = longest.zip(self.ran_and_waited());
        let is_spread = used.is_some_and(|(longest, [ran, _])| longest < BUSIEST_THREAD_MAX_SHARE * ran);
        let is_accepted = self.in_flight().is_some_and(|all| self.queued() < UNACCEPTED_MIN_SHARE * all);
        let all = self.workers();
        let most = all.values().max_by(|one, other| one.at_work().total_cmp(&other.at_work()));
        let waits =
            |workers: &Workers| workers.all() >= CARRIER_THREADS_MIN && workers.in_state("futex") >= 1.0;
        is_spread && is_accepted && self.goes_on_one_at_a_time() && most.is_some_and(waits)
    }

    /// p90 − p10 of the service time of ok answers, as a share of p50.
    pub(super) fn spread(&self) -> Option<f64> {
        self.pace(|pace| pace.ok_ns.and_then(relative))
    }

    /// p90 − p10 of the service time of rejected answers, as a share of p50.
    pub(super) fn spread_of_rejected(&self) -> Option<f64> {
        self.pace(|pace| pace.rejected_ns.and_then(relative))
    }

    /// Share of the time of an ok answer that passed after its first byte.
    pub(super) fn transfer(&self) -> Option<f64> {
        let ok_ns = self.together.ok_ns?;
        let first_ns = self.pace(|pace| pace.first_byte_ns)?;
        Some((1.0 - first_ns / ok_ns).clamp(0.0, 1.0)).filter(|share| share.is_finite())
    }

    /// Whether the fastest answer took nearly as long as the mean one, so that requests did not wait for each other. `false` for a
    /// program that began cold, because it had a queue before it was fast.
    pub(super) fn is_uncontended(&self) -> bool {
        let shares = self.pace(|pace| pace.fastest_ns).zip(self.together.ok_ns);
        // Connections that are not accepted wait, however fast the others are answered.
        let is_kept_out =
            self.in_flight().is_some_and(|all| self.queued() >= (UNACCEPTED_MIN_SHARE * all).max(1.0));
        !self.began_slowly()
            && !is_kept_out
            && shares.is_some_and(|(fastest, mean)| fastest >= UNCONTENDED * mean)
    }

    /// Whether the first answers of any run were slower than later ones.
    pub(super) fn began_slowly(&self) -> bool {
        self.runs.iter().any(|run| run.measured.pace.began_slowly)
    }

    /// Largest share of the requests in flight that slept in one identifiable kind of wait: a disk, a peer, a pipe, a database
    /// wait, or a futex.
    pub(super) fn slept_elsewhere(&self) -> f64 {
        let locked: f64 = self.workers().values().map(|workers| workers.same_futex).fold(0.0, f64::max);
        let locked = if locked >= 2.0 { self.of_in_flight(locked).unwrap_or(0.0) } else { 0.0 };
        self.asleep().max(self.asleep_in_database()).max(locked)
    }
}

fn relative([low, middle, high]: [f64; 3]) -> Option<f64> {
    Some((high - low) / middle).filter(|share| share.is_finite())
}
