//! Simulates a thousand studies of equal systems that are extended after their end: how often they report a difference.

use stats::{
    Bounded, Discards, Duel, DuelRules, DuelStep, MinEffect, Paired, RunResult, Verdict, compare_together,
    error_rate,
};

use crate::support::Chance;

/// Returns an upper bound for `rate` measured over 1,000 studies: `rate` plus three standard errors.
fn at_most(rate: f64) -> f64 {
    rate + 3.0 * (rate * (1.0 - rate) / 1_000.0).sqrt()
}

/// Returns the share of 1,000 families of `family` comparisons in which at least one differs at any of these ends.
fn wrong(ends: &[usize], family: usize, mut ratio: impl FnMut() -> f64) -> f64 {
    let studies = (0..1_000).filter(|_| {
        let last = ends[ends.len() - 1];
        let mut pair = |_| (Bounded::exactly(ratio()), Bounded::exactly(1.0));
        let pairs: Vec<Vec<(Bounded, Bounded)>> =
            (0..family).map(|_| (0..last).map(&mut pair).collect()).collect();
        (0..).zip(ends).any(|(extensions, end)| {
            let paired = |pairs: &'_ Vec<(Bounded, Bounded)>| pairs[..*end].to_vec();
            let so_far: Vec<_> = pairs.iter().map(paired).collect();
            let all: Vec<Paired<'_>> = so_far
                .iter()
                .map(|pairs| Paired {
                    pairs,
                    attainable: *end,
                    discards: Discards::default(),
                    extensions,
                    matters: MinEffect::share(0.03),
                })
                .collect();
            let found = compare_together(family as u32, &all);
            found.iter().any(|found| matches!(found.verdict, Verdict::Differs { .. }))
        })
    });
    studies.count() as f64 / 1_000.0
}

#[test]
fn equal_systems_stay_below_the_printed_error_rate() {
    let mut chance = Chance::seeded(31);
    for (ends, family) in [
        (&[6, 8][..], 1),
        (&[6, 8, 12], 1),
        (&[8, 12], 1),
        (&[8, 9, 10, 11, 12], 1),
        (&[8, 12, 24], 3),
        (&[2, 7], 1),
    ] {
        let total = error_rate(ends.len() as u32 - 1);
        let skewed = wrong(ends, family, || (0.05 * (chance.exponential() - chance.exponential())).exp());
        assert!(skewed <= at_most(total), "{ends:?} {family}: {skewed} of {total}");
    }
}

#[test]
fn extension_finds_a_difference_that_the_study_missed() {
    let mut chance = Chance::seeded(32);
    let mut found = |ends: &[usize]| wrong(ends, 1, || (0.02 * (0.8 + chance.normal())).exp());
    let (before, after) = (found(&[8]), found(&[8, 24]));
    assert!(before < 0.3 && after > 0.9, "{before} {after}");
}

/// Like [`equal_systems_stay_below_the_printed_error_rate`], for duels, which may stop at any look. Each is extended twice after
/// its end.
#[test]
fn equal_duels_stay_below_the_printed_error_rate() {
    let mut chance = Chance::seeded(33);
    let rules = DuelRules {
        matters: MinEffect::share(0.03),
        higher_is_better: true,
        blocks_max: 16,
        pilot_blocks: 0,
        family: 1,
        looks_early: false,
        has_control: false,
    };
    let wrong = (0..1_000).filter(|_| {
        let mut duel = Duel::new(rules);
        let mut has_differed = false;
        for further in [None, Some(20), Some(24)] {
            further.into_iter().for_each(|blocks| duel.extend(blocks));
            while let DuelStep::Block { .. } = duel.next() {
                duel.note([0, 1].map(|_| RunResult::exactly((0.05 * chance.exponential()).exp(), 0, 10_000)));
            }
            has_differed |= matches!(duel.finding().verdict, Verdict::Differs { .. });
        }
        has_differed
    });
    let wrong = wrong.count() as f64 / 1_000.0;
    assert!(wrong <= at_most(error_rate(2)), "{wrong}");
}
