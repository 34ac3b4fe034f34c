//! Gates that failed, in words for the first lines of a report: which, by how much, and from how many samples.

use evidence::GateResult;
use judge::Condition;

use crate::ratio;
use crate::text::listed;
use crate::view::View;
use crate::words;

/// Gates that are named.
pub(crate) const NAMED_MAX: usize = 3;
/// What the sentence begins with.
pub(crate) const FAILED: &str = "Gate failed";

/// `Gate failed: p(99)<200ms: 310 ms, limit 200 ms (1.55 ×), 20,697 requests`; not escaped. `None` if all held.
pub(crate) fn of_run(view: &View<'_>) -> Option<String> {
    let failed = view
        .run
        .gates()
        .iter()
        .filter(|gate| !gate.holds)
        .map(|gate| format!("{}: {}", gate.text, with_samples(view, gate)));
    sentence(failed.collect())
}

/// What was seen, what was allowed, and from how many samples.
pub(crate) fn with_samples(view: &View<'_>, gate: &GateResult) -> String {
    let of_step = view.steps.iter().find(|step| gate.step.as_deref() == Some(step.name));
    let figures = of_step.map_or(&view.whole, |step| &step.figures);
    let samples = figures.samples();
    words::too_few(gate, samples, view.noun())
        .unwrap_or_else(|| format!("{}, {}", by_how_much(gate), view.noun().counted(samples)))
}

/// What was seen, and what was allowed.
pub(crate) fn by_how_much(gate: &GateResult) -> String {
    let Some(observed) = gate.observed else { return words::observed(gate) };
    let limit = words::observed(&GateResult { observed: Some(gate.limit), ..gate.clone() });
    let times = observed / gate.limit;
    let times =
        if times.is_finite() && times > 0.0 { format!(" ({})", ratio::times(times)) } else { String::new() };
    let why = if is_within_limit(gate) { GONE } else { "" };
    format!("{}, limit {limit}{times}{why}", words::observed(gate))
}

/// Why a gate on errors or throughput fails whose figure is within its limit.
const GONE: &str = ", but the run is degraded: the system was gone for 5 % of the time or more";

/// Whether a gate failed although its figure is within its limit: few requests ask a system that is gone.
fn is_within_limit(gate: &GateResult) -> bool {
    let condition =
        Condition::parse_gate(&gate.text).ok().filter(|condition| condition.of_baseline.is_none());
    !gate.holds && condition.zip(gate.observed).is_some_and(|(condition, observed)| condition.holds(observed))
}

/// The first of them.
pub(crate) fn sentence(failed: Vec<String>) -> Option<String> {
    (!failed.is_empty()).then(|| format!("{FAILED}: {}.", listed(failed, NAMED_MAX, "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_fails_within_its_limit_says_why() {
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
