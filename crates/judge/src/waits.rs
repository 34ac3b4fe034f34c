//! Waits of a system's threads while requests were measured, and limits of its control group.

use std::collections::{BTreeMap, BTreeSet};

use evidence::Run;
use stats::median;

use crate::core_time::{Seconds, readings_in};
use crate::group_io::LimitedIo;
use crate::held_lock::HeldLock;
use crate::jvm_time::JvmTime;

/// Waits from the readings of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// Threads that can carry requests, by process of the plan. Names come from outside: escape them.
    pub workers: BTreeMap<String, Workers>,
    /// Share of the periods of its CPU quota in which the system was throttled; `None` without a period.
    pub throttled_periods: Option<f64>,
    /// Share of seconds in which a control group reached its memory limit, or was nearly full; `None` if not sampled.
    pub memory_limit_met: Option<f64>,
    /// Refaulted pages per second (pages read again soon after eviction); `None` if not sampled.
    pub refaulted_pages_per_s: Option<f64>,
    /// Disk I/O of the control group that came nearest to its limit; `None` without a limit.
    pub limited_io: Option<LimitedIo>,
    /// Cores used by threads that collect garbage, the median of all seconds; `None` if no such thread is known.
    pub collecting_cores: Option<f64>,
    /// Share of seconds in which the number of processes changed since the previous second, by process of the plan.
    /// Names come from outside: escape them.
    pub changing: BTreeMap<String, f64>,
    /// Lock with the most waiting threads; `None` if no thread was seen to wait for one.
    pub lock: Option<HeldLock>,
    /// Counters of Java virtual machines, by process of the plan. Names come from outside: escape them.
    pub jvms: BTreeMap<String, JvmTime>,
}

/// Memory readings of one control group in one second.
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

    /// Returns whether the group is at its limit. A nearly full group counts, because kernels do not count every
    /// reclaim.
    fn is_at_limit(&self) -> bool {
        let is_full =
            self.limit_bytes > 0.0 && self.charged_bytes >= MEMORY_FULL_MIN_SHARE * self.limit_bytes;
        is_full || self.hits.is_some_and(|hits| hits > 0.0)
    }
}

/// Returns the number of seconds with readings, and the number of those at the limit.
fn seconds_at_limit<'a>(seconds: impl Iterator<Item = &'a Memory>) -> [f64; 2] {
    let read: Vec<&Memory> = seconds.filter(|memory| memory.is_read()).collect();
    let at_limit = read.iter().filter(|memory| memory.is_at_limit()).count();
    [read.len() as f64, at_limit as f64]
}

/// Min used share of the memory limit at which a control group counts as full.
const MEMORY_FULL_MIN_SHARE: f64 = 0.97;

/// Mean numbers of a process's threads that can carry requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workers {
    /// Threads by state: `futex`, `timer`, …
    pub states: BTreeMap<String, f64>,
    /// Threads that wait at the address of one futex.
    pub same_futex: f64,
    /// Threads in `futex` whose wait has a time-out; `None` if unknown.
    pub timed_futex: Option<f64>,
    /// Event loops of a Node.js process, each of which takes all requests of its process in one thread; includes idle
    /// ones.
    pub event_loops: f64,
    /// Threads that read from a dependency, by its address.
    pub dependencies: BTreeMap<String, f64>,
    /// Connections that the process has opened, by address of the dependency.
    pub connections: BTreeMap<String, f64>,
    /// Lower and upper quartile of the number of threads in timers over the seconds in which nearly all threads were read;
    /// `None` if no thread was in one.
    pub timer_quartiles: Option<[f64; 2]>,
}

/// States in which a thread works or blocks others, instead of waiting for another thread or for work.
const WORKING_STATES: [&str; 7] =
    ["on_cpu", "runnable", "disk", "socket_write", "connect", "pipe_write", "timer"];

/// States of `WORKING_STATES` in which a thread sleeps while it holds a request.
const SLEEPING_STATES: [&str; 4] = ["disk", "connect", "pipe_write", "timer"];

/// Min share of a process's threads that are read in a second whose count of threads is compared with other seconds.
const COVERAGE_MIN_SHARE: f64 = 0.95;

/// Returns the lower and the upper quartile; `None` without figures.
fn quartiles(mut figures: Vec<f64>) -> Option<[f64; 2]> {
    figures.sort_unstable_by(f64::total_cmp);
    let last = figures.len().checked_sub(1)?;
    let quarter = figures.len() / 4;
    Some([figures[quarter.min(last)], figures[last - quarter.min(last)]])
}

/// Runtime whose processes take requests in one thread.
const EVENT_LOOP_RUNTIME: &str = "node";
/// Label of readings of threads that can carry requests.
const WORKER: &str = "worker";

