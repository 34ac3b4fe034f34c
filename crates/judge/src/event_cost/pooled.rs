//! Costs of events over several runs, or blocks.

use std::collections::BTreeMap;

use evidence::{Cost, Event, EventCost, Lost, Recovery, Run};
use record::Loss;
use stats::Repeated;

/// A figure of the cost of an event in a run, over all its occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests lost by all occurrences.
    Lost,
    /// Lost requests of one class, as [`Lost::classes`] names it. `stale_reuse` is not in [`Figure::Lost`].
    LostAs(&'static str),
    /// Longest outage, in nanoseconds.
    Outage,
    /// Longest time until the system had recovered, in nanoseconds; unknown if it did not recover from one of the occurrences.
    Recovery,
    /// Longest response time of an ok answer, in nanoseconds.
    Worst,
    /// Excess wait, in nanoseconds, summed over requests.
    ExcessWaiting,
}

impl Figure {
    /// Requests on an idle connection that the system closed just as it was reused. No client can avoid their loss.
    pub const STALE_REUSE: Self = Self::LostAs(Loss::StaleReuse.name());

    /// Returns all figures, in the order in which they are reported.
    pub fn all() -> Vec<Self> {
        let classes = Lost::default().classes().map(|(class, _)| Self::LostAs(class));
        let others = [Self::Outage, Self::Recovery, Self::Worst, Self::ExcessWaiting];
        std::iter::once(Self::Lost).chain(classes).chain(others).collect()
    }

    /// Returns the value in one run; `None` if unknown.
    pub fn of(self, run: &RunCost) -> Option<f64> {
        match self {
            Self::Lost => Some(run.lost.total() as f64),
            Self::LostAs(class) => {
                run.lost.classes().into_iter().find(|(name, _)| *name == class).map(|(_, lost)| lost as f64)
            }
            Self::Outage => Some(run.outage_ns),
            Self::Recovery => run.recovery_ns,
            Self::Worst => run.worst_response_ns,
            Self::ExcessWaiting => Some(run.excess_wait_ns),
        }
    }
}

/// Cost of all occurrences of an event in one run.
#[derive(Clone, Copy, Debug)]
pub struct RunCost {
    lost: Lost,
    outage_ns: f64,
    worst_response_ns: Option<f64>,
    excess_wait_ns: f64,
    recovery_ns: Option<f64>,
}

impl RunCost {
    fn of(costs: &[&Cost]) -> Self {
        let longest = |of: fn(&Cost) -> Option<u64>| {
            let all = costs.iter().map(|cost| of(cost)).collect::<Option<Vec<u64>>>()?;
            all.into_iter().max().map(|ns| ns as f64)
        };
        let mut lost = Lost::default();
        costs.iter().for_each(|cost| lost.add(&cost.lost));
        Self {
            lost,
            outage_ns: longest(|cost| Some(cost.outage_ns)).unwrap_or(0.0),
            worst_response_ns: longest(|cost| cost.worst_response_ns),
            excess_wait_ns: costs.iter().map(|cost| cost.excess_wait_ns).sum(),
            recovery_ns: longest(|cost| match cost.recovery {
                Recovery::After(ns) => Some(ns),
                Recovery::NotWithin(_) | Recovery::Unconfirmed(_) => None,
            }),
        }
    }
}

/// Returns the costs of the events of a run, by name; `None` if the cost of an occurrence is unknown. Names come from
/// outside: escape them.
pub fn in_run(run: &Run) -> BTreeMap<&str, Option<RunCost>> {
    let mut by_name: BTreeMap<&str, Option<Vec<&Cost>>> = BTreeMap::new();
    for event in run.events() {
        let cost = cost_of(run, event).and_then(EventCost::cost);
        let costs = by_name.entry(&event.name).or_insert_with(|| Some(Vec::new()));
        match (costs.as_mut(), cost) {
            (Some(costs), Some(cost)) => costs.push(cost),
            _ => *costs = None,
        }
    }
    by_name.into_iter().map(|(name, costs)| (name, costs.map(|costs| RunCost::of(&costs)))).collect()
}

fn cost_of<'a>(run: &'a Run, event: &Event) -> Option<&'a EventCost> {
    run.event_costs().iter().find(|cost| cost.name == event.name && cost.occurrence == event.occurrence)
}

