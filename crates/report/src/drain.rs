//! The time from the end of a closed load to its last reply. JMeter's throughput counts it, and nothing that was under way when
//! the measured time began makes up for it: of a short load of long requests it is too low. Where there was a warm-up, rates are
//! told without it (see [`verdict::rated_s`]).

use store::{Model, Verdict};

use crate::figures::Figures;
use crate::units::{duration, percent_of, rate};
use crate::view::View;

/// A smaller part of the time over which rates are told is not worth a word.
const SHARE_MIN: f64 = 0.05;
/// Rates that are closer are told once.
const RATE_MIN: f64 = 0.01;

/// What came after the load.
struct Drain {
    ns: f64,
    /// Of the time from the first request to the last reply.
    share: f64,
}

/// What a careful colleague would say about a run whose rates are told over it.
pub(crate) fn doubt(view: &View<'_>) -> Option<String> {
    let Drain { ns, share } = of(view)?;
    Some(format!(
        "The last reply came {} after the load had ended. Throughput counts that time, {} of the whole, and may be too low by \
         as much: give the load a warm-up, or measure for longer.",
        duration(ns),
        percent_of(share)
    ))
}

/// What JMeter would tell, where it is not what is told.
pub(crate) fn with_it(figures: &Figures) -> Option<String> {
    let (told, jmeter) = (figures.answers_per_s()?, figures.throughput_per_s()?);
    let is_other = (told / jmeter - 1.0).abs() > RATE_MIN;
    is_other.then(|| format!("{}/s until the last reply, as JMeter counts", rate(jmeter)))
}

/// The same of the runs of a study that count.
pub(crate) fn doubt_of_many<'a>(views: impl Iterator<Item = &'a View<'a>>) -> Option<String> {
    let (mut runs, mut too_short, mut most) = (0usize, 0usize, 0.0_f64);
    for view in views {
        runs += 1;
        if let Some(drain) = of(view) {
            too_short += 1;
            most = most.max(drain.share);
        }
    }
    (too_short > 0).then(|| {
        format!(
            "SHORT: in {too_short} of {runs} runs the last reply came late after the end of the load. Throughput counts that \
             time, up to {} of the whole, and may be too low by as much, most where replies take longest: give the load a \
             warm-up, or measure for longer",
            percent_of(most)
        )
    })
}

/// If time ended the load, rates are told over what came after it, and the share matters.
fn of(view: &View<'_>) -> Option<Drain> {
    let (new, ending) = (&view.run.new, view.run.ending.as_ref()?);
    if verdict::measured_ns(view.run).is_some() {
        return None;
    }
    let went_to_its_end = matches!(ending.verdict, Verdict::Complete | Verdict::Invalid);
    if new.model != Model::Closed || !went_to_its_end {
        return None;
    }
    let extended = ending.steadiness.as_ref().map_or(0, |seen| seen.extended);
    let measured_ns = new.planned_duration_ns?.saturating_mul(u64::from(extended) + 1);
    let end_ns = new.warm_up_ns.saturating_add(measured_ns);
    let ns = view.whole.last_finished_ns?.checked_sub(end_ns)? as f64;
    let share = ns / (view.whole.span_s? * 1e9);
    (share > SHARE_MIN).then_some(Drain { ns, share })
}
