//! Physical cost of requests: bytes and connections of the load, and what the database wrote, read, and kept for it.

use std::collections::BTreeMap;

use evidence::Unit;
use judge::{CostKind, CostOfLoad, CostUnit, median_of};

use crate::item::Escape;
use crate::study::{LoadView, VariantRow};
use crate::table::{Cell, Table};
use crate::units::{decimal, volume};
use crate::view::View;

/// Ratio of two variants from which on the brief report names a cost.
const NAMED_MIN_RATIO: f64 = 2.0;
/// Names of the costs that follow from the size of requests and replies.
const OF_SIZE: [&str; 2] = ["received", "sent"];
/// Costs below this are too small for a ratio: a fifth of a page or row, and two bytes.
const NAMED_MIN: [f64; 2] = [0.2, 2.0];

/// Cost of a request, or a size after the load.
pub(crate) struct RequestCost {
    /// Name in JSON: `wal_bytes_per_request`, or `table_bytes_after`.
    pub(crate) name: String,
    pub(crate) words: &'static str,
    pub(crate) unit: CostUnit,
    pub(crate) kind: CostKind,
    pub(crate) figure: f64,
    /// Size before the load. `None` if it is no size.
    pub(crate) before: Option<f64>,
}

impl RequestCost {
    /// Figure with its unit.
    fn shown(&self) -> String {
        shown(self.unit, self.figure)
    }
}

fn shown(unit: CostUnit, figure: f64) -> String {
    match unit {
        CostUnit::Bytes => volume(figure),
        CostUnit::Count if figure == 0.0 => "0".to_owned(),
        CostUnit::Count => decimal(figure, if figure < 10.0 { 2 } else { 1 }),
    }
}

/// All costs of a run. Those of the database are of the whole load, warm-up included, and so are its requests.
pub(crate) fn of_run(view: &View<'_>) -> Vec<RequestCost> {
    let whole = [&view.warm_up, &view.whole];
    let sent: u64 = whole.iter().map(|figures| figures.counts.sent).sum();
    let per_request = |total: Option<u64>| total.filter(|_| sent > 0).map(|total| total as f64 / sent as f64);
    let sum = |of: fn(&crate::figures::Figures) -> Option<u64>| {
        whole.iter().try_fold(0_u64, |sum, figures| Some(sum.saturating_add(of(figures)?)))
    };
    let has_bytes = |bytes: &f64| *bytes > 0.0;
    let load = [
        (
            "received_bytes",
            "received",
            CostUnit::Bytes,
            per_request(sum(|of| of.received_bytes)).filter(has_bytes),
        ),
        ("sent_bytes", "sent", CostUnit::Bytes, per_request(sum(|of| of.sent_bytes)).filter(has_bytes)),
        ("connections", "new connections", CostUnit::Count, per_request(sum(|of| of.connections))),
        (
            "tls_handshakes",
            "full TLS handshakes",
            CostUnit::Count,
            per_request(sum(|of| Some(of.tls.count))).filter(has_bytes),
        ),
    ];
    let of_load = load.into_iter().filter_map(|(name, words, unit, figure)| {
        let name = format!("{name}_per_request");
        Some(RequestCost { name, words, unit, kind: CostKind::PerRequest, figure: figure?, before: None })
    });
    let of_database = CostOfLoad::of(view.run).into_iter().filter_map(|cost| {
        let end = match cost.cost.kind {
            CostKind::PerRequest => "_per_request",
            CostKind::Total => "",
            CostKind::Size => "_after",
        };
        let name = format!("{}{end}", cost.cost.name);
        let figure = cost.figure(sent)?;
        Some(RequestCost {
            name,
            words: cost.cost.words,
            unit: cost.cost.unit,
            kind: cost.cost.kind,
            figure,
            before: cost.before,
        })
    });
    of_load.chain(of_database).collect()
}

/// Costs of a run as facts.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    let costs = of_run(view);
    let each = costs.iter().filter(|cost| cost.kind == CostKind::PerRequest);
    let each: Vec<String> = each.map(|cost| format!("{} {}", cost.words, cost.shown())).collect();
    let one = match view.unit() {
        Unit::Requests => "request",
        Unit::Transactions => "transaction",
    };
    let sizes = costs.iter().filter_map(|cost| {
        let before = shown(cost.unit, cost.before?);
        Some(format!("{} {before} before, {} after", cost.words, cost.shown()))
    });
    let totals = costs.iter().filter(|cost| cost.kind == CostKind::Total);
    let totals = totals.map(|cost| format!("{} {} in all", cost.words, cost.shown()));
    let sizes: Vec<String> = sizes.chain(totals).collect();
    let of_requests = (!each.is_empty()).then(|| format!("per {one}: {}", each.join(", ")));
    of_requests.into_iter().chain((!sizes.is_empty()).then(|| sizes.join("; "))).collect()
}

/// Costs by name, for JSON.
pub(crate) fn object(view: &View<'_>) -> Option<BTreeMap<String, f64>> {
    let mut costs = BTreeMap::new();
    for cost in of_run(view) {
        if let Some(before) = cost.before {
            costs.insert(format!("{}_before", cost.name.trim_end_matches("_after")), before);
        }
        costs.insert(cost.name, cost.figure);
    }
    (!costs.is_empty()).then_some(costs)
}

