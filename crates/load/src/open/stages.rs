//! Staged rate: consecutive linear ramps.

use super::profile::{Profile, Segment};

/// Ramp of a staged rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Rate at the end. A jump is a stage of length 0.
    pub to_per_s: f64,
    /// Length of the stage.
    pub for_ns: u64,
}

impl Profile {
    /// Creates a profile that starts at `from_per_s`, runs through all stages, and ends with the last one.
    pub fn stages(from_per_s: f64, stages: &[Stage]) -> Self {
        let mut from_per_s = from_per_s;
        Self::new(stages.iter().map(|stage| {
            let segment = Segment { from_per_s, to_per_s: stage.to_per_s, for_ns: stage.for_ns };
            from_per_s = stage.to_per_s;
            segment
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_join_end_to_start() {
        let second = 1_000_000_000;
        let profile = Profile::stages(
            10.0,
            &[
                Stage { to_per_s: 10.0, for_ns: second },
                Stage { to_per_s: 100.0, for_ns: 0 },
                Stage { to_per_s: 100.0, for_ns: second },
            ],
        );
        assert_eq!(profile.time_of(9.0), Some(900_000_000));
        assert_eq!(profile.time_of(10.0), Some(second));
        assert_eq!(profile.time_of(11.0), Some(1_010_000_000));
        assert_eq!(profile.time_of(110.0), None);
    }
}
