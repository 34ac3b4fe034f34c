//! A level of a search as a run of a queue, and whether it met its conditions.

use load::open::{Profile, Segment};
use load::{Closed, Load, Open, SECOND_NS, Schedule, Spacing, ThinkTime};
use record::Percentile;
use stats::{At, Judged, Level, SearchStage};

use crate::play::{LoadTimes, play};
use crate::queue::Queue;

/// Arrivals that had a reply when the load stopped, as a share of all: fewer are a queue that grows.
const COMPLETED_MIN: f64 = 0.99;
/// Connections of an open load, more than ever wait.
const CONNECTIONS: u32 = 1_000_000;
/// How much of an overload there is before the rate that is judged.
const OVERLOAD_NS: u64 = 10 * SECOND_NS;
/// How long a system may take to come round after an overload. Near its capacity a queue works off what it has too much of
/// slowly: of 1.3 times the capacity for ten seconds, at 92 % of it, in (0.3 / 0.08) · 10 s = 38 s.
const GRACE_NS: u64 = 60 * SECOND_NS;

/// How runs of a search are made and judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// A percentile of the response time,
    pub percentile: Percentile,
    /// which must stay below this.
    pub limit_s: f64,
    /// Seconds that are left out at the beginning of a run.
    pub warm_up_s: u64,
    /// Seconds that are measured.
    pub measured_s: u64,
}

/// Plays a level on a queue. `overload_per_s` goes before a level of the stage of that name.
pub fn judge(
    queue: &Queue,
    condition: &Condition,
    level: Level,
    overload_per_s: Option<f64>,
    seed: u64,
) -> Judged {
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
        None => Judged::Invalid,
        Some(response_s) if response_s <= condition.limit_s && played.completed_share() >= COMPLETED_MIN => {
            Judged::Passed
        }
        Some(_) => Judged::Failed,
    }
}

fn size(queue: &Queue, condition: &Condition, users: u32, seed: u64) -> Judged {
    let think_time = ThinkTime::None;
    let closed = Closed {
        users,
        ramp_up_ns: 0,
        think_time,
        pacing_ns: 0,
        throughput_per_s: None,
        seed,
        schedule: None,
    };
    let warm_up_ns = condition.warm_up_s * SECOND_NS;
    let times = LoadTimes { warm_up_ns, stop_ns: warm_up_ns + condition.measured_s * SECOND_NS };
    let played = play(&Load::Closed(closed), queue, times, seed);
    match (played.throughput_per_s(), played.mean_response_s()) {
        (Some(per_s), Some(mean_response_s)) => Judged::Sized { per_s, mean_response_s },
        _ => Judged::Invalid,
    }
}
