//! Waits until a ready system is steady: all workers run, and their startup work is done.
//!
//! A port accepts connections as soon as the first worker listens. Connections opened at that time may remain with that worker for
//! good.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use crate::kept_process::KeptProcess;
use crate::probes::Stat;
use crate::processes;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Consecutive quiet looks for a steady state. In a quiet look no process starts or ends, none is busy, and CPU use is at most
/// `QUIET_CORES`.
const QUIET_LOOKS: u32 = 3;
/// Consecutive flat looks for a steady state. In a flat look no process starts or ends, and CPU use is constant: a server may be
/// busy without load.
const FLAT_LOOKS: u32 = 20;
/// Max CPU use in cores of a quiet look: one clock tick per look.
const QUIET_CORES: f64 = 0.15;
/// Max change of CPU use since the previous look in a flat look, as a share. `FLAT_CORES` is the max change in cores; the larger of
/// the two applies.
const FLAT_SHARE: f64 = 0.2;
const FLAT_CORES: f64 = 0.25;

/// Result of the wait for a steady state at the start of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady {
    /// Duration of the wait.
    pub waited: Duration,
    /// Number of processes in the last look.
    pub processes: u32,
    /// Number of processes that started or ended between looks.
    pub changes: u32,
    /// CPU use between the last two looks, in cores.
    pub cores_used: f64,
    /// Whether the system was steady before the timeout.
    pub is_steady: bool,
}

/// Processes of a system at one point in time.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    /// CPU ticks by process. Pid and start tick identify a process for good.
    ticks: BTreeMap<(u32, u64), u64>,
    /// Whether any process runs, is ready to run, or waits for a disk.
    is_any_busy: bool,
}

impl Snapshot {
    fn below(keepers: &[u32]) -> Self {
        let mut all = Self::default();
        for seen in keepers.iter().flat_map(|keeper| processes::below(*keeper)) {
            let stat = fs::read_to_string(format!("/proc/{}/stat", seen.pid)).ok();
            if let Some(stat) = stat.as_deref().and_then(Stat::parse) {
                all.ticks.insert((seen.pid, stat.start_ticks), stat.user_ticks + stat.sys_ticks);
                all.is_any_busy |= stat.is_busy;
            }
        }
        all
    }
}

/// Progress toward a steady state.
#[derive(Debug, Default)]
struct SteadyProgress {
    quiet: u32,
    flat: u32,
    changes: u32,
    cores_used: f64,
}

impl SteadyProgress {
    /// Adds a look that came `over` after the one before. Returns whether the system is steady.
    fn note(&mut self, before: &Snapshot, now: &Snapshot, over: Duration) -> bool {
        let gone = before.ticks.keys().filter(|key| !now.ticks.contains_key(*key)).count();
        let new = now.ticks.keys().filter(|key| !before.ticks.contains_key(*key)).count();
        let grown = |(key, ticks): (&(u32, u64), &u64)| {
            ticks.saturating_sub(before.ticks.get(key).copied().unwrap_or_default())
        };
        let ticks: u64 = now.ticks.iter().map(grown).sum();
        let per_s = rustix::param::clock_ticks_per_second() as f64;
        let cores_used = ticks as f64 / per_s / over.as_secs_f64().max(f64::EPSILON);
        let is_same = gone + new == 0;
        let is_quiet = is_same && cores_used <= QUIET_CORES && !now.is_any_busy;
        let is_near = (cores_used - self.cores_used).abs() <= FLAT_CORES.max(FLAT_SHARE * self.cores_used);
        self.quiet = if is_quiet { self.quiet + 1 } else { 0 };
        self.flat = if is_same && is_near { self.flat + 1 } else { 0 };
        self.changes += (gone + new) as u32;
        self.cores_used = cores_used;
        self.quiet >= QUIET_LOOKS || self.flat >= FLAT_LOOKS
    }
}

/// Waits up to `within` until the system is steady. Stops waiting if `stop` returns true.
pub(crate) fn wait(kept: &[&KeptProcess], within: Duration, stop: &dyn Fn() -> bool) -> Steady {
    let keepers: Vec<u32> = kept.iter().map(|kept| kept.keeper_pid()).collect();
    let begun = Instant::now();
    let (mut last, mut at) = (Snapshot::below(&keepers), begun);
    let mut course = SteadyProgress::default();
    let mut is_steady = false;
    while !is_steady && begun.elapsed() < within && !stop() {
        std::thread::sleep(PAUSE);
        let (now, now_at) = (Snapshot::below(&keepers), Instant::now());
        is_steady = course.note(&last, &now, now_at.saturating_duration_since(at));
        (last, at) = (now, now_at);
    }
    Steady {
        waited: begun.elapsed(),
        processes: last.ticks.len() as u32,
        changes: course.changes,
        cores_used: course.cores_used,
        is_steady,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(processes: &[(u32, u64)], is_any_busy: bool) -> Snapshot {
        Snapshot { ticks: processes.iter().map(|(pid, ticks)| ((*pid, 1), *ticks)).collect(), is_any_busy }
    }

    /// Number of looks until the system is steady. `None` if it is not steady after all of them.
    fn looks_until_steady(snapshots: &[Snapshot]) -> Option<usize> {
        let mut course = SteadyProgress::default();
        let mut pairs = snapshots.windows(2);
        pairs.position(|pair| course.note(&pair[0], &pair[1], PAUSE)).map(|place| place + 1)
    }

    #[test]
    fn idle_system_is_steady_after_three_looks() {
        let looks = vec![snapshot(&[(7, 5), (8, 2)], false); 5];
        assert_eq!(looks_until_steady(&looks), Some(3));
    }

    #[test]
    fn start_or_end_of_a_process_restarts_the_wait() {
        let one = || snapshot(&[(7, 5)], false);
        let two = || snapshot(&[(7, 5), (8, 0)], false);
        assert_eq!(looks_until_steady(&[one(), one(), one(), two(), two(), two(), two()]), Some(6));
        assert_eq!(looks_until_steady(&[two(), two(), two(), one(), one(), one(), one()]), Some(6));
    }

    #[test]
    fn worker_that_uses_cpu_or_disk_is_not_steady() {
        let importing: Vec<Snapshot> = (0..19).map(|look| snapshot(&[(7, 1), (8, look * 9)], true)).collect();
        assert_eq!(looks_until_steady(&importing), None);
        let reading = vec![snapshot(&[(7, 1)], true); 19];
        assert_eq!(looks_until_steady(&reading), None);
    }

    #[test]
    fn busy_system_without_load_is_steady_after_two_seconds() {
        let spinning: Vec<Snapshot> = (0..30).map(|look| snapshot(&[(7, look * 10)], true)).collect();
        let looks = looks_until_steady(&spinning).expect("it is flat");
        assert!((20..=21).contains(&looks), "{looks}");
    }
}
