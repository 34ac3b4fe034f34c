//! CPU profiles of systems: sums over runs, shares of functions, and differences between two variants.
//!
//! A sample represents a fixed amount of CPU time. The CPU time per request comes from the kernel's own accounting; samples only
//! give the share of a function in it. The interval of a share assumes independent samples, so it does not include variation
//! between runs.

use std::collections::BTreeMap;

use evidence::{CpuProfile, EvidenceError, FrameKind, ProfileCall, Run};
use stats::{proportion_error, proportion_interval};

use crate::measured::Measured;
use crate::rates;
use crate::words::Share;

/// Min number of samples for which shares are reported.
pub const SAMPLES_MIN: u64 = 100;
/// Min sampled share of the CPU time counted by the kernel. Below it, the profile misses a part of the system.
pub const COVERED_MIN_SHARE: f64 = 0.8;
/// Common name if each of two systems has a single process and the names differ.
pub const THE_SYSTEM: &str = "the system";
/// Length at which the kernel truncates the name of a process, in bytes (`TASK_COMM_LEN` − 1).
const COMM_BYTES: usize = 15;
/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Sum of the profiles of a variant's runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Number of profiled runs.
    pub runs: usize,
    /// Distinct sampling frequencies of the runs, in samples per second of CPU time.
    pub frequencies_hz: Vec<u32>,
    /// Number of samples.
    pub samples: u64,
    /// Number of samples lost because a buffer was full.
    pub lost: u64,
    /// Whether time in the kernel was sampled in all runs.
    pub has_kernel: bool,
    /// Whether sampling ended early in any run.
    pub is_cut: bool,
    /// Sampled share of the CPU time that the kernel counted; `None` if it was not counted in all runs.
    pub covered: Option<f64>,
    /// Mean number of cores that the profiler itself kept busy.
    pub profiler_cores: Option<f64>,
    /// CPU time of the system per request that ended in the window, in microseconds.
    pub us_per_request: Option<f64>,
    /// Processes and functions, sorted by their own samples, most first.
    pub frames: Vec<Frame>,
    /// Call tree by indices into `frames`; callers come before callees.
    pub calls: Vec<ProfileCall>,
    /// User space and kernel of each process, sorted by samples, most first.
    pub spaces: Vec<Space>,
}

/// A process or a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Name from outside: escape it.
    pub name: String,
    /// File that contains it; empty for a process.
    pub module: String,
    /// Process, user space, or kernel.
    pub kind: FrameKind,
}

/// Samples of a process or a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The process or function.
    pub function: Function,
    /// Samples in which the frame itself ran.
    pub own: u64,
    /// Samples in which the frame, or a function that it called, ran.
    pub total: u64,
}

/// The user space or the kernel part of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Name of the process, from outside: escape it.
    pub process: String,
    /// User space, or kernel.
    pub kind: FrameKind,
    /// Number of samples.
    pub samples: u64,
}

/// Difference in CPU time per request between two variants, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<K> {
    /// Function or space that is compared.
    pub of: K,
    /// Samples of each variant.
    pub samples: [u64; 2],
    /// CPU time per request of each variant, in microseconds.
    pub us_per_request: [f64; 2],
    /// Second minus first, in microseconds.
    pub more_us: f64,
    /// 95 % interval of `more_us`, in microseconds. It includes sampling error only.
    pub interval_us: [f64; 2],
}

impl<K> Difference<K> {
    /// Returns whether the difference exceeds the sampling error.
    pub fn is_clear(&self) -> bool {
        let [low, high] = self.interval_us;
        low > 0.0 || high < 0.0
    }
}

