//! Selects the runs of a study that count together because they measure the same thing.

use std::collections::BTreeMap;

use evidence::{Procedure, Study, StudyPlace, stage};

/// A configuration under a load, with its places in the study.
pub struct Counted<'a> {
    /// Places whose runs count.
    pub places: Vec<&'a StudyPlace>,
    /// Places whose runs have another purpose.
    pub others: Vec<&'a StudyPlace>,
    /// Whether the runs that count may be ranked by the metric of the study.
    pub is_ranked: bool,
}

/// Returns every configuration that a study planned under a load, with its places.
///
/// Places of blocks count, because procedures judge by them. A pilot measures only one configuration. Halving rounds
/// represent the configurations eliminated in them, which are not ranked with the others. Confirmation blocks are
/// separate. A sweep is ranked until the final has runs; after that, it represents the configurations outside the final
/// and is not ranked. The levels of a search are different loads, so none is ranked. Runs of an experiment are left
/// out, because each changes one parameter.
pub fn counted<'a>(study: &'a Study, load: &str) -> impl Iterator<Item = Counted<'a>> {
    let mut settings: BTreeMap<(&str, &str), Vec<&'a StudyPlace>> = BTreeMap::new();
    let counts = |place: &&StudyPlace| place.load == load && place.intervention.is_none();
    for place in study.new.planned.iter().filter(counts) {
        settings.entry((&place.system, &place.variant)).or_default().push(place);
    }
    let is_of_final = |place: &StudyPlace| place.load == load && place.stage == stage::BLOCK;
    let has_final = study.runs.iter().filter_map(|run| run.new.place.as_ref()).any(|(_, at)| is_of_final(at));
    settings.into_values().map(move |places| split_places(&study.new.compare.procedure, has_final, places))
}

/// Splits the places of a configuration into those that count and others.
fn split_places<'a>(procedure: &Procedure, has_final: bool, places: Vec<&'a StudyPlace>) -> Counted<'a> {
    let has = |stage: &str| places.iter().any(|place| place.stage == stage);
    let (stage, is_ranked) = match procedure {
        Procedure::Blocks | Procedure::Duel { .. } | Procedure::RoundRobin { .. } => {
            (Some(procedure.stage_of_blocks()), true)
        }
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
