//! Garbage collection and waits for monitors, as counted by Java virtual machines.

use std::collections::BTreeMap;

use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::jvm_time::JvmTime;
use crate::words::{decimal, one};

/// Min share of time in which collections stop a program at which they are a cause.
const STOPPED_MIN_SHARE: f64 = 0.1;
/// Min share of time at which collections are the first cause, because they keep the cores busy.
const STOPPED_FIRST_SHARE: f64 = 0.3;
/// Max number of collectors that a sentence mentions.
const COLLECTORS_MAX: usize = 2;

/// Returns the process whose virtual machines have the largest figure, and that figure: medians over all runs. The name
/// comes from outside: escape it.
fn largest(evidence: &Evidence<'_>, figure: impl Fn(&JvmTime) -> Option<f64>) -> Option<(String, f64)> {
    let mut of_names: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, time) in
        evidence.runs.iter().filter_map(|run| run.signals).flat_map(|signals| &signals.waits.jvms)
    {
        of_names.entry(name).or_default().extend(figure(time));
    }
    let middles = of_names.into_iter().filter_map(|(name, figures)| Some((name.clone(), median(figures)?)));
    middles.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

pub(super) const JVM_COLLECTIONS: Rule = Rule {
    finds: &[Resource::GARBAGE_COLLECTION],
    when: "the garbage collectors of a Java virtual machine stopped it 10 % of the time, as it counts itself",
    why: "no thread of the program runs meanwhile, whatever the request. From 30 % on, cores that are busy with it are no other cause",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: jvm_collections,
};

fn jvm_collections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, stopped) = largest(evidence, JvmTime::stopped)?;
    if stopped < STOPPED_MIN_SHARE {
        return None;
    }
    let mut collectors: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let times = evidence.runs.iter().filter_map(|run| run.signals?.waits.jvms.get(&name));
    for time in times.filter(|time| time.stopped().is_some()) {
        for (collector, spent_s) in &time.collecting_s {
            let share = spent_s / (time.covered_s * time.processes);
            collectors.entry(collector.clone()).or_default().push(share);
        }
    }
    let mut collectors: Vec<(String, f64)> =
        collectors.into_iter().filter_map(|(name, shares)| Some((name, median(shares)?))).collect();
    collectors.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let named = collectors.iter().filter(|(_, share)| *share > 0.0).take(COLLECTORS_MAX);
    let named: Vec<String> =
        named.map(|(collector, share)| format!("{collector} {}", percent(*share))).collect();
    let because = format!(
        "the Java virtual machine of {name} was stopped {} of the time by garbage collection, as it counts itself ({})",
        percent(stopped),
        named.join(", ")
    );
    let cause = suspected(Resource::GARBAGE_COLLECTION, Scope::Process(name), because);
    let is_first = stopped >= STOPPED_FIRST_SHARE;
    let cause = cause.direct(Some(if is_first { 1.0 } else { stopped }));
    Some(Bottleneck { share: Some(stopped), ..cause })
}

/// Min number of waits for monitors per answer at which requests wait for one.
const MONITOR_WAITS_MIN: f64 = 0.8;
/// Min share of requests in flight whose threads are parked.
const PARKED_MIN_SHARE: f64 = 0.5;
/// Max throughput × fastest answer of a system that works on one request at a time.
const ONE_AT_ONCE_MAX: f64 = 1.5;

pub(super) const MONITORS: Rule = Rule {
    finds: &[Resource::LOCK],
    when: "a Java virtual machine counted 0.8 waits for monitors per answer or more, half of the requests in flight had a parked thread in it, and \
           throughput × the fastest answer is 1.5 or less",
    why: "the virtual machine counts threads that find a monitor taken and park. Where requests wait for one after another, one is worked on at \
          a time. Waits for a monitor that is held for a moment, as that of a log, are counted as well, but leave several at work",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: monitors,
};

