//! Which runs of a study count together: those that mean the same thing.

use std::collections::BTreeMap;

use evidence::{Procedure, Study, StudyPlace, stage};

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
/// that left in them, but are not ranked with the others; fresh blocks that confirm stand apart. A sweep ranks until the final has runs;
/// from then on it stands for those that are not in the final, and is not ranked. The levels of a search are different loads, so none are
/// ranked. Runs of an experiment are left out: one thing is changed in each.
pub fn counted<'a>(study: &'a Study, load: &str) -> impl Iterator<Item = Counted<'a>> {
    let mut settings: BTreeMap<(&str, &str), Vec<&'a StudyPlace>> = BTreeMap::new();
    let counts = |place: &&StudyPlace| place.load == load && place.intervention.is_none();
    for place in study.new.planned.iter().filter(counts) {
        settings.entry((&place.system, &place.variant)).or_default().push(place);
    }
    let is_of_final = |place: &StudyPlace| place.load == load && place.stage == stage::BLOCK;
    let has_final = study.runs.iter().filter_map(|run| run.new.place.as_ref()).any(|(_, at)| is_of_final(at));
    settings.into_values().map(move |places| sorted(&study.new.compare.procedure, has_final, places))
}

/// The places of a setting.
fn sorted<'a>(procedure: &Procedure, has_final: bool, places: Vec<&'a StudyPlace>) -> Counted<'a> {
    let has = |stage: &str| places.iter().any(|place| place.stage == stage);
    let (stage, is_ranked) = match procedure {
        Procedure::Blocks | Procedure::Duel { .. } => (Some(procedure.stage_of_blocks()), true),
        Procedure::Best { slices: Some(_), .. } => (Some(stage::SEARCH_SLICE), true),
        Procedure::Best { .. } if has(stage::SEARCH) => (Some(stage::SEARCH), true),
        Procedure::Best { .. } => (Some(stage::HALVING), false),
        Procedure::BestOfEach { .. } if has_final && has(stage::BLOCK) => (Some(stage::BLOCK), true),
        Procedure::BestOfEach { .. } => (Some(stage::SWEEP), !has_final),
        Procedure::Capacity(_) => (None, false),
    };
    let (places, others) =
        places.into_iter().partition(|place| stage.is_none_or(|stage| place.stage == stage));
    Counted { places, others, is_ranked }
}
