//! Feeds a fixed, reproducible number of mutated inputs to each parser of untrusted input.
//!
//! `HOSTILE_INPUTS` sets the number of inputs of each kind, and `HOSTILE_SEED` the random seed.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, panic, thread};

use hostile::{Mutator, Target};

/// Default number of inputs of each kind.
const INPUTS: u64 = 20_000;
/// Time after which an input counts as hanging. Long enough for any busy machine.
const HANG: Duration = Duration::from_secs(120);
/// Maximum resident memory of the process, in KiB.
const RSS_MAX_KIB: u64 = 1024 * 1024;

#[test]
fn any_input_is_handled_in_bounded_time_and_memory() {
    let (inputs, seed) = (number("HOSTILE_INPUTS", INPUTS), number("HOSTILE_SEED", 1));
    let targets = hostile::targets();
    // Two kinds at a time, so that the slow kind does not run alone at the end.
    let queue = Mutex::new(targets.iter().rev().collect::<Vec<_>>());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(target) = take(&queue) {
                    if let Err(input) = feed(target, inputs, seed) {
                        failed.lock().expect("no panic here").push((target.name, input));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic here").into_iter();
    let failed: Vec<String> = failed
        .map(|(name, input)| format!("{name}, HOSTILE_SEED={seed}: \"{}\"", input.escape_ascii()))
        .collect();
    assert!(failed.is_empty(), "handled wrongly:\n{}", failed.join("\n"));
    let peak_kib = peak_rss_kib();
    assert!(peak_kib < RSS_MAX_KIB, "took {peak_kib} KiB of memory");
}

fn take<'a>(queue: &Mutex<Vec<&'a Target>>) -> Option<&'a Target> {
    queue.lock().expect("no panic here").pop()
}

/// Feeds the seeds, then mutated inputs. Returns the first input that makes the target panic.
fn feed(target: &Target, inputs: u64, seed: u64) -> Result<(), Vec<u8>> {
    let current = Mutex::new((Instant::now(), Vec::new()));
    let (fed, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let current = &current;
        scope.spawn(move || watch(target.name, current, &end));
        // Ends the watch: it is dropped before the scope joins the thread.
        let _fed = fed;
        let mut mutator = Mutator::new(&target.seeds, seed);
        let seeds = target.seeds.iter().cloned();
        for input in seeds.chain((0..inputs).map(|_| mutator.draw())) {
            *current.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), input.clone());
            panic::catch_unwind(panic::AssertUnwindSafe(|| (target.feed)(&input))).map_err(|_| input)?;
        }
        Ok(())
    })
}

/// Exits the process if one input takes longer than [`HANG`], because a hanging thread cannot be stopped. Returns when the sender
/// of `end` is dropped.
fn watch(name: &str, current: &Mutex<(Instant, Vec<u8>)>, end: &mpsc::Receiver<()>) {
    while end.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        let (since, input) = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if since.elapsed() > HANG {
            let text = format!("{name}: hangs on the input \"{}\"\n", input.escape_ascii());
            let _ = fs::write("/dev/stderr", text);
            std::process::exit(101);
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |text| text.parse().expect("a whole number"))
}

fn peak_rss_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is there");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
