//! Piecewise linear rate over time, and the inverse of its integral.

use alloc::vec::Vec;

/// Period in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Requests per second at the start; not negative.
    pub from_per_s: f64,
    /// Requests per second at the end; not negative.
    pub to_per_s: f64,
    /// Length of the segment; `u64::MAX` for no end.
    pub for_ns: u64,
}

impl Segment {
    fn requests(&self) -> f64 {
        (self.from_per_s + self.to_per_s) / 2.0 * seconds(self.for_ns)
    }

    /// Returns the time after the start of the segment, in seconds, at which the integral of the rate reaches `requests`.
    ///
    /// Solves `from·t + a·t²/2 = n` for slope a as `t = 2n / (from + √(from² + 2an))`. This form neither divides by a slope of zero
    /// nor subtracts nearly equal numbers.
    fn time_of(&self, requests: f64) -> f64 {
        if requests <= 0.0 {
            return 0.0;
        }
        let slope = (self.to_per_s - self.from_per_s) / seconds(self.for_ns);
        let under_root = self.from_per_s * self.from_per_s + 2.0 * slope * requests;
        2.0 * requests / (self.from_per_s + libm::sqrt(under_root.max(0.0)))
    }
}

/// Rate of an open load over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    segments: Vec<Segment>,
}

impl Profile {
    /// Creates a profile from segments in time order.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> Self {
        Self { segments: segments.into_iter().collect() }
    }

    /// Prepends a warm-up: holds the first rate for `for_ns` before the profile begins.
    pub fn with_warm_up(mut self, for_ns: u64) -> Self {
        let per_s = self.first_per_s();
        self.segments.insert(0, Segment { from_per_s: per_s, to_per_s: per_s, for_ns });
        self
    }

    /// Returns the rate at the beginning, after any jump there.
    pub fn first_per_s(&self) -> f64 {
        self.segments.iter().find(|segment| segment.for_ns > 0).map_or(0.0, |segment| segment.from_per_s)
    }

    /// Returns the segments in time order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the highest rate.
    pub fn peak_per_s(&self) -> f64 {
        self.segments.iter().flat_map(|segment| [segment.from_per_s, segment.to_per_s]).fold(0.0, f64::max)
    }

    /// Returns whether the rate never changes.
    pub fn is_constant(&self) -> bool {
        let first_per_s = self.first_per_s();
        let is_first = |part: &Segment| part.from_per_s == first_per_s && part.to_per_s == first_per_s;
        self.segments.iter().all(is_first)
    }

    /// Returns the time at which the integral of the rate reaches `place`, in nanoseconds since the load began. `None` if it never does.
    pub fn time_of(&self, place: f64) -> Option<u64> {
        let (mut start_ns, mut left) = (0u64, place);
        for segment in &self.segments {
            let requests = segment.requests();
            if left < requests {
                return Some(start_ns.saturating_add(libm::round(segment.time_of(left) * 1e9) as u64));
            }
            left -= requests;
            start_ns = start_ns.saturating_add(segment.for_ns);
        }
        None
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn send_times_ascend_and_stay_within_the_profile(
            rates in prop::collection::vec(0.0f64..1e6, 2..6),
            lengths in prop::collection::vec(0u64..100_000_000_000, 5),
        ) {
            let profile = Profile::new(rates.windows(2).zip(&lengths).map(|(pair, for_ns)| {
                Segment { from_per_s: pair[0], to_per_s: pair[1], for_ns: *for_ns }
            }));
            let total: f64 = profile.segments().iter().map(Segment::requests).sum();
            let end_ns: u64 = profile.segments().iter().map(|segment| segment.for_ns).sum();
            let mut last = 0;
            for step in 0..200 {
                let Some(at_ns) = profile.time_of(total * f64::from(step) / 200.0) else { continue };
                prop_assert!(at_ns >= last && at_ns <= end_ns);
                last = at_ns;
            }
            prop_assert_eq!(profile.time_of(total * 1.001 + 1.0), None);
        }
    }

    #[test]
    fn zero_rate_has_no_send_times() {
        let nothing = Segment { from_per_s: 0.0, to_per_s: 0.0, for_ns: 5 };
        assert_eq!(Profile::new([nothing]).time_of(0.0), None);
        assert_eq!(Profile::new([]).time_of(0.0), None);
    }

    #[test]
    fn warm_up_holds_the_first_rate() {
        let profile = Profile::ramp(10.0, 20.0, 1_000_000_000).with_warm_up(2_000_000_000);
        assert_eq!(profile.time_of(20.0), Some(2_000_000_000));
        assert_eq!(profile.time_of(19.0), Some(1_900_000_000));
    }
}
