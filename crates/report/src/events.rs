//! Events of a run as text: each action on the system, and its outcome.

use std::collections::BTreeMap;

use evidence::{Event, EventOutcome, Run};

use crate::event_costs::name_of;
use crate::item::{Escape, Item};
use crate::table::{Cell, Table};
use crate::text::{sanitize, truncate_list};
use crate::units::duration;

/// Maximum width in columns of an event's name, and of its action.
const NAME_COLUMNS_MAX: usize = 32;
const WORDS_COLUMNS_MAX: usize = 80;
/// Maximum width in columns of a failure, and of a line of output.
const FAILURE_COLUMNS_MAX: usize = 300;
/// Maximum numbers of lines in a list, and of lines from the end of an output.
const LINES_MAX: usize = 4;
const TAIL_LINES: usize = 12;
/// Maximum numbers of rows in the table of a run, and of outputs below it.
const ROWS_MAX: usize = 100;
const OUTPUTS_MAX: usize = 10;

/// Formats one line for each of the first events of a run.
pub(crate) fn lines(run: &Run, escape: Escape) -> Vec<String> {
    let line = |event: &Event| {
        let name = event_name(event, run.events(), escape);
        format!("{name}{}: {}", start_words(event, run.new.warm_up_ns), outcome(event, escape))
    };
    let mut lines: Vec<String> = run.events().iter().map(line).collect();
    truncate_list(&mut lines, LINES_MAX, |more| format!("and {more} more"));
    lines
}

/// Table of the events of a run, and the output of those that failed.
pub(crate) fn details(run: &Run, escape: Escape) -> Vec<Item> {
    let events = &run.events()[..run.events().len().min(ROWS_MAX)];
    if events.is_empty() {
        return Vec::new();
    }
    let mut table =
        Table::of_names("event", events.iter().map(|event| event_name(event, run.events(), escape)));
    let time =
        |time_ns: Option<u64>| since_warm_up(time_ns, run.new.warm_up_ns).unwrap_or_else(|| "–".to_owned());
    table.name("planned", events.iter().map(|event| time(event.planned_ns)));
    table.name("began", events.iter().map(|event| time(event.begun_ns)));
    let took = |event: &Event| Cell::figure(event.lasting_ns().map(|ns| ns as f64), duration);
    table.column("took", "", events.iter().map(took));
    table.name("outcome", events.iter().map(|event| event.outcome().name().to_owned()));
    table.words("action", events.iter().map(|event| escape(&sanitize(&event.action, WORDS_COLUMNS_MAX))));
    let mut items = vec![Item::Table(table)];
    let failed = events.iter().filter(|event| event.failure.is_some()).take(OUTPUTS_MAX);
    for event in failed {
        let name = event_name(event, run.events(), escape);
        items.push(Item::points([format!("{name}: {}", outcome(event, escape))]));
        let tail = tail(event, escape);
        items.extend((!tail.is_empty()).then_some(Item::Quote(tail)));
    }
    items
}

/// Formats one line for each event over several runs of one configuration.
pub(crate) fn of_runs<'a>(runs: impl Iterator<Item = &'a Run>, escape: Escape) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for event in runs.flat_map(Run::events) {
        if !order.contains(&event.name.as_str()) {
            order.push(&event.name);
        }
        by_name.entry(&event.name).or_default().push(event);
    }
    let line = |name: &str| {
        let events = &by_name[name];
        let done = events.iter().filter(|event| event.outcome() == EventOutcome::Done);
        let mut lasting: Vec<u64> = done.filter_map(|event| event.lasting_ns()).collect();
        lasting.sort_unstable();
        let took = match (lasting.first(), lasting.last()) {
            (Some(least), Some(most)) if least == most => format!(", took {}", duration(*least as f64)),
            (Some(least), Some(most)) => {
                let middle = duration(lasting[lasting.len() / 2] as f64);
                let [least, most] = [*least, *most].map(|ns| duration(ns as f64));
                format!(", took {middle} ({least} to {most})")
            }
            _ => String::new(),
        };
        let failure = events.iter().find_map(|event| event.failure.as_deref());
        let failure = failure
            .map_or_else(String::new, |what| format!("; {}", escape(&sanitize(what, FAILURE_COLUMNS_MAX))));
        let name = escape(&sanitize(name, NAME_COLUMNS_MAX));
        format!("{name}: {} of {} done{took}{failure}", lasting.len(), events.len())
    };
    order.into_iter().map(line).collect()
}

/// Name of an event, with its number if it repeats.
fn event_name(event: &Event, all: &[Event], escape: Escape) -> String {
    escape(&sanitize(&name_of(event, all), NAME_COLUMNS_MAX))
}

fn start_words(event: &Event, warm_up_ns: u64) -> String {
    let at = since_warm_up(event.begun_ns.or(event.planned_ns), warm_up_ns);
    at.map_or_else(String::new, |at| format!(" at {at}"))
}

/// Formats a time relative to the end of the warm-up, as in plans.
fn since_warm_up(time_ns: Option<u64>, warm_up_ns: u64) -> Option<String> {
    let time_ns = time_ns?;
    let sign = if time_ns < warm_up_ns { "-" } else { "" };
    Some(format!("{sign}{}", duration(time_ns.abs_diff(warm_up_ns) as f64)))
}

fn outcome(event: &Event, escape: Escape) -> String {
    let lasting = event.lasting_ns().map_or_else(String::new, |ns| format!(" after {}", duration(ns as f64)));
    match (&event.failure, event.outcome()) {
        (Some(failure), _) => {
            let may = if event.may_fail { " (may fail)" } else { "" };
            format!("failed{lasting}{may}: {}", escape(&sanitize(failure, FAILURE_COLUMNS_MAX)))
        }
        (None, EventOutcome::Done) => {
            event.lasting_ns().map_or_else(String::new, |ns| format!("done in {}", duration(ns as f64)))
        }
        (None, outcome) => outcome.name().to_owned(),
    }
}

fn tail(event: &Event, escape: Escape) -> Vec<String> {
    let text = String::from_utf8_lossy(&event.output);
    let lines: Vec<&str> = text.lines().collect();
    let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    tail.iter().map(|line| escape(&sanitize(line, FAILURE_COLUMNS_MAX))).collect()
}
