//! Which variant of each system is best, and what is compared with what.

use std::collections::BTreeMap;

use evidence::{Compare, EvidenceError, Procedure};
use stats::{ERRORS_MARGIN, Spread, TournamentFindings};

use super::paired::{LoadOfStudy, Pair, Pairs};
use super::variant::Variant;
use crate::eligibility::Eligibility;

/// A variant that may be ranked.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Its place in the variants under the load.
    pub row: usize,
    /// The metric over its valid runs.
    pub metric: Spread,
    /// Whether it is the best of its system.
    pub is_best: bool,
    /// Whether so many more of its requests fail than of another variant of the system that it cannot be the best.
    pub has_more_errors: bool,
}

/// More would not be read.
const PAIRS_MAX: usize = 15;

/// More variants are not compared with a baseline; all of them share the error rate.
const AGAINST_MAX: usize = 100;

/// Ranking and comparisons of the variants under a load.
#[derive(Debug, Default)]
pub struct Standings {
    /// The best first.
    pub ranking: Vec<Ranked>,
    /// Comparisons of two.
    pub pairs: Pairs,
    /// Place of the variant that all others are compared with, if the plan names one.
    pub baseline: Option<usize>,
}

impl LoadOfStudy<'_> {
    /// Ranks the variants and compares them. In a study with a baseline, every variant is compared with that one; in a tournament, the best
    /// with the rival of its confirmation. Else the best variants of all systems are compared with each other, or, of a single system,
    /// its best variant with the others.
    pub fn standings(&self, found: Option<&TournamentFindings>) -> Result<Standings, EvidenceError> {
        let (compare, rows) = (&self.study.new.compare, self.variants);
        let mut ranking = ranking(compare, rows);
        if compare.asks_for_failures() {
            // What pictures show of each system is what is without failures.
            ranking.iter_mut().for_each(|ranked| ranked.is_best = rows[ranked.row].is_without_failures());
            return Ok(Standings { ranking, ..Standings::default() });
        }
        if let Some(found) = found {
            let is_best = |ranked: &Ranked| Some(ranked.row) == found.best;
            let system = found.best.map(|best| &rows[best].place.system);
            for ranked in &mut ranking {
                // Of the other systems the best by median, so that each is seen.
                let is_of_another = system.is_some_and(|system| *system != rows[ranked.row].place.system);
                ranked.is_best = is_best(ranked) || (is_of_another && ranked.is_best);
            }
            ranking.sort_by_key(|ranked| !is_best(ranked));
            return Ok(Standings { ranking, pairs: self.confirmed(found), baseline: None });
        }
        if let Some(baseline) = baseline(compare, rows) {
            let has_figures = ranking.iter().any(|ranked| ranked.row == baseline);
            let others = ranking.iter().map(|ranked| ranked.row).filter(|row| *row != baseline);
            let against: Vec<(usize, usize)> =
                others.filter(|_| has_figures).take(AGAINST_MAX).map(|row| (row, baseline)).collect();
            let mut pairs = self.against(&against)?;
            pairs.first.truncate(PAIRS_MAX);
            let is_shown = |pair: &Pair| pairs.first.iter().any(|shown| shown.first == pair.first);
            pairs.further.retain(is_shown);
            return Ok(Standings { ranking, pairs, baseline: Some(baseline) });
        }
        let bests: Vec<usize> =
            ranking.iter().filter(|ranked| ranked.is_best).map(|ranked| ranked.row).collect();
        let mut couples: Vec<(usize, usize)> = match bests[..] {
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
        couples.truncate(PAIRS_MAX);
        Ok(Standings { ranking, pairs: self.each(&couples)?, baseline: None })
    }
}

/// Place of the variant that the plan names. A tournament keeps to its own.
fn baseline(compare: &Compare, rows: &[&Variant<'_>]) -> Option<usize> {
    let name = compare.baseline.as_ref().filter(|_| !matches!(compare.procedure, Procedure::Best { .. }))?;
    rows.iter().position(|row| row.setting().name() == *name)
}

fn ranking(compare: &Compare, rows: &[&Variant<'_>]) -> Vec<Ranked> {
    let mut ranking: Vec<Ranked> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let has_answers = row.error_share.is_some_and(|share| share < 1.0);
        if let Some(metric) = row.metric.filter(|_| row.is_ranked && row.is_valid && has_answers) {
            ranking.push(Ranked { row: place, metric, is_best: false, has_more_errors: false });
        }
    }
    let better = |a: f64, b: f64| if compare.higher_is_better { b.total_cmp(&a) } else { a.total_cmp(&b) };
    // A system that was gone is not ranked above one that was there.
    let was_gone = |ranked: &Ranked| rows[ranked.row].gone.runs > 0;
    ranking.sort_by(|a, b| {
        let by_metric = better(a.metric.median, b.metric.median).then(a.row.cmp(&b.row));
        was_gone(a).cmp(&was_gone(b)).then(by_metric)
    });
    // Of each system the least errors and the most valid runs of a variant, and whether its best is found.
    let mut systems: BTreeMap<&str, (f64, usize, bool)> = BTreeMap::new();
    for row in ranking.iter().map(|ranked| rows[ranked.row]) {
        let (least, most_runs, _) = systems.entry(&row.place.system).or_insert((f64::INFINITY, 0, false));
        *least = row.unserved_share().map_or(*least, |share| least.min(share));
        *most_runs = row.count(Eligibility::Valid).max(*most_runs);
    }
    for ranked in &mut ranking {
        let row = rows[ranked.row];
        let Some((least, most_runs, is_found)) = systems.get_mut(row.place.system.as_str()) else { continue };
        ranked.has_more_errors = row.unserved_share().is_none_or(|share| share > *least + ERRORS_MARGIN);
        // A variant that was mostly lost may have been lucky in what is left.
        let is_seldom = row.count(Eligibility::Valid) * 2 < *most_runs;
        ranked.is_best = !*is_found && !ranked.has_more_errors && !is_seldom;
        *is_found |= ranked.is_best;
    }
    ranking
}
