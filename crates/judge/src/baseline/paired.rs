//! Judges a condition of a baseline that was measured in the same blocks as the candidate.

use std::collections::BTreeMap;

use stats::{BlockEffect, Discards, MinEffect, Paired, RunResult};

use super::{ConditionResult, Decision, NO_RATIO, Side, decide, no_runs, unfair_reason};
use crate::condition::{BaselineLimit, Condition};
use crate::pairing::Pairing;

/// Planned blocks of a study.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Number of blocks.
    pub(super) planned: u32,
    /// Number of times the study was extended.
    pub(super) extensions: usize,
}

/// Observations of a configuration by a condition: for each block, and over all of its runs.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockResults {
    pub(super) seen: BTreeMap<u32, RunResult>,
    pub(super) side: Side,
}

/// Compares a candidate with a baseline over the blocks that both share, by one of `together` conditions.
pub(super) fn judge(
    condition: &Condition,
    how: BaselineLimit,
    [baseline, candidate]: [&BlockResults; 2],
    blocks: Blocks,
    together: usize,
) -> ConditionResult {
    let pairing = Pairing::of(blocks.planned, &candidate.seen, &baseline.seen);
    let paired = Paired {
        pairs: &pairing.pairs,
        attainable: pairing.attainable,
        discards: Discards { first: candidate.side.invalid, second: baseline.side.invalid },
        extensions: u32::try_from(blocks.extensions).unwrap_or(u32::MAX),
        // The condition has a limit of its own, so no smallest effect is added to it.
        matters: MinEffect { scale: how.scale(), size: 0.0 },
    };
    // A condition tests one side of the interval, which is wrong at half of the error rate. So two conditions share the
    // rate of one interval.
    let family = u32::try_from(together.div_ceil(2)).unwrap_or(u32::MAX).max(1);
    let found = BlockEffect::of(&paired, family);
    let exact = || {
        let pairs: Vec<_> = pairing.pairs.iter().map(|(a, b)| (a.value.into(), b.value.into())).collect();
        BlockEffect::of(&Paired { pairs: &pairs, ..paired }, family)?.interval
    };
    let sides = [&baseline.side, &candidate.side];
    let interval = found.and_then(|found| found.interval);
    let decision =
        match unfair_reason(sides).or_else(|| no_interval_reason(found.as_ref(), pairing.pairs.len())) {
            Some(why) => Decision::Undecided(why),
            None => decide(condition, sides, interval, exact),
        };
    ConditionResult {
        counts: [pairing.pairs.len(); 2],
        is_paired: true,
        planned: candidate.side.planned,
        estimate: found.map(|found| found.estimate),
        interval,
        confidence: found.and_then(|found| found.confidence),
        runs_true: 0,
        decision,
        no_runs: no_runs(sides),
    }
}

/// Returns the reason why there is no interval; `None` if there is one.
fn no_interval_reason(found: Option<&BlockEffect>, common: usize) -> Option<String> {
    match found {
        None if common == 0 => Some("no block has valid runs of both".to_owned()),
        None => Some(NO_RATIO.to_owned()),
        Some(found) => found
            .needed
            .map(|needed| format!("{common} blocks have valid runs of both; the first look takes {needed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: Blocks = Blocks { planned: 8, extensions: 0 };

    fn in_blocks(figures: &[f64]) -> BlockResults {
        let seen = |value: &f64| RunResult::exactly(*value, 0, 1_000);
        BlockResults {
            seen: (0..).zip(figures.iter().map(seen)).collect(),
            side: Side {
                figures: figures.iter().map(|figure| (*figure).into()).collect(),
                planned: 1_000,
                ..Side::default()
            },
        }
    }

    fn decided(condition: &str, baseline: &[f64], candidate: &[f64]) -> Decision {
        let condition = Condition::parse_gate(condition).unwrap();
        let how = condition.of_baseline.unwrap();
        judge(&condition, how, [&in_blocks(baseline), &in_blocks(candidate)], BLOCKS, 1).decision
    }

    /// Figures of a machine that slows down. Unpaired, the comparison would be inconclusive.
    const DRIFTING: [f64; 8] = [100.0, 91.0, 82.0, 75.0, 66.0, 58.0, 51.0, 44.0];

    #[test]
    fn drift_of_both_sides_cancels_out() {
        let held = "throughput>=95% of baseline";
        assert_eq!(decided(held, &DRIFTING, &DRIFTING.map(|figure| figure * 0.99)), Decision::True);
        assert_eq!(decided(held, &DRIFTING, &DRIFTING.map(|figure| figure * 0.90)), Decision::False);
        let close = [0.93, 0.97, 0.94, 0.96, 0.95, 0.96, 0.94, 0.97];
        let close: Vec<f64> = DRIFTING.iter().zip(close).map(|(figure, share)| figure * share).collect();
        let Decision::Undecided(why) = decided(held, &DRIFTING, &close) else { panic!("it is on the limit") };
        assert!(why.contains("more runs may decide"), "{why}");
    }

    #[test]
    fn errors_are_judged_by_their_difference() {
        let held = "errors<=+0.1% of baseline";
        assert_eq!(decided(held, &[0.0; 8], &[0.0; 8]), Decision::True);
        assert_eq!(decided(held, &[0.0; 8], &[0.002; 8]), Decision::False);
    }

    #[test]
    fn too_few_blocks_are_undecided_and_name_the_required_number() {
        let why = |baseline: &[f64], candidate: &[f64]| match decided(
            "throughput>=95% of baseline",
            baseline,
            candidate,
        ) {
            Decision::Undecided(why) => why,
            decision => panic!("{decision:?}"),
        };
        assert!(why(&DRIFTING[..3], &DRIFTING[..3]).contains("3 blocks"));
        assert!(why(&[0.0; 8], &[0.0; 8]).contains("no ratio"));
        assert!(why(&[], &DRIFTING).contains("the baseline has no run"));
    }
}
