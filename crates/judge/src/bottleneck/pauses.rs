//! Recurring periods without an ok answer, and garbage collection.

use std::collections::BTreeSet;

use evidence::{Event, OutageTime};
use stats::median;

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::{Evidence, RunEvidence};
use super::stopped::PROCESSES_STOPPED;
use super::words::percent;
use super::{Coverage, Rule, Rung};
use crate::causes::Resource;
use crate::words::decimal;

/// Min number of outages in a run that form a pattern.
const OUTAGES_MIN: f64 = 3.0;
/// Min share of the measured window without ok answers.
const WITHOUT_OK_MIN_SHARE: f64 = 0.05;
/// Min share of the system's CPU time spent on garbage collection.
const COLLECTING_MIN_SHARE: f64 = 0.3;
/// Min number of cores spent on garbage collection. A nearly idle system may spend a third of its CPU time on it.
const COLLECTING_MIN_CORES: f64 = 0.2;
/// Time after the end of a plan's event during which an outage may still be its effect, in nanoseconds.
const EVENT_AFTERMATH_NS: u64 = 1_000_000_000;
/// Max number of events that a sentence mentions.
const EVENTS_MAX: usize = 3;

impl Resource {
    /// Pauses of the whole system.
    pub const PAUSES: Self = Self::new("pauses", "pauses of the whole system").next(
        "look for what stops it at these times: garbage collection, a blocked event loop, checkpoints, or a job that runs periodically",
    );
    /// Garbage collection of a runtime that is short of memory.
    pub const GARBAGE_COLLECTION: Self =
        Self::new("garbage_collection", "garbage collection").next(TUNE_HEAP);
}

const TUNE_HEAP: &str = "enlarge the heap (-Xmx), keep less alive, or allocate less per request; the log of the collector says how \
                              long each collection stops the program (-Xlog:gc)";

pub(super) const PAUSES: Rule = Rule {
    finds: &[Resource::PAUSES],
    when: "in half of the runs, three outages or more that take 5 % of the measured time together, without those from the start of an event of the \
           plan to 1 s after its end",
    why: "an outage is longer than 250 ms and than ten usual response times: no request is answered meanwhile, so queues do not explain it. What \
          the plan itself stops is no limit of the system. The report names it. A lock, a disk, or a callee that threads were seen to wait for \
          explains pauses, and comes first",
    refuted_by: &[PROCESSES_STOPPED],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: pauses,
};

fn pauses(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let of_run = |run: &RunEvidence<'_>| {
        let times = own_outages(run)?;
        let out_s: f64 = times.iter().map(|time| time.lasting_s).sum();
        let longest_s = times.iter().map(|time| time.lasting_s).fold(0.0, f64::max);
        Some((times.len() as f64, (out_s / run.measured.window?.length_s).min(1.0), longest_s))
    };
    let runs: Vec<(f64, f64, f64)> = evidence.runs.iter().filter_map(of_run).collect();
    let times = median(runs.iter().map(|run| run.0)).filter(|times| *times >= OUTAGES_MIN)?;
    let share = median(runs.iter().map(|run| run.1)).filter(|share| *share >= WITHOUT_OK_MIN_SHARE)?;
    let longest_s = median(runs.iter().map(|run| run.2))?;
    let because = format!(
        "nothing was answered ok for {} of the time, in {} pauses of up to {} s",
        percent(share),
        decimal(times, 0),
        decimal(longest_s, 2)
    );
    let cause = suspected(Resource::PAUSES, Scope::System, because);
    Some(match collecting(evidence) {
        // Garbage collection keeps the cores busy, so busy cores are no separate cause.
        Some(words) => {
            let cause = cause.direct(Some(1.0)).and([words]).next(TUNE_HEAP);
            Bottleneck { share: Some(share), ..cause }
        }
        // Clients only see that no answers arrive. Readings of threads show why.
        None => cause.indirect(Some(share)),
    })
}

