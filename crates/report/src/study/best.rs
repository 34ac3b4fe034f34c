//! Which setting of each system is best, and the best against each other.

use std::collections::BTreeMap;

use stats::{Comparison, Discards, Seen, Spread, Verdict};
use store::Compare;
use verdict::{Pairing, Standing};

use super::rows::Row;
use crate::metric::Metric;
use crate::view::View;

/// A row that may be ranked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    /// Its place in the rows of the load.
    pub(crate) row: usize,
    /// The metric over its valid runs.
    pub(crate) metric: Spread,
    /// Whether it is the best of its system.
    pub(crate) is_best: bool,
    /// Whether so many more of its requests fail than of another setting of the system that it cannot be the best.
    pub(crate) has_more_errors: bool,
}

/// Two rows over the blocks that both were measured in.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Places in the rows of the load. If either is better, it is the first.
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) comparison: Comparison,
    /// The ratio in each of the blocks that count, in their order.
    pub(crate) ratios: Vec<f64>,
    /// In how many of the blocks that count the first was better.
    pub(crate) first_better: usize,
    /// Whether the better one is no winner, because more of its requests failed.
    pub(crate) has_more_errors: bool,
    /// Blocks in which both have a valid run, but one has too few samples for a verdict on the metric.
    pub(crate) too_few_samples: usize,
    /// In how many blocks both can ever have a figure.
    pub(crate) attainable: usize,
}

/// One in a thousand: more errors than that above another cannot be made up by speed.
const ERRORS_MARGIN: f64 = 0.001;
/// More would not be read.
const PAIRS_MAX: usize = 15;

/// The ranking, the best first, and the best against each other: the best of every system, or if there is but one system,
/// its best setting against the others.
pub(super) fn of_load(
    compare: &Compare,
    metric: Option<&Metric>,
    rows: &[Row<'_>],
    views: &[View<'_>],
) -> (Vec<Ranked>, Vec<Pair>) {
    let Some(metric) = metric else { return (Vec::new(), Vec::new()) };
    let ranking = ranking(compare, rows);
    let bests: Vec<usize> = ranking.iter().filter(|ranked| ranked.is_best).map(|ranked| ranked.row).collect();
    let against: Vec<(usize, usize)> = match bests[..] {
        [] => Vec::new(),
        [best] => {
            let others = ranking.iter().filter(|ranked| ranked.row != best && !ranked.has_more_errors);
            others.map(|ranked| (best, ranked.row)).collect()
        }
        // Those of the winner first, and no more than are read.
        _ => bests
            .iter()
            .enumerate()
            .flat_map(|(place, a)| bests[place + 1..].iter().map(|b| (*a, *b)))
            .collect(),
    };
    let pairs = against.into_iter().take(PAIRS_MAX);
    let pairs = pairs.map(|(first, second)| pair(compare, metric, rows, views, first, second)).collect();
    (ranking, pairs)
}

fn ranking(compare: &Compare, rows: &[Row<'_>]) -> Vec<Ranked> {
    let mut ranking: Vec<Ranked> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let has_answers = row.error_share().is_some_and(|share| share < 1.0);
        if let Some(metric) = row.metric.filter(|_| row.is_valid && has_answers) {
            ranking.push(Ranked { row: place, metric, is_best: false, has_more_errors: false });
        }
    }
    let better = |a: f64, b: f64| if compare.higher_is_better { b.total_cmp(&a) } else { a.total_cmp(&b) };
    ranking.sort_by(|a, b| better(a.metric.median, b.metric.median).then(a.row.cmp(&b.row)));
    // Of each system the least errors and the most valid runs of a setting, and whether its best is found.
    let mut systems: BTreeMap<&str, (f64, usize, bool)> = BTreeMap::new();
    for row in ranking.iter().map(|ranked| &rows[ranked.row]) {
        let (least, most_runs, _) = systems.entry(&row.place.system).or_insert((f64::INFINITY, 0, false));
        *least = row.error_share().map_or(*least, |share| least.min(share));
        *most_runs = row.count(Standing::Valid).max(*most_runs);
    }
    for ranked in &mut ranking {
        let row = &rows[ranked.row];
        let Some((least, most_runs, is_found)) = systems.get_mut(row.place.system.as_str()) else { continue };
        ranked.has_more_errors = row.error_share().is_none_or(|share| share > *least + ERRORS_MARGIN);
        // A setting that was mostly lost may have been lucky in what is left.
        let is_seldom = row.count(Standing::Valid) * 2 < *most_runs;
        ranked.is_best = !*is_found && !ranked.has_more_errors && !is_seldom;
        *is_found |= ranked.is_best;
    }
    ranking
}

fn pair(
    compare: &Compare,
    metric: &Metric,
    rows: &[Row<'_>],
    views: &[View<'_>],
    first: usize,
    second: usize,
) -> Pair {
    let of = |row: usize| by_block(metric, &rows[row], views);
    let common = Pairing::of(compare.blocks, &of(first), &of(second));
    let discards = |row: usize| rows[row].count(Standing::Invalid);
    let made = |pairs: &[(f64, f64)], first: usize, second: usize| {
        let discards = Discards { first: discards(first), second: discards(second) };
        stats::compare(pairs, common.attainable, compare.matters, discards)
    };
    let ratio = made(&common.pairs, first, second).ratio;
    let is_turned =
        ratio.is_some_and(|ratio| if compare.higher_is_better { ratio < 1.0 } else { ratio > 1.0 });
    let (first, second, pairs) = match is_turned {
        true => (second, first, common.pairs.iter().map(|(a, b)| (*b, *a)).collect()),
        false => (first, second, common.pairs.clone()),
    };
    let comparison = made(&pairs, first, second);
    let is_better = |(a, b): &&(f64, f64)| if compare.higher_is_better { a > b } else { a < b };
    let share = |row: usize| rows[row].error_share().unwrap_or(0.0);
    let differs = matches!(comparison.verdict, Verdict::Differs { .. });
    Pair {
        first,
        second,
        ratios: pairs[..comparison.blocks].iter().map(|(a, b)| a / b).collect(),
        comparison,
        first_better: pairs[..comparison.blocks].iter().filter(is_better).count(),
        has_more_errors: differs && share(first) > share(second) + ERRORS_MARGIN,
        too_few_samples: common.too_few_samples,
        attainable: common.attainable,
    }
}

/// What a row says in each block.
fn by_block(metric: &Metric, row: &Row<'_>, views: &[View<'_>]) -> BTreeMap<u32, Seen> {
    let said = |run: usize| Some((views[run].place()?.block, metric.seen(&views[run])));
    row.runs.iter().filter_map(|(run, _)| said(*run)).collect()
}
