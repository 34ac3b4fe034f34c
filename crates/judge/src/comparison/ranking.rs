//! Ranks the variants of each system, and selects the variants that are compared.

use std::collections::BTreeMap;

use evidence::{Compare, EvidenceError, Procedure};
use stats::{ERRORS_MARGIN, Spread, TournamentFindings};

use super::paired::{Pair, Pairs, StudyLoad};
use super::variant::Variant;
use crate::eligibility::Eligibility;

/// A variant in the ranking.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Index of the variant among the variants under the load.
    pub row: usize,
    /// Spread of the metric over its valid runs.
    pub metric: Spread,
    /// Whether the variant is the best of its system.
    pub is_best: bool,
    /// Whether the variant cannot be the best, because significantly more of its requests failed than of another
    /// variant of the system.
    pub has_more_errors: bool,
}

/// Max number of pairs that are reported.
const PAIRS_MAX: usize = 15;

/// Max number of variants that are compared with a baseline. All share the error rate.
const BASELINE_PAIRS_MAX: usize = 100;

/// Ranking and comparisons of the variants under a load.
#[derive(Debug, Default)]
pub struct Standings {
    /// Ranked variants, best first.
    pub ranking: Vec<Ranked>,
    /// Comparisons of two variants.
    pub pairs: Pairs,
    /// Index of the variant that all others are compared with, if the plan names one.
    pub baseline: Option<usize>,
}

impl StudyLoad<'_> {
    /// Ranks the variants and compares them. With a baseline, every variant is compared with it. In a tournament, the best variant
    /// is compared with its rival in the confirmation. Otherwise, the best variants of all systems are compared with each other.
    /// With a single system, its best variant is compared with the others.
    pub fn standings(&self, found: Option<&TournamentFindings>) -> Result<Standings, EvidenceError> {
        let (compare, rows) = (&self.study.new.compare, self.variants);
        let mut ranking = ranking(compare, rows);
        if compare.looks_for_failures() {
            // Charts mark the variants without failures.
            ranking.iter_mut().for_each(|ranked| ranked.is_best = rows[ranked.row].is_without_failures());
            return Ok(Standings { ranking, ..Standings::default() });
        }
        if let Some(found) = found {
            let is_best = |ranked: &Ranked| Some(ranked.row) == found.best;
            let system = found.best.map(|best| &rows[best].place.system);
            for ranked in &mut ranking {
                // Marks the best variant of each other system by median, so that charts show it.
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
                others.filter(|_| has_figures).take(BASELINE_PAIRS_MAX).map(|row| (row, baseline)).collect();
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
            // Pairs of the winner come first.
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

/// Returns the index of the variant that the plan names as the baseline. A tournament ignores it.
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
    // A system that was unavailable does not rank above one that never was.
    let was_unavailable = |ranked: &Ranked| rows[ranked.row].gone.runs > 0;
    ranking.sort_by(|a, b| {
        let by_metric = better(a.metric.median, b.metric.median).then(a.row.cmp(&b.row));
        was_unavailable(a).cmp(&was_unavailable(b)).then(by_metric)
    });
    // By system: lowest error share, max number of valid runs of a variant, and whether its best variant is known.
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
        // If a variant lost most of its runs, the remaining ones are a biased sample.
        let is_seldom = row.count(Eligibility::Valid) * 2 < *most_runs;
        ranked.is_best = !*is_found && !ranked.has_more_errors && !is_seldom;
        *is_found |= ranked.is_best;
    }
    ranking
}
