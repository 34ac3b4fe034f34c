//! Restores the state of a study's duel.

use evidence::{Compare, EvidenceError, GeneratorEffect, Procedure, Run, Study, StudyPlace, stage};
use record::{Histogram, Percentile, Phase};
use stats::{Bounded, Duel, DuelRules, RunResult, Slice};

use crate::compared_by::ComparedBy;
use crate::figure_bounds;
use crate::measured::Measured;
use crate::others::taken_cores;
use crate::run_order::{Block, RunOrder, Slot};
use crate::run_result::run_result;
use crate::setting::Setting;

/// Returns the rules of a duel of two variants by one of the metrics of a study; `None` if the procedure of the study has no duels. All
/// pairs and metrics share one error rate. During the duel, each metric uses its own part; at the end,
/// [`stats::judge_together`] judges all of them.
pub(crate) fn duel_rules(compare: &Compare, by: &ComparedBy) -> Option<DuelRules> {
    let (pilot_blocks, looks_early, slices) = match compare.procedure {
        Procedure::Duel { pilot_blocks, looks_early, slices } => {
            (pilot_blocks, looks_early || slices.is_some(), slices)
        }
        Procedure::RoundRobin { slices, .. } => (0, false, Some(slices)),
        _ => return None,
    };
    Some(DuelRules {
        matters: by.min_effect(compare),
        higher_is_better: by.higher_is_better(compare),
        blocks_max: compare.blocks,
        pilot_blocks,
        family: family(compare),
        looks_early,
        has_control: slices.is_some_and(|rules| rules.has_control),
    })
}

/// Returns the number of comparisons of a study that share one error rate: the metrics of a pair; in a comparison of more than two variants
/// in slices, the metrics of all pairs.
pub fn family(compare: &Compare) -> u32 {
    let metrics = u32::try_from(compare.also.len()).unwrap_or(u32::MAX).saturating_add(1);
    match compare.procedure {
        Procedure::RoundRobin { pairs, .. } => metrics.saturating_mul(pairs.max(1)),
        _ => metrics,
    }
}

/// Restores the duel of two configurations under a load by a metric, with all stored results; `None` if the procedure of the
/// study has no duels.
///
/// A block is noted once all its runs are finished. A run that the study continued without counts as missing.
pub fn duel(
    study: &Study,
    load: &str,
    settings: [&Setting; 2],
    by: &ComparedBy,
) -> Result<Option<Duel>, EvidenceError> {
    duel_by(study, load, settings, by, &mut |run| said(run, by))
}

/// Like [`duel`], but reads the observation of each run with the argument `said`, a function like [`said`].
pub fn duel_by(
    study: &Study,
    load: &str,
    settings: [&Setting; 2],
    by: &ComparedBy,
    said: &mut dyn FnMut(&Run) -> Result<RunResult, EvidenceError>,
) -> Result<Option<Duel>, EvidenceError> {
    let Some(rules) = duel_rules(&study.new.compare, by) else { return Ok(None) };
    let mut duel = Duel::new(rules);
    let mut extensions = study.extensions.iter().peekable();
    let mut lone_starts = Vec::new();
    for Block { stage, slots } in RunOrder::of(study).blocks(load) {
        if stage != stage::CONFIRM_SLICE {
            // All lone starts of a turn are judged together.
            duel.note_lone_starts(&std::mem::take(&mut lone_starts));
        }
        let first = slots.iter().map(|slot| slot.place.position).min();
        while let Some(extension) =
            extensions.next_if(|extension| first.is_some_and(|first| first >= extension.planned))
        {
            duel.extend(extension.blocks);
        }
        let mut of = |slot: Option<&Slot<'_>>| {
            slot.and_then(|slot| slot.run).map_or(Ok(RunResult::Missing), &mut *said)
        };
        match stage {
            stage::PILOT => duel.note_pilot([of(slots.first())?, of(slots.get(1))?]),
            stage::BLOCK => {
                let [a, b] = settings.map(|setting| slots.iter().find(|slot| setting.is_of(slot.place)));
                duel.note([of(a)?, of(b)?]);
            }
            stage::SLICE => {
                let has_slices = |setting: &Setting| slots.iter().any(|slot| setting.is_of(slot.place));
                if !settings.into_iter().all(has_slices) {
                    // One of the variants had left, so this is not a block of the pair.
                    continue;
                }
                let (pairs, runs) = pairs_of_slices(&slots, settings, &mut of)?;
                let figures = block_results(&pairs, &runs, by)?;
                duel.note_slices_with_results(&pairs, figures);
            }
            stage::CONFIRM_SLICE => {
                for slot in &slots {
                    let Some(side) = settings.iter().position(|setting| setting.is_of(slot.place)) else {
                        continue;
                    };
                    let taken_cores = slot.run.and_then(taken_cores);
                    let slice = Slice { seen: of(Some(slot))?, is_after_other: false, taken_cores };
                    lone_starts.push((side == 0, slice));
                }
            }
            _ => {}
        }
    }
    duel.note_lone_starts(&lone_starts);
    extensions.for_each(|extension| duel.extend(extension.blocks));
    Ok(Some(duel))
}

/// Slices of A and of B, pair by pair, and their runs.
type PairsOfSlices<'a> = (Vec<[Slice; 2]>, [Vec<Option<&'a Run>>; 2]);

