//! The order of a study's runs: blocks one after the other, at random within each.

use evidence::{StudyPlace, stage};
use load::chance::Chance;
use plan::Study;

/// Tells the draws of the order from other draws of the same seed.
pub(crate) const ORDER_STREAM: u64 = 0x6f72_6465_7200;
const SWEEP_STREAM: u64 = ORDER_STREAM + (1 << 32);

/// Every run of a study of so many blocks, in the order in which they are to be done. The same seed gives the same order.
///
/// A block has one run of every variant under every load, so that whatever drifts with time meets all of them alike.
pub(crate) fn schedule(study: &Study) -> Vec<StudyPlace> {
    let mut places = Vec::new();
    for block in 0..study.compare.blocks {
        let loads = 0..study.loads.len();
        let all = loads.flat_map(|load| (0..study.variants.len()).map(move |variant| (load, variant)));
        let mut all: Vec<StudyPlace> =
            all.map(|(load, variant)| place(study, variant, load, stage::BLOCK, block)).collect();
        shuffle(&mut all, &mut Chance::stream(study.seed, ORDER_STREAM + u64::from(block)));
        places.extend(all);
    }
    (0..).zip(places).map(|(position, place)| StudyPlace { position, ..place }).collect()
}

/// One block of these variants under one load, in random order. A sweep and the blocks after it have draws of their own.
pub(crate) fn block_under(
    study: &Study,
    variants: impl Iterator<Item = usize>,
    load: usize,
    stage: &str,
    block: u32,
) -> Vec<StudyPlace> {
    let mut all: Vec<StudyPlace> =
        variants.map(|variant| place(study, variant, load, stage, block)).collect();
    let stream = if stage == stage::SWEEP { SWEEP_STREAM } else { ORDER_STREAM };
    shuffle(&mut all, &mut Chance::stream(study.seed ^ load as u64, stream + u64::from(block)));
    all
}

/// One run of a variant under a load, at the load's own amount. The planner assigns its position.
pub(crate) fn place(study: &Study, variant: usize, load: usize, stage: &str, block: u32) -> StudyPlace {
    let variant = &study.variants[variant];
    StudyPlace {
        block,
        position: 0,
        system: study.systems[variant.system].name.clone(),
        variant: variant.name.clone(),
        knobs: variant.knobs.clone(),
        load: study.loads[load].name.clone(),
        stage: stage.to_owned(),
        users: None,
        rate_per_s: None,
        intervention: None,
    }
}

/// Every order is as likely as any other (Durstenfeld 1964, algorithm 235).
pub(crate) fn shuffle<T>(things: &mut [T], chance: &mut Chance) {
    for last in (1..things.len()).rev() {
        let drawn = (chance.unit() * (last + 1) as f64) as usize;
        things.swap(last, drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_about_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut things = [0, 1, 2];
            shuffle(&mut things, &mut Chance::stream(seed, ORDER_STREAM));
            *seen.entry(things).or_insert(0) += 1;
        }
        // Six orders, a thousand times each, with a standard deviation of 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
