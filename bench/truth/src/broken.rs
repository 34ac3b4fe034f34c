//! Tests each command against a server that is unavailable for part of the load, and checks what the command reports.

use std::net::TcpListener;
use std::ops::RangeInclusive;
use std::process::Command;
use std::thread;
use std::time::Duration;

use harness::figures;
use serde_json::Value;

use crate::bench::Bench;
use crate::flags::Profile;
use crate::grade::{Finding, Grade};
use crate::plan::{Plan, started};
use crate::server::Server;
use crate::tool::{Output, check_counts, run_unstarved};

/// Time limit of each command.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Rate of open loads, except in capacity searches.
const RATE_PER_S: f64 = 200.0;
/// Length of a single load's window, if the result does not contain it.
const MEASURED_S: f64 = 5.0;
/// Min unavailable share of the window for which a run must not be reported as complete.
const UNAVAILABLE_MIN_SHARE: f64 = 0.05;

/// A kind of broken server. In its commands, `{target}` stands for the built-in target and the address to listen on.
pub(crate) struct BrokenServer {
    pub(crate) case: &'static str,
    pub(crate) what: &'static str,
    /// Shell command that starts the server for a single load: 1 s of warm-up, 5 s measured.
    pub(crate) single: &'static str,
    /// Disturbs the server during a single load. Called right after the generator starts.
    pub(crate) act: fn(&Server),
    /// Shell command that starts the server for a run of a study: 300 ms of warm-up, 1.2 s measured. The load begins about 100 ms after
    /// the server starts.
    pub(crate) in_study: &'static str,
    /// Expected unavailable share of a single load's window, over users (closed) or arrivals (open).
    pub(crate) gone: RangeInclusive<f64>,
    /// Expected longest outage of a single load, in seconds. `None` if the server never stops answering.
    pub(crate) outage_s: Option<RangeInclusive<f64>>,
    /// Additional flags of the built-in target under open loads.
    pub(crate) open_flags: &'static str,
    /// Number of connections of an open load.
    pub(crate) connections: &'static str,
    /// Parts that the short profile skips: they are slow, and another case covers them.
    pub(crate) only_full: &'static [Part],
}

impl BrokenServer {
    fn number(&self) -> u64 {
        self.case.trim_start_matches('T').parse().unwrap_or_default()
    }
}

/// Command and load to test on a broken server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Single(Model),
    Study(Model),
    Capacity,
    Best,
}

impl Part {
    const ALL: [Self; 6] = [
        Self::Single(Model::Open),
        Self::Single(Model::Closed),
        Self::Study(Model::Open),
        Self::Study(Model::Closed),
        Self::Capacity,
        Self::Best,
    ];

    fn name(self) -> String {
        match self {
            Self::Single(model) => format!("{} load", model.name()),
            Self::Study(model) => format!("study, {}", model.name()),
            Self::Capacity => "capacity".to_owned(),
            Self::Best => "best of three".to_owned(),
        }
    }
}

/// Does nothing, for servers that break on their own.
pub(crate) fn leave_alone(_: &Server) {}

/// Load model: closed users wait for replies, open arrivals do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    Open,
    Closed,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    fn words(self, broken: &BrokenServer) -> Vec<&'static str> {
        match self {
            Self::Open => vec!["--rate=200/s", "-c", broken.connections],
            Self::Closed => vec!["-c", "4", "--think=5ms"],
        }
    }

    fn in_study(self, broken: &BrokenServer) -> String {
        match self {
            Self::Open => format!("rate: 200/s, connections: {}", broken.connections),
            Self::Closed => "users: 2, think: 5ms".to_owned(),
        }
    }
}

/// Tests each command on the broken server, and returns a grade for each.
pub(crate) fn grades(bench: &Bench, broken: &BrokenServer) -> Vec<Grade> {
    let parts = Part::ALL.into_iter();
    let parts = parts.filter(|part| bench.profile == Profile::Full || !broken.only_full.contains(part));
    thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(move || grade(bench, broken, part))).collect();
        running
            .into_iter()
            .map(|grade| grade.join().unwrap_or_else(|_| Grade::broken(broken.case, "it panicked")))
            .collect()
    })
}

