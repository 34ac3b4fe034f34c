//! What the threads of a system waited for while requests were measured, and how its control group held it back.

use std::collections::{BTreeMap, BTreeSet};

use evidence::Run;
use stats::median;

use crate::core_time::{Seconds, read_in};
use crate::group_io::LimitedIo;

/// Of the readings of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Threads that can carry requests, by the process of the plan. Its name may hold anything: escape it.
    pub workers: BTreeMap<String, Workers>,
    /// Of the periods of its quota, the share in which the system was held back; `None` without a period.
    pub throttled_periods: Option<f64>,
    /// The share of the seconds in which a control group met its limit of memory, or was full of what it may have; `None` if not
    /// read.
    pub memory_limit_met: Option<f64>,
    /// Pages that were read again soon after they were dropped, for each second; `None` if not read.
    pub refaulted_pages_per_s: Option<f64>,
    /// What a control group did on a disk, nearest to its limit; `None` without a limit.
    pub limited_io: Option<LimitedIo>,
    /// How many cores threads that collect garbage used, the median of all seconds; `None` if no such thread is known.
    pub collecting_cores: Option<f64>,
    /// By the process of the plan, the share of the seconds in which it had more or fewer processes than in the one before. Its name
    /// may hold anything: escape it.
    pub changing: BTreeMap<String, f64>,
}

/// What was read of the memory of one control group in one second.
#[derive(Default)]
struct Memory {
    hits: Option<f64>,
    charged_bytes: f64,
    limit_bytes: f64,
}

impl Memory {
    fn add(&mut self, metric: &str, value: f64) {
        match metric {
            "memory_limit_hits" => self.hits = Some(value),
            "memory_charged_bytes" => self.charged_bytes = value,
            _ => self.limit_bytes = value,
        }
    }

    fn is_read(&self) -> bool {
        self.hits.is_some() || self.limit_bytes > 0.0
    }

    /// Kernels do not count every time that a group gives back pages in order to get others.
    fn is_at_limit(&self) -> bool {
        let is_full = self.limit_bytes > 0.0 && self.charged_bytes >= FULL * self.limit_bytes;
        is_full || self.hits.is_some_and(|hits| hits > 0.0)
    }
}

/// Of how many seconds it was read, and in how many the group was at its limit.
fn seconds_at_limit<'a>(seconds: impl Iterator<Item = &'a Memory>) -> [f64; 2] {
    let read: Vec<&Memory> = seconds.filter(|memory| memory.is_read()).collect();
    let at_limit = read.iter().filter(|memory| memory.is_at_limit()).count();
    [read.len() as f64, at_limit as f64]
}

/// Of the memory that a control group may have.
const FULL: f64 = 0.97;

/// Mean numbers of threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workers {
    /// By state: `futex`, `timer`, …
    pub states: BTreeMap<String, f64>,
    /// At the address of one futex.
    pub same_futex: f64,
    /// Those of `futex` that wait for some time at most; `None` if not known.
    pub timed_futex: Option<f64>,
    /// In reads from a dependency, by its address.
    pub dependencies: BTreeMap<String, f64>,
    /// Connections that the process has opened, by the address of the dependency.
    pub connections: BTreeMap<String, f64>,
}

/// States in which a thread works, or holds something up, rather than waiting for another thread or for work.
const AT_WORK: [&str; 7] = ["on_cpu", "runnable", "disk", "socket_write", "connect", "pipe_write", "timer"];

/// States of them in which it sleeps, and holds a request.
const ASLEEP: [&str; 4] = ["disk", "connect", "pipe_write", "timer"];

/// The label of readings of threads that can carry requests.
const WORKER: &str = "worker";

/// Threads of a server with a thread for each user, connection, or request, as a share of these.
const THREADS_FOR_EACH: std::ops::RangeInclusive<f64> = 0.8..=1.25;

impl Workers {
    /// In one state.
    pub fn in_state(&self, state: &str) -> f64 {
        self.states.get(state).copied().unwrap_or(0.0)
    }

    /// In any state.
    pub fn all(&self) -> f64 {
        self.states.values().sum()
    }

    /// At work, or holding something up.
    pub fn at_work(&self) -> f64 {
        AT_WORK.iter().map(|state| self.in_state(state)).sum()
    }

    /// Asleep in what a request waits for outside of the process, and in timers.
    pub fn asleep(&self) -> f64 {
        let asleep: f64 = ASLEEP.iter().map(|state| self.in_state(state)).sum();
        asleep + self.dependencies.values().sum::<f64>()
    }

    /// Whether the process has a thread for each of so many users, connections, or requests in flight, more or less.
    pub(crate) fn has_one_for_each(&self, carried: f64) -> bool {
        THREADS_FOR_EACH.contains(&(self.all() / carried))
    }

    /// On a core, or ready for one.
    pub fn computing(&self) -> f64 {
        self.in_state("on_cpu") + self.in_state("runnable")
    }

    fn add(&mut self, metric: &str, label: &str, value: f64) {
        match (metric, label) {
            ("threads_dependency_read", address) => {
                *self.dependencies.entry(address.to_owned()).or_default() += value;
            }
            ("dependency_connections", address) => {
                *self.connections.entry(address.to_owned()).or_default() += value;
            }
            ("threads_futex_same", _) => self.same_futex += value,
            ("threads_futex_timed", _) => self.timed_futex = Some(self.timed_futex.unwrap_or(0.0) + value),
            (metric, WORKER) => {
                if let Some(state) = metric.strip_prefix("threads_") {
                    *self.states.entry(state.to_owned()).or_default() += value;
                }
            }
            _ => {}
        }
    }

