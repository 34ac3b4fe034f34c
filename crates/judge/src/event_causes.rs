//! Likely causes of the effect of an event: bottlenecks during the seconds of the effect, ranked as for a whole run.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use evidence::{Cost, EventCost, Recovery, Run};
use record::{Counts, ErrorClass, LoadSecond, WindowCounts};

use crate::bottleneck::{Bottleneck, CombinedFigures, Evidence, RunEvidence, causes_of_seconds};
use crate::core_time::Seconds;
use crate::measured::Measured;
use crate::resources::Resources;
use crate::signals::Signals;
use crate::window::Window;

const SECOND_NS: u64 = 1_000_000_000;
/// Min part of a second during which an event must have an effect, so that the second's readings describe the event.
const EFFECT_MIN_NS: u64 = SECOND_NS / 2;
/// Max length of a load: one day, in seconds. Guards against damaged files.
const SECONDS_MAX: u64 = 86_400;

/// Likely causes of failed or late requests, of one event or of all its occurrences in several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCauses {
    /// Causes, most likely first; empty if unknown.
    pub causes: Vec<Bottleneck>,
    /// Number of seconds whose readings were used, over all occurrences.
    pub seconds: usize,
    /// Number of occurrences with usable readings, among those that had an effect.
    pub explained: usize,
    /// Number of occurrences that had an effect.
    pub felt: usize,
    /// Names of other events in these seconds, which may be the real cause. They come from outside: escape them.
    pub meanwhile: Vec<String>,
    /// Reason why the causes are unknown, in words; `None` if they are known.
    pub why_unknown: Option<String>,
}

/// Readings of one occurrence.
enum OccurrenceReadings<'a> {
    Read(Box<Read<'a>>),
    /// The effect was too short for readings; contains its length in nanoseconds.
    TooShort(u64),
    NothingRead,
}

/// Readings and counts in the seconds of one occurrence.
struct Read<'a> {
    run: &'a Run,
    measured: Measured,
    signals: Signals,
    counts: Counts,
    in_flight: Option<f64>,
    /// Requests that found no connection.
    refused: u64,
    seconds: usize,
    meanwhile: BTreeSet<String>,
}

/// Finds the causes over occurrences of one event, each with its run. `None` if no occurrence has a known cost, so that
/// there is nothing to explain.
pub fn of_occurrences(occurrences: &[(&Run, &EventCost)]) -> Option<EventCauses> {
    let felt: Vec<(&Run, &EventCost, (u64, u64))> = occurrences
        .iter()
        .filter_map(|(run, of)| Some((*run, *of, effect_ns(run, of, of.cost()?)?)))
        .collect();
    if felt.is_empty() {
        return None;
    }
    let seen: Vec<OccurrenceReadings<'_>> =
        felt.iter().map(|(run, of, span_ns)| OccurrenceReadings::of(run, of, *span_ns)).collect();
    let why_unknown = why_unknown(&seen);
    let read: Vec<&Read<'_>> = seen
        .iter()
        .filter_map(|seen| match seen {
            OccurrenceReadings::Read(read) => Some(&**read),
            OccurrenceReadings::TooShort(_) | OccurrenceReadings::NothingRead => None,
        })
        .collect();
    let meanwhile: BTreeSet<&String> = read.iter().flat_map(|read| &read.meanwhile).collect();
    Some(EventCauses {
        causes: if read.is_empty() { Vec::new() } else { causes(&read) },
        seconds: read.iter().map(|read| read.seconds).sum(),
        explained: read.len(),
        felt: felt.len(),
        meanwhile: meanwhile.into_iter().cloned().collect(),
        why_unknown: why_unknown.filter(|_| read.is_empty()),
    })
}

