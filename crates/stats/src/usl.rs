//! Universal scalability law: how throughput grows with users, levels off, and falls.

mod non_negative;

use alloc::vec::Vec;

use libm::{exp, log, sqrt};

use crate::chance::Chance;

/// Fitted law: X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// λ: throughput of one user, per second.
    pub lambda: f64,
    /// σ (contention): share of the work that is serialized.
    pub sigma: f64,
    /// κ (coherency): cost of each pair of users, as a share.
    pub kappa: f64,
    /// Number of users with the highest throughput. `None` if throughput never falls.
    pub peak: Option<f64>,
    /// 95 % bootstrap interval of the peak. `None` unless nearly all samples have a peak.
    pub peak_interval: Option<[f64; 2]>,
    /// 95 % bootstrap interval of κ. If its lower end is above zero, throughput falls beyond some number of users.
    pub kappa_interval: [f64; 2],
    /// True if the peak lies beyond the largest number of users that was tried, and so is a guess.
    pub is_extrapolated: bool,
}

impl Usl {
    /// Returns the throughput per second with `users` users.
    pub fn per_s(&self, users: f64) -> f64 {
        let others = users - 1.0;
        self.lambda * users / (1.0 + self.sigma * others + self.kappa * users * others)
    }
}

/// Minimum number of distinct numbers of users for fitting three coefficients.
const SIZES_MIN: usize = 6;
/// Number of bootstrap samples.
const SAMPLES: usize = 400;
/// Maximum number of steps of a fit. A few suffice unless the points are far from any such curve.
const STEPS_MAX: u32 = 20;
/// Share of throughput at the most users below which the effect of κ counts as none.
const NEGLIGIBLE_KAPPA_SHARE: f64 = 1e-9;

/// Fits the law to points (users, throughput per second), with any number of points per number of users. `seed` seeds the
/// bootstrap. `None` unless there are six distinct numbers of users, all at least 1, and all throughputs are above zero.
pub fn fit(points: &[(f64, f64)], seed: u64) -> Option<Usl> {
    let is_point =
        |(users, per_s): &(f64, f64)| (1.0..1e9).contains(users) && *per_s > 0.0 && per_s.is_finite();
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let most = *sizes.last()?;
    if sizes.len() < SIZES_MIN || !points.iter().all(is_point) {
        return None;
    }
    let law = UslCoefficients::through(points)?;
    let (kappas, peaks) = bootstrap(points, &law, most, seed);
    let peak = law.peak(most);
    Some(Usl {
        lambda: 1.0 / law.0[0],
        sigma: law.0[1] / law.0[0],
        kappa: law.kappa(most),
        peak,
        peak_interval: central_95_percent(peaks).filter(|[_, high]| peak.is_some() && high.is_finite()),
        kappa_interval: central_95_percent(kappas)?,
        is_extrapolated: peak.is_some_and(|peak| peak > most),
    })
}

/// Coefficients of N ÷ X(N) as a sum of 1, N − 1, and N(N − 1), in which the law is linear.
#[derive(Clone, Copy, Debug)]
struct UslCoefficients([f64; 3]);

fn factors(users: f64) -> [f64; 3] {
    [1.0, users - 1.0, users * (users - 1.0)]
}

impl UslCoefficients {
    fn cost(&self, users: f64) -> f64 {
        factors(users).iter().zip(self.0).map(|(factor, part)| factor * part).sum()
    }

    /// Returns the distance of a point above the law, as a difference of logarithms.
    fn residual(&self, (users, per_s): (f64, f64)) -> f64 {
        log(per_s) - log(users / self.cost(users))
    }

    fn squares(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|point| self.residual(*point)).map(|residual| residual * residual).sum()
    }

    /// Fits the logarithms by least squares, with Gauss–Newton steps and non-negative coefficients. The first step weights the points by
    /// relative error.
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let scaled =
            |(users, per_s): &(f64, f64)| (factors(*users).map(|factor| factor * per_s / users), 1.0);
        let mut law = Self(non_negative::fit(&points.iter().map(scaled).collect::<Vec<_>>())?);
        let mut least = law.squares(points);
        for _ in 0..STEPS_MAX {
            let step = |point: &(f64, f64)| {
                let cost = law.cost(point.0);
                (factors(point.0).map(|factor| factor / cost), 1.0 - law.residual(*point))
            };
            let rows: Vec<_> = points.iter().map(step).collect();
            let Some(next) = non_negative::fit(&rows).map(Self) else { break };
            let squares = next.squares(points);
            if squares.is_nan() || squares >= least * (1.0 - 1e-9) {
                break;
            }
            (law, least) = (next, squares);
        }
        least.is_finite().then_some(law)
    }

    fn kappa(&self, most: f64) -> f64 {
        let kappa = self.0[2] / self.0[0];
        let share = self.0[2] * factors(most)[2] / self.cost(most);
        if share > NEGLIGIBLE_KAPPA_SHARE { kappa } else { 0.0 }
    }

    /// Returns the peak √((1 − σ) ÷ κ), where the derivative of X is zero. 1 if throughput falls from the first user on, `None` if it never
    /// falls.
    fn peak(&self, most: f64) -> Option<f64> {
        let (sigma, kappa) = (self.0[1] / self.0[0], self.kappa(most));
        (kappa > 0.0).then(|| sqrt((1.0 - sigma).max(0.0) / kappa).max(1.0))
    }
}

