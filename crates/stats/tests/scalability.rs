//! Coverage of the intervals of the scalability law on noisy points with planted coefficients.

use proptest::prelude::*;
use stats::usl;

use crate::support::Chance;

const SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Returns three runs per size, with 2 % of slightly skewed noise.
fn noisy(sigma: f64, kappa: f64, chance: &mut Chance) -> Vec<(f64, f64)> {
    let sizes = SIZES.iter().flat_map(|users| [*users; 3]);
    let per_s = |users: f64| 1000.0 * users / (1.0 + sigma * (users - 1.0) + kappa * users * (users - 1.0));
    let mut noise = || 0.018 * chance.normal() - 0.01 * (chance.exponential() - 1.0);
    sizes.map(|users| (users, per_s(users) * noise().exp())).collect()
}

#[test]
fn intervals_cover_the_planted_peak() {
    let mut chance = Chance::seeded(20_260_103);
    let (mut covered, mut close) = (0, 0);
    let planted = (0.98f64 / 0.0005).sqrt();
    for seed in 0..60 {
        let law = usl::fit(&noisy(0.02, 0.0005, &mut chance), seed).expect("eight sizes");
        covered += u32::from(law.peak_interval.is_some_and(|[low, high]| low <= planted && planted <= high));
        close += u32::from(law.peak.is_some_and(|peak| (peak / planted - 1.0).abs() < 0.1));
    }
    assert!(covered >= 51 && close == 60, "{covered} covered, {close} close, of 60");
}

#[test]
fn law_without_a_peak_rarely_gets_one() {
    let mut chance = Chance::seeded(20_260_104);
    let falls = (0..60).filter(|seed| {
        let law = usl::fit(&noisy(0.05, 0.0, &mut chance), *seed).expect("eight sizes");
        law.kappa_interval[0] > 0.0
    });
    let falls = falls.count();
    assert!(falls <= 6, "{falls} of 60");
}

proptest! {
    #[test]
    fn fit_never_panics(points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20),
                               sizes in prop::collection::vec((1u32..2_000, 1e-300f64..1e300), 0..20), seed: u64) {
        usl::fit(&points, seed);
        let sizes: Vec<(f64, f64)> = sizes.iter().map(|(users, per_s)| (f64::from(*users), *per_s)).collect();
        if let Some(law) = usl::fit(&sizes, seed) {
            prop_assert!(law.sigma >= 0.0 && law.kappa >= 0.0 && law.lambda > 0.0, "{law:?}");
        }
    }
}
