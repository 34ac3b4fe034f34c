//! T23: the generator is stopped for a second while the server is healthy. The run is invalid, or the outage does not include the stop.
//! The server is never blamed.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use harness::child::Child;

use crate::bench::Bench;
use crate::broken::{Faults, check_figures};
use crate::grade::{Finding, Grade};
use crate::plan::{Plan, system};
use crate::server::{Server, hold};

const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(1, 5);
    let of = |planted: &str, one: &(dyn Fn(u32) -> Result<Finding, String> + Sync)| {
        Grade::of(
            "T23",
            format!("generator stopped: {planted}"),
            tries,
            bench.attempt_in_parallel(tries, one),
        )
    };
    vec![
        of("open load", &|_| single(bench, &["--rate=200/s", "-c", "400"])),
        of("closed load", &|_| single(bench, &["-c", "4"])),
        of("study of equals", &|number| study(bench, number)),
    ]
}

fn single(bench: &Bench, load: &[&str]) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let mut command = Command::new(&bench.tenbin);
    command.arg(format!("{}/hold?mean_us=20000", server.url)).args(load);
    command.args(["--warm-up=500ms", "-d", "4s", "--timeout=3s"]);
    let said = bench.run_while(&mut command, TIMEOUT, |client| {
        thread::sleep(Duration::from_secs(2));
        stop(client, Duration::from_secs(1));
        Ok(())
    })?;
    let mut faults = Faults::default();
    let words = check_figures(&said, load[0].starts_with("--rate"), &mut faults)?;
    let (validity, _) = said.validity();
    let longest_s = said.at("/outage/longest_s").unwrap_or_default();
    faults.check(said.word("/verdict") != "degraded", || "called degraded".to_owned());
    faults.check(validity == "invalid" || longest_s < 0.5, || format!("an outage of {longest_s:.2} s"));
    Ok(faults.found(format!("{validity}, {words}")))
}

fn stop(client: &Child, lasting: Duration) {
    if let Some(pid) = client.pid() {
        hold(pid, lasting);
    }
}

/// Compares two equal targets while the generator is stopped repeatedly.
fn study(bench: &Bench, number: u32) -> Result<Finding, String> {
    let plan = Plan {
        question: "Are two equal targets called equal?",
        path: "/hold?mean_us=20000",
        load: "{ rate: 200/s, connections: 400, warm-up: 300ms, for: 1200ms, timeout: 1s }",
        systems: &(system("one", "", "") + &system("other", "", "")),
        compare: "{ by: throughput, matters: 3%, blocks: 6, pilot: 0 }",
        seed: bench.seed_of(23, number),
    };
    let file = plan.write(bench)?;
    let mut command = Command::new(&bench.tenbin);
    let said = bench.run_while(command.arg("run").arg(file), TIMEOUT, |client| {
        let begun = Instant::now();
        while client.ended()?.is_none() && begun.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(1_900));
            stop(client, Duration::from_millis(600));
        }
        Ok(())
    })?;
    let mut faults = Faults::default();
    let runs = said.list("/runs");
    let invalid = runs.iter().filter(|run| run["validity"]["verdict"] == "invalid").count();
    let blamed = runs.iter().filter(|run| run["verdict"] == "degraded").count();
    faults.check(blamed == 0, || format!("{blamed} called degraded"));
    for pair in said.list("/comparison/pairs") {
        faults.check(pair["verdict"] != "differs", || format!("called different, {}", pair["ratio"]));
    }
    Ok(faults.found(format!("{} runs, {invalid} invalid", runs.len())))
}
