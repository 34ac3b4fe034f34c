//! What must hold for every run; and whether it held in every run of a study that may be believed, of every setting.

use std::collections::BTreeMap;

use record::{InWindow, Phase, Tally};
use store::{GateResult, Outage, Run, StoreError, Study};

use crate::setting::Setting;
use crate::slo::{Figure, Observed};
use crate::standing::{Standing, standing};
use crate::window::Window;

const SECOND_NS: u64 = 1_000_000_000;

/// A condition on a figure of a run: `p(99)<200ms`, `buy: throughput>50/s`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// As it was written.
    pub text: String,
    /// Of this step; `None`: of all steps together.
    pub step: Option<u16>,
    /// What is held against the limit; `None` if it cannot be told.
    pub figure: Option<Figure>,
    /// Whether the figure must stay below the limit, or above it.
    pub is_below: bool,
    /// In the unit of the figure: nanoseconds, a share, or a number per second.
    pub limit: f64,
    /// Only this part of the measured time, in nanoseconds since the end of the warm-up.
    pub window_ns: Option<(u64, u64)>,
}

/// What the gates of a study came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    /// Whether one was breached in a run that may be believed, or by a system that failed.
    pub is_breached: bool,
    /// Settings under a load without a single run that may be believed: nothing held for them.
    pub unjudged: Vec<(String, Setting)>,
}

impl Gates {
    /// Of a study; without gates nothing is breached, and nothing is asked of any setting.
    pub fn of(study: &Study) -> Self {
        if study.new.gates.is_empty() {
            return Self::default();
        }
        let has_failed = |run: &Run| run.ending.as_ref().is_some_and(|ending| ending.failure.is_some());
        let valid = || study.runs.iter().filter(|run| standing(run) == Standing::Valid);
        let is_breach = |gate: &GateResult| !gate.holds && is_told(study, gate);
        let is_breached =
            study.runs.iter().any(has_failed) || valid().flat_map(|run| run.gates()).any(is_breach);
        // Of a study that goes on, what has not been run yet may still hold.
        let is_over = study.ending.is_some();
        let mut settings: BTreeMap<(&str, Setting), bool> = BTreeMap::new();
        let planned = study.new.planned.iter().filter(|_| is_over);
        let run = study.runs.iter().filter_map(|run| run.new.place.as_ref()).map(|(_, place)| place);
        for place in planned.chain(run) {
            settings.entry((&place.load, Setting::of(place))).or_default();
        }
        for (_, place) in valid().filter_map(|run| run.new.place.as_ref()) {
            settings.insert((&place.load, Setting::of(place)), true);
        }
        let unjudged = settings.into_iter().filter(|(_, is_judged)| !is_judged);
        Self {
            is_breached,
            unjudged: unjudged.map(|((load, setting), _)| (load.to_owned(), setting)).collect(),
        }
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

/// Every gate, held against a run.
pub fn judge_gates(gates: &[Gate], run: &Run) -> Result<Vec<GateResult>, StoreError> {
    gates.iter().map(|gate| judge_one(gate, run)).collect()
}

fn judge_one(gate: &Gate, run: &Run) -> Result<GateResult, StoreError> {
    let (tally, window) = match gate.window_ns {
        None => whole(gate, run)?,
        Some(part) => seconds(gate, run, part)?,
    };
    let figure = gate.figure;
    let outage = run.ending.as_ref().and_then(|ending| ending.outage.as_ref());
    let scope = Observed { tally: &tally, window, outage };
    let observed = figure.and_then(|figure| figure.observe(&scope));
    // What cannot be told does not hold: a gate is a promise.
    let is_within =
        observed.is_some_and(|value| if gate.is_below { value < gate.limit } else { value > gate.limit });
    // Few requests ask a system that is gone: their count says nothing of how long it was.
    let is_about_service = matches!(figure, Some(Figure::Errors | Figure::Throughput));
    let was_gone = outage.is_some_and(Outage::is_degraded);
    let holds = is_within && !(is_about_service && was_gone);
    Ok(GateResult {
        text: gate.text.clone(),
        step: gate.step.and_then(|step| run.new.steps.get(usize::from(step)).cloned()),
        observed,
        limit: gate.limit,
        unit: figure.map_or("", Figure::unit).to_owned(),
        holds,
    })
}

/// The whole measured window: the same as in reports.
fn whole(gate: &Gate, run: &Run) -> Result<(Tally, Option<Window>), StoreError> {
    Ok(match gate.step {
        Some(step) => (run.total(step, Phase::Measured)?, Window::of_step(run, step)),
        None => (run.whole(Phase::Measured)?, Window::of(run)),
    })
}

/// The seconds that lie wholly in a part of the measured window: requests that were intended in the window, and what ended in
/// them.
fn seconds(
    gate: &Gate,
    run: &Run,
    (from_ns, to_ns): (u64, u64),
) -> Result<(Tally, Option<Window>), StoreError> {
    let warm_up_ns = run.new.warm_up_ns;
    let first = warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
    let end = warm_up_ns.saturating_add(to_ns) / SECOND_NS;
    let (mut tally, mut counts) = (Tally::default(), InWindow::default());
    for kept in run.seconds() {
        let (step, interval) = kept?;
        if gate.step.is_none_or(|wanted| wanted == step) && (first..end).contains(&interval.second) {
            counts.add(&interval.tally.window);
            if interval.phase == Phase::Measured {
                tally.merge(&interval.tally);
            }
        }
    }
    Ok((tally, Window::of_seconds(end.saturating_sub(first), counts)))
}
