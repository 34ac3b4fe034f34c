//! Prints error rates and power of comparisons, from ten thousand of each kind of equal systems and two thousand of different ones.
//! Takes minutes.

#![allow(clippy::print_stdout)]

use simulator::Shape;
use simulator::trials::{
    Coupling, CouplingKind, Disturbed, Interleaved, Lasting, Made, Neighbor, StartShape, race,
};
use stats::{DuelRules, MinEffect};

const SEED: u64 = 35;

const RULES: DuelRules = DuelRules {
    matters: MinEffect::share(0.03),
    higher_is_better: true,
    blocks_max: 24,
    pilot_blocks: 0,
    family: 1,
    looks_early: true,
    has_control: false,
};
const IN_SLICES: Made = Made::InSlices { warm_up_s: 1.0, settle_s: 0.25, slice_s: 1.0, pairs_most: 8 };
const IN_RUNS: Made = Made::InRuns { warm_up_s: 1.0, measured_s: 8.0 };

fn trial(ratio: f64, disturbed: Disturbed, made: Made) -> Interleaved {
    Interleaved { rules: RULES, ratio, disturbed, made, start_s: 0.5 }
}

/// Kinds of dependence, none of which is a difference.
fn kinds() -> Vec<(&'static str, Disturbed)> {
    let quiet = Disturbed::normal(0.02, 0.02);
    let coupled = |kind| Disturbed { coupled: Some(Coupling { slower: 2.4, kind }), ..quiet };
    let beside = |mean_s| Disturbed { neighbor: Some(Neighbor { mean_s, leaves: 0.6 }), ..quiet };
    vec![
        ("independent, normal", quiet),
        ("independent, heavy tails", Disturbed { shape: StartShape::Of(Shape::Wild), ..quiet }),
        (
            "independent, a factor of four",
            Disturbed { of_start: 0.7, shape: StartShape::TwoValues, ..Disturbed::normal(0.0, 0.02) },
        ),
        ("one start of a block is slow, by chance", coupled(CouplingKind::Either)),
        ("the first start of a block is slow", coupled(CouplingKind::First)),
        ("the first and the second start in turn", coupled(CouplingKind::InTurn)),
        ("drift of a factor of two per hour", Disturbed { drift_per_hour: -0.7, ..quiet }),
        ("neighbor of 0.3 s", beside(0.3)),
        ("neighbor of 3 s", beside(3.0)),
        ("neighbor of 30 s", beside(30.0)),
    ]
}

/// Disturbances of equal systems, of which the load on A takes a share from B for a time.
fn lasting(share: f64, lasts_s: f64) -> Disturbed {
    Disturbed { lasting: Some(Lasting { share, lasts_s }), ..Disturbed::normal(0.005, 0.02) }
}

fn rates_of_ten_thousand() {
    for (kind, disturbed) in kinds() {
        let rate = |made| f64::from(race(&trial(1.0, disturbed, made), SEED, 10_000).differs) / 100.0;
        println!("| {kind} | {:.1} % | {:.1} % |", rate(IN_RUNS), rate(IN_SLICES));
    }
}

fn carry_over_of_ten_thousand() {
    for share in [0.05, 0.1, 0.47, 0.9] {
        for lasts_s in [0.1, 0.5, 1.0, 3.0, 10.0] {
            let found = race(&trial(1.0, lasting(share, lasts_s), IN_SLICES), SEED, 10_000);
            let [differs, equivalent] =
                [found.differs, found.equivalent].map(|count| f64::from(count) / 100.0);
            println!("| {share} | {lasts_s} s | {differs:.1} % | {equivalent:.1} % |");
        }
    }
}

fn power_of_two_thousand() {
    let quiet = Disturbed::normal(0.005, 0.02);
    let beside = |mean_s| Disturbed { neighbor: Some(Neighbor { mean_s, leaves: 0.6 }), ..quiet };
    for (kind, disturbed) in [("none", quiet), ("0.3 s", beside(0.3)), ("3 s", beside(3.0))] {
        for percent in [2.0, 5.0, 10.0, 50.0, 100.0, 900.0] {
            let cell = |made| {
                let found = race(&trial(1.0 + percent / 100.0, disturbed, made), SEED, 2_000);
                let [median_s, most_s] = [0.5, 0.9].map(|share| found.seconds_at(share));
                format!(
                    "{median_s:.0} s, {most_s:.0} s, {:.1} %, {} wrong",
                    f64::from(found.differs) / 20.0,
                    found.wrong
                )
            };
            println!("| {percent} % | {kind} | {} | {} |", cell(IN_SLICES), cell(IN_RUNS));
        }
    }
}

fn main() {
    rates_of_ten_thousand();
    carry_over_of_ten_thousand();
    power_of_two_thousand();
}
