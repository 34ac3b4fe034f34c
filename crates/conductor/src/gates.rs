//! What must hold for every run: measured against what was kept of it.

use load::SECOND_NS;
use plan::{Gate, GateMetric};
use record::{Percentile, Phase, Tally};
use store::{GateResult, Run, StoreError};

/// Every gate of a plan, held against a run.
pub(crate) fn judge(gates: &[Gate], run: &Run) -> Result<Vec<GateResult>, StoreError> {
    gates.iter().map(|gate| judge_one(gate, run)).collect()
}

fn judge_one(gate: &Gate, run: &Run) -> Result<GateResult, StoreError> {
    let (tally, over_s) = match gate.window_ns {
        None => whole(gate, run)?,
        Some(window) => part(gate, run, window)?,
    };
    let observed = observe(gate.metric, &tally, over_s);
    // What cannot be told does not hold: a gate is a promise.
    let holds =
        observed.is_some_and(|value| if gate.is_below { value < gate.limit } else { value > gate.limit });
    Ok(GateResult {
        text: gate.text.clone(),
        step: gate.step.and_then(|step| run.new.steps.get(usize::from(step)).cloned()),
        observed,
        limit: gate.limit,
        unit: unit(gate.metric).to_owned(),
        holds,
    })
}

fn unit(metric: GateMetric) -> &'static str {
    match metric {
        GateMetric::Percentile(_) | GateMetric::Mean | GateMetric::Max => "ns",
        GateMetric::Errors => "share",
        GateMetric::Throughput => "/s",
    }
}

/// The figure, if there are enough samples for a verdict on it.
fn observe(metric: GateMetric, tally: &Tally, over_s: f64) -> Option<f64> {
    let (counts, response) = (tally.counts, tally.response.all());
    match metric {
        GateMetric::Percentile(ppm) => {
            let percentile = Percentile::from_ppm(ppm)?;
            let is_judgeable = percentile.is_judgeable(response.count());
            is_judgeable.then(|| response.value_at(percentile)).flatten().map(|ns| ns as f64)
        }
        GateMetric::Mean => response.mean_ns(),
        GateMetric::Max => response.max_ns().map(|ns| ns as f64),
        GateMetric::Errors => {
            // What was not sent was not served either.
            let wrong = counts.refused + counts.failed + counts.timed_out + counts.not_sent;
            let planned = counts.ok + wrong;
            (planned > 0).then(|| wrong as f64 / planned as f64)
        }
        GateMetric::Throughput => (over_s > 0.0).then(|| counts.ok as f64 / over_s),
    }
}

/// The whole measured time, and the seconds over which rates are told: the same as in reports.
fn whole(gate: &Gate, run: &Run) -> Result<(Tally, f64), StoreError> {
    let tally = match gate.step {
        Some(step) => run.total(step, Phase::Measured)?,
        None => run.whole(Phase::Measured)?,
    };
    let over_s = tally.span_ns().unwrap_or(0) as f64 / SECOND_NS as f64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Finish, Outcome};

    fn tally(ok: u64, failed: u64, response_ns: u64) -> Tally {
        let mut tally = Tally::default();
        for number in 0..ok + failed {
            tally.note_sent(number);
            let outcome = if number < ok { Outcome::Ok } else { Outcome::Failed };
            let finished_ns = number + response_ns;
            tally.note_finished(&Finish {
                intended_ns: number,
                sent_ns: number,
                first_byte_ns: None,
                finished_ns,
                outcome,
                status: 0,
            });
        }
        tally
    }

    #[test]
    fn figures_are_told_only_from_enough_samples() {
        let many = tally(9_990, 10, 1_000_000);
        let p99 = observe(GateMetric::Percentile(990_000), &many, 10.0).unwrap();
        assert!((p99 / 1e6 - 1.0).abs() < 0.001, "{p99}");
        assert_eq!(observe(GateMetric::Percentile(990_000), &tally(9_000, 0, 5), 10.0), None);
        assert_eq!(observe(GateMetric::Errors, &many, 10.0), Some(0.001));
        assert_eq!(observe(GateMetric::Throughput, &many, 10.0), Some(999.0));
        assert_eq!(observe(GateMetric::Mean, &Tally::default(), 10.0), None);
        assert_eq!(observe(GateMetric::Throughput, &Tally::default(), 0.0), None);
    }
}
