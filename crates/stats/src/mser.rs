//! End of a warm-up by MSER-5 (marginal standard error rule with batches of five).

use alloc::vec::Vec;

/// Number of windows per batch.
pub(crate) const BATCH: usize = 5;

/// Finds the best cut of a series, in windows: the one that minimizes the squared standard error of the mean of the rest. The cut
/// is a whole number of batches and at most half of the series. `None` with fewer than four batches.
pub(crate) fn cut(series: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        series.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let count = batches.len();
    if count < 4 {
        return None;
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    // Sums around the mean, so that squares of large figures do not lose the differences to rounding.
    let centre = batches.iter().sum::<f64>() / count as f64;
    let negligible = NEGLIGIBLE * NEGLIGIBLE * centre * centre;
    let mut best = (f64::INFINITY, 0);
    for cut in (0..count).rev() {
        let from_centre = batches[cut] - centre;
        sum += from_centre;
        squares += from_centre * from_centre;
        let left = (count - cut) as f64;
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        if cut <= count / 2 && error <= best.0 + negligible {
            best = (error.min(best.0), cut);
        }
    }
    Some(best.1 * BATCH)
}

/// Returns whether a cut is at its upper bound or one batch earlier, so that the rest is no more reliable than what was cut off.
pub(crate) fn is_at_bound(cut: usize, windows: usize) -> bool {
    cut > 0 && cut / BATCH + 1 >= windows / BATCH / 2
}

/// Gain in the standard error, as a share of the mean, that is ignored. Without noise, rounding errors would choose the cut
/// otherwise.
const NEGLIGIBLE: f64 = 1e-5;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn slow_beginning_is_cut_off() {
        let mut series = vec![3.0; 30];
        series.extend((0..90).map(|window| 1.0 + 0.01 * f64::from(window % 3)));
        assert_eq!(cut(&series), Some(30));
        let mut flat = vec![0.3; 30];
        flat.extend([0.1; 90]);
        assert_eq!(cut(&flat), Some(30), "not where rounding is least");
    }

    #[test]
    fn unsettled_series_is_cut_at_the_bound() {
        let series: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(cut(&series), Some(50));
        assert!(is_at_bound(50, 100) && is_at_bound(45, 100) && !is_at_bound(40, 100) && !is_at_bound(0, 10));
    }

    #[test]
    fn equal_windows_are_not_cut() {
        assert_eq!(cut(&[7.0; 40]), Some(0));
        assert_eq!(cut(&[7.0; 19]), None);
    }
}
