//! What happened to systems under load, and what that cost: the same in every format.

use std::collections::BTreeMap;

use stats::Repeated;
use store::{Cost, Event, EventCost, Lost, Recovery};

use crate::item::{Escape, Item};
use crate::table::{Cell, Table};
use crate::text::{cut_to, harmless};
use crate::units::{count, decimal, duration};
use crate::view::View;

/// Rows of a table, and sentences about events whose cost is not known.
const ROWS_MAX: usize = 24;
const SENTENCES_MAX: usize = 4;
const NAME_CHARACTERS_MAX: usize = 28;

/// An event of a run, and what it cost.
pub(crate) struct Happened<'a> {
    pub(crate) event: &'a Event,
    /// `None`: it did not begin, or the run did not come to its end.
    pub(crate) cost: Option<&'a EventCost>,
    /// `deploy`, or `deploy #2` if it repeats. It may hold anything: escape it.
    pub(crate) name: String,
    warm_up_ns: u64,
}

/// The events of a run, in the order in which they began.
pub(crate) fn of_run<'a>(view: &View<'a>) -> Vec<Happened<'a>> {
    let (events, costs) = (view.run.events(), view.run.event_costs());
    let repeats = |event: &Event| events.iter().any(|other| other.name == event.name && other.occurrence > 0);
    let happened = |event: &'a Event| Happened {
        event,
        cost: costs.iter().find(|cost| cost.name == event.name && cost.occurrence == event.occurrence),
        name: match repeats(event) {
            true => format!("{} #{}", event.name, u64::from(event.occurrence) + 1),
            false => event.name.clone(),
        },
        warm_up_ns: view.run.new.warm_up_ns,
    };
    events.iter().map(happened).collect()
}

impl Happened<'_> {
    /// Seconds after the end of the warm-up.
    pub(crate) fn seconds(&self, at_ns: u64) -> f64 {
        (at_ns as f64 - self.warm_up_ns as f64) / 1e9
    }

    /// When it began, in seconds after the end of the warm-up; `None` if it did not.
    pub(crate) fn at_s(&self) -> Option<f64> {
        self.event.begun_ns.map(|ns| self.seconds(ns))
    }

    /// What it cost, if that is known.
    pub(crate) fn figures(&self) -> Option<&Cost> {
        self.cost?.cost()
    }

    /// Why nobody knows what it cost.
    pub(crate) fn why_unknown(&self) -> Option<&str> {
        self.cost?.why_unknown()
    }
}

/// A row for each event, and why costs are not known; nothing of a run without events.
pub(crate) fn items(view: &View<'_>, escape: Escape) -> Vec<Item> {
    let mut happened = of_run(view);
    let left_out = happened.len().saturating_sub(ROWS_MAX);
    happened.truncate(ROWS_MAX);
    if happened.is_empty() {
        return Vec::new();
    }
    let mut items = vec![Item::Table(table(&happened, escape))];
    let why = |of: &Happened<'_>| {
        let failure = of.event.failure.as_ref().map(|failure| format!("failed: {failure}"));
        let why = failure.or_else(|| of.why_unknown().map(|why| format!("no cost: {why}")))?;
        Some(format!("{}: {}", name(&of.name, escape), escape(&why)))
    };
    let mut sentences: Vec<String> = happened.iter().filter_map(why).collect();
    cut_to(&mut sentences, SENTENCES_MAX, |more| format!("and {more} more"));
    if left_out > 0 {
        sentences.push(format!("{left_out} more events are in the JSON report"));
    }
    if !sentences.is_empty() {
        items.push(Item::facts(sentences.into_iter().map(|sentence| ("events", sentence))));
    }
    items
}