/// A cost of several variants: medians over their runs.
struct CostLine {
    words: &'static str,
    unit: CostUnit,
    kind: CostKind,
    figures: Vec<Option<f64>>,
}

impl CostLine {
    /// Name with what it relates to. `one` is the noun of a request.
    fn name(&self, one: &str) -> String {
        match self.kind {
            CostKind::PerRequest => format!("{} per {one}", self.words),
            CostKind::Total => format!("{} in all", self.words),
            CostKind::Size => format!("{} after the load", self.words),
        }
    }

    /// Largest figure ÷ smallest, for sorting: figures that are next to nothing count as a tenth of the smallest that is named. `None` if
    /// there are no two figures, or all are too small.
    fn rank(&self) -> Option<f64> {
        let least = NAMED_MIN[usize::from(self.unit == CostUnit::Bytes)];
        let (min, max) = self.extremes()?;
        (max >= least).then(|| max / min.max(least / 10.0))
    }

    /// Largest figure ÷ smallest. `None` if `rank` is, or if the smallest is next to nothing: a factor of nothing has no meaning.
    fn ratio(&self) -> Option<f64> {
        let least = NAMED_MIN[usize::from(self.unit == CostUnit::Bytes)];
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
}

fn of_load(views: &[View<'_>], load: &LoadView<'_>) -> Vec<CostLine> {
    let of_row = |row: &VariantRow<'_>| -> Vec<Vec<RequestCost>> {
        row.shown().filter_map(|run| views.get(run)).map(of_run).collect()
    };
    let rows: Vec<Vec<Vec<RequestCost>>> = load.rows.iter().map(of_row).collect();
    let mut lines: Vec<(String, CostLine)> = Vec::new();
    for cost in rows.iter().flatten().flatten() {
        if lines.iter().any(|(name, _)| *name == cost.name) {
            continue;
        }
        let figure = |runs: &Vec<Vec<RequestCost>>| {
            let of_runs = runs.iter().flatten().filter(|other| other.name == cost.name);
            median_of(of_runs.map(|other| other.figure))
        };
        let figures = rows.iter().map(figure).collect();
        lines.push((
            cost.name.clone(),
            CostLine { words: cost.words, unit: cost.unit, kind: cost.kind, figures },
        ));
    }
    lines.into_iter().map(|(_, line)| line).collect()
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
    let name = |line: &CostLine| line.name(one);
    let mut table = Table::of_names("cost", lines.iter().map(|line| escape(&name(line))));
    for (row, name) in names.iter().enumerate() {
        let cells = lines.iter().map(|line| {
            Cell::figure(line.figures.get(row).copied().flatten(), |figure| shown(line.unit, figure))
        });
        table.column(name, "", cells);
    }
    if names.len() > 1 {
        table.column(
            "max ÷ min",
            "",
            lines.iter().map(|line| Cell::figure(line.ratio(), |ratio| decimal(ratio, 2))),
        );
    }
    Some(table)
}

/// The cost in which variants differ most, if it is by a factor: `WAL or redo log per transaction: a 812 B, b 301 B (× 2.70)`.
pub(crate) fn sentence(
    views: &[View<'_>],
    load: &LoadView<'_>,
    one: &str,
    names: &[String],
) -> Option<String> {
    let lines = of_load(views, load);
    // Replies and requests of unequal size are named with the comparison.
    let lines: Vec<&CostLine> = lines.iter().filter(|line| !OF_SIZE.contains(&line.words)).collect();
    let ranks = lines
        .into_iter()
        .filter_map(|line| Some((line.rank().filter(|rank| *rank >= NAMED_MIN_RATIO)?, line)));
    let (_, line) = ranks.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let known = names.iter().zip(&line.figures).filter_map(|(name, figure)| Some((name, (*figure)?)));
    let (min, max) = known.fold((None::<(&String, f64)>, None::<(&String, f64)>), |(min, max), one| {
        let min = min.filter(|min| min.1 <= one.1).or(Some(one));
        (min, max.filter(|max| max.1 >= one.1).or(Some(one)))
    });
    let (min, max) = (min?, max?);
    let [least, most] = [min, max].map(|(name, figure)| format!("{name} {}", shown(line.unit, figure)));
    let ratio = line.ratio().map_or_else(String::new, |ratio| format!(" (× {})", decimal(ratio, 2)));
    Some(format!("{}: {most}, {least}{ratio}", line.name(one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(unit: CostUnit, figures: &[Option<f64>]) -> CostLine {
        CostLine { words: "x", unit, kind: CostKind::PerRequest, figures: figures.to_vec() }
    }

    #[test]
    fn ratio_needs_two_figures_of_some_size() {
        assert_eq!(line(CostUnit::Bytes, &[Some(800.0), Some(200.0), None]).ratio(), Some(4.0));
        assert_eq!(line(CostUnit::Bytes, &[Some(800.0)]).ratio(), None);
        assert_eq!(line(CostUnit::Count, &[Some(0.1), Some(0.01)]).ratio(), None, "both are next to nothing");
    }

    #[test]
    fn figure_next_to_nothing_ranks_high_and_has_no_ratio() {
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
