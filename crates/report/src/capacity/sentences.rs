//! Result of a capacity search in sentences.

use judge::results::SearchEnd;
use judge::results::Usl;
use record::Percentile;

use super::{CapacityRow, CapacityView, LevelRow};
use crate::answer::{Answer, Certainty};
use crate::units::{decimal, duration, percent_with};

/// Max share of the highest passing rate at which a level counts as half of that rate.
const HALF_RATE_MAX: f64 = 0.6;

/// Result of a variant, without its name.
pub(crate) fn answer(row: &CapacityRow) -> Answer {
    let found = &row.found;
    let (certainty, text) = match (found.end, found.held_per_s, found.failed_per_s) {
        (Some(SearchEnd::Found), Some(held), Some(failed)) => (
            if found.is_confirmed { Certainty::Sure } else { Certainty::Open },
            range_words(row, held, failed),
        ),
        (Some(SearchEnd::NothingHolds), _, failed) => {
            let lowest = failed.or(row.levels.rates.first().map(|level| level.per_s));
            let at = lowest
                .map_or_else(String::new, |per_s| format!(" {}/s, the lowest rate", format_rate(per_s)));
            (Certainty::Sure, format!("no rate passes, not even{at}{}", failure_reason(row, lowest)))
        }
        (Some(SearchEnd::NothingFails), Some(held), _) => (
            Certainty::Open,
            format!(
                "passes {}/s, the highest rate of the search: its maximum sustainable load may be higher",
                format_rate(held)
            ),
        ),
        (Some(SearchEnd::NotFit), Some(held), _) => {
            (Certainty::Open, format!("passes {}/s{}", format_rate(held), unmeasurable(row)))
        }
        (_, Some(held), Some(failed)) => (Certainty::Open, range_words(row, held, failed)),
        (_, Some(held), None) => {
            (Certainty::Open, format!("passes {}/s so far; no rate has failed", format_rate(held)))
        }
        (_, None, Some(failed)) => {
            let why = failure_reason(row, Some(failed));
            (Certainty::Open, format!("fails at {}/s{why}; no rate has passed so far", format_rate(failed)))
        }
        (_, None, None) => (Certainty::None, "its maximum sustainable load is unknown".to_owned()),
    };
    Answer { text, certainty, how_sure: how_sure(row), besides: String::new() }
}

/// Cause that stopped a search because runs at a rate were invalid.
fn unmeasurable(row: &CapacityRow) -> String {
    let level = row.found.unmeasurable_per_s.and_then(|per_s| row.levels.at(per_s));
    let Some(level) = level else { return "; higher rates could not be measured".to_owned() };
    let why = level.invalid_by.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    format!("; {}/s could not be measured{why}", format_rate(level.per_s))
}

fn range_words(row: &CapacityRow, held: f64, failed: f64) -> String {
    format!(
        "maximum sustainable load {}/s (highest passing rate); lowest failing rate {}/s{}",
        format_rate(held),
        format_rate(failed),
        failure_reason(row, Some(failed))
    )
}

/// Formats the condition that a rate failed: `: p99 is 131 ms, and must be below 100 ms`.
fn failure_reason(row: &CapacityRow, per_s: Option<f64>) -> String {
    let level = per_s.and_then(|per_s| row.levels.at(per_s));
    level.and_then(|level| level.failed_by.as_ref()).map_or_else(String::new, |words| format!(": {words}"))
}

fn how_sure(row: &CapacityRow) -> String {
    let found = &row.found;
    let confirmed =
        |per_s: Option<f64>| per_s.and_then(|per_s| row.levels.at(per_s)).map(|level| level.confirmed);
    match (found.end, confirmed(found.held_per_s), confirmed(found.failed_per_s)) {
        (Some(SearchEnd::Found), Some((passed, of)), Some((held, tried))) if found.is_confirmed && of > 0 => {
            format!(
                "confirmed by new runs: {passed} of {of} passed at the first, {} of {tried} failed at the second",
                tried - held
            )
        }
        (Some(SearchEnd::Found), ..) => "not confirmed by new runs".to_owned(),
        (Some(SearchEnd::NothingHolds), ..) => runs(row),
        (Some(SearchEnd::NothingFails), ..) => format!("{}; nothing failed", runs(row)),
        (Some(SearchEnd::OutOfRuns), ..) => "the runs were used up before it was confirmed".to_owned(),
        (Some(SearchEnd::NotFit), ..) => match found.unmeasurable_per_s {
            Some(per_s) => format!("runs at {}/s were invalid three times in a row", format_rate(per_s)),
            None => "runs were invalid three times in a row".to_owned(),
        },
        (None, ..) => format!("{}; the search is not over", runs(row)),
    }
}

