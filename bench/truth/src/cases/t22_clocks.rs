//! T22: a server or a generator whose clock shows the wrong date. No measured figure depends on the date. Tests of the engine
//! (`worker/late_reading.rs`) cover kernel timestamps when the clock steps during the load.

use std::process::Command;
use std::time::Duration;

use harness::program::on_path;

use crate::bench::Bench;
use crate::broken::{Faults, check_figures};
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::{Output, run_unstarved};

const OPEN: &[&str] = &["--rate=200/s", "-c", "400"];
const CLOSED: &[&str] = &["-c", "4"];

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let Some(faketime) = on_path("faketime") else {
        return vec![Grade::broken("T22", "there is no faketime: run scripts/systems.sh")];
    };
    let tries = bench.profile.pick(1, 5);
    let faketime = faketime.display().to_string();
    let mut grades = Vec::new();
    for (model, load) in [("open", OPEN), ("closed", CLOSED)] {
        for (whose, server, generator) in [("server", "-100d", ""), ("generator", "", "+100d")] {
            let one = |_| {
                let said = run_unstarved(|| wrong(bench, &faketime, server, generator, load))?;
                right(&said, model == "open")
            };
            let planted = format!("{whose} a hundred days off: {model} load");
            grades.push(Grade::of("T22", planted, tries, bench.attempt_in_parallel(tries, one)));
        }
    }
    grades
}

fn under(faketime: &str, offset: &str, program: &std::path::Path) -> Command {
    if offset.is_empty() {
        return Command::new(program);
    }
    let mut command = Command::new(faketime);
    command.args(["-f", offset]).arg(program);
    command
}

fn wrong(
    bench: &Bench,
    faketime: &str,
    server: &str,
    generator: &str,
    load: &[&str],
) -> Result<Output, String> {
    let mut command = under(faketime, server, &bench.target);
    let server = Server::start_as(bench, command.args(["target", "--listen", "127.0.0.1:0"]))?;
    let mut command = under(faketime, generator, &bench.tenbin);
    command.arg(format!("{}/hold?mean_us=20000", server.url)).args(load).args([
        "--warm-up=500ms",
        "-d",
        "3s",
    ]);
    bench.run(&mut command, Duration::from_secs(60))
}

/// Checks that the run is complete, and that its service times are the planted 20 ms.
fn right(said: &Output, is_open: bool) -> Result<Finding, String> {
    let mut faults = Faults::default();
    let words = check_figures(said, is_open, &mut faults)?;
    let (least_ms, median_ms) =
        (said.at("/service_time_us/min")? / 1e3, said.at("/service_time_us/p50")? / 1e3);
    faults.check((20.0..21.0).contains(&median_ms) && least_ms >= 20.0, || {
        format!("served in {least_ms:.1} to {median_ms:.1} ms")
    });
    faults.check(said.word("/verdict") == "complete", || "not called complete".to_owned());
    Ok(faults.found(words))
}
