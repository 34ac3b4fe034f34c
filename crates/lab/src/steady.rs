//! Waiting until a system that is ready is steady, too: all workers are up, and what they do at their start is done.
//!
//! A port accepts connections as soon as the first worker listens. Connections that are opened then may stay with it for good.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use crate::kept_process::KeptProcess;
use crate::probes::Stat;
use crate::processes;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Looks in a row in which no process came or went, and hardly any CPU time was used.
const QUIET_LOOKS: u32 = 3;
/// Looks in a row in which no process came or went, and the use of CPU time was flat: a server may be busy without any load.
const FLAT_LOOKS: u32 = 20;
/// CPU time in cores that counts as hardly any: one tick of the kernel's clock in each look.
const QUIET_CORES: f64 = 0.15;
/// How far the use of CPU time may be from that of the look before to be flat: a share of it, and cores.
const FLAT_SHARE: f64 = 0.2;
const FLAT_CORES: f64 = 0.25;

/// How long the start of a system waited for it to be steady, and how it stood then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady {
    /// How long it waited.
    pub waited: Duration,
    /// Processes in the last look.
    pub processes: u32,
    /// Processes that came or went between looks.
    pub changes: u32,
    /// CPU time per second between the last two looks.
    pub cores_used: f64,
    /// Whether it was steady before the limit was reached.
    pub is_steady: bool,
}

/// The processes of a system at one instant.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    /// CPU time by process: a number and a start name one for good.
    ticks: BTreeMap<(u32, u64), u64>,
    /// Whether any of them runs, is ready to run, or waits for a disk.
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

/// What looks in a row have shown so far.
#[derive(Debug, Default)]
struct Course {
    quiet: u32,
    flat: u32,
    changes: u32,
    cores_used: f64,
}

impl Course {
    /// Takes in a look that came `over` after the one before. Says whether the system is steady.
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

/// Waits until the system is steady, for `within` at most. `stop`: there is no point in waiting any longer.
pub(crate) fn wait(kept: &[&KeptProcess], within: Duration, stop: &dyn Fn() -> bool) -> Steady {
    let keepers: Vec<u32> = kept.iter().map(|kept| kept.keeper_pid()).collect();
    let begun = Instant::now();
    let (mut last, mut at) = (Snapshot::below(&keepers), begun);
    let mut course = Course::default();
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

    /// The number of looks until the system is steady; `None` if it is not after all of them.
    fn looks_until_steady(snapshots: &[Snapshot]) -> Option<usize> {
        let mut course = Course::default();
        let mut pairs = snapshots.windows(2);
        pairs.position(|pair| course.note(&pair[0], &pair[1], PAUSE)).map(|place| place + 1)
    }

    #[test]
    fn idle_system_is_steady_after_three_looks() {
        let looks = vec![snapshot(&[(7, 5), (8, 2)], false); 5];
        assert_eq!(looks_until_steady(&looks), Some(3));
    }

    #[test]
    fn process_that_comes_or_goes_begins_the_wait_again() {
        let one = || snapshot(&[(7, 5)], false);
        let two = || snapshot(&[(7, 5), (8, 0)], false);
        assert_eq!(looks_until_steady(&[one(), one(), one(), two(), two(), two(), two()]), Some(6));
        assert_eq!(looks_until_steady(&[two(), two(), two(), one(), one(), one(), one()]), Some(6));
    }

    #[test]
    fn worker_that_uses_cpu_time_or_waits_for_a_disk_is_not_up_yet() {
        let importing: Vec<Snapshot> = (0..19).map(|look| snapshot(&[(7, 1), (8, look * 9)], true)).collect();
        assert_eq!(looks_until_steady(&importing), None);
        let reading = vec![snapshot(&[(7, 1)], true); 19];
        assert_eq!(looks_until_steady(&reading), None);
    }

    #[test]
    fn system_that_is_busy_without_load_is_steady_after_two_seconds() {
        let spinning: Vec<Snapshot> = (0..30).map(|look| snapshot(&[(7, look * 10)], true)).collect();
        let looks = looks_until_steady(&spinning).expect("it is flat");
        assert!((20..=21).contains(&looks), "{looks}");
    }
}
