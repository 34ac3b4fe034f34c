//! A stored run with its figures, including the generator's cost and the network traffic of its load.

use evidence::{Model, Run};

use crate::compared_by::ComparedBy;
use crate::measured::Measured;
use crate::rates;

/// A stored run and its figures.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRun<'a> {
    /// The run.
    pub run: &'a Run,
    /// Figures of the run.
    pub measured: &'a Measured,
}

impl MeasuredRun<'_> {
    /// Returns the figure of a metric, for people; `None` if there is none, or too few samples.
    pub fn figure(&self, by: &ComparedBy) -> Option<f64> {
        by.figure(self.run, self.measured)
    }

    /// Returns the observation of the run in its block, by a metric.
    pub fn result(&self, by: &ComparedBy) -> stats::RunResult {
        crate::run_result(self.run, self.measured, by)
    }

    /// Returns the measured time in seconds, from the end of the warm-up to the end of the last request. If none ended,
    /// uses the wall clock. `None` if neither is known.
    pub fn duration_s(&self) -> Option<f64> {
        let warm_up_ns = self.run.new.warm_up_ns;
        let last_ns = self.measured.last_finished_ns;
        let seen_ns = last_ns.map(|last_ns| last_ns.saturating_sub(warm_up_ns) as f64);
        let by_the_clock_ns = || {
            let ended_at_unix_ms = self.run.ending.as_ref()?.ended_at_unix_ms;
            let elapsed_ms = ended_at_unix_ms.saturating_sub(self.run.new.started_at_unix_ms).max(0);
            Some((elapsed_ms as f64 * 1e6 - warm_up_ns as f64).max(0.0))
        };
        seen_ns.or_else(by_the_clock_ns).map(|ns| ns / 1e9)
    }

    /// Returns the CPU time of the generator per request, warm-up included, in microseconds.
    pub fn generator_us_per_request(&self) -> Option<f64> {
        let generator = &self.run.ending.as_ref()?.generator;
        let requests = self.measured.sent_with_warm_up;
        (requests > 0).then(|| (generator.cpu_user_s + generator.cpu_sys_s) * 1e6 / requests as f64)
    }

    /// Returns the cores that the generator kept busy: during the measured time if sampled, otherwise over the whole
    /// run.
    pub fn generator_cores_used(&self) -> Option<f64> {
        let resources = self.measured.resources.as_ref();
        let measured = resources.and_then(|resources| resources.cores_used(resources.generator.as_ref()?));
        let over_all = || {
            let generator = &self.run.ending.as_ref()?.generator;
            let elapsed_s = self.duration_s()? + self.run.new.warm_up_ns as f64 / 1e9;
            Some((generator.cpu_user_s + generator.cpu_sys_s) / elapsed_s).filter(|cores| cores.is_finite())
        };
        measured.or_else(over_all)
    }

    /// Returns the cores that the system kept busy during the measured time.
    pub fn system_cores_used(&self) -> Option<f64> {
        let resources = self.measured.resources.as_ref()?;
        resources.cores_used(resources.system.as_ref()?)
    }

    /// Returns the context switches of the system per 10⁶ bytes of traffic, for loads over raw TCP, where they show the
    /// cost of small writes.
    pub fn system_switches_per_mb(&self) -> Option<f64> {
        let is_raw = self.run.new.plan_json["steps"][0].get("receive").is_some();
        let resources = self.measured.resources.as_ref().filter(|_| is_raw)?;
        let usage = resources.system.as_ref()?;
        let per_s =
            resources.per_s(usage, usage.switches_voluntary? + usage.switches_involuntary.unwrap_or(0.0));
        let bytes = self.measured.sent_bytes?.checked_add(self.measured.received_bytes?)?;
        let mb_per_s = bytes as f64 / 1e6 / self.measured.span_s?;
        // A count of zero means that no thread was sampled twice, as in runs of one second.
        Some(per_s / mb_per_s).filter(|per_mb| per_mb.is_finite() && *per_mb > 0.0)
    }

    /// Returns KB (1,024 bytes) per second, from `bytes` of all requests; `None` if the length of the window is
    /// unknown.
    pub fn kb_per_s(&self, bytes: Option<u64>) -> Option<f64> {
        Some(rates::kb_per_s(self.measured.window?, bytes?, self.measured.samples()))
    }

    /// Returns whether some users of a closed load were starved while others were always answered.
    pub fn is_gone_for_some_users(&self) -> bool {
        let outage = self.measured.outage.as_ref();
        outage.is_none_or(|outage| outage.times.is_empty()) && self.run.new.model == Model::Closed
    }
}
