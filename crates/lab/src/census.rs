//! CPU time of every process of the machine between two points in time, and the cores that a process may use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::in_words;
use crate::processes;

/// Max threads per process for which the affinity is read.
const THREADS_MAX: usize = 4_096;
/// Max number of ancestors that are followed.
const DEPTH_MAX: usize = 64;
/// Highest core number that a list may contain.
const CORE_MAX: usize = 4_096;

/// CPU time of every process at one point in time.
#[derive(Clone, Debug, Default)]
pub struct Census {
    processes: BTreeMap<u32, Entry>,
    /// Sum of the ticks of all cores, busy or idle. `None` if the kernel does not report it.
    cores_ticks: Option<u64>,
}

#[derive(Clone, Debug)]
struct Entry {
    parent: u32,
    started_ticks: u64,
    /// Ticks of the process itself.
    ticks: u64,
    /// Ticks of ended children that were waited for, including their own children.
    taken_over: u64,
    name: String,
}

/// CPU time of one process between two points in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// Process ID.
    pub pid: u32,
    /// Name, escaped for display.
    pub name: String,
    /// CPU time in seconds, including ended children.
    pub cpu_s: f64,
}

impl Census {
    /// Reads every visible process.
    pub fn now() -> Self {
        let entries = processes::pids().into_iter().filter_map(|pid| {
            let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, parse(&String::from_utf8_lossy(&stat))?))
        });
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self { processes: entries.collect(), cores_ticks: parse_cores(&stat) }
    }

    /// CPU time of each process since `earlier`, highest first. Processes without CPU time are omitted.
    pub fn since(&self, earlier: &Self) -> Vec<Used> {
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let known = self.known_before(earlier);
        let most = self.max_ticks_since(earlier);
        let mut used: Vec<Used> = self
            .processes
            .iter()
            .filter_map(|(pid, entry)| {
                let before = earlier.processes.get(pid).filter(|before| before.is_same_as(entry));
                let [own, taken_over] = before.map_or([0, 0], |before| [before.ticks, before.taken_over]);
                let taken_over = entry.taken_over.saturating_sub(taken_over);
                let since = taken_over.saturating_sub(known.get(pid).copied().unwrap_or(0));
                let own = entry.ticks.saturating_sub(own);
                // A sum above the max means that the parent reaped a child that the earlier census missed, so the child's whole CPU time
                // was added.
                let ticks =
                    Some(own.saturating_add(since)).filter(|ticks| *ticks <= most).unwrap_or(own.min(most));
                let cpu_s = ticks as f64 / ticks_per_s;
                (ticks > 0).then(|| Used { pid: *pid, name: entry.name.clone(), cpu_s })
            })
            .collect();
        used.sort_by(|one, other| other.cpu_s.total_cmp(&one.cpu_s));
        used
    }

    /// Max ticks that any process can have used since `earlier`.
    fn max_ticks_since(&self, earlier: &Self) -> u64 {
        let ticks = self.cores_ticks.zip(earlier.cores_ticks).map(|(now, then)| now.saturating_sub(then));
        ticks.filter(|ticks| *ticks > 0).unwrap_or(u64::MAX)
    }

    /// Ticks that ended processes had used at the time of `earlier`, by the processes that may have inherited them. These are all
    /// living ancestors, because an orphan is reparented to an ancestor.
    fn known_before(&self, earlier: &Self) -> BTreeMap<u32, u64> {
        let mut known = BTreeMap::new();
        let is_there =
            |pid: &u32, entry: &Entry| self.processes.get(pid).is_some_and(|now| now.is_same_as(entry));
        for ended in
            earlier.processes.iter().filter(|(pid, entry)| !is_there(pid, entry)).map(|(_, ended)| ended)
        {
            let mut above = ended.parent;
            // The bound guards against a cycle of parents.
            for _ in 0..DEPTH_MAX {
                let Some(entry) = earlier.processes.get(&above) else { break };
                if is_there(&above, entry) {
                    let used: &mut u64 = known.entry(above).or_default();
                    *used = used.saturating_add(ended.ticks).saturating_add(ended.taken_over);
                }
                above = entry.parent;
            }
        }
        known
    }

    /// Returns these processes and all their descendants.
    pub fn families(&self, roots: &[u32]) -> BTreeSet<u32> {
        let mut found: BTreeSet<u32> = roots.iter().copied().collect();
        // A child may have a lower pid than its parent, so repeat until no process is added.
        loop {
            let more: Vec<u32> = self
                .processes
                .iter()
                .filter(|(pid, entry)| found.contains(&entry.parent) && !found.contains(pid))
                .map(|(pid, _)| *pid)
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }
}

impl Entry {
    /// Whether two entries of a PID belong to one process.
    fn is_same_as(&self, other: &Self) -> bool {
        self.started_ticks == other.started_ticks
    }
}

/// Path of the executable of a process. `None` if it is hidden or the process has ended.
pub fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Name of a process, escaped for display. `None` if it has ended.
pub fn name(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(in_words::escaped(String::from_utf8_lossy(&name).trim()))
}

/// Command line of a process, as separate words.
pub fn words(pid: u32) -> Vec<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Cores that any thread of a process may use. Empty if it has ended.
pub fn cores(pid: u32) -> BTreeSet<usize> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().take(THREADS_MAX);
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok())
        .filter_map(|status| {
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some(parse_list(list))
        })
        .flatten()
        .collect()
}

/// Parses a list of cores such as `0-1,4`.
fn parse_list(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (last <= CORE_MAX).then_some(first..=last)
    });
    ranges.flatten().collect()
}

