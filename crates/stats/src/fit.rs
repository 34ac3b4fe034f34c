//! Fits to a time series: least-squares line, best step, and rank correlation with time.

use alloc::vec::Vec;

use libm::sqrt;

/// Least-squares line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FittedLine {
    /// Change per window.
    pub(crate) slope: f64,
    /// Value at the center of the series.
    middle: f64,
    /// Residual sum of squares.
    pub(crate) squares: f64,
}

impl FittedLine {
    pub(crate) fn through(level: &[f64]) -> Self {
        let count = level.len() as f64;
        let middle = level.iter().sum::<f64>() / count.max(1.0);
        let centre = (count - 1.0) / 2.0;
        let (mut products, mut times) = (0.0, 0.0);
        for (place, figure) in level.iter().enumerate() {
            let time = place as f64 - centre;
            products += time * (figure - middle);
            times += time * time;
        }
        let slope = if times > 0.0 { products / times } else { 0.0 };
        let mut line = Self { slope, middle, squares: 0.0 };
        line.squares = line.residuals(level).iter().map(|residual| residual * residual).sum();
        line
    }

    pub(crate) fn residuals(&self, level: &[f64]) -> Vec<f64> {
        let centre = (level.len() as f64 - 1.0) / 2.0;
        let at = |place: usize| self.middle + self.slope * (place as f64 - centre);
        level.iter().enumerate().map(|(place, figure)| figure - at(place)).collect()
    }
}

/// Step function: two constant levels, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FittedStep {
    /// Index of the first window of the second level.
    pub(crate) at: usize,
    levels: [f64; 2],
    /// Residual sum of squares.
    pub(crate) squares: f64,
}

impl FittedStep {
    /// Finds the step with the smallest residual sum of squares. Each side has at least a tenth of the series and two windows.
    pub(crate) fn of(level: &[f64]) -> Self {
        let count = level.len();
        let middle = level.iter().sum::<f64>() / count.max(1) as f64;
        let edge = (count / 10).max(2);
        let (mut sum, mut best) = (0.0, (0.0, count / 2));
        let mut levels = [middle, middle];
        for (place, figure) in level.iter().enumerate() {
            let (before, after) = (place, count - place);
            if before >= edge && after >= edge {
                // Sum of squares between the two sides. All deviations sum to zero, so one side's sum suffices.
                let between = sum * sum * count as f64 / (before as f64 * after as f64);
                if between > best.0 {
                    best = (between, place);
                    levels = [middle + sum / before as f64, middle - sum / after as f64];
                }
            }
            sum += figure - middle;
        }
        let mut step = Self { at: best.1, levels, squares: 0.0 };
        step.squares = step.residuals(level).iter().map(|residual| residual * residual).sum();
        step
    }

    pub(crate) fn residuals(&self, level: &[f64]) -> Vec<f64> {
        let at = |place: usize| self.levels[usize::from(place >= self.at)];
        level.iter().enumerate().map(|(place, figure)| figure - at(place)).collect()
    }

    /// Returns the second level minus the first.
    pub(crate) fn apart(&self) -> f64 {
        self.levels[1] - self.levels[0]
    }

    /// Returns whether all windows of one level exceed all windows of the other, and each side has at least a quarter of the series. For
    /// independent noise of 20 windows the probability is below 1 in 2,000, and smaller for more windows. It is 2 divided by the number of
    /// ways to choose one side, summed over its sizes.
    pub(crate) fn separates(&self, level: &[f64]) -> bool {
        let (first, second) = level.split_at(self.at);
        let lowest = |side: &[f64]| side.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = |side: &[f64]| side.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        first.len().min(second.len()) * 4 >= level.len()
            && (lowest(first) > highest(second) || lowest(second) > highest(first))
    }

    /// Returns the standard error of the difference between the levels, in units of the long-run deviation of a window.
    pub(crate) fn error_factor(&self, count: usize) -> f64 {
        sqrt(1.0 / self.at.max(1) as f64 + 1.0 / count.saturating_sub(self.at).max(1) as f64)
    }
}

/// Computes Spearman's rank correlation of a series with time, with midranks for ties. 0 if all figures are equal.
pub(crate) fn spearman_with_time(level: &[f64]) -> f64 {
    let ranks = midranks(level);
    let centre = (level.len() as f64 + 1.0) / 2.0;
    let (mut products, mut of_ranks, mut of_times) = (0.0, 0.0, 0.0);
    for (place, rank) in ranks.iter().enumerate() {
        let (time, rank) = (place as f64 + 1.0 - centre, rank - centre);
        products += time * rank;
        of_ranks += rank * rank;
        of_times += time * time;
    }
    if of_ranks > 0.0 { products / sqrt(of_ranks * of_times) } else { 0.0 }
}

/// Returns the rank of each figure, from 1. Equal figures share their mean rank.
pub(crate) fn midranks(figures: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..figures.len()).collect();
    order.sort_by(|a, b| figures[*a].total_cmp(&figures[*b]));
    let mut ranks = alloc::vec![0.0; figures.len()];
    let mut from = 0;
    while from < order.len() {
        let equal =
            order[from..].iter().take_while(|place| figures[**place] == figures[order[from]]).count().max(1);
        let rank = from as f64 + (equal as f64 + 1.0) / 2.0;
        order[from..from + equal].iter().for_each(|place| ranks[*place] = rank);
        from += equal;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_matches_hand_computation() {
        let line = FittedLine::through(&[1.0, 3.0, 2.0, 4.0]);
        // Deviations in time -1.5 to 1.5: (1.5 * 1.5 - 0.5 * 0.5 + -0.5 * 0.5 + 1.5 * 1.5) / 5.
        assert!((line.slope - 0.8).abs() < 1e-12 && (line.squares - 1.8).abs() < 1e-12, "{line:?}");
        assert_eq!(FittedLine::through(&[2.0]).slope, 0.0);
    }

    #[test]
    fn step_matches_hand_computation() {
        let step = FittedStep::of(&[1.0, 1.0, 1.2, 5.0, 5.0, 5.2, 5.0]);
        assert_eq!(step.at, 3);
        assert!((step.apart() - (5.05 - 3.2 / 3.0)).abs() < 1e-12);
        assert!(step.separates(&[1.0, 1.0, 1.2, 5.0, 5.0, 5.2, 5.0]));
        assert!(!step.separates(&[1.0, 1.0, 5.1, 5.0, 5.0, 5.2, 5.0]), "they overlap");
        assert_eq!(FittedStep::of(&[3.0; 9]).apart(), 0.0);
        assert_eq!(FittedStep::of(&[]).apart(), 0.0);
    }

    #[test]
    fn rank_correlation_matches_hand_computation() {
        assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert!((spearman_with_time(&[1.0, 2.0, 8.0, 9.0]) - 1.0).abs() < 1e-12);
        assert!((spearman_with_time(&[1.0, 3.0, 2.0, 4.0]) - 0.8).abs() < 1e-12);
        assert_eq!(spearman_with_time(&[4.0; 5]), 0.0);
    }
}
