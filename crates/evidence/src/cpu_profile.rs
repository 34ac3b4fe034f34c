//! CPU profile of the processes of a system during a run: sampled stacks, summed up.

use serde::{Deserialize, Serialize};

use crate::run::Run;

/// Sampled stacks of one run. Names are untrusted: escape them before printing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuProfile {
    /// Sampling frequency: samples per second of CPU time.
    pub frequency_hz: u32,
    /// Method by which the profiler finds callers: `fp` (frame pointers) or `dwarf` (debug information).
    pub stacks: String,
    /// Whether kernel time was sampled as well.
    pub has_kernel: bool,
    /// Number of samples taken.
    pub samples: u64,
    /// Number of samples lost because the buffer was full.
    pub lost: u64,
    /// Time from the first sample to the last one, in nanoseconds.
    pub span_ns: u64,
    /// CPU time of the profiler itself, in seconds.
    pub profiler_cpu_s: f64,
    /// Whether profiling ended early because the profile reached its maximum size.
    pub is_cut: bool,
    /// Processes and functions.
    pub frames: Vec<ProfileFrame>,
    /// Call tree: each call comes after its caller.
    pub calls: Vec<ProfileCall>,
}

/// A process, or a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFrame {
    /// Name of the function or process.
    pub name: String,
    /// File that contains the function; `kernel` for the kernel itself; empty for a process.
    pub module: String,
    /// Whether the frame is a process, or a function in user space or in the kernel.
    pub kind: FrameKind,
    /// Samples with this frame at the top of the stack (self time).
    pub own: u64,
    /// Samples with this frame anywhere in the stack (total time).
    pub total: u64,
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A process.
    #[default]
    Process,
    /// A function in user space.
    User,
    /// A function in the kernel.
    Kernel,
}

/// A frame in the call tree, with its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Option<u32>, u32, u64)", into = "(Option<u32>, u32, u64)")]
pub struct ProfileCall {
    /// Index of the calling entry in `calls`; `None` if the frame is a process.
    pub parent: Option<u32>,
    /// Index of the frame in `frames`.
    pub frame: u32,
    /// Samples that ended in this call.
    pub samples: u64,
}

impl From<(Option<u32>, u32, u64)> for ProfileCall {
    fn from((parent, frame, samples): (Option<u32>, u32, u64)) -> Self {
        Self { parent, frame, samples }
    }
}

impl From<ProfileCall> for (Option<u32>, u32, u64) {
    fn from(ProfileCall { parent, frame, samples }: ProfileCall) -> Self {
        (parent, frame, samples)
    }
}

impl FrameKind {
    /// Returns the word for the kind in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::User => "user",
            Self::Kernel => "kernel",
        }
    }
}

impl CpuProfile {
    /// Maximum number of calls stored per run.
    pub const CALLS_MAX: usize = 20_000;
    /// Maximum number of frames stored per run.
    pub const FRAMES_MAX: usize = 20_000;

    /// Returns whether calls come after their callers, name existing frames, and add up to `samples`.
    pub fn is_possible(&self) -> bool {
        let is_in_order = |(number, call): (usize, &ProfileCall)| {
            call.parent.is_none_or(|parent| (parent as usize) < number)
                && (call.frame as usize) < self.frames.len()
        };
        let sum = self.calls.iter().try_fold(0u64, |sum, call| sum.checked_add(call.samples));
        let is_within = |frame: &ProfileFrame| frame.own <= frame.total && frame.total <= self.samples;
        self.frequency_hz > 0
            && self.profiler_cpu_s.is_finite()
            && self.calls.len() <= Self::CALLS_MAX
            && self.frames.len() <= Self::FRAMES_MAX
            && self.calls.iter().enumerate().all(is_in_order)
            && self.frames.iter().all(is_within)
            && sum == Some(self.samples)
    }
}

impl Run {
    /// Returns the CPU profile of the system; `None` if the run was not profiled.
    pub fn cpu_profile(&self) -> Option<&CpuProfile> {
        self.monitored.cpu_profile.as_ref()
    }
}
