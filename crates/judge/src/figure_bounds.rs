//! Bounds of figures: limits of the shift of each figure, in either direction, by the generator's own delay and by
//! sampling error.

use evidence::{Bounds, GeneratorEffect};
use record::{Histogram, PRINTED, Percentile};
use stats::{Bounded, Spread, quantile_ranks};

/// Probability that one end of the bounds of a percentile lies on the wrong side of it. Both ends together: 95 %
/// confidence.
pub const QUANTILE_ERROR: f64 = 0.025;

/// Returns a figure with its bounds, or as exact if it has none.
pub(crate) fn bounded(value: f64, bounds: Option<Bounds>) -> Bounded {
    bounds.map_or(Bounded::exactly(value), |bounds| Bounded::within(value, [bounds.low(), bounds.high()]))
}

/// Returns the bounds of a percentile of the system's response times, of which `response` is a sample, in nanoseconds.
/// Requests that were never sent waited longer than any other. `None` without requests.
pub fn percentile_in_sample(
    percentile: Percentile,
    response: &Histogram,
    not_sent: u64,
    effect: Option<&GeneratorEffect>,
) -> Option<Bounds> {
    let samples = response.count().checked_add(not_sent)?;
    let ranks = quantile_ranks(samples, percentile.ppm(), QUANTILE_ERROR);
    let low_ns = ranks.low.map_or(0.0, |rank| lower_bound_ns(response, rank, effect));
    // A rank beyond the sent requests has no bound.
    let high_ns = ranks.high.and_then(|rank| response.bounds_at_rank(rank));
    let high_ns = high_ns.map_or(f64::INFINITY, |(_, highest_ns)| highest_ns as f64);
    (!response.is_empty()).then(|| Bounds::new(low_ns.min(high_ns), high_ns)).flatten()
}

/// Returns the bounds of a percentile of exactly these response times, without sampling error, in nanoseconds. `None`
/// without requests.
pub fn percentile(
    percentile: Percentile,
    response: &Histogram,
    effect: Option<&GeneratorEffect>,
) -> Option<Bounds> {
    let rank = percentile.rank(response.count())?;
    let (_, highest_ns) = response.bounds_at_rank(rank)?;
    Bounds::new(lower_bound_ns(response, rank, effect).min(highest_ns as f64), highest_ns as f64)
}

/// Returns the bounds of the mean of these response times, in nanoseconds. `None` without requests.
pub fn mean(response: &Histogram, effect: Option<&GeneratorEffect>) -> Option<Bounds> {
    let mean_ns = response.mean_ns()?;
    let Some(effect) = effect else { return Bounds::exactly(mean_ns) };
    let requests = response.count() as f64;
    let disturbed = effect.disturbed_share * requests;
    let low_ns = mean_ns - (effect.delay_ns + slowest_ns(response, disturbed)) / requests;
    Bounds::new(low_ns.clamp(0.0, mean_ns), mean_ns)
}

/// Bounds of response times by the generator's effect, without sampling error, in nanoseconds. `None` without requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseBounds {
    /// Bounds of the mean.
    pub mean: Option<Bounds>,
    /// Bounds of percentiles, in the order of [`PRINTED`].
    pub percentiles: [Option<Bounds>; PRINTED.len()],
    /// Bounds of the longest response time.
    pub max: Option<Bounds>,
}

impl ResponseBounds {
    /// Returns the bounds for all response times in a histogram.
    pub fn of(response: &Histogram, effect: &GeneratorEffect) -> Self {
        Self {
            mean: mean(response, Some(effect)),
            percentiles: std::array::from_fn(|place| percentile(PRINTED[place], response, Some(effect))),
            max: percentile(Percentile::MAX, response, Some(effect)),
        }
    }

    /// Returns the bounds of a printed percentile; `None` if it is unknown.
    pub fn at(&self, wanted: Percentile) -> Option<Bounds> {
        PRINTED.iter().zip(self.percentiles).find(|(percentile, _)| **percentile == wanted)?.1
    }
}

/// Returns the bounds of a throughput, in any unit per second.
pub fn throughput(per_s: f64, effect: Option<&GeneratorEffect>) -> Option<Bounds> {
    let Some(effect) = effect else { return Bounds::exactly(per_s) };
    let rest = 1.0 - effect.missing_share;
    let high = match effect.is_at_limit || rest <= 0.0 {
        true => f64::INFINITY,
        false => per_s * (1.0 + effect.moved_share) / rest,
    };
    Bounds::new(per_s * (1.0 - effect.moved_share), high)
}

/// Returns the median of figures with bounds, and its own bounds, which are the medians of their ends. `None` without
/// figures.
pub fn median(figures: &[(f64, Bounds)]) -> Option<(f64, Bounds)> {
    let over = |end: fn(&(f64, Bounds)) -> f64| Some(Spread::with_infinite(figures.iter().map(end))?.median);
    let bounds = Bounds::new(over(|(_, bounds)| bounds.low())?, over(|(_, bounds)| bounds.high())?)?;
    Some((over(|(figure, _)| *figure)?, bounds))
}

