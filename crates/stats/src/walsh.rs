//! Walsh averages, from which the estimate, interval, and test of a shift are computed.

use alloc::vec::Vec;

use crate::spread::median_of_sorted;

/// Sorted means of all n(n+1)/2 pairs of figures. Each figure is also paired with itself.
#[derive(Clone, Debug)]
pub struct Walsh {
    /// Lower bounds of the averages.
    sorted: Vec<f64>,
    /// Upper bounds of the averages. `None` if they equal the lower bounds.
    most: Option<Vec<f64>>,
}

impl Walsh {
    /// Computes the averages of figures, which must all be finite.
    pub fn of(figures: &[f64]) -> Self {
        Self { sorted: in_order(averages(figures)), most: None }
    }

    /// Computes the averages of figures that are known only by bounds, and that may be infinite. Wherever the figures lie, the interval
    /// covers theirs, and the signed-rank sum is not smaller than theirs.
    pub(crate) fn of_bounds(bounds: &[[f64; 2]]) -> Self {
        if bounds.iter().all(|[low, high]| low == high && low.is_finite()) {
            return Self::of(&bounds.iter().map(|[low, _]| *low).collect::<Vec<f64>>());
        }
        // The mean of +∞ and −∞ may be anything.
        let side = |side: usize, unknown: f64| {
            let of_side: Vec<f64> = bounds.iter().map(|bound| bound[side]).collect();
            let averages = averages(&of_side).into_iter();
            in_order(averages.map(|average| if average.is_nan() { unknown } else { average }).collect())
        };
        Self { sorted: side(0, f64::NEG_INFINITY), most: Some(side(1, f64::INFINITY)) }
    }

    /// Returns the Hodges–Lehmann estimate of the center: the median of the averages. If only bounds are known, the bound nearer to zero.
    /// `None` if zero lies between the bounds, or without figures.
    pub fn center(&self) -> Option<f64> {
        between(median_of_sorted(&self.sorted)?, median_of_sorted(self.most())?)
    }

    fn most(&self) -> &[f64] {
        self.most.as_ref().unwrap_or(&self.sorted)
    }

    /// Returns the confidence interval of the test with this critical value c: from the (c+1)th smallest to the (c+1)th largest average.
    /// `None` if there are too few averages.
    pub fn interval(&self, critical: u32) -> Option<[f64; 2]> {
        let [from, to] = ends(self.sorted.len(), critical)?;
        Some([self.sorted[from], self.most()[to]])
    }

    /// Like [`Walsh::interval`], for finite figures, without sorting all averages.
    pub(crate) fn interval_without_sorting(figures: &[f64], critical: u32) -> Option<[f64; 2]> {
        let mut averages = averages(figures);
        let [from, to] = ends(averages.len(), critical)?;
        let mut at = |place| *averages.select_nth_unstable_by(place, f64::total_cmp).1;
        Some([at(from), at(to)])
    }

    /// Returns the smaller signed-rank sum around zero. Averages of exactly zero (of zeros, or of opposite figures) count on both sides, so
    /// they only count against a difference.
    pub fn signed_rank_sum(&self) -> u32 {
        let not_above = self.sorted.partition_point(|average| *average <= 0.0);
        let not_below = self.sorted.len() - self.most().partition_point(|average| *average < 0.0);
        u32::try_from(not_above.min(not_below)).unwrap_or(u32::MAX)
    }

    /// Returns the signed-rank sum of averages that are not above zero, which count against an upward shift.
    pub(crate) fn rank_sum_not_above(&self) -> u32 {
        u32::try_from(self.sorted.partition_point(|average| *average <= 0.0)).unwrap_or(u32::MAX)
    }
}

/// Returns the bound nearer to zero. `None` if zero may lie between the bounds.
pub(crate) fn between(low: f64, high: f64) -> Option<f64> {
    match (low, high) {
        _ if low == high || low > 0.0 => Some(low),
        _ if high < 0.0 => Some(high),
        _ => None,
    }
}

