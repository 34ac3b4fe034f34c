//! Notes on the figures of a run, as an experienced colleague would give them. Each rule is a function in the list [`RULES`].

use evidence::{Model, SameBody, Unit};
use record::Percentile;

use crate::baseline;
use crate::short;
use crate::steadiness;
use crate::text::capitalize;
use crate::transactions;
use crate::units::{count, duration, percent};
use crate::view::View;

type Rule = fn(&View<'_>) -> Option<String>;

/// All rules, in the order of their notes.
const RULES: &[Rule] = &[
    nothing_sent,
    nothing_answered,
    only_rejections,
    unknown_effects,
    unsent_requests,
    late_sends,
    hidden_stalls,
    identical_bodies,
    unsteady_run,
    short::doubt,
];

/// Notes that are stored with the run, then notes on its baseline, then notes of the rules.
pub(crate) fn all_notes(view: &View<'_>) -> Vec<String> {
    let own = view.run.ending.iter().flat_map(|ending| ending.notes.iter().cloned());
    let called_for = RULES.iter().filter_map(|rule| rule(view));
    own.chain(baseline::notes(view)).chain(called_for).chain(harmless_observations(view)).collect()
}

/// Observations of the load generator whose effect was negligible.
fn harmless_observations(view: &View<'_>) -> impl Iterator<Item = String> {
    view.validity.notes.iter().map(|note| {
        let distorted = judge::validity::distorted(&note.distorts);
        capitalize(&format!("{}; too little to matter: {distorted}.", note.sentence))
    })
}

/// The run did not become steady, so its figures depend on its length.
fn unsteady_run(view: &View<'_>) -> Option<String> {
    let (sentence, remedy) = steadiness::doubt(steadiness::of(view)?)?;
    Some(format!("{}: {remedy}.", capitalize(&sentence)))
}

/// An error page or a default answer counts as ok if its status does.
fn identical_bodies(view: &View<'_>) -> Option<String> {
    let SameBody { body, requests, replies } = view.run.ending.as_ref()?.same_body.as_ref()?;
    Some(format!(
        "The first {} replies, to {} different requests, all had the body {body:?}: if it is not the one that you mean, say what to expect \
         (`--expect-body TEXT`; `expect: {{ body: TEXT }}` in a plan).",
        count(*replies),
        count(*requests),
    ))
}

fn nothing_sent(view: &View<'_>) -> Option<String> {
    if view.has_nothing_stored() {
        return Some(format!(
            "No second of this run is stored: the outcome of its {} is unknown.",
            view.noun().many
        ));
    }
    let counts = &view.whole.counts;
    let when = if view.warm_up.counts.sent > 0 { " after the warm-up" } else { "" };
    (counts.sent == 0).then(|| format!("No {} was sent{when}: there is nothing to judge.", view.noun().one))
}

fn nothing_answered(view: &View<'_>) -> Option<String> {
    let figures = &view.whole;
    (figures.counts.sent > 0 && figures.answered() == 0).then(|| {
        let first = figures.errors.first().map(|error| format!(" Most frequent: {}.", error.class));
        format!("No {} was answered.{}", view.noun().one, first.unwrap_or_default())
    })
}

/// Notes that every answer was rejected. Rejections can be fast, so the figures do not describe the intended work.
fn only_rejections(view: &View<'_>) -> Option<String> {
    let figures = &view.whole;
    (figures.counts.ok == 0 && figures.answered() > 0).then(|| {
        let first = figures.errors.first().map(|error| format!(" Most frequent: {}.", error.message));
        let all = match view.unit() {
            Unit::Requests => "Every answer was rejected.",
            Unit::Transactions => "Every transaction that was answered was rejected.",
        };
        format!("{all}{}", first.unwrap_or_default())
    })
}

/// Transactions failed although they may have taken effect.
fn unknown_effects(view: &View<'_>) -> Option<String> {
    transactions::unknown(std::iter::once(&view.whole))
}

/// Notes that more than 0.1 % of the planned requests were not sent, so that the load was lower than intended.
fn unsent_requests(view: &View<'_>) -> Option<String> {
    let counts = &view.whole.counts;
    let is_many = u128::from(counts.not_sent) * 1_000 > u128::from(counts.planned);
    is_many.then(|| {
        format!(
            "{} of {} planned {} ({}) were never sent: the system got less load than requested.",
            count(counts.not_sent),
            count(counts.planned),
            view.noun().many,
            percent(counts.not_sent, counts.planned)
        )
    })
}

/// Notes that the send delay is at least half of the p99 response time.
fn late_sends(view: &View<'_>) -> Option<String> {
    let late_ns = view.whole.lateness.all.at(Percentile::P99)?;
    let response_ns = view.whole.response.all.at(Percentile::P99)?;
    let whole = match view.unit() {
        Unit::Requests => "Requests",
        Unit::Transactions => "Transactions",
    };
    (late_ns >= 1e6 && late_ns * 2.0 >= response_ns).then(|| {
        format!(
            "{whole} started up to {} late (p99): they waited for a free connection, or for one to be opened. Response time counts from \
             the scheduled send time and includes the wait; service time does not.",
            duration(late_ns)
        )
    })
}

/// A stall of a closed load leaves only one long sample for each user, where an open load would have many.
fn hidden_stalls(view: &View<'_>) -> Option<String> {
    let response = &view.whole.response.all;
    let (max_ns, median_ns) = (response.max_ns?, response.at(Percentile::P50)?);
    let is_far_out = response
        .at(Percentile::P99)
        .is_some_and(|p99_ns| p99_ns > 0.0 && max_ns >= 20.0 * p99_ns && max_ns >= 20e6);
    let is_long = max_ns >= 100e6 && max_ns >= 50.0 * median_ns;
    (view.run.new.model == Model::Closed && (is_far_out || is_long)).then(|| {
        format!(
            "The longest response took {}, the median {}. In a closed loop users wait during such a stall, so the \
             percentiles understate it (coordinated omission); measure with a rate (-R).",
            duration(max_ns),
            duration(median_ns)
        )
    })
}