impl Profile {
    /// Sums the profiles of runs, each with its figures; `None` if no run was profiled.
    pub fn of<'a>(runs: impl IntoIterator<Item = (&'a Run, &'a Measured)>) -> Option<Self> {
        let profiled = runs.into_iter().filter_map(|(run, measured)| Some((run.cpu_profile()?, measured)));
        Self::of_profiles(profiled)
    }

    /// Returns the profile of one run; `None` if it was not profiled.
    pub fn of_run(run: &Run) -> Result<Option<Self>, EvidenceError> {
        if run.cpu_profile().is_none() {
            return Ok(None);
        }
        let measured = Measured::of(run)?;
        Ok(Self::of([(run, &measured)]))
    }

    /// Sums profiles, each with the figures of its run; `None` if there is none.
    pub fn of_profiles<'a>(
        profiles: impl IntoIterator<Item = (&'a CpuProfile, &'a Measured)>,
    ) -> Option<Self> {
        let (mut sum, mut tree, mut time) =
            (Self { has_kernel: true, ..Self::default() }, Tree::default(), Time::default());
        for (profile, measured) in profiles {
            sum.runs += 1;
            sum.frequencies_hz.push(profile.frequency_hz);
            sum.samples = sum.samples.saturating_add(profile.samples);
            sum.lost = sum.lost.saturating_add(profile.lost);
            sum.has_kernel &= profile.has_kernel;
            sum.is_cut |= profile.is_cut;
            tree.add(profile);
            time.add(profile, measured);
        }
        if sum.runs == 0 {
            return None;
        }
        sum.frequencies_hz.sort_unstable();
        sum.frequencies_hz.dedup();
        (sum.frames, sum.calls, sum.spaces) = tree.sorted();
        (sum.covered, sum.profiler_cores, sum.us_per_request) =
            (time.covered(), time.profiler_cores(), time.us_per_request());
        if !sum.has_kernel {
            // The kernel counted all CPU time. Samples of user space alone are shares of a part of it.
            (sum.covered, sum.us_per_request) = (None, None);
        }
        Some(sum)
    }

    /// Returns whether there are enough samples to report shares.
    pub fn is_enough(&self) -> bool {
        self.samples >= SAMPLES_MIN
    }

    /// Returns the functions with own samples, most first.
    pub fn functions(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(|frame| frame.function.kind != FrameKind::Process && frame.own > 0)
    }

    /// Returns the share of `samples` in all samples, with its 95 % interval; `None` if there are too few in total.
    pub fn share(&self, samples: u64) -> Option<(f64, [f64; 2])> {
        let interval = proportion_interval(samples, self.samples).filter(|_| self.is_enough())?;
        Some((samples as f64 / self.samples as f64, interval))
    }

    /// Returns the CPU time per request that `samples` represent, in microseconds; `None` if the share or the total is
    /// unknown.
    pub fn us(&self, samples: u64) -> Option<f64> {
        Some(self.share(samples)?.0 * self.us_per_request?)
    }

    /// Compares the own CPU time per request of each function, `other` minus `self`, largest difference first. `None`
    /// if a figure is missing on one side. Functions of a process's main program have no module, because two builds of
    /// a server may have different file names.
    pub fn functions_in(&self, other: &Self) -> Option<Vec<Difference<Function>>> {
        self.differences(other, |profile| {
            sums(profile.functions().map(|frame| (profile.without_own_program(&frame.function), frame.own)))
        })
    }

    /// Like [`functions_in`](Self::functions_in), for user space and kernel of each process. Uses [`THE_SYSTEM`] if each side has
    /// one process and their names differ.
    pub fn spaces_in(&self, other: &Self) -> Option<Vec<Difference<(String, FrameKind)>>> {
        let is_renamed = self.is_renamed_in(other);
        self.differences(other, |profile| {
            sums(profile.spaces.iter().map(|space| {
                let name = if is_renamed { THE_SYSTEM } else { &space.process };
                ((name.to_owned(), space.kind), space.samples)
            }))
        })
    }

    fn only_process(&self) -> Option<&str> {
        let first = self.spaces.first()?.process.as_str();
        self.spaces.iter().all(|space| space.process == first).then_some(first)
    }

    fn without_own_program(&self, function: &Function) -> Function {
        let is_called = |process: &str| {
            process == function.module || process.len() == COMM_BYTES && function.module.starts_with(process)
        };
        let is_own =
            function.kind == FrameKind::User && self.spaces.iter().any(|space| is_called(&space.process));
        Function { module: if is_own { String::new() } else { function.module.clone() }, ..function.clone() }
    }

    /// Compares the CPU time per request below every call of `other`, in the order of its calls, with that below the
    /// same path in `self`. Names are matched as in [`functions_in`](Self::functions_in) and
    /// [`spaces_in`](Self::spaces_in). `None` if a figure is missing.
    pub fn paths_in(&self, other: &Self) -> Option<Vec<Difference<()>>> {
        let is_renamed = self.is_renamed_in(other);
        let mut numbers = BTreeMap::new();
        let [first, second] = [self, other].map(|profile| profile.numbered_paths(is_renamed, &mut numbers));
        let samples = [(self, &first), (other, &second)].map(|(profile, paths)| {
            let totals = profile.totals();
            sums(paths.iter().copied().zip(totals))
        });
        let of_path = |path: &u32| {
            let samples = samples.each_ref().map(|samples| samples.get(path).copied().unwrap_or(0));
            self.difference(other, (), samples)
        };
        second.iter().map(of_path).collect()
    }

    /// Returns the samples of every call, including all calls below it.
    pub fn totals(&self) -> Vec<u64> {
        let mut totals: Vec<u64> = self.calls.iter().map(|call| call.samples).collect();
        for (number, call) in self.calls.iter().enumerate().rev() {
            if let Some(parent) = call.parent {
                totals[parent as usize] = totals[parent as usize].saturating_add(totals[number]);
            }
        }
        totals
    }

    /// Numbers the path of each call. Equal paths have equal numbers in all trees that share `numbers`.
    fn numbered_paths(
        &self,
        is_renamed: bool,
        numbers: &mut BTreeMap<(Option<u32>, Function), u32>,
    ) -> Vec<u32> {
        let mut paths: Vec<u32> = Vec::with_capacity(self.calls.len());
        for call in &self.calls {
            let function = &self.frames[call.frame as usize].function;
            let mut function = self.without_own_program(function);
            if is_renamed && call.parent.is_none() {
                THE_SYSTEM.clone_into(&mut function.name);
            }
            let next = numbers.len() as u32;
            let caller = call.parent.map(|parent| paths[parent as usize]);
            paths.push(*numbers.entry((caller, function)).or_insert(next));
        }
        paths
    }

    /// Returns whether each side has one process and their names differ.
    fn is_renamed_in(&self, other: &Self) -> bool {
        let only = [self, other].map(Self::only_process);
        only.iter().all(Option::is_some) && only[0] != only[1]
    }

    fn difference<K>(&self, other: &Self, of: K, samples: [u64; 2]) -> Option<Difference<K>> {
        let sides = [self, other];
        let [a, b] = [sides[0].us(samples[0])?, sides[1].us(samples[1])?];
        let error = |side: usize| {
            let profile = sides[side];
            proportion_error(samples[side], profile.samples) * profile.us_per_request.unwrap_or(0.0)
        };
        let half = Z * error(0).hypot(error(1));
        let more_us = b - a;
        let interval_us = [more_us - half, more_us + half];
        Some(Difference { of, samples, us_per_request: [a, b], more_us, interval_us })
    }

    fn differences<K: Ord + Clone>(
        &self,
        other: &Self,
        samples: impl Fn(&Self) -> BTreeMap<K, u64>,
    ) -> Option<Vec<Difference<K>>> {
        let counts = [self, other].map(samples);
        let [first, second] = &counts;
        let mut all: Vec<&K> = first.keys().chain(second.keys()).collect();
        all.sort();
        all.dedup();
        let mut differences = Vec::with_capacity(all.len());
        for of in all {
            let samples = counts.each_ref().map(|counts| counts.get(of).copied().unwrap_or(0));
            differences.push(self.difference(other, of.clone(), samples)?);
        }
        differences.sort_by(|one, other| other.more_us.abs().total_cmp(&one.more_us.abs()));
        Some(differences)
    }
}

