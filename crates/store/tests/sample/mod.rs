//! Fixed sample runs and seconds.

#![allow(dead_code, reason = "every test takes what it needs")]

use std::path::Path;

use evidence::{
    Bounds, CapacityRules, Cause, Compare, ConnectionsByProcess, Decision, Ending, Failure, GateResult,
    Generator, GeneratorEffect, HeldReading, Level, NewRun, NewStudy, Outage, OutageTime, Procedure, Reading,
    RunId, SameBody, ServingProcess, SizeClasses, Steadiness, SteadinessVerdict, SteadyStart, StepContents,
    StepPart, StudyId, StudyPlace, Unit, Validity, Verdict, stage,
};
use fixtures::reading;
use record::{
    ErrorClass, Finish, Interval, LedgerEntry, MinMedianMax, Outcome, Phase, Sampled, Spread, Tally,
};
use rusqlite::Connection;
use serde_json::json;
use store::Store;

/// 2026-11-21T14:25:01Z
pub(crate) const STARTED_AT_UNIX_MS: i64 = 1_795_271_101_000;

/// Reads the schema version of a file.
pub(crate) fn version(path: &Path) -> i64 {
    Connection::open(path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Returns the schema version of a new file.
pub(crate) fn newest_version() -> i64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    drop(Store::open(&path).unwrap());
    version(&path)
}

pub(crate) fn new_run() -> NewRun {
    NewRun {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "http://127.0.0.1:8080/\u{1b}[31m'; DROP TABLE run; --".to_owned(),
        plan_text: "100 users get / for 10 s".to_owned(),
        plan_json: json!({"load": {"users": 100}, "ratio": 0.1}),
        plan_hash: "c0ffee".to_owned(),
        host: json!({"cpus": 2}),
        load_words: "100 users, closed".to_owned(),
        users: Some(100),
        steps: vec!["front page".to_owned(), "search".to_owned()],
        units: vec![Unit::Requests; 2],
        warm_up_ns: 2_000_000_000,
        planned_duration_ns: Some(10_000_000_000),
        stamps: vec!["TLS certificates were not verified (--insecure)".to_owned()],
        system_version: Some("puma 8.0.0 (\u{1b}[1m)".to_owned()),
        ..fixtures::new_run()
    }
}

/// Returns a run of two scripts, each with a statement that is counted separately.
pub(crate) fn new_sql_run() -> NewRun {
    let part = |name: &str, of| StepPart { name: name.to_owned(), of };
    NewRun {
        title: "postgres://127.0.0.1:5432/bench".to_owned(),
        units: vec![Unit::Transactions; 2],
        parts: vec![part("SELECT 1", 0), part("COMMIT", 1)],
        latency_limit_ns: Some(50_000_000),
        connects_each: true,
        ..new_run()
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
                distorts: vec![evidence::Distortion {
                    figure: evidence::Distorted::Throughput,
                    level: Level::Suspect,
                    by_share: Some(-0.1 - 0.2),
                    by_us: None,
                }],
            }],
            effect: Some(GeneratorEffect {
                delay_ns: 0.1 + 0.2,
                is_at_limit: true,
                ..GeneratorEffect::default()
            }),
            ..Validity::default()
        },
        generator: Generator {
            cpu_user_s: 0.1 + 0.2,
            cpu_sys_s: 3.3,
            rss_peak_bytes: 12 << 20,
            threads: 2,
            wake_lag_p99_us: Some(28.000_000_000_000_004),
            ..Generator::default()
        },
        spread: Some(Spread {
            connections: 100,
            unserved: Some(3),
            requests: MinMedianMax { min: 1.0, median: 2.0, max: 1.0 / 3.0 },
            response_mean_ns: Some(MinMedianMax { min: 0.1, median: 0.2, max: 0.3 }),
            response_max_ns: None,
        }),
        planned_left: 3,
        notes: vec!["short".to_owned()],
        resolved_ns: Some(1_234),
        tls: Some("TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519".to_owned()),
        system: Some(json!({"cpu_s": 9.25})),
        not_available: vec![("pressure".to_owned(), "the kernel was built without it".to_owned())],
        ..fixtures::ending()
    }
}

