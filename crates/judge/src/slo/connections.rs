//! Detects runs of an open load that failed because of its connections instead of the system.

use evidence::{Model, Run};
use record::Histogram;

use super::figure::Figure;
use super::judge::FailedCondition;
use crate::condition::Condition;
use crate::durations::Durations;
use crate::kind::MetricKind;
use crate::measured::Measured;
use crate::scope::Scope;

/// Min share of time for which connections are in use if they leave no room for more requests.
const BUSY_MIN_SHARE: f64 = 0.9;

/// Judges a failed run. Its connections were the limit if nearly all were in use, and replies still came in time once
/// their requests were sent. Independently of the system, more connections would then have carried more requests.
/// `None` if this does not apply, or is unknown.
pub(super) fn blame_connections(run: &Run, whole: &Scope, slos: &[Condition]) -> Option<FailedCondition> {
    let connections = run.ending.as_ref()?.spread.as_ref()?.connections as f64;
    let service = whole.tally().service.all();
    // Little's law, for requests on a connection.
    let in_use = service.sum_ns() as f64 / 1e9 / whole.measured().window?.length_s;
    // The sums do not cover conditions on a step or on a part of the time.
    let slos = slos.iter().filter(|slo| slo.is_of_whole());
    let mut times = slos.filter_map(|slo| Some((slo, time(slo.figure, &service)?))).peekable();
    let is_bound = run.new.model == Model::Open
        && in_use >= BUSY_MIN_SHARE * connections
        && times.peek().is_some()
        && times.all(|(slo, observed_ns)| slo.holds(observed_ns));
    is_bound.then(|| FailedCondition {
        condition: "connections".to_owned(),
        observed: Some(in_use),
        limit: connections,
        words: format!(
            "the {connections:.0} connections were in use ({in_use:.1} on average), and replies came in time once requests were \
             sent: the connections are the limit, not the system"
        ),
    })
}

/// Returns the figure of the response time, as if requests had never waited for a connection.
fn time(figure: Figure, service: &Histogram) -> Option<f64> {
    match figure {
        Figure::Percentile(percentile) => service.value_at(percentile).map(|ns| ns as f64),
        Figure::Metric(metric) if metric.kind == MetricKind::Response => {
            metric.read(&Measured { response: Durations::of(service), ..Measured::default() })
        }
        Figure::Metric(_) => None,
    }
}
