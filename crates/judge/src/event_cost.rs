//! Cost of an event: lost requests, outage, excess wait, and time to recover to the level before the event. `docs/events.md` has
//! the definitions.

mod level;
mod losses;
mod pooled;
mod recovery;
mod sums;
#[cfg(test)]
mod tests;

use evidence::{Cost, Event, EventCost, Judged, Recovery, Run};
use record::{Gaps, Moment};

use level::Level;
use losses::Losses;
pub use pooled::{Difference, Figure, Pooled, RunCost, in_run, pooled};
pub use sums::EventSums;
pub(crate) use sums::worst_of;

/// Min time before an event from which its usual level can be derived, in nanoseconds.
const BEFORE_MIN_NS: u64 = 3_000_000_000;
/// Min number of ok answers before an event.
const ANSWERS_MIN: u64 = 100;
/// Time for which the system must stay at its usual level to count as recovered, in nanoseconds.
const CALM_NS: u64 = 3_000_000_000;
/// Time after recovery during which waits still count as excess, in nanoseconds.
const ANSWERED_NS: u64 = 1_000_000_000;
/// Min length of an outage, as a multiple of the usual response time, and of the usual time between two answers.
const OUTAGE_MIN_RESPONSES: f64 = 10.0;
/// Min length of an outage, as a multiple of the longest gap before the event.
const OUTAGE_MIN_GAPS: f64 = 2.0;
/// Min length of an outage in nanoseconds: the resolution of gaps, a tenth of a window.
const OUTAGE_MIN_NS: f64 = 10e6;

/// Start and end of an event, in nanoseconds since the load began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Start of the event.
    pub begun_ns: u64,
    /// End of the event; `None` if it did not end.
    pub ended_ns: Option<u64>,
}

/// Returns the costs of the events of a stored run, in the order of its events. Events that did not begin are left out.
/// Empty if the run has no measured window.
pub fn of_run(run: &Run) -> Vec<EventCost> {
    let Some(window_ns) = window_ns(run) else { return Vec::new() };
    let begun: Vec<(&Event, Times)> = run
        .events()
        .iter()
        .filter_map(|event| Some((event, Times { begun_ns: event.begun_ns?, ended_ns: event.ended_ns })))
        .collect();
    let times: Vec<Times> = begun.iter().map(|(_, times)| *times).collect();
    let costs = judge(window_ns, &times, &run.moments());
    begun
        .iter()
        .zip(costs)
        .map(|((event, _), judged)| EventCost {
            name: event.name.clone(),
            occurrence: event.occurrence,
            judged,
        })
        .collect()
}

/// Returns the measured window of a run, in nanoseconds since the load began; `None` if it has none.
fn window_ns(run: &Run) -> Option<(u64, u64)> {
    let length_ns = run.ending.as_ref()?.window_ns?;
    Some((run.new.warm_up_ns, run.new.warm_up_ns.saturating_add(length_ns)))
}

/// Returns the costs of events, in the order in which they began. `windows` are the time series of the load, in order.
pub fn judge(window_ns: (u64, u64), events: &[Times], windows: &[Moment]) -> Vec<Judged> {
    let course = WindowSeries::of(windows, window_ns.1);
    let mut level_from_ns = window_ns.0;
    let mut looked: Vec<Result<EventObservation, String>> = Vec::new();
    for (place, event) in events.iter().enumerate() {
        // Simultaneous events begin within microseconds of each other, and each has the cost of all of them.
        let next = events[place + 1..].iter().find(|next| !begin_together(event.begun_ns, next.begun_ns));
        let until_ns = next.map_or(window_ns.1, |next| next.begun_ns.min(window_ns.1));
        let last_level = looked.iter().flatten().next_back().map(|looked| &looked.level);
        let found = observe(&course, event, (level_from_ns, last_level), until_ns);
        let undisturbed_ns = match &found {
            Ok(looked) => looked.to_ns,
            Err(_) => event.ended_ns.unwrap_or(event.begun_ns).saturating_add(CALM_NS),
        };
        level_from_ns = level_from_ns.max(undisturbed_ns);
        looked.push(found);
    }
    let spans: Vec<(u64, u64)> =
        looked.iter().flatten().map(|looked| (looked.from_ns, looked.to_ns)).collect();
    let cost = |found: Result<EventObservation, String>| match found {
        Ok(looked) => Judged::Cost(Box::new(cost(&course, &looked, &spans))),
        Err(why) => Judged::Unknown(why),
    };
    looked.into_iter().map(cost).collect()
}

/// Returns whether two events begin within one window, so that their costs are indistinguishable.
fn begin_together(one_ns: u64, other_ns: u64) -> bool {
    one_ns.abs_diff(other_ns) <= Moment::WINDOW_NS
}

/// Windows of a load without gaps, indexed by their numbers.
struct WindowSeries {
    windows: Vec<Moment>,
    /// Number of whole windows of the load. Later windows belong to its drain.
    whole: usize,
}

impl WindowSeries {
    fn of(known: &[Moment], end_ns: u64) -> Self {
        let whole = (end_ns / Moment::WINDOW_NS) as usize;
        let mut windows: Vec<Moment> = Vec::new();
        for window in known {
            // A window long after the end of the load means that the file is damaged.
            if window.number > (whole as u64).saturating_add(WINDOWS_AFTER_MAX) {
                break;
            }
            (windows.len() as u64..window.number).for_each(|number| windows.push(Moment::numbered(number)));
            windows.push(window.clone());
        }
        let whole = whole.min(windows.len());
        Self { windows, whole }
    }

    /// Returns the existing windows from `from` to `to`.
    fn part(&self, from: usize, to: usize) -> &[Moment] {
        let to = to.min(self.windows.len());
        &self.windows[from.min(to)..to]
    }
}

