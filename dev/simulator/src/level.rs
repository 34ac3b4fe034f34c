//! Runs a level of a capacity search on a simulated queue, and judges its conditions.

use load::open::{Profile, Segment};
use load::{Closed, Load, Open, SECOND_NS, Schedule, Spacing, ThinkTime};
use record::Percentile;
use stats::{At, Level, LevelRunResult, SearchStage};

use crate::play::{LoadTimes, play};
use crate::queue::Queue;

/// Minimum share of arrivals that are answered when the load stops. A smaller share means that the queue grows.
const COMPLETED_MIN: f64 = 0.99;
/// Number of connections of an open load: enough to never run out.
const CONNECTIONS: u32 = 1_000_000;
/// Duration of an overload before the judged rate.
const OVERLOAD_NS: u64 = 10 * SECOND_NS;
/// Time that a system may take to recover from an overload. Near its capacity, a queue drains slowly: after 1.3 times the capacity
/// for ten seconds, it takes (0.3 / 0.08) · 10 s = 38 s at 92 % of the capacity.
const GRACE_NS: u64 = 60 * SECOND_NS;

/// Durations and pass condition of the runs of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Percentile of the response time.
    pub percentile: Percentile,
    /// Maximum of the percentile, in seconds.
    pub limit_s: f64,
    /// Warm-up in seconds, excluded from figures.
    pub warm_up_s: u64,
    /// Measured time in seconds.
    pub measured_s: u64,
}

/// Runs a level on a queue. `overload_per_s` precedes a level of the overload stage.
pub fn judge(
    queue: &Queue,
    condition: &Condition,
    level: Level,
    overload_per_s: Option<f64>,
    seed: u64,
) -> LevelRunResult {
    let per_s = match level.at {
        At::Users(users) => return size(queue, condition, users, seed),
        At::PerS(per_s) => per_s,
    };
    let mut segments = Vec::new();
    let mut warm_up_ns = condition.warm_up_s * SECOND_NS;
    if let (SearchStage::Overload, Some(overload_per_s)) = (level.stage, overload_per_s) {
        segments.push(Segment { from_per_s: overload_per_s, to_per_s: overload_per_s, for_ns: OVERLOAD_NS });
        warm_up_ns = OVERLOAD_NS + GRACE_NS;
    }
    segments.push(Segment { from_per_s: per_s, to_per_s: per_s, for_ns: u64::MAX });
    let spacing = Spacing::poisson(seed);
    let profile = Profile::new(segments);
    let load = Load::Open(Open {
        schedule: Schedule::Rate(profile, spacing),
        connections: CONNECTIONS,
        shed_after_ns: None,
    });
    let times = LoadTimes { warm_up_ns, stop_ns: warm_up_ns + condition.measured_s * SECOND_NS };
    let played = play(&load, queue, times, seed);
    match played.response_s(condition.percentile) {
        None => LevelRunResult::Invalid,
        Some(response_s) if response_s <= condition.limit_s && played.completed_share() >= COMPLETED_MIN => {
            LevelRunResult::Passed
        }
        Some(_) => LevelRunResult::Failed,
    }
}

fn size(queue: &Queue, condition: &Condition, users: u32, seed: u64) -> LevelRunResult {
    let think_time = ThinkTime::None;
    let closed = Closed {
        users,
        ramp_up_ns: 0,
        think_time,
        pacing_ns: 0,
        throughput_per_s: None,
        seed,
        schedule: None,
        is_unpaced: false,
    };
    let warm_up_ns = condition.warm_up_s * SECOND_NS;
    let times = LoadTimes { warm_up_ns, stop_ns: warm_up_ns + condition.measured_s * SECOND_NS };
    let played = play(&Load::Closed(closed), queue, times, seed);
    match (played.throughput_per_s(), played.mean_response_s()) {
        (Some(per_s), Some(mean_response_s)) => LevelRunResult::Sized { per_s, mean_response_s },
        _ => LevelRunResult::Invalid,
    }
}
