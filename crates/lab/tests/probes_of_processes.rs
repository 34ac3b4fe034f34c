//! Tests that the usage of processes is measured from outside, even if they start and end meanwhile.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use lab::probes::{Completion, Look, NotAvailable, Subject, Watch};

/// Max number of looks that a test waits for.
const LOOKS_MAX: usize = 20;

/// A shell that acts as a keeper. Its descendants are measured; it ends when its input ends.
struct Keeper {
    shell: Child,
    said: BufReader<ChildStdout>,
}

impl Keeper {
    fn start(script: &str) -> Self {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = command.spawn().unwrap();
        let said = BufReader::new(shell.stdout.take().unwrap());
        Self { shell, said }
    }

    fn watch(&self) -> Watch {
        Watch::begin(Subject { roots: vec![("app".into(), self.shell.id())], ..Subject::default() })
    }

    /// Waits for a line of output.
    fn says(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// CPU time of its ended descendants as the kernel reports it, in seconds.
    fn children_s(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.shell.id())).unwrap();
        let fields = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().skip(13).take(2);
        let ticks: u64 = fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64
    }

    /// Closes its input, and waits for its end.
    fn ends(mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().unwrap();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Ok(None) = self.shell.try_wait() {
            self.shell.kill().unwrap();
            self.shell.wait().unwrap();
        }
    }
}

fn value(look: &Look, metric: &str) -> Option<f64> {
    let of_app = look.readings.iter().find(|reading| reading.subject == "app" && reading.metric == metric)?;
    let of_all = look.readings.iter().find(|reading| reading.subject == "system" && reading.metric == metric);
    assert_eq!(of_all.unwrap().value, of_app.value, "there is but one process: {metric}");
    Some(of_app.value)
}

fn sum(looks: &[Look], metrics: &[&str]) -> f64 {
    looks.iter().flat_map(|look| metrics.iter().filter_map(|metric| value(look, metric))).sum()
}

