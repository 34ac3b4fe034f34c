//! The gates of a plan, as judges read them.

use judge::slo::Figure;
use plan::GateMetric;
use record::Percentile;

/// A gate of a plan.
pub(crate) fn gate(gate: &plan::Gate) -> judge::Gate {
    judge::Gate {
        text: gate.text.clone(),
        step: gate.step,
        figure: figure(gate.metric),
        is_below: gate.is_below,
        limit: gate.limit,
        window_ns: gate.window_ns,
    }
}

/// What verdicts call it; `None` if it is no percentile.
fn figure(metric: GateMetric) -> Option<Figure> {
    Some(match metric {
        GateMetric::Percentile(ppm) => Figure::Percentile(Percentile::from_ppm(ppm)?),
        GateMetric::Mean => Figure::Mean,
        GateMetric::Max => Figure::Max,
        GateMetric::Errors => Figure::Errors,
        GateMetric::Throughput => Figure::Throughput,
        GateMetric::Outage => Figure::Outage,
    })
}
