//! Failed gates in the first lines of a report: condition, observed value, limit, and number of samples.

use evidence::GateResult;
use judge::Condition;

use crate::ratio;
use crate::text::listed;
use crate::view::View;
use crate::words;

/// Maximum number of failed gates in a sentence.
pub(crate) const NAMED_MAX: usize = 3;
/// Beginning of the sentence.
pub(crate) const FAILED: &str = "Gate failed";

/// Formats the failed gates of a run: `Gate failed: p(99)<200ms: 310 ms, limit 200 ms (1.55 ×), 20,697 requests`. Not escaped.
/// `None` if all gates held.
pub(crate) fn of_run(view: &View<'_>) -> Option<String> {
    let failed = view
        .run
        .gates()
        .iter()
        .filter(|gate| !gate.holds)
        .map(|gate| format!("{}: {}", gate.text, with_samples(view, gate)));
    sentence(failed.collect())
}

/// Observed value, limit, and number of samples of a gate.
pub(crate) fn with_samples(view: &View<'_>, gate: &GateResult) -> String {
    let of_step = view.steps.iter().find(|step| gate.step.as_deref() == Some(step.name));
    let figures = of_step.map_or(&view.whole, |step| &step.figures);
    let samples = figures.samples();
    words::too_few(gate, samples, view.noun())
        .unwrap_or_else(|| format!("{}, {}", by_how_much(gate), view.noun().counted(samples)))
}

/// Observed value and limit of a gate.
pub(crate) fn by_how_much(gate: &GateResult) -> String {
    let Some(observed) = gate.observed else { return words::observed(gate) };
    let limit = words::observed(&GateResult { observed: Some(gate.limit), ..gate.clone() });
    let times = observed / gate.limit;
    let times =
        if times.is_finite() && times > 0.0 { format!(" ({})", ratio::times(times)) } else { String::new() };
    let why = if is_within_limit(gate) { GONE } else { "" };
    format!("{}, limit {limit}{times}{why}", words::observed(gate))
}

/// Reason why a gate on errors or throughput failed although its value is within the limit.
const GONE: &str = ", but the run is degraded: the system was gone for 5 % of the time or more";

/// Whether a gate failed although its value is within the limit. This happens if the system was gone, so that few requests reached
/// it.
fn is_within_limit(gate: &GateResult) -> bool {
    let condition =
        Condition::parse_gate(&gate.text).ok().filter(|condition| condition.of_baseline.is_none());
    !gate.holds && condition.zip(gate.observed).is_some_and(|(condition, observed)| condition.holds(observed))
}

/// Sentence about failed gates, of which the first [`NAMED_MAX`] are named. `None` without any.
pub(crate) fn sentence(failed: Vec<String>) -> Option<String> {
    (!failed.is_empty()).then(|| format!("{FAILED}: {}.", listed(failed, NAMED_MAX, "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_that_fails_within_its_limit_has_reason() {
        let gate = |observed, holds| GateResult {
            text: "errors<1%".to_owned(),
            step: None,
            observed: Some(observed),
            limit: 0.01,
            unit: "share".to_owned(),
            holds,
        };
        let within = by_how_much(&gate(0.000_496, false));
        assert!(
            within.ends_with("but the run is degraded: the system was gone for 5 % of the time or more"),
            "{within}"
        );
        for told in [by_how_much(&gate(0.02, false)), by_how_much(&gate(0.000_496, true))] {
            assert!(!told.contains("degraded"), "{told}");
        }
    }
}
