//! Comparisons on a grid of planted differences and machines: counts right, wrong, and undecided results.

use stats::{DuelRules, MinEffect};

use super::interleaved::{Disturbed, Figure, Interleaved, LoadSchedule, Neighbor, OwnDelay, run_duels};

/// Smallest difference that matters in these comparisons, as a share.
const MIN_EFFECT: f64 = 0.03;
/// Max duration of a quick result, in seconds, with a margin for rounding errors in sums of durations.
const QUICK_S: f64 = 60.0 + 1e-6;

/// A machine on which two systems are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Name in tables.
    pub name: &'static str,
    neighbors: usize,
    /// Maximum share that the generator may take from a run. `None` if it takes nothing.
    own_delay: Option<f64>,
}

/// Machines of the grid.
pub const MACHINES: [Machine; 4] = [
    Machine { name: "quiet", neighbors: 0, own_delay: None },
    Machine { name: "one busy neighbor", neighbors: 1, own_delay: None },
    Machine { name: "two busy neighbors", neighbors: 2, own_delay: None },
    Machine { name: "generator on the system's core", neighbors: 0, own_delay: Some(0.04) },
];

/// Arrangement of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadArrangement {
    /// Slices of systems that stay up.
    Slices,
    /// Whole runs in blocks.
    Blocks,
}

/// Cell of the grid.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Machine on which the systems are compared.
    pub machine: Machine,
    /// Figure by which the systems are compared.
    pub figure: Figure,
    /// Share by which the figure of A exceeds that of B.
    pub planted: f64,
    /// Arrangement of the load.
    pub way: LoadArrangement,
}

/// Results of the comparisons of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    /// Verdicts of a difference in the planted direction, or of equivalence if the planted difference is below the threshold.
    pub right: u32,
    /// Right verdicts within a minute.
    pub right_within_60_s: u32,
    /// Verdicts of a difference that does not exist or has the other direction, or of equivalence if the planted difference exceeds
    /// the threshold.
    pub wrong: u32,
    /// Comparisons without a verdict.
    pub undecided: u32,
    /// Median and 90th percentile of the duration, in seconds.
    pub seconds: [f64; 2],
}

impl Cell {
    /// Runs `count` comparisons of up to 24 blocks.
    pub fn compare(&self, seed: u64, count: u32) -> Answers {
        let found = run_duels(&self.trial(), seed, count);
        let is_equal = self.planted <= MIN_EFFECT;
        let [right, wrong_equivalence] = match is_equal {
            true => [found.differs - found.wrong + found.equivalent, 0],
            false => [found.differs - found.wrong, found.equivalent],
        };
        let wrong = found.wrong + wrong_equivalence;
        Answers {
            right,
            right_within_60_s: found.right_until(QUICK_S, is_equal),
            wrong,
            undecided: count - right - wrong,
            seconds: [0.5, 0.9].map(|share| found.seconds_at(share)),
        }
    }

    fn trial(&self) -> Interleaved {
        let Machine { neighbors, own_delay, .. } = self.machine;
        // Variation of a quiet machine: 0.5 % between starts, and 2 % in a second of load.
        let neighbor = (neighbors > 0).then_some(Neighbor { count: neighbors, mean_s: 1.0, leaves: 0.6 });
        let generator = own_delay.map(|most| OwnDelay { most: [most; 2] });
        let disturbed = Disturbed { neighbor, generator, ..Disturbed::normal(0.005, 0.02) };
        let made = match self.way {
            LoadArrangement::Slices => {
                LoadSchedule::InSlices { warm_up_s: 1.0, settle_s: 0.25, slice_s: 1.0, pairs_most: 8 }
            }
            LoadArrangement::Blocks => LoadSchedule::InRuns { warm_up_s: 1.0, measured_s: 8.0 },
        };
        let rules = DuelRules {
            matters: MinEffect::share(MIN_EFFECT),
            higher_is_better: self.figure == Figure::Throughput,
            blocks_max: 24,
            pilot_blocks: 0,
            family: 1,
            looks_early: true,
            has_control: false,
        };
        Interleaved { rules, figure: self.figure, ratio: 1.0 + self.planted, disturbed, made, start_s: 0.5 }
    }
}
