//! A rate that grows or falls in a straight line.

use super::profile::{Profile, Segment};

impl Profile {
    /// From one rate to another within `for_ns`; it ends there.
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
    fn a_ramp_sends_the_area_under_its_line() {
        let arrivals = |from, to| {
            let profile = Profile::ramp(from, to, 10_000_000_000);
            Schedule::Rate(profile, Spacing::EVEN).arrivals(Share::WHOLE)
        };
        // (100 + 300) / 2 × 10 s = 2,000, of which the first half of the time gets (100 + 200) / 2 × 5 = 750.
        assert_eq!(arrivals(100.0, 300.0).count(), 2_000);
        assert_eq!(arrivals(100.0, 300.0).filter(|at_ns| *at_ns < 5_000_000_000).count(), 750);
        assert_eq!(arrivals(300.0, 100.0).filter(|at_ns| *at_ns < 5_000_000_000).count(), 1_250);
    }
}
