//! Searches of capacities that are known, and of systems that make no sense.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn rules(seed: u64) -> SearchRules {
    SearchRules {
        resolution: 0.03,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 5,
        has_overload: false,
        has_soak: false,
        runs_max: 200,
        seed,
    }
}

/// Runs a search against a system that is asked what a level is.
fn drive(rules: SearchRules, mut system: impl FnMut(Level) -> Judged) -> (Search, Vec<Level>) {
    let (mut search, mut levels) = (Search::new(rules), Vec::new());
    while let SearchStep::Run(level) = search.next() {
        levels.push(level);
        search.note(level, system(level));
    }
    (search, levels)
}

/// Four workers that serve `capacity` per second, where runs near it now pass, now fail: with `width` as the scale of a
/// logistic curve in shares of the capacity.
fn noisy(capacity: f64, width: f64, chance: &mut Chance) -> impl FnMut(Level) -> Judged {
    move |level| match level.at {
        At::Users(users) => {
            let per_s = capacity * f64::from(users.min(4)) / 4.0 * (1.0 + 0.02 * chance.normal());
            Judged::Sized { per_s, mean_response_s: f64::from(users) / per_s }
        }
        At::PerS(per_s) => {
            let odds = libm::exp((per_s / capacity - 1.0) / width);
            if chance.unit() < 1.0 / (1.0 + odds) { Judged::Passed } else { Judged::Failed }
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
    let mut chance = Chance::of(20_260_101);
    for seed in 0..searches {
        let capacity = 400.0 * libm::exp(chance.normal());
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
fn a_known_capacity_is_found() {
    let score = score(300, 0.005);
    assert_eq!(score.found, 300);
    assert!(score.inside >= 285 && score.narrow >= 285, "{} inside, {} narrow", score.inside, score.narrow);
    assert!(score.most <= 100, "{} runs", score.most);
}

proptest! {
    #[test]
    fn it_ends_whatever_is_noted(said in prop::collection::vec(0..6u8, 1..40), runs_max in 0..300u32, seed: u64,
                                 from in any::<f64>(), has_from: bool, to in any::<f64>(), has_to: bool,
                                 resolution in any::<f64>(), confirm_runs in 0..9u32) {
        let rules = SearchRules {
            resolution, from_per_s: has_from.then_some(from), to_per_s: has_to.then_some(to), confirm_runs,
            has_overload: true, has_soak: true, runs_max, seed,
        };
        let mut says = said.iter().cycle();
        let mut system = |_: Level| match says.next() {
            Some(0) => Judged::Invalid,
            Some(1) => Judged::Passed,
            Some(2) => Judged::Failed,
            Some(3) => Judged::Sized { per_s: f64::NAN, mean_response_s: 1.0 },
            Some(4) => Judged::Sized { per_s: 5e-324, mean_response_s: f64::INFINITY },
            _ => Judged::Sized { per_s: 1e308, mean_response_s: 1.0 },
        };
        let (search, levels) = drive(rules, &mut system);
        prop_assert!(levels.len() <= runs_max as usize);
        prop_assert!(search.finding().end.is_some());
    }
}
