//! Checks that no reported cause contradicts a reading. Readings are drawn at random over their whole range. Each
//! resource has a contradiction, defined here from the readings alone, independently of the rules.

use std::collections::BTreeMap;

use evidence::{Cause, Level, Model, Outage, OutageTime};
use record::{Counts, ErrorClass};

use crate::Certainty;
use crate::bottleneck::planted::{Planted, SECONDS};
use crate::bottleneck::{Evidence, RULES, maintenance};
use crate::causes::{Doubt, Resource};
use crate::dependencies::Called;
use crate::group_io::LimitedIo;
use crate::inside::{DatabaseStatistics, StatementTime};
use crate::signals::Signals;

/// A resource, and readings that exclude it as a cause.
struct Contradiction {
    of: Resource,
    is_read: fn(&Evidence<'_>) -> bool,
}

const fn contradiction(of: Resource, is_read: fn(&Evidence<'_>) -> bool) -> Contradiction {
    Contradiction { of, is_read }
}

/// Returns the signals of the only run.
fn signals<'a>(evidence: &'a Evidence<'_>) -> &'a Signals {
    evidence.runs[0].signals.unwrap()
}

fn below(value: Option<f64>, limit: f64) -> bool {
    value.is_some_and(|value| value < limit)
}

fn system_cores(evidence: &Evidence<'_>) -> f64 {
    let resources = evidence.runs[0].measured.resources.as_ref();
    resources.and_then(|of| of.cores_used(of.system.as_ref()?)).unwrap_or(0.0)
}

fn status(evidence: &Evidence<'_>, status: u16) -> u64 {
    evidence.together.statuses.get(&status).copied().unwrap_or(0)
}

fn state(evidence: &Evidence<'_>, state: &str) -> f64 {
    signals(evidence).waits.workers.values().map(|workers| workers.in_state(state)).sum()
}

fn waits_of(evidence: &Evidence<'_>, is_meant: fn(&str) -> bool) -> f64 {
    let inside = signals(evidence).inside.as_ref();
    inside.map_or(0.0, |inside| {
        inside.waits.iter().filter(|(name, _)| is_meant(name)).map(|(_, sessions)| sessions).sum()
    })
}

/// Returns the largest figure over all addresses that the system calls; 0 if it calls none.
fn largest_called(evidence: &Evidence<'_>, figure: fn(&Called) -> f64) -> f64 {
    signals(evidence).dependencies.called.values().map(figure).fold(0.0, f64::max)
}

fn per_request(evidence: &Evidence<'_>, per_s: f64) -> f64 {
    per_s / evidence.ended_per_s().unwrap_or(f64::INFINITY)
}

const CONTRADICTIONS: &[Contradiction] = &[
    contradiction(Resource::ROUND_TRIPS, |evidence| {
        let trips = largest_called(evidence, |called| called.segments_per_s[0].min(called.segments_per_s[1]));
        per_request(evidence, trips) < 5.0
    }),
    contradiction(Resource::NEW_CONNECTIONS, |evidence| {
        per_request(evidence, signals(evidence).dependencies.opened_per_s.unwrap_or(0.0)) < 0.5
    }),
    contradiction(Resource::SOCKET_BUFFERS, |evidence| {
        largest_called(evidence, |called| called.sending[1].max(called.sending[2])) <= 0.0
    }),
    contradiction(Resource::WITHOUT_INDEX, |evidence| {
        let inside = signals(evidence).inside.as_ref();
        let rows =
            inside.map_or(0.0, |inside| inside.scans.values().map(|[_, rows]| *rows).fold(0.0, f64::max));
        per_request(evidence, rows) < 1_000.0
    }),
    contradiction(Resource::IN_PROCESS, |evidence| {
        signals(evidence).inside.as_ref().and_then(|inside| inside.level("in_process")).is_none()
    }),
    contradiction(Resource::MAINTENANCE, |evidence| {
        signals(evidence).inside.as_ref().is_none_or(|inside| inside.maintenance.is_empty())
    }),
    contradiction(Resource::GENERATOR, |evidence| {
        let causes = &evidence.runs[0].run.ending.as_ref().unwrap().validity.causes;
        !causes.iter().any(|cause| Doubt::named(&cause.code).is_some_and(|doubt| doubt.is_limit))
    }),
    contradiction(Resource::LOAD, |evidence| {
        let counts = &evidence.together.counts;
        let is_open = evidence.runs[0].run.new.model == Model::Open;
        let thread = signals(evidence).busiest_thread.is_some_and(|share| share >= 0.95);
        (counts.ok as f64) < 0.98 * counts.planned as f64 || !is_open && thread
    }),
    contradiction(Resource::CONNECTION_LIMIT, |evidence| {
        !evidence.together.errors.contains_key(&ErrorClass::TooManyConnections.into())
    }),
    contradiction(Resource::ERRORS, |evidence| {
        evidence.together.statuses.is_empty() && evidence.together.errors.is_empty()
    }),
    contradiction(Resource::REQUEST_QUEUE, |evidence| status(evidence, 503) == 0),
    contradiction(Resource::RATE_LIMIT, |evidence| {
        status(evidence, 429) == 0 && state(evidence, "timer") < 1.0
    }),
    contradiction(Resource::EVENT_LOOP, |evidence| state(evidence, "poll") >= 4.0),
    contradiction(Resource::CONNECTIONS, |evidence| {
        evidence.runs[0].run.new.model == Model::Closed && evidence.shared_connections().is_none()
    }),
    contradiction(Resource::CPU_QUOTA, |evidence| signals(evidence).cpu_quota_cores.is_none()),
    contradiction(Resource::MACHINE_CPU, |evidence| below(signals(evidence).busy, 0.75)),
    contradiction(Resource::PRIORITY, |evidence| {
        let processes = evidence.runs[0].measured.resources.iter().flat_map(|resources| &resources.processes);
        !processes.filter_map(|(_, usage)| usage.nice).any(|nice| nice >= 1.0)
    }),
    contradiction(Resource::ONE_CORE, |evidence| {
        let waited = evidence.ran_and_waited().map_or(0.0, |[_, waited]| waited);
        let wanted = state(evidence, "on_cpu") + state(evidence, "runnable");
        system_cores(evidence) + waited < 0.7 && wanted < 0.7 && below(signals(evidence).busiest_thread, 0.7)
    }),
    contradiction(Resource::MEMORY_LIMIT, |evidence| {
        below(signals(evidence).waits.refaulted_pages_per_s, 100.0)
    }),
    contradiction(Resource::DATABASE_LOCK, |evidence| {
        waits_of(evidence, |name| name.starts_with("Lock") || name.starts_with("LWLock")) < 0.1
    }),
    contradiction(Resource::DATABASE_LOG, |evidence| {
        waits_of(evidence, |name| name.contains("WAL") || name.starts_with("Commit")) < 0.1
    }),
    contradiction(Resource::DATABASE_CACHE, |evidence| {
        let reads = signals(evidence).inside.as_ref().and_then(|inside| inside.rate("blocks_read"));
        waits_of(evidence, |name| name.starts_with("IO")) < 0.1 && reads.is_none_or(|reads| reads < 1.0)
    }),
    contradiction(Resource::STORE_COMMAND, |evidence| {
        let inside = signals(evidence).inside.as_ref();
        inside.is_none_or(|inside| inside.executed.iter().all(|one| one.mean_ms() < 0.9))
    }),
    contradiction(Resource::STORE_MEMORY, |evidence| {
        let level = |name| signals(evidence).inside.as_ref().and_then(|inside| inside.level(name));
        level("memory_bytes").zip(level("memory_bytes_max")).is_none_or(|(used, max)| used < 0.9 * max)
    }),
    contradiction(Resource::STORE_LOG, |evidence| {
        let inside = signals(evidence).inside.as_ref();
        let delayed = inside.and_then(|inside| inside.rate("log_syncs_delayed")).unwrap_or(0.0);
        let is_each = inside.and_then(|inside| inside.level("log_synced_each")).unwrap_or(0.0);
        delayed == 0.0 && is_each == 0.0
    }),
    contradiction(Resource::STORE_FORK, |evidence| {
        let inside = signals(evidence).inside.as_ref();
        inside.and_then(|inside| inside.rate("forks")).is_none_or(|forks| forks == 0.0)
    }),
    contradiction(Resource::STORE_BLOCKED, |evidence| {
        let inside = signals(evidence).inside.as_ref();
        below(inside.and_then(|inside| inside.level("clients_blocked")), 0.1)
    }),
    contradiction(Resource::OPEN_FILES, |evidence| below(signals(evidence).open_files_share, 0.9)),
    contradiction(Resource::DISK, |evidence| {
        let signals = signals(evidence);
        below(signals.group_pressures[2].or(signals.disk_pressure), 0.15)
    }),
    contradiction(Resource::THREAD_LIMIT, |evidence| evidence.runs[0].run.outputs().is_empty()),
    contradiction(Resource::LOG_PIPE, |evidence| state(evidence, "pipe_write") < 0.4),
    contradiction(Resource::DEPENDENCY, |evidence| {
        let all = || signals(evidence).waits.workers.values();
        let reads = all().flat_map(|workers| workers.dependencies.values());
        let open = all().flat_map(|workers| workers.connections.values());
        let changing = signals(evidence).waits.changing.values().any(|share| *share >= 0.4);
        let awaited = largest_called(evidence, |called| called.awaited);
        let is_unread = reads.sum::<f64>() < 0.4 && open.sum::<f64>() < 0.4 && awaited < 0.2;
        is_unread && state(evidence, "pipe_read") < 1.0 && !changing
    }),
    contradiction(Resource::LOCK, |evidence| {
        state(evidence, "file_lock") < 0.9 && state(evidence, "futex") < 0.9
    }),
    contradiction(Resource::RETRIES, |evidence| {
        evidence.runs[0].measured.retries_per_transaction.is_none_or(|retries| retries < 0.2)
    }),
    contradiction(Resource::UNSERVED, |evidence| {
        let spread = evidence.runs[0].run.ending.as_ref().and_then(|ending| ending.spread.as_ref());
        spread.and_then(|spread| spread.unserved).is_none_or(|unserved| unserved < 2)
    }),
    contradiction(Resource::STOPPED, |evidence| state(evidence, "stopped") < 0.1),
    contradiction(Resource::NOT_RUNNING, |evidence| {
        signals(evidence).not_running.values().all(|gone| *gone < 0.1)
    }),
    contradiction(Resource::PAUSES, |evidence| {
        evidence.runs[0].measured.outage.as_ref().is_none_or(|outage| outage.times.len() < 3)
    }),
    contradiction(Resource::GARBAGE_COLLECTION, |evidence| {
        signals(evidence).waits.collecting_cores.is_none_or(|cores| cores < 0.1)
    }),
    contradiction(Resource::DELAYED_ACK, |evidence| {
        evidence.runs[0].measured.pace.ok_ns.is_none_or(|[low, _, high]| low < 35e6 || high > 60e6)
    }),
    contradiction(Resource::BANDWIDTH, |evidence| {
        let pace = &evidence.runs[0].measured.pace;
        pace.first_byte_ns.zip(evidence.together.ok_ns).is_none_or(|(first, all)| first > 0.6 * all)
            || below(pace.bytes_per_answer, 10_000.0)
    }),
    contradiction(Resource::POOL, |evidence| evidence.in_flight().is_none_or(|in_flight| in_flight < 1.5)),
    contradiction(Resource::STEAL, |evidence| below(signals(evidence).steal, 0.04)),
    contradiction(Resource::MEMORY, |evidence| {
        let waited = signals(evidence).group_pressures[1].or(signals(evidence).memory_pressure);
        below(signals(evidence).swapping, 0.4) && below(waited, 0.08)
    }),
    contradiction(Resource::LISTEN_QUEUE, |evidence| {
        let errors = evidence.together.errors.contains_key(&ErrorClass::ConnectBacklogFull.into());
        !errors && signals(evidence).listen_overflows.is_none_or(|dropped| dropped < 1.0)
    }),
];

/// Reproducible pseudorandom numbers (xorshift64).
struct Draws(u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns independent draws that do not advance this sequence.
    fn aside(&self) -> Self {
        Self(self.0 ^ 0x5851_f42d_4c95_7f2d)
    }

    fn aside_again(&self) -> Self {
        Self(self.0 ^ 0x1405_7b7e_f767_814f)
    }

    /// Draws a number from 0 to 1, often exactly 0 or 1.
    fn share(&mut self) -> f64 {
        match self.bits() % 8 {
            0 => 0.0,
            1 => 1.0,
            _ => (self.bits() % 10_000) as f64 / 10_000.0,
        }
    }

    fn yes(&mut self, one_in: u64) -> bool {
        self.bits().is_multiple_of(one_in)
    }

    /// Returns a number up to `most`, spread over five orders of magnitude.
    fn wide(&mut self, most: f64) -> f64 {
        most * 10f64.powf(-5.0 * self.share())
    }

    fn maybe(&mut self, most: f64) -> Option<f64> {
        let value = self.share() * most;
        (!self.yes(4)).then_some(value)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.bits() % list.len() as u64) as usize]
    }
}

