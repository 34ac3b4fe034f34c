//! Trials of duels on a machine with varying speed: in whole runs, and in slices of systems that stay up.
//!
//! A log figure is the true log figure plus three disturbances. The first is drawn per start. The second is drawn per measured
//! period, and decreases with its length. The third is the share of the machine that a neighbor takes from time to time.

use load::chance::Chance;
use stats::{Bounded, Duel, DuelRules, DuelStep, PAIRS_MIN, RunResult, Slice, Verdict};

use super::coupling::{Aftereffect, Coupling};
use super::seeds;
use crate::noise::Shape;
use crate::service::normal;

/// Time step of the machine, in seconds.
const STEP_S: f64 = 0.05;
/// Upper bound of the time of a duel, in hours.
const HOURS_MAX: f64 = 20.0;

/// Disturbances. Deviations are those of natural logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturbed {
    /// Standard deviation between starts.
    pub of_start: f64,
    /// Distribution of the disturbance of a start.
    pub shape: StartShape,
    /// Standard deviation of the disturbance of one second of load.
    pub of_second: f64,
    /// Noisy neighbors, which come and go independently. `None` for none.
    pub neighbor: Option<Neighbor>,
    /// Share of the figure that the generator takes, within known bounds. `None` if it takes nothing.
    pub generator: Option<OwnDelay>,
    /// Carry-over: share of B's figure that A's delayed work takes in a slice that follows a slice of A.
    pub spills: f64,
    /// Share of the neighbor's CPU time that is missing from the readings during the load on A, as if A had displaced it.
    pub hides: f64,
    /// Dependence between the starts of a block. `None` if starts are independent.
    pub coupled: Option<Coupling>,
    /// Aftereffect on B of the load on A while both are up. `None` for none.
    pub lasting: Option<Aftereffect>,
    /// Change of the logarithm of the machine's speed per hour.
    pub drift_per_hour: f64,
}

impl Disturbed {
    /// Creates independent, normal disturbances with these standard deviations: between starts, and of one second of load.
    pub fn normal(of_start: f64, of_second: f64) -> Self {
        Self {
            of_start,
            shape: StartShape::Of(Shape::Normal),
            of_second,
            neighbor: None,
            generator: None,
            spills: 0.0,
            hides: 0.0,
            coupled: None,
            lasting: None,
            drift_per_hour: 0.0,
        }
    }
}

/// Distribution of the disturbance of a start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StartShape {
    /// Shape of continuous noise.
    Of(Shape),
    /// One of two equally likely values, as with cores or memory layouts.
    TwoValues,
}

/// Neighbors that take a share of the machine from time to time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// Number of neighbors, at most [`NEIGHBORS_MAX`].
    pub count: usize,
    /// Mean length of a neighbor's presences and absences, in seconds; both are exponential.
    pub mean_s: f64,
    /// Share of the machine's speed that remains while one neighbor is present. Each further neighbor leaves this share of the
    /// rest.
    pub leaves: f64,
}

/// Maximum number of neighbors.
pub const NEIGHBORS_MAX: usize = 2;

/// Delay caused by the generator itself, as if it shared a core with the system. A run loses a random share of its figure, up to a
/// bound that is known from its readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnDelay {
    /// Maximum share that the generator may take from a run of A, and of B. The bound of each run is between half of this share and
    /// all of it.
    pub most: [f64; 2],
}

/// Figure by which systems are compared. A slower machine has less throughput and longer response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Answers per second.
    Throughput,
    /// Mean response time.
    Mean,
    /// 99th percentile of the response time. Its noise is three times that of the throughput, and it changes with the square of the
    /// machine's speed.
    P99,
}

impl Figure {
    /// Returns the exponent of the machine's speed in the figure.
    const fn speed_power(self) -> f64 {
        match self {
            Self::Throughput => 1.0,
            Self::Mean => -1.0,
            Self::P99 => -2.0,
        }
    }

    /// Returns the standard deviation of the figure in a second, relative to that of the throughput.
    const fn noise_factor(self) -> f64 {
        if matches!(self, Self::P99) { 3.0 } else { 1.0 }
    }
}

/// Arrangement of the load in whole runs or slices. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadSchedule {
    /// Whole runs, each with its own start.
    InRuns {
        /// Warm-up, excluded.
        warm_up_s: f64,
        /// Measured time.
        measured_s: f64,
    },
    /// Slices, with both systems up during a block.
    InSlices {
        /// Warm-up after a start, excluded.
        warm_up_s: f64,
        /// Settling time at the start of each slice, excluded.
        settle_s: f64,
        /// Measured time of each slice.
        slice_s: f64,
        /// Maximum number of pairs of slices in a block.
        pairs_most: usize,
    },
}

