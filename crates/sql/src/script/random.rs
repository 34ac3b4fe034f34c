//! Random numbers with non-uniform distributions, identical to pgbench and sysbench.
//!
//! Callers guarantee `min <= max`, and a span that fits into an `i64`.

mod hash;
mod permute;
mod zipf;

pub(crate) use hash::{fnv1a, murmur2};
pub(crate) use permute::permute;
pub(crate) use zipf::zipf;

use load::xoroshiro::Xoroshiro;

/// Draws from the uniform distribution.
pub(crate) fn uniform(random: &mut Xoroshiro, min: i64, max: i64) -> i64 {
    min.wrapping_add(random.range(0, max.wrapping_sub(min) as u64) as i64)
}

/// Draws from a truncated exponential distribution, which decays by e^−`parameter` over the span; `parameter` > 0.
pub(crate) fn exponential(random: &mut Xoroshiro, min: i64, max: i64, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - random.unit();
    let share = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    at_share(min, max, share)
}

/// Draws from a normal distribution truncated at `parameter` standard deviations from its center; `parameter` >= 2.
pub(crate) fn gaussian(random: &mut Xoroshiro, min: i64, max: i64, parameter: f64) -> i64 {
    let deviations = loop {
        let deviations = normal(random);
        if deviations >= -parameter && deviations < parameter {
            break deviations;
        }
    };
    at_share(min, max, (deviations + parameter) / (parameter * 2.0))
}

/// Draws from the standard normal distribution (Box–Muller transform, using one of the pair).
fn normal(random: &mut Xoroshiro) -> f64 {
    let (first, second) = (1.0 - random.unit(), 1.0 - random.unit());
    (-2.0 * first.ln()).sqrt() * (2.0 * std::f64::consts::PI * second).sin()
}

/// Draws from a Zipf distribution by rejection (L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, page 550);
/// 1.001 <= `exponent` <= 1000.
pub(crate) fn zipfian(random: &mut Xoroshiro, min: i64, max: i64, exponent: f64) -> i64 {
    let count = max.wrapping_sub(min).wrapping_add(1);
    if count <= 1 {
        return min;
    }
    let power = exponent - 1.0;
    let bound = 2.0_f64.powf(power);
    loop {
        let (u, v) = (random.unit(), random.unit());
        let x = u.powf(-1.0 / power).floor();
        let t = (1.0 + 1.0 / x).powf(power);
        if v * x * (t - 1.0) / (bound - 1.0) <= t / bound && x <= count as f64 {
            return min.wrapping_sub(1).wrapping_add(x as i64);
        }
    }
}

/// Draws like sysbench's `pareto`; 0 < `h` < 1.
pub(crate) fn pareto(random: &mut Xoroshiro, min: i64, max: i64, h: f64) -> i64 {
    at_share(min, max, random.unit().powf(h.ln() / (1.0 - h).ln()))
}

/// Draws like sysbench's `special` with its defaults: three quarters of all draws are uniform over the middle hundredth, the others
/// are the mean of twelve uniform draws.
pub(crate) fn special(random: &mut Xoroshiro, min: i64, max: i64) -> i64 {
    const EVEN_SHARE: f64 = 0.75;
    const MIDDLE_SHARE: f64 = 0.01;
    const DRAWS: u32 = 12;
    let span = max.wrapping_sub(min) as f64;
    let unit = random.unit();
    let offset = if unit / (1.0 - EVEN_SHARE) < 1.0 {
        (0..DRAWS).map(|_| random.unit()).sum::<f64>() * span / f64::from(DRAWS)
    } else {
        unit * (span * MIDDLE_SHARE + 1.0) + span / 2.0 - span * MIDDLE_SHARE / 2.0
    };
    min.wrapping_add(offset as i64).clamp(min, max)
}

/// Number at a share of the span: 0 gives the first, and just under 1 the last.
fn at_share(min: i64, max: i64, share: f64) -> i64 {
    let count = max.wrapping_sub(min).wrapping_add(1) as f64;
    min.wrapping_add((count * share) as i64).clamp(min, max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_match_pgbench_regression_tests() {
        // pgbench's own regression test of its functions, seed 5432, client 0.
        let mut random = Xoroshiro::seed(Xoroshiro::seed(5432).draw());
        assert_eq!(uniform(&mut random, 10, 19), 17);
        assert_eq!(exponential(&mut random, 100, 199, 10.0), 104);
        assert_eq!(gaussian(&mut random, 1000, 1999, 10.0), 1498);
        assert_eq!(zipfian(&mut random, 1, 9, 1.3), 3);
    }

    fn shares<const N: usize>(mut draw: impl FnMut(&mut Xoroshiro) -> i64) -> [f64; N] {
        const DRAWS: u32 = 200_000;
        let mut random = Xoroshiro::seed(11);
        let mut counts = [0_u32; N];
        (0..DRAWS).for_each(|_| counts[draw(&mut random) as usize] += 1);
        counts.map(|count| f64::from(count) / f64::from(DRAWS))
    }

    #[test]
    fn distributions_have_their_documented_shapes() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.006, "{a} is not near {b}");
        // f(i) − f(i + 1) with f(x) = exp(−p·x/n) / (1 − exp(−p))
        let decay = shares::<10>(|random| exponential(random, 0, 9, 3.0));
        for (i, share) in decay.into_iter().enumerate() {
            let f = |x: f64| (-3.0 * x / 10.0).exp() / (1.0 - (-3.0_f64).exp());
            near(share, f(i as f64) - f(i as f64 + 1.0));
        }
        // About two thirds of the draws lie within 1/parameter of the half-span around the center.
        let bell = shares::<100>(|random| gaussian(random, 0, 99, 4.0));
        near(bell[37..63].iter().sum(), 0.702);
        // P(k) / P(k + 1) = ((k + 1) / k)^s
        let law = shares::<50>(|random| zipfian(random, 0, 49, 2.0));
        near(law[0] / law[1], 4.0 - (4.0 - law[0] / law[1]).clamp(-0.1, 0.1));
        let whole: f64 = (1..=50).map(|k| f64::from(k).powi(-2)).sum();
        near(law[0], 1.0 / whole);
        // A share 1 − h of all draws goes to the first share h.
        let even = shares::<100>(|random| pareto(random, 0, 99, 0.2));
        near(even[..20].iter().sum(), 0.8);
        near(even[..4].iter().sum(), 0.64);
        // 0.75 of all draws go to the middle hundredth.
        let special = shares::<1001>(|random| special(random, 0, 1000));
        let middle: f64 = special[490..=510].iter().sum();
        assert!((0.75..0.80).contains(&middle), "{middle}");
    }

    #[test]
    fn extreme_spans_stay_within_bounds() {
        let mut random = Xoroshiro::seed(1);
        for (min, max) in [(i64::MIN, -2), (0, i64::MAX - 1), (-5, -5), (i64::MAX - 1, i64::MAX)] {
            for _ in 0..200 {
                let drawn = [
                    uniform(&mut random, min, max),
                    exponential(&mut random, min, max, 1e-9),
                    exponential(&mut random, min, max, 700.0),
                    gaussian(&mut random, min, max, 2.0),
                    zipfian(&mut random, min, max, 1.5),
                    pareto(&mut random, min, max, 0.2),
                    special(&mut random, min, max),
                ];
                assert!(drawn.iter().all(|value| (min..=max).contains(value)), "{min}..{max}: {drawn:?}");
            }
        }
    }
}
