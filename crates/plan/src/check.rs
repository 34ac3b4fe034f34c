//! From draft to plan: every rule, all faults at once.

use load::open::{Profile, Stage};
use load::{Closed, Load, Open, Scenarios, Spacing, Stop, ThinkTime};

use crate::database;
use crate::draft::{Draft, Played};
use crate::fault::Fault;
use crate::plan::{Action, HttpAction, Peer, Pin, Plan, PlannedStep};
use crate::request;
use crate::scripts;
use crate::transactions::Transactions;
use crate::units;

const CONNECTIONS_DEFAULT: u64 = 50;
const CONNECTIONS_MAX: u64 = 1_000_000;
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;
const TIMEOUT_DEFAULT_NS: u64 = 10_000_000_000;
/// Of transactions of which a number is asked for and no time: some statements take as long as they take.
const TIMEOUT_OF_A_NUMBER_NS: u64 = 3_600_000_000_000;
const THREADS_MAX: u64 = 1024;
const EXTEND_MAX: u64 = 10;
const LOG_PER_SECOND_MAX: u64 = 100_000;
const SEED_DEFAULT: u64 = 1;
/// Starts are grouped within a small part of this.
const SHED_AFTER_MIN_NS: u64 = 1_000_000;

/// What is done, and to whom.
struct Target {
    title: String,
    peer: Peer,
    steps: Vec<PlannedStep>,
    scenarios: Scenarios,
    sql: Option<Transactions>,
}

impl Target {
    fn read(draft: &Draft, faults: &mut Vec<Fault>) -> Option<Self> {
        if database::is_database(&draft.url) {
            forbid(&only_requests(draft), "it is for requests, and the URL is one of a database", faults);
            let (title, steps, scenarios, sql) = scripts::read(draft, faults)?;
            let peer = sql.database.peers.first()?.clone();
            return Some(Self { title, peer, steps, scenarios, sql: Some(sql) });
        }
        let target = request::target(draft, faults);
        let checks = request::checks(draft, faults);
        let what = "it is for databases, and the URL is none of postgres://…, mysql://…, sqlite:…";
        forbid(&only_transactions(draft), what, faults);
        let (title, name, peer, request) = target?;
        let action = Action::Http(HttpAction { request, checks, captures: Vec::new() });
        let steps = vec![PlannedStep { name, action }];
        Some(Self { title, peer, steps, scenarios: Scenarios::single(), sql: None })
    }
}

fn forbid(flags: &[(&str, bool)], what: &str, faults: &mut Vec<Fault>) {
    let given = flags.iter().filter(|(_, is_given)| *is_given);
    faults.extend(given.map(|(flag, _)| Fault::new(*flag, what, instead_of(flag))));
}

/// What a URL of a database says in place of a flag.
fn instead_of(flag: &str) -> &'static str {
    match flag {
        "--unix-socket" => {
            "name the socket in the URL: postgres:///DB?host=FOLDER or mysql://USER@localhost/DB?socket=PATH"
        }
        "--cacert" => {
            "name the file in the URL: ?sslmode=verify-full&sslrootcert=FILE, or ?ssl-mode=VERIFY_IDENTITY&ssl-ca=FILE"
        }
        "--insecure" => {
            "leave it out: without sslmode=verify-… or ssl-mode=VERIFY_… any certificate is taken"
        }
        _ => "leave it out",
    }
}

