//! Physical cost of requests: bytes and connections of the load, and what the database wrote, read, and kept for it.

use std::collections::BTreeMap;

use judge::comparison::Pair;
use judge::results::Verdict;
use judge::{CostKind, CostOfLoad, CostUnit, PhysicalCost, median_of};

use crate::apart;
use crate::item::Escape;
use crate::process_cost::{self, ProcessCost};
use crate::study::{LoadView, VariantRow, verdict_word};
use crate::table::{Cell, Table};
use crate::text::sanitize;
use crate::units::{decimal, volume};
use crate::view::View;

/// Ratio of two variants from which on the brief report names a cost.
const NAMED_MIN_RATIO: f64 = 2.0;
/// Maximum number of characters of the name of a cost, which may contain the name of a process.
const NAME_CHARACTERS_MAX: usize = 100;
/// Costs below this are too small for a ratio: a fifth of a page or row, and two bytes.
const NAMED_MIN: [f64; 2] = [0.2, 2.0];

pub(crate) fn shown(unit: CostUnit, figure: f64) -> String {
    match unit {
        CostUnit::Bytes => volume(figure),
        CostUnit::Count if figure == 0.0 => "0".to_owned(),
        CostUnit::Count => decimal(figure, if figure < 10.0 { 2 } else { 1 }),
    }
}

/// All costs of a run. Costs of the database, and their requests, cover the whole load including the warm-up. The size of decoded content
/// is omitted if it equals the size of the content.
fn of_run<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v CostOfLoad> {
    let costs = &view.measured.costs;
    let content = figure_of(costs, "content_bytes");
    costs.iter().filter(move |cost| cost.cost.name != "decoded_bytes" || Some(cost.figure) != content)
}

fn figure_of(costs: &[CostOfLoad], name: &str) -> Option<f64> {
    costs.iter().find(|cost| cost.cost.name == name).map(|cost| cost.figure)
}

/// Costs of a run as facts.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    let words = |cost: &CostOfLoad| format!("{} {}", cost.cost.words, shown(cost.cost.unit, cost.figure));
    let is_of = |kind: CostKind| move |cost: &&CostOfLoad| cost.cost.kind == kind;
    let each: Vec<String> = of_run(view).filter(is_of(CostKind::PerRequest)).map(words).collect();
    let sizes = of_run(view).filter_map(|cost| {
        let before = shown(cost.cost.unit, cost.before?);
        Some(format!("{} {before} before, {} after", cost.cost.words, shown(cost.cost.unit, cost.figure)))
    });
    let totals = of_run(view).filter(is_of(CostKind::Total)).map(|cost| format!("{} in all", words(cost)));
    let sizes: Vec<String> = sizes.chain(totals).collect();
    let of_requests = (!each.is_empty()).then(|| format!("per {}: {}", view.noun().one, each.join(", ")));
    of_requests.into_iter().chain((!sizes.is_empty()).then(|| sizes.join("; "))).collect()
}

/// Costs by name, for JSON: `wal_bytes_per_request`, or `table_bytes_before` and `table_bytes_after`.
pub(crate) fn object(view: &View<'_>) -> Option<BTreeMap<String, f64>> {
    let mut costs = BTreeMap::new();
    for CostOfLoad { cost, figure, before } in &view.measured.costs {
        let end = match cost.kind {
            CostKind::PerRequest => "_per_request",
            CostKind::Total => "",
            CostKind::Size => "_after",
        };
        costs.extend(before.map(|before| (format!("{}_before", cost.name), before)));
        costs.insert(format!("{}{end}", cost.name), *figure);
    }
    (!costs.is_empty()).then_some(costs)
}

/// A cost of the variants of a load.
pub(crate) struct CostLine {
    pub(crate) cost: &'static PhysicalCost,
    /// Medians over the runs of each row.
    pub(crate) figures: Vec<Option<f64>>,
    /// Comparison with the reference, for each row that is compared, and its ratio to the reference.
    compared: Vec<Option<(Pair, f64)>>,
}

impl CostLine {
    /// Largest figure ÷ smallest, for sorting. Very small figures count as a tenth of the smallest figure that is named. `None` if there
    /// are no two figures, or if all are too small.
    fn rank(&self) -> Option<f64> {
        let least = NAMED_MIN[usize::from(self.cost.unit == CostUnit::Bytes)];
        let (min, max) = self.extremes()?;
        (max >= least).then(|| max / min.max(least / 10.0))
    }

