//! Linear ramp of the rate.

use super::profile::{Profile, Segment};

impl Profile {
    /// Creates a profile whose rate changes linearly within `for_ns`, and that ends there.
    pub fn ramp(from_per_s: f64, to_per_s: f64, for_ns: u64) -> Self {
        Self::new([Segment { from_per_s, to_per_s, for_ns }])
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Schedule, Spacing};
    use crate::share::Share;

    use super::*;

    #[test]
    fn ramp_sends_the_area_under_its_line() {
        let arrivals = |from, to| {
            let profile = Profile::ramp(from, to, 10_000_000_000);
            Schedule::Rate(profile, Spacing::EVEN).arrivals(Share::WHOLE)
        };
        // (100 + 300) / 2 × 10 s = 2,000. The first half of the time gets (100 + 200) / 2 × 5 = 750 of them.
        assert_eq!(arrivals(100.0, 300.0).count(), 2_000);
        assert_eq!(arrivals(100.0, 300.0).filter(|at_ns| *at_ns < 5_000_000_000).count(), 750);
        assert_eq!(arrivals(300.0, 100.0).filter(|at_ns| *at_ns < 5_000_000_000).count(), 1_250);
    }
}