/// Setup of duels.
#[derive(Clone, Copy, Debug)]
pub struct Interleaved {
    /// Rules of each duel.
    pub rules: DuelRules,
    /// Figure by which the systems are compared.
    pub figure: Figure,
    /// True figure of A ÷ that of B.
    pub ratio: f64,
    /// Disturbances.
    pub disturbed: Disturbed,
    /// Arrangement of the load.
    pub made: LoadSchedule,
    /// Time of a start plus a stop, in seconds.
    pub start_s: f64,
}

/// Results of many duels.
#[derive(Clone, Debug, Default)]
pub struct DuelTotals {
    /// Duels that found a difference.
    pub differs: u32,
    /// Duels that found a difference in the wrong direction, or in any direction if both systems are equal.
    pub wrong: u32,
    /// Duels that found equivalence.
    pub equivalent: u32,
    /// Duels whose interval covers the true ratio.
    pub covered: u32,
    /// Duration of each duel in seconds, ascending.
    pub seconds: Vec<f64>,
    /// Durations of the duels that found a difference in the true direction, in seconds.
    found_s: Vec<f64>,
    /// Durations of the duels that found equivalence, in seconds.
    equivalent_s: Vec<f64>,
    /// Duels with a detected carry-over.
    pub carried: u32,
    /// Sum of the log estimates.
    pub estimates: f64,
    /// Mean number of pairs of slices per counted block.
    pub pairs: f64,
    /// Number of duels whose outlook predicted the number of blocks until the verdict, after two and after four blocks.
    pub foretold: [u32; 2],
    /// Number of these predictions that held: the verdict came within the predicted number of blocks.
    pub kept: [u32; 2],
}

impl DuelTotals {
    /// Returns the number of duels that found the true difference within `most_s` seconds. Equivalence also counts if the systems
    /// `are_equal`.
    pub(super) fn right_until(&self, most_s: f64, are_equal: bool) -> u32 {
        let count = |of: &[f64]| of.iter().filter(|seconds| **seconds <= most_s).count() as u32;
        count(&self.found_s) + if are_equal { count(&self.equivalent_s) } else { 0 }
    }

