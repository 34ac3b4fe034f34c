//! A rate limiter that delays requests above its rate.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Covers, Rule, Rung};
use crate::causes::Resource;
use crate::words::{decimal, duration, many};

/// Largest p90 − p10 as a share of p50. Answers that are released at fixed intervals take equally long.
const RELEASED_SPREAD_MAX: f64 = 0.05;
/// Largest throughput × fastest answer, if the system is faster than its answers are released.
const CONCURRENCY_MAX: f64 = 0.7;
/// Like `CONCURRENCY_MAX`, if the rate is a round number. The limit is higher, because even the first answers may have been delayed.
const AT_ONCE_ROUND: f64 = 2.5;
/// Relative tolerance within which a rate matches a number of two digits, as people configure limits.
const ROUND: f64 = 0.001;
/// Half of a whole, from which on it counts as most of it.
const MAJORITY: f64 = 0.5;
/// Largest number of cores in use if a rate limiter is the bottleneck.
const COMPUTES: f64 = 0.5;
/// Smallest number of requests in flight; one alone does not queue.
const IN_FLIGHT: f64 = 2.0;
/// Share of the offered rate answered, from which on an open load was not held back.
const FOLLOWED: f64 = 0.9;

/// Another kind of wait explains the answers.
const SLEPT_ELSEWHERE: Refutation = Refutation {
    when: "half of the requests in flight slept for a disk, a peer, a pipe, something inside the database, or at one futex",
    is_read: |evidence| evidence.slept_elsewhere() >= MAJORITY,
};

/// The intervals between answers that follow a schedule are those of the schedule.
const ANSWERED_ON_SCHEDULE: Refutation = Refutation {
    when: "an open load was answered at 90 % of its rate or more",
    is_read: |evidence| evidence.answered_of_offered().is_some_and(|share| share >= FOLLOWED),
};

/// A rate limiter delays whole answers, not their later bytes.
const SLOW_TRANSFER: Refutation = Refutation {
    when: "half of the time of an answer passed after its first byte",
    is_read: |evidence| evidence.transfer().is_some_and(|share| share >= MAJORITY),
};

pub(super) const DELAYED_BY_LIMITER: Rule = Rule {
    finds: &[Resource::RATE_LIMIT],
    when: "answers took equally long (p90 − p10 is at most 5 % of p50), at least two were in flight, throughput × the fastest answer is \
           below 0.7 requests, and the system used less than half a core; below 2.5 if throughput has two digits to 0.1 %",
    why: "the system is faster than its answers are let out, and lets them out at a fixed distance. People set limits to round numbers",
    refuted_by: &[SLEPT_ELSEWHERE, SLOW_TRANSFER, ANSWERED_ON_SCHEDULE],
    rung: Rung::Arithmetic,
    covers: Covers::Runs,
    find: delayed_to_a_rate,
};

fn delayed_to_a_rate(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let even = evidence.spread().filter(|spread| *spread <= RELEASED_SPREAD_MAX)?;
    let in_flight = evidence.in_flight().filter(|in_flight| *in_flight >= IN_FLIGHT)?;
    let [ran, waited] = evidence.ran_and_waited()?;
    let (at_once, per_s) = (evidence.at_once()?, evidence.ended_per_s()?);
    let is_round = is_round(per_s) && evidence.workers().values().all(|workers| workers.asleep() < 0.5);
    let most = if is_round { AT_ONCE_ROUND } else { CONCURRENCY_MAX };
    if at_once > most || ran + waited > COMPUTES || evidence.is_exhausted() {
        return None;
    }
    let fastest_ns = evidence.pace(|pace| pace.fastest_ns)?;
    let because = format!(
        "80 % of the answers took equally long (within {}), the fastest of all {}: {} {} a second were let out at a fixed distance{}",
        percent(even),
        duration(fastest_ns),
        decimal(per_s, 1),
        many(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let share = 1.0 - at_once / in_flight;
    let cause = suspected(Resource::RATE_LIMIT, Scope::System, because).direct(Some(share));
    let cause = Bottleneck { what: "a limit on the rate, which delays answers", ..cause };
    Some(cause.next(format!(
        "look for a limit of {} a second (a rate limiter, traffic shaping, a timer), and raise it",
        decimal(per_s, 0)
    )))
}

/// Whether a rate is a number of two significant digits.
fn is_round(per_s: f64) -> bool {
    let unit = 10f64.powf(per_s.log10().floor() - 1.0);
    let nearest = (per_s / unit).round() * unit;
    (per_s - nearest).abs() <= ROUND * per_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_rate_has_two_significant_digits() {
        assert!([200.0, 199.9, 15.0, 1_500.0, 0.25].into_iter().all(is_round));
        assert!(![197.6, 204.0, 15.2, 0.0, f64::NAN].into_iter().any(is_round));
    }
}
