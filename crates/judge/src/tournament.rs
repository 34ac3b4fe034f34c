//! How the tournament of a stored study stands.

use std::collections::BTreeMap;

use evidence::{Compare, EvidenceError, Procedure, Run, Study, stage};
use stats::{Seen, Tournament, TournamentRules, of_rounds};

use crate::compared_by::ComparedBy;
use crate::run_order::{RunOrder, Slot};
use crate::setting::Setting;
use crate::versus::said;

/// Blocks times settings: no study that was made comes near, and one that claims more must not fill the memory.
const CELLS_MAX: usize = 1 << 21;

/// What a study lays down for a tournament of these settings; `None` if its procedure is another.
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

/// The tournament of these settings under a load by a metric, with everything noted that is stored of it; `None` if the
/// study's procedure is another, or it claims more than anybody can have measured. Its settings are numbered as they are here.
///
/// A block is noted when all its runs are done. Where the study went on without one of them, that one is missing.
pub fn tournament(
    study: &Study,
    load: &str,
    settings: &[Setting],
    by: &ComparedBy,
) -> Result<Option<Tournament>, EvidenceError> {
    tournament_by(study, load, settings, &mut |run| said(run, by))
}

/// The same, with what `said` tells of each run, as [`said`] does.
pub fn tournament_by(
    study: &Study,
    load: &str,
    settings: &[Setting],
    said: &mut dyn FnMut(&Run) -> Result<Seen, EvidenceError>,
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
        let mut seen: Vec<(usize, Seen)> = Vec::with_capacity(block.slots.len());
        for Slot { place, run } in &block.slots {
            if let Some(setting) = numbers.get(&(&place.system, &place.variant)) {
                seen.push((*setting, run.map_or(Ok(Seen::Missing), &mut *said)?));
            }
        }
        tournament.note(&if is_sliced { of_slices(&seen) } else { seen });
    }
    Ok(Some(tournament))
}

/// What each setting of a block says, by its slices in their order.
fn of_slices(slices: &[(usize, Seen)]) -> Vec<(usize, Seen)> {
    let mut by_setting: BTreeMap<usize, Vec<Seen>> = BTreeMap::new();
    for (setting, seen) in slices {
        by_setting.entry(*setting).or_default().push(*seen);
    }
    let rounds = by_setting.values().map(Vec::len).min().unwrap_or(0);
    let round = |number: usize| by_setting.values().map(|slices| slices[number]).collect();
    let rounds: Vec<Vec<Seen>> = (0..rounds).map(round).collect();
    by_setting.keys().copied().zip(of_rounds(&rounds)).collect()
}
