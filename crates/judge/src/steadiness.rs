//! Decides whether a load was steady, by its time series.

use evidence::{Steadiness, SteadinessVerdict};
use record::Pulses;
use stats::{Series, SteadyVerdict, Unsteady, Window, steady};

use crate::planned::Planned;

/// Min share of its length that a window must cover. A shorter window is the end of the load, and is ignored.
const WINDOW_MIN_SHARE: f64 = 0.9;

/// Judges steadiness up to now; `None` for a load that is not meant to be steady. `workers` is the number of threads
/// that report windows. `ended_ns` is the time at which the load was ended early; requests still open then end in later
/// windows, which do not count.
pub fn judge(planned: &Planned, pulses: &Pulses, workers: u32, ended_ns: Option<u64>) -> Option<Steadiness> {
    let settles_from_ns = planned.settles_from_ns?;
    let window_ns = pulses.window_ns();
    let whole_ns = window_ns as f64 * f64::from(workers.max(1)) * WINDOW_MIN_SHARE;
    let ends_ns = planned.ends_at_ns.unwrap_or(u64::MAX).min(ended_ns.unwrap_or(u64::MAX));
    let lived = pulses.windows().iter().take_while(|pulse| {
        pulse.lasting_ns as f64 >= whole_ns && pulse.at_ns.saturating_add(window_ns) <= ends_ns
    });
    let series: Vec<Window> = lived
        .map(|pulse| Window {
            ended: pulse.ended,
            response_sum_ns: pulse.response_sum_ns,
            in_flight: pulse.in_flight_ns as f64 / window_ns as f64,
        })
        .collect();
    let warm = settles_from_ns.div_ceil(window_ns) as usize;
    let found = steady(&series, warm);
    let measured_s = |window: usize| {
        let at_ns = (window as u64).saturating_mul(window_ns);
        at_ns.saturating_sub(planned.warm_up_ns) as f64 / 1e9
    };
    let is_told = !matches!(found.verdict, SteadyVerdict::TooShort { .. });
    let figure = |figure: f64| (is_told && figure.is_finite()).then_some(figure);
    Some(Steadiness {
        verdict: match found.verdict {
            SteadyVerdict::Steady => SteadinessVerdict::Steady,
            SteadyVerdict::WarmingUp { .. } => SteadinessVerdict::WarmingUp,
            SteadyVerdict::NotSteady { .. } => SteadinessVerdict::NotSteady,
            SteadyVerdict::TooShort { .. } => SteadinessVerdict::TooShort,
        },
        why: why(found.verdict, window_ns, measured_s),
        window_ns,
        windows: series.len() as u32,
        cut_s: measured_s(found.cut),
        drift_share: figure(found.drift_share),
        halves_share: figure(found.halves_share),
        step_s: found.step.map(measured_s),
        extended: 0,
    })
}

fn why(verdict: SteadyVerdict, window_ns: u64, measured_s: impl Fn(usize) -> f64) -> Option<String> {
    let of = |series: Series| match series {
        Series::Throughput => "throughput",
        Series::ResponseTime => "response time",
        Series::InFlight => "the number in flight",
    };
    match verdict {
        SteadyVerdict::Steady => None,
        SteadyVerdict::WarmingUp { cut } => {
            Some(format!("it settled {:.1} s after the warm-up that was planned", measured_s(cut)))
        }
        SteadyVerdict::NotSteady { why: Unsteady::StillChanging } => {
            Some("it was still changing in its second half".to_owned())
        }
        SteadyVerdict::NotSteady { why: Unsteady::Drifts(series) } => Some(format!("{} drifts", of(series))),
        SteadyVerdict::NotSteady { why: Unsteady::Steps { at, series } } => {
            Some(format!("{} takes a step at {:.1} s", of(series), measured_s(at)))
        }
        SteadyVerdict::TooShort { needed } => {
            Some(format!("it takes {:.0} s in all to tell", (needed as f64 * window_ns as f64 / 1e9).ceil()))
        }
    }
}
