//! Simulated searches: of known capacities, and of systems with inconsistent results.

use proptest::prelude::*;
use stats::{
    At, Level, LevelRunResult, OVERRULE_LEAD, Search, SearchEnd, SearchRules, SearchStage, SearchStep,
};

use crate::support::Chance;

fn rules(seed: u64) -> SearchRules {
    SearchRules { seed, ..SearchRules::default() }
}

/// Runs a search against a simulated system, which returns the result of each level.
fn drive(rules: SearchRules, mut system: impl FnMut(Level) -> LevelRunResult) -> (Search, Vec<Level>) {
    let (mut search, mut levels) = (Search::new(rules), Vec::new());
    while let SearchStep::Run(level) = search.next() {
        levels.push(level);
        search.note(level, system(level));
    }
    (search, levels)
}

/// Simulates four workers that serve `capacity` per second. Runs near it pass with a probability that follows a logistic curve of scale
/// `width`, as a share of the capacity.
fn noisy(capacity: f64, width: f64, chance: &mut Chance) -> impl FnMut(Level) -> LevelRunResult {
    move |level| match level.at {
        At::Users(users) => {
            let per_s = capacity * f64::from(users.min(4)) / 4.0 * (1.0 + 0.02 * chance.normal());
            LevelRunResult::Sized { per_s, mean_response_s: f64::from(users) / per_s }
        }
        At::PerS(per_s) => {
            let odds = ((per_s / capacity - 1.0) / width).exp();
            if chance.uniform() < 1.0 / (1.0 + odds) {
                LevelRunResult::Passed
            } else {
                LevelRunResult::Failed
            }
        }
    }
}

struct Score {
    inside: u32,
    narrow: u32,
    found: u32,
    runs: u32,
    most: u32,
}

fn score(searches: u64, width: f64) -> Score {
    let mut score = Score { inside: 0, narrow: 0, found: 0, runs: 0, most: 0 };
    let mut chance = Chance::seeded(20_260_101);
    for seed in 0..searches {
        let capacity = 400.0 * chance.exponential() + 1.0;
        let (search, _) = drive(rules(seed), noisy(capacity, width, &mut chance));
        let found = search.finding();
        score.found += u32::from(found.end == Some(SearchEnd::Found));
        if let (Some(held), Some(failed)) = (found.held_per_s, found.failed_per_s) {
            score.inside += u32::from(held <= capacity && capacity <= failed);
            score.narrow += u32::from(failed / held <= 1.06);
        }
        score.runs += found.runs;
        score.most = score.most.max(found.runs);
    }
    score
}

#[test]
fn confirmation_runs_are_capped() {
    // Rules from an untrusted file: no list of four billion runs is allocated.
    let rules = SearchRules { confirm_runs: u32::MAX, runs_max: u32::MAX, ..rules(7) };
    let (search, levels) = drive(rules, noisy(400.0, 1e-6, &mut Chance::seeded(7)));
    assert_eq!((search.finding().end, levels.len()), (Some(SearchEnd::OutOfRuns), 1_000));
}

#[test]
fn known_capacity_is_found() {
    let score = score(300, 0.005);
    assert_eq!(score.found, 300);
    assert!(score.inside >= 285 && score.narrow >= 285, "{} inside, {} narrow", score.inside, score.narrow);
    assert!(score.most <= 100, "{} runs", score.most);
}

/// Returns the number of searches with few confirmation runs that end with a rate that most of its runs contradict.
fn contradicted(confirm_runs: u32, overruled_by: u32) -> usize {
    let mut chance = Chance::seeded(20_260_102);
    let is_contradicted = |seed: &u64| {
        let rules = SearchRules { confirm_runs, overruled_by, resolution: 0.1, ..rules(*seed) };
        let (search, _) = drive(rules, noisy(400.0, 0.02, &mut chance));
        let found = search.finding();
        let of = |per_s: Option<f64>| found.tallies.iter().find(|tally| Some(tally.per_s) == per_s);
        of(found.held_per_s).is_some_and(|tally| tally.failed > tally.passed)
            || of(found.failed_per_s).is_some_and(|tally| tally.passed > tally.failed)
    };
    (0..300).filter(is_contradicted).count()
}

#[test]
fn rate_that_mostly_failed_is_not_reported_as_passing() {
    assert_eq!([1, 2].map(|confirm_runs| contradicted(confirm_runs, OVERRULE_LEAD)), [0, 0]);
    assert!(contradicted(1, 0) > 10, "a single run overruled those that told the end");
}

