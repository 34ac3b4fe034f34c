//! Closed loads that are too short: replies take a large share of the measured window, so requests in flight at its edges matter.

use evidence::Model;

use crate::units::{duration, percent_of};
use crate::view::View;

/// Smallest ratio of the mean response time to the window that is reported.
const SHARE_MIN: f64 = 0.1;

/// Note on a run that is too short. `None` if it is long enough.
pub(crate) fn doubt(view: &View<'_>) -> Option<String> {
    let share = share(view)?;
    let (mean, off) = (duration(view.whole.response.all.mean_ns?), percent_of(share));
    Some(format!(
        "Replies take {mean} on average, {off} of the measured window: if the users stay in step, the throughput may be off by \
         {off}. Measure for longer."
    ))
}

/// Note on the runs that count in a study. `None` if all are long enough.
pub(crate) fn doubt_of_runs<'a>(views: impl Iterator<Item = &'a View<'a>>) -> Option<String> {
    let (mut runs, mut too_short, mut most) = (0usize, 0usize, 0.0_f64);
    for view in views {
        runs += 1;
        if let Some(share) = share(view) {
            too_short += 1;
            most = most.max(share);
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

/// Possible relative error of the throughput: users in lockstep may end one request more or less in the window. `None` if it is
/// negligible.
fn share(view: &View<'_>) -> Option<f64> {
    // A load with a number of requests is measured until its last answer.
    if view.run.new.model != Model::Closed || view.run.new.planned_duration_ns.is_none() {
        return None;
    }
    let window = view.whole.window?;
    let share = view.whole.response.all.mean_ns? / (window.length_s * 1e9);
    (share > SHARE_MIN).then_some(share)
}