fn drawn(draws: &mut Draws) -> Planted {
    let users = draws.of(&[1, 2, 4, 8, 16, 64]);
    let per_s = draws.wide(50_000.0).max(0.2);
    let fastest_ms = draws.wide(2_000.0);
    let mut planted = if draws.yes(3) {
        let (planned_per_s, mean_ms) = (per_s * (1.0 + draws.share()), draws.wide(1_000.0));
        Planted::open(users, planned_per_s, per_s, mean_ms)
    } else {
        Planted::closed(users, per_s, fastest_ms)
    };
    draw_answers(draws, &mut planted);
    draw_readings(draws, &mut planted);
    draw_waits(draws, &mut planted);
    let causes = draws.yes(4).then(|| {
        let codes: Vec<&str> = Doubt::all().map(|doubt| doubt.code).collect();
        let code = draws.of(&codes);
        let [sentence, remedy] = ["it says so", "help"].map(str::to_owned);
        Cause { code: code.to_owned(), sentence, remedy, distorts: Vec::new() }
    });
    let validity = &mut planted.run.ending.get_or_insert_default().validity;
    (validity.verdict, validity.causes) = (Level::Suspect, causes.into_iter().collect());
    planted
}

fn draw_answers(draws: &mut Draws, planted: &mut Planted) {
    let mean_ms = planted.together.ok_ns.unwrap_or(1e6) / 1e6;
    let low_ms = mean_ms * draws.share();
    planted.spread(low_ms, low_ms.max(mean_ms), mean_ms * (1.0 + draws.share()));
    let mut counted = draws.aside();
    planted.measured.retries_per_transaction = counted.yes(8).then(|| counted.share() * 2.0);
    if let Some(spread) = planted.run.ending.as_mut().and_then(|ending| ending.spread.as_mut()) {
        spread.unserved = counted.yes(8).then(|| counted.bits() % spread.connections);
    }
    let pace = planted.pace();
    pace.fastest_ns = (!draws.yes(6)).then(|| low_ms * 1e6 * draws.share());
    pace.is_cold_start = draws.yes(2);
    pace.first_byte_ns = draws.maybe(mean_ms * 1e6);
    pace.bytes_per_answer = Some(draws.wide(1e7));
    if draws.yes(6) {
        pace.ok_ns = None;
    }
    let rejected_ns = draws.wide(1e9);
    pace.rejected_ns = Some([rejected_ns, rejected_ns, rejected_ns * (1.0 + 0.1 * draws.share())]);
    if draws.yes(3) {
        let ok = planted.together.counts.ok;
        let rejected = (ok as f64 * draws.share()) as u64;
        let counts =
            Counts { planned: ok + rejected, sent: ok + rejected, ok, rejected, ..Counts::default() };
        (planted.together.counts, planted.together.samples) = (counts, ok + rejected);
        planted.together.statuses.insert(draws.of(&[429, 500, 503]), rejected);
        planted.together.rejected_ns = Some(rejected_ns);
    }
    if draws.yes(5) {
        let class = draws.of(&[ErrorClass::TooManyConnections, ErrorClass::ConnectBacklogFull]);
        planted.together.errors.insert(class.into(), 1 + draws.bits() % 1_000);
    }
    planted.measured.outage = draws.yes(3).then(|| {
        let time = OutageTime { from_s: 1.0, to_s: 2.0, lasting_s: 1.0, is_open: false };
        let times = vec![time; (draws.bits() % 6) as usize];
        Outage { longest_s: draws.share(), gone_share: draws.share(), times, starvation: None }
    });
}

