//! The figures of a run on which a verdict may rest.

use record::{Counts, Phase};
use store::{Run, StoreError};

use crate::durations::Durations;
use crate::rated::rated_s;
use crate::rates;
use crate::resources::Resources;

/// What a run amounts to over its measured time, all steps together.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How many requests, and how they ended.
    pub counts: Counts,
    /// From the first request sent to the last one that ended; `None` if that is no time at all.
    pub span_s: Option<f64>,
    /// The time over which rates are told, as [`rated_s`] says; `None` if that is no time at all.
    pub rated_s: Option<f64>,
    /// Response times of all that ended.
    pub response: Durations,
    /// What was used meanwhile, if anybody looked.
    pub resources: Option<Resources>,
}

impl Measured {
    /// Of a stored run.
    pub fn of(run: &Run) -> Result<Self, StoreError> {
        let tally = run.whole(Phase::Measured)?;
        Ok(Self {
            counts: tally.counts,
            span_s: tally.span_ns().map(|ns| ns as f64 / 1e9),
            rated_s: rated_s(run, &tally),
            response: Durations::of(&tally.response.all()),
            resources: Resources::of(run),
        })
    }

    /// Requests that ended, in whatever way but by the end of the run.
    pub fn samples(&self) -> u64 {
        self.response.count
    }

    /// Requests that did not end ok, of those that ended.
    pub fn error_share(&self) -> Option<f64> {
        rates::error_share(&self.counts, self.samples())
    }

    /// Answers that were ok, per second.
    pub fn ok_per_s(&self) -> Option<f64> {
        rates::ok_per_s(&self.counts, self.rated_s)
    }

    /// CPU time of the system for the requests that were measured: their span is not quite that of the readings.
    pub fn system_cpu_s(&self) -> Option<f64> {
        let resources = self.resources.as_ref()?;
        let cores_used = resources.cores_used(resources.system.as_ref()?)?;
        Some(cores_used * self.span_s?).filter(|cpu_s| cpu_s.is_finite())
    }

    /// What the system spent per request that ended, in microseconds of CPU.
    pub fn system_us_per_request(&self) -> Option<f64> {
        rates::us_per_request(self.system_cpu_s()?, self.samples())
    }
}
