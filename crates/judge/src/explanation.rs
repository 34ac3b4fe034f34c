//! Explains why one variant is slower than another: it finds the part of the time per request that grew. The readings are from the
//! same blocks, or from runs made at different times. Nothing was changed to confirm the explanation.
//!
//! By Little's law, the mean number of waiting threads ÷ answers per second is the time that a request waits. CPU time is
//! different. If it is exhausted, requests queue for it, and the response time grows by the same share as CPU time per request.

use std::collections::BTreeMap;

use evidence::{BaselineSpent, Distorted, EvidenceError, FrameKind, Run};
use record::Phase;
use stats::{Discards, MinEffect, Scale, Unpaired, Verdict, median};

use crate::causes::Resource;
use crate::cpu_profile::Profile;
use crate::eligibility::{Eligibility, eligibility_by};
use crate::inside::ON_CPU;
use crate::measured::Measured;
use crate::resources::Usage;
use crate::rung::Rung;
use crate::signals::Signals;
use crate::waits::Workers;

/// Smallest ratio of a part's growth to the growth of the response time, at which the part explains it.
const EXPLAINS_FROM: f64 = 0.5;
/// Largest such ratio; a part that grew more is not the same time.
const EXPLAINS_TO: f64 = 1.6;
/// Smallest share of the time for which cores or a thread count as saturated.
const SATURATED_MIN_SHARE: f64 = 0.75;
/// Smallest share of the growth of CPU time for which the user space or kernel part of a process is called most of it.
const MOST_MIN_SHARE: f64 = 0.6;
/// Smallest share of that growth that is called all of it.
const ALL: f64 = 0.9;
/// Smallest relative growth that is not noise, if there are too few runs for an interval. A figure that grew less is not explained,
/// and explains nothing.
const FEW_RUNS_MIN: f64 = 0.05;
/// Error rate of intervals.
const ALPHA: f64 = 0.05;

/// A part of the time that a request takes. Names come from outside: escape them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// CPU time of the system.
    Cpu,
    /// Waits of database sessions, by class and event of the wait.
    Database(String),
    /// Waits of threads for replies on connections that the system had opened.
    Dependency,
    /// Sleep of threads for a disk.
    Disk,
    /// Waits of threads at the address of one futex.
    Lock,
    /// Time for which threads were ready without a core.
    Runnable,
    /// Time for which requests waited to be sent, for a free connection.
    Connection,
}

impl Part {
    /// Rung of evidence on which a statement about the part stands.
    pub const fn rung(&self) -> Rung {
        match self {
            Self::Database(_) | Self::Connection => Rung::Runtime,
            Self::Cpu | Self::Dependency | Self::Disk | Self::Lock | Self::Runnable => Rung::Kernel,
        }
    }

    /// Code in JSON; the resource's code if the part is the wait for a resource.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Database(_) => "database_wait",
            Self::Dependency => Resource::DEPENDENCY.code,
            Self::Disk => Resource::DISK.code,
            Self::Lock => Resource::LOCK.code,
            Self::Runnable => "runnable",
            Self::Connection => "connection",
        }
    }
}

/// Separator between the code of a database wait and its name.
const NAMED: char = ' ';

impl Part {
    /// Text in a stored baseline.
    fn kept(&self) -> String {
        match self {
            Self::Database(wait) => format!("{}{NAMED}{wait}", self.code()),
            part => part.code().to_owned(),
        }
    }

    /// Parses the text of a stored baseline; `None` if this version does not know it.
    fn of_kept(name: &str) -> Option<Self> {
        let plain = [Self::Cpu, Self::Dependency, Self::Disk, Self::Lock, Self::Runnable, Self::Connection];
        let database = || {
            let (code, wait) = name.split_once(NAMED)?;
            let part = Self::Database(wait.to_owned());
            (part.code() == code).then_some(part)
        };
        plain.into_iter().find(|part| part.code() == name).or_else(database)
    }
}

/// Time per request of one run, by part, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeByPart {
    response_us: f64,
    /// Parts that were sampled.
    parts: BTreeMap<Part, f64>,
    /// CPU time by process, in user space and in the kernel.
    spaces: BTreeMap<(String, FrameKind), f64>,
    /// Whether CPU time was exhausted: cores, one thread, or the quota.
    is_cpu_short: bool,
    /// Address of the dependency that most threads waited for.
    dependency: Option<String>,
}