fn draw_readings(draws: &mut Draws, planted: &mut Planted) {
    planted.uses(2.0 * draws.share(), draws.wide(20.0));
    let nice = draws.of(&[0.0, 19.0]);
    let processes = planted.measured.resources.iter_mut().flat_map(|resources| &mut resources.processes);
    processes.for_each(|(_, usage)| usage.nice = Some(nice));
    if draws.yes(5) {
        planted.measured.resources = None;
    }
    let signals = &mut planted.signals;
    signals.busy = draws.maybe(1.0);
    signals.busy_cores = signals.busy.map(|busy| busy * 2.0);
    signals.steal = draws.maybe(0.2);
    signals.busiest_thread = draws.maybe(1.0);
    signals.cpu_pressure = draws.maybe(1.0);
    signals.memory_pressure = draws.maybe(1.0);
    signals.disk_pressure = draws.maybe(1.0);
    signals.swapping = draws.maybe(1.0);
    let mut own = draws.aside();
    if own.yes(3) {
        signals.group_pressures = [0, 1, 2].map(|_| own.maybe(1.0));
    }
    signals.disk_busy = draws.maybe(1.0);
    signals.open_files_share = draws.maybe(1.1);
    signals.listen_queue = draws.maybe(200.0).map(|waiting| [waiting, 128.0]);
    signals.queued = draws.maybe(20.0).map(|waiting| ("5432".to_owned(), waiting)).into_iter().collect();
    signals.listen_overflows = draws.maybe(10.0);
    signals.cpu_quota_cores = draws.maybe(2.0);
    signals.throttled = draws.maybe(1.0);
    signals.not_running = draws.maybe(1.0).map(|share| ("db".to_owned(), share)).into_iter().collect();
    signals.cores_allowed = draws.maybe(2.0).map(f64::ceil);
}

