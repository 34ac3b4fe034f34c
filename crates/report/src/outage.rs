//! Outages of a system as text, shared by all formats.

use evidence::{Model, Outage, Verdict};

use crate::units::{count, decimal, percent_of};
use crate::view::View;

/// Smallest share of unavailable time that is reported.
const SHARE_MIN: f64 = 0.001;
/// Maximum number of marks in a chart.
const EVENTS_MAX: usize = 5;

/// Outages of a run. `None` if they were not determined.
pub(crate) fn of<'a>(view: &View<'a>) -> Option<&'a Outage> {
    view.run.ending.as_ref()?.outage.as_ref()
}

/// Formats outages: `longest outage 1.50 s (2.00 s to 3.50 s); unavailable for 30.0 % of user time`. `None` if there is nothing to
/// report.
pub(crate) fn words(view: &View<'_>) -> Option<String> {
    let outage = of(view)?;
    let longest = outage.longest().map(|longest| {
        let from = decimal(longest.from_s, 2);
        let until = match longest.is_open {
            true => format!("from {from} s to the end"),
            false => format!("{from} s to {} s", decimal(longest.to_s, 2)),
        };
        let of = if outage.times.len() > 1 { format!(", of {}", outage.times.len()) } else { String::new() };
        format!("longest outage {} s ({until}{of})", decimal(longest.lasting_s, 2))
    });
    let gone = (outage.gone_share >= SHARE_MIN)
        .then(|| format!("unavailable for {}", share(view.run.new.model, outage)));
    let parts: Vec<String> = [longest, gone].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Outage as the first part of a result. `None` unless the run is degraded by it.
pub(crate) fn headline(view: &View<'_>) -> Option<String> {
    of(view).filter(|outage| outage.is_degraded())?;
    let degraded = if view.verdict == Verdict::Degraded { "degraded: " } else { "" };
    words(view).map(|words| format!("{degraded}{words}"))
}

/// Users who waited while others were answered: `1 of 10 users waited up to 9.80 s for an answer while others were served`. `None` if there
/// were no such users.
pub(crate) fn starvation_words(view: &View<'_>) -> Option<String> {
    let found = of(view)?.starvation?;
    let longest = decimal(found.longest_s, 2);
    Some(format!(
        "{} of {} users waited up to {longest} s for an answer while others were served",
        count(found.users),
        count(found.of_users)
    ))
}

/// The longest outages as marks for charts: seconds since the start of the window, and text.
pub(crate) fn events(view: &View<'_>) -> Vec<(f64, String)> {
    let mut longest: Vec<_> = of(view).map_or(&[][..], |outage| &outage.times).iter().collect();
    longest.sort_by(|one, other| other.lasting_s.total_cmp(&one.lasting_s));
    longest.truncate(EVENTS_MAX);
    longest.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
    let text = |lasting_s| format!("no ok answer for {} s", decimal(lasting_s, 2));
    longest.iter().map(|time| (time.from_s, text(time.lasting_s))).collect()
}

fn share(model: Model, outage: &Outage) -> String {
    let of = match model {
        Model::Closed => "user time",
        Model::Open => "the arrivals or of the time",
    };
    format!("{} of {of}", percent_of(outage.gone_share))
}
