//! Over which time rates are told.

use record::Tally;
use store::{Model, Run, Verdict};

/// The time over which the rates of a run are told, in seconds; `None` if that is no time at all.
///
/// Of a closed load that was ended by its time after a warm-up it is the measured time, [`measured_ns`]. Otherwise it is the
/// time from the first request sent to the last one that ended, which is JMeter's.
pub fn rated_s(run: &Run, tally: &Tally) -> Option<f64> {
    measured_ns(run).or(tally.span_ns()).map(|ns| ns as f64 / 1e9)
}

/// The measured time of a closed load that was ended by it after a warm-up; `None` of every other run.
///
/// While such a load is steady, as many requests begin in a time as end in it. Those that began in the measured time are
/// counted until the last of them has ended, and that takes longer than the measured time; what was under way when the warm-up
/// ended is not counted, and makes no up for it. Told over both, a rate is too low by the time of a request in the measured time.
/// Without a warm-up nothing is under way at the beginning, and in an open load that was too much the time until the last
/// reply is what the system needed.
pub fn measured_ns(run: &Run) -> Option<u64> {
    let (new, ending) = (&run.new, run.ending.as_ref()?);
    let went_to_its_end = matches!(ending.verdict, Verdict::Complete | Verdict::Degraded | Verdict::Invalid);
    let is_counted_off = !new.plan_json["stop"]["requests"].is_null();
    if new.model != Model::Closed
        || new.warm_up_ns == 0
        || is_counted_off
        || !went_to_its_end
        || ending.failure.is_some()
    {
        return None;
    }
    let extended = ending.steadiness.as_ref().map_or(0, |seen| seen.extended);
    let measured_ns = new.planned_duration_ns?.saturating_mul(u64::from(extended) + 1);
    (measured_ns > 0).then_some(measured_ns)
}
