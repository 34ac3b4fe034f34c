//! T5: a client that gets too little of the processor is called so, and a server that stops is not mistaken for one.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use harness::child::Child;
use harness::cores::two_cores;
use harness::program::on_path;

use crate::bench::Bench;
use crate::flags::Profile;
use crate::grade::{Finding, Grade};
use crate::server::{Server, hold};
use crate::tool::{Output, fit};

const PATIENCE: Duration = Duration::from_secs(60);
const OPEN: [&str; 6] = ["--rate=200/s", "-c", "200", "-d", "4s", "--threads=1"];
const CLOSED: [&str; 5] = ["-c", "8", "-d", "4s", "--threads=1"];
/// Where groups of processes are under version 2 of Linux' groups, the file that tells it is that version, and how a tenth of a
/// core is written.
const GROUPS: &str = "/sys/fs/cgroup";
const IS_VERSION_2: &str = "cgroup.controllers";
const TENTH: [(&str, &str); 1] = [("cpu.max", "10000 100000")];
/// The same under version 1.
const GROUPS_1: &str = "/sys/fs/cgroup/cpu";
const TENTH_1: [(&str, &str); 2] = [("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")];

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 20);
    let healthy = bench.profile.pick(2, 19);
    // 200 requests a second leave most of the machine to others: those tries go side by side.
    let together = |planted: &str, needed, one: &(dyn Fn() -> Result<Finding, String> + Sync)| {
        Grade::of("T5", planted, needed, bench.side_by_side(tries, |_| one()))
    };
    let mut grades = thread::scope(|scope| {
        let client = scope
            .spawn(|| together("client stopped 200 ms of every second", tries, &|| stopped_client(bench)));
        let server = scope.spawn(|| {
            together("server stopped 200 ms of every second", tries, &|| unharmed(stopped_server, bench))
        });
        let nothing =
            scope.spawn(|| together("nothing, open load", healthy, &|| unharmed(healthy_open, bench)));
        [client, server, nothing]
            .into_iter()
            .map(|graded| graded.join().unwrap_or_else(|_| Grade::broken("T5", "it panicked")))
            .collect::<Vec<_>>()
    });
    // Each of these needs its cores.
    let alone = |planted: &str, needed, one: &dyn Fn() -> Result<Finding, String>| {
        Grade::of("T5", planted, needed, (0..tries).map(|_| one()).collect())
    };
    grades.push(alone("a spinner on the client's core", tries, &|| spinner(bench)));
    grades.push(alone("nothing, closed load", healthy, &|| unharmed(healthy_closed, bench)));
    const QUOTA: &str = "client with a tenth of a core";
    grades.push(match Group::make() {
        Ok(group) => {
            let one = |_| starved(&group, bench);
            Grade::of("T5", QUOTA, tries, (0..tries).map(one).collect())
        }
        Err(why) => Grade::left_out("T5", QUOTA, why),
    });
    grades
}

/// What a client that nothing was done to is called. With few tries one that the machine itself starved is made again; with many
/// the rate is what counts.
fn unharmed(one: fn(&Bench) -> Result<Output, String>, bench: &Bench) -> Result<Finding, String> {
    let said = match bench.profile {
        Profile::Short => fit(|| one(bench)),
        Profile::Full => one(bench),
    };
    not_invalid(&said?)
}

fn stopped_client(bench: &Bench) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=2000", server.url);
    let mut command = Command::new(&bench.tenbin);
    command.arg(&url).args(OPEN);
    let said = bench.run_while(&mut command, PATIENCE, |client| {
        let begun = Instant::now();
        while client.ended()?.is_none() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(800));
            if let Some(pid) = client.pid() {
                hold(pid, Duration::from_millis(200));
            }
        }
        Ok(())
    });
    called_invalid(&said?)
}

/// The server has another core, so that only the client is short of time.
fn spinner(bench: &Bench) -> Result<Finding, String> {
    let pinned = Pinned::new()?;
    let server = pinned.server(bench)?;
    let mut spinner = pinned.on_client();
    spinner.args(["sh", "-c", "while :; do :; done"]);
    let spinning = Child::start(&mut spinner)?;
    let said = pinned.load(bench, &format!("{}/status", server.url), &CLOSED);
    drop(spinning);
    called_invalid(&said?)
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
    bench.run(&mut command, PATIENCE)
}

fn stopped_server(bench: &Bench) -> Result<Output, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=2000", server.url);
    let mut command = Command::new(&bench.tenbin);
    command.arg(&url).args(OPEN);
    thread::scope(|scope| {
        let load = scope.spawn(|| bench.run(&mut command, PATIENCE));
        while !load.is_finished() {
            thread::sleep(Duration::from_millis(800));
            server.hold(Duration::from_millis(200));
        }
        load.join().unwrap_or_else(|_| Err("it panicked".to_owned()))
    })
}

fn starved(group: &Group, bench: &Bench) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let script = format!("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", group.0.display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(&bench.tenbin).arg(format!("{}/status", server.url)).args(CLOSED);
    called_invalid(&bench.run(&mut command, PATIENCE)?)
}

fn called_invalid(said: &Output) -> Result<Finding, String> {
    let (verdict, codes) = said.validity();
    Ok(Finding::new(verdict == "invalid" && said.exit == 4, format!("{verdict} ({})", codes.join(" "))))
}

fn not_invalid(said: &Output) -> Result<Finding, String> {
    let (verdict, codes) = said.validity();
    Ok(Finding::new(verdict != "invalid", format!("{verdict} ({})", codes.join(" ")).replace(" ()", "")))
}

/// Server and client on a core each.
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
        bench.run(&mut command, PATIENCE)
    }
}

/// A group of processes that together get a tenth of a core. It is removed when it is dropped.
struct Group(PathBuf);

impl Group {
    fn make() -> Result<Self, String> {
        let is_version_2 = Path::new(GROUPS).join(IS_VERSION_2).exists();
        let (root, quota) = if is_version_2 { (GROUPS, &TENTH[..]) } else { (GROUPS_1, &TENTH_1[..]) };
        let path = Path::new(root).join(format!("tenbin-truth-{}", std::process::id()));
        let cannot = |error| format!("no group of processes with a quota can be made here: {error}");
        fs::create_dir(&path).map_err(cannot)?;
        let group = Self(path);
        for (file, value) in quota {
            // Opened, not made: a folder that is no group has no such file.
            let mut file = OpenOptions::new().write(true).open(group.0.join(file)).map_err(cannot)?;
            file.write_all(value.as_bytes()).map_err(cannot)?;
        }
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It can only be removed once nothing is left in it, and what is left is no harm.
        let _ = fs::remove_dir(&self.0);
    }
}