fn table(happened: &[Happened<'_>], escape: Escape) -> Table {
    let mut table = Table::of_names("event", happened.iter().map(|of| name(&of.name, escape)));
    let seconds = |s: f64| format!("{} s", decimal(s, 1));
    table.column("at", "", happened.iter().map(|of| Cell::figure(of.at_s(), seconds)));
    let took = |of: &Happened<'_>| of.event.lasting_ns().map(|ns| ns as f64);
    table.column("took", "", happened.iter().map(|of| Cell::figure(took(of), duration)));
    let of_cost = |of: &Happened<'_>, cell: &dyn Fn(&Cost) -> Cell| {
        of.figures().map_or_else(|| Cell::figure_or_na(None, duration), cell)
    };
    let lost = |cost: &Cost| Cell { text: lost(&cost.lost), value: Some(cost.lost.total() as f64) };
    table.column("lost", "", happened.iter().map(|of| of_cost(of, &lost)));
    let out = |cost: &Cost| Cell { text: outage(cost), value: Some(cost.outage_ns as f64) };
    table.column("outage", "", happened.iter().map(|of| of_cost(of, &out)));
    let worst = |cost: &Cost| Cell::figure(cost.worst_response_ns.map(|ns| ns as f64), duration);
    table.column("worst", "response", happened.iter().map(|of| of_cost(of, &worst)));
    let recovered = |cost: &Cost| Cell { text: recovery(cost.recovery), value: None };
    table.column("recovery", "", happened.iter().map(|of| of_cost(of, &recovered)));
    table
}

/// `12 (10 reset, 2 rejected) + 3 stale`
fn lost(lost: &Lost) -> String {
    let total = lost.total();
    let classes: Vec<String> = lost
        .classes()
        .iter()
        .take(6)
        .filter(|(_, lost)| *lost > 0)
        .map(|(class, lost)| format!("{} {}", count(*lost), class.replace('_', " ")))
        .collect();
    let by_class = if classes.is_empty() { String::new() } else { format!(" ({})", classes.join(", ")) };
    let stale = match lost.stale_reuse {
        0 => String::new(),
        stale => format!(" + {} stale", count(stale)),
    };
    format!("{}{by_class}{stale}", count(total))
}

fn outage(cost: &Cost) -> String {
    match (cost.outage_ns, cost.outage_is_open) {
        (0, _) => "none".to_owned(),
        (ns, false) => duration(ns as f64),
        (ns, true) => format!("{}, to the end", duration(ns as f64)),
    }
}

fn recovery(recovery: Recovery) -> String {
    match recovery {
        Recovery::After(0) => "none needed".to_owned(),
        Recovery::After(ns) => duration(ns as f64),
        Recovery::NotWithin(ns) => format!("not within {}", duration(ns as f64)),
        Recovery::Unconfirmed(0) => "none?".to_owned(),
        Recovery::Unconfirmed(ns) => format!("{}?", duration(ns as f64)),
    }
}

fn name(name: &str, escape: Escape) -> String {
    escape(&harmless(name, NAME_CHARACTERS_MAX))
}

/// What all occurrences of an event cost in one run.
#[derive(Clone, Copy)]
pub(crate) struct InRun {
    pub(crate) lost: f64,
    stale_reuse: f64,
    /// The longest.
    pub(crate) outage_ns: f64,
    worst_response_ns: Option<f64>,
    pub(crate) excess_wait_ns: f64,
    /// The longest; `None` if the system was not back after one of them.
    pub(crate) recovery_ns: Option<f64>,
}

impl InRun {
    #[cfg(test)]
    pub(crate) fn with(lost: f64, outage_ns: f64, recovery_ns: Option<f64>) -> Self {
        let nothing = Self::of(&[]);
        Self { lost, outage_ns, recovery_ns, ..nothing }
    }

