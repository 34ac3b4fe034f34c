//! Prints error rates and power of comparisons. Arguments: `kinds`, `carry-over`, `power`, or `round-robin`, and the number of
//! comparisons per cell. Ten thousand take minutes.

#![allow(clippy::print_stdout)]

use simulator::Shape;
use simulator::trials::{
    Aftereffect, Coupling, CouplingKind, Disturbed, Figure, Interleaved, LoadSchedule, Neighbor,
    RoundRobinTrial, StartShape, round_robins, run_duels,
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
const IN_SLICES: LoadSchedule =
    LoadSchedule::InSlices { warm_up_s: 1.0, settle_s: 0.25, slice_s: 1.0, pairs_most: 8 };
const IN_RUNS: LoadSchedule = LoadSchedule::InRuns { warm_up_s: 1.0, measured_s: 8.0 };

fn trial(ratio: f64, disturbed: Disturbed, made: LoadSchedule) -> Interleaved {
    Interleaved { rules: RULES, figure: Figure::Throughput, ratio, disturbed, made, start_s: 0.5 }
}

/// Returns disturbances of equal systems, with their names.
fn kinds() -> Vec<(&'static str, Disturbed)> {
    let quiet = Disturbed::normal(0.02, 0.02);
    let coupled = |kind| Disturbed { coupled: Some(Coupling { slower: 2.4, kind }), ..quiet };
    let beside = |mean_s| Disturbed { neighbor: Some(Neighbor { count: 1, mean_s, leaves: 0.6 }), ..quiet };
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

/// Returns disturbances of equal systems where the load on A takes `share` of B's figure for `lasts_s` after it ends.
fn lasting(share: f64, lasts_s: f64) -> Disturbed {
    Disturbed { lasting: Some(Aftereffect { share, lasts_s }), ..Disturbed::normal(0.005, 0.02) }
}

fn kinds_of_machines(count: u32) {
    for (kind, disturbed) in kinds() {
        let rate = |made| percent(run_duels(&trial(1.0, disturbed, made), SEED, count).differs, count);
        println!("| {kind} | {:.1} % | {:.1} % |", rate(IN_RUNS), rate(IN_SLICES));
    }
}

/// Shares that the load on A takes from B: about 1, 2, and 5 times the noise of a pair of slices (2.8 %).
const SHARES: [f64; 3] = [0.03, 0.06, 0.15];
const LASTS_S: [f64; 5] = [0.1, 0.5, 1.0, 3.0, 10.0];

fn carry_over(count: u32) {
    for share in SHARES {
        let cells = LASTS_S.map(|lasts_s| {
            let found = run_duels(&trial(1.0, lasting(share, lasts_s), IN_SLICES), SEED, count);
            format!("{:.1} %", percent(found.differs, count))
        });
        println!("| {:.0} % | {} |", share * 100.0, cells.join(" | "));
    }
}

fn power(count: u32) {
    let quiet = Disturbed::normal(0.005, 0.02);
    let beside = |mean_s| Disturbed { neighbor: Some(Neighbor { count: 1, mean_s, leaves: 0.6 }), ..quiet };
    for (kind, disturbed) in [("none", quiet), ("0.3 s", beside(0.3)), ("3 s", beside(3.0))] {
        for planted in [2.0, 5.0, 10.0, 50.0, 100.0, 900.0] {
            let cell = |made, has_control| {
                let rules = DuelRules { has_control, ..RULES };
                let trial = Interleaved { rules, ..trial(1.0 + planted / 100.0, disturbed, made) };
                let found = run_duels(&trial, SEED, count);
                let [median_s, most_s] = [0.5, 0.9].map(|share| found.seconds_at(share));
                let right = percent(found.differs - found.wrong, count);
                format!("{median_s:.0} s, {most_s:.0} s, {right:.1} %, {} wrong", found.wrong)
            };
            let cells = [cell(IN_SLICES, false), cell(IN_SLICES, true), cell(IN_RUNS, false)];
            println!("| {planted} % | {kind} | {} |", cells.join(" | "));
        }
    }
}

/// Returns a comparison of variants with these figures, in the default number of blocks.
fn round_robin(truths: &[f64], disturbed: Disturbed) -> RoundRobinTrial {
    let pairs = truths.len() * (truths.len() - 1) / 2;
    let blocks = stats::min_blocks(pairs as u32).max(8);
    RoundRobinTrial { truths: truths.to_vec(), disturbed, blocks, lone_starts: stats::LONE_STARTS as usize }
}

fn more_than_two(count: u32) {
    let of = |truths: &[f64], disturbed| round_robins(&round_robin(truths, disturbed), SEED, count);
    let equal = [vec![100.0; 3], vec![100.0; 5]];
    for (kind, disturbed) in kinds().into_iter().filter(|(_, kind)| kind.neighbor.is_none()) {
        let cells = equal.each_ref().map(|truths| percent(of(truths, disturbed).wrong, count));
        println!("| {kind} | {:.1} % | {:.1} % |", cells[0], cells[1]);
    }
    for share in SHARES {
        for lasts_s in LASTS_S {
            let cells =
                equal.each_ref().map(|truths| percent(of(truths, lasting(share, lasts_s)).wrong, count));
            println!("| {:.0} % for {lasts_s} s | {:.1} % | {:.1} % |", share * 100.0, cells[0], cells[1]);
        }
    }
    for planted in [1.05, 1.1, 1.2, 2.0] {
        let truths = [
            vec![100.0 * planted, 100.0, 100.0 / planted],
            vec![100.0, 100.0, 100.0, 100.0, 100.0 * planted],
        ];
        let cells = truths.each_ref().map(|truths| {
            let found = of(truths, Disturbed::normal(0.005, 0.02));
            let all = percent(found.found_all, count);
            format!("all pairs {all:.1} %, {} wrong, {:.0} s", found.wrong, found.total_s / f64::from(count))
        });
        println!("| {:.0} % | {} | {} |", (planted - 1.0) * 100.0, cells[0], cells[1]);
    }
}

fn percent(of: u32, count: u32) -> f64 {
    100.0 * f64::from(of) / f64::from(count)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(10_000);
    match part.as_str() {
        "kinds" => kinds_of_machines(count),
        "carry-over" => carry_over(count),
        "power" => power(count),
        "round-robin" => more_than_two(count),
        _ => println!("name a part: kinds, carry-over, power, or round-robin"),
    }
}
