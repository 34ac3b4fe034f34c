//! Deterministic stored runs for reports.

#![allow(dead_code, reason = "every test takes what it needs")]

pub(crate) mod sql;

use evidence::{
    Bounds, Cause, Decision, Distorted, Distortion, Ending, Failure, GateResult, Generator, GeneratorEffect,
    Level, Model, NewRun, NewStudy, Outage, OutageTime, Reading, Run, RunId, RunState, StepPart, StudyId,
    StudyPlace, Unit, Validity, Verdict,
};
use fixtures::{OwnStore, reading};
use record::{
    Counts, ErrorClass, Finish, Interval, MinMedianMax, Outcome, Phase, Sampled, Spread, Tally, WindowCounts,
};
use serde_json::json;
use store::Store;

/// 2026-11-21T14:25:01.042Z.
pub(crate) const STARTED_AT_UNIX_MS: i64 = 1_795_271_101_042;
const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// Deterministic pseudorandom numbers. They use no floating point, so that every machine agrees.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Service time that is mostly near the minimum, and rarely many times longer.
    fn service_ns(&mut self, least_ns: u64) -> u64 {
        let spread = self.below(1_000) * self.below(1_000) / 1_000;
        let tail = if self.below(200) == 0 { 10 } else { 1 };
        least_ns + least_ns * spread * tail / 1_000
    }
}

/// Contents of a stored run.
pub(crate) struct Kept {
    pub(crate) new: NewRun,
    /// Intervals, each with its step.
    pub(crate) seconds: Vec<(u16, Interval)>,
    /// Readings, each with its second.
    pub(crate) readings: Vec<(u64, Vec<Reading>)>,
    pub(crate) outputs: Vec<(String, Vec<u8>)>,
    pub(crate) gates: Vec<GateResult>,
    pub(crate) ending: Option<Ending>,
}

impl Kept {
    /// A run that has nothing but its load.
    pub(crate) fn load(new: &NewRun, seconds: &[(u16, Interval)], ending: Option<&Ending>) -> Self {
        let (new, seconds, ending) = (new.clone(), seconds.to_vec(), ending.cloned());
        Self { new, seconds, readings: Vec::new(), outputs: Vec::new(), gates: Vec::new(), ending }
    }

    pub(crate) fn keep(&self, store: &Store) -> RunId {
        let run = store.begin(&self.new).unwrap();
        for (step, interval) in &self.seconds {
            store.keep_second(&run, *step, &[in_window(interval.clone())]).unwrap();
        }
        for (second, readings) in &self.readings {
            store.keep_readings(&run, *second, readings).unwrap();
        }
        for (process, text) in &self.outputs {
            store.keep_output(&run, process, text, 0).unwrap();
        }
        store.keep_gates(&run, &self.gates).unwrap();
        if let Some(ending) = &self.ending {
            store.finish(&run, ending).unwrap();
        }
        run
    }

    /// Stores a run, loads it, and gives it a fixed identifier.
    pub(crate) fn through_store(mut self, id: &str) -> Run {
        let store = OwnStore::new();
        let fixed: StudyId = "s-20261121-142500-ab12".parse().unwrap();
        if let Some((study, place)) = &mut self.new.place {
            *study = store.begin_study(&new_study(vec![place.clone()])).unwrap();
        }
        let mut run = store.load(&self.keep(&store)).unwrap();
        run.id = id.parse().unwrap();
        if let Some((study, _)) = &mut run.new.place {
            *study = fixed;
        }
        run
    }
}

/// Outage in a window of three seconds.
pub(crate) fn gone(from_s: f64, lasting_s: f64, is_open: bool) -> Outage {
    let times = vec![OutageTime { from_s, to_s: from_s + lasting_s, lasting_s, is_open }];
    Outage { longest_s: lasting_s, gone_share: lasting_s / 3.0, times, starvation: None }
}

/// Counts everything that ends in the measured phase as inside the window.
fn in_window(mut interval: Interval) -> Interval {
    let Counts { ok, rejected, failed, timed_out, .. } = interval.tally.counts;
    if interval.phase == Phase::Measured {
        interval.tally.window = WindowCounts { ok, rejected, other: failed + timed_out, after: 0 };
    }
    interval
}

pub(crate) fn new_study(planned: Vec<StudyPlace>) -> NewStudy {
    NewStudy {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "app-servers".to_owned(),
        question: Some("Which application server, and with how many workers?".to_owned()),
        source: "systems: {}".to_owned(),
        plan_hash: "c0ffee5ca1ab1e00".to_owned(),
        host: json!({"name": "bench-1", "cores": 2, "cpu": "EPYC", "memory_bytes": 8_589_934_592u64, "system": "Linux 6.18.0"}),
        seed: 42,
        ..fixtures::new_study(planned)
    }
}

