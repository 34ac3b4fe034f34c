//! What must hold for every run: `p(99)<200ms`, `errors<0.1%`, `buy: throughput>50/s`.

/// A condition on a figure of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// As it was written.
    pub text: String,
    /// Of this step; `None`: of all steps together.
    pub step: Option<u16>,
    /// The figure.
    pub metric: GateMetric,
    /// Whether the figure must stay below the limit, or above it.
    pub is_below: bool,
    /// In the unit of the metric: nanoseconds, a share, or a number per second.
    pub limit: f64,
    /// Only this part of the measured time, in nanoseconds since the end of the warm-up.
    pub window_ns: Option<(u64, u64)>,
}

/// A figure that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateMetric {
    /// A percentile of the response time, in parts per million: 990 000 for p(99). In nanoseconds.
    Percentile(u32),
    /// Mean response time, in nanoseconds.
    Mean,
    /// Longest response time, in nanoseconds.
    Max,
    /// Requests that were not ok or not sent, as a share of those planned.
    Errors,
    /// Ok answers per second.
    Throughput,
    /// The longest time without an ok answer, in nanoseconds.
    Outage,
}