/// Collects looks until one satisfies `is_so`.
fn until(watch: &Watch, mut is_so: impl FnMut(&Look) -> bool) -> Vec<Look> {
    let mut looks: Vec<Look> = Vec::new();
    let mut completion = Completion::default();
    while looks.len() < LOOKS_MAX {
        for look in completion.complete(watch.take()) {
            let is_done = is_so(&look);
            looks.push(look);
            if is_done {
                return looks;
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come: {:#?}", looks.last());
}

/// Ends the watch, and completes the remaining looks with the values of the last one.
fn end(watch: Watch) -> (Vec<Look>, Vec<NotAvailable>) {
    let (looks, missing) = watch.end();
    (Completion::default().complete(looks), missing)
}

#[test]
fn cpu_time_is_counted_once_while_it_is_used() {
    let mut keeper =
        Keeper::start("read go; sh -c 'timeout 2 sh -c \"while :; do :; done\"'; echo done; read end");
    let watch = keeper.watch();
    writeln(&mut keeper);
    let mut looks = until(&watch, |look| value(look, "cpu_user_s").unwrap() > 0.05);
    assert!(value(looks.last().unwrap(), "processes").unwrap() >= 1.0);
    assert_eq!(keeper.says(), "done");
    let (rest, missing) = end(watch);
    looks.extend(rest);
    let (seen_s, true_s) = (sum(&looks, &["cpu_user_s", "cpu_sys_s"]), keeper.children_s());
    assert!((seen_s - true_s).abs() < 0.06, "{seen_s} of {true_s}");
    let busiest_s = sum(&looks, &["cpu_busiest_thread_s"]);
    assert!(busiest_s > 0.05 && busiest_s < true_s + 0.06, "{busiest_s} of {true_s}");
    assert!(missing.iter().all(|missing| missing.probe != "processes of the system"), "{missing:?}");
    keeper.ends();
}

#[test]
fn children_between_two_looks_are_counted() {
    let mut keeper = Keeper::start(
        "read go; sh -c 'i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done'; echo done; read end",
    );
    let watch = keeper.watch();
    writeln(&mut keeper);
    assert_eq!(keeper.says(), "done");
    let (looks, _) = end(watch);
    let (seen_s, true_s) = (sum(&looks, &["cpu_user_s", "cpu_sys_s"]), keeper.children_s());
    assert!(true_s > 0.02, "{true_s}");
    assert!((seen_s - true_s).abs() < 0.06, "{seen_s} of {true_s}");
    keeper.ends();
}

#[test]
fn disk_bytes_include_ended_children() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("written");
    let write = format!("dd if=/dev/zero of='{}' bs=1M count=6 conv=fsync", file.display());
    let mut keeper =
        Keeper::start(&format!("read go; sh -c \"{write}; {write}; sleep 1.5\"; echo done; read end"));
    let watch = keeper.watch();
    writeln(&mut keeper);
    assert_eq!(keeper.says(), "done");
    let (looks, missing) = end(watch);
    // Counter of the keeper's children. `None` if the kernel does not count disk I/O.
    let io = std::fs::read_to_string(format!("/proc/{}/io", keeper.shell.id())).unwrap_or_default();
    let told = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse::<f64>().ok());
    match told {
        Some(bytes) => assert_eq!(sum(&looks, &["disk_written_bytes"]), bytes),
        None => assert!(missing.iter().any(|missing| missing.probe == "disk of the system"), "{missing:?}"),
    }
    keeper.ends();
}

#[test]
fn memory_threads_files_and_switches_are_measured() {
    let mut keeper = Keeper::start("(head -c 50000000 /dev/zero; read end) | tail -c 50000000 > /dev/null");
    let watch = keeper.watch();
    let looks = until(&watch, |look| value(look, "rss_bytes").unwrap() > 50e6);
    let last = looks.last().unwrap();
    assert!(value(last, "threads").unwrap() >= 2.0);
    assert!(value(last, "open_files").unwrap() >= 4.0);
    assert_eq!(value(last, "swap_bytes").map(|bytes| bytes < 60e6), Some(true));
    assert!(sum(&looks, &["switches_voluntary", "switches_involuntary"]) >= 1.0);
    let (rest, missing) = end(watch);
    let has_pss = looks.iter().chain(&rest).any(|look| value(look, "pss_bytes").is_some());
    assert!(has_pss || missing.iter().any(|missing| missing.probe == "pss of the system"), "{missing:?}");
    drop(keeper.shell.stdin.take());
    keeper.ends();
}

#[test]
fn processes_that_end_between_looks_do_no_harm() {
    let mut keeper = Keeper::start(
        "for i in 1 2 3 4 5 6 7 8; do sleep 60 & pids=\"$pids $!\"; done; echo up; read go; kill $pids; wait; echo done; read end",
    );
    assert_eq!(keeper.says(), "up");
    let watch = keeper.watch();
    until(&watch, |look| value(look, "processes") == Some(8.0));
    writeln(&mut keeper);
    assert_eq!(keeper.says(), "done");
    let looks = until(&watch, |look| value(look, "processes") == Some(0.0));
    assert!(sum(&looks, &["cpu_user_s", "cpu_sys_s"]) < 1.0);
    assert_eq!(value(looks.last().unwrap(), "rss_bytes"), Some(0.0));
    keeper.ends();
    let (looks, _) = end(watch);
    assert!(looks.last().unwrap().readings.iter().any(|reading| reading.subject == "generator"));
}

#[test]
fn keepers_are_measured_separately_and_a_missing_one_has_no_processes() {
    let (mut one, mut two) =
        (Keeper::start("sleep 60 & echo $!; read end; kill $!"), Keeper::start("echo up; read end"));
    one.says();
    two.says();
    let roots = [("one", one.shell.id()), ("two", two.shell.id()), ("none", u32::MAX)];
    let roots = roots.map(|(name, pid)| (name.to_owned(), pid)).to_vec();
    let (looks, _) = Watch::begin(Subject { roots, ..Subject::default() }).end();
    let processes = |subject: &str| {
        let mut readings = looks[0].readings.iter();
        readings.find(|r| r.subject == subject && r.metric == "processes").map(|reading| reading.value)
    };
    assert_eq!(["one", "two", "none", "system"].map(processes), [Some(1.0), Some(0.0), Some(0.0), Some(1.0)]);
    one.ends();
    two.ends();
}

/// Sends a line that lets the script continue.
fn writeln(keeper: &mut Keeper) {
    use std::io::Write;
    keeper.shell.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
}
