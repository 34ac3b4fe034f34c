//! Tests that the waits of threads are measured from outside.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lab::probes::{Look, NotAvailable, Subject, Watch};

use crate::support::{LONG, SUBJECT};

/// Shell that acts as a keeper, with a program below it in which all threads do identical work.
struct Keeper(Child);

impl Drop for Keeper {
    fn drop(&mut self) {
        // The shell ends its child when its input ends.
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

fn keeper(what: &str) -> (Keeper, BufReader<std::process::ChildStdout>) {
    let script = format!("'{SUBJECT}' threads {what} < /dev/null & read end; kill $!; wait");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut shell = command.spawn().unwrap();
    let said = BufReader::new(shell.stdout.take().unwrap());
    (Keeper(shell), said)
}

fn value(look: &Look, metric: &str, label: &str) -> f64 {
    let mut of_app = look.readings.iter().filter(|reading| reading.subject == "app");
    of_app
        .find(|reading| reading.metric == metric && reading.label == label)
        .map_or(0.0, |reading| reading.value)
}

/// Observes the program until a look satisfies `is_so`.
fn until(what: &str, is_so: impl Fn(&Look) -> bool) -> (Look, Vec<NotAvailable>) {
    let (keeper, _said) = keeper(what);
    let watch = Watch::begin(Subject { roots: vec![("app".into(), keeper.0.id())], ..Subject::default() });
    let end = Instant::now() + LONG;
    let mut last = None;
    while Instant::now() < end {
        for look in watch.take() {
            if is_so(&look) {
                let (_, missing) = watch.end();
                return (look, missing);
            }
            last = Some(look);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let of_app = last.into_iter().flat_map(|look| look.readings).filter(|reading| reading.subject == "app");
    panic!("it did not come: {:#?}", of_app.collect::<Vec<_>>());
}

#[test]
fn threads_at_one_lock_wait_at_one_futex() {
    let (look, missing) = until("lock", |look| value(look, "threads_futex", "worker") > 5.5);
    // One of the eight threads holds the lock, and sleeps.
    assert!(value(&look, "threads_futex_same", "worker") > 5.0, "{look:?}");
    assert!(value(&look, "threads_futex", "worker") < 7.6, "{look:?}");
    assert!(value(&look, "threads_timer", "worker") > 0.3, "{look:?}");
    assert!(value(&look, "thread_samples", "") >= 2.0, "{look:?}");
    // A mutex of Rust stores that it is held and waited for, and not by whom.
    let looks = look.readings.iter().filter(|reading| reading.metric == "lock_holder_looks");
    let held =
        looks.filter(|reading| reading.label.starts_with("unknown mutex ")).map(|reading| reading.value);
    assert!(held.sum::<f64>() >= 1.0, "{look:?}");
    assert_eq!(value(&look, "thread_coverage_share", ""), 1.0);
    assert!(missing.iter().all(|missing| !missing.probe.contains("thread")), "{missing:?}");
}

/// Mean number of threads in all states.
fn threads_in_all_states(look: &Look) -> f64 {
    let of_app = look.readings.iter().filter(|reading| reading.subject == "app");
    let roles = ["worker", "listener", "runtime", "idle"];
    let states = of_app.filter(|reading| {
        reading.metric.starts_with("threads_")
            && !["threads_futex_same", "threads_futex_timed"].contains(&reading.metric)
            && roles.contains(&reading.label.as_str())
    });
    states.map(|reading| reading.value).sum()
}

#[test]
fn states_of_all_threads_add_up_to_their_number() {
    // Eight threads, the main thread, and the one that ends the program after a minute.
    let (look, _) = until("sleep", |look| (threads_in_all_states(look) - 10.0).abs() < 0.5);
    assert!(value(&look, "threads_timer", "worker") > 7.0, "{look:?}");
    assert!(value(&look, "threads_futex", "worker") < 1.0, "{look:?}");
    assert_eq!(value(&look, "threads", ""), 10.0);
}

#[test]
fn threads_that_never_sleep_run_or_wait_for_a_core() {
    let busy =
        |look: &Look| value(look, "threads_on_cpu", "worker") + value(look, "threads_runnable", "worker");
    let (look, _) = until("spin", |look| busy(look) > 7.0);
    assert!(value(&look, "threads_on_cpu", "worker") > 0.1, "{look:?}");
    assert!(value(&look, "threads_runnable", "worker") > 0.1, "eight threads on fewer cores: {look:?}");
}

#[test]
fn pipe_readers_socket_readers_and_listeners_are_distinguished() {
    for (what, metric, role, threads) in [
        ("pipe", "threads_pipe_read", "worker", 7.0),
        ("socket", "threads_socket_read", "worker", 7.0),
        ("accept", "threads_accept", "listener", 0.7),
    ] {
        let (look, _) = until(what, |look| value(look, metric, role) > threads);
        assert!(value(&look, "threads_futex", "worker") < 1.0, "{what}: {look:?}");
    }
}

/// Starts threads with a connection, and watches them. Returns the address of its other end, too.
fn watched_with_port(what: &str) -> (Keeper, String, Watch) {
    let (keeper, mut said) = keeper(what);
    let mut port = String::new();
    said.read_line(&mut port).unwrap();
    let roots = vec![("app".into(), keeper.0.id())];
    let watch = Watch::begin(Subject { roots, ..Subject::default() });
    (keeper, format!("127.0.0.1:{}", port.trim()), watch)
}

#[test]
fn reads_from_a_dependency_have_its_address() {
    let (_keeper, label, watch) = watched_with_port("socket");
    let end = Instant::now() + LONG;
    let look = loop {
        let looks = watch.take();
        let is_read = |look: &Look| value(look, "threads_dependency_read", &label) > 6.5;
        // Connections are counted only as often as their cost allows.
        let is_counted = |look: &Look| value(look, "dependency_connections", &label) > 0.0;
        if let Some(look) = looks.into_iter().find(|look| is_read(look) && is_counted(look)) {
            break look;
        }
        assert!(Instant::now() < end, "no thread was seen in a read from {label}");
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(value(&look, "dependency_connections", &label), 1.0, "{look:?}");
}

#[test]
fn calls_have_traffic_awaited_replies_and_the_program_that_answers() {
    let (_keeper, label, watch) = watched_with_port("call");
    let end = Instant::now() + LONG;
    let look = loop {
        let is_called = |look: &Look| value(look, "dependency_segments_sent", &label) >= 3.0;
        if let Some(look) = watch.take().into_iter().find(is_called) {
            break look;
        }
        assert!(Instant::now() < end, "no call to {label} was seen");
        thread::sleep(Duration::from_millis(20));
    };
    let of = |metric: &str| value(&look, metric, &label);
    assert_eq!(of("dependency_connections"), 1.0, "{look:?}");
    // Each question and each answer is one byte.
    assert!((of("dependency_segments_sent") - of("dependency_segments_received")).abs() <= 1.0, "{look:?}");
    assert!(of("dependency_received_bytes") >= 2.0, "{look:?}");
    let awaited = of("dependency_awaited");
    assert!(awaited > 0.0 && awaited <= 1.0, "{look:?}");
    let program = value(&look, "dependency_program", &format!("{label} app"));
    assert_eq!(program, 1.0, "a process of the system has its name in the plan: {look:?}");
}

#[test]
fn stopped_thread_is_distinguished_from_its_system_call() {
    let (keeper, _said) = keeper("sleep");
    let watch = Watch::begin(Subject { roots: vec![("app".into(), keeper.0.id())], ..Subject::default() });
    let end = Instant::now() + LONG;
    let until = |is_so: &dyn Fn(&Look) -> bool| {
        while Instant::now() < end {
            if watch.take().iter().any(is_so) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    };
    assert!(until(&|look| value(look, "threads_timer", "worker") > 7.0));
    assert_eq!(signal(keeper.0.id(), "STOP"), 1, "the program below the shell");
    // A stopped worker does not become idle.
    assert!(until(&|look| value(look, "threads_stopped", "worker") > 7.5));
    assert_eq!(signal(keeper.0.id(), "CONT"), 1);
    assert!(until(&|look| value(look, "threads_timer", "worker") > 7.0));
    drop(watch.end());
}

/// Sends a signal to the children of a process. Returns the number of children that got it.
fn signal(parent: u32, name: &str) -> usize {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    let send = |child: &str| Command::new("kill").args([&format!("-{name}"), child]).status().unwrap();
    children.split_ascii_whitespace().filter(|child| send(child).success()).count()
}
