//! Which runs of a study count together: those that mean the same thing.

use std::collections::BTreeMap;

use store::{Procedure, Study, StudyPlace, stage};

/// A setting under a load, and its places.
pub struct Counted<'a> {
    /// Those whose runs count.
    pub places: Vec<&'a StudyPlace>,
    /// Those whose runs are for something else.
    pub others: Vec<&'a StudyPlace>,
    /// Whether the runs that count may be ranked by the metric of the study.
    pub is_ranked: bool,
}

/// Every setting that a study has planned under a load.
///
/// Blocks count, because procedures judge by them. A pilot is of one setting alone; rounds that halve a field stand for those
/// that left in them, but are not ranked with the others; fresh blocks that confirm stand apart. The levels of a search are
/// different loads, so none are ranked. Runs of an experiment are left out: one thing is changed in each.
pub fn counted<'a>(study: &'a Study, load: &str) -> impl Iterator<Item = Counted<'a>> {
    let mut settings: BTreeMap<(&str, &str), Vec<&'a StudyPlace>> = BTreeMap::new();
    let counts = |place: &&StudyPlace| place.load == load && place.intervention.is_none();
    for place in study.new.planned.iter().filter(counts) {
        settings.entry((&place.system, &place.variant)).or_default().push(place);
    }
    settings.into_values().map(|places| sorted(&study.new.compare.procedure, places))
}

/// The places of a setting.
fn sorted<'a>(procedure: &Procedure, places: Vec<&'a StudyPlace>) -> Counted<'a> {
    let (stage, is_ranked) = match procedure {
        Procedure::Blocks | Procedure::Duel { .. } => (Some(procedure.stage_of_blocks()), true),
        Procedure::Best { .. } if places.iter().any(|place| place.stage == stage::SEARCH) => {
            (Some(stage::SEARCH), true)
        }
        Procedure::Best { .. } => (Some(stage::HALVING), false),
        Procedure::Capacity(_) => (None, false),
    };
    let (places, others) =
        places.into_iter().partition(|place| stage.is_none_or(|stage| place.stage == stage));
    Counted { places, others, is_ranked }
}
