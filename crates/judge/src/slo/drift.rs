//! Detects growth of memory or CPU cost during a long run.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run};

use super::judge::FailedCondition;
use crate::core_time::in_measured_time;
use crate::words::{decimal, mebibytes};

/// Min relative growth from the second to the last quarter that is not noise.
const GROWTH_MAX: f64 = 0.05;
/// Growth of memory in bytes that is always accepted, because memory is allocated in pages and pools.
const MEMORY_MIN_BYTES: f64 = 1_048_576.0;
/// Min CPU time of a quarter in seconds. Below it, the kernel's ticks, usually of 10 ms, distort the result.
const CPU_MIN_S: f64 = 1.0;
/// Min number of seconds for which quarters are compared.
const SECONDS_MIN: usize = 8;

/// Readings and counts of one second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    rss_bytes: Option<f64>,
    cpu_s: f64,
    ended: f64,
}

/// Returns failed conditions for growing figures: memory, or CPU time per request.
pub(super) fn drift_failures(run: &Run) -> Result<Vec<FailedCondition>, EvidenceError> {
    let mut seconds: BTreeMap<u64, Second> = BTreeMap::new();
    for reading in in_measured_time(run).filter(|reading| reading.subject == "system") {
        let second = seconds.entry(reading.second).or_default();
        match reading.metric {
            "rss_bytes" => second.rss_bytes = Some(second.rss_bytes.unwrap_or(0.0) + reading.value),
            "cpu_user_s" | "cpu_sys_s" => second.cpu_s += reading.value,
            _ => {}
        }
    }
    for packed in run.packed_seconds()? {
        if let Some(second) = seconds.get_mut(&packed.second()) {
            second.ended += packed.counts().ended() as f64;
        }
    }
    let seconds: Vec<Second> = seconds.into_values().collect();
    let quarter = seconds.len() / 4;
    if seconds.len() < SECONDS_MIN {
        return Ok(Vec::new());
    }
    let (early, late) = (&seconds[quarter..2 * quarter], &seconds[seconds.len() - quarter..]);
    Ok([memory(early, late), cpu(early, late)].into_iter().flatten().collect())
}

fn memory(early: &[Second], late: &[Second]) -> Option<FailedCondition> {
    let mean = |seconds: &[Second]| {
        let read: Vec<f64> = seconds.iter().filter_map(|second| second.rss_bytes).collect();
        (!read.is_empty()).then(|| read.iter().sum::<f64>() / read.len() as f64)
    };
    let (before, after) = (mean(early)?, mean(late)?);
    let mib = |bytes: f64| format!("{} MiB", mebibytes(bytes as u64));
    let words = || format!("memory grew from {} to {} within the run", mib(before), mib(after));
    grew("memory", before, after).filter(|_| after - before > MEMORY_MIN_BYTES).map(|grew| grew(words()))
}

fn cpu(early: &[Second], late: &[Second]) -> Option<FailedCondition> {
    let each_s = |seconds: &[Second]| {
        let cpu_s: f64 = seconds.iter().map(|second| second.cpu_s).sum();
        let ended: f64 = seconds.iter().map(|second| second.ended).sum();
        (cpu_s >= CPU_MIN_S && ended > 0.0).then(|| cpu_s / ended)
    };
    let (before, after) = (each_s(early)?, each_s(late)?);
    let us = |s: f64| format!("{} µs", decimal(s * 1e6, 1));
    let words = || format!("CPU time per request grew from {} to {} within the run", us(before), us(after));
    grew("cpu", before, after).map(|grew| grew(words()))
}

/// Returns a constructor of a failed condition from its words, if the growth is significant.
fn grew(condition: &str, before: f64, after: f64) -> Option<impl FnOnce(String) -> FailedCondition> {
    let share = after / before - 1.0;
    (share.is_finite() && share > GROWTH_MAX).then(|| {
        let condition = condition.to_owned();
        move |words| FailedCondition { condition, observed: Some(share), limit: GROWTH_MAX, words }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(rss_bytes: f64, cpu_s: f64, ended: f64) -> Vec<Second> {
        vec![Second { rss_bytes: Some(rss_bytes), cpu_s, ended }; 10]
    }

    #[test]
    fn growth_within_the_tolerance_is_ignored() {
        let base = seconds(100e6, 0.5, 1_000.0);
        let memory = |rss_bytes| memory(&base, &seconds(rss_bytes, 0.0, 0.0)).is_some();
        assert_eq!([memory(104e6), memory(106e6), memory(50e6)], [false, true, false]);
        let cpu = |cpu_s| cpu(&base, &seconds(0.0, cpu_s, 1_000.0)).map(|failed| failed.words);
        assert_eq!([cpu(0.52), cpu(0.4)], [None, None]);
        assert!(cpu(0.6).is_some_and(|words| words.contains("from 500.0 µs to 600.0 µs")));
    }

    #[test]
    fn growth_of_tiny_figures_is_ignored() {
        let (small, larger) = (seconds(1e6, 0.01, 10.0), seconds(1.5e6, 0.02, 10.0));
        assert!(memory(&small, &larger).is_none() && cpu(&small, &larger).is_none());
        let unread = vec![Second::default(); 10];
        assert!(memory(&unread, &larger).is_none() && cpu(&unread, &larger).is_none());
    }
}