impl TimeByPart {
    /// Time per request; `None` if the system was not sampled, or nothing was answered.
    pub fn of(measured: &Measured, signals: Option<&Signals>, send_delay_ns: Option<f64>) -> Option<Self> {
        let (window, resources) = (measured.window?, measured.resources.as_ref()?);
        let system = resources.system.as_ref()?;
        let per_s = window.ended_per_s();
        let response_us = measured.response.mean_ns? / 1e3;
        let is_covered = |usage: &Usage| usage.covered_s.unwrap_or(resources.covered_s) > 0.0;
        if !(per_s > 0.0 && is_covered(system)) {
            return None;
        }
        // Converts a mean number of threads to microseconds per request.
        let us = |threads: f64| threads * 1e6 / per_s;
        let mut spent = Self { response_us, ..Self::default() };
        spent.parts.extend(measured.system_us_per_request().map(|us| (Part::Cpu, us)));
        spent.parts.extend(
            system.run_queue_wait_s.map(|wait_s| (Part::Runnable, us(resources.per_s(system, wait_s)))),
        );
        spent.parts.extend(send_delay_ns.map(|ns| (Part::Connection, ns / 1e3)));
        for (process, usage) in &resources.processes {
            if !is_covered(usage) {
                continue;
            }
            for (kind, cpu_s) in [(FrameKind::User, usage.cpu_user_s), (FrameKind::Kernel, usage.cpu_sys_s)] {
                spent.spaces.insert((process.clone(), kind), us(resources.per_s(usage, cpu_s)));
            }
        }
        let Some(signals) = signals else { return Some(spent) };
        let workers = &signals.waits.workers;
        if !workers.is_empty() {
            let sum = |of: &dyn Fn(&Workers) -> f64| us(workers.values().map(of).sum());
            spent.parts.insert(Part::Disk, sum(&|of| of.in_state("disk")));
            let in_flight = per_s * response_us / 1e6;
            spent.parts.insert(Part::Lock, sum(&|of| at_a_lock(of, in_flight)));
            spent.parts.insert(Part::Dependency, sum(&|of| of.dependencies.values().sum()));
            let all = workers.values().flat_map(|of| &of.dependencies);
            spent.dependency = all.max_by(|a, b| a.1.total_cmp(b.1)).map(|(address, _)| address.clone());
        }
        if let Some(inside) = &signals.inside {
            let waits = inside.waits.iter().filter(|(wait, _)| *wait != ON_CPU);
            spent.parts.extend(waits.map(|(wait, sessions)| (Part::Database(wait.clone()), us(*sessions))));
        }
        let is_busy = |share: Option<f64>| share.is_some_and(|share| share >= SATURATED_MIN_SHARE);
        let core = resources.cores.iter().map(|core| core.busy).reduce(f64::max);
        spent.is_cpu_short = is_busy(signals.busy)
            || is_busy(signals.busiest_thread)
            || is_busy(signals.waits.throttled_periods)
            || is_busy(core)
                && resources.cores_used(system).is_some_and(|cores| cores >= SATURATED_MIN_SHARE);
        Some(spent)
    }

    /// Collects runs with trusted throughput in which the system was sampled.
    pub fn of_runs<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Result<Vec<Self>, EvidenceError> {
        let mut all = Vec::new();
        let is_valid = |run: &&Run| eligibility_by(run, Some(Distorted::Throughput)) == Eligibility::Valid;
        for run in runs.into_iter().filter(is_valid) {
            let lateness = run.whole(Phase::Measured)?.lateness.all().mean_ns();
            all.extend(Self::of(&Measured::of(run)?, Signals::of(run).as_ref(), lateness));
        }
        Ok(all)
    }

    /// Figures that a baseline stores, so that other runs can be explained without its own store.
    pub(crate) fn kept(&self) -> BaselineSpent {
        let of_kind = |wanted: FrameKind| {
            let of = self.spaces.iter().filter(|((_, kind), us)| *kind == wanted && us.is_finite());
            of.map(|((process, _), us)| (process.clone(), *us)).collect()
        };
        let parts = self.parts.iter().filter(|(_, us)| us.is_finite());
        BaselineSpent {
            response_us: self.response_us,
            parts: parts.map(|(part, us)| (part.kept(), *us)).collect(),
            user_us: of_kind(FrameKind::User),
            kernel_us: of_kind(FrameKind::Kernel),
        }
    }

    /// Restores the figures of a baseline, as the faster side. Exhausted resources matter only on the slower side, so they are not
    /// stored.
    pub fn of_kept(kept: &BaselineSpent) -> Self {
        let spaces = [(&kept.user_us, FrameKind::User), (&kept.kernel_us, FrameKind::Kernel)];
        let of_kind = |(of, kind): (&BTreeMap<String, f64>, FrameKind)| {
            of.iter().map(move |(process, us)| ((process.clone(), kind), *us)).collect::<Vec<_>>()
        };
        Self {
            response_us: kept.response_us,
            parts: kept.parts.iter().filter_map(|(name, us)| Some((Part::of_kept(name)?, *us))).collect(),
            spaces: spaces.into_iter().flat_map(of_kind).collect(),
            ..Self::default()
        }
    }