fn sums<K: Ord>(samples: impl Iterator<Item = (K, u64)>) -> BTreeMap<K, u64> {
    samples.fold(BTreeMap::new(), |mut sums, (of, samples)| {
        let sum = sums.entry(of).or_default();
        *sum = sum.saturating_add(samples);
        sums
    })
}

/// CPU time over runs: counted by the kernel, sampled, and used by the profiler.
#[derive(Default)]
struct Time {
    runs: usize,
    /// CPU time counted in the measured windows, in seconds. Includes only runs in which it was counted.
    counted_s: f64,
    /// CPU time that the samples represent in windows of that length, in seconds.
    sampled_s: f64,
    requests: u64,
    counted_runs: usize,
    profiler_s: f64,
    span_s: f64,
}

impl Time {
    fn add(&mut self, profile: &CpuProfile, measured: &Measured) {
        let span_s = profile.span_ns as f64 / 1e9;
        self.runs += 1;
        self.profiler_s += profile.profiler_cpu_s;
        self.span_s += span_s;
        let (Some(counted_s), Some(window)) = (measured.system_cpu_s(), measured.window) else { return };
        self.counted_runs += 1;
        self.counted_s += counted_s;
        self.requests = self.requests.saturating_add(window.counts.ended());
        let cores = profile.samples as f64 / f64::from(profile.frequency_hz) / span_s;
        self.sampled_s += cores * window.length_s;
    }