/// Returns a system whose runs pass up to the rate `capacity` and fail above it.
fn sharp(capacity: f64) -> impl FnMut(Level) -> LevelRunResult {
    move |level| match level.at {
        At::Users(users) => {
            LevelRunResult::Sized { per_s: capacity * f64::from(users.min(4)) / 4.0, mean_response_s: 0.01 }
        }
        At::PerS(per_s) if per_s <= capacity => LevelRunResult::Passed,
        At::PerS(_) => LevelRunResult::Failed,
    }
}

#[test]
fn steps_for_a_sharp_capacity() {
    let (search, levels) =
        drive(SearchRules { has_overload: true, has_soak: true, ..rules(1) }, sharp(400.0));
    let found = search.finding();
    assert_eq!((found.held_per_s, found.failed_per_s), (Some(400.0), Some(410.0)));
    assert_eq!((found.is_confirmed, found.noise_band, found.end), (true, None, Some(SearchEnd::Found)));
    assert_eq!((found.recovers, found.soaked), (Some(true), Some(true)));
    assert_eq!(
        (found.ceiling_per_s, found.ceiling_users, found.base_response_s),
        (Some(400.0), Some(4), Some(0.01))
    );
    let of =
        |stage| levels.iter().filter(|level| level.stage == stage).map(|level| level.at).collect::<Vec<_>>();
    assert_eq!(of(SearchStage::Sizing), [1, 2, 4, 8, 16, 32].map(At::Users));
    assert_eq!(of(SearchStage::Bracket), [100.0, 200.0, 400.0, 800.0, 800.0].map(At::PerS));
    assert_eq!(of(SearchStage::Bisect)[..4], [566.0, 566.0, 476.0, 476.0].map(At::PerS));
    assert_eq!(of(SearchStage::Confirm).len(), 10);
    assert_eq!(of(SearchStage::Overload), [380.0; 2].map(At::PerS));
    assert_eq!(search.overload_per_s(), Some(533.0));
    assert_eq!(of(SearchStage::Soak), [At::PerS(380.0)]);
    assert_eq!(found.runs as usize, levels.len());
    let tallied: u32 = found.tallies.iter().map(|tally| tally.passed + tally.failed).sum();
    assert_eq!(tallied as usize, levels.len() - 6 - 2 - 1);
}

#[test]
fn search_stays_within_its_bounds() {
    let bounded = |from, to| SearchRules { from_per_s: Some(from), to_per_s: Some(to), ..rules(1) };
    let (search, levels) = drive(bounded(50.0, 150.0), sharp(400.0));
    let found = search.finding();
    assert_eq!(
        (found.held_per_s, found.failed_per_s, found.end),
        (Some(150.0), None, Some(SearchEnd::NothingFails))
    );
    assert!(found.is_confirmed && levels[0] == Level { stage: SearchStage::Bracket, at: At::PerS(50.0) });
    let found = drive(bounded(500.0, 900.0), sharp(400.0)).0.finding();
    assert_eq!(
        (found.held_per_s, found.failed_per_s, found.end),
        (None, Some(500.0), Some(SearchEnd::NothingHolds))
    );
    let found = drive(bounded(300.0, 900.0), sharp(400.0)).0.finding();
    assert!(found.held_per_s.is_some_and(|held| (388.0..=400.0).contains(&held)), "{found:?}");
}

#[test]
fn condition_that_never_passes_ends_the_search() {
    let mut sizes = sharp(400.0);
    let (search, levels) =
        drive(
            rules(1),
            |level| if matches!(level.at, At::Users(_)) { sizes(level) } else { LevelRunResult::Failed },
        );
    assert_eq!((search.finding().held_per_s, search.finding().end), (None, Some(SearchEnd::NothingHolds)));
    assert!(levels.len() < 25, "{}", levels.len());
}

#[test]
fn capacity_far_below_the_closed_throughput_is_found() {
    let mut sizes = sharp(4_000.0);
    let mut open = sharp(100.0);
    let (search, _) =
        drive(rules(1), |level| if matches!(level.at, At::Users(_)) { sizes(level) } else { open(level) });
    let found = search.finding();
    assert!(found.held_per_s.is_some_and(|held| (97.0..=100.0).contains(&held)), "{found:?}");
}

