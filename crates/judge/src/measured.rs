//! The figures of a run on which a verdict may rest.

use evidence::{EvidenceError, LoadTool, Outage, Run};
use record::{Counts, Phase, Tally};

use crate::durations::Durations;
use crate::event_cost::EventSums;
use crate::pace::Pace;
use crate::rates;
use crate::resources::Resources;
use crate::window::Window;

/// What a run amounts to over its measured time, all steps together.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How many requests, and how they ended.
    pub counts: Counts,
    /// What ended in the window, for rates; `None` where nothing tells how long it was.
    pub window: Option<Window>,
    /// How long the system was gone; `None` if it was not recorded.
    pub outage: Option<Outage>,
    /// Response times of all that ended.
    pub response: Durations,
    /// How fast and how evenly it was answered.
    pub pace: Pace,
    /// What was used meanwhile, if anybody looked.
    pub resources: Option<Resources>,
    /// What its events cost; `None` if it had none, or nobody knows of one of them.
    pub events: Option<EventSums>,
    /// Time from the first request sent to the last one that ended; `None` if that is no time at all.
    pub span_s: Option<f64>,
    /// Bytes received; `None` if a tool made the load and did not report them.
    pub received_bytes: Option<u64>,
    /// Bytes sent; `None` if a tool made the load.
    pub sent_bytes: Option<u64>,
    /// Requests sent, in the warm-up and after it.
    pub sent_with_warm_up: u64,
    /// When the last request ended, in nanoseconds since the load began; `None` if none did.
    pub last_finished_ns: Option<u64>,
}

impl Measured {
    /// Of a stored run.
    pub fn of(run: &Run) -> Result<Self, EvidenceError> {
        Ok(Self::of_tallies(run, &run.whole(Phase::WarmUp)?, &run.whole(Phase::Measured)?))
    }

    /// Of a stored run with the tallies of its warm-up and of the time after it, all steps together.
    pub fn of_tallies(run: &Run, warm_up: &Tally, measured: &Tally) -> Self {
        let ending = run.ending.as_ref();
        let tool = ending.and_then(|ending| ending.generator.tool.as_ref());
        let bytes =
            |of_engine: u64, of_tool: fn(&LoadTool) -> Option<u64>| tool.map_or(Some(of_engine), of_tool);
        Self {
            counts: measured.counts,
            window: Window::of(run),
            outage: ending.and_then(|ending| ending.outage.clone()),
            response: Durations::of_run(run, &measured.response.all(), &measured.counts),
            pace: Pace::of(run, warm_up, measured),
            resources: Resources::of(run),
            events: EventSums::of(run),
            span_s: measured.span_ns().map(|ns| ns as f64 / 1e9),
            received_bytes: bytes(measured.received_bytes, |tool| tool.received_bytes),
            sent_bytes: bytes(measured.sent_bytes, |_| None),
            sent_with_warm_up: measured.counts.sent.saturating_add(warm_up.counts.sent),
            last_finished_ns: measured.last_finished_ns,
        }
    }

    /// Requests that ended, in whatever way but by the end of the run.
    pub fn samples(&self) -> u64 {
        self.response.count
    }

    /// Planned requests that the system did not serve, as a share.
    pub fn error_share(&self) -> Option<f64> {
        rates::error_share(&self.counts)
    }

    /// Planned requests that the system did not serve, for comparing it with others. Few requests ask a system that is gone: of a
    /// degraded run they are at least the share of the time for which it was gone.
    pub fn unserved(&self) -> u64 {
        let gone = self.gone_share() * self.counts.planned as f64;
        rates::errors(&self.counts).max(gone.ceil() as u64)
    }

    /// The share of the time for which the system was gone, if it was so long that the run is degraded; else 0.
    pub fn gone_share(&self) -> f64 {
        self.outage.as_ref().filter(|outage| outage.is_degraded()).map_or(0.0, |outage| outage.gone_share)
    }

    /// Ok answers per second; `None` if there was none.
    pub fn ok_per_s(&self) -> Option<f64> {
        self.window.filter(|window| window.counts.ok > 0).map(|window| window.ok_per_s())
    }

    /// CPU time of the system in the window, which is not quite the time of the readings.
    pub fn system_cpu_s(&self) -> Option<f64> {
        let resources = self.resources.as_ref()?;
        let cores_used = resources.cores_used(resources.system.as_ref()?)?;
        Some(cores_used * self.window?.length_s).filter(|cpu_s| cpu_s.is_finite())
    }

    /// What the system spent per request that ended in the window, in microseconds of CPU.
    pub fn system_us_per_request(&self) -> Option<f64> {
        rates::us_per_request(self.system_cpu_s()?, self.window?.counts.ended())
    }
}
