//! The likely bottleneck of a run follows from its readings, counts, and load. Each rule applies only where it should.

use crate::runs::{Draws, Kept, always_ok, ending, new_run, second};
use evidence::{Cause, Level, Model, Run};
use record::{ErrorClass, Finish, Outcome, Tally};
use report::Anonymizer;
use serde_json::Value;

/// Reading of every second: subject, metric, label, value.
type Read<'a> = (&'a str, &'a str, &'a str, f64);

/// Closed load of four users who always wait for a reply, on a system that uses little of two idle cores.
struct Script<'a> {
    model: Model,
    users: u64,
    per_s: u64,
    read: Vec<Read<'a>>,
    outcome_of: fn(u64) -> (Outcome, u16),
    not_sent: u64,
    /// Number of requests of each second that got a 503 after 50 µs.
    turned_away: u64,
    /// Number of requests of the last second that got the error `too_many_connections`.
    too_many_connections: u64,
    /// Output of the process `app`.
    wrote: String,
    cause: Option<&'a str>,
    is_system_local: bool,
}

const IDLE: [Read<'static>; 8] = [
    ("machine", "cpu_user_s", "core0", 0.2),
    ("machine", "cpu_idle_s", "core0", 0.8),
    ("machine", "cpu_user_s", "core1", 0.1),
    ("machine", "cpu_idle_s", "core1", 0.9),
    ("system", "cpu_user_s", "", 0.2),
    ("app", "cpu_user_s", "", 0.2),
    ("generator", "cpu_user_s", "", 0.05),
    ("system", "cpu_busiest_thread_s", "", 0.1),
];

impl Default for Script<'_> {
    fn default() -> Self {
        Self {
            model: Model::Closed,
            users: 4,
            per_s: 4_000,
            read: IDLE.to_vec(),
            outcome_of: always_ok,
            not_sent: 0,
            turned_away: 0,
            too_many_connections: 0,
            wrote: String::new(),
            cause: None,
            is_system_local: false,
        }
    }
}

