//! Explains why one variant is slower than another. Splits the growth of the response time into parts seen by readings,
//! and an unexplained rest. The readings are from the same blocks, or from runs made at different times. The
//! explanation is not confirmed by a change.
//!
//! By Little's law, the mean number of waiting threads ÷ answers per second is the time that a request waits. That
//! holds only for threads that wait for a request: idle threads in timers and at futexes grow along with any
//! difference, so they are left out.

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
use crate::words::Share;

/// Min relative growth of the response time that is split into parts.
const RESPONSE_MIN_GROWTH: f64 = 0.02;
/// Min share of the growth of the response time at which a part is reported. Smaller ones stay in the rest.
const PART_MIN_SHARE: f64 = 0.05;
/// Min share of time for which cores or a thread count as saturated.
const SATURATED_MIN_SHARE: f64 = 0.75;
/// Min share of the growth of CPU time at which the user space or kernel part of a process counts as most of it.
const MOST_MIN_SHARE: f64 = 0.6;
/// Min share of the growth of CPU time at which a part counts as all of it.
const ALL_MIN_SHARE: f64 = 0.9;
/// Min relative growth that is not noise, if there are too few runs for an interval. A figure with less growth is not
/// explained, and explains nothing.
const FEW_RUNS_MIN: f64 = 0.05;
/// Error rate of intervals.
const ALPHA: f64 = 0.05;

/// Part of the time of a request, in the order in which the growth of the response time is split: an observed wait
/// precedes the CPU time that follows from it. Names come from outside: escape them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Waits of database sessions, by class and event of the wait.
    Database(String),
    /// Time for which requests waited to be sent, for a free connection.
    Connection,
    /// Sleep of threads for a disk.
    Disk,
    /// Writes of threads to a full pipe.
    Pipe,
    /// Waits of threads for replies on connections opened by the system.
    Dependency,
    /// CPU time of the system.
    Cpu,
    /// Time for which threads were runnable without a core.
    Runnable,
    /// Time for which requests waited for exhausted CPU time, except in runnable threads.
    CpuQueue,
}

impl Part {
    /// Returns the rung of evidence of a statement about the part.
    pub const fn rung(&self) -> Rung {
        match self {
            Self::Database(_) | Self::Connection => Rung::Runtime,
            Self::Disk | Self::Pipe | Self::Dependency | Self::Cpu | Self::Runnable => Rung::Kernel,
            Self::CpuQueue => Rung::Arithmetic,
        }
    }

    /// Returns the code in JSON; the resource's code if the part is the wait for a resource.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Database(_) => "database_wait",
            Self::Connection => "connection",
            Self::Disk => Resource::DISK.code,
            Self::Pipe => Resource::LOG_PIPE.code,
            Self::Dependency => Resource::DEPENDENCY.code,
            Self::Cpu => "cpu",
            Self::Runnable => "runnable",
            Self::CpuQueue => "cpu_queue",
        }
    }
}

/// Separator between the code of a database wait and its name.
const NAMED: char = ' ';

impl Part {
    /// Returns the text in a stored baseline.
    fn kept(&self) -> String {
        match self {
            Self::Database(wait) => format!("{}{NAMED}{wait}", self.code()),
            part => part.code().to_owned(),
        }
    }

