//! Quickest change that gives an undecided comparison of two independent sets of runs a verdict, from the variance of the runs so far.

use libm::{fabs, log, sqrt};

use crate::forecast::Z_90;
use crate::mann_whitney::{FIGURES_MAX, least_each};
use crate::scale::MinEffect;
use crate::student;

/// Factors by which runs may be longer.
const FACTORS: [f64; 4] = [2.0, 4.0, 8.0, 16.0];
/// Efficiency of the Mann–Whitney test relative to Student's t for normal noise: 3 ÷ π.
const EFFICIENCY: f64 = 0.954_929_658_6;
/// Quantile of the normal distribution for the power at either end of an interval around 0, of 95 %.
const TWENTIETH: f64 = 1.644_853_627;

/// Two sets of runs that were compared by ratio, without a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenUnpaired<'a> {
    /// Measured figures of each set, above 0.
    pub figures: [&'a [f64]; 2],
    /// Largest widening of the interval that the bounds of figures cause, as a logarithm.
    pub bounds: f64,
    /// Variance of a run's log figure that arises within the run, and falls with its length. `None` if it is unknown.
    pub within: Option<f64>,
    /// Mean time of a run in both sets, in seconds, and the part of it in which the load is measured.
    pub run_s: [f64; 2],
    /// Smallest difference that matters.
    pub matters: MinEffect,
    /// Error rate of the comparison: its part of the rate of all rows.
    pub alpha: f64,
}

/// Change that gives a verdict with a probability of 90 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnpairedWay {
    /// More runs of the same kind in both sets.
    MoreRuns {
        /// Total number of runs of each set.
        each: usize,
        /// Time of the additional runs, in seconds.
        seconds: f64,
    },
    /// Longer runs, in two new sets.
    LongerRuns {
        /// Length relative to that of the present runs.
        factor: f64,
        /// Number of runs of each new set.
        each: usize,
        /// Time of both new sets, in seconds.
        seconds: f64,
    },
    /// A quieter machine, because no number of runs suffices at their present variance.
    LessNoise {
        /// Largest standard deviation of a run's log figure at which this many runs are conclusive.
        spread: f64,
        /// Number of runs of each set.
        each: usize,
    },
    /// A generator with less disturbance, because the bounds of the figures are wider than the difference.
    TighterBounds {
        /// Largest width of the bounds at which many runs are conclusive, as a logarithm.
        most: f64,
    },
}

impl OpenUnpaired<'_> {
    /// Returns the quickest change that gives a verdict. `None` with fewer than two figures on a side, without a figure above 0, without
    /// any variance, or if bounds of any width hide the difference.
    pub fn way(&self) -> Option<UnpairedWay> {
        let figures = self.figures.map(|figures| &figures[..figures.len().min(FIGURES_MAX)]);
        let [a, b] = [moments(figures[0])?, moments(figures[1])?];
        let counts = figures.map(<[f64]>::len);
        let freedom = (counts[0] + counts[1]) as f64 - 2.0;
        let spread = sqrt((a.1 + b.1) / freedom);
        let (apart, most) = (fabs(a.0 - b.0), counts[0].max(counts[1]));
        let distance = apart.max(self.matters.distance() - apart);
        if !(spread > 0.0 && distance.is_finite()) {
            return None;
        }
        let error = spread * sqrt(counts.map(|count| 1.0 / count as f64).iter().sum::<f64>());
        if self.bounds >= distance {
            let most = self.room(apart, Z_90 * error, spread, FIGURES_MAX);
            return (most > 0.0).then_some(UnpairedWay::TighterBounds { most });
        }
        let least = least_each(self.alpha);
        let first = |spread: f64, from: usize| {
            (from.max(least)..=FIGURES_MAX).find(|each| self.decides(apart, Z_90 * error, spread, *each))
        };
        let more = first(spread, most + 1).map(|each| {
            let runs = 2 * each - counts[0] - counts[1];
            let seconds = self.run_s[0] * runs as f64;
            (seconds, UnpairedWay::MoreRuns { each, seconds })
        });
        let within = self.within.map(|within| within.min(spread * spread));
        let longer = FACTORS.iter().filter_map(|factor| {
            let spread = sqrt(spread * spread - within? * (1.0 - factor.recip()));
            let each = first(spread, least)?;
            let seconds = (self.run_s[0] + self.run_s[1] * (factor - 1.0)) * 2.0 * each as f64;
            Some((seconds, UnpairedWay::LongerRuns { factor: *factor, each, seconds }))
        });
        let quickest =
            more.into_iter().chain(longer).reduce(|one, other| if other.0 < one.0 { other } else { one });
        Some(quickest.map_or_else(|| self.less_noise(distance, most.max(least)), |(_, way)| way))
    }

    /// Returns whether so many runs on each side decide with 90 % power. `strays` is a margin for the error of the estimate.
    fn decides(&self, apart: f64, strays: f64, spread: f64, each: usize) -> bool {
        self.room(apart, strays, spread, each) >= self.bounds
    }

    /// Returns the widest bounds at which so many runs on each side decide with 90 % power, as a logarithm. Negative if none do.
    fn room(&self, apart: f64, strays: f64, spread: f64, each: usize) -> f64 {
        let error = spread * sqrt(2.0 / each as f64 / EFFICIENCY);
        let half = student::quantile(self.alpha, 2 * each - 2) * error;
        let to_matters = self.matters.distance() - apart;
        (apart - half - Z_90 * error).max(to_matters - half - TWENTIETH * error) - strays
    }

    /// Returns the spread at which `each` runs on each side suffice for this distance.
    fn less_noise(&self, distance: f64, each: usize) -> UnpairedWay {
        let half = student::quantile(self.alpha, 2 * each - 2) + TWENTIETH;
        let spread = (distance - self.bounds) / half / sqrt(2.0 / each as f64 / EFFICIENCY);
        UnpairedWay::LessNoise { spread, each }
    }
}

