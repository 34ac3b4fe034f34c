//! Axis on which a chart places every run of several variants.

use stats::{MinEffect, Scale, Spread};

/// Returns the ends of an axis with room for all finite figures and for the smallest effect, so that a smaller
/// difference does not fill the axis. `None` without figures. An axis does not go below 0 if no figure does.
pub fn axis_of_runs(figures: impl Iterator<Item = f64>, matters: MinEffect) -> Option<[f64; 2]> {
    let Spread { min, median, max, .. } = Spread::over(figures)?;
    let around = match matters.scale {
        Scale::Ratio => (median * matters.size).abs(),
        Scale::Difference => matters.size,
    };
    let low = min.min(median - around);
    let low = if min >= 0.0 { low.max(0.0) } else { low };
    Some([low, max.max(median + around)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_of_equal_figures_is_wider_than_the_min_effect() {
        let axis = |figures: &[f64], matters| axis_of_runs(figures.iter().copied(), matters);
        assert_eq!(axis(&[100.0, 100.0], MinEffect::share(0.5)), Some([50.0, 150.0]));
        assert_eq!(axis(&[1.0, f64::INFINITY], MinEffect::difference(2.0)), Some([0.0, 3.0]), "not below 0");
        assert_eq!(axis(&[], MinEffect::share(0.5)), None);
    }
}
