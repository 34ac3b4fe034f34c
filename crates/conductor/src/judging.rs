//! A load is over: its accounts are closed, and it is judged what they are worth.

use engine::{StopLevel, WorkerEnd};
use plan::Plan;
use record::{Backlog, ConnectionTotals, Counts, InWindow, Pulses, Spread, Tally, Waits};
use store::{Ending, Generator, Level, Outage, Steadiness, SteadinessVerdict, Store, Verdict};

use crate::around::{Around, Before};
use crate::beside::Beside;
use crate::ceiling::Shape;
use crate::collect::Collected;
use crate::one_run::{RunError, model, unix_ms};
use crate::validity::Evidence;
use crate::{ceiling, outage, steadiness, usage, validity};

/// A busier thread than this may be near what it can do at most.
const NEAR_A_LIMIT: f64 = 0.4;

/// What is known of a load besides its accounts.
pub(crate) struct Load<'a> {
    pub(crate) plan: &'a Plan,
    /// Ceilings are kept there.
    pub(crate) store: &'a Store,
    pub(crate) threads: u32,
    /// The generator's cores; empty: any.
    pub(crate) cores: &'a [usize],
    /// What was around it when it began.
    pub(crate) before: Before,
    /// How much it was asked to stop.
    pub(crate) asked: StopLevel,
}

/// What is known about a run when its load has ended.
pub(crate) fn ending(
    load: Load<'_>,
    collected: Collected,
    beside: &mut dyn Beside,
) -> Result<Ending, RunError> {
    let Load { plan, store, threads, cores, before, asked } = load;
    let (taken, roots) = (beside.taken(), beside.roots());
    let (sharing, system_cores) = (before.sharing.clone(), before.system_cores.clone());
    let mut around =
        Around { steal_share: taken.steal_share(), throttled_s: taken.throttled_s, ..before.compare(&roots) };
    let closed = close(plan, collected)?;
    if asked == StopLevel::Go && closed.is_near_a_limit() {
        let reached_per_s = closed.window.ended_per_s();
        let shape =
            Shape { plan, threads, cores, system_cores: &system_cores, tally: &closed.tally, reached_per_s };
        match ceiling::find(&shape, store) {
            Ok(per_s) => around.ceiling_per_s = Some(per_s),
            Err(because) => beside.lacks("ceiling of the generator", because),
        }
    }
    let mut ending = judge(plan, closed, threads, asked, &around);
    // A study that started the system says it once for all its runs.
    ending.notes.extend(sharing.filter(|_| roots.is_empty()));
    Ok(ending)
}

/// A load whose accounts are closed.
struct Closed {
    /// Of the measured phase, over all steps.
    tally: Tally,
    warm_up: Counts,
    window: Window,
    rest: Collected,
}

/// The measured window, in nanoseconds since the load began.
struct Window {
    from_ns: u64,
    /// After its start.
    to_ns: u64,
    /// What ended in it.
    counts: InWindow,
}

impl Window {
    fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }

    fn ended_per_s(&self) -> f64 {
        let length_s = self.length_ns() as f64 / 1e9;
        if length_s > 0.0 { self.counts.ended() as f64 / length_s } else { 0.0 }
    }

    /// Requests in flight, the mean over the pulses that lie in it.
    fn mean_in_flight(&self, pulses: &Pulses) -> Option<f64> {
        let window_ns = pulses.window_ns();
        let within = pulses
            .windows()
            .iter()
            .filter(|pulse| pulse.at_ns >= self.from_ns && pulse.at_ns + window_ns <= self.to_ns);
        let (count, in_flight_ns) =
            within.fold((0u64, 0.0), |(count, sum), pulse| (count + 1, sum + pulse.in_flight_ns as f64));
        (count > 0).then(|| in_flight_ns / (count * window_ns) as f64)
    }
}

impl Closed {
    /// Whether it is worth knowing what the generator can do at most.
    fn is_near_a_limit(&self) -> bool {
        let busy = |end: &WorkerEnd| {
            end.health.wall_ns >= validity::SHORTEST_NS && end.health.cpu_share() > Some(NEAR_A_LIMIT)
        };
        self.rest.ends.iter().any(busy)
    }
}

fn close(plan: &Plan, mut collected: Collected) -> Result<Closed, RunError> {
    let is_whole = collected.broke.is_empty() && collected.hopeless.is_empty();
    let (mut tally, mut before) = (Tally::default(), Tally::default());
    for whole in std::mem::take(&mut collected.wholes) {
        let [warm_up, measured] =
            whole.map(|whole| if is_whole { whole.settle() } else { whole.cut_short() });
        before.merge(&warm_up?);
        tally.merge(&measured?);
    }
    Backlog::of(&before, &tally)?;
    let mut counts = before.window;
    counts.add(&tally.window);
    let (from_ns, to_ns) = (plan.warm_up_ns, window_end_ns(plan, &tally, &collected.ends));
    let window = Window { from_ns, to_ns, counts };
    Ok(Closed { tally, warm_up: before.counts, window, rest: collected })
}

/// When the window ends: with the load; or with the last counted answer, if the number of requests ended it.
fn window_end_ns(plan: &Plan, tally: &Tally, ends: &[WorkerEnd]) -> u64 {
    let stopped_at_ns = ends.iter().filter_map(|end| end.stopped_at_ns).chain(plan.stop.at_ns).min();
    let is_counted_out = plan.stop.requests.is_some_and(|requests| tally.counts.planned >= requests);
    match (stopped_at_ns, tally.last_finished_ns) {
        (Some(stopped_at_ns), Some(last_ns)) if is_counted_out => stopped_at_ns.min(last_ns),
        (Some(at_ns), _) | (None, Some(at_ns)) => at_ns,
        (None, None) => plan.warm_up_ns,
    }
}