    /// The only process; `None` if there are several, or none was sampled.
    fn lone_process(&self) -> Option<&str> {
        let mut names = self.spaces.keys().map(|(process, _)| process.as_str());
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }

    fn part(&self, part: &Part) -> Option<f64> {
        match part {
            // A wait that no sample found took no time.
            Part::Database(_) if self.parts.keys().any(|part| matches!(part, Part::Database(_))) => {
                Some(self.parts.get(part).copied().unwrap_or(0.0))
            }
            part => self.parts.get(part).copied(),
        }
    }
}

/// Explanation for the slower variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Part that grew.
    pub part: Part,
    /// Time per request of the faster and of the slower variant, in microseconds: medians over runs.
    pub us_per_request: [f64; 2],
    /// Slower minus faster, estimated within blocks if paired, in microseconds.
    pub more_us: f64,
    /// 95 % interval of the difference; `None` with too few runs.
    pub interval_us: Option<[f64; 2]>,
    /// Number of runs of the faster and of the slower variant; in paired results, the number of blocks for both.
    pub runs: [usize; 2],
    /// Whether both variants were measured in the same blocks.
    pub is_paired: bool,
    /// Share of the growth of the response time that this part explains. For exhausted CPU time, the ratio of the relative growths.
    /// Noise may put it above 1.
    pub share: f64,
    /// For CPU time: process, space, and share of the growth, if one space has most of it. The process is `None` if each side has
    /// one process under another name.
    pub space: Option<(Option<String>, FrameKind, f64)>,
    /// For waits for a dependency: its address in the slower variant.
    pub dependency: Option<String>,
}

