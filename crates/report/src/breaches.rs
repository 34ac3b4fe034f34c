//! Gates that failed, in words for the first lines of a report: which, by how much, and from how many samples.

use store::GateResult;

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
    format!("{}, limit {limit}{times}", words::observed(gate))
}

/// The first of them.
pub(crate) fn sentence(failed: Vec<String>) -> Option<String> {
    (!failed.is_empty()).then(|| format!("{FAILED}: {}.", listed(failed, NAMED_MAX, "; ")))
}
