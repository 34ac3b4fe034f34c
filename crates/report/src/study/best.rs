//! Which setting of each system is best, and the best against each other.

use std::collections::BTreeMap;

use stats::{Comparison, Discards, Duel, Found, MoreErrors, NoVerdict, Seen, Spread, Verdict};
use store::{Compare, StoreError, Study};
use verdict::{Pairing, Standing};

use super::procedures;
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
/// its best setting against the others. Of a tournament the one that it found, against the rival of its confirmation.
pub(super) fn of_load(
    study: &Study,
    load: &str,
    metric: Option<&Metric>,
    rows: &[Row<'_>],
    views: &[View<'_>],
    found: Option<&Found>,
) -> Result<(Vec<Ranked>, Vec<Pair>), StoreError> {
    let Some(metric) = metric else { return Ok((Vec::new(), Vec::new())) };
    let compare = &study.new.compare;
    let mut ranking = ranking(compare, rows);
    if let Some(found) = found {
        let is_best = |ranked: &Ranked| Some(ranked.row) == found.best;
        ranking.iter_mut().for_each(|ranked| ranked.is_best = is_best(ranked));
        ranking.sort_by_key(|ranked| !ranked.is_best);
        let finalists = found.best.zip(found.rival).zip(found.confirmed);
        let pairs = finalists.map(|((best, rival), comparison)| {
            let fresh = [best, rival].map(|row| by_block(metric, rows[row].confirming(views), views));
            let blocks = Pairing::of(compare.blocks, &fresh[0], &fresh[1]);
            let judged = Judged { common: blocks, comparison };
            pair(compare, rows, (best, rival), judged)
        });
        return Ok((ranking, pairs.into_iter().collect()));
    }
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
    let mut pairs = Vec::new();
    for (first, second) in against.into_iter().take(PAIRS_MAX) {
        let of = |row: usize| by_block(metric, rows[row].runs.iter().map(|(run, _)| *run), views);
        let common = Pairing::of(compare.blocks, &of(first), &of(second));
        let judged = match procedures::duel(study, load, [&rows[first], &rows[second]])? {
            Some(duel) => judged_by(&duel, common),
            None => judged_alone(compare, rows, (first, second), common),
        };
        pairs.push(pair(compare, rows, (first, second), judged));
    }
    Ok((ranking, pairs))
}

fn ranking(compare: &Compare, rows: &[Row<'_>]) -> Vec<Ranked> {
    let mut ranking: Vec<Ranked> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let has_answers = row.error_share().is_some_and(|share| share < 1.0);
        if let Some(metric) = row.metric.filter(|_| row.is_ranked && row.is_valid && has_answers) {
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

/// The blocks of two rows, and what they say: the first against the second.
struct Judged {
    common: Pairing,
    comparison: Comparison,
}

/// By the rules of a study that plans all its blocks at once.
fn judged_alone(
    compare: &Compare,
    rows: &[Row<'_>],
    (first, second): (usize, usize),
    common: Pairing,
) -> Judged {
    let discards = |row: usize| rows[row].count(Standing::Invalid);
    let discards = Discards { first: discards(first), second: discards(second) };
    let comparison = stats::compare(&common.pairs, common.attainable, compare.matters, discards);
    Judged { common, comparison }
}

/// By the study's own duel.
fn judged_by(duel: &Duel, common: Pairing) -> Judged {
    let values = |[a, b]: &[Seen; 2]| Some((a.value()?, b.value()?));
    let pairs = duel.blocks().iter().filter_map(values).collect();
    let attainable = duel.rules().blocks_max as usize;
    Judged { common: Pairing { pairs, attainable, ..common }, comparison: duel.finding() }
}

fn pair(
    compare: &Compare,
    rows: &[Row<'_>],
    (first, second): (usize, usize),
    Judged { common, comparison }: Judged,
) -> Pair {
    let is_ahead = |ratio: f64| if compare.higher_is_better { ratio < 1.0 } else { ratio > 1.0 };
    let (first, second, pairs, comparison) = match comparison.ratio.is_some_and(is_ahead) {
        true => {
            let pairs: Vec<(f64, f64)> = common.pairs.iter().map(|(a, b)| (*b, *a)).collect();
            let comparison = turned(&comparison, &pairs);
            (second, first, pairs, comparison)
        }
        false => (first, second, common.pairs, comparison),
    };
    let is_better = |(a, b): &&(f64, f64)| if compare.higher_is_better { a > b } else { a < b };
    let share = |row: usize| rows[row].error_share().unwrap_or(0.0);
    let differs = matches!(comparison.verdict, Verdict::Differs { .. });
    let judged = &pairs[..comparison.blocks.min(pairs.len())];
    Pair {
        first,
        second,
        ratios: judged.iter().map(|(a, b)| a / b).collect(),
        first_better: judged.iter().filter(is_better).count(),
        has_more_errors: differs && share(first) > share(second) + ERRORS_MARGIN,
        too_few_samples: common.too_few_samples,
        attainable: common.attainable,
        comparison,
    }
}

/// The second against the first. `pairs` are turned already.
fn turned(comparison: &Comparison, pairs: &[(f64, f64)]) -> Comparison {
    let judged = &pairs[..comparison.blocks.min(pairs.len())];
    let verdict = match comparison.verdict {
        Verdict::MoreErrors(more) => Verdict::MoreErrors(MoreErrors { of_first: !more.of_first, ..more }),
        Verdict::None(NoVerdict::UnevenDiscards(Discards { first, second })) => {
            Verdict::None(NoVerdict::UnevenDiscards(Discards { first: second, second: first }))
        }
        verdict => verdict,
    };
    Comparison {
        larger: judged.iter().filter(|(first, second)| first > second).count(),
        ratio: comparison.ratio.map(f64::recip),
        interval: comparison.interval.map(|[low, high]| [high.recip(), low.recip()]),
        verdict,
        ..*comparison
    }
}

/// What runs say in each block.
fn by_block(metric: &Metric, runs: impl Iterator<Item = usize>, views: &[View<'_>]) -> BTreeMap<u32, Seen> {
    runs.filter_map(|run| Some((views[run].place()?.block, metric.seen(&views[run])))).collect()
}
