//! Closed loads that are too short for their requests: what is under way at their ends is much of the whole, and how it is
//! counted decides the rate. Which time rates are told over is in [`verdict::rated_s`].

use store::{Model, Verdict};

use crate::figures::Figures;
use crate::units::{duration, percent_of, rate};
use crate::view::View;

/// Where what is under way at the ends of a load is less of the whole, it is not worth a word.
const SHARE_MIN: f64 = 0.1;
/// Rates that are closer are told once.
const RATE_MIN: f64 = 0.01;

/// By how much the rate of a run may be off, and what makes it so.
struct Doubt {
    share: f64,
    because: String,
}

/// What a careful colleague would say about a run.
pub(crate) fn doubt(view: &View<'_>) -> Option<String> {
    let Doubt { share, because } = of(view)?;
    Some(format!("{because}, the throughput may be off by {}. Measure for longer.", percent_of(share)))
}

/// The same of the runs of a study that count.
pub(crate) fn doubt_of_many<'a>(views: impl Iterator<Item = &'a View<'a>>) -> Option<String> {
    let (mut runs, mut too_short, mut most) = (0usize, 0usize, 0.0_f64);
    for view in views {
        runs += 1;
        if let Some(doubt) = of(view) {
            too_short += 1;
            most = most.max(doubt.share);
        }
    }
    (too_short > 0).then(|| {
        format!(
            "SHORT: {too_short} of {runs} runs are short for their replies: if the users stay in step, or replies hang, their \
             throughput may be off by up to {}. Measure for longer",
            percent_of(most)
        )
    })
}

/// After the rate that is told: what JMeter would tell; nothing where that is the same.
pub(crate) fn with_the_end(figures: &Figures) -> String {
    match (figures.answers_per_s(), figures.throughput_per_s()) {
        (Some(told), Some(jmeter)) if (told / jmeter - 1.0).abs() > RATE_MIN => {
            format!("; {}/s until the last reply, as JMeter counts", rate(jmeter))
        }
        _ => String::new(),
    }
}

fn of(view: &View<'_>) -> Option<Doubt> {
    let mean_ns = view.whole.response.all.mean_ns?;
    let (share, because) = match verdict::measured_ns(view.run) {
        // Users who stay in step begin one request more or less in the measured time.
        Some(measured_ns) => {
            let share = mean_ns / measured_ns as f64;
            let (mean, of_all) = (duration(mean_ns), percent_of(share));
            (
                share,
                format!(
                    "Replies take {mean} on average, {of_all} of the measured time: if the users stay in step"
                ),
            )
        }
        // The users came all at once, which makes up for the end of a usual request, but not for that of a long one.
        None => {
            let drain_ns = drain_ns(view)?;
            let share = (drain_ns - mean_ns) / (view.whole.span_s? * 1e9);
            (
                share,
                format!(
                    "The last reply came {} after the load had ended: with that time",
                    duration(drain_ns)
                ),
            )
        }
    };
    (share > SHARE_MIN).then_some(Doubt { share, because })
}

/// From the end of a closed load, if its time ended it, to its last reply.
fn drain_ns(view: &View<'_>) -> Option<f64> {
    let (new, ending) = (&view.run.new, view.run.ending.as_ref()?);
    if new.model != Model::Closed || ending.verdict != Verdict::Complete {
        return None;
    }
    // Of a load that may be made longer this is the latest end, which no reply is beyond by much.
    let end_ns = new.warm_up_ns.saturating_add(new.planned_duration_ns?);
    Some(view.whole.last_finished_ns?.checked_sub(end_ns)? as f64)
}
