//! Events during a load and their costs, shared by all formats.

mod pooled;

use evidence::{Cost, Event, EventCost, Lost, Recovery};
use judge::event_cost::Figure;

pub(crate) use pooled::{REQUEST_SECONDS, cell, pooled, short_cell, signed, with_interval, written};

use crate::event_causes;
use crate::item::{Escape, Fact, Item};
use crate::table::{Cell, Table};
use crate::text::{sanitize, truncate_list};
use crate::units::{count, decimal, duration};
use crate::view::View;

/// Maximum numbers of table rows, and of sentences about events with unknown cost.
const ROWS_MAX: usize = 24;
const SENTENCES_MAX: usize = 4;
const NAME_CHARACTERS_MAX: usize = 28;

/// Event of a run and its cost.
pub(crate) struct CostedEvent<'a> {
    pub(crate) event: &'a Event,
    /// `None` if the event did not begin, or if the run was not completed.
    pub(crate) cost: Option<&'a EventCost>,
    /// Name: `deploy`, or `deploy #2` if the event repeats. Arbitrary text: escape it.
    pub(crate) name: String,
    warm_up_ns: u64,
}

/// Events of a run, in the order in which they began.
pub(crate) fn of_run<'a>(view: &View<'a>) -> Vec<CostedEvent<'a>> {
    let (events, costs) = (view.run.events(), view.run.event_costs());
    let happened = |event: &'a Event| CostedEvent {
        event,
        cost: costs.iter().find(|cost| cost.name == event.name && cost.occurrence == event.occurrence),
        name: name_of(event, events),
        warm_up_ns: view.run.new.warm_up_ns,
    };
    events.iter().map(happened).collect()
}

/// Name of an event: `deploy`, or `deploy #2` if it repeats within the run. Arbitrary text: escape it.
pub(crate) fn name_of(event: &Event, all: &[Event]) -> String {
    match all.iter().any(|other| other.name == event.name && other.occurrence > 0) {
        true => format!("{} #{}", event.name, u64::from(event.occurrence) + 1),
        false => event.name.clone(),
    }
}

impl CostedEvent<'_> {
    /// Converts a time to seconds after the end of the warm-up. Negative during the warm-up.
    pub(crate) fn seconds(&self, at_ns: u64) -> f64 {
        (at_ns as f64 - self.warm_up_ns as f64) / 1e9
    }

    /// Start in seconds after the end of the warm-up. `None` if the event did not begin.
    pub(crate) fn at_s(&self) -> Option<f64> {
        self.event.begun_ns.map(|ns| self.seconds(ns))
    }

    /// Cost of the event. `None` if unknown.
    pub(crate) fn figures(&self) -> Option<&Cost> {
        self.cost?.cost()
    }

    /// Reason why the cost is unknown. `None` if the cost is known.
    pub(crate) fn why_unknown(&self) -> Option<&str> {
        self.cost?.why_unknown()
    }
}

/// Table of events, and reasons for unknown costs. Empty for a run without events.
pub(crate) fn items(view: &View<'_>, escape: Escape) -> Vec<Item> {
    let mut happened = of_run(view);
    let left_out = happened.len().saturating_sub(ROWS_MAX);
    happened.truncate(ROWS_MAX);
    if happened.is_empty() {
        return Vec::new();
    }
    let mut items = vec![Item::Table(table(&happened, escape))];
    let why = |of: &CostedEvent<'_>| {
        let failure = of.event.failure.as_ref().map(|failure| format!("failed: {failure}"));
        let why = failure.or_else(|| of.why_unknown().map(|why| format!("no cost: {why}")))?;
        Some(format!("{}: {}", name(&of.name, escape), escape(&why)))
    };
    let mut sentences: Vec<String> = happened.iter().filter_map(why).collect();
    truncate_list(&mut sentences, SENTENCES_MAX, |more| format!("and {more} more"));
    if left_out > 0 {
        sentences.push(format!("{left_out} more events are in the JSON report"));
    }
    let causes = happened
        .iter()
        .filter_map(|of| Some((name(&of.name, escape), event_causes::of_occurrence(view, of)?)));
    let mut facts = event_causes::facts(causes, escape);
    facts.extend(sentences.into_iter().map(|sentence| Fact::new("events", sentence)));
    items.extend(event_causes::items(facts));
    items
}

fn table(happened: &[CostedEvent<'_>], escape: Escape) -> Table {
    let mut table = Table::of_names("event", happened.iter().map(|of| name(&of.name, escape)));
    let seconds = |s: f64| format!("{} s", decimal(s, 1));
    table.column("at", "", happened.iter().map(|of| Cell::figure(of.at_s(), seconds)));
    let took = |of: &CostedEvent<'_>| of.event.lasting_ns().map(|ns| ns as f64);
    table.column("took", "", happened.iter().map(|of| Cell::figure(took(of), duration)));
    let of_cost = |of: &CostedEvent<'_>, cell: &dyn Fn(&Cost) -> Cell| {
        of.figures().map_or_else(|| Cell::figure_or_na(None, duration), cell)
    };
    let lost = |cost: &Cost| Cell { text: lost(&cost.lost), value: Some(cost.lost.total() as f64) };
    table.column("lost", "", happened.iter().map(|of| of_cost(of, &lost)));
    let out = |cost: &Cost| Cell { text: outage_words(cost), value: Some(cost.outage_ns as f64) };
    table.column("outage", "", happened.iter().map(|of| of_cost(of, &out)));
    let worst = |cost: &Cost| Cell::figure(cost.worst_response_ns.map(|ns| ns as f64), duration);
    table.column("worst", "response", happened.iter().map(|of| of_cost(of, &worst)));
    let recovered = |cost: &Cost| Cell { text: recovery(cost.recovery), value: None };
    table.column("recovery", "", happened.iter().map(|of| of_cost(of, &recovered)));
    table
}

/// Formats all figures of a cost as list entries.
pub(crate) fn words(cost: &Cost) -> Vec<String> {
    let worst = cost.worst_response_ns.map(|ns| format!("worst response {}", duration(ns as f64)));
    let excess = written(Figure::ExcessWaiting, cost.excess_wait_ns);
    let figures = [
        Some(format!("lost {}", lost(&cost.lost))),
        Some(format!("outage {}", outage_words(cost))),
        worst,
        Some(format!("excess waiting {excess} {REQUEST_SECONDS}")),
        Some(format!("recovery {}", recovery(cost.recovery))),
    ];
    figures.into_iter().flatten().collect()
}

/// Formats lost requests: `12 (10 reset, 2 rejected) + 3 stale`.
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

fn outage_words(cost: &Cost) -> String {
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
    escape(&sanitize(name, NAME_CHARACTERS_MAX))
}
