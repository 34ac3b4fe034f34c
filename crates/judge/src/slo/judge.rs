//! Judges whether one run meets its conditions.

use evidence::{Decision, EvidenceError, GeneratorEffect, Level, Model, Outage, Run, stage};
use record::Phase;

use super::backlog::Backlog;
use super::connections;
use super::decided::Decided;
use super::drift;
use super::figure::Figure;
use crate::causes::Doubt;
use crate::condition::{Condition, Sign};
use crate::eligibility::{Eligibility, eligibility};
use crate::kind::MetricKind;
use crate::metric::ERRORS;
use crate::scope::Scope;
use crate::words::{duration, percent_of};

/// Built-in condition: the planned requests ended during the load.
const KEPT: &str = "kept";
/// Max share of errors of a run without a condition on errors.
const ERRORS_MAX: f64 = 0.001;
/// Min share of planned requests that must have ended in the measured time, if requests were sent late.
const LATE_ENDED_MIN_SHARE: f64 = 0.99;
/// Min grace period for open requests after the end of the load, in nanoseconds. If longer, twice the longest limit on
/// a response time applies.
const DRAIN_MIN_NS: f64 = 1e9;

/// Result of the conditions of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SloJudgement {
    /// Whether every condition held.
    pub passed: bool,
    /// Conditions that failed, or could not be judged.
    pub failed: Vec<FailedCondition>,
    /// Whether the run has no result: its figures cannot be trusted, are missing, or are too few for a condition while
    /// no other condition failed.
    pub is_invalid: bool,
    /// Whether the run passed although the generator sent requests late, which can only have made response times
    /// longer.
    pub is_late: bool,
}

/// A condition that a run did not meet.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedCondition {
    /// Condition as written, or the name of a built-in one. `kept`, `backlog`, `drain`, `outage`, and `system` apply to
    /// every run; `memory` and `cpu` must not grow in a long run. `connections` comes first if the connections were the
    /// limit instead of the system.
    pub condition: String,
    /// Observed value in the unit of the limit; `None` if unknown.
    pub observed: Option<f64>,
    /// Limit of the condition.
    pub limit: f64,
    /// Description of the observation, with its figures.
    pub words: String,
}

/// Judges a run with its per-second data by `slos` and by built-in conditions. The built-in ones require that a run
/// keeps up with arrivals, its backlog does not grow, few requests fail, and all are answered soon after the end.
pub fn judge(run: &Run, slos: &[Condition]) -> Result<SloJudgement, EvidenceError> {
    match eligibility(run) {
        Eligibility::Valid => judge_valid(run, slos),
        Eligibility::Failed => judge_failed(run),
        Eligibility::Invalid if is_only_late(run) => judge_late(run, slos),
        Eligibility::Invalid | Eligibility::CutShort => {
            Ok(SloJudgement { is_invalid: true, ..Default::default() })
        }
    }
}

/// Judges a run whose requests were sent late, which only makes response times longer. The run passes if it meets its
/// conditions nevertheless, and the requested load was offered.
fn judge_late(run: &Run, slos: &[Condition]) -> Result<SloJudgement, EvidenceError> {
    let judgement = judge_valid(run, slos)?;
    let counts = run.whole(Phase::Measured)?;
    let kept = Backlog::of(run)?.and_then(|backlog| backlog.kept());
    let was_offered =
        counts.counts.not_sent == 0 && kept.is_some_and(|(share, _)| share >= LATE_ENDED_MIN_SHARE);
    Ok(match judgement.passed && was_offered {
        true => SloJudgement { is_late: true, ..judgement },
        false => SloJudgement { is_invalid: true, ..Default::default() },
    })
}

/// Returns whether an open load is invalid only because requests were sent late, or replies read late.
fn is_only_late(run: &Run) -> bool {
    let Some(ending) = run.ending.as_ref().filter(|_| run.new.model == Model::Open) else { return false };
    let is_invalid = |cause: &&evidence::Cause| {
        cause.distorts.is_empty() || cause.distorts.iter().any(|of| of.level == Level::Invalid)
    };
    let mut spoiling = ending.validity.causes.iter().filter(is_invalid).peekable();
    let is_late = |cause: &evidence::Cause| Doubt::named(&cause.code).is_some_and(|doubt| doubt.is_lateness);
    spoiling.peek().is_some() && spoiling.all(is_late)
}

fn judge_valid(run: &Run, slos: &[Condition]) -> Result<SloJudgement, EvidenceError> {
    let whole = Scope::whole(None, run)?;
    let effect = run.generator_effect();
    let outage = whole.measured().outage.as_ref();
    let mut failed = Vec::new();
    for slo in slos {
        match slo.is_of_whole() {
            true => failed.extend(judge_condition(slo, &whole, effect)),
            false => failed.extend(judge_condition(slo, &Scope::of(slo, run)?, effect)),
        }
    }
    failed.extend(outage.filter(|outage| outage.is_degraded()).map(gone));
    let own = Figure::named(ERRORS).map(|figure| Condition {
        own: None,
        text: ERRORS.to_owned(),
        step: None,
        event: None,
        figure,
        sign: Sign::Below,
        limit: ERRORS_MAX,
        of_baseline: None,
        part_ns: None,
    });
    let is_own = |slo: &&Condition| slo.figure.name() == ERRORS && slo.is_of_whole();
    let of_errors = slos.iter().find(is_own);
    failed.extend(own.filter(|_| of_errors.is_none()).and_then(|own| judge_condition(&own, &whole, effect)));
    let errors_max = of_errors.map_or(ERRORS_MAX, |slo| slo.limit);
    if let Some(backlog) = Backlog::of(run)? {
        // Answers that the generator's delays may have moved out of the measured time say nothing about the system.
        let moved_share = effect.map_or(0.0, |effect| effect.moved_share);
        let behind = behind(&backlog, slos, errors_max);
        failed.extend(behind.into_iter().map(|failed| unless_moved(failed, moved_share)));
    }
    if run.new.place.as_ref().is_some_and(|(_, place)| place.stage == stage::SOAK) {
        failed.extend(drift::drift_failures(run)?);
    }
    if !failed.is_empty() {
        failed.splice(..0, connections::blame_connections(run, &whole, slos));
    }
    let is_told = failed.iter().any(|condition| condition.observed.is_some());
    let passed = failed.is_empty();
    Ok(SloJudgement { passed, is_invalid: !passed && !is_told, failed, is_late: false })
}

