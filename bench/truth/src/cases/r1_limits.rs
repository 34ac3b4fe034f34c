//! R1: application servers with known limits. Each limit causes errors, and lifting the limit removes them.
//!
//! Needs nginx, Unicorn, and Passenger, which `scripts/systems.sh` installs.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use fixtures::processes_with;
use harness::figures;
use serde_json::Value;

use crate::bench::Bench;
use crate::broken::Faults;
use crate::grade::{Finding, Grade};
use crate::tool::check_counts;

const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/app-server-limits.yaml");
/// Time limit of the study, which takes about two minutes.
const TIMEOUT: Duration = Duration::from_secs(400);
/// Time limit for all processes to end after the study.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// System, variant with the limit, HTTP status that the limit causes, and variant without the limit.
const LIMITS: [(&str, &str, &str, &str); 3] = [
    ("passenger-queue", "queue=100", "503", "queue=0"),
    ("unicorn-backlog", "listen=unix backlog=16", "502", "listen=unix backlog=1024"),
    ("unicorn-timeout", "timeout=3", "502", "timeout=60"),
];
/// Min number of replies with the status of a limit.
const SHOWN_MIN: f64 = 5.0;
/// Number of ok answers that every run must exceed.
const OK_MIN: f64 = 50.0;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let found = bench.attempt_in_parallel(1, |_| study(bench));
    vec![Grade::of("R1", "real servers: limits show and are cured", 1, found)]
}

fn study(bench: &Bench) -> Result<Finding, String> {
    let home = bench.file("home");
    fs::create_dir(&home).map_err(|error| format!("cannot make {}: {error}", home.display()))?;
    let mut command = Command::new(&bench.tenbin);
    command.args(["run", PLAN, "--quick", "--store"]).arg(bench.file("sqlite")).env("HOME", &home);
    let said = bench.run(&mut command, TIMEOUT)?;
    let mut faults = Faults::default();
    faults.check(said.exit == 0, || format!("exit code {}", said.exit));
    let runs = said.list("/runs");
    runs.iter().try_for_each(|run| check_complete(run, &mut faults))?;
    for (system, limited, status, cured) in LIMITS {
        let (limited, cured) = (of(runs, system, limited)?, of(runs, system, cured)?);
        let shown = statuses(limited, status);
        faults.check(shown >= SHOWN_MIN, || format!("{system}: {}", limited["statuses"]));
        let rejected = figures::at(limited, "/outcomes/rejected")?;
        faults.check(status_errors(limited) == rejected, || {
            format!("{system}: {rejected} rejected, and {} errors of statuses", status_errors(limited))
        });
        let after = figures::at(cured, "/outcomes/rejected")?;
        faults.check(after == 0.0, || format!("{system}, cured: {}", cured["statuses"]));
    }
    // Over TCP, clients that find the backlog full retry, and nearly all succeed in time. A Unix socket refuses them.
    let over = |listen: &str| Ok::<_, String>(statuses(of(runs, "unicorn-backlog", listen)?, "502"));
    let (tcp, unix) = (over("listen=tcp backlog=16")?, over("listen=unix backlog=16")?);
    faults.check(tcp * 20.0 < unix, || {
        format!("full backlog: {tcp} refused over TCP, {unix} over a Unix socket")
    });
    let left = processes_left(&format!("HOME={}", home.display()));
    faults.check(left.is_empty(), || format!("processes {left:?} were left"));
    Ok(faults.found(format!("exit {}, {} runs", said.exit, runs.len())))
}

/// Checks that a run ended normally, that its counts add up, and that both processes of its system were monitored.
fn check_complete(run: &Value, faults: &mut Faults) -> Result<(), String> {
    check_counts(run)?;
    let place = &run["place"];
    // Some variants leave users without an answer for seconds, as the plan intends.
    let verdict = &run["verdict"];
    faults.check(verdict == "complete" || verdict == "degraded", || {
        format!("{place}: {verdict} {}", run["failure"])
    });
    let ok = figures::at(run, "/outcomes/ok")?;
    faults.check(ok > OK_MIN, || format!("{place}: {ok} ok"));
    let processes = run["system"]["processes"].as_array().map_or(0, Vec::len);
    faults.check(processes == 2, || format!("{place}: {processes} processes"));
    Ok(())
}

fn of<'a>(runs: &'a [Value], system: &str, variant: &str) -> Result<&'a Value, String> {
    let mut of_variant =
        runs.iter().filter(|run| run["place"]["system"] == system && run["place"]["variant"] == variant);
    of_variant.next().ok_or_else(|| format!("no run of {system} {variant}"))
}

/// Returns the number of replies with this status.
fn statuses(run: &Value, status: &str) -> f64 {
    run["statuses"][status].as_f64().unwrap_or(0.0)
}

/// Returns the number of errors caused by a status that the plan does not expect.
fn status_errors(run: &Value) -> f64 {
    let errors = run["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let of_status = errors.iter().filter(|error| error["class"] == "status");
    of_status.filter_map(|error| error["count"].as_f64()).sum()
}

/// Waits for processes with this environment variable to end, and returns the PIDs of those that are left.
fn processes_left(variable: &str) -> Vec<u32> {
    let begun = Instant::now();
    loop {
        let left = processes_with(variable);
        if left.is_empty() || begun.elapsed() > GONE_WITHIN {
            return left;
        }
        thread::sleep(Duration::from_millis(50));
    }
}
