//! Open model: requests start at scheduled times, however slowly the system responds.

mod constant;
mod even;
mod poisson;
mod process;
mod profile;
mod ramp;
mod stages;

pub use even::EVEN;
pub use poisson::POISSON;
pub use process::{PROCESSES, Places, Process};
pub use profile::{Profile, Segment};
pub use stages::Stage;

use crate::schedule::{Arrivals, Schedule};
use crate::share::Share;

/// Open load.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Scheduled send times.
    pub schedule: Schedule,
    /// Number of connections that share the requests.
    pub connections: u32,
    /// Delay after its scheduled time at which a request that could not start is dropped and counted as not sent. `None` to send
    /// every request, however late.
    pub shed_after_ns: Option<u64>,
}

impl Open {
    /// Returns the send times of one worker: every `share.of`-th of all send times.
    pub fn arrivals(&self, share: Share) -> Arrivals {
        self.schedule.arrivals(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Spacing;
    use alloc::vec::Vec;

    fn open(profile: Profile, spacing: Spacing) -> Open {
        Open { schedule: Schedule::Rate(profile, spacing), connections: 1, shed_after_ns: None }
    }

    #[test]
    fn even_arrivals_start_at_zero_with_equal_gaps() {
        let load = open(Profile::constant(1_000.0), Spacing::EVEN);
        let instants: Vec<u64> = load.arrivals(Share::WHOLE).take(4).collect();
        assert_eq!(instants, [0, 1_000_000, 2_000_000, 3_000_000]);
        let millionth = load.arrivals(Share::WHOLE).nth(1_000_000);
        assert_eq!(millionth, Some(1_000_000_000_000), "no drift");
    }

    #[test]
    fn workers_partition_the_arrivals() {
        for process in PROCESSES {
            let spacing = Spacing { process, seed: 5 };
            let load = open(Profile::constant(500.0), spacing);
            let whole: Vec<u64> = load.arrivals(Share::WHOLE).take(300).collect();
            let mut merged: Vec<u64> =
                (0..3).flat_map(|index| load.arrivals(Share { index, of: 3 }).take(100)).collect();
            merged.sort_unstable();
            assert_eq!(whole, merged);
        }
    }

    #[test]
    fn arrivals_depend_on_the_seed_alone() {
        let first = |seed| -> Vec<u64> {
            open(Profile::constant(100.0), Spacing::poisson(seed)).arrivals(Share::WHOLE).take(50).collect()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_right_mean() {
        let load = open(Profile::constant(1_000.0), Spacing::poisson(11));
        let instants: Vec<u64> = load.arrivals(Share::WHOLE).take(100_001).collect();
        let gaps: Vec<f64> = instants.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "mean gap {mean} ms");
        let longer_than_mean = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / gaps.len() as f64;
        // P(gap > mean) = 1/e; the standard error is 0.0015.
        assert!((longer_than_mean - 0.3679).abs() < 0.01, "{longer_than_mean}");
    }

    #[test]
    fn arrivals_end_with_the_profile() {
        let profile = Profile::stages(0.0, &[Stage { to_per_s: 10.0, for_ns: 10_000_000_000 }]);
        assert_eq!(open(profile, Spacing::EVEN).arrivals(Share::WHOLE).count(), 50);
    }
}