/// Judges a run whose system failed. If the system died under load, the run fails; if it died earlier, the run is
/// invalid.
fn judge_failed(run: &Run) -> Result<SloJudgement, EvidenceError> {
    let was_loaded = run.whole(Phase::Measured)?.counts.sent + run.whole(Phase::WarmUp)?.counts.sent > 0;
    let what = run.ending.as_ref().and_then(|ending| ending.failure.as_ref()).map(|failure| &failure.what);
    let words =
        what.map_or_else(|| "the system failed".to_owned(), |what| format!("the system failed: {what}"));
    let failed = FailedCondition { condition: "system".to_owned(), observed: None, limit: 0.0, words };
    Ok(SloJudgement { failed: vec![failed], is_invalid: !was_loaded, ..Default::default() })
}

/// Judges one condition; `None` if it holds. A run of a search is one of several, so the measured figure decides what
/// sampling error alone leaves open. A figure that the generator's own delay may have pushed over the limit does not
/// decide.
fn judge_condition(slo: &Condition, of: &Scope, effect: Option<&GeneratorEffect>) -> Option<FailedCondition> {
    let decided = Decided::of(slo, of, effect);
    let is_rough_enough = slo.figure.is_rough_enough(of);
    let decision = match decided.decision {
        Decision::Undecided if is_rough_enough => decided.rough,
        decision => decision,
    };
    if decision == Decision::Holds {
        return None;
    }
    let (name, write) = (figure_name(slo), slo.figure.kind().writer());
    let words = match (decided.observed, decision) {
        (Some(observed), Decision::Fails) => {
            let (is, limit) = (write(observed), write(slo.limit));
            format!("{name} is {is}, and must be {} {limit}", slo.sign.words())
        }
        (Some(observed), _) if is_rough_enough => format!(
            "{name} is {}, which may be the generator's own delay; use a quieter machine, or more --threads",
            write(observed)
        ),
        _ => format!("too few samples for {name}: {}; use longer runs (--for)", of.measured().samples()),
    };
    let observed = decided.observed.filter(|_| decision == Decision::Fails);
    Some(FailedCondition { condition: slo.text.clone(), observed, limit: slo.limit, words })
}

/// Creates the failed condition of a degraded run. A system that was unavailable fails, even if it received few
/// requests meanwhile.
fn gone(outage: &Outage) -> FailedCondition {
    let words = format!(
        "the system was gone for {} of the time; the longest outage lasted {}",
        percent_of(outage.gone_share),
        duration(outage.longest_s * 1e9)
    );
    FailedCondition {
        condition: "outage".to_owned(),
        observed: Some(outage.gone_share),
        limit: Outage::DEGRADED_SHARE,
        words,
    }
}

/// Returns failures of the built-in conditions on the backlog: `kept`, `backlog`, and `drain`.
fn behind(backlog: &Backlog, slos: &[Condition], errors_max: f64) -> Vec<FailedCondition> {
    let mut failed = Vec::new();
    let mut fails = |condition: &str, observed: f64, limit: f64, words: String| {
        failed.push(FailedCondition {
            condition: condition.to_owned(),
            observed: Some(observed),
            limit,
            words,
        });
    };
    if let Some((share, enough)) = backlog.kept().filter(|(share, enough)| share < enough) {
        let words = format!("{} of the planned requests ended while the load went on", percent_of(share));
        fails(KEPT, share, enough, words);
    }
    if let Some(grew) = backlog.growth() {
        let words = format!("requests in flight grew by {grew:.0} from the second to the last quarter");
        fails("backlog", grew, 0.0, words);
    }
    let longest = slos
        .iter()
        .filter(|slo| slo.figure.kind() == MetricKind::Response)
        .map(|slo| slo.limit)
        .fold(0.0, f64::max);
    let grace_ns = (2.0 * longest).max(DRAIN_MIN_NS);
    if let Some(share) = backlog.ended_after(grace_ns as u64).filter(|share| *share > errors_max) {
        let words = format!(
            "{} of the planned requests ended later than {} after the end of the load",
            percent_of(share),
            duration(grace_ns)
        );
        fails("drain", share, errors_max, words);
    }
    failed
}

/// Marks a failed `kept` as unknown if all missing answers may have been moved out of the measured time.
fn unless_moved(failed: FailedCondition, moved_share: f64) -> FailedCondition {
    let is_open =
        failed.condition == KEPT && failed.observed.is_some_and(|share| share + moved_share >= failed.limit);
    FailedCondition { observed: failed.observed.filter(|_| !is_open), ..failed }
}

/// Returns the name of the figure in a sentence: `p99`, `p99 of buy`.
fn figure_name(slo: &Condition) -> String {
    let name = slo.figure.words();
    let of = slo.step.clone().or_else(|| Some(format!("event {}", slo.event.as_ref()?)));
    of.map_or(name.clone(), |of| format!("{name} of {of}"))
}
