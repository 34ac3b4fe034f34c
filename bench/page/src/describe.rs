//! Builds the records that begin and end a synthetic run or study.

use evidence::{Ending, Generator, NewRun, StudyId, StudyPlace};
use record::{MinMedianMax, Spread};
use serde_json::{Value, json};

/// Start time: 2026-11-21 14:25:00 UTC. It is fixed, so that the names of two synthetic results differ only in their last four
/// characters.
pub(crate) const STARTED_AT_UNIX_MS: i64 = 1_795_271_100_000;
/// Warm-up of each run, in seconds. Figures exclude it.
pub(crate) const WARM_UP_S: u64 = 1;
/// Note on each result that nothing was measured.
pub(crate) const STAMP: &str = "made up to try pages: nothing was measured";
/// Tenbin version in each result.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

const SECOND_NS: u64 = 1_000_000_000;

/// Returns the description of a synthetic machine.
pub(crate) fn host(cores: u32) -> Value {
    json!({
        "name": "nowhere", "cores": cores, "cpu": "none", "memory_bytes": 8_589_934_592u64, "system": "none",
        "kernel": "none",
    })
}

/// Returns the start record of a run that begins `after_s` seconds after the first run.
pub(crate) fn new_run(
    title: String,
    after_s: u64,
    duration_s: u64,
    cores: u32,
    place: Option<(StudyId, StudyPlace)>,
) -> NewRun {
    NewRun {
        started_at_unix_ms: STARTED_AT_UNIX_MS + after_s as i64 * 1_000,
        title,
        plan_text: format!("100 users, closed, for {duration_s} s after {WARM_UP_S} s of warm-up"),
        plan_hash: "0000000000000000".to_owned(),
        tenbin_version: VERSION.to_owned(),
        host: host(cores),
        load_words: "100 users, closed".to_owned(),
        steps: vec!["GET /".to_owned()],
        warm_up_ns: WARM_UP_S * SECOND_NS,
        planned_duration_ns: Some(duration_s * SECOND_NS),
        stamps: vec![STAMP.to_owned()],
        system_version: place.is_some().then(|| "1.0.0".to_owned()),
        place,
        ..fixtures::new_run()
    }
}

/// Returns the end record of a run without problems.
pub(crate) fn ending(new: &NewRun, duration_s: u64) -> Ending {
    let lasted_s = WARM_UP_S + duration_s;
    let even = |median: f64| MinMedianMax { min: median * 0.96, median, max: median * 1.05 };
    Ending {
        ended_at_unix_ms: new.started_at_unix_ms + lasted_s as i64 * 1_000,
        generator: Generator {
            cpu_user_s: 0.1 * lasted_s as f64,
            cpu_sys_s: 0.2 * lasted_s as f64,
            rss_peak_bytes: 24 << 20,
            threads: 2,
            wake_lag_p99_us: Some(55.0),
            thread_cpu_share_max: Some(0.2),
            ..Generator::default()
        },
        spread: Some(Spread {
            connections: 100,
            unserved: Some(0),
            requests: even(10.0 * duration_s as f64),
            response_mean_ns: Some(even(5e6)),
            response_max_ns: Some(even(2e8)),
        }),
        ..fixtures::ending()
    }
}
