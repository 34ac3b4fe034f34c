//! Restores the state of a study's tournament.

use std::collections::BTreeMap;

use evidence::{Compare, EvidenceError, Procedure, Run, Study, stage};
use stats::{RunResult, Tournament, TournamentRules, combine_rounds};

use crate::compared_by::ComparedBy;
use crate::run_order::{RunOrder, Slot};
use crate::setting::Setting;
use crate::versus::said;

/// Max number of blocks × configurations. No real study comes near, and a damaged one must not exhaust memory.
const CELLS_MAX: usize = 1 << 21;

/// Returns the rules of a study's tournament of the given configurations; `None` if its procedure is not a tournament.
pub(crate) fn tournament_rules(compare: &Compare, settings: &[Setting]) -> Option<TournamentRules> {
    let Procedure::Best { incumbent, .. } = &compare.procedure else { return None };
    let place = |name: &String| settings.iter().position(|setting| setting.name() == *name);
    Some(TournamentRules {
        settings: settings.len(),
        matters: compare.matters,
        higher_is_better: compare.higher_is_better,
        blocks_max: compare.blocks,
        incumbent: incumbent.as_ref().and_then(place),
        has_confirmation: true,
    })
}

/// Restores the tournament of configurations under a load by a metric, with all stored results. `None` if the study's
/// procedure is not a tournament, or if the study claims impossibly many blocks. Configurations are numbered by their
/// index in `settings`.
///
/// A block is noted once all its runs are finished. A run that the study continued without counts as missing.
pub fn tournament(
    study: &Study,
    load: &str,
    settings: &[Setting],
    by: &ComparedBy,
) -> Result<Option<Tournament>, EvidenceError> {
    tournament_by(study, load, settings, &mut |run| said(run, by))
}

/// Like [`tournament`], but reads the observation of each run with the argument `said`, a function like [`said`].
pub fn tournament_by(
    study: &Study,
    load: &str,
    settings: &[Setting],
    said: &mut dyn FnMut(&Run) -> Result<RunResult, EvidenceError>,
) -> Result<Option<Tournament>, EvidenceError> {
    let Some(rules) = tournament_rules(&study.new.compare, settings) else { return Ok(None) };
    let blocks = RunOrder::of(study).blocks(load);
    if settings.len().saturating_mul(blocks.len().max(1)) > CELLS_MAX {
        return Ok(None);
    }
    let numbers: BTreeMap<(&str, &str), usize> =
        settings.iter().enumerate().map(|(number, setting)| (setting.key(), number)).collect();
    let mut tournament = Tournament::new(rules);
    for block in blocks {
        let is_sliced = stage::is_slice(block.stage);
        if !is_sliced && !matches!(block.stage, stage::HALVING | stage::SEARCH | stage::CONFIRM) {
            continue;
        }
        let mut seen: Vec<(usize, RunResult)> = Vec::with_capacity(block.slots.len());
        for Slot { place, run } in &block.slots {
            if let Some(setting) = numbers.get(&(&place.system, &place.variant)) {
                seen.push((*setting, run.map_or(Ok(RunResult::Missing), &mut *said)?));
            }
        }
        tournament.note(&if is_sliced { combine_block_slices(&seen) } else { seen });
    }
    Ok(Some(tournament))
}

/// Combines the slices of a block, in order, into the observation of each configuration.
fn combine_block_slices(slices: &[(usize, RunResult)]) -> Vec<(usize, RunResult)> {
    let mut by_setting: BTreeMap<usize, Vec<RunResult>> = BTreeMap::new();
    for (setting, seen) in slices {
        by_setting.entry(*setting).or_default().push(*seen);
    }
    let rounds = by_setting.values().map(Vec::len).min().unwrap_or(0);
    let round = |number: usize| by_setting.values().map(|slices| slices[number]).collect();
    let rounds: Vec<Vec<RunResult>> = (0..rounds).map(round).collect();
    by_setting.keys().copied().zip(combine_rounds(&rounds)).collect()
}
