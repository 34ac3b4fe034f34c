//! Arithmetic on counts: rates and shares.

use record::Counts;

/// CPU time below it is too little to divide: the kernel counts in ticks, of mostly 10 ms.
const CPU_MIN_S: f64 = 0.1;

/// Requests that ended, and not ok.
pub fn errors(counts: &Counts) -> u64 {
    counts.refused + counts.failed + counts.timed_out
}

/// Requests that did not end ok, of those that ended; `None` without samples.
pub fn error_share(counts: &Counts, samples: u64) -> Option<f64> {
    (samples > 0).then(|| errors(counts) as f64 / samples as f64)
}

/// Answers per second; over the time from the first start to the last end it is JMeter's throughput. `None` without answers
/// or without a time.
pub fn answers_per_s(counts: &Counts, over_s: Option<f64>) -> Option<f64> {
    let answers = counts.ok + counts.refused;
    over_s.filter(|_| answers > 0).map(|over_s| answers as f64 / over_s)
}

/// Answers that were ok per second.
pub fn ok_per_s(counts: &Counts, over_s: Option<f64>) -> Option<f64> {
    let answers = counts.ok.saturating_add(counts.refused);
    let per_s = answers_per_s(counts, over_s)?;
    Some(if answers == 0 { per_s } else { per_s * counts.ok as f64 / answers as f64 })
}

/// CPU time per request in microseconds, if there is enough of it.
pub fn us_per_request(cpu_s: f64, requests: u64) -> Option<f64> {
    (cpu_s >= CPU_MIN_S && requests > 0).then(|| cpu_s * 1e6 / requests as f64)
}
