//! What must hold for every run; and whether it held in every run of a study that may be believed, of every setting.

use std::collections::BTreeMap;

use evidence::{EvidenceError, GateResult, Outage, Run, Study};

use crate::baseline;
use crate::condition::Condition;
use crate::diagnosis::counts_in_study;
use crate::eligibility::{Eligibility, eligibility, is_judged};
use crate::scope::Scope;
use crate::setting::Setting;

/// What the gates of a study came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether one was breached in a run that may be believed, or by a system that failed.
    pub is_breached: bool,
    /// Settings under a load for which a gate has no run whose figure may be believed: nothing held for them.
    pub unjudged: Vec<(String, Setting)>,
    /// How many other settings under a load there are.
    pub judged: usize,
}

/// What the runs of a setting say of its gates.
#[derive(Default)]
struct OfSetting<'a> {
    has_valid_run: bool,
    /// By text and step, whether any run counts for the gate.
    gates: BTreeMap<(&'a str, Option<&'a str>), bool>,
}

impl OfSetting<'_> {
    fn is_judged(&self) -> bool {
        // Gates of a baseline are judged over all runs, and leave no result in one.
        if self.gates.is_empty() { self.has_valid_run } else { self.gates.values().all(|judged| *judged) }
    }
}

impl Gates {
    /// Of a study; without gates nothing is breached, and nothing is asked of any setting.
    pub fn of(study: &Study) -> Self {
        if study.new.gates.is_empty() {
            return Self::default();
        }
        let counting = || study.runs.iter().filter(|run| counts_in_study(run));
        let has_failed = |run: &Run| run.ending.as_ref().is_some_and(|ending| ending.failure.is_some());
        let is_breached = |run: &Run| {
            let Some(ending) = &run.ending else { return false };
            run.gates().iter().any(|gate| !gate.holds && is_told(study, gate) && is_judged(ending, gate))
        };
        let is_breached = counting().any(|run| has_failed(run) || is_breached(run));
        // Of a study that goes on, what has not been run yet may still hold.
        let is_over = study.ending.is_some();
        let mut settings: BTreeMap<(&str, Setting), OfSetting<'_>> = BTreeMap::new();
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

    /// Whether every gate held, in every run that may be believed, of every setting.
    pub fn held(&self) -> bool {
        !self.is_breached && self.unjudged.is_empty()
    }
}

/// What a short form has too few samples to tell is no breach of it.
fn is_told(study: &Study, gate: &GateResult) -> bool {
    gate.observed.is_some() || !study.new.is_quick
}

/// Every gate, held against a run. Those of a baseline are held against the stored one of the run: of a study they are judged over all
/// of its runs ([`crate::baseline::gates`]).
pub fn judge_gates(gates: &[Condition], run: &Run) -> Result<Vec<GateResult>, EvidenceError> {
    let own = gates.iter().filter(|gate| gate.of_baseline.is_none());
    let mut judged = own.map(|gate| judge_one(gate, run)).collect::<Result<Vec<_>, _>>()?;
    if let Some(baseline) = &run.baseline {
        judged.extend(baseline::of_one_run(run, baseline)?);
    }
    Ok(judged)
}

fn judge_one(gate: &Condition, run: &Run) -> Result<GateResult, EvidenceError> {
    let scope = Scope::of(gate, run)?;
    let observed = gate.figure.observe(&scope);
    // A figure that is not known does not hold: a gate is a promise.
    let is_within = observed.is_some_and(|value| gate.holds(value));
    // Few requests ask a system that is gone: their count says nothing of how long it was.
    let outage = run.ending.as_ref().and_then(|ending| ending.outage.as_ref());
    let was_gone = outage.is_some_and(Outage::is_degraded);
    let is_of_run = gate.event.is_none();
    let holds = is_within && !(is_of_run && gate.figure.kind().counts_requests() && was_gone);
    Ok(GateResult {
        text: gate.text.clone(),
        step: gate.step.clone(),
        observed,
        limit: gate.limit,
        unit: gate.figure.kind().stored_unit().to_owned(),
        holds,
    })
}