fn monitors(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let (name, waits_per_s) = largest(evidence, JvmTime::monitor_waits_per_s)?;
    let per_answer = waits_per_s / evidence.ended_per_s().filter(|per_s| *per_s > 0.0)?;
    let all = evidence.workers();
    let workers = all.get(&name)?;
    let parked = workers.in_state("futex");
    let share = evidence.in_flight_share(parked).filter(|share| *share >= PARKED_MIN_SHARE)?;
    evidence.concurrency().filter(|concurrency| *concurrency <= ONE_AT_ONCE_MAX)?;
    if per_answer < MONITOR_WAITS_MIN {
        return None;
    }
    let because = format!(
        "the Java virtual machine of {name} counted {} waits for monitors per {}, while {} of its {} threads were parked{}",
        decimal(per_answer, 2),
        one(evidence.together.unit),
        decimal(parked, 1),
        decimal(workers.all(), 1),
        cpu_in_brackets(evidence)
    );
    let cause =
        suspected(Resource::LOCK, Scope::Process(name), because).direct(Some(share)).next(FIND_MONITOR);
    Some(Bottleneck { what: "monitor (synchronized) between threads of the system", ..cause })
}

const FIND_MONITOR: &str = "find the monitor (`jstack PID` shows who waits for it, and the method of its holder; so does `--why`), then hold it for \
                            less time or split it";

#[cfg(test)]
mod tests {
    use evidence::Reading;
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::super::planted::Planted;
    use super::*;
    use crate::core_time::Seconds;

    /// Plants eight users of a virtual machine with these counters per second.
    fn jvm(collecting_s: f64, safepoint_s: f64) -> Planted {
        let mut planted = Planted::closed(8, 200.0, 5.0);
        planted.threads(&[("futex", 7.0), ("on_cpu", 0.9)]).timed_futex = Some(0.0);
        let of_second = |second| -> (u64, Vec<Reading>) {
            let readings = vec![
                reading("app", "covered_s", "", 1.0),
                reading("app", "jvm_processes", "", 1.0),
                reading("app", "jvm_gc_s", "Copy", collecting_s),
                reading("app", "jvm_gc_s", "MSC", 0.0),
                reading("app", "jvm_safepoint_s", "", safepoint_s),
            ];
            (second, readings)
        };
        let seconds: Vec<_> = (0..4).map(of_second).collect();
        let kept = OwnStore::new().kept(&new_run(), &[], &seconds, &ending());
        planted.signals.waits.jvms = JvmTime::during(&kept, Seconds::Measured);
        planted
    }

    #[test]
    fn time_of_collections_is_a_cause_of_its_share() {
        let cause = jvm(0.38, 0.4).with_evidence(jvm_collections).expect("a cause");
        let expected = "the Java virtual machine of app was stopped 38 % of the time by garbage collection, as it counts itself (Copy 38 %)";
        assert_eq!((cause.because.as_str(), cause.share), (expected, Some(0.38)));
        assert_eq!(jvm(0.38, 0.4).causes()[0].resource, Resource::GARBAGE_COLLECTION);
        assert!(jvm(0.05, 0.4).with_evidence(jvm_collections).is_none());
        assert!(jvm(0.9, 0.02).with_evidence(jvm_collections).is_none(), "a concurrent collector");
    }

    /// Plants sixteen users and 240 answers per second of a virtual machine with this rate of waits for monitors.
    fn waits(per_s: f64, fastest_ms: f64) -> Planted {
        let mut planted = Planted::closed(16, 240.0, fastest_ms);
        planted.threads(&[("futex", 15.9), ("on_cpu", 0.03)]).timed_futex = Some(0.95);
        let counters = [("jvm_processes", 1.0), ("jvm_contended_monitors", per_s)];
        let of_second = |second| -> (u64, Vec<Reading>) {
            (second, counters.map(|(metric, value)| reading("app", metric, "", value)).to_vec())
        };
        let seconds: Vec<_> = (0..4).map(of_second).collect();
        let kept = OwnStore::new().kept(&new_run(), &[], &seconds, &ending());
        planted.signals.waits.jvms = JvmTime::during(&kept, Seconds::Measured);
        planted
    }

    #[test]
    fn monitor_that_each_request_waits_for_is_a_lock() {
        let causes = waits(236.0, 4.15).causes();
        let expected = "the Java virtual machine of app counted 0.98 waits for monitors per request, while 15.9 of its 15.9 threads were \
                        parked (the system used 0.10 of 2 cores)";
        assert_eq!((causes[0].resource, causes[0].because.as_str()), (Resource::LOCK, expected));
    }

    #[test]
    fn monitors_of_a_log_or_few_waits_are_no_lock() {
        assert!(waits(20.0, 4.15).with_evidence(monitors).is_none(), "one request in twelve waits");
        assert!(waits(236.0, 20.0).with_evidence(monitors).is_none(), "five requests at once are worked on");
        assert!(waits(0.0, 4.15).with_evidence(monitors).is_none());
    }
}
