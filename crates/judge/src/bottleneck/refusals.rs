//! Limits of the system itself on requests: rejections with 429 and 503, and requests that sleep until their turn.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, REPORTED_ERRORS_MIN_SHARE, Rule, Rung, unknown};
use crate::causes::Resource;
use crate::waits::Workers;
use crate::words::{decimal, duration, many};

/// Min share of ended requests at which rejections are the cause even in a saturated system.
const REJECTED_MIN_SHARE: f64 = 0.9;
/// Max ratio of the times of rejections and of ok answers at which rejections did not wait.
const IMMEDIATE_MAX_RATIO: f64 = 0.5;

/// Max p90 − p10 as a share of p50 of rejections by a timer, which delays every request equally.
pub(super) const EQUAL_TIMES_MAX_SPREAD: f64 = 0.05;

/// Words for a limit that lets requests sleep instead of rejecting them.
const KEPT_RATE: &str = "a rate that the system keeps to: it lets requests sleep";

impl Resource {
    /// The system's own limit on queued requests.
    pub const REQUEST_QUEUE: Self = Self::new("request_queue", "the system's own queue limit (503)")
        .with_error_share()
        .next("add workers, or raise the limit of the queue if longer waits are acceptable");

    /// The system's own limit on the rate of requests.
    pub const RATE_LIMIT: Self = Self::new("rate_limit", "the system's own rate limit (429)")
        .with_error_share()
        .next("raise or remove the rate limit, or offer less");
}

pub(super) const REFUSALS: Rule = Rule {
    finds: &[Resource::REQUEST_QUEUE, Resource::RATE_LIMIT],
    when: "1 % of the requests or more were answered 429, or 503 in less than half of the time of a good answer; or 503 after the same \
           time (p90 − p10 is at most 5 % of p50), and good answers took no less; or 90 % of the answers 503 came sooner than the mean good one",
    why: "what is rejected at once was not waited for, and a queue that gives up does so after a fixed time. Other slow rejections are \
          failures of something else. Below 90 % of the requests, a system that has used up a thread or the cores rejects for lack of them",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: refusals,
};

pub(super) const HELD_BACK: Rule = Rule {
    finds: &[Resource::RATE_LIMIT],
    when: "two requests in flight or more, of which 90 % had a thread of one process that slept in a timer, while answers took equally long \
           (p90 − p10 is at most 5 % of p50), and the fastest one far less",
    why: "a system that lets each request sleep until its turn comes limits their rate. Where sleep is a part of the work, the fastest \
          answer sleeps as long",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: held_back,
};

/// Min share of requests in flight that sleep in timers at which the system throttles them.
const HELD_BACK_MIN_SHARE: f64 = 0.9;

fn held_back(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let even = unknown::even_distance(evidence)?;
    let all = evidence.workers();
    let asleep = |workers: &Workers| workers.in_state("timer");
    let (name, workers) = all.iter().max_by(|(_, one), (_, other)| asleep(one).total_cmp(&asleep(other)))?;
    let share = evidence.in_flight_share(asleep(workers)).filter(|share| *share >= HELD_BACK_MIN_SHARE)?;
    let because = format!(
        "{} threads of {name} slept in timers on average, for {} {} in flight, and {even}, while the fastest took {}{}",
        decimal(asleep(workers), 1),
        decimal(evidence.in_flight()?, 1),
        many(evidence.together.unit),
        duration(evidence.pace(|pace| pace.fastest_ns)?),
        cpu_in_brackets(evidence)
    );
    // Few answers are as fast as the fastest one, which may have had less to do.
    let cause = suspected(Resource::RATE_LIMIT, Scope::Process(name.clone()), because).indirect(Some(share));
    Some(Bottleneck { what: KEPT_RATE, ..cause })
}

pub(super) const SLEEP_THAT_ADAPTS: Rule = Rule {
    finds: &[Resource::RATE_LIMIT],
    when: "a further cause: in a closed load, a fifth of the requests in flight or more had a thread of one process that slept in a timer, the upper \
           quartile of the number of these threads over the seconds was more than 1.4 times the lower one, plus one, and answers took equally long (p90 − p10 is at most 30 % of p50)",
    why: "sleep that is a part of the work takes as long in each second. Requests that sleep until their turn comes sleep longer where they wait \
          for nothing else",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: sleep_that_adapts,
};

/// Min share of requests in flight that sleep in timers at which their sleep is a further cause.
const ADAPTS_MIN_SHARE: f64 = 0.2;
/// Min ratio of the quartiles of the threads in timers over the seconds, and their min difference.
const ADAPTS_MIN_RATIO: f64 = 1.4;
const ADAPTS_MIN_THREADS: f64 = 1.0;
/// Max p90 − p10 of the answers as a share of p50.
const ADAPTS_MAX_SPREAD: f64 = 0.3;

fn sleep_that_adapts(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.users()?;
    evidence.spread().filter(|spread| *spread <= ADAPTS_MAX_SPREAD)?;
    let all = evidence.workers();
    let ranges = all.iter().filter_map(|(name, workers)| Some((name, workers, workers.timer_quartiles?)));
    let (name, workers, [low, high]) = ranges.max_by(|(.., one), (.., other)| one[1].total_cmp(&other[1]))?;
    let share =
        evidence.in_flight_share(workers.in_state("timer")).filter(|share| *share >= ADAPTS_MIN_SHARE)?;
    if high < ADAPTS_MIN_RATIO * low + ADAPTS_MIN_THREADS {
        return None;
    }
    let because = format!(
        "{} threads of {name} or fewer slept in timers in a quarter of the seconds, and {} or more in another quarter, while answers took \
         equally long: a request sleeps for less time where it waits for something else, as until its turn comes",
        decimal(low, 1),
        decimal(high, 1)
    );
    let cause = suspected(Resource::RATE_LIMIT, Scope::Process(name.clone()), because).further(share);
    Some(Bottleneck { what: KEPT_RATE, ..cause })
}

fn refusals(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let [refused_ns, ok_ns] = [evidence.together.rejected_ns?, evidence.together.ok_ns?];
    let is_refusing = |status: &u16| evidence.share_of_status(*status) >= REPORTED_ERRORS_MIN_SHARE;
    let status = [429, 503].into_iter().find(is_refusing)?;
    let is_late = status == 503 && refused_ns > IMMEDIATE_MAX_RATIO * ok_ns;
    let gives_up = evidence.rejected_spread().is_some_and(|spread| spread <= EQUAL_TIMES_MAX_SPREAD);
    let comes_first = evidence.pace(|pace| Some(pace.rejected_ns?[2])).is_some_and(|high| high <= ok_ns);
    if is_late && !(gives_up && refused_ns <= ok_ns || comes_first) {
        return None;
    }
    let when = if is_late && gives_up { "each time" } else { "on average" };
    let share = evidence.share_of_status(status);
    let because = format!(
        "{} of the requests were answered {status} after {} {when}, the good ones after {}{}",
        percent(share),
        duration(refused_ns),
        duration(ok_ns),
        cpu_in_brackets(evidence)
    );
    let resource = if status == 429 { Resource::RATE_LIMIT } else { Resource::REQUEST_QUEUE };
    let cause = suspected(resource, Scope::System, because);
    // CPU time is then short because of accepted requests, and rejections are its effect.
    let is_a_symptom = status == 503 && share < REJECTED_MIN_SHARE && evidence.is_exhausted();
    Some(if is_a_symptom { cause.symptom() } else { cause.first() })
}
