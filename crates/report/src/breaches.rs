//! Failed and undecided gates in the first lines of a report: condition, observed value, bounds, limit, and number of samples.

use evidence::{Bounds, Decision, GateResult};
use judge::{Condition, Sign};

use crate::noun::Noun;
use crate::ratio;
use crate::text::listed;
use crate::units::{count, percent_with};
use crate::view::View;
use crate::words;

/// Maximum number of failed gates in a sentence.
pub(crate) const NAMED_MAX: usize = 3;
/// Beginning of a sentence about failed gates.
pub(crate) const FAILED: &str = "Gate failed";
/// Start of a sentence about gates of which none failed and some are undecided.
pub(crate) const UNDECIDED: &str = "Gate undecided";

/// Formats the failed and undecided gates of a run: `Gate failed: p(99)<200ms: 310 ms, limit 200 ms (1.55 ×), 20,697 requests`. Not
/// escaped. `None` if all gates held.
pub(crate) fn of_run(view: &View<'_>) -> Option<String> {
    let of = |decision: Decision| {
        let gates = view.run.gates().iter().filter(move |gate| gate.decision == decision);
        gates.map(|gate| (&gate.text, value_limit_and_samples(view, gate)))
    };
    let failed: Vec<String> = of(Decision::Fails).map(|(text, words)| format!("{text}: {words}")).collect();
    let is_any_failed = !failed.is_empty();
    let undecided = of(Decision::Undecided).map(|(text, words)| match is_any_failed {
        true => format!("{text}: undecided: {words}"),
        false => format!("{text}: {words}"),
    });
    sentence(failed.into_iter().chain(undecided).collect(), if is_any_failed { FAILED } else { UNDECIDED })
}

/// Observed value, limit, and number of samples of a gate.
pub(crate) fn value_limit_and_samples(view: &View<'_>, gate: &GateResult) -> String {
    let of_step = view.steps.iter().find(|step| gate.step.as_deref() == Some(step.name));
    let samples = of_step.map_or(&view.whole, |step| &step.figures).samples();
    match gate.decision {
        Decision::Undecided => why_undecided(gate, Some((samples, view.noun()))),
        Decision::Holds | Decision::Fails => {
            format!("{}, {}", value_and_limit(gate), view.noun().counted(samples))
        }
    }
}

/// Observed value and limit of a gate.
pub(crate) fn value_and_limit(gate: &GateResult) -> String {
    let Some(observed) = gate.observed else { return words::observed(gate) };
    let limit = words::figure_of_gate(gate, gate.limit);
    let times = observed / gate.limit;
    let times =
        if times.is_finite() && times > 0.0 { format!(" ({})", ratio::times(times)) } else { String::new() };
    let why = if is_within_limit(gate) { DEGRADED_REASON } else { "" };
    format!("{}, limit {limit}{times}{why}", words::observed(gate))
}

/// Reason why a gate is undecided, and the number of samples that would decide it: `between 180 ms and 210 ms (95 %), limit 200 ms, 800
/// requests; about 4,000 would decide`. `samples` of the run are printed if given.
pub(crate) fn why_undecided(gate: &GateResult, samples: Option<(u64, &Noun)>) -> String {
    let limit = words::figure_of_gate(gate, gate.limit);
    let interval = match gate.bounds {
        Some(bounds) => format!("{}{}, limit {limit}", within(gate, bounds), confidence(gate)),
        None => words::observed(gate),
    };
    let counted = samples.map_or_else(String::new, |(samples, noun)| format!(", {}", noun.counted(samples)));
    let noun = samples.map_or_else(|| "samples".to_owned(), |_| String::new());
    let needed = gate.samples_needed.map_or_else(String::new, |needed| {
        let about = format!("; about {} {noun}", count(round_up(needed)));
        format!("{} would decide", about.trim_end())
    });
    format!("{interval}{counted}{needed}")
}

/// Formats the bound that decided a gate whose figure is not known exactly: `, at most 731 µs (97.5 %)`. Empty if the figure is exact.
pub(crate) fn bound(gate: &GateResult) -> String {
    let Some((bounds, sign)) = gate.bounds.zip(sign(gate)) else { return String::new() };
    if bounds.low() == bounds.high() {
        return String::new();
    }
    let (words, end) = if sign.is_upper() { ("at most", bounds.high()) } else { ("at least", bounds.low()) };
    let chance = match is_sampled(gate) {
        true => format!(" ({})", percent_with(1.0 - judge::figure_bounds::QUANTILE_ERROR, 1)),
        false => String::new(),
    };
    format!(", {words} {}{chance}", words::figure_of_gate(gate, end))
}