    /// Largest figure ÷ smallest. `None` if `rank` is `None`, or if the smallest figure is close to zero, where a ratio is meaningless.
    fn ratio(&self) -> Option<f64> {
        let least = NAMED_MIN[usize::from(self.cost.unit == CostUnit::Bytes)];
        let (min, _) = self.extremes()?;
        self.rank().filter(|_| min >= least / 10.0)
    }

    /// Smallest and largest figure. `None` if fewer than two are known.
    fn extremes(&self) -> Option<(f64, f64)> {
        let known: Vec<f64> = self.figures.iter().flatten().copied().collect();
        let min = known.iter().copied().fold(f64::INFINITY, f64::min);
        let max = known.iter().copied().fold(0.0_f64, f64::max);
        (known.len() > 1).then_some((min, max))
    }

    /// Whether a comparison shows a difference. `None` if there is no comparison.
    fn differs(&self) -> Option<bool> {
        let mut pairs = self.compared.iter().flatten().peekable();
        pairs.peek()?;
        Some(pairs.any(|(pair, _)| matches!(pair.comparison.verdict, Verdict::Differs { .. })))
    }

    /// Figure of a row with its ratio to the reference: `812 B (2.70 ×)`, with `?` after a ratio without a verdict.
    fn cell(&self, row: usize) -> Cell {
        let figure = self.figures.get(row).copied().flatten();
        let Some((pair, ratio)) = self.compared.get(row).and_then(Option::as_ref) else {
            return Cell::figure(figure, |figure| shown(self.cost.unit, figure));
        };
        let doubt = match verdict_word(pair) {
            "differs" | "equivalent" => "",
            _ => "?",
        };
        let ratio = apart::alone(&pair.by, *ratio);
        Cell::figure(figure, |figure| format!("{} ({ratio}{doubt})", shown(self.cost.unit, figure)))
    }
}

/// Costs of a load that at least one run has, in the order of [`judge::PHYSICAL_COSTS`].
pub(crate) fn of_load(views: &[View<'_>], load: &LoadView<'_>) -> Vec<CostLine> {
    let line = |cost: &'static PhysicalCost| {
        let figure = |row: &VariantRow<'_>| {
            let runs = row.shown().filter_map(|run| views.get(run));
            median_of(runs.filter_map(|view| figure_of(&view.measured.costs, cost.name)))
        };
        let figures: Vec<Option<f64>> = load.rows.iter().map(figure).collect();
        let compared = (0..load.rows.len()).map(|row| compared(load, cost, row));
        figures.iter().any(Option::is_some).then(|| CostLine {
            cost,
            compared: compared.collect(),
            figures: figures.clone(),
        })
    };
    let mut lines: Vec<CostLine> = judge::PHYSICAL_COSTS.iter().filter_map(line).collect();
    let content =
        lines.iter().find(|line| line.cost.name == "content_bytes").map(|line| line.figures.clone());
    lines.retain(|line| line.cost.name != "decoded_bytes" || Some(&line.figures) != content.as_ref());
    lines
}

/// Comparison of a row with the reference by a cost, and the ratio of the row to the reference.
fn compared(load: &LoadView<'_>, cost: &'static PhysicalCost, row: usize) -> Option<(Pair, f64)> {
    let reference = load.baseline.or_else(|| load.best_rows().next().map(|best| best.row));
    let reference = reference.filter(|reference| *reference != row)?;
    let of_rows = |pair: &&Pair| {
        [[pair.first, pair.second], [pair.second, pair.first]].contains(&[row, reference])
            && pair.by.cost == Some(cost)
    };
    let pair = load.costs.iter().find(of_rows)?;
    Some((pair.clone(), pair.estimate_for(row).0?))
}

