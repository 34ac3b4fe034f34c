//! T16: a server that is frozen across the end of the warm-up. It answers requests of the warm-up within the window, which must not
//! make it look faster than the load.

use std::thread;
use std::time::Duration;

use crate::bench::Bench;
use crate::broken::{self, BrokenServer, Faults, check_figures};
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::run_unstarved;

const FROZEN: BrokenServer = BrokenServer {
    case: "T16",
    what: "frozen across the end of the warm-up",
    single: "exec {target}",
    act: |server| {
        server.wait_for_load();
        thread::sleep(Duration::from_millis(500));
        server.hold(Duration::from_secs(2));
    },
    in_study: "exec {target} --stall-after 200ms --stall 900ms",
    // About 0.5 s of the 2 s freeze lies in the warm-up.
    gone: 0.22..=0.38,
    outage_s: Some(1.2..=2.2),
    open_flags: "",
    connections: "20",
    only_full: &[],
};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(1, 5);
    let mut grades = broken::grades(bench, &FROZEN);
    for (model, words) in
        [("open", ["--rate=200/s", "-c", "20"].as_slice()), ("closed", &["-c", "4", "--think=5ms"])]
    {
        let control = bench.attempt_in_parallel(tries, |_| healthy(bench, words));
        grades.push(Grade::of("T16", format!("nothing: {model} load"), tries, control));
    }
    grades
}

/// Checks that a healthy server is reported as complete and available.
fn healthy(bench: &Bench, load: &[&str]) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=20000", server.url);
    let more = ["--warm-up=1s", "-d", "5s", "--timeout=3s"];
    let words: Vec<&str> = [url.as_str()].into_iter().chain(load.iter().copied()).chain(more).collect();
    let said = run_unstarved(|| bench.tenbin(&words, Duration::from_secs(60)))?;
    let mut faults = Faults::default();
    let words = check_figures(&said, load[0].starts_with("--rate"), &mut faults)?;
    faults.check(said.word("/verdict") == "complete", || "not called complete".to_owned());
    faults.check(said.at("/outage/gone_share").unwrap_or_default() < 0.02, || "called gone".to_owned());
    Ok(faults.found(words))
}
