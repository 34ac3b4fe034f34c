//! A load is over: its accounts are closed, and it is judged what they are worth.

use engine::{StopLevel, WorkerEnd};
use plan::Plan;
use record::{ConnectionTotals, Counts, Phase, Spread, Tally};
use store::{Ending, Generator, Level, Steadiness, Store, Verdict};

use crate::around::{Around, Before};
use crate::beside::Beside;
use crate::ceiling::Shape;
use crate::collect::Collected;
use crate::one_run::{RunError, unix_ms};
use crate::validity::Evidence;
use crate::{ceiling, steadiness, usage, validity};

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
    let closed = close(collected)?;
    if asked == StopLevel::Go && closed.is_near_a_limit() {
        let shape = Shape { plan, threads, cores, system_cores: &system_cores, tally: &closed.tally };
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
    rest: Collected,
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

fn close(mut collected: Collected) -> Result<Closed, RunError> {
    let warm_up = collected.counts(Phase::WarmUp);
    let is_whole = collected.broke.is_empty() && collected.hopeless.is_empty();
    let mut tally = Tally::default();
    for whole in std::mem::take(&mut collected.wholes) {
        let [warm_up, measured] =
            whole.map(|whole| if is_whole { whole.settle() } else { whole.cut_short() });
        warm_up?;
        tally.merge(&measured?);
    }
    Ok(Closed { tally, warm_up, rest: collected })
}

/// That somebody stopped it comes first: when its study goes on, it is made again.
fn how_it_went(asked: StopLevel, level: Level, overran: bool) -> Verdict {
    match (asked, level) {
        (StopLevel::Abort, _) => Verdict::Aborted,
        (StopLevel::Drain, _) => Verdict::Partial,
        (StopLevel::Go, Level::Invalid) => Verdict::Invalid,
        (StopLevel::Go, _) if overran => Verdict::Aborted,
        (StopLevel::Go, _) => Verdict::Complete,
    }
}

/// The generator is asked how it fared.
fn judge(plan: &Plan, closed: Closed, threads: u32, asked: StopLevel, around: &Around) -> Ending {
    let Closed { tally, warm_up, rest } = closed;
    let Collected { ends, broke, hopeless, overran, cpu, pulses, busiest, extended, settled_at_ns, .. } =
        rest;
    let evidence = Evidence {
        warm_up,
        asked,
        is_settled: settled_at_ns.is_some(),
        broke: &broke,
        hopeless: &hopeless,
        busiest_10s_share: busiest.cpu_share(),
        ..Evidence::of(plan, &tally, &ends, around)
    };
    let validity = validity::judge(&evidence);
    let verdict = how_it_went(asked, validity.verdict, overran);
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
            .map(|found| Steadiness { extended, ..found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_was_stopped_is_made_again_whatever_else_was_wrong() {
        let told = |asked| how_it_went(asked, Level::Invalid, true);
        assert_eq!(
            [StopLevel::Go, StopLevel::Drain, StopLevel::Abort].map(told),
            [Verdict::Invalid, Verdict::Partial, Verdict::Aborted]
        );
        let told = |overran| how_it_went(StopLevel::Go, Level::Suspect, overran);
        assert_eq!([false, true].map(told), [Verdict::Complete, Verdict::Aborted]);
    }
}
