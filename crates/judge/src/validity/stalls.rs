//! Rule for stalls of the generator, in which no request started and no reply was read.

use evidence::{Distorted, Distortion, Level};

use super::distortion::{cap_levels, of_throughput, of_time};
use super::effect::stopped_share;
use super::evidence::Evidence;
use super::words::{Finding, found, own_core, percent};
use crate::causes::{Doubt, MEASURED_ITSELF};
use crate::words::duration;

/// Max share of time for which a thread may be stalled, for at least 50 ms at a time, before the run is suspect.
const STALLED_SUSPECT: f64 = 0.01;
/// Max share of time for which threads may be stalled before the run is invalid. The remaining requests say too little
/// about the system.
const STALLED_INVALID: f64 = 0.5;
/// Length of a single stall, in nanoseconds, above which it is always reported.
const LONGEST_NS: u64 = 100_000_000;

impl Doubt {
    /// A worker did not return to its loop in time.
    pub const GENERATOR_STALLED: Self = Self {
        code: "generator_stalled",
        words: MEASURED_ITSELF,
        suspect: "1 % of the time, or once 100 ms",
        invalid: "half of the time, with throttling and steal",
        looks_at: "a worker did not run its loop for 50 ms or more: stopped, or without a core",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: true,
    };
}

/// Reports threads that did not return to their loop: share of time, and longest stall.
pub(super) fn stalls(evidence: &Evidence<'_>) -> Option<Finding> {
    let longest_ns = evidence.heartbeat_max_ns()?;
    let share = evidence.stalled_share()?;
    let window_ns = evidence.window_ns.unwrap_or_default().max(1) as f64;
    let level = if stopped_share(evidence, window_ns) > STALLED_INVALID {
        Level::Invalid
    } else if share > STALLED_SUSPECT || longest_ns > LONGEST_NS {
        Level::Suspect
    } else {
        return None;
    };
    let sentence = format!(
        "a generator thread did not run for up to {} at a time, {} of the time in total: stopped, or without a core",
        duration(longest_ns as f64),
        percent(share)
    );
    let remedy = format!("let nothing stop the generator; {}", own_core(evidence.planned));
    if level == Level::Invalid {
        // No figure has a bound.
        return Some(found(level, sentence, remedy));
    }
    let tail = of_time(Distorted::Tail, longest_ns as f64, evidence.slowest_mean_ns());
    let response_ns = evidence.tally.response.all().mean_ns();
    // The share of delayed requests is at most the stalled share of time. Each was delayed by less than the longest
    // stall, or took as long as any other.
    let mean_ns = share * (longest_ns as f64).max(response_ns.unwrap_or_default());
    let times = [of_time(Distorted::Mean, mean_ns, response_ns), Distortion { level, ..tail }];
    let throughput = (!evidence.planned.is_open()).then(|| of_throughput(share));
    let distorts = throughput.into_iter().chain(times).collect();
    Some(found(level, sentence, remedy).distorting(cap_levels(distorts, level)))
}
