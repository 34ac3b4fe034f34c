//! Draws the confidence interval of a ratio with characters.

/// Width of a drawing in characters. Odd, so that the ratio 1 gets the middle column.
const WIDTH: usize = 31;

/// Logarithmic axis for intervals, with the ratio 1 at the center.
pub(super) struct Axis {
    /// Natural logarithm of the ratio at the right end.
    reach: f64,
}

impl Axis {
    /// Axis that contains all of these ratios, and makes a difference of `matters` visible.
    pub(super) fn of(ratios: impl Iterator<Item = f64>, matters: f64) -> Self {
        let reaches = ratios.map(|ratio| ratio.ln().abs()).filter(|reach| reach.is_finite());
        Self { reach: reaches.fold(matters.max(0.001).ln_1p() * 2.0, f64::max) }
    }

    /// Ratios at both ends.
    pub(super) fn ends(&self) -> [f64; 2] {
        [(-self.reach).exp(), self.reach.exp()]
    }

    /// Draws a ratio and its interval. `│` is the ratio 1, and `┼` if it is within the interval. `●` is the estimate, and `◉` if it
    /// is 1.
    pub(super) fn draw(&self, ratio: f64, interval: Option<[f64; 2]>) -> String {
        let place = |ratio: f64| {
            let share = (ratio.ln() / self.reach).clamp(-1.0, 1.0);
            (((share + 1.0) / 2.0) * (WIDTH - 1) as f64).round() as usize
        };
        let mut drawn = ['·'; WIDTH];
        drawn[WIDTH / 2] = '│';
        if let Some([low, high]) = interval {
            let (low, high) = (place(low), place(high));
            drawn[low..=high].fill('─');
            (drawn[low], drawn[high]) = ('├', '┤');
            if low <= WIDTH / 2 && WIDTH / 2 <= high {
                drawn[WIDTH / 2] = '┼';
            }
        }
        drawn[place(ratio)] = if place(ratio) == WIDTH / 2 { '◉' } else { '●' };
        drawn.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_one_is_at_the_center() {
        let scale = Axis::of([0.5, 2.0].into_iter(), 0.03);
        assert_eq!(scale.draw(1.0, None), "···············◉···············");
        assert_eq!(scale.draw(2.0, Some([1.5, 2.0])), "···············│········├─────●");
        assert_eq!(scale.draw(1.1, Some([0.8, 1.4])), "··········├────┼─●────┤········");
    }

    #[test]
    fn extreme_ratios_stay_on_the_axis() {
        let scale = Axis::of([1.0].into_iter(), 0.0);
        for odd in [0.0, f64::INFINITY, f64::NAN, 1e300, 1e-300] {
            let drawn = scale.draw(odd, Some([1e-300, 1e300]));
            assert_eq!(drawn.chars().count(), WIDTH);
        }
        let [low, high] = scale.ends();
        assert!(low < 1.0 && 1.0 < high);
    }
}
