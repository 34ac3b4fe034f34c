//! Rate at which threads are read, so that its cost stays within a share of a core.

use std::time::Duration;

/// Share of a core for reading and listing threads before the cost of everything else is known.
const FIRST_SHARE: f64 = 0.008;
/// Part of that share for listing threads.
const LISTING_PART: f64 = 0.25;
/// Max and min number of samples per second.
const RATES_PER_S: [f64; 2] = [20.0, 2.0];
/// Min time between two listings of threads.
const LISTING_MIN: Duration = Duration::from_millis(200);
/// Estimated cost of reading a thread, before it is measured. The first reading opens its files.
const FIRST_GUESS_S: f64 = 50e-6;
/// Weights of a new measurement in the moving average of the cost: below the average, and above it.
const WEIGHTS: [f64; 2] = [0.2, 0.5];

#[derive(Debug)]
pub(crate) struct Pace {
    /// Share of a core that reading and listing threads may cost.
    pub(crate) share: f64,
    thread_s: f64,
    listing: Duration,
    /// State of the pseudorandom number generator.
    state: u64,
}

/// Plan of one sample: time until the next one, and number of threads to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SamplePlan {
    pub(crate) interval: Duration,
    pub(crate) threads: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { share: FIRST_SHARE, thread_s: FIRST_GUESS_S, listing: Duration::ZERO, state: 1 }
    }
}

impl Pace {
    /// Records the CPU time of reading `threads` threads.
    pub(crate) fn note(&mut self, threads: usize, cost: Duration) {
        if threads > 0 {
            let each_s = cost.as_secs_f64() / threads as f64;
            let [below, above] = WEIGHTS;
            let weight = if each_s > self.thread_s { above } else { below };
            self.thread_s += weight * (each_s - self.thread_s);
        }
    }

    /// Records the CPU time of listing all threads.
    pub(crate) fn note_listing(&mut self, cost: Duration) {
        self.listing = cost;
    }

    /// Whether threads may be listed again.
    pub(crate) fn is_listing_due(&self, since: Duration) -> bool {
        since >= LISTING_MIN && since.as_secs_f64() * LISTING_PART * self.share >= self.listing.as_secs_f64()
    }

    /// Plans all threads 20 times a second if that is cheap, down to twice a second, and then only a part of the threads.
    pub(crate) fn plan(&self, threads: usize) -> SamplePlan {
        let affordable_per_s = self.share * (1.0 - LISTING_PART) / self.thread_s.max(1e-9);
        let [most, least] = RATES_PER_S;
        let rate = (affordable_per_s / threads.max(1) as f64).clamp(least, most);
        let some = (affordable_per_s / rate).max(1.0) as usize;
        SamplePlan { interval: Duration::from_secs_f64(1.0 / rate), threads: threads.min(some) }
    }

    /// Varies an interval by up to a fifth, so that sampling does not align with periodic activity.
    pub(crate) fn jittered(&mut self, interval: Duration) -> Duration {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.state >> 40) as f64 / (1_u64 << 24) as f64;
        interval.mul_f64(0.8 + 0.4 * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(thread_us: f64) -> Pace {
        Pace { thread_s: thread_us * 1e-6, ..Pace::default() }
    }

    #[test]
    fn rate_falls_with_the_number_of_threads_before_the_share_read_does() {
        let plan = |thread_us, threads| {
            let SamplePlan { interval, threads } = paced(thread_us).plan(threads);
            (interval.as_millis(), threads)
        };
        assert_eq!(plan(10.0, 0), (50, 0));
        assert_eq!(plan(10.0, 4), (50, 4));
        assert_eq!(plan(10.0, 30), (50, 30));
        assert_eq!(plan(10.0, 100), (166, 100));
        assert_eq!(plan(10.0, 300), (500, 300));
        assert_eq!(plan(10.0, 10_000), (500, 300));
    }

    #[test]
    fn no_number_of_threads_exceeds_the_share() {
        let most = FIRST_SHARE * (1.0 - LISTING_PART);
        for thread_us in [0.1, 3.0, 10.0, 200.0] {
            for threads in [1, 4, 64, 1_000, 10_000] {
                let plan = paced(thread_us).plan(threads);
                let cost = plan.threads as f64 * thread_us * 1e-6 / plan.interval.as_secs_f64();
                assert!(cost <= most * 1.01, "{thread_us} {threads}: {cost}");
            }
        }
    }

    #[test]
    fn cost_of_reading_is_learned() {
        let mut pace = Pace::default();
        (0..40).for_each(|_| pace.note(10, Duration::from_micros(30)));
        assert!((pace.thread_s - 3e-6).abs() < 0.1e-6, "{pace:?}");
        pace.note(0, Duration::from_secs(1));
        assert!(pace.thread_s < 4e-6);
    }

    #[test]
    fn expensive_listings_are_rare() {
        let mut pace = Pace::default();
        assert!(!pace.is_listing_due(Duration::from_millis(100)));
        assert!(pace.is_listing_due(Duration::from_millis(200)));
        pace.note_listing(Duration::from_millis(2));
        assert!(!pace.is_listing_due(Duration::from_millis(900)));
        assert!(pace.is_listing_due(Duration::from_millis(1_000)));
    }

    #[test]
    fn intervals_vary_by_a_fifth() {
        let mut pace = Pace::default();
        let drawn: Vec<u128> =
            (0..1_000).map(|_| pace.jittered(Duration::from_millis(50)).as_micros()).collect();
        assert!(drawn.iter().all(|us| (40_000..=60_000).contains(us)));
        assert!(drawn.iter().any(|us| *us < 42_000) && drawn.iter().any(|us| *us > 58_000));
    }
}
