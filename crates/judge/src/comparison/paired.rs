//! Compares two variants over the blocks in which both were measured, by one metric or by several that are judged together.

use std::collections::BTreeMap;

use evidence::{Compare, EvidenceError, Procedure, Run, Study};
use stats::{
    Bounded, Comparison, Discards, Duel, ERRORS_MARGIN, FirstSlices, LOOKS, MoreErrors, NoVerdict, Paired,
    RunResult, Scale, TournamentFindings, VarianceComponents, Verdict, WayToVerdict,
};

use super::variant::Variant;
use crate::compared_by::ComparedBy;
use crate::eligibility::Eligibility;
use crate::measured_run::MeasuredRun;
use crate::pairing::Pairing;
use crate::physical_cost::{PHYSICAL_COSTS, PhysicalCost};

/// Comparison of two variants over the blocks in which both were measured.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Index of the first variant among the variants under the load. If there is a baseline, the second variant is the baseline.
    /// Otherwise, the first is the better one by the deciding metric, if one is better.
    pub first: usize,
    /// Index of the second variant.
    pub second: usize,
    /// Metric of the comparison.
    pub by: ComparedBy,
    higher_is_better: bool,
    /// Estimate, interval, and verdict.
    pub comparison: Comparison,
    /// Whether the pair shares its error rate with others, by Holm's method.
    pub is_shared: bool,
    /// Ratio or difference in each counted block, in the order of blocks.
    pub in_blocks: Vec<f64>,
    /// Number of blocks in which both variants have a figure. Blocks after the look that decided do not count for the verdict.
    pub blocks_in_common: usize,
    /// Number of counted blocks in which the first variant was better, for any values within the bounds of both
    /// figures.
    pub first_better: usize,
    /// Number of counted blocks in which the second variant was better, for any values within the bounds of both
    /// figures.
    pub second_better: usize,
    /// Whether the variant ahead is no winner, because more of its requests failed.
    pub has_more_errors: bool,
    /// Number of blocks in which both variants have a valid run, but one has too few samples for a verdict by the metric.
    pub too_few_samples: usize,
    /// Max number of blocks in which both can still have a figure.
    pub attainable: usize,
    /// Shortest way to a verdict, if there is none yet. `None` if unknown.
    pub way: Option<WayToVerdict>,
    /// First slices, if they do not confirm the difference that all slices show. `None` without such a difference.
    pub unconfirmed: Option<FirstSlices>,
}

/// Returns the number of blocks at the first look of a study that plans all its blocks at once.
pub fn first_look_blocks() -> usize {
    LOOKS[0].blocks as usize
}

impl Pair {
    /// Returns whether the second variant is ahead.
    pub fn is_behind(&self) -> bool {
        is_behind(&self.comparison, self.higher_is_better)
    }

    /// Returns the index of the variant that `row` is compared with.
    pub fn other(&self, row: usize) -> usize {
        if self.first == row { self.second } else { self.first }
    }

    /// Returns estimate and interval from the perspective of the variant with index `place`.
    pub fn estimate_for(&self, place: usize) -> (Option<f64>, Option<[f64; 2]>) {
        let Comparison { estimate, interval, scale, .. } = self.comparison;
        match self.first == place {
            true => (estimate, interval),
            false => (
                estimate.map(|estimate| scale.turned(estimate)),
                interval.map(|[low, high]| [high, low].map(|end| scale.turned(end))),
            ),
        }
    }

    /// Returns whether the estimate reaches the smallest effect; `None` without an estimate.
    pub fn is_relevant(&self, compare: &Compare) -> Option<bool> {
        let matters = self.by.min_effect(compare);
        self.comparison.estimate.map(|estimate| matters.is_reached_by(estimate))
    }

    /// Returns the number of blocks at the next look; `None` if there is none, or if another way is shorter.
    pub fn next_look_blocks(&self) -> Option<u32> {
        match &self.way {
            Some(WayToVerdict::MoreBlocks { blocks, .. }) => return Some(*blocks),
            Some(_) => return None,
            None if self.comparison.is_open_by_bounds => return None,
            None => {}
        }
        let last = LOOKS[LOOKS.len() - 1].blocks as usize;
        let mut looks = stats::looks(last, self.comparison.family).map(|look| look.blocks);
        looks.find(|blocks| *blocks as usize > self.comparison.blocks)
    }