/// A place in a study.
fn place(system: &str, variant: &str) -> Option<(StudyId, StudyPlace)> {
    let id = "s-20261121-142500-ab12".parse().unwrap();
    Some((
        id,
        StudyPlace {
            block: 2,
            position: 7,
            load: "100 users".to_owned(),
            ..fixtures::place(system, variant)
        },
    ))
}

/// Resource usage of the system in one second.
pub(crate) fn readings(cpu_s: f64, rss_bytes: f64) -> Vec<Reading> {
    vec![
        reading("system", "cpu_user_s", "", cpu_s * 0.75),
        reading("system", "cpu_sys_s", "", cpu_s * 0.25),
        reading("system", "rss_bytes", "", rss_bytes),
        reading("system", "threads", "", 17.0),
        reading("system", "processes", "", 9.0),
        reading("app", "cpu_user_s", "", cpu_s * 0.75),
        reading("app", "cpu_sys_s", "", cpu_s * 0.25),
        reading("generator", "cpu_user_s", "", 0.05),
        reading("generator", "cpu_sys_s", "", 0.20),
        reading("machine", "cpu_user_s", "core0", cpu_s * 0.75),
        reading("machine", "cpu_sys_s", "core0", cpu_s * 0.25),
        reading("machine", "cpu_idle_s", "core0", 1.0 - cpu_s),
        reading("machine", "cpu_sys_s", "core1", 0.25),
        reading("machine", "cpu_idle_s", "core1", 0.75),
    ]
}

/// A CPU quota in cores, and the time for which it throttled threads in a second, summed over cores.
pub(crate) fn quota(cores: f64, throttled_s: f64) -> Vec<Reading> {
    vec![reading("system", "cpu_quota_cores", "", cores), reading("system", "throttled_s", "", throttled_s)]
}

pub(crate) fn new_run() -> NewRun {
    NewRun {
        started_at_unix_ms: STARTED_AT_UNIX_MS,
        title: "GET http://127.0.0.1:8080/".to_owned(),
        plan_text: "100 users get / for 3 s".to_owned(),
        plan_hash: "5ca1ab1e".to_owned(),
        host: json!({"name": "bench-1", "cpus": 2, "kernel": "6.18.0"}),
        load_words: "100 users, closed".to_owned(),
        users: Some(100),
        warm_up_ns: SECOND,
        planned_duration_ns: Some(3 * SECOND),
        ..fixtures::new_run()
    }
}

pub(crate) fn ending() -> Ending {
    Ending {
        ended_at_unix_ms: STARTED_AT_UNIX_MS + 4_010,
        generator: Generator {
            cpu_user_s: 0.02,
            cpu_sys_s: 0.11,
            rss_peak_bytes: 12_345_678,
            threads: 2,
            wake_lag_p99_us: Some(61.25),
            thread_cpu_share_max: Some(0.031),
            ..Generator::default()
        },
        spread: Some(Spread {
            connections: 100,
            unserved: Some(0),
            requests: MinMedianMax { min: 148.0, median: 150.0, max: 152.0 },
            response_mean_ns: Some(MinMedianMax { min: 0.9e6, median: 1.0e6, max: 1.1e6 }),
            response_max_ns: Some(MinMedianMax { min: 2.1e6, median: 4.2e6, max: 8.4e6 }),
        }),
        window_ns: Some(3 * SECOND),
        outage: Some(Outage::default()),
        is_system_local: false,
        connections_by_process: None,
        steady_start: None,
        same_body: None,
        contents: Vec::new(),
        ..fixtures::ending()
    }
}