    /// Returns the quantile `share` of the durations, in seconds.
    pub fn seconds_at(&self, share: f64) -> f64 {
        let place = ((self.seconds.len() as f64 * share) as usize).min(self.seconds.len().saturating_sub(1));
        self.seconds.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// Standard deviation of the readings of the neighbor's CPU time, in cores.
const READING: f64 = 0.02;

/// Runs `count` duels.
pub fn run_duels(trial: &Interleaved, seed: u64, count: u32) -> DuelTotals {
    let mut raced = DuelTotals::default();
    let (mut pairs, mut blocks) = (0usize, 0usize);
    for seed in seeds(seed, count) {
        let mut course = Course::new(trial, seed);
        let (duel, foretold) = course.run_duel();
        let finding = duel.finding();
        let ratio = finding.estimate.unwrap_or(1.0);
        let is_told = match finding.verdict {
            Verdict::Differs { .. } => {
                raced.differs += 1;
                let is_wrong = trial.ratio == 1.0 || (ratio > 1.0) != (trial.ratio > 1.0);
                raced.wrong += u32::from(is_wrong);
                raced.found_s.extend((!is_wrong).then_some(course.now_s));
                true
            }
            Verdict::Equivalent => {
                raced.equivalent += 1;
                raced.equivalent_s.push(course.now_s);
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

/// A duel in progress.
struct Course<'a> {
    trial: &'a Interleaved,
    chance: Chance,
    now_s: f64,
    /// Whether each neighbor is present.
    is_disturbed: [bool; NEIGHBORS_MAX],
    /// Time of the next arrival or departure of each neighbor.
    turn_s: [f64; NEIGHBORS_MAX],
    /// Number of starts so far.
    starts: u64,
    /// Whether the first start of the block is the slow one, if starts are coupled.
    is_first_slow: bool,
    /// End of the last load on A while B is up. `None` if there was none.
    loaded_a_s: Option<f64>,
}

impl<'a> Course<'a> {
    fn new(trial: &'a Interleaved, seed: u64) -> Self {
        let mut chance = Chance::stream(seed, 7);
        let (mut is_disturbed, mut turn_s) = ([false; NEIGHBORS_MAX], [f64::INFINITY; NEIGHBORS_MAX]);
        if let Some(Neighbor { count, mean_s, .. }) = trial.disturbed.neighbor {
            for neighbor in 0..count.min(NEIGHBORS_MAX) {
                is_disturbed[neighbor] = chance.unit() < 0.5;
                turn_s[neighbor] = mean_s * chance.exponential();
            }
        }
        Self {
            trial,
            chance,
            now_s: 0.0,
            is_disturbed,
            turn_s,
            starts: 0,
            is_first_slow: false,
            loaded_a_s: None,
        }
    }

    /// Runs a duel to its end. Also returns the number of blocks that its outlook predicted after two and after four blocks.
    fn run_duel(&mut self) -> (Duel, [Option<u32>; 2]) {
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
                        LoadSchedule::InRuns { .. } => {
                            let first = usize::from(self.chance.unit() < 0.5);
                            let mut runs = [RunResult::Missing; 2];
                            runs[first] = self.run(first);
                            runs[1 - first] = self.run(1 - first);
                            duel.note(runs);
                        }
                        LoadSchedule::InSlices { .. } => {
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

    fn run(&mut self, side: usize) -> RunResult {
        let LoadSchedule::InRuns { warm_up_s, measured_s } = self.trial.made else {
            return RunResult::Missing;
        };
        let start = self.start();
        self.loaded_a_s = None;
        self.pass(warm_up_s);
        self.measure(side, start, measured_s).0
    }

    /// Starts both systems, and puts load on them in turn.
    fn block(&mut self, duel: &Duel) -> Vec<[Slice; 2]> {
        let LoadSchedule::InSlices { warm_up_s, settle_s, slice_s, pairs_most } = self.trial.made else {
            return Vec::new();
        };
        let start_cost = (self.trial.start_s + warm_up_s - settle_s) / (slice_s + settle_s);
        let pairs = match duel.levels().filter(|levels| levels.blocks > 1) {
            Some(levels) => levels.pairs_next(start_cost, pairs_most),
            None => PAIRS_MIN,
        };
        let (mut starts, mut of_either, mut before) = ([None; 2], [Vec::new(), Vec::new()], None);
        self.loaded_a_s = None;
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
        drawn * self.trial.disturbed.of_start + self.coupled()
    }

    /// Returns the part of the log figure of a start that depends on the other start of its block.
    fn coupled(&mut self) -> f64 {
        let Some(Coupling { slower, kind }) = self.trial.disturbed.coupled else { return 0.0 };
        let is_first = self.starts.is_multiple_of(2);
        if is_first {
            self.is_first_slow = kind.is_first_slow(self.starts / 2, &mut self.chance);
        }
        self.starts += 1;
        if is_first == self.is_first_slow { -slower.ln() } else { 0.0 }
    }

    /// Measures a period. Returns the figure, and the cores that the neighbor took.
    fn measure(&mut self, side: usize, start: f64, measured_s: f64) -> (RunResult, f64) {
        let figure = self.trial.figure;
        let of_second = self.trial.disturbed.of_second * figure.noise_factor();
        let own = normal(&mut self.chance) * of_second / measured_s.sqrt();
        let truth = if side == 0 { 100.0 * self.trial.ratio } else { 100.0 };
        let (began_s, speed) = (self.now_s, self.pass(measured_s));
        let drift = self.trial.disturbed.drift_per_hour * began_s / 3_600.0;
        let lasting = self.lasting(side, began_s);
        let of_machine = (speed * lasting).powf(figure.speed_power());
        let value = self.delayed(side, truth * of_machine * (start + own + drift).exp());
        (RunResult::Figure { value, errors: 0, planned: 10_000 }, 1.0 - speed)
    }

    /// Returns the figure as measured by the generator, with its bounds.
    fn delayed(&mut self, side: usize, truth: f64) -> Bounded {
        let Some(OwnDelay { most }) = self.trial.disturbed.generator else { return Bounded::exactly(truth) };
        let bound = most[side] * (1.0 + self.chance.unit()) / 2.0;
        let taken = bound * self.chance.unit();
        match self.trial.figure {
            Figure::Throughput => {
                let measured = truth * (1.0 - taken);
                Bounded::within(measured, [measured, measured / (1.0 - bound)])
            }
            Figure::Mean | Figure::P99 => {
                let measured = truth / (1.0 - taken);
                Bounded::within(measured, [measured * (1.0 - bound), measured])
            }
        }
    }

    /// Returns the share of the figure that the load on A leaves in the period since `began_s`.
    fn lasting(&mut self, side: usize, began_s: f64) -> f64 {
        if side == 0 {
            self.loaded_a_s = Some(self.now_s);
            return 1.0;
        }
        let lasting = self.trial.disturbed.lasting.zip(self.loaded_a_s);
        lasting.map_or(1.0, |(lasting, ended_s)| lasting.leaves(began_s - ended_s, self.now_s - ended_s))
    }

    /// Advances the time. Returns the mean speed of the machine in this period.
    fn pass(&mut self, lasting_s: f64) -> f64 {
        let Some(Neighbor { count, mean_s, leaves }) = self.trial.disturbed.neighbor else {
            self.now_s += lasting_s;
            return 1.0;
        };
        let (steps, mut sum) = ((lasting_s / STEP_S).round().max(1.0), 0.0);
        for _ in 0..steps as u32 {
            self.now_s += lasting_s / steps;
            for neighbor in 0..count.min(NEIGHBORS_MAX) {
                while self.now_s >= self.turn_s[neighbor] {
                    self.is_disturbed[neighbor] = !self.is_disturbed[neighbor];
                    self.turn_s[neighbor] += mean_s * self.chance.exponential();
                }
            }
            let present = self.is_disturbed.iter().filter(|is_present| **is_present).count();
            sum += leaves.powi(present as i32);
        }
        sum / steps
    }
}