/// Sums the first line of `/proc/stat`. Guest time is part of the first two fields already.
fn parse_cores(stat: &str) -> Option<u64> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().take(8);
    fields
        .map(|field| field.parse::<u64>().ok())
        .try_fold(0u64, |sum, ticks| Some(sum.saturating_add(ticks?)))
}

/// Parses `/proc/PID/stat`. The name is in parentheses and may contain any character. The state follows as field 3.
fn parse(stat: &str) -> Option<Entry> {
    let (front, fields) = stat.rsplit_once(')')?;
    let (_, name) = front.split_once('(')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().take(20).collect();
    let at = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Entry {
        parent: u32::try_from(at(4)?).ok()?,
        started_ticks: at(22)?,
        ticks: at(14)?.saturating_add(at(15)?),
        taken_over: at(16)?.saturating_add(at(17)?),
        name: in_words::escaped(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_counted_from_the_earlier_census() {
        let entry =
            |parent, ticks| Entry { parent, started_ticks: 5, ticks, taken_over: 0, name: "a".into() };
        let census =
            |list: &[(u32, Entry)]| Census { processes: list.iter().cloned().collect(), cores_ticks: None };
        let earlier = census(&[(7, entry(1, 100)), (8, entry(1, 50))]);
        let replaced = Entry { started_ticks: 6, ..entry(1, 30) };
        let now = census(&[(7, entry(1, 100)), (8, replaced), (9, entry(7, 200))]);
        let used: Vec<u32> = now.since(&earlier).iter().map(|used| used.pid).collect();
        assert_eq!(used, [9, 8], "most first, and not what did nothing");
        assert_eq!(now.families(&[7]), BTreeSet::from([7, 9]));
    }

    #[test]
    fn earlier_cpu_time_of_ended_child_is_not_counted_twice() {
        let entry = |parent, ticks, taken_over| {
            let name = "a".to_owned();
            Entry { parent, started_ticks: 5, ticks, taken_over, name }
        };
        let census =
            |list: &[(u32, Entry)]| Census { processes: list.iter().cloned().collect(), cores_ticks: None };
        let earlier = census(&[(7, entry(1, 10, 0)), (8, entry(7, 500, 20)), (9, entry(8, 300, 0))]);
        let now = census(&[(7, entry(1, 11, 850))]);
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(now.since(&earlier)[0].cpu_s, 31.0 / ticks_per_s);
    }

    #[test]
    fn no_process_uses_more_than_the_cores_offered() {
        let entry = |parent, started_ticks, ticks, taken_over| Entry {
            parent,
            started_ticks,
            ticks,
            taken_over,
            name: "a".to_owned(),
        };
        let census = |cores_ticks, list: &[(u32, Entry)]| Census {
            processes: list.iter().cloned().collect(),
            cores_ticks: Some(cores_ticks),
        };
        let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
        let used = |now: &Census, earlier: &Census| -> Vec<(u32, u64)> {
            let used = now.since(earlier).into_iter();
            used.map(|used| (used.pid, (used.cpu_s * ticks_per_s).round() as u64)).collect()
        };
        // Process 8 ended, and its child 9 was reparented to 1, ended as well, and was waited for there.
        let line =
            [(1, entry(0, 1, 5, 0)), (7, entry(1, 2, 5, 0)), (8, entry(7, 3, 5, 0)), (9, entry(8, 4, 90, 0))];
        let now = census(500, &[(1, entry(0, 1, 5, 93)), (7, entry(1, 2, 5, 5))]);
        assert_eq!(used(&now, &census(100, &line)), [(1, 0); 0]);
        // The PID of an ended child was reused by another process.
        let earlier = census(100, &[(7, entry(1, 2, 5, 0)), (9, entry(7, 4, 90, 0))]);
        let now = census(500, &[(7, entry(1, 2, 5, 95)), (9, entry(1, 50, 3, 0))]);
        assert_eq!(used(&now, &earlier), [(7, 5), (9, 3)]);
        // A child that ended during the earlier census is in neither.
        let earlier = census(100, &[(7, entry(1, 2, 5, 0))]);
        let now = census(500, &[(7, entry(1, 2, 17, 1_300))]);
        assert_eq!(used(&now, &earlier), [(7, 12)]);
    }

    #[test]
    fn this_process_is_in_the_census() {
        let this = std::process::id();
        let now = Census::now();
        assert!(now.processes.contains_key(&this) && now.cores_ticks.is_some_and(|ticks| ticks > 0));
        assert!(!cores(this).is_empty() && !words(this).is_empty() && program(this).is_some());
    }

    #[test]
    fn core_lists_and_stat_lines_are_parsed() {
        assert_eq!(parse_list("\t0-1,4\n"), [0, 1, 4]);
        for list in ["", "x", "3-1", "0-99999999999", "-"] {
            assert!(parse_list(list).is_empty(), "{list:?}");
        }
        assert_eq!(parse_cores("cpu  1 2 3 4 5 6 7 8 1000 0\ncpu0 9 9\n"), Some(36));
        assert!(parse_cores("cpu  1 x 3\n").is_none() && parse_cores("").is_none());
        let line = "7 (a) b) S 3 1 2 0 -1 0 1 2 3 4 10 20 30 40 20 0 3 0 98765 1";
        let entry = parse(line).unwrap();
        assert_eq!((entry.parent, entry.ticks, entry.taken_over), (3, 30, 70));
        assert_eq!((entry.started_ticks, entry.name.as_str()), (98_765, "a) b"));
        for at in 0..line.len() - 2 {
            assert!(parse(&line[..at]).is_none_or(|entry| entry.parent == 3));
        }
    }
}
