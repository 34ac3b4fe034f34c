//! Why one variant is slower than another: the part of the time per request that grew, as far as stored readings differ in the
//! same blocks, or between runs that were made at different times. Nothing was changed to confirm it.
//!
//! By Little's law, threads that wait ÷ answers per second is the time that a request waits for it. CPU time is different: where it is
//! used up, requests wait for it in turn, and the response time grows by the same share as CPU per request.

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
use crate::signals::Signals;
use crate::waits::Workers;

/// Of the growth of the response time, what a part must have grown by to explain it; with more it cannot be the same time.
const EXPLAINS_FROM: f64 = 0.5;
const EXPLAINS_TO: f64 = 1.6;
/// From this share of the time on, cores or a thread are used up.
const BUSY: f64 = 0.75;
/// Of the growth of CPU time, what user space or kernel of a process must have to be called most of it, and all of it.
const MOST: f64 = 0.6;
const ALL: f64 = 0.9;
/// Runs that are too few for an interval differ by chance, too: a figure that grew by a smaller share is not explained, and explains
/// nothing.
const FEW_RUNS_MIN: f64 = 0.05;
/// The chance that an interval is wrong.
const ALPHA: f64 = 0.05;

/// A part of the time that a request takes. Names may hold anything: escape them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// CPU time of the system.
    Cpu,
    /// Sessions of the database waited, for the wait of this class and event.
    Database(String),
    /// Threads waited for replies on connections that the system had opened.
    Dependency,
    /// Threads slept for a disk.
    Disk,
    /// Threads waited at the address of one futex.
    Lock,
    /// Threads were ready and had no core.
    Runnable,
    /// Requests waited to be sent, for a free connection.
    Connection,
}

impl Part {
    /// As JSON has it; that of the resource where the part is the wait for one.
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

/// Between the code of a wait inside a database and its name.
const NAMED: char = ' ';

impl Part {
    /// As a baseline keeps it.
    fn kept(&self) -> String {
        match self {
            Self::Database(wait) => format!("{}{NAMED}{wait}", self.code()),
            part => part.code().to_owned(),
        }
    }

    /// `None` if this version does not know it.
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

/// What a request of one run took, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    response_us: f64,
    /// Those that were read.
    parts: BTreeMap<Part, f64>,
    /// CPU time by process, in user space and in the kernel.
    spaces: BTreeMap<(String, FrameKind), f64>,
    /// Whether CPU time was used up: cores, or one thread.
    is_cpu_short: bool,
    /// The dependency that most threads waited for.
    dependency: Option<String>,
}

impl Spent {
    /// `None` if nothing of the system was read, or nothing was answered.
    pub fn of(measured: &Measured, signals: Option<&Signals>, send_delay_ns: Option<f64>) -> Option<Self> {
        let (window, resources) = (measured.window?, measured.resources.as_ref()?);
        let system = resources.system.as_ref()?;
        let per_s = window.ended_per_s();
        let response_us = measured.response.mean_ns? / 1e3;
        let is_covered = |usage: &Usage| usage.covered_s.unwrap_or(resources.covered_s) > 0.0;
        if !(per_s > 0.0 && is_covered(system)) {
            return None;
        }
        // Of a mean number of threads.
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
        let is_busy = |share: Option<f64>| share.is_some_and(|share| share >= BUSY);
        let core = resources.cores.iter().map(|core| core.busy).reduce(f64::max);
        spent.is_cpu_short = is_busy(signals.busy)
            || is_busy(signals.busiest_thread)
            || is_busy(signals.waits.throttled_periods)
            || is_busy(core) && resources.cores_used(system).is_some_and(|cores| cores >= BUSY);
        Some(spent)
    }

    /// Of the stored runs whose throughput may be believed, and in which the system was read.
    pub fn of_runs<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Result<Vec<Self>, EvidenceError> {
        let mut all = Vec::new();
        let is_valid = |run: &&Run| eligibility_by(run, Some(Distorted::Throughput)) == Eligibility::Valid;
        for run in runs.into_iter().filter(is_valid) {
            let lateness = run.whole(Phase::Measured)?.lateness.all().mean_ns();
            all.extend(Self::of(&Measured::of(run)?, Signals::of(run).as_ref(), lateness));
        }
        Ok(all)
    }

    /// What a baseline keeps of it, so that others can be explained without it.
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

    /// The faster side of a baseline: only of the slower one it matters what ran short.
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

    /// The only process; `None` if there are several, or none was read.
    fn lone_process(&self) -> Option<&str> {
        let mut names = self.spaces.keys().map(|(process, _)| process.as_str());
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    }

    fn part(&self, part: &Part) -> Option<f64> {
        match part {
            // A wait that no sample met took no time.
            Part::Database(_) if self.parts.keys().any(|part| matches!(part, Part::Database(_))) => {
                Some(self.parts.get(part).copied().unwrap_or(0.0))
            }
            part => self.parts.get(part).copied(),
        }
    }
}

/// Why a variant is slower.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What grew.
    pub part: Part,
    /// Of the faster and the slower variant, in microseconds per request: the medians over blocks.
    pub us_per_request: [f64; 2],
    /// The slower less the faster, estimated within blocks, in microseconds.
    pub more_us: f64,
    /// Its 95 % interval; `None` of too few runs.
    pub interval_us: Option<[f64; 2]>,
    /// Runs of the faster and of the slower variant; of blocks as many.
    pub runs: [usize; 2],
    /// Whether both were measured in the same blocks.
    pub is_paired: bool,
    /// Of the growth of the response time, the part of it; of CPU time, of the relative growth. May be above 1, by chance.
    pub share: f64,
    /// Of CPU time: in which process and space it grew, and by which share of the growth. `None` if in none of them by most of it.
    pub space: Option<(Option<String>, FrameKind, f64)>,
    /// Of waits for a dependency: its address in the slower variant.
    pub dependency: Option<String>,
}