/// Cost of one event over runs of one configuration.
#[derive(Clone, Debug)]
pub struct Pooled<'a> {
    /// Name of the event, from outside: escape it.
    pub name: &'a str,
    /// All runs with the event: block (0 outside of a study), and cost; `None` if the cost is unknown.
    pub runs: Vec<(u32, Option<RunCost>)>,
    /// Start of the first occurrence, in seconds after the end of the warm-up.
    pub at_s: Option<Repeated>,
    /// Duration of an occurrence, in nanoseconds.
    pub took_ns: Option<Repeated>,
    /// Reason why a cost is unknown, from the first such run that has one.
    pub why_unknown: Option<&'a str>,
}

/// Returns the costs of the events of several runs, by name.
pub fn pooled<'a>(runs: &[&'a Run]) -> Vec<Pooled<'a>> {
    let mut by_name: BTreeMap<&'a str, Vec<(u32, Option<RunCost>)>> = BTreeMap::new();
    for run in runs {
        let block = run.new.place.as_ref().map_or(0, |(_, place)| place.block);
        for (name, cost) in in_run(run) {
            by_name.entry(name).or_default().push((block, cost));
        }
    }
    by_name.into_iter().map(|(name, in_runs)| Pooled::of(name, in_runs, runs)).collect()
}

impl<'a> Pooled<'a> {
    fn of(name: &'a str, in_runs: Vec<(u32, Option<RunCost>)>, runs: &[&'a Run]) -> Self {
        let named = |run: &&'a Run| run.events().iter().filter(|event| event.name == name);
        let first_s = |run: &&'a Run| {
            let ns = named(run).next()?.begun_ns?;
            Some((ns as f64 - run.new.warm_up_ns as f64) / 1e9)
        };
        let first_s: Vec<f64> = runs.iter().filter_map(first_s).collect();
        let took_ns: Vec<f64> =
            runs.iter().flat_map(named).filter_map(|event| Some(event.lasting_ns()? as f64)).collect();
        let mut costs = runs.iter().flat_map(|run| named(run).filter_map(|event| cost_of(run, event)));
        Self {
            name,
            runs: in_runs,
            at_s: Repeated::of(&first_s),
            took_ns: Repeated::of(&took_ns),
            why_unknown: costs.find_map(EventCost::why_unknown),
        }
    }

    fn known(&self) -> impl Iterator<Item = &RunCost> {
        self.runs.iter().filter_map(|(_, cost)| cost.as_ref())
    }

    /// Returns the number of runs with a known cost.
    pub fn runs_known(&self) -> usize {
        self.known().count()
    }

    /// Returns the number of runs with a known cost in which the system did not recover.
    pub fn not_recovered(&self) -> usize {
        self.known().filter(|run| run.recovery_ns.is_none()).count()
    }

    /// Returns a figure of each run, with the run's block.
    pub fn values(&self, figure: Figure) -> impl Iterator<Item = (u32, Option<f64>)> {
        self.runs.iter().map(move |(block, cost)| (*block, cost.as_ref().and_then(|run| figure.of(run))))
    }

    /// Returns whether a figure is above 0 in any run.
    pub fn any(&self, figure: Figure) -> bool {
        self.values(figure).any(|(_, value)| value.is_some_and(|value| value > 0.0))
    }

    /// Returns a figure over the runs with a known cost. `Recovery` skips runs that did not recover. Any other figure
    /// is `None` if it is unknown in one of these runs.
    pub fn over(&self, figure: Figure) -> Option<Repeated> {
        let all = self.known().map(|run| figure.of(run));
        let figures: Vec<f64> = match figure {
            Figure::Recovery => all.flatten().collect(),
            _ => all.collect::<Option<_>>()?,
        };
        Repeated::of(&figures)
    }
}

/// Difference in the cost of an event between two variants, over the blocks in which both were measured.
#[derive(Clone, Debug)]
pub struct Difference<'a> {
    /// Name of the event, from outside: escape it.
    pub name: &'a str,
    /// Index of the variant in the rows of the load.
    pub row: usize,
    /// Index of the variant that it is compared with.
    pub from: usize,
    /// Costs in both variants, for each block in which both have a valid run; `None` if one of them is unknown.
    pub blocks: Vec<(u32, Option<[RunCost; 2]>)>,
}