fn causes(read: &[&Read<'_>]) -> Vec<Bottleneck> {
    let mut counts = Counts::default();
    read.iter().for_each(|read| counts.add(&read.counts));
    let runs = read.iter().map(|read| RunEvidence {
        run: read.run,
        measured: &read.measured,
        signals: Some(&read.signals),
        in_flight: read.in_flight,
        pools: &[],
    });
    let refused = read.iter().map(|read| read.refused).fold(0, u64::saturating_add);
    let together = CombinedFigures {
        unit: read.first().map(|read| read.run.new.unit()).unwrap_or_default(),
        counts,
        samples: counts.ended(),
        // The time series of a load has a single class for all connection errors.
        errors: [(ErrorClass::ConnectRefused.into(), refused)].into(),
        ..CombinedFigures::default()
    };
    // During an event, the load exceeds what the system answers in time.
    causes_of_seconds(&Evidence { runs: runs.collect(), together, has_failed: true })
}

/// Returns start and end of the effect of an event, in nanoseconds since the load began; `None` if it had none.
fn effect_ns(run: &Run, of: &EventCost, cost: &Cost) -> Option<(u64, u64)> {
    let recovered_ns = match cost.recovery {
        Recovery::After(ns) | Recovery::Unconfirmed(ns) => cost.from_ns.saturating_add(ns),
        Recovery::NotWithin(_) => cost.to_ns,
    };
    let answered_ns = cost.from_ns.saturating_add(cost.outage_ns);
    let to_ns = recovered_ns.max(answered_ns);
    let ended_ns = || {
        let event =
            run.events().iter().find(|event| of.name == event.name && of.occurrence == event.occurrence);
        event.and_then(|event| event.ended_ns).unwrap_or(cost.from_ns)
    };
    let to_ns = match to_ns > cost.from_ns {
        true => to_ns,
        // Requests were lost, but all others were answered as usual.
        false if cost.lost.total() > 0 => ended_ns(),
        false => return None,
    };
    Some((cost.from_ns, to_ns.min(cost.to_ns)))
}

impl<'a> OccurrenceReadings<'a> {
    fn of(run: &'a Run, of: &EventCost, (from_ns, to_ns): (u64, u64)) -> Self {
        let is_felt = |second: u64| {
            let (begun_ns, ended_ns) = (second * SECOND_NS, (second + 1) * SECOND_NS);
            to_ns.min(ended_ns).saturating_sub(from_ns.max(begun_ns)) >= EFFECT_MIN_NS
        };
        let last = (to_ns / SECOND_NS).min((from_ns / SECOND_NS).saturating_add(SECONDS_MAX));
        let seconds: BTreeSet<u64> = (from_ns / SECOND_NS..=last).filter(|second| is_felt(*second)).collect();
        if seconds.is_empty() {
            return Self::TooShort(to_ns.saturating_sub(from_ns));
        }
        let which = Seconds::These(&seconds);
        let resources = Resources::during(run, which);
        let signals = Signals::during(run, which);
        let is_read = |signals: &Signals| {
            signals.inside.is_some() || resources.as_ref().is_some_and(|of| of.system.is_some())
        };
        let Some(signals) = signals.filter(is_read) else { return Self::NothingRead };
        let course: Vec<LoadSecond> =
            run.course().into_iter().filter(|of| seconds.contains(&of.second)).collect();
        let sum = |figure: fn(&LoadSecond) -> u64| course.iter().map(figure).fold(0, u64::saturating_add);
        let (planned, ok, lost) = (sum(|of| of.planned), sum(|of| of.ok), sum(|of| of.lost));
        let in_flight: f64 = course.iter().map(|of| of.in_flight).sum();
        let in_window = WindowCounts { ok, other: lost, ..WindowCounts::default() };
        let measured = Measured {
            window: Window::of_ns(seconds.len() as u64 * SECOND_NS, in_window),
            resources,
            ..Measured::default()
        };
        Self::Read(Box::new(Read {
            run,
            measured,
            signals,
            counts: Counts { planned, sent: planned, ok, failed: lost, ..Counts::default() },
            refused: of.cost().map_or(0, |cost| cost.lost.connect),
            in_flight: Some(in_flight / course.len() as f64).filter(|of| of.is_finite()),
            seconds: seconds.len(),
            meanwhile: others(run, of, &seconds),
        }))
    }
}

/// Returns the names of other events of a run that were in progress, or had an effect, in these seconds.
fn others(run: &Run, of: &EventCost, seconds: &BTreeSet<u64>) -> BTreeSet<String> {
    let (Some(first), Some(last)) = (seconds.first(), seconds.last()) else { return BTreeSet::new() };
    let (from_ns, to_ns) = (first * SECOND_NS, (last + 1) * SECOND_NS);
    let others = run.events().iter().filter(|event| event.name != of.name);
    let goes_on = others.filter_map(|event| {
        let begun_ns = event.begun_ns?;
        let felt = run
            .event_costs()
            .iter()
            .find(|other| other.name == event.name && other.occurrence == event.occurrence);
        let felt_to_ns = felt.and_then(|other| Some(effect_ns(run, other, other.cost()?)?.1));
        // An event without an end is still in progress.
        let ended_ns = event.ended_ns.unwrap_or(u64::MAX).max(felt_to_ns.unwrap_or(0));
        (begun_ns < to_ns && ended_ns > from_ns).then(|| event.name.clone())
    });
    goes_on.collect()
}

fn why_unknown(seen: &[OccurrenceReadings<'_>]) -> Option<String> {
    if seen.iter().any(|seen| matches!(seen, OccurrenceReadings::NothingRead)) {
        return Some("nothing was read of the system in its seconds".to_owned());
    }
    let longest_ns = seen.iter().filter_map(|seen| match seen {
        OccurrenceReadings::TooShort(ns) => Some(*ns),
        OccurrenceReadings::Read(_) | OccurrenceReadings::NothingRead => None,
    });
    let longest_s = longest_ns.max()? as f64 / 1e9;
    Some(format!(
        "it was felt for {longest_s:.2} s, and readings of whole seconds tell nothing of what takes less than half of one"
    ))
}
