//! May the numbers be believed? Judged from the generator's own signals, never from the metric.

use engine::{StopLevel, WorkerEnd};
use load::Load;
use plan::Plan;
use record::{Histogram, Percentile, Tally};
use store::{Cause, Level, Validity};

/// The share of planned requests that may be left unsent.
const NOT_SENT_SHARE_MAX: f64 = 0.001;
/// A busier thread than this may be what limits the result.
const THREAD_CPU_SHARE_MAX: f64 = 0.9;
/// Waking up later than this, and than a tenth of the tail it disturbs, makes the tail the generator's own.
const WAKE_LAG_MAX_NS: u64 = 1_000_000;

/// All wake-up lags of a run together.
pub(crate) fn wake_lag(ends: &[WorkerEnd]) -> Histogram {
    ends.iter().fold(Histogram::new(), |mut all, end| {
        all.merge(&end.health.wake_lag);
        all
    })
}

/// The share of one core that the busiest thread used.
pub(crate) fn busiest_share(ends: &[WorkerEnd]) -> Option<f64> {
    ends.iter().filter_map(|end| end.health.cpu_share()).max_by(f64::total_cmp)
}

/// The judgement, with everything that led to it.
pub(crate) fn judge(
    plan: &Plan,
    tally: &Tally,
    ends: &[WorkerEnd],
    [broke, hopeless]: [&[String]; 2],
    asked: StopLevel,
) -> Validity {
    let mut found = Vec::new();
    let units = units(plan);
    for what in broke {
        found.push((
            Level::Invalid,
            cause("internal", what.clone(), "report it with the command that led to it"),
        ));
    }
    for what in hopeless {
        let remedy = "correct the script, or what the log-in rests on, and run it again";
        found.push((Level::Invalid, cause("hopeless", what.clone(), remedy)));
    }
    let faults: u64 = tally
        .errors
        .entries()
        .iter()
        .filter(|entry| entry.class == "generator_fault")
        .map(|entry| entry.count)
        .sum();
    if faults > 0 {
        let sentence =
            format!("{faults} {units} failed because this machine ran out of ports, descriptors or memory");
        found.push((
            Level::Invalid,
            cause("generator_fault", sentence, "use keep-alive or fewer connections"),
        ));
    }
    let counts = tally.counts;
    // Whoever stops a run stops what was due as well.
    if asked == StopLevel::Go && counts.not_sent as f64 > counts.planned as f64 * NOT_SENT_SHARE_MAX {
        let percent = counts.not_sent as f64 / counts.planned as f64 * 100.0;
        let sentence = format!(
            "{} of {} planned {units} ({percent:.1} %) were not sent",
            counts.not_sent, counts.planned
        );
        let remedy = "the target or the connections could not take the rate: lower -R, or raise -c";
        found.push((Level::Invalid, cause("not_sent", sentence, remedy)));
    }
    found.extend(lag(&plan.load, tally, &wake_lag(ends)));
    if let Some(share) = busiest_share(ends).filter(|share| *share > THREAD_CPU_SHARE_MAX) {
        let sentence = format!(
            "the generator's busiest thread used {:.0} % of a core: it, and not the target, may be the limit",
            share * 100.0
        );
        let remedy =
            "read the throughput as a lower bound; use more --threads on free cores, or another machine";
        found.push((Level::Suspect, cause("generator_cpu", sentence, remedy)));
    }
    let worst =
        found.iter().map(|(level, _)| *level).max_by_key(|level| *level as u8).unwrap_or(Level::Valid);
    Validity { verdict: worst, causes: found.into_iter().map(|(_, cause)| cause).collect() }
}

/// What is counted.
fn units(plan: &Plan) -> &'static str {
    let of_sql = plan.steps.iter().filter(|step| step.request().is_none()).count();
    match of_sql {
        0 => "requests",
        count if count == plan.steps.len() => "transactions",
        _ => "requests and transactions",
    }
}

/// A generator that wakes up late measures itself: only in an open load, where timers start the requests.
fn lag(load: &Load, tally: &Tally, wake_lag: &Histogram) -> Option<(Level, Cause)> {
    let lag_ns = wake_lag.printable_at(Percentile::P99)?;
    let response_ns = tally.response.all().printable_at(Percentile::P99)?;
    if !matches!(load, Load::Open(_)) || lag_ns <= WAKE_LAG_MAX_NS.max(response_ns / 10) {
        return None;
    }
    let sentence = format!(
        "the generator woke up {:.1} ms late or more in 1 % of the cases, against a 99 % response time of {:.1} ms",
        lag_ns as f64 / 1e6,
        response_ns as f64 / 1e6
    );
    let remedy = "give the generator a core of its own (--pin), or another machine";
    Some((Level::Invalid, cause("wake_lag", sentence, remedy)))
}

fn cause(code: &str, sentence: impl Into<String>, remedy: &str) -> Cause {
    Cause { code: code.to_owned(), sentence: sentence.into(), remedy: remedy.to_owned() }
}