    /// Returns whether there were enough blocks for a look, so that the estimate has an interval.
    pub fn has_look(&self) -> bool {
        self.comparison.interval.is_some()
    }

    /// Returns the indices of the variant that is ahead, and of the other one.
    pub fn ahead(&self) -> (usize, usize) {
        if self.is_behind() { (self.second, self.first) } else { (self.first, self.second) }
    }
}

/// A load of a study, with the results of its variants.
#[derive(Clone, Copy, Debug)]
pub struct StudyLoad<'a> {
    /// The study.
    pub study: &'a Study,
    /// Name of the load.
    pub load: &'a str,
    /// Variants under the load. Pairs and rankings refer to them by index.
    pub variants: &'a [&'a Variant<'a>],
    /// All runs of the study. Variants refer to them by index.
    pub runs: &'a [MeasuredRun<'a>],
    /// Metric that decides.
    pub by: &'a ComparedBy,
}

/// Comparisons of two variants.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Pairs by the metric that decides.
    pub first: Vec<Pair>,
    /// Pairs of the same variants by further metrics.
    pub further: Vec<Pair>,
}

/// Max number of variants that are up at once, and so that can be compared in slices.
pub const SLICED_MAX: usize = 8;

/// Max number of further metrics. A stored study may name any number.
const METRICS_MAX: usize = 10;

/// Indices of two variants, the first compared with the second.
type VariantPair = (usize, usize);

/// Blocks of two variants by one metric, before judgment.
struct UnjudgedPair {
    couple: VariantPair,
    by: ComparedBy,
    common: Pairing,
}

/// Comparison of two variants by one metric.
struct JudgedPair {
    asked: UnjudgedPair,
    comparison: Comparison,
    is_shared: bool,
    /// Variances of slices; `None` for whole runs.
    levels: Option<VarianceComponents>,
    /// First slices that do not confirm the difference over all slices.
    unconfirmed: Option<FirstSlices>,
}

