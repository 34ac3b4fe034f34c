//! CPU profile of a run: samples the system, and stores the profile.

use std::time::Duration;

use evidence::{CpuProfile, FrameKind, ProfileCall, ProfileFrame, RunId};
use lab::probes::NotAvailable;
use lab::profiler::{self, ProfileOptions};
use plan::{Plan, Stacks};
use store::{Store, StoreError};

use crate::systems::{Lab, Sampling};

/// Name of the probe in reports.
const NAME: &str = "CPU profile";
/// Maximum length of a profile if the number of requests ends the load.
const LENGTH_MAX: Duration = Duration::from_secs(3_600);

/// Profiler of one run; idle if no profile was requested.
#[derive(Debug, Default)]
pub(crate) struct RunProfiler {
    asked: Option<ProfileRequest>,
    sampling: Option<Box<dyn Sampling>>,
    /// Reason why there is no profile. `None` if there is one, or if none was requested.
    missing: Option<String>,
}

/// Requested profile.
#[derive(Debug)]
struct ProfileRequest {
    stacks: Stacks,
    after: Duration,
    longest: Duration,
    /// Processes of a system that Tenbin did not start.
    listeners: Vec<u32>,
}

impl RunProfiler {
    /// Profiler that the plan requests. `listeners` are the processes that listen on the endpoints of the load.
    pub(crate) fn of(plan: &Plan, listeners: &[u32]) -> Self {
        let after = Duration::from_nanos(plan.warm_up_ns);
        let planned = plan.planned_ns().map(Duration::from_nanos);
        let longest = planned.map_or(LENGTH_MAX, |planned| planned.saturating_sub(after));
        let asked = plan.profile.map(|stacks| ProfileRequest {
            stacks,
            after,
            longest,
            listeners: listeners.to_vec(),
        });
        Self { asked, ..Self::default() }
    }

    /// Starts sampling with the load. `roots` are the processes of the system: name, and process ID of the keeper.
    pub(crate) fn begin(&mut self, lab: &dyn Lab, roots: &[(String, u32)]) {
        let Some(ProfileRequest { stacks, after, longest, listeners }) = self.asked.take() else { return };
        // A single process may be the master of several programs, which then have their own names.
        let named = |(name, pid): &(String, u32)| ((roots.len() > 1).then(|| name.clone()), *pid);
        let roots = match roots {
            [] => listeners.into_iter().map(|pid| (None, pid)).collect(),
            _ => roots.iter().map(named).collect(),
        };
        let stacks = match stacks {
            Stacks::FramePointers => profiler::Stacks::FramePointers,
            Stacks::Dwarf => profiler::Stacks::Dwarf,
        };
        let order = ProfileOptions {
            roots,
            stacks,
            after,
            longest,
            dir: Default::default(),
            keeper: Default::default(),
        };
        match lab.profile(order) {
            Ok(sampling) => self.sampling = Some(sampling),
            Err(why) => self.missing = Some(why),
        }
    }

    /// Stops sampling after the load.
    pub(crate) fn stop(&mut self) {
        self.sampling.iter_mut().for_each(|sampling| sampling.stop());
    }

    /// Whether there is a profile to store.
    pub(crate) fn is_enabled(&self) -> bool {
        self.sampling.is_some()
    }

    /// Root process of the profiler, which is not part of the system. `None` if it is idle.
    pub(crate) fn keeper_pid(&self) -> Option<u32> {
        self.sampling.as_ref().map(|sampling| sampling.keeper_pid())
    }

    /// Stores the profile, while the processes still run.
    pub(crate) fn keep(&mut self, stacks: Stacks, store: &Store, run: &RunId) -> Result<(), StoreError> {
        match self.sampling.take().map(|sampling| sampling.fold()) {
            Some(Ok(profile)) => store.keep_cpu_profile(run, &stored_profile(profile, stacks)),
            Some(Err(why)) => {
                self.missing = Some(why);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Reason why a requested profile is missing.
    pub(crate) fn missing(&mut self) -> Option<NotAvailable> {
        self.missing.take().map(|because| NotAvailable { probe: NAME.to_owned(), because })
    }
}

fn stored_profile(profile: profiler::Profile, stacks: Stacks) -> CpuProfile {
    let frame = |frame: profiler::Frame| ProfileFrame {
        name: frame.name,
        module: frame.module,
        kind: match frame.kind {
            profiler::FrameKind::Process => FrameKind::Process,
            profiler::FrameKind::User => FrameKind::User,
            profiler::FrameKind::Kernel => FrameKind::Kernel,
        },
        own: frame.own,
        total: frame.total,
    };
    let call = |profiler::Call { parent, frame, samples }| ProfileCall { parent, frame, samples };
    CpuProfile {
        frequency_hz: profile.frequency_hz,
        stacks: stacks.name().to_owned(),
        has_kernel: profile.has_kernel,
        samples: profile.samples,
        lost: profile.lost,
        span_ns: profile.span_ns,
        profiler_cpu_s: profile.perf_cpu_s,
        is_cut: profile.is_cut,
        frames: profile.frames.into_iter().map(frame).collect(),
        calls: profile.calls.into_iter().map(call).collect(),
    }
}