impl Difference<'_> {
    /// Returns the number of blocks with both costs known.
    pub fn blocks_known(&self) -> usize {
        self.blocks.iter().filter(|(_, both)| both.is_some()).count()
    }

    /// Returns the difference of a figure in each block.
    pub fn by_block(&self, figure: Figure) -> impl Iterator<Item = (u32, Option<f64>)> {
        let apart = move |[own, other]: [RunCost; 2]| Some(figure.of(&own)? - figure.of(&other)?);
        self.blocks.iter().map(move |(block, both)| (*block, both.and_then(apart)))
    }

    /// Returns the difference over all blocks with both costs known. If a variant did not recover in one of them, there
    /// is no difference in recovery, because the remaining blocks would be a biased sample.
    pub fn over(&self, figure: Figure) -> Option<Repeated> {
        let known = self.blocks.iter().zip(self.by_block(figure)).filter(|((_, both), _)| both.is_some());
        let apart: Option<Vec<f64>> = known.map(|(_, (_, apart))| apart).collect();
        Repeated::of(&apart?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(lost: f64, outage_ms: f64, recovery_ms: Option<f64>) -> RunCost {
        let lost = Lost { reset: lost as u64, ..Lost::default() };
        let recovery_ns = recovery_ms.map(|ms| ms * 1e6);
        RunCost { lost, outage_ns: outage_ms * 1e6, recovery_ns, ..RunCost::of(&[]) }
    }

    /// Builds a difference with `unknown` blocks in which one of the two costs is unknown.
    fn difference(known: &[[RunCost; 2]], unknown: u32) -> Difference<'static> {
        let blocks = (0..).zip(known.iter().map(|both| Some(*both)));
        Difference {
            name: "deploy",
            row: 1,
            from: 0,
            blocks: blocks.chain((0..unknown).map(|block| (1_000 + block, None))).collect(),
        }
    }

    #[test]
    fn differences_are_paired_within_blocks() {
        // Blocks vary much more than the two variants within a block.
        let known: Vec<[RunCost; 2]> = (0..8)
            .map(|block| f64::from(block) * 1_000.0)
            .map(|base| {
                [cost(0.0, base + 800.0, Some(base + 810.0)), cost(0.0, base + 200.0, Some(base + 210.0))]
            })
            .collect();
        let found = difference(&known, 1);
        let [outage, recovery, lost] =
            [Figure::Outage, Figure::Recovery, Figure::Lost].map(|figure| found.over(figure).unwrap());
        assert_eq!((outage.middle, outage.interval), (600e6, Some([600e6, 600e6])));
        assert_eq!((recovery.middle, recovery.runs), (600e6, 8));
        assert_eq!((lost.middle, lost.interval), (0.0, Some([0.0, 0.0])));
        assert_eq!((found.blocks_known(), found.blocks.len()), (8, 9));
        assert_eq!(found.by_block(Figure::Outage).last(), Some((1_000, None)));
        let mut one_is_not_back = known.clone();
        one_is_not_back[3][0] = cost(0.0, 0.0, None);
        assert_eq!(difference(&one_is_not_back, 0).over(Figure::Recovery), None);
        assert_eq!(difference(&[], 8).over(Figure::Outage), None, "nobody knows");
    }

    #[test]
    fn intervals_miss_the_truth_in_at_most_5_percent() {
        let mut state = 1u64;
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        // Noise of a block affects both variants, and half of the runs lose no requests.
        let mut study = |effect_ms: f64| {
            let blocks = (0..8).map(|_| {
                let base_ms = 200.0 + 100.0 * chance();
                let mut one = |more_ms: f64| {
                    let ms = base_ms + more_ms + 20.0 * (chance() + chance() - 1.0);
                    cost((4.0 * chance() - 2.0).max(0.0).round(), ms, Some(ms + 20.0 * chance()))
                };
                [one(effect_ms), one(0.0)]
            });
            difference(&blocks.collect::<Vec<_>>(), 0)
        };
        let misses = |figure: Option<Repeated>, truth: f64| {
            let [low, high] = figure.and_then(|figure| figure.interval).unwrap();
            u32::from(truth < low || high < truth)
        };
        let (mut lost, mut outage, mut recovery) = (0, 0, 0);
        for _ in 0..500 {
            let equal = study(0.0);
            lost += misses(equal.over(Figure::Lost), 0.0);
            outage += misses(equal.over(Figure::Outage), 0.0);
            recovery += misses(study(600.0).over(Figure::Recovery), 600e6);
        }
        // 5 % of 500, plus three standard deviations.
        assert!([lost, outage, recovery].iter().all(|missed| *missed <= 40), "{lost} {outage} {recovery}");
    }
}
