//! Upper bounds of the generator's effect on the figures of a run, from its own signals. `docs/validity.md` derives
//! each.

use evidence::{GeneratorEffect, LONG_DELAYS, LongDelays};
use stats::quantile_ranks;

use super::distortion::READS_MIN;
use super::evidence::Evidence;
use crate::planned::Offered;

/// Min length of a stop that workers count, in nanoseconds.
const STOP_MIN_NS: f64 = 50e6;
/// Max ratio of the true length of a stop to the counted one: a stop during a wait for sockets appears up to 20 ms
/// shorter.
const STOP_MAX_RATIO: f64 = 1.4;
/// Time that a system needs to catch up after a stop, in lengths of the stop. Assumes that it is at most half busy.
const CATCH_UP_FACTOR: f64 = 1.0;

/// Shares of requests for which the stored delay thresholds are computed.
const LONG_SHARES: [f64; LONG_DELAYS] = [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003];
/// Probability that a stored threshold is too short because reads of replies are only a sample.
const SAMPLE_ERROR: f64 = 0.002;

/// Computes the effects of the generator; `None` if another tool made the load, or nothing was measured. `is_at_limit`
/// means that the generator, or a proxy of the plan, came near its peak rate.
pub(super) fn effect(evidence: &Evidence<'_>, is_at_limit: bool) -> Option<GeneratorEffect> {
    let window_ns = evidence.window_ns.filter(|ns| *ns > 0)? as f64;
    let requests = evidence.tally.response.all().count() as f64;
    if evidence.tool.is_some() || evidence.workers.is_empty() || requests == 0.0 {
        return None;
    }
    let stopped_share = stopped_share(evidence, window_ns);
    let own_ns = own_delay_ns(evidence);
    let long_delays = long_delays(evidence);
    Some(match evidence.planned.offered {
        Offered::Open { .. } => GeneratorEffect {
            stopped_share,
            delay_ns: own_ns,
            long_delays,
            disturbed_share: share((1.0 + CATCH_UP_FACTOR) * stopped_share),
            missing_share: 0.0,
            moved_share: share(longest_ns(evidence) / window_ns),
            is_at_limit: false,
        },
        Offered::Closed { users, .. } => {
            let users_time_ns = f64::from(users) * window_ns;
            // A stop delays every user who waits for an answer, and releases all at once.
            let stops = stopped_share * window_ns / STOP_MIN_NS * evidence.workers.len() as f64;
            let delay_ns = own_ns + stopped_share * users_time_ns;
            GeneratorEffect {
                stopped_share,
                delay_ns,
                long_delays,
                disturbed_share: share(f64::from(users) * stops / requests),
                missing_share: share(delay_ns / users_time_ns),
                moved_share: 0.0,
                is_at_limit,
            }
        }
    })
}

/// Returns the sum of the generator's own delays, observed by workers or possible by the kernel's accounting. Excludes
/// stops.
fn own_delay_ns(evidence: &Evidence<'_>) -> f64 {
    let (all, response) = (evidence.tail.all(), evidence.tally.response.all());
    let in_kernel_ns = match evidence.read_delay.mean_ns() {
        Some(mean_ns) if evidence.read_delay.count() >= READS_MIN => mean_ns * response.count() as f64,
        // Without kernel timestamps, a reply waits no longer than its thread waits for a core.
        _ => evidence.mean_run_queue_wait_share().map_or(0.0, share) * response.sum_ns() as f64,
    };
    (all.lag_ns as f64 + in_kernel_ns).min(response.sum_ns() as f64)
}

/// Returns the numbers of requests with long delays. The send lag is known for each request, but the time that replies
/// waited in the kernel only for a sample, so half of each share is allowed to exceed either one. `None` without a
/// sample.
fn long_delays(evidence: &Evidence<'_>) -> Option<[LongDelays; LONG_DELAYS]> {
    let (requests, reads) = (evidence.tail.all().count, &evidence.read_delay);
    (reads.count() >= READS_MIN).then(|| {
        LONG_SHARES.map(|share| {
            let beyond = (share / 2.0 * requests as f64) as u64;
            let lag_ns = evidence.tail.lag_exceeded_by(beyond);
            let ppm = ((1.0 - share / 2.0) * 1e6) as u32;
            let rank = quantile_ranks(reads.count(), ppm, SAMPLE_ERROR).high;
            match rank.and_then(|rank| reads.bounds_at_rank(rank)) {
                Some((_, in_kernel_ns)) => LongDelays {
                    requests: beyond as f64 + share / 2.0 * requests as f64,
                    longer_than_ns: lag_ns as f64 + in_kernel_ns as f64,
                },
                // Any request may have waited longer than the sampled reads.
                None => LongDelays { requests: requests as f64, longer_than_ns: lag_ns as f64 },
            }
        })
    })
}

/// Returns the share of the window for which a worker was stopped or had no core for long: by its own count, by quota,
/// or by the host.
pub(super) fn stopped_share(evidence: &Evidence<'_>, window_ns: f64) -> f64 {
    let workers = evidence.workers.len().max(1) as f64;
    let stopped_ns: u64 = evidence.workers.iter().map(|worker| worker.stalled_ns).sum();
    let counted = STOP_MAX_RATIO * stopped_ns as f64 / workers / window_ns;
    let throttled_s = evidence.environment.throttled_s.unwrap_or_default();
    let throttled = throttled_s * 1e9 / workers / (evidence.wall_ns() as f64).max(window_ns);
    share(counted.max(throttled).max(evidence.environment.steal_share.unwrap_or_default()))
}

/// Returns the longest delay of any send, in nanoseconds.
fn longest_ns(evidence: &Evidence<'_>) -> f64 {
    let stopped_ns = evidence.heartbeat_max_ns().unwrap_or_default();
    stopped_ns.max(evidence.wake_lag.max_ns().unwrap_or_default()) as f64
}

fn share(of: f64) -> f64 {
    if of.is_finite() { of.clamp(0.0, 1.0) } else { 1.0 }
}
