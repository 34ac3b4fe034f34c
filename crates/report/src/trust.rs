//! Formats one line on how far the figures of a run or a study can be trusted.

use std::collections::BTreeMap;

use evidence::{Bounds, GeneratorEffect, Level, Unit};
use judge::{Doubt, figure_bounds};
use record::{Histogram, PRINTED, Percentile, Phase};

use crate::durations;
use crate::study::{StudyView, VariantRow};
use crate::units::percent_with;
use crate::view::View;

/// Max error, as a share, up to which one number describes all figures.
const COMMON_MAX: f64 = 0.1;
/// Min error, as a share, that is reported.
const REPORTED_MIN: f64 = 0.005;

/// Max error of the figures of a suspect run, with its reason: `figures are within 4 %: the generator waited for a core`. `None` if the run
/// is not suspect, or if the effect of its generator is unknown.
pub(crate) fn line(view: &View<'_>) -> Option<String> {
    let effect = view.validity.effect.as_ref().filter(|_| view.validity.verdict == Level::Suspect)?;
    let why = view.validity.causes.first().map(|cause| format!(": {}", words(&cause.code, view.whole.unit)));
    Some(deviation_words(&deviations(view, effect)) + &why.unwrap_or_default())
}

/// Like [`line`], for the suspect runs of a study: for each figure, its max error over all variants, and the most frequent cause. `None` if
/// no run is suspect, if a figure of a suspect run has no bound, and for a capacity search, whose runs have different loads.
pub(crate) fn line_of_study(study: &StudyView<'_>) -> Option<String> {
    if study.capacity.is_some() {
        return None;
    }
    let rows = || study.loads.iter().flat_map(|load| &load.rows).filter(|row| row.is_valid);
    let runs = rows().flat_map(|row| row.shown()).map(|run| &study.runs[run]);
    let suspect: Vec<&View<'_>> = runs.filter(|view| view.validity.verdict != Level::Valid).collect();
    let has_no_bound =
        |view: &&View<'_>| view.validity.effect.is_none() || view.validity.verdict == Level::Invalid;
    if suspect.is_empty() || suspect.iter().any(has_no_bound) {
        return None;
    }
    let mut worst: Vec<Deviation> = Vec::new();
    for deviation in rows().flat_map(|row| row_deviations(row, &study.runs)) {
        match worst.iter_mut().find(|known| known.name == deviation.name) {
            Some(known) => {
                (known.below, known.above) =
                    (known.below.max(deviation.below), known.above.max(deviation.above));
            }
            None => worst.push(deviation),
        }
    }
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for cause in suspect.iter().flat_map(|view| &view.validity.causes) {
        *codes.entry(&cause.code).or_default() += 1;
    }
    let most = codes.into_iter().max_by_key(|(_, runs)| *runs);
    let why = most.map(|(code, _)| format!(": {}", words(code, study.noun().unit)));
    Some(deviation_words(&worst) + &why.unwrap_or_default())
}

/// Short words for a cause of doubt.
fn words(code: &str, unit: Unit) -> String {
    Doubt::named(code).and_then(|doubt| doubt.words(unit)).unwrap_or_else(|| code.to_owned())
}

/// Max error of the figures of a variant. Its throughput is a median over runs, which lies between the medians of their bounds. Its
/// percentiles cover all runs together.
fn row_deviations(row: &VariantRow<'_>, runs: &[View<'_>]) -> Vec<Deviation> {
    let shown = || row.shown().map(|run| &runs[run]);
    let each = shown().filter_map(|view| {
        let per_s = view.whole.ok_per_s()?;
        Some((per_s, figure_bounds::throughput(per_s, view.validity.effect.as_ref())?))
    });
    let throughput = figure_bounds::median(&each.collect::<Vec<_>>());
    let throughput =
        throughput.and_then(|(per_s, bounds)| deviation("throughput".to_owned(), per_s, Some(bounds)));
    let Some(tally) = row.tally(runs).ok().flatten() else { return throughput.into_iter().collect() };
    let effects = shown().map(|view| (view.validity.effect.unwrap_or_default(), view.whole.samples()));
    let effect = GeneratorEffect::together(effects).unwrap_or_default();
    throughput.into_iter().chain(time_deviations(&tally.response.all(), &effect)).collect()
}