impl<'a> Script<'a> {
    /// Replaces readings with equal subject, metric, and label.
    fn with(mut self, read: &[Read<'a>]) -> Self {
        for new in read {
            self.read.retain(|old| (old.0, old.1, old.2) != (new.0, new.1, new.2));
            self.read.push(*new);
        }
        self
    }

    fn run(&self) -> Run {
        let mut draws = Draws(11);
        let mut seconds: Vec<_> =
            (0..4).map(|number| (0, second(number, self.per_s, &mut draws, 0, self.outcome_of))).collect();
        for (second, (_, interval)) in seconds.iter_mut().enumerate() {
            (0..self.turned_away).for_each(|_| note_rejected(&mut interval.tally, second as u64));
        }
        let tally = &mut seconds[3].1.tally;
        tally.note_not_sent(self.not_sent);
        for _ in 0..self.too_many_connections {
            tally.errors.note(ErrorClass::TooManyConnections, 1040, || "Too many connections".to_owned());
        }
        let mut new = new_run();
        new.model = self.model;
        new.users = (self.model == Model::Closed).then_some(self.users as u32);
        let mut ending = ending();
        ending.spread.as_mut().unwrap().connections = self.users;
        ending.is_system_local = self.is_system_local;
        if let Some(code) = self.cause {
            ending.validity.verdict = Level::Suspect;
            let text = || "the generator says so".to_owned();
            let distorts = Vec::new();
            ending.validity.causes =
                vec![Cause { code: code.to_owned(), sentence: text(), remedy: text(), distorts }];
        }
        let reading =
            |(subject, metric, label, value): &Read<'_>| fixtures::reading(subject, metric, label, *value);
        let mut kept = Kept::load(&new, &seconds, Some(&ending));
        kept.readings =
            (0..4).map(|second| (second, self.read.iter().map(reading).collect::<Vec<_>>())).collect();
        if !self.wrote.is_empty() {
            kept.outputs = vec![("app".to_owned(), self.wrote.clone().into_bytes())];
        }
        kept.through_store("20261121-142501-ab12")
    }

    fn limit(&self) -> Value {
        limit_of(self.run())
    }

    fn resource(&self) -> String {
        let limit = self.limit();
        assert!(!limit["because"].as_str().unwrap().is_empty());
        limit["resource"].as_str().unwrap().to_owned()
    }
}

fn limit_of(run: Run) -> Value {
    let options = report::Options { color: false, width: 100, is_wide: true };
    let mut out = Vec::new();
    report::write(report::format("json").unwrap(), &[run], &options, &mut out).unwrap();
    let json: Value = serde_json::from_slice(&out).unwrap();
    json["bottleneck"].clone()
}

fn note_rejected(tally: &mut Tally, second: u64) {
    let sent_ns = second * 1_000_000_000 + 7_000;
    tally.note_sent(sent_ns);
    tally.note_finished(&Finish {
        intended_ns: sent_ns,
        sent_ns,
        first_byte_ns: None,
        finished_ns: sent_ns + 50_000,
        outcome: Outcome::Rejected,
        status: 503,
    });
}

fn resource(read: &[Read<'_>]) -> String {
    Script::default().with(read).resource()
}

const BUSY: [Read<'static>; 5] = [
    ("machine", "cpu_user_s", "core0", 0.98),
    ("machine", "cpu_idle_s", "core0", 0.02),
    ("machine", "cpu_user_s", "core1", 0.94),
    ("machine", "cpu_idle_s", "core1", 0.06),
    ("system", "cpu_user_s", "", 1.85),
];

#[test]
fn unexplained_limit_is_unknown_with_highest_readings() {
    let limit = Script::default().limit();
    assert_eq!((&limit["resource"], &limit["certainty"]), (&"unknown".into(), &"unknown".into()));
    let because = limit["because"].as_str().unwrap();
    assert_eq!(
        because,
        "no reading explains it (the system used 0.20 of 2 cores); highest: all cores busy 15 %, busiest thread of the system 10 %"
    );
}

#[test]
fn busy_cores_are_the_limit() {
    assert_eq!(resource(&BUSY), "machine_cpu");
    let limit = Script::default().with(&BUSY).limit();
    assert_eq!(
        limit["because"],
        "both cores were 96 % busy: the system used 1.85, the generator 0.05, other processes 0.02"
    );
    let shared = Script::default().with(&BUSY).with(&[("system", "cpu_user_s", "", 1.1)]).limit();
    assert_eq!(shared["what"], "CPU of the machine, shared with other processes");
    let nearly = [("machine", "cpu_user_s", "core1", 0.6), ("machine", "cpu_idle_s", "core1", 0.4)];
    let nearly = Script::default().with(&BUSY).with(&nearly);
    assert_eq!(nearly.with(&[("system", "cpu_user_s", "", 0.3)]).limit()["certainty"], "unknown");
}

#[test]
fn cores_busy_with_others_limit_only_waiting_system() {
    let little = |waited_s| {
        let read = [("system", "cpu_user_s", "", 0.1), ("system", "run_queue_wait_s", "", waited_s)];
        Script::default().with(&BUSY).with(&read)
    };
    assert_eq!(little(0.01).limit()["certainty"], "unknown");
    let because = little(2.0).limit()["because"].to_string();
    assert!(because.contains("the run was disturbed: other processes used 1.77 of 2 cores"), "{because}");
    let more = [("system", "cpu_user_s", "", 0.5), ("system", "run_queue_wait_s", "", 2.0)];
    let more = Script::default().with(&BUSY).with(&more);
    assert_eq!(more.limit()["what"], "CPU of the machine, shared with other processes");
    assert_eq!(Script { turned_away: 100, ..little(0.01) }.resource(), "request_queue");
}

#[test]
fn system_without_readings_has_no_limit_that_needs_them() {
    let not_read = |read: &[Read<'static>]| {
        let mut script = Script::default().with(read);
        script.read.retain(|(subject, ..)| !["system", "app"].contains(subject));
        script.limit()
    };
    let limit = not_read(&BUSY);
    assert_eq!((&limit["resource"], &limit["what"]), (&"machine_cpu".into(), &"CPU of the machine".into()));
    assert_eq!(
        limit["because"],
        "both cores were 96 % busy: the generator 0.05, all other processes 1.87; the system itself was not read, and may \
         run elsewhere"
    );
    let disk = not_read(&[("machine", "disk_busy_s", "vda", 0.95)]);
    assert!(disk["because"].as_str().unwrap().ends_with("was not read, and may run elsewhere"), "{disk}");
    assert_eq!(not_read(&[])["certainty"], "unknown");
}

#[test]
fn local_system_without_readings_is_not_called_remote() {
    let mut script = Script::default().with(&BUSY);
    script.read.retain(|(subject, ..)| !["system", "app"].contains(subject));
    script.is_system_local = true;
    let limit = script.limit();
    assert!(limit["because"].as_str().unwrap().ends_with("; the system itself was not read"), "{limit}");
}

#[test]
fn steal_time_precedes_cores() {
    assert_eq!(resource(&[("machine", "steal_s", "core0", 0.2)]), "steal");
    assert_eq!(resource(&[("machine", "steal_s", "core0", 0.05)]), "unknown");
}

#[test]
fn one_core_limits_single_and_alternating_threads_and_pinned_systems() {
    assert_eq!(resource(&[("system", "cpu_busiest_thread_s", "", 0.95)]), "one_core");
    assert_eq!(resource(&[("system", "cpu_busiest_thread_s", "", 0.85)]), "unknown");
    let in_turns = |cores| {
        let waits = threads(&[("threads_on_cpu", "worker", 1.0), ("threads_futex", "worker", 3.0)]);
        let used = [
            ("app", "cpu_user_s", "", cores),
            ("system", "cpu_user_s", "", cores),
            ("system", "cpu_busiest_thread_s", "", 0.3),
        ];
        Script::default().with(&used).with(&waits).resource()
    };
    assert_eq!([0.8, 1.0, 1.3].map(in_turns), ["unknown", "one_core", "unknown"]);
    assert_eq!(resource(&[("app", "cpu_user_s", "", 1.0)]), "unknown", "no thread was seen");
    let pinned = [("machine", "cpu_user_s", "core0", 0.97), ("machine", "cpu_idle_s", "core0", 0.03)];
    let pinned = || Script::default().with(&pinned);
    assert_eq!(pinned().with(&[("system", "cpu_user_s", "", 0.93)]).resource(), "one_core");
    assert_eq!(pinned().resource(), "unknown", "the core was busy with something else");
}

#[test]
fn detects_shortage_of_memory_disks_and_files() {
    assert_eq!(resource(&[("machine", "swapped_out_pages", "", 12.0)]), "memory");
    let swapped = |own_bytes| {
        let own = [("system", "swap_bytes", "", own_bytes), ("system", "rss_bytes", "", 1e8)];
        resource(&[[("machine", "swapped_out_pages", "", 12.0)].as_slice(), &own].concat())
    };
    assert_eq!([swapped(1e8), swapped(0.0)], ["memory", "unknown"], "another process may be swapped");
    assert_eq!(resource(&[("machine", "swapped_out_pages", "", 0.0)]), "unknown");
    assert_eq!(resource(&[("machine", "pressure_memory_some_share", "", 0.2)]), "memory");
    assert_eq!(resource(&[("machine", "disk_busy_s", "vda", 0.95)]), "disk");
    let disk = |busy, pressure| {
        [("machine", "disk_busy_s", "vda", busy), ("machine", "pressure_io_some_share", "", pressure)]
    };
    assert_eq!(resource(&disk(0.8, 0.4)), "disk");
    assert_eq!(resource(&disk(0.98, 0.05)), "unknown", "busy with many requests at once, and nobody waits");
    assert_eq!(resource(&disk(0.2, 0.4)), "unknown", "somebody waits for another disk");
    assert_eq!(resource(&[("system", "open_files_limit_share", "", 0.97)]), "open_files");
    assert_eq!(resource(&[("system", "open_files_limit_share", "", 0.5)]), "unknown");
}

#[test]
fn exhausted_quota_is_the_limit_regardless_of_cores() {
    let quota = |cores: f64, used: f64| {
        [
            ("system", "cpu_quota_cores", "", cores),
            ("system", "throttled_s", "", 0.6),
            ("system", "cpu_user_s", "", used),
        ]
    };
    let limit = Script::default().with(&quota(0.4, 0.39)).limit();
    assert_eq!(
        (&limit["resource"], &limit["what"]),
        (&"cpu_quota".into(), &"CPU quota of the system".into())
    );
    assert_eq!(
        limit["because"],
        "it used 0.39 of the 0.40 cores that it may use, and was held back for 30 % of the time, mean of all cores"
    );
    assert_eq!(Script::default().with(&BUSY).with(&quota(0.4, 0.4)).resource(), "cpu_quota");
    assert_eq!(resource(&quota(0.4, 0.3)), "unknown");
    assert_eq!(resource(&quota(2.0, 0.2)), "unknown");
}

#[test]
fn full_queues_are_the_limit_without_busy_resource() {
    let queue = |waiting, dropped| {
        [
            ("system", "listen_queue", "8080", waiting),
            ("system", "listen_queue_limit", "8080", 128.0),
            ("machine", "listen_overflows", "", dropped),
        ]
    };
    assert_eq!(resource(&queue(129.0, 7.0)), "listen_queue");
    assert_eq!(resource(&queue(129.0, 0.0)), "unknown", "full, and nothing was dropped");
    assert_eq!(resource(&queue(3.0, 7.0)), "unknown", "somebody else's queue");
    let busy = Script::default().with(&BUSY).with(&queue(129.0, 7.0));
    assert_eq!(busy.resource(), "machine_cpu", "the queue is full because the cores are");
}

#[test]
fn immediate_rejections_are_a_limit_of_the_system() {
    let refusing = |outcome_of| Script { outcome_of, ..Script::default() };
    let some: fn(u64) -> (Outcome, u16) =
        |place| if place % 10 == 0 { (Outcome::Rejected, 503) } else { (Outcome::Ok, 200) };
    // Rejections and ok answers take equally long here, so it is unknown what the rejections waited for.
    assert_eq!(refusing(some).resource(), "unknown");
    let few: fn(u64) -> (Outcome, u16) =
        |place| if place % 500 == 0 { (Outcome::Rejected, 503) } else { (Outcome::Ok, 200) };
    assert_eq!(refusing(few).resource(), "unknown");
    let limit = Script { turned_away: 100, ..Script::default() }.limit();
    assert_eq!(limit["resource"], "request_queue");
    let because = limit["because"].as_str().unwrap();
    assert!(because.starts_with("2.4 % of the requests were answered 503 after 50.0 µs"), "{because}");
    assert_eq!(Script { turned_away: 10, ..Script::default() }.resource(), "unknown", "too few of them");
    assert_eq!(Script { turned_away: 100, ..Script::default() }.with(&BUSY).resource(), "machine_cpu");
    let storm = Script { turned_away: 50_000, ..Script::default() }.with(&BUSY);
    assert_eq!(storm.resource(), "request_queue", "the cores are busy with refusing");
    let none: fn(u64) -> (Outcome, u16) = |_| (Outcome::Rejected, 503);
    let because = refusing(none).limit()["because"].as_str().unwrap().to_owned();
    assert_eq!(because, "no request ended ok: 100 % were answered 503");
}

#[test]
fn load_below_capacity_is_the_limit() {
    assert_eq!(Script { users: 100, ..Script::default() }.resource(), "load", "users pause");
    assert_eq!(Script { users: 1, ..Script::default() }.resource(), "load", "one user");
    let open = || Script { model: Model::Open, ..Script::default() };
    assert_eq!(open().resource(), "load");
    assert_eq!(open().with(&BUSY).resource(), "load", "busy, and yet all was answered");
    assert_eq!(Script { not_sent: 2_000, ..open() }.resource(), "connections", "more was asked for");
    assert_eq!(Script { not_sent: 2_000, ..open() }.with(&BUSY).resource(), "machine_cpu");
    assert_eq!(Script { users: 100, ..Script::default() }.with(&BUSY).resource(), "machine_cpu");
}

#[test]
fn rejected_users_are_not_taken_for_pausing_ones() {
    let pausing = |users, read: &[Read<'static>]| Script { users, ..Script::default() }.with(read).resource();
    let queue = |waiting, dropped| {
        [
            ("system", "listen_queue", "8080", waiting),
            ("system", "listen_queue_limit", "8080", 128.0),
            ("machine", "listen_overflows", "", dropped),
        ]
    };
    for users in [1, 100] {
        assert_eq!(pausing(users, &[("system", "open_files_limit_share", "", 0.97)]), "open_files");
        assert_eq!(pausing(users, &[("system", "open_files_limit_share", "", 0.5)]), "load");
        assert_eq!(pausing(users, &queue(129.0, 7.0)), "listen_queue");
        assert_eq!(pausing(users, &queue(129.0, 0.0)), "unknown", "full, and nothing was dropped");
        assert_eq!(pausing(users, &queue(3.0, 7.0)), "unknown", "dropped between two readings");
        assert_eq!(pausing(users, &queue(3.0, 0.0)), "load");
        let failing = |outcome_of| Script { users, outcome_of, ..Script::default() }.resource();
        let some: fn(u64) -> (Outcome, u16) =
            |place| if place % 50 == 0 { (Outcome::Failed, 0) } else { (Outcome::Ok, 200) };
        assert_ne!(failing(some), "load");
        let few: fn(u64) -> (Outcome, u16) =
            |place| if place % 500 == 0 { (Outcome::Failed, 0) } else { (Outcome::Ok, 200) };
        assert_eq!(failing(few), "load");
    }
}

#[test]
fn doubtful_generator_precedes_other_limits() {
    let doubted = |code| Script { cause: Some(code), ..Script::default() };
    assert_eq!(doubted("generator_cpu").with(&BUSY).resource(), "generator");
    assert_eq!(doubted("wake_lag").resource(), "unknown", "a late tail is no limit of the throughput");
    assert_eq!(doubted("something_else").resource(), "unknown");
}

#[test]
fn waits_for_cores_reveal_bursts_of_cpu_usage() {
    let often = [
        ("machine", "cpu_user_s", "core0", 0.85),
        ("machine", "cpu_idle_s", "core0", 0.15),
        ("machine", "cpu_user_s", "core1", 0.85),
        ("machine", "cpu_idle_s", "core1", 0.15),
        ("system", "cpu_user_s", "", 1.6),
        ("app", "cpu_user_s", "", 1.6),
    ];
    let often =
        |waited_s| Script::default().with(&often).with(&[("system", "run_queue_wait_s", "", waited_s)]);
    assert_eq!(often(3.0).resource(), "machine_cpu");
    assert_eq!(often(0.1).limit()["certainty"], "unknown");
}

#[test]
fn limit_is_unknown_without_readings() {
    let limit = Script { read: Vec::new(), ..Script::default() }.limit();
    assert_eq!((&limit["resource"], &limit["certainty"]), (&"unknown".into(), &"unknown".into()));
    assert_eq!(limit["because"], "no resource was read during the run");
}

/// Readings of thread states, for four threads and four users.
fn threads<'a>(of: &[(&'a str, &'a str, f64)]) -> Vec<Read<'a>> {
    let states = of.iter().map(|(metric, label, value)| ("app", *metric, *label, *value));
    [("app", "thread_samples", "", 20.0)].into_iter().chain(states).collect()
}

#[test]
fn threads_at_one_futex_are_reported_and_no_lock() {
    let at_lock = |waiting, at_work| {
        threads(&[
            ("threads_futex", "worker", waiting),
            ("threads_futex_same", "worker", waiting),
            ("threads_timer", "worker", at_work),
            ("threads_poll", "idle", 2.0),
        ])
    };
    let limit = Script::default().with(&at_lock(3.0, 0.9)).limit();
    assert_eq!((&limit["resource"], &limit["rung"]), (&"unknown".into(), &"arithmetic".into()));
    let seen =
        "3.0 of the 3.9 threads of app waited at one futex while 0.9 were at work: for a lock, or for work";
    assert_eq!(limit["for"][1], seen);
    assert_eq!(resource(&at_lock(2.0, 2.0)), "pool", "two at a time");
    assert_eq!(resource(&at_lock(2.0, 1.5)), "unknown", "half of them");
    assert_eq!(resource(&at_lock(15.0, 1.0)), "unknown", "a pool that may be idle");
    assert_eq!(Script::default().with(&BUSY).with(&at_lock(3.0, 0.9)).resource(), "machine_cpu");
    let limit = Script::default().with(&at_lock(2.0, 1.5)).limit();
    let because = limit["because"].as_str().unwrap();
    assert!(because.contains("threads of app in futex (2.0) 57 %"), "{because}");
    let did = "of the 3.5 threads of app that ran, 2.0 in futex, 1.5 in timer on average";
    assert_eq!(limit["for"][2], did);
}

#[test]
fn dependency_is_the_limit_if_threads_wait_for_replies() {
    let reads = |to_one: f64| {
        let rest = 4.0 - to_one;
        threads(&[
            ("threads_socket_read", "worker", to_one),
            ("threads_dependency_read", "10.0.0.7:5432", to_one),
            ("threads_on_cpu", "worker", rest),
        ])
    };
    let limit = Script::default().with(&reads(3.5)).limit();
    assert_eq!(limit["resource"], "dependency");
    assert!(limit["because"].as_str().unwrap().contains("waited for a reply from 10.0.0.7:5432"));
    assert_eq!(resource(&reads(1.0)), "unknown");
    assert_eq!(Script::default().with(&BUSY).with(&reads(3.5)).resource(), "machine_cpu");
}

#[test]
fn disks_are_the_limit_if_threads_wait_for_them() {
    let sleeps = |asleep, pressure| {
        let disk =
            [("machine", "disk_busy_s", "vda", 0.3), ("machine", "pressure_io_some_share", "", pressure)];
        let asleep = threads(&[("threads_disk", "worker", asleep), ("threads_on_cpu", "worker", 0.4)]);
        disk.into_iter().chain(asleep).collect::<Vec<_>>()
    };
    assert_eq!(resource(&sleeps(0.8, 0.57)), "disk");
    assert_eq!(resource(&sleeps(0.3, 0.57)), "unknown", "it works more than it waits");
    assert_eq!(resource(&sleeps(0.8, 0.05)), "unknown", "the machine says that nothing waited for disks");
}

#[test]
fn distinguishes_limits_of_control_groups_from_machine() {
    let memory = |hits, pages| {
        [("system", "memory_limit_hits", "", hits), ("system", "memory_refaulted_pages", "", pages)]
    };
    let pressed = [("machine", "pressure_memory_some_share", "", 0.3)];
    let limit = Script::default().with(&pressed).with(&memory(40.0, 5_000.0)).limit();
    assert_eq!(limit["resource"], "memory_limit");
    assert_eq!(Script::default().with(&pressed).with(&memory(0.0, 5_000.0)).resource(), "memory");
    assert_eq!(resource(&memory(40.0, 20.0)), "unknown", "full of files that nobody needs");
    let charged = |bytes| {
        let group =
            [("system", "memory_charged_bytes", "", bytes), ("system", "memory_limit_bytes", "", 5e7)];
        Script::default().with(&pressed).with(&memory(0.0, 5_000.0)).with(&group).resource()
    };
    assert_eq!(charged(4.99e7), "memory_limit", "full, and not counted as a hit");
    assert_eq!(charged(4e7), "memory");
    let quota = |throttled| {
        [
            ("system", "cpu_quota_cores", "", 0.4),
            ("system", "cpu_quota_periods", "", 10.0),
            ("system", "cpu_quota_periods_throttled", "", throttled),
        ]
    };
    assert_eq!(resource(&quota(7.0)), "cpu_quota", "held back in seven of ten periods");
    assert_eq!(resource(&quota(1.0)), "unknown");
}

#[test]
fn waits_of_database_sessions_are_the_limit() {
    let waits = |wait: &'static str, sessions: f64| {
        [
            ("database", "db_samples", "", 5.0),
            ("database", "db_sessions_active", "", 4.0),
            ("database", "db_waits", wait, sessions),
            ("database", "db_waits", "CPU", 4.0 - sessions),
        ]
    };
    assert_eq!(resource(&waits("Lock:transactionid", 3.2)), "database_lock");
    assert_eq!(resource(&waits("IO:WALSync", 2.5)), "database_log");
    assert_eq!(resource(&waits("LWLock:WALWrite", 2.5)), "database_log");
    assert_eq!(resource(&waits("IO:DataFileRead", 2.5)), "database_cache");
    assert_eq!(resource(&waits("Lock:transactionid", 0.8)), "unknown", "a fifth of the sessions");
    assert_eq!(resource(&waits("Client:ClientRead", 3.2)), "unknown", "they wait for their client");
    let named = [
        ("database", "db_statement_waits", "Lock:transactionid | UPDATE t SET a = ?", 3.2),
        ("database", "db_blocking", "session 7, active: UPDATE t SET a = ?", 3.0),
        ("database", "db_blocking", "session 8, idle in transaction: SELECT ?", 2.0),
    ];
    let limit = Script::default().with(&waits("Lock:transactionid", 3.2)).with(&named).limit();
    assert_eq!(limit["scope"], "database wait Lock:transactionid");
    assert_eq!(
        limit["because"],
        "80 % of the 4.0 active sessions of the database waited for it (Lock:transactionid), mostly in `UPDATE t SET a = ?`"
    );
    assert_eq!(limit["for"][1], "sessions that blocked others were mostly idle in transaction in `SELECT ?`");
    assert_eq!(
        limit["next"],
        "end the transaction sooner: its locks are held while the client does something else after `SELECT ?`"
    );
    // These waits affect only one in a hundred requests in flight, so they explain little.
    let behind = Script { per_s: 100_000, users: 400, ..Script::default() };
    let behind = behind.with(&BUSY).with(&waits("IO:WALSync", 2.5));
    assert_eq!(behind.resource(), "machine_cpu");
    assert!(limit["share"].as_f64().is_some_and(|share| share > 0.5), "{limit}");
    // Four sessions use about one core together, but none waits for another that runs.
    let one = Script::default().with(&waits("IO:WALSync", 2.5)).with(&[("app", "cpu_user_s", "", 1.0)]);
    let causes = one.limit()["causes"].clone();
    let codes: Vec<&str> =
        causes.as_array().unwrap().iter().map(|one| one["resource"].as_str().unwrap()).collect();
    assert_eq!(codes, ["database_log"]);
}

#[test]
fn full_pipe_is_the_limit_of_its_writer() {
    let blocked = |threads_blocked: f64| {
        let states = [
            ("threads_pipe_write", "worker", threads_blocked),
            ("threads_on_cpu", "worker", 4.0 - threads_blocked),
        ];
        threads(&states)
    };
    let limit = Script::default().with(&blocked(3.5)).limit();
    assert_eq!((&limit["resource"], &limit["scope"]), (&"log_pipe".into(), &"process app".into()));
    assert_eq!(resource(&blocked(0.4)), "unknown");
}

#[test]
fn connection_limit_errors_precede_cores() {
    let with_errors = |count: u64| {
        let script = Script::default().with(&BUSY);
        Script { too_many_connections: count, ..script }
    };
    assert_eq!(with_errors(200).resource(), "connection_limit");
    assert_eq!(with_errors(1).resource(), "machine_cpu");
    // Twelve of sixteen users are rejected, and retry rarely.
    let kept_out = |count| Script { users: 16, too_many_connections: count, ..Script::default() };
    assert_eq!(kept_out(20).resource(), "connection_limit");
    assert_eq!(kept_out(2).resource(), "load", "two of them met it, and the others pause");
}

#[test]
fn store_is_limited_by_what_it_counts() {
    let idle = [
        ("database", "db_samples", "", 5.0),
        ("database", "db_main_thread_s", "user", 0.3),
        ("database", "db_commands", "", 1_000.0),
        ("database", "db_keys_evicted", "", 0.0),
        ("database", "db_errors", "", 0.0),
        ("database", "db_memory_bytes_max", "", 1e7),
        ("database", "db_memory_bytes", "", 1e6),
    ];
    let store = |further: &[(&'static str, &'static str, &'static str, f64)]| {
        Script::default().with(&idle).with(further)
    };
    assert_eq!(store(&[]).resource(), "unknown", "a store that is not busy");
    let command = |name: &'static str, calls: f64, time_s: f64| {
        [("database", "db_statement_calls", name, calls), ("database", "db_statement_s", name, time_s)]
    };
    let limit = store(&command("KEYS", 20.0, 0.8)).limit();
    assert_eq!(limit["resource"], "store_command");
    assert_eq!(
        limit["because"],
        "KEYS took 80 % of the time of its only thread for commands, 40.0 ms per call"
    );
    assert_eq!(store(&command("GET", 400_000.0, 0.8)).resource(), "unknown", "a usual command, called often");
    let slow_log = |time_s, on_one_key| {
        let slow = [
            ("database", "db_slow_calls", "HGETALL", 20.0),
            ("database", "db_slow_s", "HGETALL", time_s),
            ("database", "db_slow_one_key_calls", "HGETALL", on_one_key),
        ];
        store(&command("HGETALL", 4_000.0, 0.7)).with(&slow)
    };
    let limit = slow_log(0.5, 20.0).limit();
    assert_eq!(limit["resource"], "store_command", "most calls are quick");
    assert_eq!(
        limit["because"],
        "its slow log has 20.00 calls of HGETALL per second, 25.0 ms each, 50 % of the time, 100 % of them on one key"
    );
    assert!(!slow_log(0.5, 10.0).limit()["because"].to_string().contains("one key"));
    assert_eq!(slow_log(0.2, 20.0).resource(), "unknown");
    let thread = |ran| {
        let readings =
            [("database", "db_main_thread_s", "system", 0.65), ("system", "cpu_busiest_thread_s", "", ran)];
        store(&readings).resource()
    };
    assert_eq!([thread(0.8), thread(0.1)], ["one_core", "unknown"], "the kernel must not have seen less");
    let full = ("database", "db_memory_bytes", "", 9e6);
    let at_limit = |further| store(&[full, further]).resource();
    assert_eq!(at_limit(("database", "db_keys_evicted", "", 500.0)), "unknown", "90 % full");
    let full = ("database", "db_memory_bytes", "", 9.9e6);
    let at_limit = |further| store(&[full, further]).resource();
    assert_eq!(at_limit(("database", "db_keys_evicted", "", 500.0)), "store_memory");
    assert_eq!(at_limit(("database", "db_errors", "", 500.0)), "store_memory");
    assert_eq!(at_limit(("database", "db_errors", "", 0.0)), "unknown", "full, and rejects nothing");
    assert_eq!(store(&[("database", "db_log_syncs_delayed", "", 2.0)]).resource(), "store_log");
    let forks = |fork_s| {
        store(&[("database", "db_forks", "", 1.0), ("database", "db_fork_s", "", fork_s)]).resource()
    };
    assert_eq!([forks(0.2), forks(0.001)], ["store_fork", "unknown"]);
    assert_eq!(store(&[("database", "db_clients_blocked", "", 16.0)]).resource(), "store_blocked");
}

#[test]
fn small_buffers_are_the_limit_if_disks_are_waited_for() {
    let reads = |hit: f64, pressure: f64, from_disk: f64| {
        let read = [
            ("database", "db_samples", "", 5.0),
            ("database", "db_sessions_active", "", 4.0),
            ("database", "db_waits", "Executing:Statistics", 4.0),
            ("database", "db_blocks_read", "", 10_000.0 * (1.0 - hit)),
            ("database", "db_blocks_requested", "", 10_000.0),
            ("machine", "pressure_io_some_share", "", pressure),
            ("system", "disk_read_bytes", "", from_disk),
            ("system", "disk_written_bytes", "", 0.0),
        ];
        Script::default().with(&read)
    };
    let limit = reads(0.7, 0.5, 5e7).limit();
    assert_eq!(limit["resource"], "database_cache");
    assert_eq!(
        limit["because"],
        "70 % of the blocks that statements asked for were in its buffers: 0.75 were read for each answer"
    );
    assert_eq!(reads(0.99, 0.5, 5e7).resource(), "disk");
    assert_eq!(reads(0.7, 0.05, 5e7).resource(), "unknown", "nothing waited for disks");
    assert_eq!(reads(0.7, 0.5, 1e5).resource(), "disk", "the kernel had the blocks in memory");
}

#[test]
fn distinguishes_garbage_collection_from_work() {
    let collecting = |cores| {
        [("app", "cpu_gc_s", "", cores), ("system", "cpu_user_s", "", 1.1), ("app", "cpu_user_s", "", 1.1)]
    };
    assert_eq!(resource(&collecting(0.8)), "garbage_collection");
    assert_eq!(resource(&collecting(0.1)), "unknown");
    let busy = Script::default().with(&BUSY).with(&[("app", "cpu_gc_s", "", 0.9)]);
    assert_eq!(busy.resource(), "garbage_collection", "all cores are busy with it");
    let idle = [("app", "cpu_gc_s", "", 0.1), ("system", "cpu_user_s", "", 0.2)];
    assert_eq!(resource(&idle), "unknown", "it does next to nothing");
}

#[test]
fn readings_of_other_processes_do_not_blame_the_system() {
    let disk = |bytes, slept| {
        let read = [
            ("machine", "disk_busy_s", "vda", 0.95),
            ("machine", "pressure_io_some_share", "", 0.9),
            ("system", "disk_read_bytes", "", 0.0),
            ("system", "disk_written_bytes", "", bytes),
        ];
        let threads = threads(&[("threads_disk", "worker", slept), ("threads_socket_read", "worker", 2.0)]);
        Script::default().with(&read).with(&threads).resource()
    };
    assert_eq!(disk(1e6, 0.0), "disk");
    assert_eq!(disk(0.0, 0.0), "unknown", "others use the disk");
    assert_eq!(disk(0.0, 2.0), "disk", "it waits for the disk without a byte of its own");
    let one_core = |cores| {
        let core = [("machine", "cpu_user_s", "core0", 0.95), ("machine", "cpu_idle_s", "core0", 0.05)];
        Script::default().with(&core).with(&[("system", "cpu_user_s", "", cores)]).resource()
    };
    assert_eq!(one_core(0.9), "one_core");
    assert_eq!(one_core(1.4), "unknown", "who may use one core does not use 1.4");
    let in_turns = |ready| {
        let threads = threads(&[
            ("threads_on_cpu", "worker", 1.0),
            ("threads_runnable", "worker", ready),
            ("threads_futex", "worker", 2.0),
        ]);
        let used = [("app", "cpu_user_s", "", 1.0), ("system", "cpu_busiest_thread_s", "", 0.3)];
        Script::default().with(&used).with(&threads).resource()
    };
    assert_eq!(in_turns(0.5), "one_core");
    assert_eq!(in_turns(3.0), "unknown", "three are ready, and wait for a core");
}

/// Load in which some of a hundred requests fail, and take as long as the others.
fn failing(outcome_of: fn(u64) -> (Outcome, u16)) -> Script<'static> {
    Script { outcome_of, ..Script::default() }
}

const ONE_IN_THREE: fn(u64) -> (Outcome, u16) =
    |place| if place % 3 == 0 { (Outcome::Rejected, 500) } else { (Outcome::Ok, 200) };
const ONE_IN_FIFTY: fn(u64) -> (Outcome, u16) =
    |place| if place % 50 == 0 { (Outcome::Rejected, 500) } else { (Outcome::Ok, 200) };

#[test]
fn output_of_the_system_names_exhausted_limit() {
    let lines = |count| "7: sorry, too many clients already, alice\n".repeat(count);
    let wrote = |count, outcome_of| Script { wrote: lines(count), ..failing(outcome_of) };
    let limit = wrote(400, ONE_IN_FIFTY).with(&BUSY).limit();
    assert_eq!((&limit["resource"], &limit["scope"]), (&"connection_limit".into(), &"process app".into()));
    assert_eq!(
        limit["because"],
        "app wrote `too many clients already` 400 times, and 2.0 % of the requests did not end ok"
    );
    assert!(limit["next"].as_str().unwrap().starts_with("raise max_connections"), "{limit}");
    assert_eq!(wrote(2, ONE_IN_FIFTY).resource(), "errors", "two lines are chance");
    assert_eq!(wrote(400, always_ok).resource(), "connection_limit", "it tries again, and gets one");
    assert_eq!(wrote(400, always_ok).with(&BUSY).resource(), "connection_limit", "its own word comes first");
    // PHP-FPM and Apache write this warning only once, however long all workers are busy.
    let once =
        "[25-Nov-2026] WARNING: [pool www] server reached pm.max_children setting (2), consider raising it\n";
    let full = Script { wrote: once.to_owned(), ..Script::default() }.limit();
    assert_eq!(
        (&full["resource"], &full["next"]),
        (&"pool".into(), &"raise pm.max_children of PHP-FPM".into())
    );
    // A shared report keeps the message, and nothing else of the output.
    let run = wrote(400, ONE_IN_FIFTY).run();
    let shared = Anonymizer::of_runs(std::slice::from_ref(&run)).run(run);
    assert!(!shared.outputs().iter().any(|output| output.text.windows(5).any(|text| text == b"alice")));
    assert_eq!(limit_of(shared)["resource"], "connection_limit");
    // A system without CPU time to accept connections also has a full queue.
    let full = "connect() failed (11: Resource temporarily unavailable) while connecting to upstream\n";
    let full = || Script { wrote: full.repeat(9), ..failing(ONE_IN_THREE) };
    assert_eq!(full().resource(), "listen_queue");
    assert_eq!(full().with(&BUSY).resource(), "machine_cpu");
}

#[test]
fn many_errors_without_cause_are_the_limit() {
    let limit = failing(ONE_IN_THREE).limit();
    assert_eq!(limit["resource"], "errors");
    assert!(
        limit["because"].as_str().unwrap().starts_with("33 % of the requests were answered 500 after"),
        "{limit}"
    );
    assert_eq!(limit["next"], "read the log of the system for what it answers 500 to");
    assert_eq!(failing(ONE_IN_THREE).with(&BUSY).resource(), "machine_cpu", "it has no time for them");
    let lock = threads(&[("threads_disk", "worker", 3.0)]);
    let pressed = [("machine", "pressure_io_some_share", "", 0.5)];
    assert_eq!(
        failing(ONE_IN_FIFTY).with(&lock).with(&pressed).resource(),
        "disk",
        "few errors explain little"
    );
    assert_eq!(failing(ONE_IN_FIFTY).resource(), "errors");
    let failed: fn(u64) -> (Outcome, u16) =
        |place| if place % 3 == 0 { (Outcome::Rejected, 503) } else { (Outcome::Ok, 200) };
    assert_eq!(failing(failed).resource(), "unknown", "503 has a rule of its own");
}

#[test]
fn event_loop_waits_for_replies_on_a_connection_per_request() {
    let connected = |connections: f64| {
        let read = [("app", "dependency_connections", "10.0.0.7:80", connections)];
        let waits = threads(&[("threads_poll", "worker", 0.95), ("threads_on_cpu", "worker", 0.05)]);
        Script::default().with(&waits).with(&read)
    };
    let limit = connected(4.0).limit();
    assert_eq!(
        (&limit["resource"], &limit["scope"]),
        (&"dependency".into(), &"dependency 10.0.0.7:80".into())
    );
    assert_eq!(connected(2.0).resource(), "unknown", "a pool that the others wait for, or that is idle");
    assert_eq!(connected(20.0).resource(), "unknown", "a pool that is larger than the load");
    assert_eq!(connected(4.0).with(&BUSY).resource(), "machine_cpu");
}

#[test]
fn low_priority_is_the_limit_next_to_other_processes() {
    let nice = |nice, waited_s| {
        let read = [
            ("system", "cpu_user_s", "", 0.6),
            ("app", "cpu_user_s", "", 0.6),
            ("app", "nice", "", nice),
            ("system", "run_queue_wait_s", "", waited_s),
        ];
        Script::default().with(&BUSY).with(&read).resource()
    };
    assert_eq!(nice(19.0, 3.0), "priority");
    assert_eq!(nice(0.0, 3.0), "machine_cpu");
    assert_eq!(nice(19.0, 0.05), "unknown", "it does not wait for a core");
}