impl StudyLoad<'_> {
    /// Compares each couple separately. Metrics of one couple are judged together. If the study judges all pairs together, so does this.
    pub(super) fn each(&self, couples: &[VariantPair]) -> Result<Pairs, EvidenceError> {
        let mut pairs = Pairs::default();
        let is_round_robin = matches!(self.study.new.compare.procedure, Procedure::RoundRobin { .. });
        if is_round_robin && self.variants.len() <= SLICED_MAX {
            return self.among_all_pairs(couples);
        }
        for couple in couples {
            let judged = self.together(self.metrics(), &[*couple], self.planned_metric_count())?;
            let of_couple = self.pairs(judged, 1, false);
            pairs.first.extend(of_couple.first);
            pairs.further.extend(of_couple.further);
        }
        Ok(pairs)
    }

    /// Compares all pairs of variants, judged together by every metric, and returns those of `couples`.
    fn among_all_pairs(&self, couples: &[VariantPair]) -> Result<Pairs, EvidenceError> {
        let rows = self.variants.len();
        let all: Vec<VariantPair> =
            (0..rows).flat_map(|first| (first + 1..rows).map(move |second| (first, second))).collect();
        let judged = self.together(self.metrics(), &all, crate::versus::family(&self.study.new.compare))?;
        let mut pairs = self.pairs(judged, all.len(), false);
        let place = |pair: &Pair| {
            couples
                .iter()
                .position(|couple| [*couple, (couple.1, couple.0)].contains(&(pair.first, pair.second)))
        };
        for pairs in [&mut pairs.first, &mut pairs.further] {
            pairs.retain(|pair| place(pair).is_some());
            pairs.sort_by_key(place);
        }
        Ok(pairs)
    }

    /// Compares variants with a baseline. All couples and all metrics are judged together. The family includes every
    /// other variant, even without figures.
    pub(super) fn against(&self, couples: &[VariantPair]) -> Result<Pairs, EvidenceError> {
        let rows = u32::try_from(self.variants.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let judged =
            self.together(self.metrics(), couples, rows.saturating_mul(self.planned_metric_count()))?;
        Ok(self.pairs(judged, couples.len(), true))
    }

    /// Returns the pairs that a tournament confirmed. Further metrics are judged only if the first one differs, so they
    /// need not share its error rate.
    pub(super) fn confirmed(&self, found: &TournamentFindings) -> Pairs {
        let Some((couple, comparison)) = found.best.zip(found.rival).zip(found.confirmed) else {
            return Pairs::default();
        };
        let fresh = |by: ComparedBy| {
            let of = |row: usize| self.by_block(&by, self.variants[row].confirming(self.runs));
            let common = self.pairing([of(couple.0), of(couple.1)]);
            UnjudgedPair { couple, by, common }
        };
        let mut judged = vec![JudgedPair::from_runs(fresh(self.by.clone()), comparison, false)];
        if matches!(comparison.verdict, Verdict::Differs { .. }) {
            let further = self.further().map(fresh).collect();
            judged.extend(self.in_blocks(further, self.planned_metric_count() - 1, |_| 0));
        }
        self.pairs(judged, 1, false)
    }

    /// Compares the variants of `pairs` by each physical cost of their runs. A cost has an error rate of its own, because no plan asks for
    /// it; the pairs with a baseline share it. `found` are the findings of a tournament.
    pub fn by_costs(
        &self,
        pairs: &[Pair],
        baseline: Option<usize>,
        found: Option<&TournamentFindings>,
    ) -> Result<Vec<Pair>, EvidenceError> {
        let couples: Vec<VariantPair> = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        let others = u32::try_from(self.variants.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let family = if baseline.is_some() { others } else { 1 };
        let mut compared = Vec::new();
        for by in self.costs_of_runs() {
            let is_confirmed = found.is_some_and(|found| found.confirmed.is_some());
            let judged = match is_confirmed {
                true => {
                    let of = |row: usize| self.by_block(&by, self.variants[row].confirming(self.runs));
                    let asked = couples.iter().map(|couple| UnjudgedPair {
                        couple: *couple,
                        by: by.clone(),
                        common: self.pairing([of(couple.0), of(couple.1)]),
                    });
                    self.in_blocks(asked.collect(), family, |_| 0)
                }
                false => self.together(std::iter::once(by.clone()), &couples, family)?,
            };
            compared.extend(judged.into_iter().map(|judged| self.pair(judged)));
        }
        Ok(compared)
    }

    /// Observes a stored run. The edges of a slice do not distort a physical cost, which covers the whole load.
    fn said(&self, run: &Run, by: &ComparedBy) -> Result<RunResult, EvidenceError> {
        let measured = self.runs.iter().find(|measured| by.cost.is_some() && measured.run.id == run.id);
        measured.map_or_else(|| crate::versus::said(run, by), |measured| Ok(measured.result(by)))
    }

    /// Returns the physical costs recorded in runs of these variants.
    fn costs_of_runs(&self) -> impl Iterator<Item = ComparedBy> {
        let runs = || self.variants.iter().flat_map(|variant| &variant.runs).map(|(run, _)| &self.runs[*run]);
        let has = move |cost: &&'static PhysicalCost| {
            runs().any(|run| run.measured.costs.iter().any(|found| found.cost == *cost))
        };
        PHYSICAL_COSTS.iter().filter(has).map(ComparedBy::of_cost).filter(|by| by != self.by)
    }

    /// Returns the metrics that the plan compares by, deciding metric first.
    fn metrics(&self) -> impl Iterator<Item = ComparedBy> {
        std::iter::once(self.by.clone()).chain(self.further())
    }

    /// Judges couples by every metric, in the order of metrics.
    fn together(
        &self,
        metrics: impl Iterator<Item = ComparedBy>,
        couples: &[VariantPair],
        family: u32,
    ) -> Result<Vec<JudgedPair>, EvidenceError> {
        let (mut asked, mut duels) = (Vec::new(), Vec::new());
        for by in metrics {
            for couple in couples {
                let rows = [self.variants[couple.0], self.variants[couple.1]];
                let of = |row: &Variant<'_>| self.by_block(&by, row.runs.iter().map(|(run, _)| *run));
                asked.push(UnjudgedPair {
                    couple: *couple,
                    by: by.clone(),
                    common: self.pairing(rows.map(of)),
                });
                let settings = rows.map(Variant::setting);
                let said = &mut |run: &Run| self.said(run, &by);
                let of_settings = [&settings[0], &settings[1]];
                duels.extend(crate::versus::duel_by(self.study, self.load, of_settings, &by, said)?);
            }
        }
        let invalid = |row: usize| self.variants[row].count(Eligibility::Invalid);
        Ok(match duels.len() == asked.len() {
            true => in_duels(asked, &duels),
            false => self.in_blocks(asked, family, invalid),
        })
    }

    /// Judges by the rules of a study that plans all its blocks at once.
    fn in_blocks(
        &self,
        asked: Vec<UnjudgedPair>,
        family: u32,
        invalid: impl Fn(usize) -> usize,
    ) -> Vec<JudgedPair> {
        let paired = |asked: &UnjudgedPair| (invalid(asked.couple.0), invalid(asked.couple.1));
        let discards: Vec<Discards> =
            asked.iter().map(paired).map(|(first, second)| Discards { first, second }).collect();
        let paired: Vec<Paired<'_>> = asked
            .iter()
            .zip(discards)
            .map(|(UnjudgedPair { common, by, .. }, discards)| Paired {
                pairs: &common.pairs,
                attainable: common.attainable,
                discards,
                extensions: self.study.extensions.len() as u32,
                matters: by.min_effect(&self.study.new.compare),
            })
            .collect();
        let found = stats::compare_together(family, &paired);
        let judged = asked.into_iter().zip(found);
        let is_shared = family > 1;
        judged.map(|(asked, comparison)| JudgedPair::from_runs(asked, comparison, is_shared)).collect()
    }

    /// Builds the pairs; the first `first` are by the deciding metric. Unless `is_fixed`, the variant that is ahead comes
    /// first.
    fn pairs(&self, judged: Vec<JudgedPair>, first: usize, is_fixed: bool) -> Pairs {
        let higher_is_better = self.study.new.compare.higher_is_better;
        let is_turned = |judged: &&JudgedPair| !is_fixed && is_behind(&judged.comparison, higher_is_better);
        let turned: Vec<VariantPair> =
            judged.iter().take(first).filter(is_turned).map(|judged| judged.asked.couple).collect();
        let pair = |judged: JudgedPair| match turned.contains(&judged.asked.couple) {
            true => self.pair(judged.turned()),
            false => self.pair(judged),
        };
        let mut pairs: Vec<Pair> = judged.into_iter().map(pair).collect();
        let further = pairs.split_off(first.min(pairs.len()));
        Pairs { first: pairs, further }
    }

    fn pair(&self, JudgedPair { asked, comparison, is_shared, levels, unconfirmed }: JudgedPair) -> Pair {
        let UnjudgedPair { couple, by, common } = asked;
        let higher_is_better = by.higher_is_better(&self.study.new.compare);
        let apart = |(a, b): &(Bounded, Bounded)| match by.scale() {
            Scale::Ratio => a.value / b.value,
            Scale::Difference => a.value - b.value,
        };
        let pairs = &common.pairs[..comparison.blocks.min(common.pairs.len())];
        let larger = pairs.iter().filter(|(a, b)| a.low > b.high).count();
        let smaller = pairs.iter().filter(|(a, b)| a.high < b.low).count();
        let [first_better, second_better] =
            if higher_is_better { [larger, smaller] } else { [smaller, larger] };
        let mut pair = Pair {
            first: couple.0,
            second: couple.1,
            higher_is_better,
            is_shared,
            in_blocks: pairs.iter().map(apart).collect(),
            blocks_in_common: common.pairs.len(),
            first_better,
            second_better,
            has_more_errors: false,
            too_few_samples: common.too_few_samples,
            attainable: common.attainable,
            way: None,
            unconfirmed,
            comparison,
            by,
        };
        pair.way = self.way(&pair, levels);
        let share = |row: usize| self.variants[row].unserved_share().unwrap_or(0.0);
        let (ahead, other) = pair.ahead();
        let differs = matches!(comparison.verdict, Verdict::Differs { .. });
        pair.has_more_errors = differs && share(ahead) > share(other) + ERRORS_MARGIN;
        pair
    }

    /// Returns the further metrics of the plan that this version knows.
    fn further(&self) -> impl Iterator<Item = ComparedBy> {
        let names = self.study.new.compare.also.iter().take(METRICS_MAX);
        names.filter_map(|name| ComparedBy::named(name)).filter(|by| by != self.by)
    }

    /// Returns the number of metrics that the plan names, known to this version or not.
    fn planned_metric_count(&self) -> u32 {
        u32::try_from(self.study.new.compare.also.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn pairing(&self, [first, second]: [BTreeMap<u32, RunResult>; 2]) -> Pairing {
        Pairing::of(self.study.blocks(), &first, &second)
    }

    /// Observes each block by `by`.
    fn by_block(&self, by: &ComparedBy, runs: impl Iterator<Item = usize>) -> BTreeMap<u32, RunResult> {
        let seen = |run: usize| {
            let run = &self.runs[run];
            Some((run.run.new.place.as_ref()?.1.block, run.result(by)))
        };
        runs.filter_map(seen).collect()
    }
}

/// Judges by the duels of the study.
fn in_duels(asked: Vec<UnjudgedPair>, duels: &[Duel]) -> Vec<JudgedPair> {
    let found = stats::judge_together(&duels.iter().collect::<Vec<_>>());
    let figures = |[a, b]: &[RunResult; 2]| Some((a.bounded()?, b.bounded()?));
    let of_duel = |((asked, duel), comparison): ((UnjudgedPair, &Duel), Comparison)| {
        let pairs = duel.blocks().iter().filter_map(figures).collect();
        let attainable = duel.rules().blocks_max as usize;
        let common = Pairing { pairs, attainable, ..asked.common };
        let (is_shared, levels) = (duel.rules().family > 1, duel.levels());
        let unconfirmed = duel.first_slices().filter(|_| comparison.is_withheld());
        JudgedPair { asked: UnjudgedPair { common, ..asked }, comparison, is_shared, levels, unconfirmed }
    };
    asked.into_iter().zip(duels).zip(found).map(of_duel).collect()
}

impl JudgedPair {
    fn from_runs(asked: UnjudgedPair, comparison: Comparison, is_shared: bool) -> Self {
        Self { asked, comparison, is_shared, levels: None, unconfirmed: None }
    }

    /// Swaps the two variants.
    fn turned(self) -> Self {
        let Self { asked: UnjudgedPair { couple, by, mut common }, comparison, .. } = self;
        common.pairs.iter_mut().for_each(|pair| *pair = (pair.1, pair.0));
        let comparison = turned(&comparison, &common.pairs);
        let asked = UnjudgedPair { couple: (couple.1, couple.0), by, common };
        let unconfirmed = self.unconfirmed.map(|first| FirstSlices { ratio: first.ratio.recip(), ..first });
        Self { asked, comparison, unconfirmed, ..self }
    }
}

/// Swaps the sides of a comparison; `pairs` are swapped already.
fn turned(comparison: &Comparison, pairs: &[(Bounded, Bounded)]) -> Comparison {
    let judged = &pairs[..comparison.blocks.min(pairs.len())];
    let ends = |[low, high]: [f64; 2]| [high, low].map(|end| comparison.scale.turned(end));
    let verdict = match comparison.verdict {
        Verdict::MoreErrors(more) => Verdict::MoreErrors(MoreErrors { of_first: !more.of_first, ..more }),
        Verdict::None(NoVerdict::UnevenDiscards(Discards { first, second })) => {
            Verdict::None(NoVerdict::UnevenDiscards(Discards { first: second, second: first }))
        }
        verdict => verdict,
    };
    Comparison {
        larger: judged.iter().filter(|(first, second)| first.low > second.high).count(),
        estimate: comparison.estimate.map(|estimate| comparison.scale.turned(estimate)),
        interval: comparison.interval.map(ends),
        measured_interval: comparison.measured_interval.map(ends),
        verdict,
        ..*comparison
    }
}

/// Returns whether the second variant is ahead.
fn is_behind(comparison: &Comparison, higher_is_better: bool) -> bool {
    comparison.is_first_larger() == Some(!higher_is_better)
}
