//! Runs and seconds to keep, always the same.

#![allow(dead_code, reason = "every test takes what it needs")]

use record::{Finish, Interval, MinMedianMax, Outcome, Phase, Sampled, Spread, Tally};
use serde_json::json;
use store::{Cause, Ending, Generator, Level, Model, NewRun, Validity, Verdict};

/// 2026-11-21T14:25:01Z
pub(crate) const STARTED_AT_UNIX_MS: i64 = 1_795_271_101_000;

pub(crate) fn new_run() -> NewRun {
    NewRun {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "http://127.0.0.1:8080/\u{1b}[31m'; DROP TABLE run; --".to_owned(),
        plan_text: "100 users get / for 10 s".to_owned(),
        plan_json: json!({"load": {"users": 100}, "ratio": 0.1}),
        plan_hash: "c0ffee".to_owned(),
        tenbin_version: "0.1.0".to_owned(),
        host: json!({"cpus": 2}),
        load_words: "100 users, closed".to_owned(),
        model: Model::Closed,
        steps: vec!["front page".to_owned(), "search".to_owned()],
        warm_up_ns: 2_000_000_000,
        planned_duration_ns: Some(10_000_000_000),
        stamps: vec!["TLS certificates were not verified (--insecure)".to_owned()],
        place: None,
        system_version: Some("puma 8.0.0 (\u{1b}[1m)".to_owned()),
    }
}

pub(crate) fn ending() -> Ending {
    Ending {
        ended_at_unix_ms: STARTED_AT_UNIX_MS + 12_000,
        verdict: Verdict::Degraded,
        validity: Validity {
            verdict: Level::Suspect,
            causes: vec![Cause {
                code: "generator_cpu".to_owned(),
                sentence: "a thread used 97 % of its core".to_owned(),
                remedy: "use more threads".to_owned(),
            }],
        },
        generator: Generator {
            cpu_user_s: 0.1 + 0.2,
            cpu_sys_s: 3.3,
            rss_peak_bytes: 12 << 20,
            threads: 2,
            wake_lag_p99_us: Some(28.000_000_000_000_004),
            thread_cpu_share_max: None,
        },
        spread: Some(Spread {
            connections: 100,
            requests: MinMedianMax { min: 1.0, median: 2.0, max: 1.0 / 3.0 },
            response_mean_ns: Some(MinMedianMax { min: 0.1, median: 0.2, max: 0.3 }),
            response_max_ns: None,
        }),
        planned_left: 3,
        notes: vec!["short".to_owned()],
        resolved_ns: Some(1_234),
        tls: Some("TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519".to_owned()),
        system: Some(json!({"cpu_s": 9.25})),
        failure: None,
        not_available: vec![("pressure".to_owned(), "the kernel was built without it".to_owned())],
    }
}

/// A second with requests of every outcome, all settled; `shift_ns` makes it differ from others.
pub(crate) fn interval(second: u64, phase: Phase, shift_ns: u64) -> Interval {
    let mut tally = Tally { received_bytes: 5_000, sent_bytes: 700, connections: 2, ..Tally::default() };
    let mut sampled = Vec::new();
    for (place, outcome) in Outcome::ALL.into_iter().cycle().take(50).enumerate() {
        let intended_ns = second * 1_000_000_000 + place as u64 * 1_000;
        let finish = Finish {
            intended_ns,
            sent_ns: intended_ns + 70,
            first_byte_ns: (outcome != Outcome::Failed).then_some(intended_ns + 30_000),
            finished_ns: intended_ns + 40_000 + shift_ns * place as u64,
            outcome,
            status: if outcome == Outcome::Ok { 200 } else { 0 },
        };
        tally.note_sent(finish.sent_ns);
        tally.note_finished(&finish);
        sampled.push(Sampled {
            finish,
            connection: place as u32,
            connect_ns: 9,
            received_bytes: 100,
            sent_bytes: 14,
        });
    }
    tally.note_not_sent(1);
    tally.connect.record(55_000);
    tally.tls.record(99_000);
    tally.errors.note("status", 503, || "HTTP 503\u{202e}".to_owned());
    tally.errors.note("reset", 104, || "the peer reset the connection".to_owned());
    tally.errors.add_others(7);
    Interval { second, phase, tally, sampled }
}
