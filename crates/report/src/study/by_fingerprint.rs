//! Statements of a replayed log, compared between variants.

use evidence::EvidenceError;
use judge::{
    Aspect, ComparedStatement, Eligibility, FingerprintComparison, RunsByBlock, compare_fingerprints,
};

use super::{LoadView, StudyView, row_name};
use crate::item::{Escape, Item, Tone};
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::units::duration;

/// Max number of statements that a comparison shows. JSON has all of them.
const ROWS_MAX: usize = 10;
const STATEMENT_COLUMNS_MAX: usize = 60;
const NAME_COLUMNS_MAX: usize = 24;
/// Max number of statements with plans, and of lines and columns of a plan.
const PLANS_MAX: usize = 2;
const PLAN_LINES_MAX: usize = 20;
const PLAN_COLUMNS_MAX: usize = 120;

/// Comparisons of the variants under a load with its baseline, or with the first variant. Empty if no log was replayed.
pub(crate) fn of_load(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
) -> Result<Vec<FingerprintComparison>, EvidenceError> {
    // Doubts about a run concern its figures as a whole. In a block, they may concern either side.
    let is_measured =
        |eligibility: Eligibility| matches!(eligibility, Eligibility::Valid | Eligibility::Invalid);
    let runs_of = |row: usize| -> RunsByBlock<'_> {
        let runs = load.rows[row].variant.runs.iter().filter(|(_, eligibility)| is_measured(*eligibility));
        let runs = runs.map(|(run, _)| view.runs[*run].run);
        runs.filter_map(|run| Some((run.new.place.as_ref()?.1.block, run))).collect()
    };
    let variants: Vec<RunsByBlock<'_>> = (0..load.rows.len()).map(runs_of).collect();
    compare_fingerprints(&variants, load.baseline.unwrap_or(0))
}

/// A table of the worst statements for each comparison. Empty if no log was replayed.
pub(super) fn items(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    of_load_words: &str,
    escape: Escape,
) -> Result<Vec<Item>, EvidenceError> {
    let mut items = Vec::new();
    for comparison in of_load(view, load)? {
        let [from, to] =
            comparison.variants.map(|row| escape(&sanitize(&row_name(load, row), NAME_COLUMNS_MAX)));
        items.push(Item::Head(format!("Statements, {to} against {from}{of_load_words}")));
        let (tone, sentence) = sentence(&comparison, &to);
        items.push(Item::Text(tone, sentence));
        items.push(Item::Table(table(&comparison, [&from, &to], escape)));
        items.extend(plans(&comparison, [&from, &to], escape));
        let hidden = comparison.statements.len().saturating_sub(ROWS_MAX);
        if hidden > 0 {
            items.push(Item::Text(Tone::Plain, format!("{hidden} further statements: see JSON.")));
        }
    }
    Ok(items)
}

/// Number of statements that are worse and better, and how far that can be trusted.
fn sentence(comparison: &FingerprintComparison, to: &str) -> (Tone, String) {
    let FingerprintComparison { statements, blocks, blocks_needed, family, .. } = comparison;
    let differing = statements.iter().filter(|statement| !statement.differs.is_empty());
    let worse = differing.clone().filter(|statement| statement.is_regression()).count();
    let better = differing.count() - worse;
    let rate = "family-wise error rate 5 %";
    let few = match *blocks < *blocks_needed as usize {
        true => format!("; {blocks_needed} blocks show smaller differences of single statements"),
        false => String::new(),
    };
    let over = format!("{rate} over {family} exact tests, {blocks} blocks{few}.");
    match (worse, better) {
        (0, 0) => (Tone::Plain, format!("No statement differs: {over}")),
        (0, better) => {
            (Tone::Good, format!("{better} of {} statements faster on {to}: {over}", statements.len()))
        }
        (worse, better) => {
            let also = if better > 0 { format!(", {better} faster") } else { String::new() };
            (Tone::Bad, format!("{worse} of {} statements worse on {to}{also}: {over}", statements.len()))
        }
    }
}

/// Plans of the worst statements that differ, in both variants.
fn plans(comparison: &FingerprintComparison, names: [&str; 2], escape: Escape) -> Vec<Item> {
    let mut items = Vec::new();
    let differing = comparison.statements.iter().filter(|statement| !statement.differs.is_empty());
    for statement in differing.take(PLANS_MAX) {
        for (plan, name) in statement.plans.iter().zip(names).rev() {
            let Some(plan) = plan else { continue };
            let text = escape(&sanitize(&statement.text, STATEMENT_COLUMNS_MAX));
            items.push(Item::Text(Tone::Plain, format!("Plan on {name}: {text}")));
            let lines = plan.lines().take(PLAN_LINES_MAX);
            items.push(Item::Quote(lines.map(|line| escape(&sanitize(line, PLAN_COLUMNS_MAX))).collect()));
        }
    }
    items
}

fn table(comparison: &FingerprintComparison, [from, to]: [&str; 2], escape: Escape) -> Table {
    let shown: Vec<&ComparedStatement> = comparison.statements.iter().take(ROWS_MAX).collect();
    let text = |statement: &&ComparedStatement| {
        let one_line = statement.text.split_whitespace().collect::<Vec<_>>().join(" ");
        escape(&sanitize(&one_line, STATEMENT_COLUMNS_MAX))
    };
    let mut table = Table::of_names("statement", shown.iter().map(text));
    let verdict = |statement: &&ComparedStatement| {
        let names: Vec<&str> = statement.differs.iter().map(|aspect| aspect.name()).collect();
        if names.is_empty() { "–".to_owned() } else { names.join(", ") }
    };
    table.name("differs", shown.iter().map(verdict));
    table.column("count", "", shown.iter().map(|statement| Cell::count(statement.counts[1])));
    for (side, name) in [from, to].into_iter().enumerate() {
        table.column(
            "mean",
            name,
            shown.iter().map(|statement| Cell::figure(statement.mean_ns[side], duration)),
        );
    }
    let ratio =
        |statement: &&ComparedStatement| Cell::figure(statement.ratio, |ratio| format!("{ratio:.2} ×"));
    table.column("ratio", "", shown.iter().map(ratio));
    let extra = |statement: &&ComparedStatement| {
        let ns = statement.extra_ns;
        let sign = if ns < 0.0 { "−" } else { "+" };
        Cell { text: format!("{sign}{}", duration(ns.abs())), value: Some(ns) }
    };
    table.column("time", "per replay", shown.iter().map(extra));
    let has = |aspect: Aspect| shown.iter().any(|statement| statement.differs.contains(&aspect));
    let has_errors = shown.iter().any(|statement| statement.errors != [0, 0]);
    for (side, name) in [from, to].into_iter().enumerate().filter(|_| has_errors) {
        table.column("errors", name, shown.iter().map(|statement| Cell::count(statement.errors[side])));
    }
    for (side, name) in [from, to].into_iter().enumerate().filter(|_| has(Aspect::Rows)) {
        let rows =
            |statement: &&ComparedStatement| Cell::figure(statement.rows[side], |rows| format!("{rows:.3}"));
        table.column("rows each", name, shown.iter().map(rows));
    }
    table
}