/// Returns κ and the peak of each bootstrap sample, which has resampled residuals. The peak is infinite if throughput never falls.
fn bootstrap(points: &[(f64, f64)], law: &UslCoefficients, most: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut chance = Chance::of(seed);
    let count = points.len() as f64;
    let residuals: Vec<f64> = points.iter().map(|point| law.residual(*point)).collect();
    let mean = residuals.iter().sum::<f64>() / count;
    // Three coefficients absorb part of the residuals, and a small sample estimates its own spread poorly. Widens by the ratio of
    // the 97.5 % quantiles of Student's and the normal distribution.
    let freedom = (count - 3.0).max(1.0);
    let widened = sqrt(count / freedom) * (1.0 + 1.25 / freedom);
    let (mut kappas, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        let drawn: Vec<(f64, f64)> = points
            .iter()
            .map(|(users, _)| {
                let residual = (residuals[chance.below(residuals.len())] - mean) * widened;
                (*users, users / law.cost(*users) * exp(residual))
            })
            .collect();
        let Some(sample) = UslCoefficients::through(&drawn) else { continue };
        kappas.push(sample.kappa(most));
        peaks.push(sample.peak(most).unwrap_or(f64::INFINITY));
    }
    (kappas, peaks)
}

/// Returns the central 95 % of the samples. `None` without samples.
fn central_95_percent(mut samples: Vec<f64>) -> Option<[f64; 2]> {
    samples.sort_by(f64::total_cmp);
    let out = samples.len() / 40;
    Some([*samples.get(out)?, *samples.get(samples.len().checked_sub(out + 1)?)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(lambda: f64, sigma: f64, kappa: f64, sizes: &[f64]) -> Vec<(f64, f64)> {
        let per_s =
            |users: f64| lambda * users / (1.0 + sigma * (users - 1.0) + kappa * users * (users - 1.0));
        sizes.iter().map(|users| (*users, per_s(*users))).collect()
    }

    const SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    #[test]
    fn exact_points_recover_the_law() {
        let law = fit(&exact(1000.0, 0.05, 0.001, &SIZES), 1).unwrap();
        assert!((law.lambda / 1000.0 - 1.0).abs() < 1e-6, "{law:?}");
        assert!((law.sigma - 0.05).abs() < 1e-6 && (law.kappa - 0.001).abs() < 1e-8, "{law:?}");
        // √(0.95 ÷ 0.001) = 30.82, between the sizes that were tried.
        assert!(law.peak.is_some_and(|peak| (peak - 30.822).abs() < 0.01) && !law.is_extrapolated);
        let [low, high] = law.peak_interval.unwrap();
        assert!(low <= 30.83 && 30.82 <= high && high - low < 0.1, "{low} {high}");
    }

    #[test]
    fn peak_beyond_the_points_is_extrapolated() {
        let law = fit(&exact(1000.0, 0.05, 0.0001, &SIZES), 1).unwrap();
        assert!(law.is_extrapolated && law.peak.is_some_and(|peak| (peak - 97.47).abs() < 0.1), "{law:?}");
    }

    #[test]
    fn contention_alone_never_falls() {
        let law = fit(&exact(1000.0, 0.3, 0.0, &SIZES), 1).unwrap();
        assert_eq!((law.kappa, law.peak, law.peak_interval), (0.0, None, None));
        assert!((law.sigma - 0.3).abs() < 1e-6 && !law.is_extrapolated);
        // Superlinear growth would need a negative σ, so the fit is linear.
        let law = fit(&exact(1000.0, -0.001, 0.0, &SIZES), 1).unwrap();
        assert_eq!((law.sigma, law.kappa), (0.0, 0.0));
    }

    #[test]
    fn falling_from_the_first_user_peaks_at_one() {
        let points: Vec<_> = SIZES.iter().map(|users| (*users, 500.0 / users)).collect();
        let law = fit(&points, 1).unwrap();
        assert_eq!(law.peak, Some(1.0));
    }

    #[test]
    fn too_few_sizes_and_invalid_points_have_no_fit() {
        assert_eq!(fit(&exact(1000.0, 0.05, 0.001, &SIZES[..5]), 1), None);
        assert_eq!(fit(&[], 1), None);
        for bad in [
            (0.0, 5.0),
            (f64::NAN, 5.0),
            (3.0, 0.0),
            (3.0, f64::NAN),
            (3.0, f64::INFINITY),
            (f64::INFINITY, 1.0),
        ] {
            let mut points = exact(1000.0, 0.05, 0.001, &SIZES);
            points.push(bad);
            assert_eq!(fit(&points, 1), None, "{bad:?}");
        }
    }
}