impl Workers {
    /// Returns the number of threads in one state.
    pub fn in_state(&self, state: &str) -> f64 {
        self.states.get(state).copied().unwrap_or(0.0)
    }

    /// Returns the number of threads in any state.
    pub fn all(&self) -> f64 {
        self.states.values().sum()
    }

    /// Returns the number of threads at work, or blocking others.
    pub fn at_work(&self) -> f64 {
        WORKING_STATES.iter().map(|state| self.in_state(state)).sum()
    }

    /// Returns the number of threads asleep in timers, or waiting outside of the process for something that a request
    /// needs.
    pub fn asleep(&self) -> f64 {
        let asleep: f64 = SLEEPING_STATES.iter().map(|state| self.in_state(state)).sum();
        // Threads that read from a dependency are among those that read from a socket, and are counted less reliably.
        asleep + self.dependencies.values().sum::<f64>().min(self.in_state("socket_read"))
    }

    /// Returns the number of running or runnable threads.
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
            ("runtime", EVENT_LOOP_RUNTIME) => self.event_loops = self.event_loops.max(value),
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

    /// Divides sums by seconds. Threads are sampled in more seconds than connections are counted.
    fn over(mut self, seconds: f64, counted_seconds: f64) -> Self {
        let threads = self.states.values_mut().chain(self.dependencies.values_mut());
        threads.for_each(|threads| *threads /= seconds);
        self.connections.values_mut().for_each(|connections| *connections /= counted_seconds.max(1.0));
        self.same_futex /= seconds;
        self.timed_futex = self.timed_futex.map(|threads| threads / seconds);
        self
    }

    /// Returns the medians of several runs.
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
        let ranges = || of.iter().filter_map(|one| one.timer_quartiles);
        let end = |at: usize| median(ranges().map(|range| range[at]));
        let range = end(0).zip(end(1)).map(|(low, high)| [low, high]);
        Self {
            states: middles(|one| &one.states),
            same_futex: median(of.iter().map(|one| one.same_futex)).unwrap_or(0.0),
            timed_futex: median(of.iter().filter_map(|one| one.timed_futex)),
            event_loops: median(of.iter().map(|one| one.event_loops)).unwrap_or(0.0),
            dependencies: middles(|one| &one.dependencies),
            connections: middles(|one| &one.connections),
            timer_quartiles: range,
        }
    }
}

impl Waits {
    /// Collects the waits in the given seconds; empty if nothing was sampled.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> Self {
        // By process: number of seconds with samples, seconds in which connections were counted, and sums.
        let mut sampled: BTreeMap<&str, (f64, BTreeSet<u64>, Workers)> = BTreeMap::new();
        let mut periods: [f64; 2] = [0.0; 2];
        let mut refaulted: [f64; 2] = [0.0; 2];
        let mut memory: BTreeMap<(&str, u64), Memory> = BTreeMap::new();
        let mut gc_s: BTreeMap<u64, f64> = BTreeMap::new();
        let mut processes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        // Threads in timers by process and second.
        let mut timers: BTreeMap<(&str, u64), f64> = BTreeMap::new();
        // Processes and seconds in which some threads were not read.
        let mut partial: BTreeSet<(&str, u64)> = BTreeSet::new();
        for reading in readings_in(run, seconds).filter(|reading| reading.value.is_finite()) {
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
                "thread_samples" => {
                    sampled.entry(reading.subject).or_default().0 += 1.0;
                    timers.entry((reading.subject, reading.second)).or_default();
                }
                "thread_coverage_share" if value < COVERAGE_MIN_SHARE => {
                    partial.insert((reading.subject, reading.second));
                }
                metric if metric.starts_with("threads_") || metric == "runtime" => {
                    if metric == "threads_timer" && reading.label == WORKER {
                        *timers.entry((reading.subject, reading.second)).or_default() += value;
                    }
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
        timers.retain(|second, _| !partial.contains(second));
        let over = |(name, (seconds, counted, sum)): (&str, (f64, BTreeSet<u64>, Workers))| {
            let of_process = timers.iter().filter(|((of, _), _)| *of == name).map(|(_, threads)| *threads);
            let timer_quartiles = quartiles(of_process.collect()).filter(|[_, high]| *high > 0.0);
            let sum = Workers { timer_quartiles, ..sum };
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
            lock: HeldLock::during(run, seconds),
            jvms: JvmTime::during(run, seconds),
        }
    }
}

/// Returns the share of steps between consecutive seconds in which the count changed; `None` without a step.
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
    fn middle_takes_the_median_of_runs() {
        let of = |futex| workers(&[("threads_futex", "worker", futex)]);
        let middle = Workers::middle(&[&of(1.0), &of(5.0), &Workers::default()]);
        assert_eq!(middle.in_state("futex"), 1.0);
        assert_eq!(Workers::middle(&[]), Workers::default());
    }
}
