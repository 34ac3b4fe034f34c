//! Measures the cost of observing: the CPU time of the watch thread next to an active system.
//!
//! `cargo run --release -p lab --example cost_of_a_look [processes] [seconds] [command to observe instead]`

#![allow(clippy::print_stdout)]

use std::fs;
use std::io::Result;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lab::probes::{Subject, Watch};

fn main() -> Result<()> {
    let mut given = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (processes, seconds) = (given.next().unwrap_or(30_u64), given.next().unwrap_or(10_u64));
    // Starts pairs of processes: one that sleeps, and one that wakes up once a second.
    let script = format!(
        "for i in $(seq {}); do timeout {} tail -n 0 -f /dev/null & done; wait",
        processes / 2,
        seconds + 2
    );
    let command = std::env::args().nth(3).map(|command| format!("timeout {} {command}; true", seconds + 2));
    let script = command.unwrap_or(script);
    let mut keeper = Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).spawn()?;
    thread::sleep(Duration::from_secs(1));
    let subject = Subject { roots: vec![("app".into(), keeper.id())], ports: vec![1], ..Subject::default() };
    let watch = Watch::begin(subject);
    let before_s = watch_thread_cpu_s();
    thread::sleep(Duration::from_secs(seconds));
    let used_s = watch_thread_cpu_s() - before_s;
    let asked = Instant::now();
    let (looks, missing) = watch.end();
    let end_took = asked.elapsed();
    let found = looks.iter().flat_map(|look| &look.readings);
    let found = found.filter(|reading| reading.subject == "app" && reading.metric == "processes");
    let most = found.map(|reading| reading.value).fold(0.0, f64::max);
    let of_app =
        looks.last().into_iter().flat_map(|look| &look.readings).filter(|reading| reading.subject == "app");
    let of_threads = of_app.filter(|reading| reading.metric.starts_with("thread"));
    of_threads.for_each(|reading| println!("{} {} {:.3}", reading.metric, reading.label, reading.value));
    println!("{most} processes, {} looks, {} readings in a look", looks.len(), looks[0].readings.len());
    println!(
        "{:.3} ms a look, {:.3} % of a core",
        used_s * 1e3 / seconds as f64,
        used_s / seconds as f64 * 100.0
    );
    println!("ended within {end_took:?}");
    missing.iter().for_each(|missing| println!("{}: {}", missing.probe, missing.because));
    keeper.wait()?;
    Ok(())
}

/// CPU time of the watch thread, in seconds.
fn watch_thread_cpu_s() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let watch = tasks
        .map(|task| task.path())
        .find(|task| fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "watch"));
    let schedstat =
        watch.and_then(|task| fs::read_to_string(task.join("schedstat")).ok()).unwrap_or_default();
    schedstat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