fn draw_waits(draws: &mut Draws, planted: &mut Planted) {
    let states = [
        "on_cpu",
        "runnable",
        "disk",
        "futex",
        "timer",
        "poll",
        "socket_read",
        "pipe_write",
        "stopped",
        "file_lock",
        "other",
    ];
    let mut threads: Vec<(&str, f64)> = Vec::new();
    for state in states {
        if draws.yes(3) {
            threads.push((state, draws.wide(30.0)));
        }
    }
    let threads =
        if draws.yes(3) { vec![(draws.of(&states), draws.of(&[1.0, 3.97, 16.0]))] } else { threads };
    let futex: f64 = threads.iter().filter(|(state, _)| *state == "futex").map(|(_, threads)| threads).sum();
    let reads: f64 =
        threads.iter().filter(|(state, _)| *state == "socket_read").map(|(_, threads)| threads).sum();
    let (same, timed, to_peer) = (futex * draws.share(), futex * draws.share(), reads * draws.share());
    let open = draws.of(&[0.0, 1.0, 2.0, 16.0]);
    let workers = planted.threads(&threads);
    (workers.same_futex, workers.timed_futex) = (same, Some(timed));
    workers.event_loops = draws.aside().of(&[0.0, 0.0, 1.0, 4.0]);
    workers.dependencies.insert("10.0.0.7:5432".to_owned(), to_peer);
    workers.connections.insert("10.0.0.7:5432".to_owned(), open);
    let waits = &mut planted.signals.waits;
    waits.throttled_periods = draws.maybe(1.0);
    waits.memory_limit_met = draws.maybe(1.0);
    waits.refaulted_pages_per_s = draws.maybe(2_000.0);
    waits.collecting_cores = draws.maybe(1.0);
    let mut own = draws.aside();
    waits.changing.insert("app".to_owned(), own.share());
    waits.limited_io = own.yes(4).then(|| LimitedIo {
        what: "writes",
        disk: "vda".to_owned(),
        per_s: own.wide(1_000.0),
        max_per_s: own.wide(1_000.0),
    });
    planted.signals.inside = draws.yes(3).then(|| {
        let active = draws.wide(20.0);
        let names =
            ["Lock:tuple", "LWLock:WALWrite", "IO:DataFileRead", "IO:WALSync", "CPU", "Commit:commit"];
        let mut waits: BTreeMap<String, f64> = BTreeMap::new();
        for name in names {
            waits.insert(name.to_owned(), if draws.yes(2) { active * draws.share() } else { 0.0 });
        }
        let per_s = ["blocks_read", "blocks_hit"].map(|name| (name.to_owned(), draws.wide(1e5))).into();
        DatabaseStatistics { samples: 5.0 * SECONDS, active, waits, per_s, ..DatabaseStatistics::default() }
    });
    let mut own = draws.aside().aside_again();
    if own.yes(4) {
        planted.signals.inside = Some(store(&mut own));
    }
    draw_calls(&mut Draws(draws.0 ^ 0x2545_f491_4f6c_dd1d), planted);
}