    fn of(costs: &[&Cost]) -> Self {
        let longest = |of: fn(&Cost) -> Option<u64>| {
            let all = costs.iter().map(|cost| of(cost)).collect::<Option<Vec<u64>>>()?;
            all.into_iter().max().map(|ns| ns as f64)
        };
        let sum = |of: fn(&Cost) -> f64| costs.iter().map(|cost| of(cost)).sum();
        Self {
            lost: sum(|cost| cost.lost.total() as f64),
            stale_reuse: sum(|cost| cost.lost.stale_reuse as f64),
            outage_ns: longest(|cost| Some(cost.outage_ns)).unwrap_or(0.0),
            worst_response_ns: longest(|cost| cost.worst_response_ns),
            excess_wait_ns: sum(|cost| cost.excess_wait_ns),
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
    /// Runs in which its cost is known, and all in which it was planned.
    pub(crate) runs: [usize; 2],
    /// Runs of these after which the system was not back to what was usual.
    pub(crate) not_recovered: usize,
    /// When the first of its occurrences began, in seconds after the end of the warm-up, and how long one took.
    pub(crate) at_s: Option<Repeated>,
    pub(crate) took_ns: Option<Repeated>,
    /// Requests lost by all its occurrences in a run.
    pub(crate) lost: Option<Repeated>,
    /// Those that no client can avoid to lose.
    pub(crate) stale_reuse: Option<Repeated>,
    /// The longest, in nanoseconds.
    pub(crate) outage_ns: Option<Repeated>,
    pub(crate) worst_response_ns: Option<Repeated>,
    /// Summed over requests.
    pub(crate) excess_wait_ns: Option<Repeated>,
    /// The longest, of the runs with one.
    pub(crate) recovery_ns: Option<Repeated>,
}

/// What the events of several runs cost, by name.
pub(crate) fn pooled<'a>(views: &[&View<'a>]) -> Vec<Pooled<'a>> {
    let mut by_name: BTreeMap<&'a str, Vec<Option<InRun>>> = BTreeMap::new();
    for view in views {
        in_run(view).into_iter().for_each(|(name, cost)| by_name.entry(name).or_default().push(cost));
    }
    let timed = |pooled: Pooled<'a>| {
        let of_view =
            |view: &&View<'a>| of_run(view).into_iter().filter(|of| of.event.name == pooled.name).collect();
        let events: Vec<Vec<Happened<'a>>> = views.iter().map(of_view).collect();
        let first_s: Vec<f64> = events.iter().filter_map(|of| of.first()?.at_s()).collect();
        let took = |of: &Happened<'a>| of.event.lasting_ns().map(|ns| ns as f64);
        let took_ns: Vec<f64> = events.iter().flatten().filter_map(took).collect();
        Pooled { at_s: Repeated::of(&first_s), took_ns: Repeated::of(&took_ns), ..pooled }
    };
    by_name.into_iter().map(|(name, runs)| timed(Pooled::of(name, &runs))).collect()
}

impl<'a> Pooled<'a> {
    fn of(name: &'a str, runs: &[Option<InRun>]) -> Self {
        let known: Vec<&InRun> = runs.iter().flatten().collect();
        let over = |figure: fn(&InRun) -> Option<f64>| {
            let figures: Option<Vec<f64>> = known.iter().map(|run| figure(run)).collect();
            Repeated::of(&figures?)
        };
        let recovered: Vec<f64> = known.iter().filter_map(|run| run.recovery_ns).collect();
        Self {
            name,
            runs: [known.len(), runs.len()],
            not_recovered: known.len() - recovered.len(),
            at_s: None,
            took_ns: None,
            lost: over(|run| Some(run.lost)),
            stale_reuse: over(|run| Some(run.stale_reuse)),
            outage_ns: over(|run| Some(run.outage_ns)),
            worst_response_ns: over(|run| run.worst_response_ns),
            excess_wait_ns: over(|run| Some(run.excess_wait_ns)),
            recovery_ns: Repeated::of(&recovered),
        }
    }
}

/// A figure with its interval: `1.20 s (1.10 s – 1.35 s)`.
pub(crate) fn with_interval(figure: Option<Repeated>, write: impl Fn(f64) -> String) -> Cell {
    let Some(Repeated { middle, interval, .. }) = figure else { return Cell::figure_or_na(None, write) };
    let within = interval.map_or(String::new(), |[low, high]| format!(" ({} – {})", write(low), write(high)));
    Cell { text: format!("{}{within}", write(middle)), value: Some(middle) }
}