/// Returns the ending as in files of earlier versions, whose causes do not name the figures that they may distort, and
/// which do not count connections without a reply.
pub(crate) fn ending_before_distortions() -> Ending {
    let mut ending = ending();
    ending.spread.iter_mut().for_each(|spread| spread.unserved = None);
    ending.validity.causes.iter_mut().for_each(|cause| cause.distorts.clear());
    ending.validity.effect = None;
    ending
}

/// Returns the ending of a run with all self-monitoring signals of the generator.
pub(crate) fn ending_with_signals() -> Ending {
    let generator = Generator {
        wake_lag_max_us: Some(900.5),
        run_queue_wait_share: Some(0.1 + 0.2),
        heartbeat_max_us: Some(1_200.0),
        busiest_10s_share: Some(0.97),
        involuntary_per_s: Some(50.0),
        steal_share: Some(0.0),
        throttled_s: Some(0.25),
        client_share_of_tail: Some(1.0 / 3.0),
        mean_in_flight: Some(99.875),
        little_ratio: Some(1.000_000_000_000_000_2),
        ceiling_per_s: Some(250_000.0),
        ..ending().generator
    };
    let steadiness = Steadiness {
        verdict: SteadinessVerdict::NotSteady,
        why: Some("it rises by 7 %".to_owned()),
        window_ns: 250_000_000,
        windows: 40,
        cut_s: 1.25,
        drift_share: Some(0.07),
        halves_share: Some(-1.0 / 3.0),
        step_s: None,
        extended: 2,
    };
    let times = vec![OutageTime { from_s: 1.0, to_s: 1.75, lasting_s: 0.5, is_open: false }];
    let outage = Outage { longest_s: 0.5, gone_share: 0.25, times, starvation: None };
    let window_ns = Some(3_000_000_000);
    let outage = Some(outage);
    let process = |pid| ServingProcess { pid, name: "app".to_owned(), listens: true };
    let reading = HeldReading { at_ns: 250_000_000, connections: vec![Some(32), None] };
    let connections =
        ConnectionsByProcess { processes: vec![process(7), process(8)], readings: vec![reading] };
    let steady = SteadyStart { waited_s: 0.3, processes: 3, changes: 1, cores_used: 0.05, is_steady: true };
    let connections_by_process = Some(connections);
    let sizes = SizeClasses(vec![(3, 6), (1, 135_000)]);
    let codings = vec![("gzip".to_owned(), 2)];
    let of_step =
        StepContents { step: 1, replies: 4, sizes, codings, cache_hits: 1, ..StepContents::default() };
    let contents = vec![of_step, StepContents { replies: 1, ..StepContents::default() }];
    let same_body = Some(SameBody { body: "{\"ok\": true}\u{1b}".to_owned(), requests: 12, replies: 512 });
    Ending {
        generator,
        steadiness: Some(steadiness),
        window_ns,
        outage,
        is_system_local: true,
        connections_by_process,
        steady_start: Some(steady),
        same_body,
        resumed_handshakes: 17,
        contents,
        ..ending()
    }
}

/// Returns the ending of a run whose system did not start.
pub(crate) fn failed() -> Ending {
    let failure = Failure {
        stage: "ready".to_owned(),
        process: Some("app".to_owned()),
        what: "puma ended with exit code 1\u{1b}[2J".to_owned(),
        way_out: "see what it wrote".to_owned(),
    };
    Ending { verdict: Verdict::Aborted, failure: Some(failure), ..ending() }
}

/// Returns a study of two systems, one of them with two variants, in two blocks.
pub(crate) fn new_study() -> NewStudy {
    let variants = [("puma", "workers=1"), ("puma", "workers=8"), ("unicorn", "")];
    let blocks = (0..2).flat_map(|block| variants.map(|variant| (block, variant)));
    let place = |(position, (block, (system, variant))): (u32, (u32, (&str, &str)))| StudyPlace {
        block,
        position,
        ..fixtures::place(system, variant)
    };
    NewStudy {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "app servers'; DROP TABLE study; --".to_owned(),
        question: Some("Which one?\u{202e}".to_owned()),
        source: "load: { users: 100 }\n".to_owned(),
        plan_hash: "c0ffee".to_owned(),
        host: json!({"cpus": 2}),
        seed: u64::MAX,
        is_quick: true,
        compare: Compare { matters: 0.1 + 0.2, blocks: 2, ..fixtures::compare() },
        gates: vec!["p(99)<200ms".to_owned()],
        loads: vec!["64 KiB".to_owned(), "1 KiB'; --".to_owned()],
        stamps: vec!["quick: it shows that the plan works, and no more".to_owned()],
        ..fixtures::new_study((0..).zip(blocks).map(place).collect())
    }
}