/// Bounds of the throughput and of the response times of a run, excluding sampling error, by name with unit: `throughput_per_s`, `p99_us`.
/// `None` if the effect of its generator is unknown.
pub(crate) fn bounds(view: &View<'_>) -> Option<Vec<(String, Bounds)>> {
    let effect = view.validity.effect.as_ref()?;
    let response = view.run.whole(Phase::Measured).ok()?.response.all();
    let us = |bounds: Bounds| Bounds::new(bounds.low() / 1e3, bounds.high() / 1e3);
    let throughput =
        view.whole.answers_per_s().and_then(|per_s| figure_bounds::throughput(per_s, Some(effect)));
    let mean = figure_bounds::mean(&response, Some(effect)).and_then(us);
    let first = [("throughput_per_s", throughput), ("mean_us", mean)];
    let first = first.into_iter().filter_map(|(name, bounds)| Some((name.to_owned(), bounds?)));
    let percentiles = PRINTED.iter().filter(|percentile| percentile.is_printable(response.count()));
    let times = percentiles.filter_map(|percentile| {
        let bounds = figure_bounds::percentile(*percentile, &response, Some(effect)).and_then(us);
        Some((format!("{}_us", durations::name(*percentile).replace('.', "_")), bounds?))
    });
    Some(first.chain(times).collect())
}

/// Distance by which the true figure can lie below and above the measured one, as shares of it. Infinite if there is no limit.
struct Deviation {
    name: String,
    below: f64,
    above: f64,
}

fn deviations(view: &View<'_>, effect: &GeneratorEffect) -> Vec<Deviation> {
    let throughput = view.whole.ok_per_s().and_then(|per_s| {
        deviation("throughput".to_owned(), per_s, figure_bounds::throughput(per_s, Some(effect)))
    });
    let response = view.run.whole(Phase::Measured).ok().map(|tally| tally.response.all());
    let times = response.iter().flat_map(|response| time_deviations(response, effect));
    throughput.into_iter().chain(times).collect()
}

fn time_deviations(response: &Histogram, effect: &GeneratorEffect) -> Vec<Deviation> {
    let of = |percentile| {
        let measured_ns = response.printable_at(percentile)? as f64;
        let bounds = figure_bounds::percentile(percentile, response, Some(effect));
        deviation(durations::name(percentile), measured_ns, bounds)
    };
    [Percentile::P50, Percentile::P99].into_iter().filter_map(of).collect()
}

fn deviation(name: String, measured: f64, bounds: Option<Bounds>) -> Option<Deviation> {
    let bounds = bounds.filter(|_| measured > 0.0)?;
    let share = |of: f64| (of / measured - 1.0).abs();
    Some(Deviation { name, below: share(bounds.low()), above: share(bounds.high()) })
}

fn deviation_words(deviations: &[Deviation]) -> String {
    let widest = deviations.iter().map(|deviation| deviation.below.max(deviation.above)).fold(0.0, f64::max);
    // Rounded up, so that the true figure is never farther away.
    let percent = |share: f64| percent_with((share * 100.0).ceil() * 0.01, 0);
    if widest <= COMMON_MAX {
        return format!("figures are within {}", percent(widest.max(0.01)));
    }
    let mut parts = Vec::new();
    for Deviation { name, below, above } in deviations {
        match (*below > REPORTED_MIN, *above > REPORTED_MIN) {
            (_, true) if above.is_infinite() => parts.push(format!("{name} at least that")),
            (true, true) => parts.push(format!("{name} within {}", percent(below.max(*above)))),
            (true, false) => parts.push(format!("{name} up to {} lower", percent(*below))),
            (false, true) => parts.push(format!("{name} up to {} higher", percent(*above))),
            (false, false) => {}
        }
    }
    format!("true figures: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_covers_narrow_bounds_and_wide_ones_have_a_direction() {
        let of = |name: &str, below, above| Deviation { name: name.to_owned(), below, above };
        assert_eq!(
            deviation_words(&[of("throughput", 0.0, 0.031), of("p99", 0.012, 0.0)]),
            "figures are within 4 %"
        );
        assert_eq!(deviation_words(&[]), "figures are within 1 %");
        let wide = [of("throughput", 0.0, f64::INFINITY), of("p50", 0.0, 0.0), of("p99", 0.345, 0.0)];
        assert_eq!(deviation_words(&wide), "true figures: throughput at least that, p99 up to 35 % lower");
        assert_eq!(deviation_words(&[of("throughput", 0.2, 0.3)]), "true figures: throughput within 30 %");
    }
}
