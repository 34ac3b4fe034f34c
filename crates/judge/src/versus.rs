//! How the duel of a stored study stands.

use stats::{Duel, DuelRules, Seen};
use store::{Compare, Procedure, StoreError, Study, stage};

use crate::course::{Block, Course, Slot};
use crate::measured::Measured;
use crate::metric::Metric;
use crate::seen::seen;
use crate::setting::Setting;

/// What a study lays down for a duel; `None` if its procedure is another. Further metrics share the error rate with the
/// first: while it goes on, each is held against its part, and at the end [`stats::judge_together`] says what all of them find.
pub fn duel_rules(compare: &Compare) -> Option<DuelRules> {
    let Procedure::Duel { pilot_blocks } = compare.procedure else { return None };
    Some(DuelRules {
        matters: compare.matters,
        higher_is_better: compare.higher_is_better,
        blocks_max: compare.blocks,
        pilot_blocks,
        family: u32::try_from(compare.also.len()).unwrap_or(u32::MAX).saturating_add(1),
    })
}

/// The duel of two settings under a load by a metric, with everything noted that is stored of it; `None` if the study's
/// procedure is another.
///
/// A block is noted when all its runs are done. Where the study went on without one of them, that one is missing.
pub fn duel(
    study: &Study,
    load: &str,
    settings: [&Setting; 2],
    metric: &Metric,
) -> Result<Option<Duel>, StoreError> {
    let compare = &study.new.compare;
    let Some(rules) = duel_rules(compare) else { return Ok(None) };
    let higher_is_better = match metric.name == compare.by {
        true => rules.higher_is_better,
        false => metric.higher_is_better,
    };
    let mut duel = Duel::new(DuelRules { higher_is_better, ..rules });
    let mut extensions = study.extensions.iter().peekable();
    for Block { stage, slots } in Course::of(study).blocks(load) {
        let first = slots.iter().map(|slot| slot.place.position).min();
        while let Some(extension) =
            extensions.next_if(|extension| first.is_some_and(|first| first >= extension.planned))
        {
            duel.extend(extension.blocks);
        }
        match stage {
            stage::PILOT => {
                let mut runs = slots.iter();
                let mut next = || said(runs.next(), metric);
                let said = [next()?, next()?];
                duel.note_pilot(said);
            }
            stage::BLOCK => {
                let of = |setting: &Setting| slots.iter().find(|slot| setting.is_of(slot.place));
                duel.note([said(of(settings[0]), metric)?, said(of(settings[1]), metric)?]);
            }
            _ => {}
        }
    }
    extensions.for_each(|extension| duel.extend(extension.blocks));
    Ok(Some(duel))
}

/// What the run of a slot says.
pub(crate) fn said(slot: Option<&Slot<'_>>, metric: &Metric) -> Result<Seen, StoreError> {
    match slot.and_then(|slot| slot.run) {
        Some(run) => Ok(seen(run, &Measured::of(run)?, metric)),
        None => Ok(Seen::Missing),
    }
}