/// Returns a capacity search with its first run.
pub(crate) fn new_search() -> NewStudy {
    let rules = CapacityRules {
        slos: vec!["p99<200ms".to_owned(), "errors<0.1%".to_owned()],
        resolution: 0.03,
        from_per_s: None,
        to_per_s: Some(0.1 + 0.2),
        confirm_runs: 5,
        overruled_by: 3,
        has_overload: true,
        soak_s: Some(600.0),
        runs_max: 60,
    };
    let mut new = new_study();
    new.planned.truncate(1);
    (new.planned[0].stage, new.planned[0].users) = (stage::SIZING.to_owned(), Some(1));
    new.compare.procedure = Procedure::Capacity(rules);
    new.compare.also = vec!["p99".to_owned(), "cpu-per-request".to_owned()];
    (new.compare.baseline, new.compare.within_s) = (Some("puma workers=1".to_owned()), Some(1_800.5));
    new
}

/// Returns a later place of [`new_search`].
pub(crate) fn bracket(position: u32, rate_per_s: f64) -> StudyPlace {
    StudyPlace {
        position,
        block: position,
        stage: stage::BRACKET.to_owned(),
        users: None,
        rate_per_s: Some(rate_per_s),
        ..new_search().planned.remove(0)
    }
}

/// Begins a run of a planned place, and stores a second.
pub(crate) fn begin_at(store: &Store, study: &StudyId, place: &StudyPlace) -> RunId {
    let new = NewRun { place: Some((study.clone(), place.clone())), ..new_run() };
    let run = store.begin(&new).unwrap();
    store.keep_second(&run, 0, &[interval(2, Phase::Measured, u64::from(place.position))]).unwrap();
    run
}

pub(crate) fn readings(second: u64) -> Vec<Reading> {
    vec![
        reading("machine", "cpu_user_s", "core0", 0.1 + 0.2),
        reading("machine", "cpu_user_s", "core1", 0.0),
        reading("app\u{1b}[2J", "rss_bytes", "", 4_096.0 * second as f64),
        reading("generator", "threads", "", -1.5e300),
    ]
}

pub(crate) fn gates() -> Vec<GateResult> {
    let gate = |text: &str, step: Option<&str>, observed, limit, unit: &str, decision| GateResult {
        text: text.to_owned(),
        step: step.map(str::to_owned),
        observed,
        bounds: observed.and_then(|observed| Bounds::new(0.9 * observed, f64::INFINITY)),
        limit,
        unit: unit.to_owned(),
        decision,
        samples_needed: None,
    };
    let undecided = gate("p(90)<200ms", None, Some(190e6), 200e6, "ns", Decision::Undecided);
    vec![
        gate("p(99)<200ms", None, Some(150e6), 200e6, "ns", Decision::Holds),
        gate("search: errors<0.1%", Some("search"), Some(0.1 + 0.2), 0.001, "share", Decision::Fails),
        gate("p(99)<1s from 10s to 20s", None, None, 1e9, "ns", Decision::Undecided),
        GateResult { bounds: Bounds::new(180e6, 210e6), samples_needed: Some(4_000), ..undecided },
    ]
}

/// Builds a second with finished requests of every outcome. `shift_ns` makes it differ from others.
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
    tally.errors.note(ErrorClass::Status, 503, || "HTTP 503\u{202e}".to_owned());
    // A class unknown to this version.
    tally.errors.insert(LedgerEntry {
        class: "reset".into(),
        code: 104,
        message: "the peer reset the connection".to_owned(),
        count: 1,
    });
    tally.errors.add_others(7);
    Interval { second, phase, tally, sampled }
}
