//! Result of an experiment in JSON.

use judge::diagnosis::Conclusion;
use judge::{Diagnosis, Ladder};
use serde::Serialize;

use super::bottleneck::BottleneckObject;
use super::capacity::{self, LawObject};
use crate::study::experiment::{finding, reason};

/// Result for the configuration of the experiment.
#[derive(Serialize)]
pub(super) struct DiagnosisObject<'a> {
    load: &'a str,
    system: &'a str,
    variant: &'a str,
    controls: ControlsObject,
    interventions: Vec<InterventionObject<'a>>,
    /// Names of confirmed interventions.
    confirmed: Vec<&'a str>,
    next_limit: Option<NextLimitObject<'a>>,
    /// Throughput by number of users. `None` if no other numbers were tested.
    scaling: Option<ScalingObject>,
    /// Interventions that were not tested, with the reasons.
    not_tested: &'a [String],
    /// Statements of the system's runtimes. `None` without an instrumented run.
    runtimes: Option<RuntimesObject<'a>>,
    conclusion: ConclusionObject,
}

#[derive(Serialize)]
struct RuntimesObject<'a> {
    said: &'a [String],
    /// Throughput with instruments ÷ throughput without, in each block.
    cost_ratios: &'a [f64],
}

/// Ratio of the second control to the first.
#[derive(Serialize)]
struct ControlsObject {
    blocks: usize,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    spread: Option<f64>,
}

#[derive(Serialize)]
struct InterventionObject<'a> {
    name: &'a str,
    change: &'a evidence::Change,
    tests: &'a [String],
    /// Prediction in a sentence, as it was stored before the first run.
    prediction: &'a str,
    factor: f64,
    effect: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    elasticity: Option<f64>,
    limit_from: f64,
    p: Option<f64>,
    blocks: usize,
    verdict: &'static str,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct ScalingObject {
    /// Steps, fewest users first.
    users: Vec<RungObject>,
    /// Number of users beyond which throughput does not grow. `None` if it was not reached.
    saturated_at_users: Option<f64>,
    /// Whether the number is an upper bound: saturation may begin with fewer users.
    is_at_most: Option<bool>,
    /// Scalability law. `None` if it does not fit.
    law: Option<LawObject>,
}

#[derive(Serialize)]
struct RungObject {
    users: u32,
    per_s: f64,
    runs: usize,
}

/// Result of the experiment as a whole.
#[derive(Serialize)]
struct ConclusionObject {
    /// `confirmed`, `refuted`, or `open`.
    outcome: &'static str,
    sentence: String,
}

impl ConclusionObject {
    fn of(conclusion: &Conclusion) -> Self {
        Self { outcome: conclusion.outcome.name(), sentence: conclusion.sentence.clone() }
    }
}

#[derive(Serialize)]
struct NextLimitObject<'a> {
    with: &'a str,
    #[serde(flatten)]
    bottleneck: BottleneckObject,
}

impl<'a> DiagnosisObject<'a> {
    pub(super) fn of(diagnosis: &'a Diagnosis) -> Self {
        let Diagnosis {
            load, setting, controls, spread, tried, ladder, next_limit, left_out, runtimes, ..
        } = diagnosis;
        let interval = controls.as_ref().and_then(|controls| controls.interval);
        let interventions = tried.iter().map(|tried| {
            let (changed, effect) = (&tried.changed, &tried.effect);
            InterventionObject {
                name: &changed.name,
                change: &changed.change,
                tests: &changed.tests,
                prediction: &changed.prediction,
                factor: changed.factor,
                effect: effect.ratio,
                low: effect.interval.map(|[low, _]| low),
                high: effect.interval.map(|[_, high]| high),
                elasticity: effect.elasticity,
                limit_from: changed.limit_from,
                p: effect.p,
                blocks: effect.blocks,
                verdict: finding(effect),
                reason: reason(effect),
            }
        });
        Self {
            load,
            system: &setting.system,
            variant: &setting.variant,
            controls: ControlsObject {
                blocks: controls.as_ref().map_or(0, |controls| controls.blocks),
                ratio: controls.as_ref().map(|controls| controls.estimate),
                low: interval.map(|[low, _]| low),
                high: interval.map(|[_, high]| high),
                spread: *spread,
            },
            interventions: interventions.collect(),
            confirmed: diagnosis.confirmed().map(|tried| tried.changed.name.as_str()).collect(),
            scaling: ladder.as_ref().map(ScalingObject::of),
            not_tested: left_out,
            runtimes: runtimes
                .as_ref()
                .map(|of| RuntimesObject { said: &of.said, cost_ratios: &of.cost_ratios }),
            conclusion: ConclusionObject::of(&diagnosis.conclusion()),
            next_limit: next_limit.as_ref().and_then(|next| {
                let bottleneck = BottleneckObject::of(next.causes.clone())?;
                Some(NextLimitObject { with: &next.with, bottleneck })
            }),
        }
    }
}

impl ScalingObject {
    fn of(ladder: &Ladder) -> Self {
        let rung =
            |rung: &judge::ladder::Rung| RungObject { users: rung.users, per_s: rung.per_s, runs: rung.runs };
        Self {
            users: ladder.rungs.iter().map(rung).collect(),
            saturated_at_users: ladder.saturated_at.map(|at| at.users),
            is_at_most: ladder.saturated_at.map(|at| at.is_at_most),
            law: ladder.law.as_ref().map(capacity::law),
        }
    }
}
