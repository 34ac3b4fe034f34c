//! Few blocks show a difference of throughput if the bounds of every run exclude equality by a factor.

use crate::stored::{BLOCK, Queue, Stored, ending, place};
use evidence::{Cause, Distorted, Distortion, Ending, GeneratorEffect, Level, Procedure, Validity};
use judge::comparison::variants;
use judge::{ComparedBy, Doubt, Measured, MeasuredRun, Observed, observed};

/// Compares runs of `a` and of `b` in one block each: rate, interval of failing requests, and ending.
fn found(by: &str, runs: [(u64, u64, Ending); 2]) -> Vec<Observed> {
    let stored = Stored::new();
    let places = [place(0, 0, BLOCK, "a"), place(1, 0, BLOCK, "b")];
    let id = stored.study(Procedure::Blocks, 8, places.to_vec());
    for (place, (rate_per_s, fails_every, ending)) in places.iter().zip(&runs) {
        let queue = Queue { rate_per_s: *rate_per_s, fails_every: *fails_every, ..Queue::default() };
        stored.run(Some((&id, place)), Some(&queue), ending);
    }
    let study = stored.load(&id);
    let measured: Vec<Measured> = study.runs.iter().map(|run| Measured::of(run).unwrap()).collect();
    let runs: Vec<MeasuredRun<'_>> =
        study.runs.iter().zip(&measured).map(|(run, measured)| MeasuredRun { run, measured }).collect();
    let by = ComparedBy::named(by).unwrap();
    let variants = variants(&study, &places[0].load, &runs, Some(&by));
    observed(&variants.iter().collect::<Vec<_>>(), &runs, &by)
}

/// Returns the ending of a run whose generator had this effect.
fn disturbed(effect: GeneratorEffect) -> Ending {
    let cause = Cause {
        code: Doubt::GENERATOR_WAITED.code.to_owned(),
        sentence: String::new(),
        remedy: String::new(),
        distorts: vec![Distortion::with_unknown_size(Distorted::Throughput, Level::Suspect)],
    };
    let effect = Some(effect);
    Ending {
        validity: Validity { verdict: Level::Suspect, causes: vec![cause], notes: Vec::new(), effect },
        ..ending()
    }
}

#[test]
fn tenfold_difference_of_one_block_is_observed() {
    let found = found("throughput", [(100, 0, ending()), (1_000, 0, ending())]);
    let [Observed { faster: 1, slower: 0, ratio_min, starts: 2 }] = found[..] else { panic!("{found:?}") };
    assert!((7.0..10.0).contains(&ratio_min), "{ratio_min}");
}

#[test]
fn difference_below_a_factor_of_two_is_not_observed() {
    assert_eq!(found("throughput", [(100, 0, ending()), (190, 0, ending())]), []);
    assert_eq!(found("throughput", [(100, 0, ending()), (100, 0, ending())]), []);
}

#[test]
fn effect_of_the_generator_widens_the_bounds() {
    let missing = |missing_share| disturbed(GeneratorEffect { missing_share, ..GeneratorEffect::default() });
    let found_with = |slower: Ending, faster: Ending| {
        found("throughput", [(100, 0, slower), (1_000, 0, faster)]).first().map(|found| found.ratio_min)
    };
    let plain = found_with(ending(), ending()).unwrap();
    assert!((found_with(missing(0.5), ending()).unwrap() / plain - 0.5).abs() < 1e-9);
    assert_eq!(found_with(ending(), missing(0.5)), Some(plain), "the faster one is at least as fast");
    assert_eq!(found_with(missing(0.9), ending()), None);
    let at_limit = || disturbed(GeneratorEffect { is_at_limit: true, ..GeneratorEffect::default() });
    assert_eq!(found_with(ending(), at_limit()), Some(plain));
    assert_eq!(found_with(at_limit(), ending()), None);
    let mut unknown = at_limit();
    unknown.validity.effect = None;
    assert_eq!([found_with(unknown.clone(), ending()), found_with(ending(), unknown)], [None, None]);
}

#[test]
fn errors_and_other_metrics_show_nothing() {
    assert_eq!(found("throughput", [(100, 0, ending()), (1_000, 20, ending())]), []);
    assert_eq!(found("p99", [(100, 0, ending()), (1_000, 0, ending())]), []);
}