/// Draws the calls of the system, and the statements and maintenance of its database.
fn draw_calls(draws: &mut Draws, planted: &mut Planted) {
    let per_s = planted.measured.window.map_or(0.0, |window| window.ended_per_s());
    if draws.yes(3) {
        let segments = per_s * draws.wide(60.0);
        let (sending, connections) = (draws.wide(4.0), draws.wide(16.0));
        let called = Called {
            program: draws.of(&["", "postgres", "nginx"]).to_owned(),
            connections,
            awaited: connections * draws.share(),
            seen_opened_per_s: draws.of(&[0.0, 40.0]),
            segments_per_s: [segments, segments * (0.5 + draws.share())],
            bytes_per_s: [segments * 90.0, segments * 900.0],
            cores: draws.share(),
            sending: [sending, sending * draws.share(), sending * draws.share()],
        };
        let dependencies = &mut planted.signals.dependencies;
        dependencies.called.insert(("app".to_owned(), "10.0.0.7:5432".to_owned()), called);
        dependencies.opened_per_s = Some(per_s * 2.0 * draws.share());
    }
    let Some(inside) = &mut planted.signals.inside else { return };
    if draws.yes(3) {
        let scans = per_s * draws.share();
        inside.scans.insert("public.t".to_owned(), [scans, scans * draws.wide(1e5)]);
    }
    if draws.yes(4) {
        inside.levels.insert("in_process".to_owned(), 1.0);
    }
    if draws.yes(8) {
        maintenance::tests::with_checkpoints(draws.of(&[11, 40]), planted);
    }
}