/// Returns the sum of the slowest `count` response times.
fn slowest_ns(response: &Histogram, count: f64) -> f64 {
    let counters: Vec<(u64, u64)> = response.counters().collect();
    let (mut left, mut sum_ns) = (count, 0.0);
    for (value_ns, count) in counters.into_iter().rev() {
        let taken = left.min(count as f64);
        sum_ns += taken * value_ns as f64;
        left -= taken;
        if left <= 0.0 {
            break;
        }
    }
    sum_ns
}

/// Returns a lower bound of a rank's sample without the generator's delays, in nanoseconds. Disturbed requests may all
/// have been answered at once. Of the others, few have long delays: if at most *n* were delayed by more than *d*, the
/// sample of a rank is not below the sample *n* ranks lower, minus *d* (Makarov's bound). All delays together cannot
/// exceed their sum either, even if they all affect the samples just below the rank, where they lower it most.
fn lower_bound_ns(response: &Histogram, rank: u64, effect: Option<&GeneratorEffect>) -> f64 {
    let edge_of = |rank| response.bounds_at_rank(rank).map_or(0.0, |(lowest_ns, _)| lowest_ns as f64);
    let Some(effect) = effect else { return edge_of(rank) };
    let disturbed = (effect.disturbed_share * response.count() as f64).ceil() as u64;
    let Some(rank) = rank.checked_sub(disturbed).filter(|rank| *rank > 0) else { return 0.0 };
    let by_number = effect.long_delays.iter().flatten().filter_map(|long| {
        // Other requests were delayed by at most this time.
        let lower = rank.checked_sub(long.requests.ceil() as u64).filter(|lower| *lower > 0)?;
        Some(edge_of(lower) - long.longer_than_ns)
    });
    by_number.fold(lower_bound_by_sum_ns(response, rank, effect.delay_ns), f64::max).min(edge_of(rank))
}

