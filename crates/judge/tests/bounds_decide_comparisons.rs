//! Comparisons of disturbed runs are decided by the worst case within the bounds of their figures.

use crate::stored::{BLOCK, Queue, Stored, ending, place};
use evidence::{Cause, Distorted, Distortion, Ending, GeneratorEffect, Level, Procedure, Validity, Verdict};
use judge::comparison::{Pair, StudyLoad, variants};
use judge::{ComparedBy, Doubt, Eligibility, Measured, MeasuredRun};
use stats::Verdict as Found;

const BLOCKS: u32 = 8;

/// Returns the ending of a run whose generator lost this share of user time, and may have been at its limit.
fn disturbed(missing_share: f64, is_at_limit: bool) -> Ending {
    let (code, level) = match is_at_limit {
        true => (Doubt::GENERATOR_BOUND.code, Level::Invalid),
        false => (Doubt::GENERATOR_WAITED.code, Level::Suspect),
    };
    let cause = Cause {
        code: code.to_owned(),
        sentence: String::new(),
        remedy: String::new(),
        distorts: Distorted::ALL.map(|figure| Distortion::with_unknown_size(figure, level)).to_vec(),
    };
    let effect = Some(GeneratorEffect { missing_share, is_at_limit, ..GeneratorEffect::default() });
    let verdict = if level == Level::Invalid { Verdict::Invalid } else { Verdict::Complete };
    let validity = Validity { verdict: level, causes: vec![cause], notes: Vec::new(), effect };
    Ending { verdict, validity, ..ending() }
}

/// Rate of a system, and the ending of its run in a block.
type System<'a> = (u64, &'a dyn Fn(u32) -> Ending);

/// Compares two systems by throughput. Also returns the number of runs of each that count.
fn compared(systems: [System<'_>; 2]) -> (Pair, [usize; 2]) {
    let stored = Stored::new();
    let places: Vec<_> = (0..BLOCKS)
        .flat_map(|block| [place(2 * block, block, BLOCK, "a"), place(2 * block + 1, block, BLOCK, "b")])
        .collect();
    let id = stored.study(Procedure::Blocks, BLOCKS, places.clone());
    for place in &places {
        let (rate_per_s, ending) = systems[usize::from(place.system == "b")];
        // Runs of a system vary a little.
        let queue = Queue { rate_per_s: rate_per_s + u64::from(place.block % 3), ..Queue::default() };
        stored.run(Some((&id, place)), Some(&queue), &ending(place.block));
    }
    let study = stored.load(&id);
    let measured: Vec<Measured> = study.runs.iter().map(|run| Measured::of(run).unwrap()).collect();
    let runs: Vec<MeasuredRun<'_>> =
        study.runs.iter().zip(&measured).map(|(run, measured)| MeasuredRun { run, measured }).collect();
    let by = ComparedBy::named("throughput").unwrap();
    let variants = variants(&study, &places[0].load, &runs, Some(&by));
    let variants: Vec<_> = variants.iter().collect();
    let counted = [0, 1].map(|row: usize| variants[row].count(Eligibility::Valid));
    let of_load =
        StudyLoad { study: &study, load: &places[0].load, variants: &variants, runs: &runs, by: &by };
    (of_load.standings(None).unwrap().pairs.first.remove(0), counted)
}

#[test]
fn disturbed_blocks_count_and_decide_if_the_worst_case_does() {
    // A fifth of the slower system's throughput may be missing in three of eight blocks.
    let slower = |block| if block < 3 { disturbed(0.2, false) } else { ending() };
    let (pair, counted) = compared([(400, &|_| ending()), (200, &slower)]);
    assert_eq!(counted, [BLOCKS as usize; 2]);
    assert_eq!(pair.comparison.verdict, Found::Differs { below_matters: false });
    assert_eq!((pair.first_better, pair.second_better, pair.comparison.is_open_by_bounds), (8, 0, false));
    let [low, high] = pair.comparison.interval.unwrap();
    assert!(low < 400.0 / 250.0 + 0.02 && high > 1.97, "{low} {high}");
}

#[test]
fn difference_within_the_bounds_is_open_and_more_blocks_change_nothing() {
    let slower = |_| disturbed(0.2, false);
    let (pair, counted) = compared([(220, &|_| ending()), (200, &slower)]);
    assert_eq!(counted, [BLOCKS as usize; 2]);
    assert_eq!((pair.comparison.verdict, pair.comparison.is_open_by_bounds), (Found::Inconclusive, true));
    assert_eq!((pair.next_look_blocks(), pair.first_better), (None, 0));
    assert!(pair.comparison.estimate.is_some_and(|estimate| estimate > 1.05), "as measured it differs");
}

#[test]
fn equal_figures_are_equivalent_only_within_the_bounds() {
    let verdict =
        |missing| compared([(300, &|_| ending()), (300, &|_| disturbed(missing, false))]).0.comparison;
    assert_eq!(verdict(0.01).verdict, Found::Equivalent);
    assert_eq!((verdict(0.1).verdict, verdict(0.1).is_open_by_bounds), (Found::Inconclusive, true));
}

#[test]
fn generator_at_its_limit_still_shows_which_system_is_faster() {
    let limited = |_| disturbed(0.0, true);
    let (pair, counted) = compared([(400, &limited), (200, &|_| ending())]);
    assert_eq!((counted, pair.comparison.verdict), ([8; 2], Found::Differs { below_matters: false }));
    let [low, high] = pair.comparison.interval.unwrap();
    assert!(low > 1.9 && high == f64::INFINITY, "{low} {high}");
    let (pair, _) = compared([(400, &|_| ending()), (200, &limited)]);
    assert_eq!(pair.comparison.verdict, Found::Inconclusive, "the slower one may be faster");
    let (pair, _) = compared([(200, &limited), (200, &limited)]);
    assert_eq!(pair.comparison.verdict, Found::Inconclusive);
}