fn runs(row: &CapacityRow) -> String {
    let runs = row.found.runs;
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// The conditions in one line.
pub(crate) fn objectives(view: &CapacityView) -> String {
    view.asked.join(", ")
}

/// Further findings of the search, as name and sentence.
pub(crate) fn facts(view: &CapacityView, row: &CapacityRow) -> Vec<(&'static str, String)> {
    let found = &row.found;
    let mut facts = Vec::new();
    if let (Some(per_s), Some(users)) = (found.ceiling_per_s, found.ceiling_users) {
        let alone = found
            .base_response_s
            .map_or_else(String::new, |s| format!("; one user alone waits {} on average", duration(s * 1e9)));
        let users = if users == 1 { "1 user".to_owned() } else { format!("{users} users") };
        facts.push((
            "sizing",
            format!("max {}/s, with {users} without think time{alone}", format_rate(per_s)),
        ));
    }
    facts.extend(efficient(row).map(|sentence| ("efficient", sentence)));
    if let Some((low, high)) = found.noise_band {
        let sentence = format!(
            "from {}/s to {}/s, runs both passed and failed: more runs would not narrow it",
            format_rate(low),
            format_rate(high)
        );
        facts.push(("noise", sentence));
    }
    facts.extend(after_overload(row).map(|sentence| ("overload", sentence)));
    facts.push(("soak", soak(view, row)));
    facts.extend(row.usl.as_ref().map(|usl| ("scaling", law_words(usl, row.levels.sizes.len()))));
    facts
}

/// Findings that are warnings: a system that does not recover from an overload, and a failed soak run.
pub(super) fn warnings(view: &CapacityView, row: &CapacityRow) -> Vec<(&'static str, String)> {
    let overload = (row.found.recovers == Some(false)).then(|| after_overload(row)).flatten();
    let soak = (row.found.soaked == Some(false)).then(|| soak(view, row));
    let named = [overload.map(|words| ("overload", words)), soak.map(|words| ("soak", words))];
    named.into_iter().flatten().collect()
}

/// Highest rate whose p99 is at most twice the p99 at about half the capacity.
fn efficient(row: &CapacityRow) -> Option<String> {
    let held = row.found.held_per_s?;
    let p99 = |level: &LevelRow| level.response_ns(Percentile::P99);
    let mut below = row.levels.rates.iter().filter(|level| level.per_s <= held);
    let half = below.clone().rfind(|level| level.per_s <= HALF_RATE_MAX * held && p99(level).is_some())?;
    let bound = 2.0 * p99(half)?;
    let efficient = below.rfind(|level| p99(level).is_some_and(|ns| ns <= bound))?;
    Some(format!(
        "up to {}/s its p99 is at most twice what it is at {}/s ({})",
        format_rate(efficient.per_s),
        format_rate(half.per_s),
        duration(p99(half)?)
    ))
}

fn after_overload(row: &CapacityRow) -> Option<String> {
    let why = row.levels.not_recovered.as_ref().map_or_else(String::new, |words| format!(": {words}"));
    Some(match row.found.recovers? {
        true => "recovers: after overload, 95 % of the highest passing rate passed again without a restart"
            .to_owned(),
        false => {
            format!("METASTABLE: after overload, not even 95 % of the highest passing rate passed again{why}")
        }
    })
}

fn soak(view: &CapacityView, row: &CapacityRow) -> String {
    let long = view.soak_s.map_or_else(String::new, |s| format!(" for {}", duration(s * 1e9)));
    let why = row.levels.not_soaked.as_ref().map_or_else(String::new, |words| format!(": {words}"));
    match (row.found.soaked, view.soak_s) {
        (Some(true), _) => format!("95 % of the highest passing rate passed{long}"),
        (Some(false), _) => format!("95 % of the highest passing rate failed{long}{why}"),
        (None, Some(_)) => "asked for, and not run".to_owned(),
        (None, None) => "not run (--soak 10min): slow growth of memory or tables is not ruled out".to_owned(),
    }
}

/// Formats the fit of the scalability law, which is a hint and never a verdict.
fn law_words(usl: &Usl, sizes: usize) -> String {
    let share = |share: f64| percent_with(share, 2);
    let parts = format!("contention {}, coherency {}", share(usl.sigma), share(usl.kappa));
    let peak = match (usl.peak, usl.peak_interval) {
        (Some(peak), Some([low, high])) => {
            let [peak, low, high] = [peak, low, high].map(|users| decimal(users, 0));
            format!("; peak at {peak} users (95 %: {low} to {high})")
        }
        (Some(peak), None) => {
            format!("; peak near {} users, very uncertain", decimal(peak, 0))
        }
        (None, _) => "; no peak".to_owned(),
    };
    let beyond = if usl.is_extrapolated { ", EXTRAPOLATED beyond the sizes that were run" } else { "" };
    format!("Universal Scalability Law, a hint from {sizes} sizes: {parts}{peak}{beyond}")
}

/// Formats a rate without trailing zeros.
pub(super) fn format_rate(per_s: f64) -> String {
    let text = decimal(per_s, if per_s < 1.0 { 4 } else { 2 });
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_no_trailing_zeros() {
        assert_eq!([400.0, 12.5, 0.0123, 40_300.0].map(format_rate), ["400", "12.5", "0.0123", "40,300"]);
    }
}