    /// Threads are sampled in more seconds than connections are counted.
    fn over(mut self, seconds: f64, counted_seconds: f64) -> Self {
        let threads = self.states.values_mut().chain(self.dependencies.values_mut());
        threads.for_each(|threads| *threads /= seconds);
        self.connections.values_mut().for_each(|connections| *connections /= counted_seconds.max(1.0));
        self.same_futex /= seconds;
        self.timed_futex = self.timed_futex.map(|threads| threads / seconds);
        self
    }

    /// The medians of several runs.
    pub(crate) fn middle(of: &[&Self]) -> Self {
        let middles = |of_one: fn(&Self) -> &BTreeMap<String, f64>| {
            let mut names: Vec<&String> = of.iter().flat_map(|one| of_one(one).keys()).collect();
            names.sort_unstable();
            names.dedup();
            let middle = |name: &String| {
                let threads = of.iter().map(|one| of_one(one).get(name).copied().unwrap_or(0.0));
                Some((name.clone(), median(threads)?))
            };
            names.into_iter().filter_map(middle).collect()
        };
        Self {
            states: middles(|one| &one.states),
            same_futex: median(of.iter().map(|one| one.same_futex)).unwrap_or(0.0),
            timed_futex: median(of.iter().filter_map(|one| one.timed_futex)),
            dependencies: middles(|one| &one.dependencies),
            connections: middles(|one| &one.connections),
        }
    }
}

impl Waits {
    /// Nothing where nothing was sampled.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> Self {
        // Of each process the seconds with samples, those in which connections were counted, and what they add up to.
        let mut sampled: BTreeMap<&str, (f64, BTreeSet<u64>, Workers)> = BTreeMap::new();
        let mut periods: [f64; 2] = [0.0; 2];
        let mut refaulted: [f64; 2] = [0.0; 2];
        let mut memory: BTreeMap<(&str, u64), Memory> = BTreeMap::new();
        let mut gc_s: BTreeMap<u64, f64> = BTreeMap::new();
        let mut processes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for reading in read_in(run, seconds).filter(|reading| reading.value.is_finite()) {
            let value = reading.value;
            match reading.metric {
                "cpu_quota_periods" => periods[0] += value,
                "cpu_quota_periods_throttled" => periods[1] += value,
                metric @ ("memory_limit_hits" | "memory_charged_bytes" | "memory_limit_bytes") => {
                    memory.entry((reading.subject, reading.second)).or_default().add(metric, value);
                }
                "cpu_gc_s" => *gc_s.entry(reading.second).or_default() += value,
                "memory_refaulted_pages" => refaulted = [refaulted[0] + 1.0, refaulted[1] + value],
                "processes" => processes.entry(reading.subject).or_default().push(value),
                "thread_samples" => sampled.entry(reading.subject).or_default().0 += 1.0,
                metric if metric.starts_with("threads_") => {
                    sampled.entry(reading.subject).or_default().2.add(metric, reading.label, value);
                }
                metric @ "dependency_connections" => {
                    let (_, counted, workers) = sampled.entry(reading.subject).or_default();
                    counted.insert(reading.second);
                    workers.add(metric, reading.label, value);
                }
                _ => {}
            }
        }
        let share = |[whole, part]: [f64; 2]| (whole > 0.0).then(|| part / whole);
        let sampled_names: BTreeSet<&str> = sampled.keys().copied().collect();
        let workers = sampled.into_iter().filter(|(_, (seconds, ..))| *seconds > 0.0);
        let over = |(name, (seconds, counted, sum)): (&str, (f64, BTreeSet<u64>, Workers))| {
            (name.to_owned(), sum.over(seconds, counted.len() as f64))
        };
        Self {
            workers: workers.map(over).collect(),
            throttled_periods: share(periods),
            memory_limit_met: share(seconds_at_limit(memory.values())),
            refaulted_pages_per_s: share(refaulted),
            limited_io: LimitedIo::of(run),
            collecting_cores: median(gc_s.into_values()),
            changing: processes
                .into_iter()
                .filter(|(subject, _)| sampled_names.contains(subject))
                .filter_map(|(subject, counts)| Some((subject.to_owned(), changing(&counts)?)))
                .collect(),
        }
    }
}

/// Of the steps from one second to the next, those with another count; `None` without a step.
fn changing(counts: &[f64]) -> Option<f64> {
    let steps = counts.len().checked_sub(1).filter(|steps| *steps > 0)?;
    let changed = counts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    Some(changed as f64 / steps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(read: &[(&str, &str, f64)]) -> Workers {
        let mut workers = Workers::default();
        read.iter().for_each(|(metric, label, value)| workers.add(metric, label, *value));
        workers
    }

    #[test]
    fn only_threads_that_can_carry_requests_count() {
        let workers = workers(&[
            ("threads_futex", "worker", 14.0),
            ("threads_futex", "idle", 100.0),
            ("threads_on_cpu", "worker", 1.0),
            ("threads_futex_same", "worker", 12.0),
            ("threads_dependency_read", "127.0.0.1:5432", 3.0),
            ("dependency_connections", "127.0.0.1:5432", 4.0),
        ])
        .over(2.0, 1.0);
        assert_eq!((workers.all(), workers.in_state("futex"), workers.at_work()), (7.5, 7.0, 0.5));
        assert_eq!((workers.same_futex, workers.dependencies["127.0.0.1:5432"]), (6.0, 1.5));
        assert_eq!(workers.connections["127.0.0.1:5432"], 4.0);
        assert_eq!(workers.in_state("disk"), 0.0);
    }

    #[test]
    fn several_runs_have_a_middle() {
        let of = |futex| workers(&[("threads_futex", "worker", futex)]);
        let middle = Workers::middle(&[&of(1.0), &of(5.0), &Workers::default()]);
        assert_eq!(middle.in_state("futex"), 1.0);
        assert_eq!(Workers::middle(&[]), Workers::default());
    }
}