/// Flags that only requests have, and whether they were given.
fn only_requests(draft: &Draft) -> [(&'static str, bool); 12] {
    [
        ("-m", draft.method.is_some()),
        ("-H", !draft.headers.is_empty()),
        ("-b", draft.body.is_some()),
        ("--body-file", draft.body_file.is_some()),
        ("--unix-socket", draft.unix_socket.is_some()),
        ("--insecure", draft.insecure),
        ("--cacert", draft.cacert.is_some()),
        ("--expect-status", draft.expect_status.is_some()),
        ("--expect-body", !draft.expect_body.is_empty()),
        ("--expect-body-regex", !draft.expect_body_regex.is_empty()),
        ("--expect-header", !draft.expect_header.is_empty()),
        ("--expect-size", draft.expect_size.is_some()),
    ]
}

/// Flags that only transactions have, and whether they were given.
fn only_transactions(draft: &Draft) -> [(&'static str, bool); 15] {
    let has = |is_meant: fn(&Played) -> bool| draft.played.iter().any(is_meant);
    [
        ("-f", has(|played| !matches!(played, Played::Workload(_)))),
        ("--workload", has(|played| matches!(played, Played::Workload(_)))),
        ("-D", !draft.defines.is_empty()),
        ("--query-mode", draft.query_mode.is_some()),
        ("--scale", draft.scale.is_some()),
        ("--tables", draft.tables.is_some()),
        ("--table-size", draft.table_size.is_some()),
        ("--range-size", draft.range_size.is_some()),
        ("--rows", draft.rows.is_some()),
        ("--style", draft.style.is_some()),
        ("--distribution", draft.distribution.is_some()),
        ("--max-tries", draft.max_tries.is_some()),
        ("--latency-limit", draft.latency_limit.is_some()),
        ("--pool", draft.pool.is_some()),
        ("--no-room-check", draft.no_room_check),
    ]
}

/// Number of times, if it is one: [`Reader::extend`] says what is wrong with it.
fn written_extend(draft: &Draft) -> u32 {
    let times = draft.extend.as_deref().and_then(|text| units::count(text).ok()).unwrap_or(0);
    if draft.stages.is_some() { 0 } else { times.min(EXTEND_MAX) as u32 }
}

pub(crate) fn check(draft: &Draft) -> Result<Plan, Vec<Fault>> {
    let mut faults = Vec::new();
    let target = Target::read(draft, &mut faults);
    let mut reader = Reader { draft, faults };
    let (load, stop, warm_up_ns) = reader.load();
    let extend = reader.extend();
    let seed = reader.seed();
    let given = reader.positive("--timeout", draft.timeout.as_deref());
    let is_number = stop.at_ns.is_none() && target.as_ref().is_some_and(|target| target.sql.is_some());
    let timeout_ns = given.unwrap_or(if is_number { TIMEOUT_OF_A_NUMBER_NS } else { TIMEOUT_DEFAULT_NS });
    let of_url = target.as_ref().and_then(|target| target.sql.as_ref()?.database.connect_timeout_ns);
    let connect_timeout_ns = reader.connect_timeout(of_url, timeout_ns, given);
    let threads = reader.threads(&load);
    let pin = reader.pin();
    let log_per_second = reader.count("--log-requests", draft.log_requests.as_deref(), 0, LOG_PER_SECOND_MAX);
    match target {
        Some(Target { title, peer, steps, scenarios, sql }) if reader.faults.is_empty() => Ok(Plan {
            title,
            peer,
            sql: sql.map(|sql| sql.seeded(seed, &load)),
            steps,
            variables: Vec::new(),
            scenarios,
            data: Vec::new(),
            load,
            stop,
            extend,
            warm_up_ns,
            timeout_ns,
            connect_timeout_ns,
            threads,
            pin,
            seed,
            log_per_second: log_per_second.unwrap_or(0) as u32,
            is_trial: false,
        }),
        _ => Err(reader.faults),
    }
}

struct Reader<'a> {
    draft: &'a Draft,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, place: &str, what: impl Into<String>, way_out: &str) {
        self.faults.push(Fault::new(place, what, way_out));
    }

    fn read<T>(&mut self, place: &str, text: Option<&str>, read: fn(&str) -> Result<T, String>) -> Option<T> {
        read(text?).map_err(|what| self.fault(place, what, "correct the value")).ok()
    }

    fn duration(&mut self, place: &str, text: Option<&str>) -> Option<u64> {
        self.read(place, text, units::duration_ns)
    }

    fn positive(&mut self, place: &str, text: Option<&str>) -> Option<u64> {
        let ns = self.duration(place, text)?;
        if ns == 0 {
            self.fault(place, "it must be longer than nothing", "write a duration such as 10s");
        }
        Some(ns.max(1))
    }

    fn rate(&mut self, place: &str, text: Option<&str>) -> Option<f64> {
        let per_s = self.read(place, text, units::rate_per_s)?;
        if per_s <= 0.0 {
            self.fault(place, "a rate of nothing sends nothing", "write a rate such as 500/s");
            return None;
        }
        Some(per_s)
    }

    fn count(&mut self, place: &str, text: Option<&str>, min: u64, max: u64) -> Option<u64> {
        let count = self.read(place, text, units::count)?;
        if !(min..=max).contains(&count) {
            self.fault(
                place,
                format!("{count} is not between {min} and {max}"),
                "choose a number between them",
            );
        }
        Some(count.clamp(min, max))
    }

    fn load(&mut self) -> (Load, Stop, u64) {
        let draft = self.draft;
        let warm_up_ns = self.duration("--warm-up", draft.warm_up.as_deref()).unwrap_or(0);
        let requests = self.count("-n", draft.requests.as_deref(), 1, u64::MAX >> 16);
        let connections = self.count("-c", draft.connections.as_deref(), 1, CONNECTIONS_MAX);
        let connections = connections.unwrap_or(CONNECTIONS_DEFAULT) as u32;
        let given_ns = self.positive("-d", draft.duration.as_deref());
        let stages = draft.stages.as_deref().map(|text| self.stages(text));
        self.forbid_contradictions();

        let staged_ns = stages
            .as_ref()
            .map(|stages| stages.iter().fold(0u64, |total_ns, stage| total_ns.saturating_add(stage.for_ns)));
        let measured_ns = staged_ns.or(given_ns).or(requests.is_none().then_some(DURATION_DEFAULT_NS));
        // It is planned as long as it may get.
        let times = u64::from(written_extend(draft)).saturating_add(1);
        let measured_ns = measured_ns.map(|ns| ns.saturating_mul(times));
        let at_ns = measured_ns.map(|ns| ns.saturating_add(warm_up_ns));
        // Every flag is read, also those that do not fit the load: all faults are told at once.
        let seed = self.seed();
        let spacing = self.spacing(seed);
        let shed_after_ns = self.duration("--shed-after", draft.shed_after.as_deref());
        // As pgbench does: what is late before it is sent is not sent.
        let limit_ns = self.positive("--latency-limit", draft.latency_limit.as_deref());
        let shed_after_ns = shed_after_ns.or(limit_ns);
        let closed = self.closed(connections, seed);
        let load = match self.profile(stages, measured_ns) {
            Some(profile) => {
                self.check_profile(&profile, warm_up_ns, shed_after_ns);
                Load::Open(Open {
                    profile: profile.held_first(warm_up_ns),
                    spacing,
                    connections,
                    shed_after_ns,
                })
            }
            None => {
                if at_ns.is_some_and(|at_ns| closed.ramp_up_ns >= at_ns) {
                    let what = "the load ends before the last users come in";
                    self.fault("--ramp-up", what, "shorten it, or lengthen -d");
                }
                Load::Closed(closed)
            }
        };
        (load, Stop { at_ns, requests }, warm_up_ns)
    }

    /// How often it may go on for as long again.
    fn extend(&mut self) -> u32 {
        let draft = self.draft;
        let extend = self.count("--extend", draft.extend.as_deref(), 0, EXTEND_MAX).unwrap_or(0) as u32;
        if extend == 0 {
            return 0;
        }
        if draft.stages.is_some() {
            let what = "a rate that changes in stages is not meant to be steady";
            self.fault("--extend and --stages", what, "leave out one of the two");
        } else if draft.requests.is_some() {
            let what = "a number of requests ends the load, whether it is steady or not";
            self.fault("--extend and -n", what, "leave out one of the two, and say how long with -d");
        }
        extend
    }

    fn check_profile(&mut self, profile: &Profile, warm_up_ns: u64, shed_after_ns: Option<u64>) {
        // Stages that could not be read leave an empty profile, and were complained about already.
        let is_read = !profile.segments().is_empty();
        if is_read && profile.peak_per_s() <= 0.0 {
            self.fault("--stages", "a rate of nothing sends nothing", "write a rate such as 10s:100/s");
        } else if is_read && warm_up_ns > 0 && profile.first_per_s() <= 0.0 {
            let what = "the load begins with a rate of 0, which warms nothing";
            self.fault(
                "--warm-up",
                what,
                "begin with a rate, such as --ramp-from 10/s or --stages 0s:10/s,…",
            );
        }
        if shed_after_ns.is_some_and(|ns| ns < SHED_AFTER_MIN_NS) {
            let what = "the generator itself may start a request that late";
            self.fault("--shed-after", what, "allow 1ms or more");
        }
    }

    fn profile(&mut self, stages: Option<Vec<Stage>>, measured_ns: Option<u64>) -> Option<Profile> {
        let rate = self.rate("-R", self.draft.rate.as_deref());
        let from = self
            .draft
            .ramp_from
            .as_deref()
            .and_then(|text| self.read("--ramp-from", Some(text), units::rate_per_s));
        match (stages, from, rate, measured_ns) {
            (Some(stages), from, ..) => Some(Profile::stages(from.unwrap_or(0.0), &stages)),
            (None, Some(from), Some(to), Some(for_ns)) => Some(Profile::ramp(from, to, for_ns)),
            (None, Some(_), Some(_), None) => {
                self.fault("--ramp-from", "a ramp needs to know how long it takes", "add -d, such as -d 30s");
                None
            }
            (None, _, Some(per_s), _) => Some(Profile::constant(per_s)),
            (None, _, None, _) => None,
        }
    }

    /// `10s:100/s,30s:500/s`: within ten seconds to a hundred a second, then within thirty to five hundred.
    fn stages(&mut self, text: &str) -> Vec<Stage> {
        let stage = |part: &str| {
            let (for_, to) = part.split_once(':').ok_or_else(|| format!("{part:?} has no colon"))?;
            Ok(Stage { for_ns: units::duration_ns(for_)?, to_per_s: units::rate_per_s(to)? })
        };
        match text.split(',').map(stage).collect::<Result<Vec<_>, String>>() {
            Ok(stages) if stages.iter().all(|stage| stage.for_ns == 0) => {
                self.fault("--stages", "all of it takes no time", "write 10s:100/s,30s:500/s");
                Vec::new()
            }
            Ok(stages) => stages,
            Err(what) => {
                self.fault("--stages", what, "write TIME:RATE,TIME:RATE such as 10s:100/s,30s:500/s");
                Vec::new()
            }
        }
    }

    fn spacing(&mut self, seed: u64) -> Spacing {
        match self.draft.arrivals.as_deref() {
            None | Some("even") => Spacing::Even,
            Some("poisson") => Spacing::Poisson { seed },
            Some(other) => {
                self.fault("--arrivals", format!("{other:?} is not known"), "write even or poisson");
                Spacing::Even
            }
        }
    }

    fn closed(&mut self, users: u32, seed: u64) -> Closed {
        let draft = self.draft;
        Closed {
            users,
            ramp_up_ns: self.duration("--ramp-up", draft.ramp_up.as_deref()).unwrap_or(0),
            think_time: self.think_time(),
            pacing_ns: self.duration("--pacing", draft.pacing.as_deref()).unwrap_or(0),
            throughput_per_s: self.rate("--throughput", draft.throughput.as_deref()),
            seed,
        }
    }

    /// `100ms`, `50ms..150ms`, `exp:100ms`.
    fn think_time(&mut self) -> ThinkTime {
        let Some(text) = self.draft.think.as_deref() else { return ThinkTime::None };
        let read = |text: &str| -> Result<ThinkTime, String> {
            if let Some(mean) = text.strip_prefix("exp:") {
                return Ok(ThinkTime::Exponential { mean_ns: units::duration_ns(mean)? });
            }
            let Some((min, max)) = text.split_once("..") else {
                return Ok(ThinkTime::Constant { ns: units::duration_ns(text)? });
            };
            let (min_ns, max_ns) = (units::duration_ns(min)?, units::duration_ns(max)?);
            if min_ns > max_ns {
                return Err(format!("{text:?} ends before it begins"));
            }
            Ok(ThinkTime::Uniform { min_ns, max_ns })
        };
        read(text).unwrap_or_else(|what| {
            self.fault("--think", what, "write 100ms, 50ms..150ms (uniform) or exp:100ms (exponential)");
            ThinkTime::None
        })
    }

    fn forbid_contradictions(&mut self) {
        let draft = self.draft;
        let is_open = draft.rate.is_some() || draft.stages.is_some();
        let open_only = [
            ("--shed-after", draft.shed_after.is_some()),
            ("--arrivals", draft.arrivals.is_some()),
            ("--ramp-from", draft.ramp_from.is_some()),
        ];
        let closed_only = [
            ("--think", draft.think.is_some()),
            ("--pacing", draft.pacing.is_some()),
            ("--ramp-up", draft.ramp_up.is_some()),
            ("--throughput", draft.throughput.is_some()),
        ];
        for (flag, given) in open_only {
            if given && !is_open {
                self.fault(
                    flag,
                    "it shapes a rate, and there is none",
                    "add -R (or --stages), or leave it out",
                );
            }
        }
        for (flag, given) in closed_only {
            if given && is_open {
                let what = "it is for users who wait, and -R or --stages sends at instants of its own";
                self.fault(flag, what, "leave out one of the two");
            }
        }
        if draft.latency_limit.is_some() && draft.shed_after.is_some() {
            let what = "both say what is too late to be sent";
            self.fault("--latency-limit and --shed-after", what, "give only one of them");
        }
        if draft.pool.is_some() && is_open {
            let what = "-R and --stages send over so many connections as -c says";
            self.fault("--pool", what, "leave it out");
        }
        if draft.rate.is_some() && draft.stages.is_some() {
            self.fault("-R and --stages", "both give the rate", "give only one of them");
        }
        if draft.duration.is_some() && draft.stages.is_some() {
            self.fault("-d and --stages", "the stages say how long it takes", "leave out -d");
        }
    }

    fn seed(&mut self) -> u64 {
        let seed = self.draft.seed.as_deref().map(|text| text.trim().parse().map_err(|_| text));
        match seed {
            None => SEED_DEFAULT,
            Some(Ok(seed)) => seed,
            Some(Err(text)) => {
                let fault = Fault::new(
                    "--seed",
                    format!("{text:?} is not a whole number below 2^64"),
                    "write --seed 42",
                );
                if !self.faults.contains(&fault) {
                    self.faults.push(fault);
                }
                SEED_DEFAULT
            }
        }
    }

    /// `of_url` is what the URL says, where the flag says nothing.
    fn connect_timeout(&mut self, of_url: Option<u64>, timeout_ns: u64, given_ns: Option<u64>) -> u64 {
        let given = self.positive("--connect-timeout", self.draft.connect_timeout.as_deref());
        if given.is_some_and(|given| given > timeout_ns) {
            let what = format!(
                "it is longer than the whole request may take ({})",
                units::show_duration(timeout_ns)
            );
            self.fault("--connect-timeout", what, "shorten it, or lengthen --timeout");
        }
        let default_ns = given_ns.unwrap_or(TIMEOUT_DEFAULT_NS);
        given.or(of_url.map(|ns| ns.min(timeout_ns))).unwrap_or(default_ns)
    }

    fn threads(&mut self, load: &Load) -> Option<u32> {
        let threads = self.count("--threads", self.draft.threads.as_deref(), 1, THREADS_MAX)? as u32;
        let connections = match load {
            Load::Closed(closed) => closed.users,
            Load::Open(open) => open.connections,
        };
        if threads > connections {
            let what = format!("{threads} threads cannot share {connections} connections");
            self.fault("--threads", what, "use at most one thread for each connection");
        }
        Some(threads)
    }

    fn pin(&mut self) -> Pin {
        let Some(text) = self.draft.pin.as_deref() else { return Pin::No };
        if text == "auto" {
            return Pin::Auto;
        }
        match text.split(',').map(|core| core.trim().parse()).collect() {
            Ok(cores) => Pin::Cores(cores),
            Err(_) => {
                self.fault(
                    "--pin",
                    format!("{text:?} is not a list of cores"),
                    "write --pin auto or --pin 1,2",
                );
                Pin::No
            }
        }
    }
}
