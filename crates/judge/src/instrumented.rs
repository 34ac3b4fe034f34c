//! Reports of a system's runtimes and of its store in the instrumented runs of an experiment, and the overhead of instrumentation.

use std::collections::BTreeMap;

use evidence::{EvidenceError, Intervention, Run, Study, StudyPlace};
use units::Share;

use crate::bottleneck::{Bottleneck, Scope, suspected};
use crate::causes::Resource;
use crate::core_time::in_measured_time;
use crate::measured::Measured;
use crate::rung::Rung;
use crate::words::{decimal, percent};

mod go_trace;
mod hot_keys;

/// Number of blocks of an experiment that have an instrumented run.
pub const INSTRUMENTED_BLOCKS: u32 = 4;
/// Runtimes that can be instrumented.
const RUNTIMES: [&str; 5] = ["node", "python", "ruby", "go", "java"];
/// Max number of functions, and of monitors, in a sentence.
const FUNCTIONS_MAX: usize = 3;
const MONITORS_MAX: usize = 2;
/// Min share of CPU time that a sentence mentions.
const FUNCTION_MIN_SHARE: f64 = 0.02;
/// Min number of thread dumps, and min share of requests in flight that wait for one lock in them, at which the lock is
/// a likely cause.
const DUMPS_MIN: f64 = 4.0;
const DUMPED_MIN_SHARE: f64 = 0.5;
/// Min share of samples with the GIL taken that a sentence mentions.
const GIL_MIN_SHARE: f64 = 0.2;

/// Reports of the runtimes of one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuntimeReport {
    /// One sentence per process and subject. Names come from outside: escape them.
    pub said: Vec<String>,
    /// Monitor, lock, or semaphore of a Java program for which most requests in flight waited in thread dumps; `None`
    /// if there is none.
    pub(crate) dumped: Option<Bottleneck>,
    /// Throughput with instrumentation ÷ throughput without, in each block that has both.
    pub cost_ratios: Vec<f64>,
}

/// Returns whether instrumentation would add information about the system of these runs.
pub fn has_instruments(runs: &[&Run]) -> bool {
    let mut readings = runs.iter().flat_map(|run| run.readings());
    readings.any(|reading| reading.metric == "runtime" && RUNTIMES.contains(&reading.label))
        || runs.iter().any(|run| hot_keys::are_of_interest(run))
}

impl RuntimeReport {
    /// Collects the reports of the instrumented runs of a study; `None` if it has none.
    pub fn of(study: &Study) -> Result<Option<Self>, EvidenceError> {
        let is_done = |run: &&Run| run.ending.as_ref().is_some_and(evidence::Ending::is_done);
        let position = |run: &'_ Run| run.new.place.as_ref().map(|(_, place)| place.position);
        let done = study.runs.iter().filter(is_done);
        let done: BTreeMap<u32, &Run> = done.filter_map(|run| Some((position(run)?, run))).collect();
        let with = |of: Intervention| {
            let places =
                study.new.planned.iter().filter(move |place| place.intervention.as_ref() == Some(&of));
            places.filter_map(|place: &StudyPlace| Some((place.block, *done.get(&place.position)?)))
        };
        let instrumented: Vec<(u32, &Run)> = with(Intervention::Instrumented).collect();
        if instrumented.is_empty() {
            return Ok(None);
        }
        let mut cost_ratios = Vec::new();
        for (block, run) in &instrumented {
            let control = with(Intervention::ControlRestarted).find(|(of, _)| of == block);
            let Some((_, control)) = control else { continue };
            let per_s = [Measured::of(run)?.ok_per_s(), Measured::of(control)?.ok_per_s()];
            if let [Some(with), Some(without)] = per_s
                && with > 0.0
                && without > 0.0
            {
                cost_ratios.push(with / without);
            }
        }
        let runs: Vec<&Run> = instrumented.into_iter().map(|(_, run)| run).collect();
        let measured = runs.iter().map(|run| Measured::of(run)).collect::<Result<Vec<_>, _>>()?;
        // Little's law.
        let in_flight = measured.iter().filter_map(|run| Some(run.ok_per_s()? * run.response.mean_ns? / 1e9));
        let dumped = stats::median(in_flight).and_then(|in_flight| dumped(&runs, in_flight));
        Ok(Some(Self { said: said(&runs), dumped, cost_ratios }))
    }

