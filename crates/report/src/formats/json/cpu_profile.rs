//! CPU profiles in JSON.

use evidence::FrameKind;
use judge::cpu_profile::{Difference, Frame, Function, Profile, Space};
use serde::Serialize;

use super::thousandths;
use crate::cpu_profile;
use crate::view::View;

/// Maximum number of functions. The store has all of them.
const FUNCTIONS_MAX: usize = 100;

#[derive(Serialize)]
pub(super) struct ProfileObject {
    runs: usize,
    samples: u64,
    samples_per_cpu_s: Vec<u32>,
    lost: u64,
    has_kernel: bool,
    is_cut: bool,
    /// Share of the CPU time counted by the kernel that the samples cover.
    sampled_share: Option<f64>,
    profiler_cores_used: Option<f64>,
    us_per_request: Option<f64>,
    spaces: Vec<SpaceObject>,
    functions: Vec<FunctionObject>,
}

#[derive(Serialize)]
struct SpaceObject {
    process: String,
    space: &'static str,
    samples: u64,
    share: Option<f64>,
}

/// A function. Shares and their intervals are `None` if the profile has too few samples.
#[derive(Serialize)]
struct FunctionObject {
    name: String,
    module: String,
    space: &'static str,
    self_samples: u64,
    self_share: Option<f64>,
    self_share_low: Option<f64>,
    self_share_high: Option<f64>,
    self_us_per_request: Option<f64>,
    total_samples: u64,
    total_share: Option<f64>,
}

/// Additional CPU time of variant `b` over `a`, per request, in microseconds.
#[derive(Serialize)]
pub(super) struct ProfileDifference {
    us_per_request_a: Option<f64>,
    us_per_request_b: Option<f64>,
    spaces: Vec<DifferenceObject>,
    functions: Vec<DifferenceObject>,
}

#[derive(Serialize)]
struct DifferenceObject {
    name: String,
    module: Option<String>,
    space: &'static str,
    samples_a: u64,
    samples_b: u64,
    us_a: f64,
    us_b: f64,
    difference_us: f64,
    low_us: f64,
    high_us: f64,
}

/// Profile of a run. `None` if it was not profiled.
pub(super) fn of_run(view: &View<'_>) -> Option<ProfileObject> {
    cpu_profile::profile_of(view).as_ref().map(ProfileObject::of)
}

impl ProfileObject {
    pub(super) fn of(profile: &Profile) -> Self {
        Self {
            runs: profile.runs,
            samples: profile.samples,
            samples_per_cpu_s: profile.frequencies_hz.clone(),
            lost: profile.lost,
            has_kernel: profile.has_kernel,
            is_cut: profile.is_cut,
            sampled_share: profile.covered.map(thousandths),
            profiler_cores_used: profile.profiler_cores.map(thousandths),
            us_per_request: profile.us_per_request.map(thousandths),
            spaces: profile.spaces.iter().map(|space| SpaceObject::of(space, profile)).collect(),
            functions: profile
                .functions()
                .take(FUNCTIONS_MAX)
                .map(|frame| FunctionObject::of(frame, profile))
                .collect(),
        }
    }
}

impl SpaceObject {
    fn of(space: &Space, profile: &Profile) -> Self {
        let share = profile.share(space.samples).map(|(share, _)| share);
        Self { process: space.process.clone(), space: space.kind.name(), samples: space.samples, share }
    }
}

impl FunctionObject {
    fn of(frame: &Frame, profile: &Profile) -> Self {
        let Function { name, module, kind } = &frame.function;
        let own = profile.share(frame.own);
        Self {
            name: name.clone(),
            module: module.clone(),
            space: kind.name(),
            self_samples: frame.own,
            self_share: own.map(|(share, _)| share),
            self_share_low: own.map(|(_, [low, _])| low),
            self_share_high: own.map(|(_, [_, high])| high),
            self_us_per_request: profile.us(frame.own).map(thousandths),
            total_samples: frame.total,
            total_share: profile.share(frame.total).map(|(share, _)| share),
        }
    }
}

impl ProfileDifference {
    /// `None` if a figure is missing on one side.
    pub(super) fn of([a, b]: [&Profile; 2]) -> Option<Self> {
        let space = |of: &Difference<(String, FrameKind)>| DifferenceObject::of(of, &of.of.0, None, of.of.1);
        let function = |of: &Difference<Function>| {
            let Function { name, module, kind } = &of.of;
            DifferenceObject::of(of, name, Some(module), *kind)
        };
        Some(Self {
            us_per_request_a: a.us_per_request.map(thousandths),
            us_per_request_b: b.us_per_request.map(thousandths),
            spaces: a.spaces_in(b)?.iter().map(space).collect(),
            functions: a.functions_in(b)?.iter().take(FUNCTIONS_MAX).map(function).collect(),
        })
    }
}

impl DifferenceObject {
    fn of<K>(of: &Difference<K>, name: &str, module: Option<&String>, kind: FrameKind) -> Self {
        let [samples_a, samples_b] = of.samples;
        let [us_a, us_b] = of.us_per_request.map(thousandths);
        let [low_us, high_us] = of.interval_us.map(thousandths);
        Self {
            name: name.to_owned(),
            module: module.cloned(),
            space: kind.name(),
            samples_a,
            samples_b,
            us_a,
            us_b,
            difference_us: thousandths(of.more_us),
            low_us,
            high_us,
        }
    }
}
