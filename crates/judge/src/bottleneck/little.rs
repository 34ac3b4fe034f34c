//! Little's law on the answers: how many requests a system works on at once, and whether they wait for each other.

use stats::median;

use super::cause::Refutation;
use super::evidence::{Evidence, RunEvidence};
use crate::pace::Pace;
use crate::waits::Workers;

/// The fastest answer takes nearly as long as the mean one where no request waits for another.
const UNCONTENDED: f64 = 0.85;

/// Requests in flight, so that most of them wait where one goes on.
const QUEUED: f64 = 4.0;
/// About one: no answer is as fast as the fastest.
const ONE: std::ops::RangeInclusive<f64> = 0.7..=1.15;
/// The same where the fastest answer was one of the first of a cold system, and where all answers take equally long, so that a
/// slow one is fastest.
const ONE_MAX_COLD: f64 = 1.35;
const ONE_MAX_EVEN: f64 = 1.45;
/// p90 − p10 of p50, of answers that wait in one queue.
const EVEN: f64 = 0.3;

/// Of the CPU time of a system whose requests go on in turns, and not in one thread: what the busiest thread uses at most.
pub(super) const MOVES_AMONG_THREADS: f64 = 0.6;
/// Threads that can carry requests where work passes from one to another, at least.
const SEVERAL: f64 = 2.5;
/// Of the requests in flight, those that wait to be accepted where few threads serve few connections at a time.
const TO_BE_ACCEPTED: f64 = 0.25;

/// Who works on an answer has not sent all of it.
pub(super) const WORKED_ON: Refutation = Refutation {
    when: "half of the requests in flight were held by threads of the system that slept for something else, or ran",
    is_read: |evidence| {
        let held = |workers: &Workers| workers.asleep() + workers.computing();
        let held = evidence.workers().values().map(held).sum();
        evidence.of_in_flight(held).is_some_and(|share| share >= 0.5)
    },
};

impl Evidence<'_> {
    /// A figure of how fast and how evenly runs were answered, the median of all runs.
    pub(super) fn pace(&self, figure: impl Fn(&Pace) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| figure(&run.measured.pace)))
    }

    /// Requests that ended per second, in any way.
    pub(super) fn ended_per_s(&self) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| Some(run.measured.window?.ended_per_s())))
    }

    /// Of an open load, the share of the offered requests that ended; `None` of users.
    pub(super) fn answered_of_offered(&self) -> Option<f64> {
        let of_run = |run: &RunEvidence<'_>| {
            let window = run.measured.window?;
            let offered_per_s = window.per_s(window.offered?);
            Some(window.ended_per_s() / offered_per_s).filter(|share| share.is_finite())
        };
        median(self.runs.iter().filter_map(of_run))
    }

    /// How many requests the system works on at once, if it works on each for as long as the fastest took: throughput × its time.
    pub(super) fn at_once(&self) -> Option<f64> {
        let of_run = |run: &RunEvidence<'_>| {
            let window = run.measured.window?;
            Some(window.per_s(window.counts.ok) * run.measured.pace.fastest_ns? / 1e9)
        };
        median(self.runs.iter().filter_map(of_run)).filter(|at_once| at_once.is_finite())
    }

    /// Whether one request at a time went on while others waited for it: throughput × the fastest answer is about one.
    pub(super) fn goes_on_one_at_a_time(&self) -> bool {
        let is_queued = self.in_flight().is_some_and(|in_flight| in_flight >= QUEUED);
        let is_even = self.spread().is_some_and(|spread| spread <= EVEN);
        let most = match (is_even, self.began_slowly()) {
            (true, _) => ONE_MAX_EVEN,
            (false, true) => ONE_MAX_COLD,
            (false, false) => *ONE.end(),
        };
        is_queued && self.at_once().is_some_and(|at_once| (*ONE.start()..=most).contains(&at_once))
    }

    /// Whether one request at a time goes on in whatever thread of several: a pool of one keeps its thread, and a server of one
    /// connection at a time leaves the others to be accepted.
    pub(super) fn moves_among_threads(&self) -> bool {
        let longest = self.signal(|signals| signals.busiest_thread);
        let used = longest.zip(self.ran_and_waited());
        let is_spread = used.is_some_and(|(longest, [ran, _])| longest < MOVES_AMONG_THREADS * ran);
        let is_accepted = self.in_flight().is_some_and(|all| self.queued() < TO_BE_ACCEPTED * all);
        let all = self.workers();
        let most = all.values().max_by(|one, other| one.at_work().total_cmp(&other.at_work()));
        let waits = |workers: &Workers| workers.all() >= SEVERAL && workers.in_state("futex") >= 1.0;
        is_spread && is_accepted && self.goes_on_one_at_a_time() && most.is_some_and(waits)
    }

    /// p90 − p10 of the service time of ok answers, as a share of p50.
    pub(super) fn spread(&self) -> Option<f64> {
        self.pace(|pace| pace.ok_ns.and_then(relative))
    }

    /// The same of rejected answers.
    pub(super) fn spread_of_rejected(&self) -> Option<f64> {
        self.pace(|pace| pace.rejected_ns.and_then(relative))
    }

    /// Of the time of an ok answer, the share that passed after its first byte.
    pub(super) fn transfer(&self) -> Option<f64> {
        let ok_ns = self.together.ok_ns?;
        let first_ns = self.pace(|pace| pace.first_byte_ns)?;
        Some((1.0 - first_ns / ok_ns).clamp(0.0, 1.0)).filter(|share| share.is_finite())
    }

    /// Whether the fastest answer took nearly as long as the mean one, so that requests did not wait for each other. Says nothing
    /// of a program that began cold: it had a queue before it was fast.
    pub(super) fn is_uncontended(&self) -> bool {
        let shares = self.pace(|pace| pace.fastest_ns).zip(self.together.ok_ns);
        // Whoever is not accepted waits, however fast the others are answered.
        let is_kept_out =
            self.in_flight().is_some_and(|all| self.queued() >= (TO_BE_ACCEPTED * all).max(1.0));
        !self.began_slowly()
            && !is_kept_out
            && shares.is_some_and(|(fastest, mean)| fastest >= UNCONTENDED * mean)
    }

    /// Whether the first answers of any run were slower than later ones.
    pub(super) fn began_slowly(&self) -> bool {
        self.runs.iter().any(|run| run.measured.pace.began_slowly)
    }

    /// The largest share of the requests in flight that slept in one kind of thing which names itself: a disk, a peer, a pipe, a
    /// wait of a database, or a futex.
    pub(super) fn slept_elsewhere(&self) -> f64 {
        let locked: f64 = self.workers().values().map(|workers| workers.same_futex).fold(0.0, f64::max);
        let locked = if locked >= 2.0 { self.of_in_flight(locked).unwrap_or(0.0) } else { 0.0 };
        self.asleep().max(self.asleep_in_database()).max(locked)
    }
}

fn relative([low, middle, high]: [f64; 3]) -> Option<f64> {
    Some((high - low) / middle).filter(|share| share.is_finite())
}
