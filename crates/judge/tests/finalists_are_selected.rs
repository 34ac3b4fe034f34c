//! Selection of the variants of a sweep that enter the final.

use crate::stored::{Queue, Stored, ending, place};
use evidence::{Procedure, StudyPlace, stage};
use judge::{ComparedBy, Setting, finalists, said};

/// System, variant, requests per second in each block, and the interval of failing requests: 10 for every tenth, 0 for none.
type Swept = (&'static str, &'static str, [u64; 3], u64);

const SWEPT: [Swept; 6] = [
    ("a", "n=1", [200, 210, 190], 0),
    // A single fast run does not raise the median.
    ("a", "n=2", [400, 100, 100], 0),
    ("a", "n=3", [300, 300, 300], 50),
    ("b", "n=1", [100, 100, 100], 0),
    // Errors below 1 %.
    ("b", "n=2", [110, 110, 110], 250),
    ("c", "n=1", [500, 500, 500], 10),
];

#[test]
fn best_median_of_each_system_without_errors_enters() {
    let stored = Stored::new();
    let of = |(position, (block, swept)): (u32, (usize, &Swept))| StudyPlace {
        variant: swept.1.to_owned(),
        ..place(position, block as u32, stage::SWEEP, swept.0)
    };
    let runs: Vec<(usize, &Swept)> =
        (0..3).flat_map(|block| SWEPT.iter().map(move |swept| (block, swept))).collect();
    let places: Vec<StudyPlace> = (0..).zip(runs.iter().copied()).map(of).collect();
    let study = stored.study(Procedure::BestOfEach { sweep_blocks: 3 }, 8, places.clone());
    for (place, (block, (_, _, per_s, fails_every))) in places.iter().zip(runs) {
        let queue = Queue {
            rate_per_s: per_s[block],
            service_ns: 100_000,
            warm_up_s: 0,
            measured_s: 2,
            fails_every: *fails_every,
            ..Queue::default()
        };
        stored.run(Some((&study, place)), Some(&queue), &ending());
    }
    let by = ComparedBy::named("throughput").unwrap();
    let mut study = stored.load(&study);
    let mut names = |higher_is_better| {
        study.new.compare.higher_is_better = higher_is_better;
        let found = finalists(&study, &mut |run| said(run, &by)).unwrap();
        found.iter().map(Setting::name).collect::<Vec<String>>()
    };
    assert_eq!(names(true), ["a n=1", "b n=2"]);
    assert_eq!(names(false), ["a n=2", "b n=1"]);
}