/// One day, in windows of 100 ms.
const WINDOWS_AFTER_MAX: u64 = 864_000;

/// Observation of an event: period, usual level before it, and recovery.
struct EventObservation {
    from_ns: u64,
    to_ns: u64,
    level: Level,
    recovery: Recovery,
}

fn number(at_ns: u64) -> usize {
    (at_ns / Moment::WINDOW_NS) as usize
}

/// Observes an event until `until_ns`, the next event or the end of the load. The usual level is measured from
/// `level_from_ns` on. If that time is too short, `last_level` applies: the level of the previous event with a cost.
fn observe(
    course: &WindowSeries,
    event: &Times,
    (level_from_ns, last_level): (u64, Option<&Level>),
    until_ns: u64,
) -> Result<EventObservation, String> {
    let begun_ns = event.begun_ns;
    if begun_ns >= until_ns {
        return Err("the load was over when it began".to_owned());
    }
    let before_ns = begun_ns.saturating_sub(level_from_ns);
    let before = course.part(level_from_ns.div_ceil(Moment::WINDOW_NS) as usize, number(begun_ns));
    let is_enough = before_ns >= BEFORE_MIN_NS && !before.is_empty();
    let answers: u64 = before.iter().map(|window| window.ok).sum();
    let level = if is_enough && answers >= ANSWERS_MIN {
        Level::of(before, (level_from_ns, number(begun_ns) as u64 * Moment::WINDOW_NS))
    } else if let Some(level) = last_level {
        level.clone()
    } else {
        let before_s = before_ns as f64 / 1e9;
        let needs = format!("at least {} s and {ANSWERS_MIN} ok answers", BEFORE_MIN_NS / 1_000_000_000);
        return Err(format!(
            "too little is known from before it: {before_s:.1} s and {answers} ok answers, and it takes {needs} to know what is usual"
        ));
    };
    let until = number(until_ns).min(course.whole);
    let (mut recovery, calm_to) = recovery::recovery(&level, course.part(0, until), event);
    // The next event may restore the system, such as a start after a kill.
    if matches!(recovery, Recovery::NotWithin(_)) && until < course.whole {
        recovery = recovery::recovery(&level, course.part(0, course.whole), event).0;
    }
    let to_ns = calm_to.map_or(until_ns, |window| (window as u64 * Moment::WINDOW_NS).min(until_ns));
    Ok(EventObservation { from_ns: begun_ns, to_ns, level, recovery })
}

fn cost(course: &WindowSeries, looked: &EventObservation, spans: &[(u64, u64)]) -> Cost {
    let EventObservation { from_ns, to_ns, level, recovery } = looked;
    let (from_ns, to_ns) = (*from_ns, *to_ns);
    let of_event = course.part(number(from_ns), to_ns.div_ceil(Moment::WINDOW_NS) as usize);
    let losses = Losses::of(course, (from_ns, to_ns), spans);
    let planned = of_event.iter().map(|window| window.planned).sum();
    let outage = outage(of_event, (from_ns, to_ns), level);
    let worst_ns = of_event.iter().map(|window| window.ok_response_max_ns).max().unwrap_or(0);
    let disturbed_to_ns = match recovery {
        Recovery::After(0) | Recovery::Unconfirmed(0) => from_ns,
        // Waiting requests may be answered only after the system is back.
        Recovery::After(ns) | Recovery::Unconfirmed(ns) => to_ns.min(from_ns + ns + ANSWERED_NS),
        Recovery::NotWithin(_) => to_ns,
    };
    let disturbed = course.part(number(from_ns), disturbed_to_ns.div_ceil(Moment::WINDOW_NS) as usize);
    let is_disturbed = disturbed_to_ns > from_ns;
    let excess =
        |window: &Moment| window.ok_response_sum_ns as f64 - window.ok as f64 * level.response_mean_ns;
    Cost {
        from_ns,
        to_ns,
        planned,
        errors: losses.all(),
        lost: losses.excess_over(&level.losses, planned),
        outage_ns: outage.map_or(0, |(lasting_ns, _)| lasting_ns),
        outage_is_open: outage.is_some_and(|(_, is_open)| is_open),
        worst_response_ns: (worst_ns > 0).then_some(worst_ns),
        excess_wait_ns: if is_disturbed { disturbed.iter().map(excess).sum() } else { 0.0 },
        recovery: *recovery,
        before: level.stored(),
    }
}

/// Returns the longest time without an ok answer, if longer than usual, and whether it lasted to the end.
fn outage(windows: &[Moment], (from_ns, to_ns): (u64, u64), level: &Level) -> Option<(u64, bool)> {
    let usual_ns = (OUTAGE_MIN_RESPONSES * level.response_mean_ns)
        .max(OUTAGE_MIN_RESPONSES * 1e9 / level.ok_per_s)
        .max(OUTAGE_MIN_GAPS * level.longest_gap_ns as f64)
        .max(OUTAGE_MIN_NS);
    // Delay of the generator itself during the gap.
    let late_ns = |gap: &record::Gap| {
        let within = windows
            .iter()
            .filter(|window| window.at_ns() < gap.to_ns && window.at_ns() + Moment::WINDOW_NS > gap.from_ns);
        within.map(|window| window.late_ns).max().unwrap_or(0)
    };
    let gaps = Gaps::find_in(windows, (from_ns, to_ns), usual_ns as u64);
    gaps.iter()
        .filter(|gap| gap.lasting_ns.saturating_sub(late_ns(gap)) as f64 > usual_ns)
        .max_by_key(|gap| gap.lasting_ns)
        .map(|gap| (gap.lasting_ns, gap.is_open))
}