/// One second of requests. `outcome_of` returns the outcome of each; a few are stored in the request log.
pub(crate) fn second(
    number: u64,
    requests: u64,
    draws: &mut Draws,
    late_ns: u64,
    outcome_of: impl Fn(u64) -> (Outcome, u16),
) -> Interval {
    let phase = if number == 0 { Phase::WarmUp } else { Phase::Measured };
    let mut tally = Tally::default();
    let mut sampled = Vec::new();
    for place in 0..requests {
        let (outcome, status) = outcome_of(place);
        let intended_ns = number * SECOND + place * SECOND / requests;
        let sent_ns = intended_ns + late_ns * place / requests + draws.below(400);
        let service_ns = draws.service_ns(if outcome == Outcome::TimedOut { 900 * MS } else { 800_000 });
        let first_byte_ns = (status != 0).then_some(sent_ns + service_ns * 9 / 10);
        let finish = Finish {
            intended_ns,
            sent_ns,
            first_byte_ns,
            finished_ns: sent_ns + service_ns,
            outcome,
            status,
        };
        tally.note_sent(sent_ns);
        tally.note_finished(&finish);
        tally.received_bytes += if status == 0 { 0 } else { 1_234 };
        tally.sent_bytes += 78;
        if place < 3 {
            let connect_ns = if number == 0 { 150_000 } else { 0 };
            sampled.push(Sampled {
                finish,
                connection: place as u32,
                connect_ns,
                received_bytes: 1_234,
                sent_bytes: 78,
            });
        }
    }
    if number == 0 {
        tally.connections = 100;
        (0..100).for_each(|_| tally.connect.record(40_000 + draws.below(30_000)));
    }
    Interval { second: number, phase, tally, sampled }
}

pub(crate) fn always_ok(_: u64) -> (Outcome, u16) {
    (Outcome::Ok, 200)
}

pub(crate) fn normal() -> Run {
    let mut draws = Draws(1);
    let mut seconds: Vec<_> =
        (0..4).map(|number| (0, second(number, 5_000, &mut draws, 0, always_ok))).collect();
    // Another thread's part of the second.
    let mut part = second(3, 500, &mut draws, 0, always_ok);
    part.tally.connections = 3;
    (0..3).for_each(|_| part.tally.connect.record(55_000));
    seconds.push((0, part));
    Kept::load(&new_run(), &seconds, Some(&ending())).through_store("20261121-142501-ab12")
}

/// A CPU quota held the system back: in each second for longer than the second, because several cores add up.
pub(crate) fn limited() -> Run {
    let mut draws = Draws(9);
    let seconds: Vec<_> = (0..4).map(|number| (0, second(number, 400, &mut draws, 0, always_ok))).collect();
    let mut kept = Kept::load(&new_run(), &seconds, Some(&ending()));
    kept.readings = (0..4).map(|number| (number, [readings(0.4, 64e6), quota(0.4, 1.93)].concat())).collect();
    kept.through_store("20261121-142501-q1ta")
}

pub(crate) fn every_kind_of_error() -> Run {
    let mut new = new_run();
    new.steps = vec!["front page".to_owned(), "search".to_owned()];
    new.units = vec![Unit::Requests; 2];
    new.title = "https://shop.test/".to_owned();
    new.stamps = vec!["TLS certificates were not verified (--insecure)".to_owned()];
    new.place = place("puma", "workers=8 threads=16");
    new.system_version = Some("puma version 6.6.0".to_owned());
    let outcome_of = |place: u64| match place % 100 {
        0 | 1 => (Outcome::Rejected, 503),
        2 => (Outcome::Rejected, 200),
        3 => (Outcome::Failed, 0),
        4 => (Outcome::TimedOut, 0),
        _ => (Outcome::Ok, 200),
    };
    let mut draws = Draws(2);
    let mut seconds = Vec::new();
    for number in 0..4 {
        for step in 0..2 {
            let mut one = second(number, 400 + 800 * u64::from(step), &mut draws, 0, outcome_of);
            let many = one.tally.counts.rejected * 2 / 3;
            let errors = &mut one.tally.errors;
            (0..many).for_each(|_| {
                errors.note(ErrorClass::Status, 503, || "HTTP 503 Service Unavailable".to_owned())
            });
            // Errors whose classes this version does not know.
            let [rejected, failed, timed_out] =
                [one.tally.counts.rejected - many, one.tally.counts.failed, one.tally.counts.timed_out];
            for (class, code, message, count) in [
                ("check", 1, "the body does not contain \"ok\"", rejected),
                ("reset", 104, "the peer reset the connection", failed),
                ("timeout_headers", 0, "no reply within 900 ms", timed_out),
            ] {
                if count > 0 {
                    let (class, message) = (class.into(), message.to_owned());
                    errors.insert(record::LedgerEntry { class, code, message, count });
                }
            }
            one.tally.note_not_sent(number * 3);
            one.tally.tls.record(1_700_000);
            if number == 3 {
                one.tally.errors.add_others(5);
                one.tally.note_sent(4 * SECOND - 1);
                one.tally.counts.note(Outcome::Unfinished);
            }
            seconds.push((step, one));
        }
    }
    let mut ending = ending();
    ending.verdict = Verdict::Degraded;
    ending.outage = Some(gone(0.4, 0.75, false));
    ending.validity = Validity {
        verdict: Level::Suspect,
        causes: vec![Cause {
            code: "generator_cpu".to_owned(),
            sentence: "a generator thread used 97 % of its core".to_owned(),
            remedy: "use more threads, or a second machine for the load".to_owned(),
            distorts: vec![
                Distortion {
                    by_share: Some(-0.012),
                    ..Distortion::with_unknown_size(Distorted::Throughput, Level::Suspect)
                },
                distortion(Distorted::Tail, Level::Suspect, 0.08, 412.0),
            ],
        }],
        effect: Some(GeneratorEffect {
            delay_ns: 3e6,
            missing_share: 0.012,
            moved_share: 0.001,
            ..GeneratorEffect::default()
        }),
        ..Validity::default()
    };
    ending.planned_left = 9;
    ending.notes = vec!["The system closed 3 idle connections.".to_owned()];
    ending.resolved_ns = Some(1_234_567);
    ending.tls = Some("TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519".to_owned());
    ending.system = Some(json!({"pid": 4242}));
    ending.not_available = vec![("pressure".to_owned(), "the kernel was built without it".to_owned())];
    let mut kept = Kept::load(&new, &seconds, Some(&ending));
    kept.readings = (0..4).map(|second| (second, readings(0.875, 181e6 - second as f64 * 1e6))).collect();
    kept.gates = vec![
        GateResult {
            text: "p(99)<200ms".to_owned(),
            step: None,
            observed: Some(6.6e6),
            bounds: Bounds::new(6.4e6, 6.8e6),
            limit: 2e8,
            unit: "ns".to_owned(),
            decision: Decision::Holds,
            samples_needed: None,
        },
        GateResult {
            text: "search: errors<0.1%".to_owned(),
            step: Some("search".to_owned()),
            observed: Some(0.05),
            bounds: Bounds::exactly(0.05),
            limit: 0.001,
            unit: "share".to_owned(),
            decision: Decision::Fails,
            samples_needed: None,
        },
    ];
    kept.through_store("20261121-142507-cd34")
}

