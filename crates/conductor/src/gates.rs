//! What must hold for every run: measured against what was kept of it.

use load::SECOND_NS;
use plan::{Gate, GateMetric};
use record::{Percentile, Phase, Tally};
use store::{GateResult, Run, StoreError};
use verdict::slo::Figure;

/// Every gate of a plan, held against a run.
pub(crate) fn judge(gates: &[Gate], run: &Run) -> Result<Vec<GateResult>, StoreError> {
    gates.iter().map(|gate| judge_one(gate, run)).collect()
}

fn judge_one(gate: &Gate, run: &Run) -> Result<GateResult, StoreError> {
    let (tally, over_s) = match gate.window_ns {
        None => whole(gate, run)?,
        Some(window) => part(gate, run, window)?,
    };
    let figure = figure(gate.metric);
    let observed = figure.and_then(|figure| figure.observe(&tally, over_s));
    // What cannot be told does not hold: a gate is a promise.
    let holds =
        observed.is_some_and(|value| if gate.is_below { value < gate.limit } else { value > gate.limit });
    Ok(GateResult {
        text: gate.text.clone(),
        step: gate.step.and_then(|step| run.new.steps.get(usize::from(step)).cloned()),
        observed,
        limit: gate.limit,
        unit: figure.map_or("", Figure::unit).to_owned(),
        holds,
    })
}

/// What verdicts call it; `None` if it is no percentile.
fn figure(metric: GateMetric) -> Option<Figure> {
    Some(match metric {
        GateMetric::Percentile(ppm) => Figure::Percentile(Percentile::from_ppm(ppm)?),
        GateMetric::Mean => Figure::Mean,
        GateMetric::Max => Figure::Max,
        GateMetric::Errors => Figure::Errors,
        GateMetric::Throughput => Figure::Throughput,
    })
}

/// The whole measured time, and the seconds over which rates are told: the same as in reports.
fn whole(gate: &Gate, run: &Run) -> Result<(Tally, f64), StoreError> {
    let tally = match gate.step {
        Some(step) => run.total(step, Phase::Measured)?,
        None => run.whole(Phase::Measured)?,
    };
    let over_s = verdict::rated_s(run, &tally).unwrap_or(0.0);
    Ok((tally, over_s))
}

/// The seconds that lie wholly in a part of the measured time, and how many they are.
fn part(gate: &Gate, run: &Run, (from_ns, to_ns): (u64, u64)) -> Result<(Tally, f64), StoreError> {
    let warm_up_ns = run.new.warm_up_ns;
    let first = warm_up_ns.saturating_add(from_ns).div_ceil(SECOND_NS);
    let end = warm_up_ns.saturating_add(to_ns) / SECOND_NS;
    let mut tally = Tally::default();
    for kept in run.seconds() {
        let (step, interval) = kept?;
        if interval.phase == Phase::Measured
            && gate.step.is_none_or(|wanted| wanted == step)
            && (first..end).contains(&interval.second)
        {
            tally.merge(&interval.tally);
        }
    }
    Ok((tally, end.saturating_sub(first) as f64))
}