/// Returns the outages of a run that no event of the plan caused; `None` if outages were not measured.
fn own_outages<'a>(run: &RunEvidence<'a>) -> Option<Vec<&'a OutageTime>> {
    let times = run.measured.outage.as_ref()?.times.iter();
    Some(times.filter(|time| events_of(run, time).next().is_none()).collect())
}

/// Returns the events of the plan that may have caused an outage.
fn events_of<'a>(run: &RunEvidence<'a>, time: &OutageTime) -> impl Iterator<Item = &'a Event> + use<'a> {
    let since_begin = |s: f64| run.run.new.warm_up_ns.saturating_add((s.max(0.0) * 1e9) as u64);
    let (from_ns, to_ns) = (since_begin(time.from_s), since_begin(time.to_s));
    run.run.events().iter().filter(move |event| {
        let until_ns = event.ended_ns.map_or(u64::MAX, |ended| ended.saturating_add(EVENT_AFTERMATH_NS));
        event.begun_ns.is_some_and(|begun_ns| begun_ns < to_ns && from_ns < until_ns)
    })
}

/// Returns a sentence with the total time of outages during events of the plan, and the events' names. Names come from
/// outside: escape them.
pub(super) fn stopped_by_events(evidence: &Evidence<'_>) -> Option<String> {
    let mut names = BTreeSet::new();
    let mut of_run = |run: &RunEvidence<'_>| {
        let times = run.measured.outage.as_ref().map_or(&[][..], |outage| &outage.times);
        let of_events = times.iter().filter(|time| {
            names.extend(events_of(run, time).map(|event| event.name.clone()));
            events_of(run, time).next().is_some()
        });
        of_events.map(|time| time.lasting_s).sum::<f64>()
    };
    let stopped_s = median(evidence.runs.iter().map(&mut of_run).collect::<Vec<f64>>())?;
    let named: Vec<String> = names.iter().take(EVENTS_MAX).map(|name| format!("`{name}`")).collect();
    let (event, more) = match (names.len(), names.len().saturating_sub(EVENTS_MAX)) {
        (0, _) => return None,
        (1, _) => ("event", String::new()),
        (_, 0) => ("events", String::new()),
        (_, more) => ("events", format!(", and {more} more")),
    };
    (stopped_s > 0.0).then(|| {
        format!(
            "no request was answered ok for {} s during the plan's {event} {}{more}",
            decimal(stopped_s, 2),
            named.join(", ")
        )
    })
}

pub(super) const COLLECTIONS: Rule = Rule {
    finds: &[Resource::GARBAGE_COLLECTION],
    when: "threads that collect garbage (OpenJDK, .NET) used 30 % of the CPU time of the system, and 0.2 cores, and there \
           were no pauses as above",
    why: "a heap that is large enough is collected seldom. Cores that are busy with it are no other cause",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: collections,
};

fn collections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    // The rule for pauses reports garbage collection that causes them.
    if pauses(evidence).is_some() {
        return None;
    }
    let cause = suspected(Resource::GARBAGE_COLLECTION, Scope::System, collecting(evidence)?);
    Some(cause.direct(Some(1.0)).without_share())
}

fn collecting(evidence: &Evidence<'_>) -> Option<String> {
    let [collecting, ran] = collection_cores(evidence)?;
    collection_share(evidence)?;
    Some(format!(
        "threads that collect garbage used {} of the {} cores that the system used",
        decimal(collecting, 2),
        decimal(ran, 2)
    ))
}

fn collection_share(evidence: &Evidence<'_>) -> Option<f64> {
    let [collecting, ran] = collection_cores(evidence)?;
    Some(collecting / ran)
        .filter(|share| *share >= COLLECTING_MIN_SHARE && collecting >= COLLECTING_MIN_CORES)
}

fn collection_cores(evidence: &Evidence<'_>) -> Option<[f64; 2]> {
    let collecting = evidence.signal(|signals| signals.waits.collecting_cores)?;
    Some([collecting, evidence.cores()?.system?])
}
