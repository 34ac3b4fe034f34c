//! A versus B on a machine whose speed changes with time: in whole runs, and in slices of systems that stay up.
//!
//! The logarithm of a figure is that of the truth, and four disturbances on top: one that a start decides, one of the measured time alone,
//! which is the smaller the longer that is, and what neighbors take of the machine meanwhile, which comes and goes.

use load::chance::Chance;
use stats::{Duel, DuelRules, DuelStep, PAIRS_LEAST, Seen, Slice, Verdict};

use super::seeds;
use crate::noise::Shape;
use crate::service::normal;

/// Steps of the machine's time.
const STEP_S: f64 = 0.05;
/// More time than this no duel may take.
const HOURS_MAX: f64 = 20.0;

/// What disturbs; deviations are of natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbed {
    /// What a start decides.
    pub of_start: f64,
    /// How that is spread.
    pub shape: StartShape,
    /// What a second of load has for itself.
    pub of_second: f64,
    /// A neighbor.
    pub neighbor: Option<Neighbor>,
    /// What A takes from B in a slice that follows one of its own, as a share: what it left to do.
    pub spills: f64,
    /// Of what the neighbor takes while A has the load, the share that is not read: as if A itself had pushed it aside.
    pub hides: f64,
}

/// How what a start decides is spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartShape {
    /// One of the shapes of noise.
    Of(Shape),
    /// One of two values, as a core or a layout of memory is, the one as likely as the other.
    TwoValues,
}

/// A neighbor that now and then takes a share of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Mean time that it is there, and that it is not: both exponential.
    pub mean_s: f64,
    /// What it leaves of the machine's speed.
    pub leaves: f64,
}

/// How the runs are made. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Made {
    /// Each with a start of its own.
    InRuns {
        /// Left out.
        warm_up_s: f64,
        /// Measured.
        measured_s: f64,
    },
    /// Both stay up in a block.
    InSlices {
        /// Left out after a start.
        warm_up_s: f64,
        /// Left out of each slice.
        settle_s: f64,
        /// Measured in each slice.
        slice_s: f64,
        /// Pairs of slices in a block, at most.
        pairs_most: usize,
    },
}

/// A duel.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved {
    /// What is laid down.
    pub rules: DuelRules,
    /// The true figure of A over that of B.
    pub ratio: f64,
    /// What disturbs.
    pub disturbed: Disturbed,
    /// How the runs are made.
    pub made: Made,
    /// What a start and a stop take together.
    pub start_s: f64,
}

/// What came of many duels.
#[derive(Clone, Debug, Default)]
pub struct Raced {
    /// They differ.
    pub differs: u32,
    /// They differ in the wrong direction; where both are equal, in either.
    pub wrong: u32,
    /// They are equivalent.
    pub equivalent: u32,
    /// The interval covers the true ratio.
    pub covered: u32,
    /// How long each took, in seconds, the shortest first.
    pub seconds: Vec<f64>,
    /// A carry-over is found.
    pub carried: u32,
    /// Sum of the logarithms of estimates.
    pub estimates: f64,
    /// Pairs of slices in a block, over all blocks that count.
    pub pairs: f64,
    /// Duels whose outlook after two blocks, and after four, named a number of blocks.
    pub foretold: [u32; 2],
    /// Those of them that had their verdict within it.
    pub kept: [u32; 2],
}

impl Raced {
    /// The time that so large a share of the duels did not exceed.
    pub fn seconds_at(&self, share: f64) -> f64 {
        let place = ((self.seconds.len() as f64 * share) as usize).min(self.seconds.len().saturating_sub(1));
        self.seconds.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// Standard deviation of a reading of the CPU time that others take, in cores.
const READING: f64 = 0.02;

/// Makes so many duels.
pub fn race(trial: &Interleaved, seed: u64, count: u32) -> Raced {
    let mut raced = Raced::default();
    let (mut pairs, mut blocks) = (0usize, 0usize);
    for seed in seeds(seed, count) {
        let mut course = Course::new(trial, seed);
        let (duel, foretold) = course.fight();
        let finding = duel.finding();
        let ratio = finding.estimate.unwrap_or(1.0);
        let is_told = match finding.verdict {
            Verdict::Differs { .. } => {
                raced.differs += 1;
                raced.wrong += u32::from(trial.ratio == 1.0 || (ratio > 1.0) != (trial.ratio > 1.0));
                true
            }
            Verdict::Equivalent => {
                raced.equivalent += 1;
                true
            }
            _ => false,
        };
        let is_covered = finding.interval.is_some_and(|[low, high]| (low..=high).contains(&trial.ratio));
        raced.covered += u32::from(is_covered);
        raced.carried += u32::from(duel.carry_over().is_some_and(|carried| carried.is_found));
        raced.estimates += ratio.ln();
        raced.seconds.push(course.now_s);
        if let Some(levels) = duel.levels() {
            (pairs, blocks) = (pairs + levels.pairs, blocks + levels.blocks);
        }
        for (at, foretold) in foretold.into_iter().enumerate() {
            let Some(blocks) = foretold else { continue };
            raced.foretold[at] += 1;
            raced.kept[at] += u32::from(is_told && duel.blocks().len() as u32 <= blocks);
        }
    }
    raced.seconds.sort_by(f64::total_cmp);
    raced.pairs = pairs as f64 / blocks.max(1) as f64;
    raced
}

/// A duel on its way.
struct Course<'a> {
    trial: &'a Interleaved,
    chance: Chance,
    now_s: f64,
    is_disturbed: bool,
    /// When the neighbor comes or goes.
    turn_s: f64,
}

impl<'a> Course<'a> {
    fn new(trial: &'a Interleaved, seed: u64) -> Self {
        let mut chance = Chance::stream(seed, 7);
        let is_disturbed = trial.disturbed.neighbor.is_some() && chance.unit() < 0.5;
        let turn_s = trial.disturbed.neighbor.map_or(f64::INFINITY, |of| of.mean_s * chance.exponential());
        Self { trial, chance, now_s: 0.0, is_disturbed, turn_s }
    }

