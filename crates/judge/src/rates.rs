//! Arithmetic on counts: error shares, and costs of a request.

use record::Counts;

/// CPU time below it is too little to divide: the kernel counts in ticks, of mostly 10 ms.
const CPU_MIN_S: f64 = 0.1;

/// Planned requests that the system did not serve: rejected, failed, timed out, or never sent.
pub fn errors(counts: &Counts) -> u64 {
    [counts.rejected, counts.failed, counts.timed_out, counts.not_sent]
        .into_iter()
        .fold(0, u64::saturating_add)
}

/// The same as a share of what was planned; `None` if nothing was.
pub fn error_share(counts: &Counts) -> Option<f64> {
    (counts.planned > 0).then(|| errors(counts) as f64 / counts.planned as f64)
}

/// CPU time per request in microseconds, if there is enough of it.
pub fn us_per_request(cpu_s: f64, requests: u64) -> Option<f64> {
    (cpu_s >= CPU_MIN_S && requests > 0).then(|| cpu_s * 1e6 / requests as f64)
}