/// Figures of the faster and of the slower variant.
#[derive(Clone, Copy, Debug)]
pub enum Sides<'a> {
    /// Pairs of both variants, one for each block, in order.
    Blocks(&'a [[TimeByPart; 2]]),
    /// Runs measured at different times.
    Apart([&'a [TimeByPart]; 2]),
}

impl<'a> Sides<'a> {
    fn of(&self, side: usize) -> Vec<&'a TimeByPart> {
        match self {
            Self::Blocks(pairs) => pairs.iter().map(|pair| &pair[side]).collect(),
            Self::Apart(sides) => sides[side].iter().collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &'a TimeByPart> {
        [self.of(0), self.of(1)].into_iter().flatten()
    }
}

/// Finds the part that explains why a variant is slower. The outer `None` means that there is nothing to judge: no readings on a
/// side, too few blocks, or hardly any difference between few runs. The inner `None` means that no reading explains it.
///
/// `profiles` are the CPU profiles of both variants, if they were profiled.
pub fn explain(sides: Sides<'_>, profiles: Option<[&Profile; 2]>) -> Option<Option<Explanation>> {
    let response = grown(&sides, |spent| Some(spent.response_us))?;
    if response.interval_us.is_none() && !response.is_clear() {
        return None;
    }
    let slower = sides.of(1);
    let is_cpu_short = slower.iter().filter(|spent| spent.is_cpu_short).count() * 2 > slower.len();
    let mut parts: Vec<&Part> = sides.all().flat_map(|spent| spent.parts.keys()).collect();
    parts.sort();
    parts.dedup();
    let explains = |part: &Part| {
        let grown = grown(&sides, |spent| spent.part(part))?;
        let is_clear = grown.is_clear();
        let added = grown.more_us / response.more_us;
        let relative = grown.relative()? / response.relative()?;
        // If CPU time is exhausted, requests queue for it, so the response time grows by the same share, not by the same time.
        let share = if *part == Part::Cpu && is_cpu_short { relative } else { added };
        let fits = response.more_us > 0.0 && (EXPLAINS_FROM..=EXPLAINS_TO).contains(&share);
        (is_clear && fits).then_some((grown, share))
    };
    // Earlier parts cause later ones, which grow along: threads that compute longer also wait longer for a core.
    let found = parts.into_iter().find_map(|part| Some((part, explains(part)?)));
    let explanation = found.map(|(part, (grown, share))| Explanation {
        part: part.clone(),
        us_per_request: grown.middle_us,
        more_us: grown.more_us,
        interval_us: grown.interval_us,
        runs: [0, 1].map(|side| sides.of(side).len()),
        is_paired: matches!(sides, Sides::Blocks(_)),
        share,
        space: (*part == Part::Cpu).then(|| space(&sides, profiles, grown.more_us)).flatten(),
        dependency: (*part == Part::Dependency).then(|| slower.first()?.dependency.clone()).flatten(),
    });
    Some(explanation)
}

/// Growth of a figure from the faster to the slower variant.
struct GrownFigure {
    middle_us: [f64; 2],
    more_us: f64,
    interval_us: Option<[f64; 2]>,
}

impl GrownFigure {
    fn relative(&self) -> Option<f64> {
        let [faster, _] = self.middle_us;
        // A wait that did not exist before has infinite relative growth.
        Some(if faster > 0.0 { self.more_us / faster } else { f64::MAX })
    }

    /// Whether it grew by more than noise. Without an interval, the growth must exceed [`FEW_RUNS_MIN`].
    fn is_clear(&self) -> bool {
        match self.interval_us {
            Some([low, _]) => low > 0.0,
            None => self.more_us > 0.0 && self.relative() >= Some(FEW_RUNS_MIN),
        }
    }
}

/// Growth of a figure; `None` if a run lacks the figure, or if there are too few blocks for an interval.
fn grown(sides: &Sides<'_>, figure: impl Fn(&TimeByPart) -> Option<f64>) -> Option<GrownFigure> {
    let of_side = |side: usize| sides.of(side).into_iter().map(&figure).collect::<Option<Vec<f64>>>();
    let [faster, slower] = [of_side(0)?, of_side(1)?];
    let middle_us = [median(faster.iter().copied())?, median(slower.iter().copied())?];
    Some(match sides {
        Sides::Blocks(_) => {
            let figures: Vec<(f64, f64)> = slower.into_iter().zip(faster).collect();
            let found =
                stats::compare(&figures, figures.len(), MinEffect::difference(0.0), Discards::default());
            let interval_us = found.interval.filter(|_| !matches!(found.verdict, Verdict::None(_)))?;
            GrownFigure { middle_us, more_us: found.estimate?, interval_us: Some(interval_us) }
        }
        Sides::Apart(_) => {
            let found = Unpaired::of(&slower, &faster, Scale::Difference, ALPHA)?;
            GrownFigure { middle_us, more_us: found.estimate?, interval_us: found.interval }
        }
    })
}

/// Smallest number of threads at work, if one of them holds a lock that others wait for.
const HOLDER_MIN: f64 = 0.8;

/// Number of threads at one futex that carry requests. The process must have a thread for each request, and another thread must be
/// at work all the time, for which they wait. Otherwise 0, because idle threads of a pool wait at one futex, too.
fn at_a_lock(workers: &Workers, in_flight: f64) -> f64 {
    let is_held = workers.at_work() >= HOLDER_MIN;
    if workers.has_one_for_each(in_flight) && is_held { workers.same_futex } else { 0.0 }
}

/// Process and space with most of the growth of CPU time: by profile samples if there are any, else by the kernel's accounting.
fn space(
    sides: &Sides<'_>,
    profiles: Option<[&Profile; 2]>,
    more_us: f64,
) -> Option<(Option<String>, FrameKind, f64)> {
    let sampled = profiles.and_then(|[faster, slower]| faster.spaces_in(slower));
    if let Some(differences) = sampled {
        let first = differences.into_iter().find(|of| of.is_clear() && of.more_us > 0.0)?;
        let share = (first.more_us / more_us).min(1.0);
        return (share >= MOST_MIN_SHARE).then_some((Some(first.of.0), first.of.1, share));
    }
    // The only process of a system is named after the system, so two systems would have no name in common.
    let are_alone = sides.all().all(|spent| spent.lone_process().is_some());
    let mut names: Vec<(&str, FrameKind)> = sides
        .all()
        .flat_map(|spent| spent.spaces.keys())
        .map(|(process, kind)| (process.as_str(), *kind))
        .collect();
    names.sort();
    names.dedup();
    let is_one = names.iter().all(|(process, _)| *process == names[0].0);
    if are_alone && !is_one {
        names = vec![("", FrameKind::User), ("", FrameKind::Kernel)];
    }
    let of_space = |spent: &TimeByPart, (process, kind): (&str, FrameKind)| {
        let process = if are_alone { spent.lone_process()? } else { process };
        spent.spaces.get(&(process.to_owned(), kind)).copied()
    };
    let largest = names
        .into_iter()
        .filter_map(|of| Some((of, grown(sides, |spent| of_space(spent, of))?)))
        .filter(|(_, grown)| grown.is_clear())
        .max_by(|(_, a), (_, b)| a.more_us.total_cmp(&b.more_us));
    let ((process, kind), grown) = largest?;
    let share = (grown.more_us / more_us).min(1.0);
    (share >= MOST_MIN_SHARE).then(|| ((!process.is_empty()).then(|| process.to_owned()), kind, share))
}

impl Explanation {
    /// Whether a share of the growth of CPU time is all of it, except for noise.
    pub fn is_all(share: f64) -> bool {
        share >= ALL
    }
}

#[cfg(test)]
mod tests;