fn distortion(figure: Distorted, level: Level, share: f64, us: f64) -> Distortion {
    Distortion { figure, level, by_share: Some(share), by_us: Some(us) }
}

pub(crate) fn empty() -> Run {
    let mut ending = ending();
    ending.verdict = Verdict::Aborted;
    ending.validity.verdict = Level::Invalid;
    ending.validity.causes = vec![Cause {
        code: "no_samples".to_owned(),
        sentence: "no request ended".to_owned(),
        remedy: "check that the address is right: tenbin check".to_owned(),
        distorts: Vec::new(),
    }];
    (ending.spread, ending.window_ns, ending.outage) = (None, None, None);
    Kept::load(&new_run(), &[], Some(&ending)).through_store("20261121-142513-ef56")
}

pub(crate) fn cut_short() -> Run {
    let mut draws = Draws(3);
    let mut seconds: Vec<_> =
        (0..2).map(|number| (0, second(number, 150, &mut draws, 0, always_ok))).collect();
    // These requests were in flight when the process died.
    (0..20).for_each(|_| seconds[1].1.tally.note_sent(2 * SECOND - 1));
    let mut run = Kept::load(&new_run(), &seconds, None).through_store("20261121-142519-gh78");
    // The writer is this process, which is still alive.
    run.state = RunState::Partial;
    run
}

/// A run that was killed in its first second.
pub(crate) fn nothing_stored() -> Run {
    let mut run = Kept::load(&new_run(), &[], None).through_store("20261121-142521-st9x");
    run.state = RunState::Partial;
    run
}

pub(crate) fn late() -> Run {
    let mut new = new_run();
    new.load_words = "5,000/s, open".to_owned();
    new.model = Model::Open;
    new.place = place("unicorn", "workers=1");
    let mut draws = Draws(4);
    let mut seconds: Vec<_> =
        (0..4).map(|number| (0, second(number, 4_000, &mut draws, number * 250 * MS, always_ok))).collect();
    seconds[3].1.tally.note_not_sent(1_000);
    let mut ending = ending();
    ending.verdict = Verdict::Degraded;
    ending.outage = Some(gone(2.5, 0.5, true));
    ending.validity.notes = vec![Cause {
        code: "generator_waited".to_owned(),
        sentence: "a generator thread waited for a core for 6.1 % of the time".to_owned(),
        remedy: "give the generator a core of its own".to_owned(),
        distorts: vec![distortion(Distorted::Mean, Level::Valid, 0.004, 12.0)],
    }];
    Kept::load(&new, &seconds, Some(&ending)).through_store("20261121-142525-jk9m")
}

