//! What must hold for every run: measured against what was kept of it.

use judge::Window;
use judge::slo::{Figure, Observed};
use load::SECOND_NS;
use plan::{Gate, GateMetric};
use record::{InWindow, Percentile, Phase, Tally};
use store::{GateResult, Outage, Run, StoreError};

/// Every gate of a plan, held against a run.
pub(crate) fn judge(gates: &[Gate], run: &Run) -> Result<Vec<GateResult>, StoreError> {
    gates.iter().map(|gate| judge_one(gate, run)).collect()
}

fn judge_one(gate: &Gate, run: &Run) -> Result<GateResult, StoreError> {
    let (tally, window) = match gate.window_ns {
        None => whole(gate, run)?,
        Some(part) => seconds(gate, run, part)?,
    };
    let figure = figure(gate.metric);
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

/// What verdicts call it; `None` if it is no percentile.
fn figure(metric: GateMetric) -> Option<Figure> {
    Some(match metric {
        GateMetric::Percentile(ppm) => Figure::Percentile(Percentile::from_ppm(ppm)?),
        GateMetric::Mean => Figure::Mean,
        GateMetric::Max => Figure::Max,
        GateMetric::Errors => Figure::Errors,
        GateMetric::Throughput => Figure::Throughput,
        GateMetric::Outage => Figure::Outage,
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