    fn covered(&self) -> Option<f64> {
        Share::of_measured(self.sampled_s, self.counted_s).map(Share::get).filter(|_| self.is_complete())
    }

    fn profiler_cores(&self) -> Option<f64> {
        Some(self.profiler_s / self.span_s).filter(|cores| cores.is_finite())
    }

    fn us_per_request(&self) -> Option<f64> {
        rates::us_per_request(self.counted_s, self.requests).filter(|us| self.is_complete() && us.is_finite())
    }

    /// Returns whether CPU time was counted in all runs. A sum over some runs would not match the samples of all.
    fn is_complete(&self) -> bool {
        self.counted_runs == self.runs
    }
}

/// Sum of the call trees of several runs.
#[derive(Default)]
struct Tree {
    numbers: BTreeMap<Function, u32>,
    frames: Vec<Frame>,
    places: BTreeMap<(Option<u32>, u32), u32>,
    calls: Vec<ProfileCall>,
}

impl Tree {
    fn add(&mut self, profile: &CpuProfile) {
        let frames: Vec<u32> = profile
            .frames
            .iter()
            .map(|frame| {
                let function =
                    Function { name: frame.name.clone(), module: frame.module.clone(), kind: frame.kind };
                let all = &mut self.frames;
                let number = *self.numbers.entry(function).or_insert_with_key(|function| {
                    all.push(Frame { function: function.clone(), own: 0, total: 0 });
                    all.len() as u32 - 1
                });
                let sum = &mut self.frames[number as usize];
                (sum.own, sum.total) =
                    (sum.own.saturating_add(frame.own), sum.total.saturating_add(frame.total));
                number
            })
            .collect();
        let mut places: Vec<u32> = Vec::with_capacity(profile.calls.len());
        // The store has checked that callers come first, and that every frame exists.
        for call in &profile.calls {
            let parent = call.parent.map(|parent| places[parent as usize]);
            let frame = frames[call.frame as usize];
            let calls = &mut self.calls;
            let place = *self.places.entry((parent, frame)).or_insert_with(|| {
                calls.push(ProfileCall { parent, frame, samples: 0 });
                calls.len() as u32 - 1
            });
            let sum = &mut self.calls[place as usize].samples;
            *sum = sum.saturating_add(call.samples);
            places.push(place);
        }
    }

    /// Returns the frames sorted by own samples, calls with indices into these frames, and the spaces of processes.
    fn sorted(self) -> (Vec<Frame>, Vec<ProfileCall>, Vec<Space>) {
        let spaces = self.spaces();
        let mut order: Vec<usize> = (0..self.frames.len()).collect();
        order.sort_by(|one, other| {
            let key = |number: usize| {
                let frame = &self.frames[number];
                (std::cmp::Reverse(frame.own), std::cmp::Reverse(frame.total), &frame.function)
            };
            key(*one).cmp(&key(*other))
        });
        let mut numbers = vec![0u32; self.frames.len()];
        order.iter().enumerate().for_each(|(new, old)| numbers[*old] = new as u32);
        let frames = order.iter().map(|old| self.frames[*old].clone()).collect();
        let calls = self.calls.into_iter();
        let calls = calls.map(|call| ProfileCall { frame: numbers[call.frame as usize], ..call }).collect();
        (frames, calls, spaces)
    }

    fn spaces(&self) -> Vec<Space> {
        let mut processes: Vec<u32> = Vec::with_capacity(self.calls.len());
        let mut sums: BTreeMap<(u32, FrameKind), u64> = BTreeMap::new();
        for call in &self.calls {
            let process = call.parent.map_or(call.frame, |parent| processes[parent as usize]);
            processes.push(process);
            if call.samples > 0 {
                let kind = match self.frames[call.frame as usize].function.kind {
                    FrameKind::Kernel => FrameKind::Kernel,
                    FrameKind::User | FrameKind::Process => FrameKind::User,
                };
                let sum = sums.entry((process, kind)).or_default();
                *sum = sum.saturating_add(call.samples);
            }
        }
        let space = |((process, kind), samples)| {
            let process = self.frames[process as usize].function.name.clone();
            Space { process, kind, samples }
        };
        let mut spaces: Vec<Space> = sums.into_iter().map(space).collect();
        spaces.sort_by_key(|space| std::cmp::Reverse(space.samples));
        spaces
    }
}

#[cfg(test)]
mod tests;