    /// Describes the overhead of instrumentation; `None` without a pair of runs.
    pub fn cost(&self) -> Option<String> {
        let (least, most) = (min(&self.cost_ratios)?, max(&self.cost_ratios)?);
        let middle = stats::median(self.cost_ratios.iter().copied())?;
        let blocks = self.cost_ratios.len();
        Some(format!(
            "throughput with instruments ÷ without: {} (median; {} to {} in {blocks} {}); no other run has them",
            decimal(middle, 2),
            decimal(least, 2),
            decimal(most, 2),
            if blocks == 1 { "block" } else { "blocks" }
        ))
    }
}

fn min(ratios: &[f64]) -> Option<f64> {
    ratios.iter().copied().reduce(f64::min)
}

fn max(ratios: &[f64]) -> Option<f64> {
    ratios.iter().copied().reduce(f64::max)
}

/// Readings of one process, summed over all instrumented runs.
#[derive(Default)]
struct Sums {
    /// Observed time in seconds.
    over_s: f64,
    runtimes: BTreeMap<String, f64>,
    functions_s: BTreeMap<String, f64>,
    collecting_s: f64,
    /// Samples by a sampler that needs the GIL, and those in which it had to wait for it.
    gil: [f64; 2],
    dumps: f64,
    /// Waits for a monitor, as counted by the virtual machine; `None` if it does not count them.
    contended: Option<f64>,
    waiters: BTreeMap<String, f64>,
    holders: BTreeMap<String, f64>,
}

/// Sums the readings of each process with a runtime.
fn sums(runs: &[&Run]) -> BTreeMap<String, Sums> {
    let mut of_names: BTreeMap<String, Sums> = BTreeMap::new();
    for reading in runs.iter().flat_map(|run| in_measured_time(run)).filter(|one| one.value.is_finite()) {
        let (label, value) = (reading.label, reading.value);
        let sums = of_names.entry(reading.subject.to_owned()).or_default();
        let of_label = |all: &mut BTreeMap<String, f64>| *all.entry(label.to_owned()).or_default() += value;
        match reading.metric {
            "covered_s" => sums.over_s += value,
            "runtime" => of_label(&mut sums.runtimes),
            "runtime_function_s" => of_label(&mut sums.functions_s),
            "runtime_gc_s" => sums.collecting_s += value,
            "runtime_gil_looks" => sums.gil[0] += value,
            "runtime_gil_waits" => sums.gil[1] += value,
            "jvm_dumps" => sums.dumps += value,
            "jvm_contended_monitors" => *sums.contended.get_or_insert(0.0) += value,
            "jvm_monitor_waiters" => of_label(&mut sums.waiters),
            "jvm_monitor_holder" => of_label(&mut sums.holders),
            _ => {}
        }
    }
    of_names.retain(|_, sums| !sums.runtimes.is_empty());
    of_names
}

/// Finds the lock or semaphore for which at least half of the requests in flight waited, by thread dumps.
fn dumped(runs: &[&Run], in_flight: f64) -> Option<Bottleneck> {
    let sums = sums(runs);
    let waits = sums.iter().filter_map(|(name, sums)| {
        let (lock, waiters) = ranked(&sums.waiters).into_iter().next()?;
        Some((name, lock, sums, waiters / sums.dumps)).filter(|_| sums.dumps >= DUMPS_MIN)
    });
    let (name, lock, sums, waiters) = waits.max_by(|one, other| one.3.total_cmp(&other.3))?;
    let share = (waiters / in_flight).min(1.0);
    if !share.is_finite() || share < DUMPED_MIN_SHARE {
        return None;
    }
    let because = format!("in instrumented runs, {}", sums.monitors(name).into_iter().next()?);
    let is_semaphore = lock.contains("Semaphore$");
    let (resource, what, next) = match is_semaphore {
        true => (
            Resource::POOL,
            "permits of a semaphore of the system",
            "raise the number of permits of the semaphore, and see what is short next",
        ),
        false => (Resource::LOCK, Resource::LOCK.words, "hold the lock for less time, or split it"),
    };
    let cause = suspected(resource, Scope::Process(name.clone()), because).on(Rung::Runtime).next(next);
    Some(Bottleneck { what, share: Some(share), ..cause })
}