/// Returns the smallest value from which delays with this sum can have raised the sample of a rank, in nanoseconds.
fn lower_bound_by_sum_ns(response: &Histogram, rank: u64, delay_ns: f64) -> f64 {
    let edge_of = |rank| response.bounds_at_rank(rank).map_or(0.0, |(lowest_ns, _)| lowest_ns as f64);
    // Counters up to the rank, the last one cut at it.
    let mut counters: Vec<(f64, f64)> = Vec::new();
    let mut left = rank;
    for (value_ns, count) in response.counters() {
        counters.push((value_ns as f64, count.min(left) as f64));
        left = left.saturating_sub(count);
        if left == 0 {
            break;
        }
    }
    // To lower the sample of the rank to a value, every sample above that value must come down to it.
    let (mut samples, mut sum_ns) = (0.0, 0.0);
    while let Some((value_ns, count)) = counters.pop() {
        samples += count;
        sum_ns += count * value_ns;
        let lowest_ns = (sum_ns - delay_ns) / samples;
        let next_ns = counters.last().map_or(0.0, |(next_ns, _)| *next_ns);
        if lowest_ns >= next_ns {
            return lowest_ns.min(edge_of(rank)).max(0.0);
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::LongDelays;

    fn histogram(samples_ns: &[u64]) -> Histogram {
        let mut response = Histogram::default();
        samples_ns.iter().for_each(|ns| response.record(*ns));
        response
    }

    fn effect(delay_ns: f64, disturbed_share: f64) -> GeneratorEffect {
        GeneratorEffect { delay_ns, disturbed_share, ..GeneratorEffect::default() }
    }

    /// Draws response times, adds delays to some of them, and checks that the bounds contain the undelayed figures.
    #[test]
    fn bounds_contain_the_figures_without_the_delay() {
        let mut seed = 7_u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for case in 0..400 {
            let count = 20 + draw(300);
            let true_ns: Vec<u64> = (0..count).map(|_| 100_000 + draw(2_000_000)).collect();
            let one_in = 1 + draw(20);
            let delays: Vec<u64> =
                (0..count).map(|_| if draw(one_in) == 0 { draw(5_000_000) } else { 0 }).collect();
            let measured_ns: Vec<u64> = true_ns.iter().zip(&delays).map(|(ns, delay)| ns + delay).collect();
            let (truth, measured) = (histogram(&true_ns), histogram(&measured_ns));
            let delay_ns = delays.iter().sum::<u64>() as f64 * 1.001;
            let effect = effect(delay_ns, 0.0);
            for ppm in [500_000, 900_000, 990_000, 1_000_000] {
                let of = Percentile::from_ppm(ppm).unwrap();
                let bounds = percentile(of, &measured, Some(&effect)).unwrap();
                let exact = truth.value_at(of).unwrap() as f64;
                assert!(
                    bounds.low() <= exact * 1.001 && exact <= bounds.high() * 1.001,
                    "{case} {ppm}: {exact} {bounds:?}"
                );
            }
            let of_mean = mean(&measured, Some(&effect)).unwrap();
            let exact = truth.mean_ns().unwrap();
            assert!(of_mean.low() <= exact && exact <= of_mean.high(), "{case}: {exact} {of_mean:?}");
        }
    }

    /// Adds many short delays and a few long ones to response times between 1 and 3 ms.
    #[test]
    fn distribution_of_delays_gives_tighter_bounds_that_contain_the_figures() {
        let count = 10_000;
        let true_ns: Vec<u64> = (0..count).map(|number| 1_000_000 + number * 200).collect();
        // Every hundredth request is delayed by 4 ms, the others by 20 µs.
        let delay_ns = |number: u64| if number.is_multiple_of(100) { 4_000_000 } else { 20_000 };
        let measured_ns: Vec<u64> = (0..).zip(&true_ns).map(|(number, ns)| ns + delay_ns(number)).collect();
        let (truth, measured) = (histogram(&true_ns), histogram(&measured_ns));
        let sum = effect((0..count).map(delay_ns).sum::<u64>() as f64, 0.0);
        let long = |requests, longer_than_ns| LongDelays { requests, longer_than_ns };
        let most = long(count as f64, 0.0);
        let long_delays = Some([most, most, long(100.0, 20_000.0), most, most, long(0.0, 4_000_000.0)]);
        let by_number = GeneratorEffect { long_delays, ..sum };
        for ppm in [100_000, 500_000, 900_000, 990_000, 1_000_000] {
            let of = Percentile::from_ppm(ppm).unwrap();
            let low_ns = |effect| percentile(of, &measured, Some(&effect)).unwrap().low();
            let exact_ns = truth.value_at(of).unwrap() as f64;
            assert!(low_ns(by_number) <= exact_ns * 1.001, "{ppm}: {} {exact_ns}", low_ns(by_number));
            assert!(low_ns(by_number) >= low_ns(sum), "{ppm}");
        }
        let width = |effect| {
            let bounds = percentile(Percentile::P50, &measured, Some(&effect)).unwrap();
            1.0 - bounds.low() / bounds.high()
        };
        assert!(width(by_number) < 0.025 && width(sum) > 0.1, "{} {}", width(by_number), width(sum));
    }

    #[test]
    fn lowest_percentile_takes_the_delay_from_as_few_samples_as_possible() {
        let response = histogram(&[100, 200, 300, 400, 500]);
        let low =
            |delay_ns| percentile(Percentile::P50, &response, Some(&effect(delay_ns, 0.0))).unwrap().low();
        assert_eq!([0.0, 50.0, 100.0, 300.0, 600.0, 900.0].map(low), [300.0, 250.0, 200.0, 100.0, 0.0, 0.0]);
        let disturbed = percentile(Percentile::P50, &response, Some(&effect(0.0, 0.2))).unwrap();
        assert_eq!((disturbed.low(), disturbed.high()), (200.0, 300.0));
        assert_eq!(mean(&response, Some(&effect(0.0, 0.2))).unwrap().low(), 200.0);
    }

    #[test]
    fn closed_load_can_only_have_lost_throughput_and_open_load_moved_it() {
        let of = |effect: GeneratorEffect| {
            let bounds = throughput(900.0, Some(&effect)).unwrap();
            (bounds.low(), bounds.high())
        };
        let none = GeneratorEffect::default();
        assert_eq!(of(none), (900.0, 900.0));
        assert_eq!(of(GeneratorEffect { missing_share: 0.1, ..none }), (900.0, 1_000.0));
        assert_eq!(of(GeneratorEffect { missing_share: 1.0, ..none }), (900.0, f64::INFINITY));
        assert_eq!(of(GeneratorEffect { is_at_limit: true, ..none }), (900.0, f64::INFINITY));
        assert_eq!(of(GeneratorEffect { moved_share: 0.1, ..none }), (810.0, 990.0000000000001));
    }

    #[test]
    fn median_lies_between_the_medians_of_the_bounds() {
        let of = |low, figure, high| (figure, Bounds::new(low, high).unwrap());
        let three = [of(9.0, 10.0, 12.0), of(20.0, 20.0, f64::INFINITY), of(1.0, 30.0, f64::INFINITY)];
        let (figure, bounds) = median(&three).unwrap();
        assert_eq!((figure, bounds.low(), bounds.high()), (20.0, 9.0, f64::INFINITY));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn requests_that_were_never_sent_lie_above_every_percentile() {
        let response = histogram(&(0..1_000).map(|sample| 1_000_000 + sample).collect::<Vec<_>>());
        let high =
            |not_sent| percentile_in_sample(Percentile::P99, &response, not_sent, None).unwrap().high();
        assert!(high(0) < 1.1e6);
        assert_eq!(high(30), f64::INFINITY);
    }
}
