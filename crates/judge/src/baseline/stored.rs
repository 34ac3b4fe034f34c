//! Copies the figures of a baseline, so that runs and studies can be judged without the baseline's store.

use evidence::{
    BaselineLoad, BaselineRow, BaselineSide, BaselineSpent, Bounds, EvidenceError, NewRun, Run, Study,
};

use stats::Bounded;

use super::{Side, WithSeconds};
use crate::compared_by::ComparedBy;
use crate::condition::{BaselineLimit, Condition};
use crate::counting::counted;
use crate::explanation::TimeByPart;
use crate::measured::Measured;
use crate::run_result::run_result;
use crate::words::planned_load;

/// Returns the load of a run, under the given name.
pub fn load_of(name: &str, run: &NewRun) -> BaselineLoad {
    BaselineLoad {
        name: name.to_owned(),
        words: planned_load(&run.load_in_words(), run.planned_duration_ns, run.warm_up_ns),
        title: run.title.clone(),
        steps: run.steps.clone(),
        plan_json: run.plan_json.clone(),
        plan_hash: run.plan_hash.clone(),
    }
}

/// Copies a run as a configuration without a name.
pub fn row_of_run(
    run: &Run,
    conditions: &[Condition],
    metrics: &[ComparedBy],
    with_seconds: WithSeconds<'_>,
) -> Result<BaselineRow, EvidenceError> {
    let sides = sides(&[run], conditions, metrics, with_seconds)?;
    Ok(BaselineRow { sides, spent: spent(&[run])?, ..BaselineRow::default() })
}

/// Copies every configuration of a study under a load, by the given conditions and metrics.
pub fn rows_of_study(
    study: &Study,
    load: &str,
    conditions: &[Condition],
    metrics: &[ComparedBy],
    with_seconds: WithSeconds<'_>,
) -> Result<Vec<BaselineRow>, EvidenceError> {
    let mut rows = Vec::new();
    for counted in counted(study, load) {
        let Some(place) = counted.places.first() else { continue };
        let runs: Vec<&Run> = counted.places.iter().filter_map(|place| study.run(place.position)).collect();
        rows.push(BaselineRow {
            load: load.to_owned(),
            system: place.system.clone(),
            variant: place.variant.clone(),
            sides: sides(&runs, conditions, metrics, with_seconds)?,
            spent: spent(&runs)?,
        });
    }
    Ok(rows)
}

fn spent(runs: &[&Run]) -> Result<Vec<BaselineSpent>, EvidenceError> {
    Ok(TimeByPart::of_runs(runs.iter().copied())?.iter().map(TimeByPart::kept).collect())
}

fn sides(
    runs: &[&Run],
    conditions: &[Condition],
    metrics: &[ComparedBy],
    with_seconds: WithSeconds<'_>,
) -> Result<Vec<BaselineSide>, EvidenceError> {
    let mut sides = Vec::new();
    for condition in conditions {
        let side = Side::of(condition, runs.iter().copied(), with_seconds)?;
        sides.push(kept(&condition.text, &side));
    }
    for metric in metrics {
        sides.push(kept(&metric.name(), &metric_side(metric, runs.iter().copied())?));
    }
    Ok(sides)
}

/// Returns the figures of runs by a metric.
pub fn metric_side<'a>(by: &ComparedBy, runs: impl Iterator<Item = &'a Run>) -> Result<Side, EvidenceError> {
    let mut side = Side::default();
    for run in runs {
        side.note(run_result(run, &Measured::of(run)?, by));
    }
    Ok(side)
}

fn kept(of: &str, side: &Side) -> BaselineSide {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    BaselineSide {
        of: of.to_owned(),
        figures: side.figures.iter().map(|figure| figure.value).collect(),
        bounds: side.figures.iter().map(|figure| Bounds::new(figure.low, figure.high)).collect::<Option<_>>(),
        too_few: count(side.too_few),
        invalid: count(side.invalid),
        degraded: count(side.degraded),
        errors: side.errors,
        planned: side.planned,
    }
}

/// Restores a copied side.
pub fn side(kept: &BaselineSide) -> Side {
    let bounds = kept.bounds.as_deref().unwrap_or_default();
    let bounded = |(place, value): (usize, &f64)| match bounds.get(place) {
        Some(bounds) => Bounded::within(*value, [bounds.low(), bounds.high()]),
        None => Bounded::exactly(*value),
    };
    Side {
        figures: kept.figures.iter().enumerate().map(bounded).collect(),
        too_few: kept.too_few as usize,
        invalid: kept.invalid as usize,
        // A stored baseline counts failed runs as invalid.
        failed: 0,
        degraded: kept.degraded as usize,
        errors: kept.errors,
        planned: kept.planned,
    }
}

/// Returns the conditions of a baseline among `texts`.
pub(super) fn conditions(texts: &[String]) -> Vec<Condition> {
    let is_of_baseline = |condition: &Condition| {
        matches!(condition.of_baseline, Some(BaselineLimit::Share | BaselineLimit::Difference))
    };
    texts.iter().filter_map(|text| Condition::parse_gate(text).ok()).filter(is_of_baseline).collect()
}