#[test]
fn unmeasurable_rate_gives_a_lower_bound_or_is_avoided() {
    let limited = |limit: f64, capacity: f64| {
        let mut system = sharp(capacity);
        drive(SearchRules { to_per_s: Some(5_000.0), ..rules(1) }, move |level| match level.at {
            At::PerS(per_s) if per_s > limit => LevelRunResult::Invalid,
            _ => system(level),
        })
    };
    let found = limited(350.0, 400.0).0.finding();
    assert_eq!((found.end, found.failed_per_s), (Some(SearchEnd::NotFit), None));
    assert!(found.held_per_s.is_some_and(|held| (335.0..=350.0).contains(&held)), "{found:?}");
    assert!(found.unmeasurable_per_s.is_some_and(|limit| (350.0..=361.0).contains(&limit)), "{found:?}");
    let found = limited(700.0, 400.0).0.finding();
    assert_eq!((found.end, found.held_per_s), (Some(SearchEnd::Found), Some(400.0)));
    let (search, levels) = drive(rules(1), |_| LevelRunResult::Invalid);
    assert_eq!((search.finding().end, levels.len()), (Some(SearchEnd::NotFit), 3));
}

#[test]
fn missing_recovery_is_reported() {
    let mut system = sharp(400.0);
    let all = SearchRules { has_overload: true, has_soak: true, ..rules(1) };
    let (search, _) = drive(all, |level| match level.stage {
        SearchStage::Overload | SearchStage::Soak => LevelRunResult::Failed,
        _ => system(level),
    });
    let found = search.finding();
    assert_eq!((found.recovers, found.soaked, found.end), (Some(false), Some(false), Some(SearchEnd::Found)));
    let (search, _) = drive(all, |level| match level.stage {
        SearchStage::Overload | SearchStage::Soak => LevelRunResult::Invalid,
        _ => sharp(400.0)(level),
    });
    assert_eq!((search.finding().recovers, search.finding().soaked), (None, None));
}

#[test]
fn wide_noise_band_is_reported_and_avoided() {
    // Between 380 and 420, a run passes with even probability.
    let mut chance = Chance::seeded(11);
    let (mut sizes, mut banded) = (sharp(400.0), 0);
    for seed in 0..50 {
        let (search, _) = drive(rules(seed), |level| match level.at {
            At::PerS(per_s) if per_s <= 380.0 => LevelRunResult::Passed,
            At::PerS(per_s) if per_s >= 420.0 => LevelRunResult::Failed,
            At::PerS(_) if chance.uniform() < 0.5 => LevelRunResult::Passed,
            At::PerS(_) => LevelRunResult::Failed,
            At::Users(_) => sizes(level),
        });
        let found = search.finding();
        assert_eq!(found.end, Some(SearchEnd::Found));
        banded +=
            u32::from(found.noise_band.is_some_and(|(low, high)| 380.0 < low && low <= high && high < 420.0));
    }
    assert!(banded >= 45, "{banded} of 50");
}

#[test]
fn unrequested_level_counts_as_a_run_only() {
    let mut search = Search::new(SearchRules { runs_max: 3, ..rules(1) });
    let first = search.next();
    search.note(Level { stage: SearchStage::Confirm, at: At::PerS(5.0) }, LevelRunResult::Passed);
    assert_eq!(search.next(), first);
    for _ in 0..9 {
        search.note(Level { stage: SearchStage::Confirm, at: At::PerS(f64::NAN) }, LevelRunResult::Passed);
    }
    let found = search.finding();
    assert_eq!((search.next(), found.runs, found.end), (SearchStep::Over, 3, Some(SearchEnd::OutOfRuns)));
}

proptest! {
    #[test]
    fn search_always_ends_and_is_reproducible(said in prop::collection::vec(0..6u8, 1..40), runs_max in 0..300u32, seed: u64,
                                 from in any::<f64>(), has_from: bool, to in any::<f64>(), has_to: bool,
                                 resolution in any::<f64>(), confirm_runs in 0..9u32) {
        let rules = SearchRules {
            resolution, from_per_s: has_from.then_some(from), to_per_s: has_to.then_some(to), confirm_runs,
            overruled_by: OVERRULE_LEAD,
            has_overload: true, has_soak: true, runs_max, seed,
        };
        let judged = |kind: Option<&u8>| match kind {
            Some(0) => LevelRunResult::Invalid,
            Some(1) => LevelRunResult::Passed,
            Some(2) => LevelRunResult::Failed,
            Some(3) => LevelRunResult::Sized { per_s: f64::NAN, mean_response_s: 1.0 },
            Some(4) => LevelRunResult::Sized { per_s: 5e-324, mean_response_s: f64::INFINITY },
            _ => LevelRunResult::Sized { per_s: 1e308, mean_response_s: 1.0 },
        };
        let mut says = said.iter().cycle();
        let (search, levels) = drive(rules, |_| judged(says.next()));
        prop_assert!(levels.len() <= runs_max as usize);
        prop_assert!(search.finding().end.is_some());
        let mut says = said.iter().cycle();
        prop_assert_eq!(drive(rules, |_| judged(says.next())).1, levels);
    }
}
