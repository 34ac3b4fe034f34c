//! Brief report on one run, on one screen: table, likely bottleneck, conditions, errors, and notes.

use evidence::{Decision, EvidenceError, GateResult};
use record::Percentile;

use super::{distribution, error_text};
use crate::figures::Figures;
use crate::item::{Escape, Item};
use crate::metric::error_share;
use crate::table::{Cell, Table};
use crate::text::{first_sentence, sanitize, truncate_list};
use crate::units::{count, duration, percent_of, rate};
use crate::view::View;
use crate::{alike, bottleneck, breaches, cpu_profile, event_costs, events, inside, words};

/// Maximum number of kinds of errors.
pub(super) const ERRORS_MAX: usize = 3;
/// Maximum numbers of conditions, and of warnings and notes.
const CONDITIONS_MAX: usize = 3;
const NOTES_MAX: usize = 4;
/// Maximum number of warnings and notes below a line of statuses, so that the report fits on a screen.
const NOTES_BELOW_STATUSES_MAX: usize = 2;
/// Maximum number of steps with a row.
const STEPS_MAX: usize = 6;
/// Maximum number of characters of a step's name.
const NAME_CHARACTERS_MAX: usize = 28;

/// Items of the brief report, in order.
pub(super) fn items(view: &View<'_>, escape: Escape) -> Result<Vec<Item>, EvidenceError> {
    let mut items = Vec::new();
    if view.whole.samples() > 0 {
        items.push(Item::Table(table(view, escape)));
        items.extend(distribution::of_run(view)?.filter(|_| shows_distribution(view)).map(Item::Table));
    }
    let has_costs = !view.run.event_costs().is_empty();
    if has_costs {
        items.extend(event_costs::items(view, escape));
    }
    let facts = [
        ("statuses", alike::statuses(&view.whole).into_iter().collect()),
        ("bottleneck", limit(view, escape).into_iter().collect()),
        ("database", inside::notable(view).map(|words| escape(&words)).into_iter().collect()),
        ("conditions", conditions(view, escape)),
        ("events", if has_costs { Vec::new() } else { events::lines(view.run, escape) }),
        ("errors", errors(&view.whole, escape)),
    ];
    let facts = facts.into_iter().flat_map(|(name, lines)| lines.into_iter().map(move |line| (name, line)));
    let facts: Vec<_> = facts.chain(notes(view, escape)).collect();
    if !facts.is_empty() {
        items.push(Item::facts(facts));
    }
    items.extend(cpu_profile::of_run(view, escape));
    Ok(items)
}

/// Table with a row for all requests, and one for each step if there are several.
fn table(view: &View<'_>, escape: Escape) -> Table {
    let steps = if view.steps.len() > 1 { &view.steps[..view.steps.len().min(STEPS_MAX)] } else { &[] };
    let names = steps.iter().map(|step| escape(&sanitize(step.name, NAME_CHARACTERS_MAX)));
    let mut table = Table::of_names("", std::iter::once(view.noun().many.to_owned()).chain(names));
    let rows: Vec<&Figures> =
        std::iter::once(&view.whole).chain(steps.iter().map(|step| &step.figures)).collect();
    let mut column = |head: &str, cell: &dyn Fn(&Figures) -> Cell| {
        table.column(head, "", rows.iter().map(|figures| cell(figures)));
    };
    column("samples", &|figures| Cell::count(figures.samples()));
    column("ok/s", &|figures| Cell::figure(figures.ok_per_s(), rate));
    for percentile in [Percentile::P50, Percentile::P90, Percentile::P99] {
        column(&crate::durations::name(percentile), &|figures| {
            Cell::figure(figures.response.all.at(percentile), duration)
        });
    }
    column("max", &|figures| Cell::figure(figures.response.all.max_ns, duration));
    column("errors", &|figures| Cell::figure(error_share(figures), percent_of));
    let verdicts = std::iter::once(view.judgement()).chain(steps.iter().map(|_| String::new()));
    table.words("verdict", verdicts);
    table
}

/// Whether the distribution of response times is shown. More important items may replace it; then only `--wide` shows it.
pub(super) fn shows_distribution(view: &View<'_>) -> bool {
    let is_clean = view.validity.causes.is_empty() && view.whole.errors.is_empty();
    is_clean
        && view.run.events().is_empty()
        && view.steps.len() < 2
        && view.run.gates().len() + all_notes(view).count() <= 2
}

fn limit(view: &View<'_>, escape: Escape) -> Option<String> {
    let found = bottleneck::notable(view)?;
    Some(format!("{}; {}", bottleneck::likely(&found), escape(&bottleneck::evidence_and_advice(&found))))
}

/// Conditions that held, and others that are not in the first lines.
fn conditions(view: &View<'_>, escape: Escape) -> Vec<String> {
    let of = |decision: Decision| view.run.gates().iter().filter(move |gate| gate.decision == decision);
    let marked = |mark: &str, gate: &GateResult| format!("{mark} {}", escape(&words::gate(gate)));
    let failed = of(Decision::Fails).map(|gate| marked("✗", gate));
    let undecided = of(Decision::Undecided).map(|gate| marked("?", gate));
    let held = of(Decision::Holds).map(|gate| marked("✓", gate));
    let mut lines: Vec<String> = failed.chain(undecided).skip(breaches::NAMED_MAX).chain(held).collect();
    truncate_list(&mut lines, CONDITIONS_MAX, |more| format!("and {more} more"));
    lines
}

/// The most frequent errors, and advice on the first one.
fn errors(figures: &Figures, escape: Escape) -> Vec<String> {
    let each = figures.errors.iter().map(|error| {
        let error = error_text(error, escape);
        format!("{} × {}: {}", count(error.count), error.class, error.message)
    });
    let mut lines: Vec<String> = each.collect();
    if lines.len() > ERRORS_MAX {
        let rest: u64 = figures.errors.iter().skip(ERRORS_MAX - 1).map(|error| error.count).sum();
        truncate_list(&mut lines, ERRORS_MAX - 1, |more| format!("{} × of {more} more kinds", count(rest)));
    }
    let help = figures.errors.first().and_then(|error| error.class.known());
    lines.extend(help.map(|class| format!("help ({}): {}", class.name(), class.help())));
    lines
}

/// Warnings, then notes.
fn all_notes<'a>(view: &'a View<'_>) -> impl Iterator<Item = (&'static str, &'a str)> {
    let stamps = view.run.new.stamps.iter().map(|text| ("warning", text.as_str()));
    stamps.chain(view.notes.iter().map(|text| ("note", text.as_str())))
}

fn notes_max(view: &View<'_>) -> usize {
    if alike::statuses(&view.whole).is_some() { NOTES_BELOW_STATUSES_MAX } else { NOTES_MAX }
}

/// First sentence of each warning and note.
fn notes(view: &View<'_>, escape: Escape) -> Vec<(&'static str, String)> {
    let line = |(kind, text)| (kind, escape(first_sentence(text)));
    let mut notes: Vec<_> = all_notes(view).map(line).collect();
    truncate_list(&mut notes, notes_max(view), |more| ("note", format!("and {more} more")));
    notes
}

/// Whether the brief report shortens or omits warnings or notes.
pub(super) fn omits_notes(view: &View<'_>) -> bool {
    let is_cut = |(_, text): (&str, &str)| first_sentence(text) != text.trim_end_matches('.');
    all_notes(view).count() > notes_max(view) || all_notes(view).any(is_cut)
}
