//! Compares a single run with a stored baseline: its conditions, with limits that follow from the baseline.

use evidence::{Baseline, EvidenceError, GateResult, Run};

use super::{ConditionResult, Decision, Side, decide, judge, stored, unfair_reason};
use crate::condition::{BaselineLimit, Condition};

/// Judges every condition of a run on its stored baseline by the estimate alone, because one run has no interval. Empty if there is
/// no baseline.
pub fn of_run(run: &Run, baseline: &Baseline) -> Result<Vec<(Condition, ConditionResult)>, EvidenceError> {
    let Some(row) = baseline.found.as_ref().ok().and_then(|found| found.rows.first()) else {
        return Ok(Vec::new());
    };
    let conditions = stored::conditions(&baseline.conditions);
    let mut all = Vec::with_capacity(conditions.len());
    for condition in conditions {
        let side = row.side(&condition.text).map(stored::side).unwrap_or_default();
        let found = judge_one(&condition, &side, run)?;
        all.push((condition, found));
    }
    Ok(all)
}

/// Like [`of_run`], as gates of the run, with the figure and the limit in the figure's unit.
pub(crate) fn gates(run: &Run, baseline: &Baseline) -> Result<Vec<GateResult>, EvidenceError> {
    let found = of_run(run, baseline)?;
    found
        .into_iter()
        .map(|(condition, found)| {
            let observed = super::figure(&condition, run, &|run| Ok(run.clone()))?.map(|figure| figure.value);
            let limit =
                observed.zip(found.estimate).and_then(|(observed, estimate)| match condition.of_baseline? {
                    BaselineLimit::Share => Some(observed / estimate * condition.limit),
                    BaselineLimit::Difference => Some(observed - estimate + condition.limit),
                });
            let limit = limit.filter(|limit| limit.is_finite());
            Ok(GateResult {
                text: condition.text.clone(),
                step: condition.step.clone(),
                observed: observed.filter(|_| limit.is_some() && !is_undecided(&found)),
                limit: limit.unwrap_or(condition.limit),
                unit: condition.figure.kind().stored_unit().to_owned(),
                bounds: None,
                decision: match found.decision {
                    Decision::True => evidence::Decision::Holds,
                    Decision::False => evidence::Decision::Fails,
                    Decision::Undecided(_) => evidence::Decision::Undecided,
                },
                samples_needed: None,
            })
        })
        .collect()
}

fn is_undecided(found: &ConditionResult) -> bool {
    matches!(found.decision, Decision::Undecided(_))
}

fn judge_one(condition: &Condition, baseline: &Side, run: &Run) -> Result<ConditionResult, EvidenceError> {
    let candidate = Side::of(condition, std::iter::once(run), &|run| Ok(run.clone()))?;
    let found = judge(condition, baseline, &candidate, 1);
    let sides = [baseline, &candidate];
    match (found.estimate, &found.decision) {
        (Some(estimate), Decision::Undecided(_)) if unfair_reason(sides).is_none() => {
            let decision = decide(condition, sides, Some([estimate; 2]), || None);
            Ok(ConditionResult { decision, interval: None, confidence: None, ..found })
        }
        _ => Ok(found),
    }
}
