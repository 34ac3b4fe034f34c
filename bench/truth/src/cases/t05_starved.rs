//! T5: a client that is short of CPU is reported as such. A server that stops is not mistaken for a starved client.

use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use harness::child::Child;
use harness::cores::two_cores;
use harness::group::Group;
use harness::program::on_path;

use crate::bench::Bench;
use crate::flags::Profile;
use crate::grade::{Finding, Grade};
use crate::server::{Server, hold};
use crate::tool::{Output, run_unstarved};

const TIMEOUT: Duration = Duration::from_secs(60);
const OPEN: [&str; 6] = ["--rate=200/s", "-c", "200", "-d", "4s", "--threads=1"];
const CLOSED: [&str; 5] = ["-c", "8", "-d", "4s", "--threads=1"];
/// CPU quota of a starved client, in cores.
const STARVED_QUOTA: f64 = 0.1;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 20);
    let healthy = bench.profile.pick(2, 19);
    // A load of 200 requests per second leaves most of the CPU idle, so these attempts run in parallel.
    let together = |planted: &str, needed, one: &(dyn Fn() -> Result<Finding, String> + Sync)| {
        Grade::of("T5", planted, needed, bench.attempt_in_parallel(tries, |_| one()))
    };
    let mut grades = thread::scope(|scope| {
        let client = scope
            .spawn(|| together("client stopped 200 ms of every second", tries, &|| stopped_client(bench)));
        let server = scope.spawn(|| {
            together("server stopped 200 ms of every second", tries, &|| {
                check_undisturbed(stopped_server, bench)
            })
        });
        let nothing = scope
            .spawn(|| together("nothing, open load", healthy, &|| check_undisturbed(healthy_open, bench)));
        [client, server, nothing]
            .into_iter()
            .map(|graded| graded.join().unwrap_or_else(|_| Grade::broken("T5", "it panicked")))
            .collect::<Vec<_>>()
    });
    // These attempts pin server and client to cores, so they run one at a time.
    let alone = |planted: &str, needed, one: &dyn Fn() -> Result<Finding, String>| {
        Grade::of("T5", planted, needed, (0..tries).map(|_| bench.attempt(one)).collect())
    };
    grades.push(alone("a spinner on the client's core", tries, &|| spinner(bench)));
    grades.push(alone("nothing, closed load", healthy, &|| check_undisturbed(healthy_closed, bench)));
    const QUOTA: &str = "client with a tenth of a core";
    grades.push(match Group::make(STARVED_QUOTA) {
        Ok(group) => {
            let one = |_| bench.attempt(|| starved(&group, bench));
            Grade::of("T5", QUOTA, tries, (0..tries).map(one).collect())
        }
        Err(why) => Grade::skipped_case("T5", QUOTA, why),
    });
    grades
}

/// Checks that a run with an undisturbed client is not invalid. The short profile repeats runs that the machine itself starved. The
/// full profile does not, because its error rate counts.
fn check_undisturbed(one: fn(&Bench) -> Result<Output, String>, bench: &Bench) -> Result<Finding, String> {
    let said = match bench.profile {
        Profile::Short => run_unstarved(|| one(bench)),
        Profile::Full => one(bench),
    };
    check_not_invalid(&said?)
}

fn stopped_client(bench: &Bench) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=2000", server.url);
    let mut command = Command::new(&bench.tenbin);
    command.arg(&url).args(OPEN);
    let said = bench.run_while(&mut command, TIMEOUT, |client| {
        let begun = Instant::now();
        while client.ended()?.is_none() && begun.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(800));
            if let Some(pid) = client.pid() {
                hold(pid, Duration::from_millis(200));
            }
        }
        Ok(())
    });
    check_called_starved(&said?)
}

/// Runs a busy loop on the client's core. The server has another core, so that only the client is short of CPU.
fn spinner(bench: &Bench) -> Result<Finding, String> {
    let pinned = Pinned::new()?;
    let server = pinned.server(bench)?;
    let mut spinner = pinned.on_client();
    spinner.args(["sh", "-c", "while :; do :; done"]);
    let spinning = Child::start(&mut spinner)?;
    let said = pinned.load(bench, &format!("{}/status", server.url), &CLOSED);
    drop(spinning);
    check_called_starved(&said?)
}

fn healthy_closed(bench: &Bench) -> Result<Output, String> {
    let pinned = Pinned::new()?;
    let server = pinned.server(bench)?;
    pinned.load(bench, &format!("{}/status", server.url), &CLOSED)
}

fn healthy_open(bench: &Bench) -> Result<Output, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=2000", server.url);
    let mut command = Command::new(&bench.tenbin);
    command.arg(&url).args(OPEN);
    bench.run(&mut command, TIMEOUT)
}

fn stopped_server(bench: &Bench) -> Result<Output, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=2000", server.url);
    let mut command = Command::new(&bench.tenbin);
    command.arg(&url).args(OPEN);
    thread::scope(|scope| {
        let load = scope.spawn(|| bench.run(&mut command, TIMEOUT));
        while !load.is_finished() {
            thread::sleep(Duration::from_millis(800));
            server.hold(Duration::from_millis(200));
        }
        load.join().unwrap_or_else(|_| Err("it panicked".to_owned()))
    })
}

fn starved(group: &Group, bench: &Bench) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let mut command = group.command(&bench.tenbin);
    command.arg(format!("{}/status", server.url)).args(CLOSED);
    check_called_starved(&bench.run(&mut command, TIMEOUT)?)
}

/// Checks that a run names a starved client as the cause, and is invalid, or suspect with bounds of its figures.
fn check_called_starved(said: &Output) -> Result<Finding, String> {
    let (verdict, codes) = said.validity();
    let is_named = codes.iter().any(|code| {
        code.starts_with("generator") || ["wake_lag", "throttled", "steal"].contains(&code.as_str())
    });
    let is_bounded = said.at("/validity/bounds/mean_us/low").is_ok() && said.exit == 0;
    let is_invalid = verdict == "invalid" && said.exit == 4;
    let is_right = is_named && (is_invalid || verdict == "suspect" && is_bounded);
    Ok(Finding::new(is_right, format!("{verdict} ({})", codes.join(" "))))
}

fn check_not_invalid(said: &Output) -> Result<Finding, String> {
    let (verdict, codes) = said.validity();
    Ok(Finding::new(verdict != "invalid", format!("{verdict} ({})", codes.join(" ")).replace(" ()", "")))
}

/// Cores to which the server and the client are pinned.
struct Pinned {
    taskset: PathBuf,
    server: usize,
    client: usize,
}

impl Pinned {
    fn new() -> Result<Self, String> {
        let taskset = on_path("taskset").ok_or("there is no taskset; install util-linux")?;
        let cores = two_cores().map_err(|error| error.to_string())?;
        Ok(Self { taskset, server: cores.server, client: cores.client })
    }

    fn on_client(&self) -> Command {
        let mut command = Command::new(&self.taskset);
        command.args(["-c", &self.client.to_string()]);
        command
    }

    fn server(&self, bench: &Bench) -> Result<Server, String> {
        Server::start_on(bench, &[], &self.taskset, self.server)
    }

    fn load(&self, bench: &Bench, url: &str, load: &[&str]) -> Result<Output, String> {
        let mut command = self.on_client();
        command.arg(&bench.tenbin).arg(url).args(load);
        bench.run(&mut command, TIMEOUT)
    }
}
