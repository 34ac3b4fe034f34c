//! Order of the runs of a study: block after block, in random order within each block.

use evidence::{StudyPlace, stage};
use load::chance::Chance;
use plan::Study;

/// Stream offset that separates draws of orders from other draws of the study's seed.
pub(crate) const ORDER_STREAM: u64 = 0x6f72_6465_7200;
const SWEEP_STREAM: u64 = ORDER_STREAM + (1 << 32);

/// Plans all runs of a study with a fixed number of blocks, in run order. Equal seeds give equal orders.
///
/// A block has one run of every variant under every load, so that a drift over time affects all of them equally.
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

/// Plans one block of `variants` under one load, in random order. Sweeps and other blocks draw from separate streams.
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

/// Plans one run of a variant under a load, with the amount of load in the plan. The planner assigns its position.
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

/// Shuffles in place. All orders are equally likely (Durstenfeld 1964, algorithm 235).
pub(crate) fn shuffle<T>(items: &mut [T], chance: &mut Chance) {
    for last in (1..items.len()).rev() {
        let drawn = (chance.unit() * (last + 1) as f64) as usize;
        items.swap(last, drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_into_every_order_equally_often() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut Chance::stream(seed, ORDER_STREAM));
            *seen.entry(items).or_insert(0) += 1;
        }
        // Each of six orders occurs 1,000 times on average, with a standard deviation of 29.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
