//! What events cost over several runs, or blocks: the figures of tables, of JSON, and of the page.

use std::collections::BTreeMap;

use evidence::{Cost, EventCost, Lost, Recovery};
use record::Loss;
use stats::Repeated;

use super::{Happened, of_run};
use crate::table::Cell;
use crate::units::{decimal, duration};
use crate::view::View;

/// The unit of excess waiting: seconds, summed over requests.
pub(crate) const REQUEST_SECONDS: &str = "request-seconds";

/// A figure of what an event cost in a run, all its occurrences together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Requests lost by all occurrences.
    Lost,
    /// Those of one class, as [`Lost::classes`] names it. `stale_reuse` is not in [`Figure::Lost`].
    LostAs(&'static str),
    /// The longest outage, in nanoseconds.
    Outage,
    /// The longest time until the system was back to what was usual, in nanoseconds; none if it was not after one of them.
    Recovery,
    /// The longest response time of an ok answer, in nanoseconds.
    Worst,
    /// Waiting beyond what was usual, in nanoseconds, summed over requests.
    ExcessWaiting,
}

impl Figure {
    /// Requests that no client can avoid to lose.
    pub(crate) const STALE_REUSE: Self = Self::LostAs(Loss::StaleReuse.name());

    /// Every one, in the order in which they are read.
    pub(crate) fn all() -> Vec<Self> {
        let classes = Lost::default().classes().map(|(class, _)| Self::LostAs(class));
        let others = [Self::Outage, Self::Recovery, Self::Worst, Self::ExcessWaiting];
        std::iter::once(Self::Lost).chain(classes).chain(others).collect()
    }

    /// Of one run; none where nobody knows it.
    pub(crate) fn of(self, run: &InRun) -> Option<f64> {
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

    /// As reports write it, with its unit where the head of a column does not say it.
    pub(crate) fn write(self, figure: f64) -> String {
        match self {
            Self::Lost | Self::LostAs(_) => decimal(figure, if figure.fract() == 0.0 { 0 } else { 1 }),
            Self::Outage | Self::Recovery | Self::Worst if figure == 0.0 => "0".to_owned(),
            Self::Outage | Self::Recovery | Self::Worst => duration(figure),
            Self::ExcessWaiting => decimal(figure / 1e9, if figure.abs() < 100e9 { 2 } else { 1 }),
        }
    }

    /// A difference, with its sign.
    pub(crate) fn write_signed(self, figure: f64) -> String {
        let sign = match figure {
            figure if figure > 0.0 => "+",
            figure if figure < 0.0 => "−",
            _ => "",
        };
        format!("{sign}{}", self.write(figure.abs()))
    }
}

/// What all occurrences of an event cost in one run.
#[derive(Clone, Copy)]
pub(crate) struct InRun {
    lost: Lost,
    outage_ns: f64,
    worst_response_ns: Option<f64>,
    excess_wait_ns: f64,
    recovery_ns: Option<f64>,
}

impl InRun {
    #[cfg(test)]
    pub(crate) fn with(lost: f64, outage_ns: f64, recovery_ns: Option<f64>) -> Self {
        let lost = Lost { reset: lost as u64, ..Lost::default() };
        Self { lost, outage_ns, recovery_ns, ..Self::of(&[]) }
    }

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

/// What the events of a run cost, by name; `None` where nobody knows of one of the occurrences.
pub(crate) fn in_run<'a>(view: &View<'a>) -> BTreeMap<&'a str, Option<InRun>> {
    let mut by_name: BTreeMap<&'a str, Option<Vec<&'a Cost>>> = BTreeMap::new();
    for of in of_run(view) {
        let cost = of.cost.and_then(EventCost::cost);
        let costs = by_name.entry(&of.event.name).or_insert_with(|| Some(Vec::new()));
        match (costs.as_mut(), cost) {
            (Some(costs), Some(cost)) => costs.push(cost),
            _ => *costs = None,
        }
    }
    by_name.into_iter().map(|(name, costs)| (name, costs.map(|costs| InRun::of(&costs)))).collect()
}

/// What one event cost over runs made in the same way.
pub(crate) struct Pooled<'a> {
    /// It may hold anything: escape it.
    pub(crate) name: &'a str,
    /// Every run with the event, by its block (0 outside of a study); `None` if nobody knows what it cost there.
    pub(crate) runs: Vec<(u32, Option<InRun>)>,
    /// When the first of its occurrences began, in seconds after the end of the warm-up, and how long one took.
    pub(crate) at_s: Option<Repeated>,
    pub(crate) took_ns: Option<Repeated>,
    /// Why a cost is not known, of the first such run that says so.
    pub(crate) why_unknown: Option<&'a str>,
}