fn said(runs: &[&Run]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for (name, sums) in &sums(runs) {
        said.extend(sums.functions(name));
        said.extend(sums.gil(name));
        said.extend(sums.monitors(name));
    }
    said.extend(go_trace::said(runs));
    said.extend(hot_keys::said(runs));
    said
}

/// Returns entries by value, largest first.
fn ranked(all: &BTreeMap<String, f64>) -> Vec<(&str, f64)> {
    let mut all: Vec<(&str, f64)> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    all
}

impl Sums {
    fn runtime(&self) -> &str {
        ranked(&self.runtimes).first().map_or("", |(runtime, _)| runtime)
    }

    /// Describes the functions with the most CPU time, and garbage collection.
    fn functions(&self, name: &str) -> Option<String> {
        let runtime = self.runtime();
        // Python includes collections in the time of the function that allocates.
        let is_apart = runtime == "node";
        let all_s = self.functions_s.values().sum::<f64>() + if is_apart { self.collecting_s } else { 0.0 };
        if all_s <= 0.0 || self.over_s <= 0.0 {
            return None;
        }
        let mut parts = ranked(&self.functions_s);
        parts.retain(|(function, _)| *function != "(others)");
        parts.truncate(FUNCTIONS_MAX);
        parts.push(("garbage collection", self.collecting_s));
        let shares = parts
            .into_iter()
            .filter_map(|(part, spent_s)| Some((part, Share::of_measured(spent_s, all_s)?.get())));
        let told = shares.filter(|(_, share)| *share >= FUNCTION_MIN_SHARE);
        let told: Vec<String> = told.map(|(part, share)| format!("{part} {}", percent(share, 0))).collect();
        (!told.is_empty()).then(|| {
            format!(
                "{name} ({runtime}) used {} cores in its functions: {}",
                decimal(all_s / self.over_s, 2),
                told.join(", ")
            )
        })
    }

    fn gil(&self, name: &str) -> Option<String> {
        let [looks, waits] = self.gil;
        let share = Share::of_measured(waits, looks)?.get();
        (share >= GIL_MIN_SHARE).then(|| {
            format!(
                "the GIL of {name} (python) was held by another thread in {} of {} looks",
                percent(share, 0),
                decimal(looks, 0)
            )
        })
    }

