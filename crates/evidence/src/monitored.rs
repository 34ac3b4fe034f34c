//! Observations during the load: readings, output, gates.

use record::CourseSecond;

use crate::cpu_profile::CpuProfile;
use crate::event::Event;
use crate::event_cost::EventCost;
use crate::reading::Readings;

/// Output of a process of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub process: String,
    /// As received, and untrusted: escape it before printing.
    pub text: Vec<u8>,
    /// How much was not kept.
    pub dropped_bytes: u64,
}

/// Result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The gate in the words of the plan.
    pub text: String,
    /// The name of its step; `None` if it is about all steps.
    pub step: Option<String>,
    /// The measured figure, in `unit`; `None` if it could not be measured.
    pub observed: Option<f64>,
    /// Where the gate lies, in `unit`.
    pub limit: f64,
    /// Such as `ns`, `share` or `per_s`.
    pub unit: String,
    /// Whether it was held.
    pub holds: bool,
}

/// Everything seen during the load of one run.
#[derive(Clone, Debug, Default)]
pub struct Monitored {
    /// Readings of probes.
    pub readings: Readings,
    /// Output of the processes of the system.
    pub outputs: Vec<Output>,
    /// Results of the gates, in the order of the plan.
    pub gates: Vec<GateResult>,
    /// In the order in which they began; then those that did not begin.
    pub events: Vec<Event>,
    /// Encoded windows of 100 ms, as [`record::Moment::encode_all`] writes them, each checked to unpack.
    pub moments: Vec<Box<[u8]>>,
    /// The course in whole seconds, of a run whose seconds were added up.
    pub course: Vec<CourseSecond>,
    /// By name and occurrence.
    pub event_costs: Vec<EventCost>,
    /// `None` if the system was not profiled.
    pub cpu_profile: Option<CpuProfile>,
}