/// Draws the statistics of a key-value store.
fn store(draws: &mut Draws) -> DatabaseStatistics {
    let rates = ["commands", "keys_evicted", "errors", "key_hits", "key_misses"];
    let mut per_s: BTreeMap<String, f64> =
        rates.map(|name| (name.to_owned(), if draws.yes(2) { draws.wide(1e5) } else { 0.0 })).into();
    for (name, most) in
        [("main_thread_s", 1.1), ("children_s", 1.0), ("forks", 2.0), ("log_syncs_delayed", 2.0)]
    {
        per_s.insert(name.to_owned(), draws.share() * most);
    }
    let mut levels: BTreeMap<String, f64> = BTreeMap::new();
    for (name, most) in
        [("memory_bytes", 1e8), ("fork_s", 0.1), ("clients_blocked", 64.0), ("log_synced_each", 1.0)]
    {
        levels.insert(name.to_owned(), draws.share() * most);
    }
    levels.insert("memory_bytes_max".to_owned(), draws.of(&[0.0, 1e8]));
    let command = |name: &str, draws: &mut Draws| StatementTime {
        statement: name.to_owned(),
        calls: 1.0 + draws.wide(1e6),
        total_s: draws.wide(SECONDS),
    };
    let executed = vec![command("KEYS", draws), command("GET", draws)];
    DatabaseStatistics {
        samples: 5.0 * SECONDS,
        seconds: SECONDS,
        per_s,
        levels,
        executed,
        ..DatabaseStatistics::default()
    }
}

#[test]
fn each_resource_has_a_contradiction() {
    for resource in RULES.iter().flat_map(|rule| rule.finds) {
        let stated = CONTRADICTIONS.iter().filter(|contradiction| contradiction.of == *resource).count();
        assert_eq!(stated, 1, "{}", resource.code);
    }
}

#[test]
fn no_cause_is_contradicted_and_shares_sum_to_at_most_one() {
    let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
    let mut said: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..4_000 {
        let planted = drawn(&mut draws);
        let causes = planted.causes();
        assert_eq!(causes.is_empty(), planted.together.counts.ok == 0, "{number}");
        for cause in &causes {
            *said.entry(cause.resource.code).or_default() += 1;
            let contradiction = CONTRADICTIONS.iter().find(|of| of.of == cause.resource);
            let is_read =
                contradiction.is_some_and(|contradiction| planted.with_evidence(contradiction.is_read));
            assert!(!is_read, "{number}: {} contradicts {:?}", cause.because, planted.signals);
            let texts = [&cause.because, &cause.next].into_iter().chain(&cause.for_).chain(&cause.against);
            for text in texts {
                assert!(
                    !text.contains("NaN") && !text.contains("inf ") && !text.contains("-0"),
                    "{number}: {text}"
                );
            }
            assert!(cause.share.is_none_or(|share| share > 0.0 && share <= 1.0), "{number}: {cause:?}");
        }
        let shares: f64 = causes.iter().filter_map(|cause| cause.share).sum();
        assert!(shares <= 1.0 + 1e-9, "{number}: {shares}");
        let is_known = causes.iter().any(|cause| cause.certainty == Certainty::Suspected);
        assert!(causes.len() <= 1 || is_known, "{number}");
    }
    // Every cause must occur, otherwise the test would not cover it.
    let drawn = RULES.iter().flat_map(|rule| rule.finds);
    // Only messages report a limit on threads, and no messages are drawn.
    for resource in drawn.filter(|resource| **resource != Resource::THREAD_LIMIT) {
        assert!(said.contains_key(resource.code), "{} was never said: {said:?}", resource.code);
    }
}