/// A closed load with one very long request.
pub(crate) fn stalled() -> Run {
    let mut draws = Draws(5);
    let mut seconds: Vec<_> =
        (0..4).map(|number| (0, second(number, 2_000, &mut draws, 0, always_ok))).collect();
    let tally = &mut seconds[2].1.tally;
    tally.note_sent(2 * SECOND);
    let finish = Finish {
        intended_ns: 2 * SECOND,
        sent_ns: 2 * SECOND,
        first_byte_ns: None,
        finished_ns: 2 * SECOND + 900 * MS,
        outcome: Outcome::Ok,
        status: 200,
    };
    tally.note_finished(&finish);
    let mut ending = ending();
    ending.validity.verdict = Level::Invalid;
    Kept::load(&new_run(), &seconds, Some(&ending)).through_store("20261121-142531-np0q")
}

/// A run whose figures are as large as a file can store.
pub(crate) fn huge() -> Run {
    let mut new = new_run();
    new.started_at_unix_ms = i64::MIN;
    new.warm_up_ns = i64::MAX as u64;
    let mut draws = Draws(7);
    let mut one = second(1, 100, &mut draws, 0, always_ok);
    one.second = i64::MAX as u64;
    one.tally.response.ok.record_many(record::Histogram::HIGHEST_NS, 1 << 60);
    (one.tally.first_sent_ns, one.tally.last_finished_ns) = (Some(0), Some(i64::MAX as u64));
    one.tally.received_bytes = 1 << 60;
    one.sampled[0].finish.finished_ns = i64::MAX as u64;
    one.sampled[1].finish.intended_ns = i64::MAX as u64;
    let mut ending = ending();
    ending.ended_at_unix_ms = i64::MAX;
    (ending.generator.cpu_user_s, ending.generator.cpu_sys_s) = (f64::MAX, f64::MAX);
    let largest = MinMedianMax { min: f64::MIN, median: f64::MIN_POSITIVE, max: f64::MAX };
    ending.spread = Some(Spread {
        connections: 1,
        unserved: None,
        requests: largest,
        response_mean_ns: Some(largest),
        response_max_ns: Some(largest),
    });
    Kept::load(&new, &[(0, one)], Some(&ending)).through_store("20261121-142543-vw2x")
}

/// A run in which every text is an attack.
pub(crate) fn hostile(attack: &str) -> Run {
    let text = || attack.to_owned();
    let mut new = new_run();
    (new.title, new.load_words, new.plan_hash, new.tenbin_version) = (text(), text(), text(), text());
    new.place = place(attack, attack);
    if let Some((_, place)) = &mut new.place {
        (place.load, place.knobs) = (text(), vec![(text(), text())]);
    }
    new.system_version = Some(text());
    new.steps = vec![text(), text()];
    new.units = vec![Unit::Transactions; 2];
    new.parts = (0..2).map(|of| StepPart { name: text(), of }).collect();
    new.stamps = vec![text()];
    new.host = json!({"name": attack});
    let mut draws = Draws(6);
    let mut one = second(1, 100, &mut draws, 0, |_| (Outcome::Rejected, 500));
    one.tally.errors.insert(record::LedgerEntry {
        class: text().into(),
        code: 0,
        message: text(),
        count: 100,
    });
    one.tally.errors.note(ErrorClass::CommitUnknown, 0, text);
    let mut ending = ending();
    ending.notes = vec![text()];
    ending.tls = Some(text());
    ending.system = Some(json!({attack: attack}));
    ending.failure = Some(Failure { stage: text(), process: Some(text()), what: text(), way_out: text() });
    ending.not_available = vec![(text(), text())];
    ending.validity.verdict = Level::Suspect;
    ending.validity.causes =
        vec![Cause { code: text(), sentence: text(), remedy: text(), distorts: Vec::new() }];
    ending.validity.notes = ending.validity.causes.clone();
    let numbers = 0..4;
    let seconds: Vec<_> = numbers.map(|number| (number, one.clone())).collect();
    let mut kept = Kept::load(&new, &seconds, Some(&ending));
    kept.outputs = vec![(text(), attack.as_bytes().to_vec())];
    kept.gates = vec![GateResult {
        text: text(),
        step: Some(text()),
        observed: None,
        bounds: None,
        limit: 1.0,
        unit: text(),
        decision: Decision::Fails,
        samples_needed: None,
    }];
    let mut readings = readings(0.5, 1e6);
    readings.extend([attack, "machine", "system"].map(|subject| reading(subject, attack, attack, 1.0)));
    kept.readings = vec![(1, readings)];
    kept.through_store("20261121-142537-rs1t")
}