/// That somebody stopped it comes first: when its study goes on, it is made again.
fn how_it_went(asked: StopLevel, level: Level, overran: bool, is_degraded: bool) -> Verdict {
    match (asked, level) {
        (StopLevel::Abort, _) => Verdict::Aborted,
        (StopLevel::Drain, _) => Verdict::Partial,
        (StopLevel::Go, Level::Invalid) => Verdict::Invalid,
        (StopLevel::Go, _) if overran => Verdict::Aborted,
        (StopLevel::Go, _) if is_degraded => Verdict::Degraded,
        (StopLevel::Go, _) => Verdict::Complete,
    }
}

/// The generator is asked how it fared.
fn judge(plan: &Plan, closed: Closed, threads: u32, asked: StopLevel, around: &Around) -> Ending {
    let Closed { tally, warm_up, window, mut rest } = closed;
    let outage = gone(plan, &tally, &window, &mut rest, asked);
    let window_ns = Some(window.length_ns()).filter(|ns| *ns > 0);
    let Collected { ends, broke, hopeless, overran, cpu, pulses, busiest, extended, settled_at_ns, .. } =
        rest;
    let evidence = Evidence {
        warm_up,
        window_ns,
        ended: window.counts.ended(),
        mean_in_flight: window.mean_in_flight(&pulses),
        was_gone: outage
            .as_ref()
            .is_some_and(|outage| outage.out_share(window.length_ns()) >= Outage::DEGRADED_SHARE),
        asked,
        is_settled: settled_at_ns.is_some(),
        broke: &broke,
        hopeless: &hopeless,
        busiest_10s_share: busiest.cpu_share(),
        ..Evidence::of(plan, &tally, &ends, around)
    };
    let validity = validity::judge(&evidence);
    let is_degraded = outage.as_ref().is_some_and(Outage::is_degraded);
    let verdict = how_it_went(asked, validity.verdict, overran, is_degraded);
    let connections: Vec<ConnectionTotals> = ends.iter().flat_map(|end| &end.connections).copied().collect();
    let generator = Generator {
        cpu_user_s: cpu.user_s,
        cpu_sys_s: cpu.sys_s,
        rss_peak_bytes: usage::rss_peak_bytes(),
        threads,
        ..evidence.generator()
    };
    let opening = ends.iter().filter_map(|end| end.opening_failures.as_ref());
    let notes =
        opening.map(|(count, why)| format!("{count} connections could not be opened before the load: {why}"));
    Ending {
        ended_at_unix_ms: unix_ms(),
        verdict,
        validity,
        generator,
        spread: Spread::over(&connections),
        planned_left: tally.counts.not_sent,
        notes: notes.collect(),
        resolved_ns: None,
        tls: None,
        system: None,
        failure: None,
        not_available: Vec::new(),
        // The windows in which a load drains are no part of its course, and nobody noted when that began.
        steadiness: (asked == StopLevel::Go)
            .then(|| steadiness::judge(plan, &pulses, ends.len() as u32, settled_at_ns))
            .flatten()
            .map(|found| Steadiness { extended, ..found })
            .map(|found| unsteady_if_gone(found, outage.as_ref())),
        window_ns,
        outage,
    }
}

/// How long the system was gone.
fn gone(
    plan: &Plan,
    tally: &Tally,
    window: &Window,
    rest: &mut Collected,
    asked: StopLevel,
) -> Option<Outage> {
    let gaps = std::mem::take(&mut rest.gaps).end(window.to_ns);
    let mut waits = Waits::default();
    rest.ends.iter().for_each(|end| waits.merge(&end.health.waits));
    outage::judge(&outage::Course {
        model: model(plan),
        window_ns: (window.from_ns, window.to_ns),
        gaps,
        pulses: &rest.pulses,
        waits: &waits,
        connections: rest.ends.iter().map(|end| end.connections.len() as u64).sum(),
        counts: tally.counts,
        // What was due when a load was ended as steady is nobody's loss either.
        asked: if rest.settled_at_ns.is_some() { asked.max(StopLevel::Drain) } else { asked },
    })
}

/// A time without answers breaks steadiness, whatever the windows before and after it say.
fn unsteady_if_gone(found: Steadiness, outage: Option<&Outage>) -> Steadiness {
    match outage.and_then(outage::words) {
        Some(why) => Steadiness { verdict: SteadinessVerdict::NotSteady, why: Some(why), ..found },
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_stopped_is_made_again_whatever_else_was_wrong() {
        let told = |asked| how_it_went(asked, Level::Invalid, true, true);
        assert_eq!(
            [StopLevel::Go, StopLevel::Drain, StopLevel::Abort].map(told),
            [Verdict::Invalid, Verdict::Partial, Verdict::Aborted]
        );
        let told = |overran, is_degraded| how_it_went(StopLevel::Go, Level::Suspect, overran, is_degraded);
        assert_eq!(told(false, false), Verdict::Complete);
        assert_eq!(told(false, true), Verdict::Degraded);
        assert_eq!(told(true, true), Verdict::Aborted);
    }
}
