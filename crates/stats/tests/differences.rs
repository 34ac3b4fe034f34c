//! Simulates a thousand studies of event costs, which are compared by difference: figures that are often zero, skewed, tied, or
//! infinite.

use stats::{Bounded, Duel, DuelRules, DuelStep, MinEffect, Paired, RunResult, Verdict, compare_together};

use crate::support::Chance;

const MATTERS: f64 = 20.0;
const RULES: DuelRules = DuelRules {
    matters: MinEffect::difference(MATTERS),
    higher_is_better: false,
    blocks_max: 24,
    pilot_blocks: 0,
    family: 1,
    looks_early: false,
    has_control: false,
};
/// 5 % of a thousand plus three standard errors.
const WRONG_MAX: usize = 70;

/// Name of a cost distribution, and a function that draws the costs of an event in the two runs of a block.
type Costs = (&'static str, fn(&mut Chance) -> [f64; 2]);

/// Costs of equal systems: both runs of a block come from one distribution.
const EQUAL: [Costs; 7] = [
    ("nothing at all", |_| [0.0, 0.0]),
    ("half of them zero, and whole numbers", |chance| {
        [0, 1].map(|_| (6.0 * chance.uniform() - 3.0).max(0.0).round())
    }),
    ("seldom more than zero, then by much", |chance| {
        [0, 1].map(|_| if chance.uniform() < 0.1 { 500.0 * chance.exponential() } else { 0.0 })
    }),
    ("skewed", |chance| [0, 1].map(|_| 200.0 * (2.0 * chance.exponential()).exp())),
    ("alike in a block", |chance| {
        let block = 1_000.0 * chance.exponential();
        [0, 1].map(|_| block + 10.0 * chance.normal())
    }),
    ("two values", |chance| [0, 1].map(|_| if chance.uniform() < 0.5 { 250.0 } else { 300.0 })),
    ("a fifth without a limit", |chance| {
        [0, 1].map(|_| if chance.uniform() < 0.2 { f64::INFINITY } else { 300.0 + 50.0 * chance.normal() })
    }),
];

fn finding(rules: DuelRules, mut costs: impl FnMut() -> [f64; 2]) -> Verdict {
    let mut duel = Duel::new(rules);
    while let DuelStep::Block { .. } = duel.next() {
        duel.note(costs().map(|value| RunResult::exactly(value, 0, 10_000)));
    }
    duel.finding().verdict
}

fn differs(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Differs { .. })
}

#[test]
fn false_positive_rate_is_below_5_percent_by_difference() {
    let mut chance = Chance::seeded(41);
    for blocks_max in [6, 24] {
        for (name, costs) in EQUAL {
            let rules = DuelRules { blocks_max, ..RULES };
            let wrong = (0..1_000).filter(|_| differs(&finding(rules, || costs(&mut chance)))).count();
            assert!(wrong <= WRONG_MAX, "{name}, {blocks_max} blocks: {wrong} of 1,000");
        }
    }
}

#[test]
fn family_wise_error_rate_is_kept() {
    let mut chance = Chance::seeded(42);
    for (name, costs) in EQUAL {
        let wrong = (0..500).filter(|_| {
            let mut pair = |_| <(Bounded, Bounded)>::from(costs(&mut chance).map(Bounded::exactly));
            let pairs: Vec<Vec<(Bounded, Bounded)>> =
                (0..3).map(|_| (0..12).map(&mut pair).collect()).collect();
            let all: Vec<Paired<'_>> = pairs
                .iter()
                .map(|pairs| Paired {
                    pairs,
                    attainable: 12,
                    discards: stats::Discards::default(),
                    extensions: 0,
                    matters: RULES.matters,
                })
                .collect();
            compare_together(3, &all).iter().any(|found| differs(&found.verdict))
        });
        let wrong = wrong.count();
        assert!(wrong <= 40, "{name}: {wrong} of 500");
    }
}

#[test]
fn equal_costs_are_equivalent_only_if_all_are_known() {
    let mut chance = Chance::seeded(43);
    for (name, costs) in EQUAL {
        let verdicts: Vec<Verdict> = (0..200).map(|_| finding(RULES, || costs(&mut chance))).collect();
        let equivalent = verdicts.iter().filter(|verdict| **verdict == Verdict::Equivalent).count();
        let (least, most) = match name {
            "nothing at all" | "half of them zero, and whole numbers" => (200, 200),
            "alike in a block" => (150, 200),
            "a fifth without a limit" => (0, 2),
            _ => (0, 200),
        };
        assert!((least..=most).contains(&equivalent), "{name}: {equivalent} of 200");
    }
}

#[test]
fn true_difference_is_found_and_covered_by_the_interval() {
    let mut chance = Chance::seeded(44);
    let (mut found, mut wrong_way, mut covered) = (0, 0, 0);
    for _ in 0..1_000 {
        let mut duel = Duel::new(RULES);
        while let DuelStep::Block { .. } = duel.next() {
            let base = 300.0 * chance.exponential();
            // 400 and 800 ms; the difference has a standard deviation of 40 ms.
            let [one, other] = [400.0, 800.0].map(|cost| base + cost + 28.0 * chance.normal());
            duel.note([one, other].map(|value| RunResult::exactly(value, 0, 10_000)));
        }
        let finding = duel.finding();
        found += usize::from(finding.verdict == Verdict::Differs { below_matters: false });
        wrong_way += usize::from(finding.is_first_larger() == Some(true));
        covered += usize::from(finding.interval.is_some_and(|[low, high]| low <= -400.0 && -400.0 <= high));
    }
    assert!(
        found == 1_000 && wrong_way == 0 && covered >= 1_000 - WRONG_MAX,
        "{found} {wrong_way} {covered}"
    );
    // Power in standard deviations equals that of ratios: 87 % at 0.8.
    let shifted =
        (0..1_000).filter(|_| differs(&finding(RULES, || [30.0 * (0.8 + chance.normal()), 0.0]))).count();
    assert!((840..=910).contains(&shifted), "{shifted}");
}

#[test]
fn system_that_never_recovers_is_worse() {
    let mut chance = Chance::seeded(45);
    let found = (0..200).filter(|_| {
        let verdict = finding(RULES, || {
            let limited =
                if chance.uniform() < 0.05 { f64::INFINITY } else { 500.0 + 100.0 * chance.normal() };
            [limited, f64::INFINITY]
        });
        verdict == Verdict::Differs { below_matters: false }
    });
    assert!(found.count() >= 150);
}