fn within(gate: &GateResult, bounds: Bounds) -> String {
    let (low, high) = (bounds.low(), bounds.finite_high());
    let figure = |figure| words::figure_of_gate(gate, figure);
    match high {
        Some(high) => format!("between {} and {}", figure(low), figure(high)),
        None if low > 0.0 => format!("at least {}", figure(low)),
        None => "without any bound".to_owned(),
    }
}

/// Confidence of both bounds together.
fn confidence(gate: &GateResult) -> String {
    let has_samples = is_sampled(gate);
    if has_samples {
        format!(" ({})", percent_with(1.0 - 2.0 * judge::figure_bounds::QUANTILE_ERROR, 0))
    } else {
        String::new()
    }
}

/// Whether the figure of a gate is a percentile, so that its bounds include sampling error.
fn is_sampled(gate: &GateResult) -> bool {
    let condition = Condition::parse_gate(&gate.text).ok();
    condition.is_some_and(|condition| matches!(condition.figure, judge::slo::Figure::Percentile(_)))
}

fn sign(gate: &GateResult) -> Option<Sign> {
    Condition::parse_gate(&gate.text).ok().map(|condition| condition.sign)
}

/// Number rounded up to two digits, because it is an estimate.
fn round_up(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number.div_ceil(unit).saturating_mul(unit)
}

/// Reason why a gate on errors or throughput failed although its value is within the limit.
const DEGRADED_REASON: &str = ", but the run is degraded: the system was gone for 5 % of the time or more";

/// Whether a gate failed although its value is within the limit. This happens if the system was unavailable, so that few requests reached
/// it.
fn is_within_limit(gate: &GateResult) -> bool {
    let condition =
        Condition::parse_gate(&gate.text).ok().filter(|condition| condition.of_baseline.is_none());
    gate.decision == Decision::Fails
        && condition.zip(gate.observed).is_some_and(|(condition, observed)| condition.holds(observed))
}

/// Sentence about gates that do not hold, which names the first [`NAMED_MAX`]. `None` if there are none.
pub(crate) fn sentence(gates: Vec<String>, beginning: &str) -> Option<String> {
    (!gates.is_empty()).then(|| format!("{beginning}: {}.", listed(gates, NAMED_MAX, "; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gate_that_fails_within_its_limit_has_reason() {
        let gate = |observed, decision| GateResult {
            text: "errors<1%".to_owned(),
            step: None,
            observed: Some(observed),
            bounds: Bounds::exactly(observed),
            limit: 0.01,
            unit: "share".to_owned(),
            decision,
            samples_needed: None,
        };
        let within = value_and_limit(&gate(0.000_496, Decision::Fails));
        assert!(
            within.ends_with("but the run is degraded: the system was gone for 5 % of the time or more"),
            "{within}"
        );
        for told in [
            value_and_limit(&gate(0.02, Decision::Fails)),
            value_and_limit(&gate(0.000_496, Decision::Holds)),
        ] {
            assert!(!told.contains("degraded"), "{told}");
        }
    }

    #[test]
    fn gate_on_percentile_has_bound_and_samples_to_decide() {
        let gate = |low, high, decision, samples_needed| GateResult {
            text: "p99<200ms".to_owned(),
            step: None,
            observed: Some(190e6),
            bounds: Bounds::new(low, high),
            limit: 200e6,
            unit: "ns".to_owned(),
            decision,
            samples_needed,
        };
        let held = gate(180e6, 195e6, Decision::Holds, None);
        assert_eq!(words::gate(&held), "p99<200ms held: 190 ms, at most 195 ms (97.5 %)");
        let open = gate(180e6, f64::INFINITY, Decision::Undecided, Some(368));
        assert_eq!(
            words::gate(&open),
            "p99<200ms undecided: at least 180 ms (95 %), limit 200 ms; about 370 samples would decide"
        );
        let requests = Noun::of(evidence::Unit::Requests);
        let near = gate(180e6, 210e6, Decision::Undecided, Some(41_234));
        assert_eq!(
            why_undecided(&near, Some((800, requests))),
            "between 180 ms and 210 ms (95 %), limit 200 ms, 800 requests; about 42,000 would decide"
        );
        let unknown = GateResult { observed: None, bounds: None, samples_needed: None, ..near };
        assert_eq!(why_undecided(&unknown, Some((0, requests))), "no figure, 0 requests");
    }
}