/// Table with a row for each cost, and a column for each variant. `None` if no cost is known.
pub(crate) fn table(
    views: &[View<'_>],
    load: &LoadView<'_>,
    one: &str,
    names: &[String],
    escape: Escape,
) -> Option<Table> {
    let lines = of_load(views, load);
    if lines.is_empty() {
        return None;
    }
    let by_process = process_cost::of_load(views, load, one);
    let of_processes = by_process.iter().map(|line| line.name.clone());
    let heads = lines.iter().map(|line| line.cost.full_words(one)).chain(of_processes);
    let mut table = Table::of_names("cost", heads.map(|name| escape(&sanitize(&name, NAME_CHARACTERS_MAX))));
    for (row, name) in names.iter().enumerate() {
        let of_processes = by_process.iter().map(|line| line.cell(row));
        table.column(name, "", lines.iter().map(|line| line.cell(row)).chain(of_processes));
    }
    if names.len() > 1 {
        let ratios = lines.iter().map(CostLine::ratio).chain(by_process.iter().map(ProcessCost::ratio));
        let cell = |ratio| Cell::figure(ratio, |ratio| decimal(ratio, 2));
        table.column("max ÷ min", "", ratios.map(cell));
    }
    let pairs = lines.iter().map(CostLine::only_pair).chain(by_process.iter().map(|_| None));
    let pairs: Vec<Option<&Pair>> = pairs.collect();
    if pairs.iter().any(Option::is_some) {
        let word = |pair: &Option<&Pair>| pair.map_or(String::new(), verdict);
        table.words("verdict", pairs.iter().map(word));
    }
    Some(table)
}

impl CostLine {
    /// Comparison, if there is exactly one.
    fn only_pair(&self) -> Option<&Pair> {
        match self.compared.iter().flatten().collect::<Vec<_>>()[..] {
            [(pair, _)] => Some(pair),
            _ => None,
        }
    }
}

/// Verdict of a comparison by a cost.
fn verdict(pair: &Pair) -> String {
    match pair.comparison.verdict {
        Verdict::Differs { below_matters: true } => "differs, below the threshold",
        Verdict::None(_) | Verdict::MoreErrors(_) => "no verdict",
        _ => verdict_word(pair),
    }
    .to_owned()
}

/// Note below the table of costs. `None` if nothing is compared.
pub(crate) fn legend(load: &LoadView<'_>) -> Option<String> {
    (!load.costs.is_empty()).then(|| {
        let from = if load.baseline.is_some() { "the baseline" } else { "the best" };
        format!(
            "In brackets: the ratio to {from}; `?` without a verdict. Each cost has an error rate of 5 % of its own."
        )
    })
}

/// Names the cost in which variants differ most, if they differ by a factor: `WAL or redo log per transaction: a 812 B, b 301 B (× 2.70)`.
/// If the study compares variants, a cost is named only if a comparison shows a difference.
pub(crate) fn sentence(
    views: &[View<'_>],
    load: &LoadView<'_>,
    one: &str,
    names: &[String],
) -> Option<String> {
    let lines = of_load(views, load);
    // Replies and requests of unequal size are named with the comparison.
    let lines = lines.iter().filter(|line| !line.cost.is_of_size() && line.differs() != Some(false));
    let ranks = lines.filter_map(|line| Some((line.rank().filter(|rank| *rank >= NAMED_MIN_RATIO)?, line)));
    let (_, line) = ranks.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let known = names.iter().zip(&line.figures).filter_map(|(name, figure)| Some((name, (*figure)?)));
    let (min, max) = known.fold((None::<(&String, f64)>, None::<(&String, f64)>), |(min, max), one| {
        let min = min.filter(|min| min.1 <= one.1).or(Some(one));
        (min, max.filter(|max| max.1 >= one.1).or(Some(one)))
    });
    let (min, max) = (min?, max?);
    let unit = line.cost.unit;
    let [least, most] = [min, max].map(|(name, figure)| format!("{name} {}", shown(unit, figure)));
    let ratio = line.ratio().map(|ratio| format!("× {}", decimal(ratio, 2)));
    let significant = (line.differs() == Some(true)).then(|| "significant".to_owned());
    let remarks: Vec<String> = ratio.into_iter().chain(significant).collect();
    let remarks = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) };
    Some(format!("{}: {most}, {least}{remarks}", line.cost.full_words(one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(unit: CostUnit, figures: &[Option<f64>]) -> CostLine {
        let name = if unit == CostUnit::Bytes { "wal_bytes" } else { "pages_read" };
        let cost = PhysicalCost::named(name).expect("it is in the list");
        CostLine { cost, figures: figures.to_vec(), compared: Vec::new() }
    }

    #[test]
    fn ratio_needs_two_figures_of_some_size() {
        assert_eq!(line(CostUnit::Bytes, &[Some(800.0), Some(200.0), None]).ratio(), Some(4.0));
        assert_eq!(line(CostUnit::Bytes, &[Some(800.0)]).ratio(), None);
        assert_eq!(line(CostUnit::Count, &[Some(0.1), Some(0.01)]).ratio(), None, "both are next to nothing");
    }

    #[test]
    fn figure_next_to_zero_ranks_high_and_has_no_ratio() {
        let scans = line(CostUnit::Count, &[Some(200_000.0), Some(0.0)]);
        assert_eq!((scans.ratio(), scans.rank()), (None, Some(10_000_000.0)));
    }

    #[test]
    fn figures_have_units() {
        assert_eq!(shown(CostUnit::Bytes, 812.4), "812 B");
        assert_eq!(shown(CostUnit::Count, 0.333), "0.33");
        assert_eq!(shown(CostUnit::Count, 0.0), "0");
    }
}