fn grade(bench: &Bench, broken: &BrokenServer, part: Part) -> Grade {
    let tries = bench.profile.pick(1, 3);
    let found = bench.attempt_in_parallel(tries, |number| match part {
        Part::Single(model) => single(bench, broken, model),
        Part::Study(model) => study(bench, broken, model, number),
        Part::Capacity => capacity(bench, broken, number),
        Part::Best => best(bench, broken, number),
    });
    Grade::of(broken.case, format!("{}: {}", broken.what, part.name()), tries, found)
}

/// Errors found in a report.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    pub(crate) fn check(&mut self, is_fine: bool, what: impl FnOnce() -> String) {
        if !is_fine {
            self.0.push(what());
        }
    }

    /// Returns a finding with a summary and all errors. It is right if there are no errors.
    pub(crate) fn found(self, words: String) -> Finding {
        let is_right = self.0.is_empty();
        Finding::new(is_right, std::iter::once(words).chain(self.0).collect::<Vec<_>>().join("; "))
    }
}

fn single(bench: &Bench, broken: &BrokenServer, model: Model) -> Result<Finding, String> {
    let said = run_unstarved(|| load(bench, broken, model))?;
    let mut faults = Faults::default();
    let words = check_figures(&said, model == Model::Open, &mut faults)?;
    let (validity, _) = said.validity();
    if validity == "invalid" {
        return Ok(faults.found(words));
    }
    let gone = said.at("/outage/gone_share");
    faults.check(matches!(gone, Ok(share) if broken.gone.contains(&share)), || {
        format!("gone {gone:.2?}, planted {:.2?}", broken.gone)
    });
    if let Some(planted) = &broken.outage_s {
        let longest = said.at("/outage/longest_s");
        faults.check(matches!(longest, Ok(told) if planted.contains(&told)), || {
            format!("outage {longest:.2?} s, planted {planted:.2?}")
        });
    }
    if *broken.gone.start() >= UNAVAILABLE_MIN_SHARE {
        faults.check(said.word("/verdict") == "degraded", || "not called degraded".to_owned());
        faults.check(said.exit == 6, || format!("exit code {}", said.exit));
        let steadiness = said.word("/steadiness/verdict");
        faults.check(steadiness != "steady", || "called steady".to_owned());
    }
    Ok(faults.found(words))
}

/// Checks that the figures of a single run are possible: its counts add up, and it has no more answers than requests. Returns a
/// summary of the run.
pub(crate) fn check_figures(said: &Output, is_open: bool, faults: &mut Faults) -> Result<String, String> {
    check_counts(&said.json)?;
    let (per_s, verdict) = (said.at("/throughput_per_s")?, said.word("/verdict"));
    let length_s = said.at("/window/length_s").unwrap_or(MEASURED_S);
    let backlog = said.at("/window/backlog_start").unwrap_or_default();
    if is_open {
        let most = RATE_PER_S * length_s + 1.0 + backlog;
        faults.check(per_s * length_s <= most + 0.5, || {
            format!("{per_s:.1}/s of {RATE_PER_S}/s, with a backlog of {backlog}")
        });
    }
    let (gone, longest) = (said.at("/outage/gone_share"), said.at("/outage/longest_s"));
    let of = |figure: Result<f64, String>| figure.map_or("–".to_owned(), |figure| format!("{figure:.2}"));
    Ok(format!("{verdict}, exit {}, {per_s:.0}/s, gone {}, outage {} s", said.exit, of(gone), of(longest)))
}

fn load(bench: &Bench, broken: &BrokenServer, model: Model) -> Result<Output, String> {
    let flags = if model == Model::Open { broken.open_flags } else { "" };
    let command = shell(bench, &format!("{} {flags}", broken.single), free_port()?);
    let server = Server::start_as(bench, Command::new("sh").args(["-c", &command]))?;
    let mut command = Command::new(&bench.tenbin);
    command.arg(format!("{}/hold?mean_us=20000", server.url)).args(model.words(broken));
    command.args(["--warm-up=1s", "-d", "5s", "--timeout=3s"]);
    // Uses a separate store: waiting for other writers would delay the load, but not the planted outage.
    command.arg("--store").arg(bench.file("sqlite"));
    bench.run_while(&mut command, TIMEOUT, |_| {
        (broken.act)(&server);
        Ok(())
    })
}

