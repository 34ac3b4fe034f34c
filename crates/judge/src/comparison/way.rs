//! Shortest way from an undecided comparison to a verdict, in a sentence with its figures.

use stats::{DuelRules, OpenComparison, Scale, UnpairedWay, VarianceComponents, Verdict, WayToVerdict};

use super::paired::{Pair, SLICED_MAX, StudyLoad};
use super::variant::Variant;
use crate::eligibility::Eligibility;
use crate::measured_run::MeasuredRun;
use crate::words::percent;

impl StudyLoad<'_> {
    /// Returns the shortest way to a verdict. `None` if the comparison is decided, or is of differences. `levels` are
    /// the variances of slices.
    pub(super) fn way(&self, pair: &Pair, levels: Option<VarianceComponents>) -> Option<WayToVerdict> {
        let comparison = &pair.comparison;
        if comparison.verdict != Verdict::Inconclusive || comparison.scale != Scale::Ratio {
            return None;
        }
        let (interval, measured) = (comparison.interval?, comparison.measured_interval?);
        let bounds = (measured[0].ln() - interval[0].ln()).max(interval[1].ln() - measured[1].ln());
        let apart: Vec<f64> = pair.in_blocks.iter().map(|ratio| ratio.ln()).collect();
        let sides = [pair.first, pair.second].map(|row| self.valid_runs(self.variants[row]));
        let blocks = apart.len().max(1) as f64;
        let sum = |figure: fn(&MeasuredRun<'_>) -> Option<f64>| -> f64 {
            sides.iter().flatten().filter_map(|run| figure(run)).sum()
        };
        let compare = &self.study.new.compare;
        let is_sliced = compare.procedure.slices().is_some();
        let within = match levels {
            Some(levels) => Some(levels.within * levels.within * levels.blocks as f64 / levels.pairs as f64),
            None if is_sliced => None,
            None => within_runs(&sides),
        };
        let open = OpenComparison {
            apart: &apart,
            bounds: bounds.max(0.0),
            within,
            block_s: sum(wall_s) / blocks,
            measured_s: sum(|run| Some(run.measured.window?.length_s)) / blocks,
            can_have_slices: !is_sliced && (2..=SLICED_MAX).contains(&self.variants.len()),
        };
        open.way(&DuelRules {
            matters: pair.by.min_effect(compare),
            higher_is_better: pair.by.higher_is_better(compare),
            blocks_max: compare.blocks,
            pilot_blocks: 0,
            family: comparison.family,
            looks_early: false,
            has_control: false,
        })
    }

    fn valid_runs(&self, variant: &Variant<'_>) -> Vec<MeasuredRun<'_>> {
        variant.eligibility(Eligibility::Valid).map(|run| self.runs[run]).collect()
    }
}

/// Returns the time from the start of the load of a run to its end, in seconds.
fn wall_s(run: &MeasuredRun<'_>) -> Option<f64> {
    let ended_at_unix_ms = run.run.ending.as_ref()?.ended_at_unix_ms;
    Some(ended_at_unix_ms.saturating_sub(run.run.new.started_at_unix_ms).max(0) as f64 / 1e3)
}

/// Returns the variance of a block's log ratio that lies within runs. The difference between the halves of a run has
/// four times the variance of their mean. `None` if no run has halves.
fn within_runs(sides: &[Vec<MeasuredRun<'_>>; 2]) -> Option<f64> {
    let halves = |run: &MeasuredRun<'_>| run.run.ending.as_ref()?.steadiness.as_ref()?.halves_share;
    let of_side = |runs: &Vec<MeasuredRun<'_>>| {
        let squares: Vec<f64> = runs.iter().filter_map(halves).map(|share| share * share).collect();
        (!squares.is_empty()).then(|| squares.iter().sum::<f64>() / squares.len() as f64 / 4.0)
    };
    Some(of_side(&sides[0])? + of_side(&sides[1])?)
}

/// Describes the advice, as the continuation of "inconclusive; ".
pub fn way_in_words(way: &WayToVerdict) -> String {
    match way {
        WayToVerdict::MoreBlocks { blocks, seconds } => {
            format!("{blocks} blocks are likely to be conclusive, {} more", about(*seconds))
        }
        WayToVerdict::LongerRuns { factor, blocks, seconds } => format!(
            "{blocks} blocks of runs that are {factor} times as long are likely to be conclusive, {} in all",
            about(*seconds)
        ),
        WayToVerdict::Slices => {
            "slices (`interleave: slices`) are likely to need less, because runs differ from each other by more than they vary within"
                .to_owned()
        }
        WayToVerdict::LessNoise { spread } => format!(
            "a quieter machine would decide, on which the ratio of a block varies by at most {}",
            percent(spread.exp_m1(), 1)
        ),
        WayToVerdict::TighterBounds { most: Some(most) } => format!(
            "a less disturbed generator would decide, with figures within {}: a core of its own for it, or a quieter machine",
            percent(most.exp_m1(), 1)
        ),
        WayToVerdict::TighterBounds { most: None } => {
            "only a quieter machine would decide: the generator is disturbed by more than the difference, and blocks vary too much".to_owned()
        }
    }
}

/// Describes what would decide a comparison of two studies, as a clause.
pub fn unpaired_way_in_words(way: &UnpairedWay) -> String {
    match way {
        UnpairedWay::MoreRuns { each, seconds } => {
            format!("{each} valid runs in each study are likely to be conclusive, {} more", about(*seconds))
        }
        UnpairedWay::LongerRuns { factor, each, seconds } => format!(
            "two new studies with {each} runs that are {factor} times as long are likely to be conclusive, {} in all",
            about(*seconds)
        ),
        UnpairedWay::LessNoise { spread, each } => format!(
            "a quieter machine would decide, on which runs vary by at most {} (standard deviation) in {each} runs of each study",
            percent(spread.exp_m1(), 1)
        ),
        UnpairedWay::TighterBounds { most } => format!(
            "a less disturbed generator would decide, with figures of both studies within {} together: a core of its own for it, or a \
             quieter machine",
            percent(most.exp_m1(), 1)
        ),
    }
}

fn about(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 99.5 => format!("about {seconds:.0} s"),
        seconds => format!("about {:.0} min", (seconds / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_names_its_figures() {
        let words = |way: WayToVerdict| way_in_words(&way);
        assert_eq!(
            words(WayToVerdict::MoreBlocks { blocks: 16, seconds: 150.0 }),
            "16 blocks are likely to be conclusive, about 3 min more"
        );
        assert_eq!(
            words(WayToVerdict::LongerRuns { factor: 4.0, blocks: 8, seconds: 80.0 }),
            "8 blocks of runs that are 4 times as long are likely to be conclusive, about 80 s in all"
        );
        assert!(words(WayToVerdict::LessNoise { spread: 0.02 }).contains("at most 2.0 %"));
        assert!(words(WayToVerdict::TighterBounds { most: Some(0.01) }).contains("within 1.0 %"));
        let words = |way: UnpairedWay| unpaired_way_in_words(&way);
        assert_eq!(
            words(UnpairedWay::MoreRuns { each: 12, seconds: 90.0 }),
            "12 valid runs in each study are likely to be conclusive, about 90 s more"
        );
        assert!(
            words(UnpairedWay::LongerRuns { factor: 4.0, each: 6, seconds: 600.0 })
                .contains("about 10 min in all")
        );
        assert!(words(UnpairedWay::LessNoise { spread: 0.01, each: 4 }).contains("at most 1.0 %"));
        assert!(words(UnpairedWay::TighterBounds { most: 0.02 }).contains("within 2.0 % together"));
    }
}
