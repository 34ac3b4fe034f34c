//! Observes how long the threads of a system run while no load is on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Time for which threads are observed. The kernel updates the time of a running thread at its ticks, every 1 to 10 ms.
const WINDOW: Duration = Duration::from_millis(50);
/// Maximum number of threads that are read.
const THREADS_MAX: usize = 4_096;

/// Observes the threads of these processes for 50 ms. Returns the share of the time for which the busiest one ran or was ready for a
/// core, which others may have used, from 0 to 1. `None` without threads, with too many, or if the kernel counts no time of threads.
pub fn busiest_thread_at_rest(processes: &BTreeSet<u32>) -> Option<f64> {
    let since = Instant::now();
    let before = ready_ns(processes.iter().copied())?;
    thread::sleep(WINDOW.saturating_sub(since.elapsed()));
    let over_ns = since.elapsed().as_nanos() as f64;
    let after = ready_ns(processes.iter().copied())?;
    let grown = after.iter().filter_map(|(thread, ns)| Some(ns.saturating_sub(*before.get(thread)?)));
    Some((grown.max()? as f64 / over_ns).min(1.0))
}

/// Time for which each thread has run or waited for a core so far, in nanoseconds.
fn ready_ns(processes: impl Iterator<Item = u32>) -> Option<BTreeMap<u32, u64>> {
    let mut threads = BTreeMap::new();
    for process in processes {
        for entry in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(|id| id.parse::<u32>().ok()) else { continue };
            let Ok(text) = fs::read_to_string(entry.path().join("schedstat")) else { continue };
            let mut times = text.split(' ').map_while(|ns| ns.parse::<u64>().ok());
            threads.extend(times.next().map(|ran| (id, ran.saturating_add(times.next().unwrap_or(0)))));
            if threads.len() > THREADS_MAX {
                return None;
            }
        }
    }
    (!threads.is_empty()).then_some(threads)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// Shell that runs a script until it is dropped.
    struct Shell(Child);

    impl Shell {
        fn start(script: &str) -> Self {
            Self(Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().expect("a shell"))
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn thread_that_computes_without_a_load_is_seen() {
        assert_eq!(busiest_thread_at_rest(&BTreeSet::from([u32::MAX])), None);
        // Other tests leave only part of a core to the shell that computes.
        for (script, range) in [("while :; do :; done", 0.05..=1.0), ("read -r line", 0.0..=0.05)] {
            harness::quiet::assert_measured(|| {
                let shell = Shell::start(script);
                std::thread::sleep(WINDOW);
                let ran =
                    busiest_thread_at_rest(&BTreeSet::from([shell.0.id()])).expect("threads are counted");
                assert!(range.contains(&ran), "{script}: {ran}");
            });
        }
    }
}
