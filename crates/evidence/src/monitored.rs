//! Observations during the load: readings, output, gates, events.

use record::LoadSecond;

use crate::bounds::{Bounds, Decision};
use crate::cpu_profile::CpuProfile;
use crate::event::Event;
use crate::event_cost::EventCost;
use crate::reading::Readings;

/// Output of a process of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name of the process.
    pub process: String,
    /// Bytes as received. They are untrusted: escape them before printing.
    pub text: Vec<u8>,
    /// Number of bytes that were dropped.
    pub dropped_bytes: u64,
}

/// Result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// Text of the gate in the plan.
    pub text: String,
    /// Name of its step; `None` if it covers all steps.
    pub step: Option<String>,
    /// The measured figure, in `unit`; `None` if it could not be measured.
    pub observed: Option<f64>,
    /// Interval that contains the true figure, in `unit`; `None` if unknown, as in runs of earlier versions.
    pub bounds: Option<Bounds>,
    /// Limit of the gate, in `unit`.
    pub limit: f64,
    /// Unit, such as `ns`, `share`, or `per_s`.
    pub unit: String,
    /// Decision by the worst case within the bounds.
    pub decision: Decision,
    /// Number of samples that would likely decide the gate. `None` if it is decided, or if more samples would not help.
    pub samples_needed: Option<u64>,
}

impl GateResult {
    /// Returns whether the gate certainly holds.
    pub const fn holds(&self) -> bool {
        matches!(self.decision, Decision::Holds)
    }
}

/// All observations during the load of one run.
#[derive(Clone, Debug, Default)]
pub struct Monitored {
    /// Readings of probes.
    pub readings: Readings,
    /// Output of the processes of the system.
    pub outputs: Vec<Output>,
    /// Results of the gates, in the order of the plan.
    pub gates: Vec<GateResult>,
    /// Events, in the order in which they began; then those that did not begin.
    pub events: Vec<Event>,
    /// Encoded windows of 100 ms, as written by [`record::Moment::encode_all`]. Each was checked to unpack.
    pub moments: Vec<Box<[u8]>>,
    /// Time series in whole seconds, for a run whose seconds were summed up.
    pub course: Vec<LoadSecond>,
    /// Costs of events, by name and occurrence.
    pub event_costs: Vec<EventCost>,
    /// CPU profile; `None` if the system was not profiled.
    pub cpu_profile: Option<CpuProfile>,
}