/// Returns a port that was free a moment ago. A fixed port lets a restarted server listen on the same address.
pub(crate) fn free_port() -> Result<u16, String> {
    let address = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

/// Replaces `{target}` in a shell command with the built-in target on `port`.
pub(crate) fn shell(bench: &Bench, command: &str, port: impl std::fmt::Display) -> String {
    let target = format!("{} target --listen 127.0.0.1:{port}", bench.target.display());
    command.replace("{target}", &target)
}

/// Returns the YAML of a system that runs `command` in a shell. Tenbin picks the port.
fn in_plan(bench: &Bench, name: &str, command: &str) -> String {
    started(name, &format!("sh -c '{}'", shell(bench, command, "{port}")))
}

fn systems(bench: &Bench, broken: &BrokenServer, flags: &str, healthy: &[&str]) -> String {
    let healthy: String = healthy.iter().map(|name| in_plan(bench, name, "exec {target}")).collect();
    in_plan(bench, "broken", &format!("{} {flags}", broken.in_study)) + &healthy
}

fn study(bench: &Bench, broken: &BrokenServer, model: Model, number: u32) -> Result<Finding, String> {
    let flags = if model == Model::Open { broken.open_flags } else { "" };
    let systems = systems(bench, broken, flags, &["healthy"]);
    // A healthy server meets both gates; a run with the outage must meet neither.
    let compare = "{ by: throughput, matters: 3%, blocks: 6, pilot: 0 }\ngates: [ \"throughput>10/s\", \"errors<70%\" ]";
    let said = planned(bench, broken, model, &systems, number, compare)?;
    let mut faults = Faults::default();
    let mut words = check_runs(&said, broken, &mut faults);
    check_not_better(&said, &mut faults);
    faults.check(said.exit != 0, || "exit code 0".to_owned());
    for pair in said.list("/comparison/pairs") {
        let verdict = pair["verdict"].as_str().unwrap_or_default();
        words.push_str(&format!(", {verdict} {:.2}", pair["ratio"].as_f64().unwrap_or_default()));
        faults.check(verdict != "equivalent", || "called equivalent".to_owned());
    }
    Ok(faults.found(words))
}

fn best(bench: &Bench, broken: &BrokenServer, number: u32) -> Result<Finding, String> {
    let systems = systems(bench, broken, broken.open_flags, &["healthy", "third"]);
    let compare = "{ by: throughput, matters: 3%, find: best, blocks: 8 }";
    let said = planned(bench, broken, Model::Open, &systems, 500 + number, compare)?;
    let mut faults = Faults::default();
    let words = check_runs(&said, broken, &mut faults);
    check_not_better(&said, &mut faults);
    let found = said.json.pointer("/comparison/found/0").cloned().unwrap_or_default();
    let best = found["best"]["system"].as_str().unwrap_or("none").to_owned();
    faults.check(best != "broken", || "the broken one is the best".to_owned());
    let is_tied =
        found["tied"].as_array().is_some_and(|tied| tied.iter().any(|one| one["system"] == "broken"));
    faults.check(!is_tied, || "the broken one is tied with the best".to_owned());
    Ok(faults.found(format!("{words}, best: {best}")))
}

fn planned(
    bench: &Bench,
    broken: &BrokenServer,
    model: Model,
    systems: &str,
    number: u32,
    compare: &str,
) -> Result<Output, String> {
    let load = format!("{{ {}, warm-up: 300ms, for: 1200ms, timeout: 1s }}", model.in_study(broken));
    let seed = bench.seed_of(broken.number(), number);
    let plan =
        Plan { question: "Which one?", path: "/hold?mean_us=20000", load: &load, systems, compare, seed };
    bench.tenbin(&["run", &plan.write(bench)?.display().to_string()], TIMEOUT)
}

/// Checks verdicts, gates, and rates of the broken system's valid runs in a study. Returns a summary.
fn check_runs(said: &Output, broken: &BrokenServer, faults: &mut Faults) -> String {
    let is_broken =
        |run: &&Value| run["system"]["name"] == "broken" && run["validity"]["verdict"] != "invalid";
    let runs: Vec<&Value> = said.list("/runs").iter().filter(is_broken).collect();
    let count = |is: &dyn Fn(&Value) -> bool| runs.iter().filter(|run| is(run)).count();
    let must_be_gone = *broken.gone.start() >= UNAVAILABLE_MIN_SHARE;
    let complete = count(&|run| run["verdict"] == "complete");
    faults.check(complete == 0 || !must_be_gone, || format!("{complete} runs called complete"));
    let holds = |gate: &Value| gate["holds"] == true;
    let held = count(&|run| run["gates"].as_array().is_some_and(|gates| gates.iter().any(holds)));
    faults.check(held == 0, || format!("gates held in {held} runs"));
    let fast = count(&|run| run["model"] == "open" && is_too_fast(run));
    faults.check(fast == 0, || format!("{fast} runs with more answers than requests"));
    let gone = runs.iter().filter_map(|run| figures::at(run, "/outage/gone_share").ok());
    let mean = gone.sum::<f64>() / runs.len().max(1) as f64;
    format!("exit {}, {} runs, gone {:.2}", said.exit, runs.len(), mean.abs())
}

fn is_too_fast(run: &Value) -> bool {
    let per_s = run["throughput_per_s"].as_f64().unwrap_or_default();
    let (length_s, backlog) = (run["window"]["length_s"].as_f64(), run["window"]["backlog_start"].as_f64());
    let length_s = length_s.unwrap_or(1.2);
    per_s * length_s > RATE_PER_S * length_s + 1.5 + backlog.unwrap_or_default()
}

/// Checks that no ranking and no pair of a comparison favors the broken system.
fn check_not_better(said: &Output, faults: &mut Faults) {
    let first = said.list("/comparison/ranking").iter().min_by_key(|entry| entry["rank"].as_u64());
    faults.check(first.is_none_or(|first| first["system"] != "broken"), || "ranked first".to_owned());
    for pair in said.list("/comparison/pairs") {
        // The better system of a pair is `a`.
        let is_better = pair["verdict"] == "differs" && pair["a"]["system"] == "broken";
        faults.check(!is_better, || format!("better, {} times", pair["ratio"]));
    }
}

/// Searches the capacity. No rate may pass, because the system is unavailable for part of each run.
fn capacity(bench: &Bench, broken: &BrokenServer, number: u32) -> Result<Finding, String> {
    let load = Model::Open.in_study(broken).replace("200/s", "100/s");
    let plan = Plan {
        question: "How much does it take?",
        path: "/hold?mean_us=20000",
        load: &format!("{{ {load}, warm-up: 300ms, for: 1200ms, timeout: 1s }}"),
        systems: &systems(bench, broken, broken.open_flags, &[]),
        compare: "{ by: throughput, blocks: 1 }",
        seed: bench.seed_of(broken.number(), 900 + number),
    };
    let file = plan.write(bench)?.display().to_string();
    let words = ["capacity", &file, "--slo=p50<50ms", "--from=100/s", "--to=200/s", "--resolution=20%"];
    let more = ["--confirm=2", "--no-overload", "--within=30s"];
    let said = bench.tenbin(&[words.as_slice(), &more].concat(), TIMEOUT)?;
    let mut faults = Faults::default();
    let held = said.at("/capacity/0/held_per_s").ok();
    faults.check(held.is_none(), || format!("{:.0}/s held", held.unwrap_or_default()));
    for level in said.list("/capacity/0/levels") {
        let (asked, ok) =
            (level["per_s"].as_f64().unwrap_or_default(), level["ok_per_s"].as_f64().unwrap_or_default());
        // Arrivals are Poisson: 40 more than the expected 120 are about four standard deviations.
        faults.check(ok <= asked * 1.35, || format!("{ok:.0} ok/s of {asked:.0}/s"));
    }
    Ok(faults.found(format!("exit {}, {} runs", said.exit, said.list("/runs").len())))
}
