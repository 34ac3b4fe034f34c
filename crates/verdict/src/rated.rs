//! Over which time rates are told.

use record::Tally;
use store::{Model, Run, Verdict};

/// The time over which the rates of a run are told, in seconds; `None` if that is no time at all.
///
/// Of a closed load that its time ended after a warm-up it is the measured time, [`measured_ns`]. Otherwise it is the time from
/// the first request sent to the last one that ended, which is JMeter's.
pub fn rated_s(run: &Run, tally: &Tally) -> Option<f64> {
    measured_ns(run).or(tally.span_ns()).map(|ns| ns as f64 / 1e9)
}

/// The measured time of a closed load that it ended after a warm-up; `None` of every other run.
///
/// While such a load is steady, as many requests begin in a time as end in it. Those that began in the measured time are counted
/// until they have ended; the time that takes is no part of it, as what was under way when the warm-up ended is not counted.
/// Over both, a rate is too low by about the time of a request in the measured time, and by much more if one of them hangs.
/// Users who stay in step may begin one request more or less each.
///
/// Not so without a warm-up: all users begin at once, which makes up for the end. Not so in an open load: of one that was too
/// much, the time until the last reply is what the system needed.
pub fn measured_ns(run: &Run) -> Option<u64> {
    let (new, ending) = (&run.new, run.ending.as_ref()?);
    // It may also end when it has settled, or when it has made its requests.
    let stop = &new.plan_json["stop"];
    let time_alone_ends_it = ["extend", "requests"].iter().all(|other| stop[other].is_null());
    let went_to_its_end =
        matches!(ending.verdict, Verdict::Complete | Verdict::Degraded) && ending.failure.is_none();
    let is_closed = new.model == Model::Closed && new.warm_up_ns > 0;
    new.planned_duration_ns.filter(|ns| *ns > 0 && is_closed && time_alone_ends_it && went_to_its_end)
}