/// Returns mean and sum of squared deviations of the logarithms. `None` with fewer than two figures, or one without a logarithm.
fn moments(figures: &[f64]) -> Option<(f64, f64)> {
    if figures.len() < 2 || !figures.iter().all(|figure| *figure > 0.0 && figure.is_finite()) {
        return None;
    }
    let logs = || figures.iter().map(|figure| log(*figure));
    let mean = logs().sum::<f64>() / figures.len() as f64;
    Some((mean, logs().map(|log| (log - mean) * (log - mean)).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;
    use crate::mann_whitney::Unpaired;
    use crate::scale::Scale;
    use alloc::vec::Vec;

    fn open<'a>(a: &'a [f64], b: &'a [f64]) -> OpenUnpaired<'a> {
        OpenUnpaired {
            figures: [a, b],
            bounds: 0.0,
            within: None,
            run_s: [10.0, 8.0],
            matters: MinEffect::share(0.03),
            alpha: 0.05,
        }
    }

    const NOISY: [f64; 6] = [100.0, 104.0, 97.0, 101.0, 95.0, 103.0];

    fn times(of: &[f64], factor: f64) -> Vec<f64> {
        of.iter().map(|figure| figure * factor).collect()
    }

    #[test]
    fn more_runs_decide_a_difference_that_exceeds_the_noise() {
        let b = times(&NOISY, 1.06);
        let Some(UnpairedWay::MoreRuns { each, seconds }) = open(&NOISY, &b).way() else {
            panic!("more runs")
        };
        assert!((10..=40).contains(&each), "{each}");
        assert!((seconds - 10.0 * (2 * each - 12) as f64).abs() < 1e-9, "{seconds}");
    }

    #[test]
    fn longer_runs_are_named_if_starts_cost_most_and_the_variance_lies_within_runs() {
        let b = times(&NOISY, 1.06);
        let way = OpenUnpaired { within: Some(1.0), run_s: [10.0, 2.0], ..open(&NOISY, &b) }.way();
        assert!(matches!(way, Some(UnpairedWay::LongerRuns { .. })), "{way:?}");
    }

    #[test]
    fn noise_or_bounds_beyond_help_are_named() {
        let wild = [100.0, 300.0, 40.0, 160.0];
        let way = open(&wild, &times(&wild, 1.02)).way();
        assert!(matches!(way, Some(UnpairedWay::LessNoise { spread, each: 4 }) if spread < 0.02), "{way:?}");
        let b = times(&NOISY, 1.1);
        let way = OpenUnpaired { bounds: 0.5, ..open(&NOISY, &b) }.way();
        let Some(UnpairedWay::TighterBounds { most }) = way else { panic!("{way:?}") };
        assert!((0.04..0.07).contains(&most), "less than the difference: {most}");
        let decides = |bounds| OpenUnpaired { bounds, ..open(&NOISY, &b) }.way();
        assert!(matches!(decides(most - 1e-6), Some(UnpairedWay::MoreRuns { each: FIGURES_MAX, .. })));
        let near = times(&NOISY, 1.02);
        assert_eq!(
            OpenUnpaired { bounds: 0.5, ..open(&NOISY, &near) }.way(),
            None,
            "bounds of 0 decide nothing"
        );
        assert_eq!(open(&[1.0; 4], &[1.0; 4]).way(), None, "no variance");
        let many: Vec<f64> = (0..200).map(|run| wild[run % 4]).collect();
        let way = open(&many, &times(&many, 1.02)).way();
        assert!(matches!(way, Some(UnpairedWay::LessNoise { each: FIGURES_MAX, .. })), "{way:?}");
        assert_eq!(open(&[1.0, 0.0], &NOISY).way(), None, "no ratio");
    }

    /// Simulates 400 pairs of new sets of the named size, of a difference of 6 % with noise of 5 %.
    #[test]
    fn named_number_of_runs_decides_nine_times_in_ten() {
        let mut chance = Chance::of(7);
        let mut set = |truth: f64, each: usize| -> Vec<f64> {
            (0..each).map(|_| truth * libm::exp(0.05 * chance.normal())).collect()
        };
        let (mut decided, mut named) = (0, 0);
        for _ in 0..400 {
            let [a, b] = [set(100.0, 6), set(106.0, 6)];
            if Unpaired::of(&b, &a, Scale::Ratio, 0.05).unwrap().differs() {
                continue;
            }
            let Some(UnpairedWay::MoreRuns { each, .. }) = open(&a, &b).way() else { continue };
            named += 1;
            let found = Unpaired::of(&set(106.0, each), &set(100.0, each), Scale::Ratio, 0.05).unwrap();
            decided += u32::from(found.differs());
        }
        assert!(named >= 40 && decided * 10 >= named * 9, "{decided} of {named}");
    }
}