pub(crate) fn in_order(mut averages: Vec<f64>) -> Vec<f64> {
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

fn averages(figures: &[f64]) -> Vec<f64> {
    (0..figures.len())
        .flat_map(|a| (a..figures.len()).map(move |b| figures[a] / 2.0 + figures[b] / 2.0))
        .collect()
}

/// Returns the indexes of the two ends of an interval among sorted averages. `None` if there are too few.
fn ends(averages: usize, critical: u32) -> Option<[usize; 2]> {
    let from = critical as usize;
    let to = averages.checked_sub(from + 1)?;
    (from <= to).then_some([from, to])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_figures_match_hand_computation() {
        let walsh = Walsh::of(&[1.0, 2.0, 6.0]);
        assert_eq!(walsh.sorted, [1.0, 1.5, 2.0, 3.5, 4.0, 6.0]);
        assert_eq!(walsh.center(), Some(2.75));
        assert_eq!(walsh.interval(0), Some([1.0, 6.0]));
        assert_eq!(walsh.interval(2), Some([2.0, 3.5]));
        assert_eq!(walsh.interval(3), None);
        assert_eq!(Walsh::of(&[]).center(), None);
        assert_eq!(Walsh::of(&[]).interval(0), None);
    }

    #[test]
    fn zeros_and_ties_speak_against_a_difference() {
        assert_eq!(Walsh::of(&[1.0, 2.0, 3.0]).signed_rank_sum(), 0);
        assert_eq!(Walsh::of(&[0.0, 2.0, 3.0]).signed_rank_sum(), 1, "one average is zero");
        assert_eq!(Walsh::of(&[-1.0, 1.0, 3.0]).signed_rank_sum(), 2, "-1, and -1 with 1");
        assert_eq!(Walsh::of(&[0.0, 0.0]).signed_rank_sum(), 3);
    }

    #[test]
    fn infinite_figures_leave_the_interval_open() {
        let apart = |figures: &[f64]| figures.iter().map(|figure| [*figure; 2]).collect::<Vec<_>>();
        let mut figures = apart(&[5.0, 6.0, f64::INFINITY, 7.0, 5.5, f64::INFINITY]);
        let walsh = Walsh::of_bounds(&figures);
        assert_eq!((walsh.interval(0), walsh.signed_rank_sum()), (Some([5.0, f64::INFINITY]), 0));
        assert!(walsh.center().is_some_and(|center| center > 5.0));
        // An infinite figure on the other side counts against the shift, by more than any other.
        figures[0] = [f64::NEG_INFINITY; 2];
        assert_eq!(
            Walsh::of_bounds(&figures).signed_rank_sum(),
            6,
            "with each that is finite, with itself, and with two unknown"
        );
        // Two infinite figures in one block: it is unknown which is larger.
        let unknown = Walsh::of_bounds(&[[f64::NEG_INFINITY, f64::INFINITY]; 8]);
        assert_eq!((unknown.center(), unknown.signed_rank_sum()), (None, 36));
        assert_eq!(unknown.interval(0), Some([f64::NEG_INFINITY, f64::INFINITY]));
    }

    /// Returns the signed-rank sum as textbooks define it, for figures without zeros and ties.
    fn by_ranks(figures: &[f64]) -> u32 {
        let mut by_size = figures.to_vec();
        by_size.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let ranked = || (1u32..).zip(&by_size);
        let above: u32 = ranked().filter(|(_, figure)| **figure > 0.0).map(|(rank, _)| rank).sum();
        let below: u32 = ranked().filter(|(_, figure)| **figure < 0.0).map(|(rank, _)| rank).sum();
        above.min(below)
    }

    proptest! {
        #[test]
        fn sum_equals_the_textbook_rank_sum(sizes in prop::collection::btree_set(1u32..100_000, 1..20), signs: u32) {
            let sign = |place: usize| if signs >> place & 1 == 1 { -1.0 } else { 1.0 };
            let figures: Vec<f64> =
                sizes.iter().enumerate().map(|(place, size)| f64::from(*size) * sign(place)).collect();
            prop_assert_eq!(Walsh::of(&figures).signed_rank_sum(), by_ranks(&figures));
        }

        #[test]
        fn interval_and_test_say_the_same(figures in prop::collection::vec(-5i32..6, 8), critical in 0u32..18) {
            let figures: Vec<f64> = figures.into_iter().map(f64::from).collect();
            let walsh = Walsh::of(&figures);
            let [low, high] = walsh.interval(critical).unwrap();
            prop_assert_eq!(Walsh::interval_without_sorting(&figures, critical), Some([low, high]));
            prop_assert_eq!(walsh.signed_rank_sum() <= critical, low > 0.0 || high < 0.0);
            let center = walsh.center().unwrap();
            prop_assert!(low <= center && center <= high);
        }

        #[test]
        fn shift_moves_estimate_and_interval(figures in prop::collection::vec(-1_000i32..1_000, 1..15), by in -100i32..100) {
            let plain: Vec<f64> = figures.iter().map(|figure| f64::from(*figure)).collect();
            let moved: Vec<f64> = plain.iter().map(|figure| figure + f64::from(by)).collect();
            let (plain, moved) = (Walsh::of(&plain), Walsh::of(&moved));
            prop_assert_eq!(plain.center().unwrap() + f64::from(by), moved.center().unwrap());
        }
    }
}
