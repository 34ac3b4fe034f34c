//! An interval of a ratio, drawn in characters.

/// Characters of a drawing: odd, so that the ratio 1 has a place of its own.
const WIDTH: usize = 31;

/// The drawings of intervals on one scale, with the ratio 1 at the center and even in its logarithm.
pub(super) struct Axis {
    /// The logarithm at either end.
    reach: f64,
}

impl Axis {
    /// One on which all of these ratios have a place, and what matters can be seen.
    pub(super) fn of(ratios: impl Iterator<Item = f64>, matters: f64) -> Self {
        let reaches = ratios.map(|ratio| ratio.ln().abs()).filter(|reach| reach.is_finite());
        Self { reach: reaches.fold(matters.max(0.001).ln_1p() * 2.0, f64::max) }
    }

    /// The ratios at its ends.
    pub(super) fn ends(&self) -> [f64; 2] {
        [(-self.reach).exp(), self.reach.exp()]
    }

    /// `│` is the ratio 1, `┼` within the interval; `●` is the estimate, `◉` at 1.
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
    fn one_is_in_the_middle() {
        let scale = Axis::of([0.5, 2.0].into_iter(), 0.03);
        assert_eq!(scale.draw(1.0, None), "···············◉···············");
        assert_eq!(scale.draw(2.0, Some([1.5, 2.0])), "···············│········├─────●");
        assert_eq!(scale.draw(1.1, Some([0.8, 1.4])), "··········├────┼─●────┤········");
    }

    #[test]
    fn nothing_falls_off_the_ends() {
        let scale = Axis::of([1.0].into_iter(), 0.0);
        for odd in [0.0, f64::INFINITY, f64::NAN, 1e300, 1e-300] {
            let drawn = scale.draw(odd, Some([1e-300, 1e300]));
            assert_eq!(drawn.chars().count(), WIDTH);
        }
        let [low, high] = scale.ends();
        assert!(low < 1.0 && 1.0 < high);
    }
}