    /// Until it is over; and after how many blocks the outlooks after two and four of them saw a verdict.
    fn fight(&mut self) -> (Duel, [Option<u32>; 2]) {
        let mut duel = Duel::new(self.trial.rules);
        let mut foretold = [None; 2];
        while self.now_s < HOURS_MAX * 3600.0 {
            match duel.next() {
                DuelStep::Pilot { .. } => {
                    let runs = [self.run(0), self.run(0)];
                    duel.note_pilot(runs);
                }
                DuelStep::Block { block } => {
                    match self.trial.made {
                        Made::InRuns { .. } => {
                            let first = usize::from(self.chance.unit() < 0.5);
                            let mut runs = [Seen::Missing; 2];
                            runs[first] = self.run(first);
                            runs[1 - first] = self.run(1 - first);
                            duel.note(runs);
                        }
                        Made::InSlices { .. } => {
                            let pairs = self.block(&duel);
                            duel.note_slices(&pairs);
                        }
                    }
                    if block == 2 || block == 4 {
                        let at = block as usize / 2 - 1;
                        foretold[at] = duel.outlook().and_then(|outlook| outlook.verdict);
                    }
                }
                DuelStep::Over(_) => break,
            }
        }
        (duel, foretold)
    }

    fn run(&mut self, side: usize) -> Seen {
        let Made::InRuns { warm_up_s, measured_s } = self.trial.made else { return Seen::Missing };
        let start = self.start();
        self.pass(warm_up_s);
        self.measure(side, start, measured_s).0
    }

    /// Starts both, and gives them the load in turn.
    fn block(&mut self, duel: &Duel) -> Vec<[Slice; 2]> {
        let Made::InSlices { warm_up_s, settle_s, slice_s, pairs_most } = self.trial.made else {
            return Vec::new();
        };
        let start_cost = (self.trial.start_s + warm_up_s - settle_s) / (slice_s + settle_s);
        let pairs = match duel.levels().filter(|levels| levels.blocks > 1) {
            Some(levels) => levels.pairs_next(start_cost, pairs_most),
            None => PAIRS_LEAST,
        };
        let (mut starts, mut of_either, mut before) = ([None; 2], [Vec::new(), Vec::new()], None);
        for _ in 0..pairs / 2 {
            let order = if self.chance.unit() < 0.5 { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            for side in order {
                let is_after_other = before.is_some_and(|before| before != side);
                let spilled = if side == 1 && is_after_other { self.trial.disturbed.spills } else { 0.0 };
                before = Some(side);
                let left_out_s = if starts[side].is_some() { settle_s } else { warm_up_s };
                let start = match starts[side] {
                    Some(start) => start,
                    None => self.start(),
                };
                starts[side] = Some(start);
                self.pass(left_out_s);
                let (seen, taken) = self.measure(side, start - spilled, slice_s);
                let hidden = if side == 0 { self.trial.disturbed.hides * taken } else { 0.0 };
                let taken = taken - hidden + normal(&mut self.chance) * READING;
                of_either[side].push(Slice { seen, is_after_other, taken_cores: Some(taken) });
            }
        }
        let [a, b] = of_either;
        a.into_iter().zip(b).map(|(a, b)| [a, b]).collect()
    }

    fn start(&mut self) -> f64 {
        self.pass(self.trial.start_s);
        let drawn = match self.trial.disturbed.shape {
            StartShape::Of(shape) => shape.draw(&mut self.chance),
            StartShape::TwoValues if self.chance.unit() < 0.5 => 1.0,
            StartShape::TwoValues => -1.0,
        };
        drawn * self.trial.disturbed.of_start
    }

    /// What is seen, and how many cores the neighbor took.
    fn measure(&mut self, side: usize, start: f64, measured_s: f64) -> (Seen, f64) {
        let own = normal(&mut self.chance) * self.trial.disturbed.of_second / measured_s.sqrt();
        let truth = if side == 0 { 100.0 * self.trial.ratio } else { 100.0 };
        let speed = self.pass(measured_s);
        let value = truth * speed * (start + own).exp();
        (Seen::Figure { value, errors: 0, planned: 10_000 }, 1.0 - speed)
    }

    /// Lets so much time go by; returns the mean speed of the machine in it.
    fn pass(&mut self, lasting_s: f64) -> f64 {
        let Some(Neighbor { mean_s, leaves }) = self.trial.disturbed.neighbor else {
            self.now_s += lasting_s;
            return 1.0;
        };
        let (steps, mut sum) = ((lasting_s / STEP_S).round().max(1.0), 0.0);
        for _ in 0..steps as u32 {
            self.now_s += lasting_s / steps;
            while self.now_s >= self.turn_s {
                self.is_disturbed = !self.is_disturbed;
                self.turn_s += mean_s * self.chance.exponential();
            }
            sum += if self.is_disturbed { leaves } else { 1.0 };
        }
        sum / steps
    }
}