/// Runs of the faster and of the slower variant.
#[derive(Clone, Copy, Debug)]
pub enum Sides<'a> {
    /// Both of each block, in order.
    Blocks(&'a [[Spent; 2]]),
    /// Measured at different times.
    Apart([&'a [Spent]; 2]),
}

impl<'a> Sides<'a> {
    fn of(&self, side: usize) -> Vec<&'a Spent> {
        match self {
            Self::Blocks(pairs) => pairs.iter().map(|pair| &pair[side]).collect(),
            Self::Apart(sides) => sides[side].iter().collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &'a Spent> {
        [self.of(0), self.of(1)].into_iter().flatten()
    }
}

/// What explains that a variant is slower. The outer `None` if nothing was read of either, or there are too few blocks, or runs that are
/// too few for an interval hardly differ; the inner one if no reading explains it.
///
/// `profiles`: where both spend CPU time, if they were profiled.
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
        // Where CPU time is used up, requests queue for it: the response time grows by the same share, not by the same time.
        let share = if *part == Part::Cpu && is_cpu_short { relative } else { added };
        let fits = response.more_us > 0.0 && (EXPLAINS_FROM..=EXPLAINS_TO).contains(&share);
        (is_clear && fits).then_some((grown, share))
    };
    // Those that come first are causes of those that come later, which grow along: threads that compute longer wait longer for a core.
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

/// How a figure differs.
struct Grown {
    middle_us: [f64; 2],
    more_us: f64,
    interval_us: Option<[f64; 2]>,
}

impl Grown {
    fn relative(&self) -> Option<f64> {
        let [faster, _] = self.middle_us;
        // A wait that was not there before grew beyond every share.
        Some(if faster > 0.0 { self.more_us / faster } else { f64::MAX })
    }

    /// Whether it grew, and not by chance; without an interval, by so much that chance is unlikely.
    fn is_clear(&self) -> bool {
        match self.interval_us {
            Some([low, _]) => low > 0.0,
            None => self.more_us > 0.0 && self.relative() >= Some(FEW_RUNS_MIN),
        }
    }
}

/// `None` if a run has no such figure, or there are too few blocks for an interval.
fn grown(sides: &Sides<'_>, figure: impl Fn(&Spent) -> Option<f64>) -> Option<Grown> {
    let of_side = |side: usize| sides.of(side).into_iter().map(&figure).collect::<Option<Vec<f64>>>();
    let [faster, slower] = [of_side(0)?, of_side(1)?];
    let middle_us = [median(faster.iter().copied())?, median(slower.iter().copied())?];
    Some(match sides {
        Sides::Blocks(_) => {
            let figures: Vec<(f64, f64)> = slower.into_iter().zip(faster).collect();
            let found =
                stats::compare(&figures, figures.len(), MinEffect::difference(0.0), Discards::default());
            let interval_us = found.interval.filter(|_| !matches!(found.verdict, Verdict::None(_)))?;
            Grown { middle_us, more_us: found.estimate?, interval_us: Some(interval_us) }
        }
        Sides::Apart(_) => {
            let found = Unpaired::of(&slower, &faster, Scale::Difference, ALPHA)?;
            Grown { middle_us, more_us: found.estimate?, interval_us: found.interval }
        }
    })
}

/// Fewest threads at work where one holds a lock that others wait for.
const HOLDER_MIN: f64 = 0.8;

/// Threads at one futex that carry requests, as far as readings show: the process has a thread for each request, and another thread is at
/// work all the time, so that they wait for it. Zero otherwise: idle threads of a pool wait at one futex, too.
fn at_a_lock(workers: &Workers, in_flight: f64) -> f64 {
    let is_held = workers.at_work() >= HOLDER_MIN;
    if workers.has_one_for_each(in_flight) && is_held { workers.same_futex } else { 0.0 }
}

/// The process and the space that have most of the growth of CPU time: by samples of stacks, or else by the kernel's counts.
fn space(
    sides: &Sides<'_>,
    profiles: Option<[&Profile; 2]>,
    more_us: f64,
) -> Option<(Option<String>, FrameKind, f64)> {
    let sampled = profiles.and_then(|[faster, slower]| faster.spaces_in(slower));
    if let Some(differences) = sampled {
        let first = differences.into_iter().find(|of| of.is_clear() && of.more_us > 0.0)?;
        let share = (first.more_us / more_us).min(1.0);
        return (share >= MOST).then_some((Some(first.of.0), first.of.1, share));
    }
    // The only process of a system is called after it: two systems would have none in common.
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
    let of_space = |spent: &Spent, (process, kind): (&str, FrameKind)| {
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
    (share >= MOST).then(|| ((!process.is_empty()).then(|| process.to_owned()), kind, share))
}

impl Explanation {
    /// Of the growth of CPU time, whether a share is all of it but for chance.
    pub fn is_all(share: f64) -> bool {
        share >= ALL
    }
}

#[cfg(test)]
mod tests;
