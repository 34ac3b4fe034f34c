//! How the tournament of a stored study stands.

use std::collections::BTreeMap;

use stats::{Seen, Tournament, TournamentRules};
use store::{Compare, Procedure, Run, StoreError, Study, stage};

use crate::compared_by::ComparedBy;
use crate::run_order::RunOrder;
use crate::setting::Setting;
use crate::versus::said;

/// Blocks times settings: no study that was made comes near, and one that claims more must not fill the memory.
const CELLS_MAX: usize = 1 << 21;

/// What a study lays down for a tournament of these settings; `None` if its procedure is another.
pub(crate) fn tournament_rules(compare: &Compare, settings: &[Setting]) -> Option<TournamentRules> {
    let Procedure::Best { incumbent } = &compare.procedure else { return None };
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
) -> Result<Option<Tournament>, StoreError> {
    tournament_by(study, load, settings, &mut |run| said(run, by))
}

/// The same, with what `said` tells of each run, as [`said`] does.
pub fn tournament_by(
    study: &Study,
    load: &str,
    settings: &[Setting],
    said: &mut dyn FnMut(&Run) -> Result<Seen, StoreError>,
) -> Result<Option<Tournament>, StoreError> {
    let Some(rules) = tournament_rules(&study.new.compare, settings) else { return Ok(None) };
    let blocks = RunOrder::of(study).blocks(load);
    if settings.len().saturating_mul(blocks.len().max(1)) > CELLS_MAX {
        return Ok(None);
    }
    let numbers: BTreeMap<(&str, &str), usize> =
        settings.iter().enumerate().map(|(number, setting)| (setting.key(), number)).collect();
    let mut tournament = Tournament::new(rules);
    for block in blocks {
        if !matches!(block.stage, stage::HALVING | stage::SEARCH | stage::CONFIRM) {
            continue;
        }
        let mut seen: Vec<(usize, Seen)> = Vec::with_capacity(block.slots.len());
        for slot in &block.slots {
            if let Some(setting) = numbers.get(&(&slot.place.system, &slot.place.variant)) {
                seen.push((*setting, slot.run.map_or(Ok(Seen::Missing), &mut *said)?));
            }
        }
        tournament.note(&seen);
    }
    Ok(Some(tournament))
}