    /// Parses the text of a stored baseline; `None` if this version does not know it.
    fn from_stored(name: &str) -> Option<Self> {
        let plain = [Self::Cpu, Self::Dependency, Self::Disk, Self::Pipe, Self::Runnable, Self::Connection];
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
    /// Returns the time per request; `None` if the system was not sampled, or nothing was answered.
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
            spent.parts.insert(Part::Pipe, sum(&|of| of.in_state("pipe_write")));
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

    /// Returns the figures that a baseline stores, so that other runs can be explained without the baseline's store.
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

    /// Restores the figures of a baseline, as the faster side. Exhausted resources matter only on the slower side, so
    /// they are not stored.
    pub fn from_stored(kept: &BaselineSpent) -> Self {
        let spaces = [(&kept.user_us, FrameKind::User), (&kept.kernel_us, FrameKind::Kernel)];
        let of_kind = |(of, kind): (&BTreeMap<String, f64>, FrameKind)| {
            of.iter().map(move |(process, us)| ((process.clone(), kind), *us)).collect::<Vec<_>>()
        };
        Self {
            response_us: kept.response_us,
            parts: kept.parts.iter().filter_map(|(name, us)| Some((Part::from_stored(name)?, *us))).collect(),
            spaces: spaces.into_iter().flat_map(of_kind).collect(),
            ..Self::default()
        }
    }

    /// Returns the only process; `None` if there are several, or none was sampled.
    fn only_process(&self) -> Option<&str> {
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
    /// Part that grew most.
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
    /// Share of the growth of the response time that this part explains, from 0 to 1. For exhausted CPU time, includes
    /// queues for it.
    pub share: f64,
    /// Growth of the response time, in microseconds.
    pub response_more_us: f64,
    /// All observed parts, `part` first. Together with `unseen_us` they add up to `response_more_us`.
    pub parts: Vec<PartOfGrowth>,
    /// Growth of the response time that no reading explains, in microseconds.
    pub unseen_us: f64,
    /// Process, space, and share of the growth of CPU time, if one space has most of it. The process is `None` if each
    /// side has a single process with another name. Set only for CPU time.
    pub space: Option<(Option<String>, FrameKind, f64)>,
    /// Address of the dependency in the slower variant. Set only for waits for a dependency.
    pub dependency: Option<String>,
}

/// A part of the growth of the response time.
#[derive(Clone, Debug, PartialEq)]
pub struct PartOfGrowth {
    /// Part that grew.
    pub part: Part,
    /// Growth of the response time that it explains and earlier parts do not, in microseconds, above 0.
    pub us: f64,
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

/// Splits the growth of the response time from the faster to the slower variant. The outer `None` means that there is
/// nothing to judge: a side has no readings, or a few runs hardly differ. The inner `None` means that no reading
/// explains any of it.
///
/// `profiles` are the CPU profiles of both variants, if they were profiled.
pub fn explain(sides: Sides<'_>, profiles: Option<[&Profile; 2]>) -> Option<Option<Explanation>> {
    let response = grown(&sides, |spent| Some(spent.response_us))?;
    if response.interval_us.is_none() && !response.is_clear() {
        return None;
    }
    // If the response time hardly grew, the variants do not differ in it.
    if !response.is_clear() || response.relative() < RESPONSE_MIN_GROWTH {
        return Some(None);
    }
    let parts = parts(&sides, &response);
    let unseen_us = response.more_us - parts.iter().map(|(of, _)| of.us).sum::<f64>();
    // If CPU time is exhausted and grew, waits for it are a consequence.
    let is_cause = parts.iter().any(|(of, grown)| {
        let cpu = grown.as_ref().filter(|_| of.part == Part::Cpu);
        cpu.is_some_and(|cpu| queue_us(&sides, &response, cpu) > 0.0)
    });
    let waits_us = parts.iter().filter(|(of, _)| [Part::Runnable, Part::CpuQueue].contains(&of.part));
    let waits_us: f64 = waits_us.map(|(of, _)| of.us).sum();
    let queued_us = |of: &Part| if *of == Part::Cpu && is_cause { waits_us } else { 0.0 };
    let with_waits_us = |of: &PartOfGrowth| of.us + queued_us(&of.part);
    let known = || parts.iter().filter_map(|(of, grown)| Some((of, grown.as_ref()?)));
    let Some((first, grown)) =
        known().max_by(|(one, _), (other, _)| with_waits_us(one).total_cmp(&with_waits_us(other)))
    else {
        return Some(None);
    };
    let part = first.part.clone();
    // Another part may have shrunk. This one then explains all of the growth.
    let share = Share::of_measured(with_waits_us(first), response.more_us).map_or(0.0, Share::get);
    let slower = sides.of(1);
    let mut all: Vec<PartOfGrowth> = parts.iter().map(|(of, _)| of.clone()).collect();
    all.sort_by(|one, other| (one.part != part).cmp(&(other.part != part)).then(other.us.total_cmp(&one.us)));
    Some(Some(Explanation {
        us_per_request: grown.middle_us,
        more_us: grown.more_us,
        interval_us: grown.interval_us,
        runs: [0, 1].map(|side| sides.of(side).len()),
        is_paired: matches!(sides, Sides::Blocks(_)),
        share,
        response_more_us: response.more_us,
        unseen_us,
        parts: all,
        space: (part == Part::Cpu).then(|| space(&sides, profiles, grown.more_us)).flatten(),
        dependency: (part == Part::Dependency).then(|| slower.first()?.dependency.clone()).flatten(),
        part,
    }))
}

/// Returns the parts of the growth of the response time, each with its own growth. None exceeds what earlier parts
/// leave, so a wait seen by two readings counts once. Queues for CPU time have no growth of their own.
fn parts(sides: &Sides<'_>, response: &Growth) -> Vec<(PartOfGrowth, Option<Growth>)> {
    let mut names: Vec<&Part> = sides.all().flat_map(|spent| spent.parts.keys()).collect();
    names.sort();
    names.dedup();
    let mut rest_us = response.more_us.max(0.0);
    let least_us = PART_MIN_SHARE * rest_us;
    let mut parts = Vec::new();
    for part in names {
        let Some(grown) = grown(sides, |spent| spent.part(part)).filter(Growth::is_clear) else {
            continue;
        };
        // A database that waits for a disk puts its own threads to sleep, and those that wait for its reply.
        let seen_us = |is_inside: fn(&Part) -> bool| {
            let inside = parts.iter().filter(|(of, _): &&(PartOfGrowth, _)| is_inside(&of.part));
            inside.map(|(of, _)| of.us).sum::<f64>()
        };
        let seen_us = match part {
            Part::Disk => seen_us(|part| matches!(part, Part::Database(_))),
            Part::Dependency => seen_us(|part| matches!(part, Part::Database(_) | Part::Disk)),
            _ => 0.0,
        };
        let us = (grown.more_us - seen_us).min(rest_us);
        // CPU time may be a small part of the queues that it causes.
        if us >= least_us && us > 0.0
            || *part == Part::Cpu && us > 0.0 && queue_us(sides, response, &grown) > 0.0
        {
            rest_us -= us;
            parts.push((PartOfGrowth { part: part.clone(), us }, Some(grown)));
        }
    }
    let cpu = parts.iter().find(|(of, _)| of.part == Part::Cpu).and_then(|(_, grown)| grown.as_ref());
    let queue_us = cpu.map_or(0.0, |cpu| queue_us(sides, response, cpu));
    let us = queue_us.min(rest_us);
    if us > 0.0 && us >= least_us {
        parts.push((PartOfGrowth { part: Part::CpuQueue, us }, None));
    }
    parts
}

/// Returns the growth of queues for CPU time that follows from the growth of CPU time per request, in microseconds. If
/// CPU time is exhausted, requests queue for it, and the response time grows by an equal share. 0 otherwise, or if the
/// response time grew by another share.
fn queue_us(sides: &Sides<'_>, response: &Growth, cpu: &Growth) -> f64 {
    let slower = sides.of(1);
    let is_short = slower.iter().filter(|spent| spent.is_cpu_short).count() * 2 > slower.len();
    let grown = cpu.relative();
    let is_alike = grown >= QUEUED_MIN_RATIO * response.relative();
    if is_short && is_alike { (response.middle_us[0] * grown - cpu.more_us).max(0.0) } else { 0.0 }
}

/// Min ratio of the relative growth of CPU time per request to that of the response time, if queues for CPU time
/// explain the latter.
const QUEUED_MIN_RATIO: f64 = 0.5;

/// Growth of a figure from the faster to the slower variant.
struct Growth {
    middle_us: [f64; 2],
    more_us: f64,
    interval_us: Option<[f64; 2]>,
    /// Whether the figure grew in each block; `true` for runs from different times.
    is_in_every_block: bool,
}

impl Growth {
    /// Returns the growth as a share of the faster side; `f64::MAX` for a wait that did not exist before.
    fn relative(&self) -> f64 {
        let [faster, _] = self.middle_us;
        if faster > 0.0 { self.more_us / faster } else { f64::MAX }
    }

    /// Returns whether the figure grew by more than noise. Without an interval, the growth must exceed
    /// [`FEW_RUNS_MIN`], and occur in every block.
    fn is_clear(&self) -> bool {
        match self.interval_us {
            Some([low, _]) => low > 0.0,
            None => self.more_us > 0.0 && self.relative() >= FEW_RUNS_MIN && self.is_in_every_block,
        }
    }
}

/// Returns the growth of a figure; `None` if a run lacks the figure. A few blocks give no interval.
fn grown(sides: &Sides<'_>, figure: impl Fn(&TimeByPart) -> Option<f64>) -> Option<Growth> {
    let of_side = |side: usize| sides.of(side).into_iter().map(&figure).collect::<Option<Vec<f64>>>();
    let [faster, slower] = [of_side(0)?, of_side(1)?];
    let middle_us = [median(faster.iter().copied())?, median(slower.iter().copied())?];
    Some(match sides {
        Sides::Blocks(_) => {
            let figures: Vec<(f64, f64)> = slower.into_iter().zip(faster).collect();
            let found =
                stats::compare(&figures, figures.len(), MinEffect::difference(0.0), Discards::default());
            let interval_us = found.interval.filter(|_| !matches!(found.verdict, Verdict::None(_)));
            let is_in_every_block = figures.iter().all(|(slower, faster)| slower > faster);
            let more_us =
                found.estimate.or_else(|| median(figures.iter().map(|(slower, faster)| slower - faster)))?;
            Growth { middle_us, more_us, interval_us, is_in_every_block }
        }
        Sides::Apart(_) => {
            let found = Unpaired::of(&slower, &faster, Scale::Difference, ALPHA)?;
            let (more_us, interval_us) = (found.estimate?, found.interval);
            Growth { middle_us, more_us, interval_us, is_in_every_block: true }
        }
    })
}

/// Finds the process and space with most of the growth of CPU time, by profile samples if there are any, otherwise by
/// the kernel's accounting.
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
    let are_alone = sides.all().all(|spent| spent.only_process().is_some());
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
        let process = if are_alone { spent.only_process()? } else { process };
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
    /// Returns whether a share of the growth of CPU time is all of it, except for noise.
    pub fn is_all(share: f64) -> bool {
        share >= ALL_MIN_SHARE
    }
}

#[cfg(test)]
mod tests;