/// Pairs the slices of A and B in a block, in which further variants may have slices.
fn pairs_of_slices<'a>(
    slots: &[Slot<'a>],
    settings: [&Setting; 2],
    of: &mut dyn FnMut(Option<&Slot<'_>>) -> Result<RunResult, EvidenceError>,
) -> Result<PairsOfSlices<'a>, EvidenceError> {
    let mut of_either = [Vec::new(), Vec::new()];
    let mut runs: [Vec<Option<&Run>>; 2] = Default::default();
    let mut before: Option<&StudyPlace> = None;
    for slot in slots {
        let before = before.replace(slot.place);
        let Some(side) = settings.iter().position(|setting| setting.is_of(slot.place)) else { continue };
        let seen = of(Some(slot))?;
        let is_after_other = before.is_some_and(|before| !settings[side].is_of(before));
        let taken_cores = slot.run.and_then(taken_cores);
        of_either[side].push(Slice { seen, is_after_other, taken_cores });
        runs[side].push(slot.run);
    }
    let [a, b] = of_either;
    Ok((a.into_iter().zip(b).map(|(a, b)| [a, b]).collect(), runs))
}

/// Returns the observations of A and B in a block of slices. A percentile of the tail is computed over all samples of
/// the counted slices.
fn block_results(
    pairs: &[[Slice; 2]],
    runs: &[Vec<Option<&Run>>; 2],
    by: &ComparedBy,
) -> Result<[RunResult; 2], EvidenceError> {
    let mut seen = stats::of_slices(pairs);
    let Some(percentile) = by.metric.percentile_of_merged_slices() else { return Ok(seen) };
    let counts = |pair: &[Slice; 2]| pair.iter().all(|slice| slice.seen.value().is_some());
    for (side, seen) in seen.iter_mut().enumerate() {
        let RunResult::Figure { errors, planned, .. } = *seen else { continue };
        let (mut response, mut effects) = (Histogram::default(), Some(Vec::new()));
        let counting = pairs.iter().zip(&runs[side]).filter(|(pair, _)| counts(pair));
        for run in counting.filter_map(|(_, run)| *run) {
            let of_run = run.whole(Phase::Measured)?.response.all();
            match (&mut effects, run.generator_effect()) {
                (Some(effects), Some(effect)) => effects.push((*effect, of_run.count())),
                _ => effects = None,
            }
            response.merge(&of_run);
        }
        let effect = effects.and_then(GeneratorEffect::together);
        let is_enough = percentile == Percentile::MAX || percentile.is_judgeable(response.count());
        *seen = match bounded_percentile(percentile, &response, effect.as_ref()).filter(|_| is_enough) {
            Some(value) => RunResult::Figure { value, errors, planned },
            None => RunResult::TooFew,
        };
    }
    Ok(seen)
}

/// Returns a percentile of response times in nanoseconds, with the bounds by the effect of the generator. `None`
/// without samples.
fn bounded_percentile(
    percentile: Percentile,
    response: &Histogram,
    effect: Option<&GeneratorEffect>,
) -> Option<Bounded> {
    let value = response.value_at(percentile)? as f64;
    let bounds = effect.and_then(|effect| figure_bounds::percentile(percentile, response, Some(effect)));
    Some(figure_bounds::bounded(value, bounds))
}

/// Returns the figure of a slice whose block pools the samples of all slices, for any number of samples. `None` without
/// samples.
fn tail_of_slice(run: &Run, by: &ComparedBy) -> Result<Option<Bounded>, EvidenceError> {
    let is_slice = run.new.place.as_ref().is_some_and(|(_, place)| stage::is_slice(&place.stage));
    let Some(percentile) = by.metric.percentile_of_merged_slices().filter(|_| is_slice) else {
        return Ok(None);
    };
    Ok(bounded_percentile(percentile, &run.whole(Phase::Measured)?.response.all(), run.generator_effect()))
}

/// Returns the observation of a stored run in its block, by a metric.
pub fn said(run: &Run, by: &ComparedBy) -> Result<RunResult, EvidenceError> {
    let measured = Measured::of(run)?;
    let seen =
        match run_result(run, &measured, by) {
            RunResult::TooFew => tail_of_slice(run, by)?.map_or(RunResult::TooFew, |value| {
                RunResult::Figure { value, errors: measured.unserved(), planned: measured.counts.planned }
            }),
            seen => seen,
        };
    Ok(if matches!(seen, RunResult::Figure { .. }) && is_too_short(run, &measured) {
        RunResult::TooFew
    } else {
        seen
    })
}

/// Returns whether a slice is too short for its responses, so that requests in flight at its ends would be a large part
/// of it.
fn is_too_short(run: &Run, measured: &Measured) -> bool {
    let is_slice = run.new.place.as_ref().is_some_and(|(_, place)| stage::is_slice(&place.stage));
    let length_s = measured.window.map_or(0.0, |window| window.length_s);
    is_slice && measured.response.mean_ns.is_some_and(|mean_ns| mean_ns / 1e9 > length_s * RESPONSE_SHARE_MAX)
}

/// Max mean response time, as a share of the length of a slice.
const RESPONSE_SHARE_MAX: f64 = 0.1;