/// What the events of several runs cost, by name.
pub(crate) fn pooled<'a>(views: &[&View<'a>]) -> Vec<Pooled<'a>> {
    let mut by_name: BTreeMap<&'a str, Vec<(u32, Option<InRun>)>> = BTreeMap::new();
    for view in views {
        let block = view.place().map_or(0, |place| place.block);
        for (name, cost) in in_run(view) {
            by_name.entry(name).or_default().push((block, cost));
        }
    }
    by_name.into_iter().map(|(name, runs)| Pooled::of(name, runs, views)).collect()
}

impl<'a> Pooled<'a> {
    fn of(name: &'a str, runs: Vec<(u32, Option<InRun>)>, views: &[&View<'a>]) -> Self {
        let of_view =
            |view: &&View<'a>| of_run(view).into_iter().filter(|of| of.event.name == name).collect();
        let events: Vec<Vec<Happened<'a>>> = views.iter().map(of_view).collect();
        let first_s: Vec<f64> = events.iter().filter_map(|of| of.first()?.at_s()).collect();
        let all = || events.iter().flatten();
        let took_ns: Vec<f64> = all().filter_map(|of| Some(of.event.lasting_ns()? as f64)).collect();
        Self {
            name,
            runs,
            at_s: Repeated::of(&first_s),
            took_ns: Repeated::of(&took_ns),
            why_unknown: all().find_map(|of| of.cost?.why_unknown()),
        }
    }

    fn known(&self) -> impl Iterator<Item = &InRun> {
        self.runs.iter().filter_map(|(_, cost)| cost.as_ref())
    }

    /// Runs in which its cost is known.
    pub(crate) fn runs_known(&self) -> usize {
        self.known().count()
    }

    /// Of these, those after which the system was not back to what was usual.
    pub(crate) fn not_recovered(&self) -> usize {
        self.known().filter(|run| run.recovery_ns.is_none()).count()
    }

    /// A figure of each run, with its block.
    pub(crate) fn values(&self, figure: Figure) -> impl Iterator<Item = (u32, Option<f64>)> {
        self.runs.iter().map(move |(block, cost)| (*block, cost.as_ref().and_then(|run| figure.of(run))))
    }

    /// Whether it is above 0 in any run.
    pub(crate) fn any(&self, figure: Figure) -> bool {
        self.values(figure).any(|(_, value)| value.is_some_and(|value| value > 0.0))
    }

    /// A figure over the runs in which it is known. The recovery is that of the runs with one; any other is unknown if it is in one
    /// of the runs whose cost is known.
    pub(crate) fn over(&self, figure: Figure) -> Option<Repeated> {
        let all = self.known().map(|run| figure.of(run));
        let figures: Vec<f64> = match figure {
            Figure::Recovery => all.flatten().collect(),
            _ => all.collect::<Option<_>>()?,
        };
        Repeated::of(&figures)
    }

    /// Without its interval; in brackets, after how many runs the system was not back.
    pub(crate) fn short_cell(&self, figure: Figure) -> Cell {
        let cell = Cell::figure_or_na(self.over(figure).map(|of| of.middle), |middle| figure.write(middle));
        match (figure, self.not_recovered()) {
            (Figure::Recovery, runs @ 1..) => Cell { text: format!("{} (not in {runs})", cell.text), ..cell },
            _ => cell,
        }
    }

    /// With its interval, and where the system was not back, in how many runs.
    pub(crate) fn cell(&self, figure: Figure) -> Cell {
        let cell = with_interval(self.over(figure), |of| figure.write(of));
        match (figure, self.not_recovered()) {
            (Figure::Recovery, runs @ 1..) => {
                let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
                Cell { text: format!("{}; not in {runs}", cell.text), ..cell }
            }
            _ => cell,
        }
    }
}

/// A figure with its interval: `1.20 s (1.10 s – 1.35 s)`.
pub(crate) fn with_interval(figure: Option<Repeated>, write: impl Fn(f64) -> String) -> Cell {
    let Some(Repeated { middle, interval, .. }) = figure else { return Cell::figure_or_na(None, write) };
    let within = interval.map_or(String::new(), |[low, high]| format!(" ({} – {})", write(low), write(high)));
    Cell { text: format!("{}{within}", write(middle)), value: Some(middle) }
}
