//! Judges gates: conditions on every run, and their combined results over the trusted runs of each configuration of a
//! study.

use std::collections::BTreeMap;

use evidence::{Decision, EvidenceError, GateResult, GeneratorEffect, Outage, Run, Study};
use record::Phase;

use crate::baseline;
use crate::condition::Condition;
use crate::diagnosis::counts_in_study;
use crate::eligibility::{Eligibility, eligibility, is_invalid, is_judged};
use crate::scope::Scope;
use crate::setting::Setting;
use crate::slo::Decided;

/// Result of the gates of a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether a gate was breached in a trusted run, or a system failed.
    pub is_breached: bool,
    /// Configurations under a load that have a gate without a trusted run, and so no result.
    pub unjudged: Vec<(String, Setting)>,
    /// Number of all other configurations under a load.
    pub judged: usize,
}

/// Results of the gates of one configuration.
#[derive(Default)]
struct SettingGates<'a> {
    has_valid_run: bool,
    /// Whether any run counts for the gate, by text and step of the gate.
    gates: BTreeMap<(&'a str, Option<&'a str>), bool>,
}

impl SettingGates<'_> {
    fn is_judged(&self) -> bool {
        // Gates of a baseline are judged over all runs, so a single run has no result for them.
        if self.gates.is_empty() { self.has_valid_run } else { self.gates.values().all(|judged| *judged) }
    }
}

impl Gates {
    /// Judges a study. Without gates, none is breached or unjudged.
    pub fn of(study: &Study) -> Self {
        if study.new.gates.is_empty() {
            return Self::default();
        }
        let counting = || study.runs.iter().filter(|run| counts_in_study(run));
        let has_failed = |run: &Run| run.ending.as_ref().is_some_and(|ending| ending.failure.is_some());
        let is_breached = |run: &Run| {
            let Some(ending) = &run.ending else { return false };
            run.gates().iter().any(|gate| !gate.holds() && is_counted(study, gate) && is_judged(ending, gate))
        };
        let is_breached = counting().any(|run| has_failed(run) || is_breached(run));
        // In a study in progress, configurations without runs may still pass.
        let is_over = study.ending.is_some();
        let mut settings: BTreeMap<(&str, Setting), SettingGates<'_>> = BTreeMap::new();
        for place in study.new.planned.iter().filter(|place| is_over && place.intervention.is_none()) {
            settings.entry((&place.load, Setting::of(place))).or_default();
        }
        for run in counting() {
            let Some((_, place)) = &run.new.place else { continue };
            let of = settings.entry((&place.load, Setting::of(place))).or_default();
            of.has_valid_run |= eligibility(run) == Eligibility::Valid;
            for gate in run.gates() {
                let counts = run.ending.as_ref().is_some_and(|ending| is_judged(ending, gate));
                *of.gates.entry((&gate.text, gate.step.as_deref())).or_default() |= counts;
            }
        }
        let judged = settings.values().filter(|of| of.is_judged()).count();
        let unjudged = settings.into_iter().filter(|(_, of)| !of.is_judged());
        let unjudged = unjudged.map(|((load, setting), _)| (load.to_owned(), setting)).collect();
        Self { is_breached, unjudged, judged }
    }

    /// Returns whether every gate held in every trusted run of every configuration.
    pub fn held(&self) -> bool {
        !self.is_breached && self.unjudged.is_empty()
    }
}

/// Returns whether the result of a gate counts. In a quick study, an undecided gate is no breach.
fn is_counted(study: &Study, gate: &GateResult) -> bool {
    gate.decision != Decision::Undecided || !study.new.is_quick
}

/// Judges every gate on a run. Gates of a baseline use the run's stored baseline. In a study, they are judged over all
/// its runs ([`crate::baseline::gates`]).
pub fn judge_gates(gates: &[Condition], run: &Run) -> Result<Vec<GateResult>, EvidenceError> {
    let own = gates.iter().filter(|gate| gate.of_baseline.is_none());
    let mut judged = own.map(|gate| judge_one(gate, run)).collect::<Result<Vec<_>, _>>()?;
    if let Some(baseline) = &run.baseline {
        judged.extend(baseline::of_one_run(run, baseline)?);
    }
    Ok(judged)
}

/// Judges every gate on the slices of one start together, as on one run, by the sums of counts and histograms. Slices
/// with an invalid figure are left out, unless all have one. `slices` are in order; the last one has the final readings
/// of the plan's own figures.
pub fn judge_gates_of_slices(gates: &[Condition], slices: &[Run]) -> Result<Vec<GateResult>, EvidenceError> {
    let valid: Vec<&Run> = slices.iter().filter(|slice| !is_invalid(slice)).collect();
    let counting = if valid.is_empty() { slices.iter().collect() } else { valid };
    let of_slice = |slice: &&Run| {
        let effect = *slice.generator_effect()?;
        Some((effect, slice.whole(Phase::Measured).ok()?.response.all().count()))
    };
    let effect = GeneratorEffect::together(counting.iter().filter_map(of_slice));
    let judge = |gate: &Condition| {
        let scope = Scope::from_slices(gate, &counting)?;
        let was_unavailable = scope.measured().outage.as_ref().is_some_and(Outage::is_degraded);
        Ok(judge_in(gate, &scope, effect.as_ref(), was_unavailable))
    };
    gates.iter().filter(|gate| gate.of_baseline.is_none()).map(judge).collect()
}

fn judge_one(gate: &Condition, run: &Run) -> Result<GateResult, EvidenceError> {
    let scope = Scope::of(gate, run)?;
    let effect = run.generator_effect();
    let outage = run.ending.as_ref().and_then(|ending| ending.outage.as_ref());
    Ok(judge_in(gate, &scope, effect, outage.is_some_and(Outage::is_degraded)))
}

/// Judges a gate on its scope. `was_unavailable` means that the system was unavailable.
fn judge_in(
    gate: &Condition,
    scope: &Scope,
    effect: Option<&GeneratorEffect>,
    was_unavailable: bool,
) -> GateResult {
    let decided = Decided::of(gate, scope, effect);
    // An unavailable system receives few requests, so request counts do not show how long it was unavailable.
    let is_of_run = gate.event.is_none();
    let is_failed = is_of_run && gate.figure.kind().counts_requests() && was_unavailable;
    GateResult {
        text: gate.text.clone(),
        step: gate.step.clone(),
        observed: decided.observed,
        bounds: decided.bounds.filter(|_| decided.observed.is_some_and(f64::is_finite)),
        limit: gate.limit,
        unit: gate.figure.kind().stored_unit().to_owned(),
        decision: if is_failed { Decision::Fails } else { decided.decision },
        samples_needed: decided.samples_needed.filter(|_| !is_failed),
    }
}