    /// Describes the monitors with the most waiting threads.
    fn monitors(&self, name: &str) -> Vec<String> {
        let one = |(monitor, waiters): (&str, f64)| {
            let of_it = |holder: &&String| holder.split_once(" holds ").is_some_and(|(_, of)| of == monitor);
            let holder = self
                .holders
                .iter()
                .filter(|(holder, _)| of_it(holder))
                .max_by(|(_, a), (_, b)| a.total_cmp(b));
            let held = holder.and_then(|(holder, looks)| {
                let (method, _) = holder.split_once(" holds ")?;
                let share = Share::of_measured(*looks, self.dumps)?;
                Some(format!("; its holder was in {method} in {}", percent(share.get(), 0)))
            });
            let counted = self.contended.filter(|_| self.over_s > 0.0).map(|contended| {
                format!(
                    "; the virtual machine counted {} waits for monitors per second",
                    decimal(contended / self.over_s, 0)
                )
            });
            format!(
                "on average {} threads of {name} (java) waited to lock {monitor}, in {} thread dumps{}{}",
                decimal(waiters / self.dumps, 1),
                decimal(self.dumps, 0),
                held.unwrap_or_default(),
                counted.unwrap_or_default()
            )
        };
        let waited = ranked(&self.waiters).into_iter().filter(|(_, waiters)| *waiters >= 0.5 * self.dumps);
        waited.take(MONITORS_MAX).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;

    fn run(readings: &[(&str, &str, f64)]) -> Run {
        let of_second = |second| {
            let readings =
                readings.iter().map(|(metric, label, value)| reading("app", metric, label, *value));
            (second, readings.collect::<Vec<_>>())
        };
        let seconds: Vec<_> = (0..4).map(of_second).collect();
        OwnStore::new().kept(&new_run(), &[], &seconds, &ending())
    }

    #[test]
    fn functions_and_collections_have_shares_of_the_cpu_time() {
        let run = run(&[
            ("covered_s", "", 1.0),
            ("runtime", "node", 1.0),
            ("runtime_function_s", "work a.js:1", 0.6),
            ("runtime_function_s", "(others)", 0.1),
            ("runtime_gc_s", "", 0.3),
        ]);
        let expected =
            "app (node) used 1.00 cores in its functions: work a.js:1 60 %, garbage collection 30 %";
        assert_eq!(said(&[&run]), [expected]);
        assert!(has_instruments(&[&run]));
    }

    #[test]
    fn taken_gil_is_named_with_its_share() {
        let gil = |waits| {
            let readings = [
                ("runtime", "python", 1.0),
                ("runtime_gil_looks", "", 80.0),
                ("runtime_gil_waits", "", waits),
            ];
            said(&[&run(&readings)])
        };
        assert_eq!(gil(72.0), ["the GIL of app (python) was held by another thread in 90 % of 320 looks"]);
        assert!(gil(8.0).is_empty());
    }

    #[test]
    fn monitor_is_named_with_its_holder() {
        let run = run(&[
            ("covered_s", "", 1.0),
            ("jvm_contended_monitors", "", 180.0),
            ("runtime", "java", 1.0),
            ("jvm_dumps", "", 1.0),
            ("jvm_monitor_waiters", "Ledger in Srv.handle(Srv.java:12)", 5.0),
            ("jvm_monitor_holder", "java.lang.Thread.sleep holds Ledger in Srv.handle(Srv.java:12)", 1.0),
        ]);
        let expected = "on average 5.0 threads of app (java) waited to lock Ledger in Srv.handle(Srv.java:12), in 4 thread dumps; its \
                        holder was in java.lang.Thread.sleep in 100 %; the virtual machine counted 180 waits for monitors per second";
        assert_eq!(said(&[&run]), [expected]);
    }

    #[test]
    fn lock_or_semaphore_of_most_requests_in_flight_is_a_cause() {
        let at = |lock: &str, waiters| {
            let readings =
                [("runtime", "java", 1.0), ("jvm_dumps", "", 1.0), ("jvm_monitor_waiters", lock, waiters)];
            dumped(&[&run(&readings)], 16.0)
        };
        let fair = at("java.util.concurrent.locks.ReentrantLock$FairSync in Srv.put(Srv.java:30)", 14.8)
            .expect("a lock");
        assert_eq!((fair.resource, fair.rung), (Resource::LOCK, Rung::Runtime));
        assert!(
            fair.because
                .starts_with("in instrumented runs, on average 14.8 threads of app (java) waited to lock"),
            "{}",
            fair.because
        );
        assert!(fair.share.is_some_and(|share| (0.92..0.93).contains(&share)));
        let permits =
            at("java.util.concurrent.Semaphore$NonfairSync in Srv.call(Srv.java:9)", 13.0).expect("permits");
        assert_eq!(permits.resource, Resource::POOL);
        assert_eq!(at("Ledger in Srv.handle(Srv.java:12)", 3.0), None, "a fifth of the requests");
    }

    #[test]
    fn cost_is_stated_with_its_range() {
        let report = RuntimeReport { cost_ratios: vec![0.9, 0.97, 1.01], ..RuntimeReport::default() };
        assert!(
            report.cost().unwrap().starts_with(
                "throughput with instruments ÷ without: 0.97 (median; 0.90 to 1.01 in 3 blocks)"
            )
        );
        assert_eq!(RuntimeReport::default().cost(), None);
    }
}
