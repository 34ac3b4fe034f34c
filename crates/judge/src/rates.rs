//! Arithmetic on counts: error shares, rates, and cost per request.

use record::{Counts, Tally};

use crate::window::Window;

/// Smallest CPU time that is divided by requests, in seconds. The kernel counts in ticks, of mostly 10 ms.
const CPU_MIN_S: f64 = 0.1;

/// Planned requests that the system did not serve: rejected, failed, timed out, or never sent.
pub fn errors(counts: &Counts) -> u64 {
    [counts.rejected, counts.failed, counts.timed_out, counts.not_sent]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// Share of planned requests that the system did not serve; `None` if nothing was planned.
pub fn error_share(counts: &Counts) -> Option<f64> {
    stats::error_share(errors(counts), counts.planned)
}

/// Share of the planned requests of several runs that the system did not serve; `None` if nothing was planned. Sums saturate,
/// because counts in a damaged store may be of any size.
pub fn error_share_of<'a>(runs: impl Iterator<Item = &'a Counts>) -> Option<f64> {
    let (failed, planned) = runs.fold((0u64, 0u64), |(failed, planned), counts| {
        (failed.saturating_add(errors(counts)), planned.saturating_add(counts.planned))
    });
    stats::error_share(failed, planned)
}

/// Number per second, over a time above 0.
pub fn per_s(count: u64, length_s: f64) -> f64 {
    count as f64 / length_s
}

/// KB (1,024 bytes) per second: mean bytes per request × requests that ended per second of the window. `bytes` are those of all
/// `requests` that ended.
pub fn kb_per_s(window: Window, bytes: u64, requests: u64) -> f64 {
    let each = bytes as f64 / requests.max(1) as f64;
    window.ended_per_s() * each / 1024.0
}

/// CPU time per request, in microseconds; `None` if there is too little of it.
pub fn us_per_request(cpu_s: f64, requests: u64) -> Option<f64> {
    (cpu_s >= CPU_MIN_S && requests > 0).then(|| cpu_s * 1e6 / requests as f64)
}

/// Whether all counts are small enough (below 2⁴⁸) that those of thousands of runs can be summed. No real run comes near.
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
