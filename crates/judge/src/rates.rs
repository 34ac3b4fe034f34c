//! Arithmetic on counts: error shares, rates, and cost per request.

use record::{Counts, Tally};

use crate::window::Window;

/// Min CPU time that is divided by requests, in seconds. The kernel counts in ticks, usually of 10 ms.
const CPU_MIN_S: f64 = 0.1;

/// Returns the planned requests that the system did not serve: rejected, failed, timed out, or never sent.
pub fn errors(counts: &Counts) -> u64 {
    [counts.rejected, counts.failed, counts.timed_out, counts.not_sent]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// Returns the share of planned requests that the system did not serve; `None` if nothing was planned.
pub fn error_share(counts: &Counts) -> Option<f64> {
    stats::error_share(errors(counts), counts.planned)
}

/// Returns the share of planned requests of several runs that the system did not serve; `None` if nothing was planned.
/// Sums saturate, because counts in a damaged store may have any size.
pub fn error_share_of<'a>(runs: impl Iterator<Item = &'a Counts>) -> Option<f64> {
    let (failed, planned) = runs.fold((0u64, 0u64), |(failed, planned), counts| {
        (failed.saturating_add(errors(counts)), planned.saturating_add(counts.planned))
    });
    stats::error_share(failed, planned)
}

/// Returns the number per second, over a time above 0.
pub fn per_s(count: u64, length_s: f64) -> f64 {
    count as f64 / length_s
}

/// Returns KB (1,024 bytes) per second: mean bytes per request × requests that ended per second of the window. `bytes`
/// covers all `requests` that ended.
pub fn kb_per_s(window: Window, bytes: u64, requests: u64) -> f64 {
    let each = bytes as f64 / requests.max(1) as f64;
    window.ended_per_s() * each / 1024.0
}

/// Returns the CPU time per request, in microseconds; `None` if the CPU time is too short.
pub fn us_per_request(cpu_s: f64, requests: u64) -> Option<f64> {
    (cpu_s >= CPU_MIN_S && requests > 0).then(|| cpu_s * 1e6 / requests as f64)
}

/// Returns whether all counts are small enough (below 2⁴⁸) to be summed over thousands of runs. No real run comes near.
pub fn can_be_summed(tally: &Tally) -> bool {
    let counts =
        [tally.counts.planned, tally.counts.sent, tally.received_bytes, tally.sent_bytes, tally.connections];
    let durations = [&tally.response, &tally.service, &tally.lateness]
        .into_iter()
        .flat_map(|split| [split.ok.count(), split.rejected.count(), split.other.count()]);
    let others = [&tally.first_byte, &tally.connect, &tally.tls].map(|histogram| histogram.count());
    let kinds = tally.statuses.iter().map(|(_, count)| count);
    let errors = tally.errors.entries().iter().map(|entry| entry.count).chain([tally.errors.others()]);
    counts.into_iter().chain(durations).chain(others).chain(kinds).chain(errors).all(|count| count < 1 << 48)
}
