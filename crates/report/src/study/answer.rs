//! Result under a load for all formats: one sentence, its certainty, and the reason.

use evidence::Procedure;
use judge::results::{Scale, Verdict};
use judge::{Eligibility, Observed};

use super::Pair;
use super::certainty::certainty;
use super::sentences::{Name, Outcome, outcome};
use super::{LoadView, StudyPieces, StudyView, against as against_baseline, failing, tournament};
use crate::alike;
use crate::answer::Answer;
use crate::apart;
use crate::ratio;
use crate::text;
use crate::units::percent_of;

/// Maximum number of rows in one list.
const NAMES_MAX: usize = 6;

/// Formats the difference between the rows of a pair, preceded by a space.
pub(super) type FormatDifference = fn(&Pair) -> String;

/// Result under one load. Names and quotes are escaped for the page's format.
pub(crate) fn answer(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Answer {
    answer_with(page, view, load, figures)
}

/// Result for a headline: the interval is in the reason, not in the text.
pub(crate) fn headline(page: &StudyPieces<'_>, view: &StudyView<'_>, load: &LoadView<'_>) -> Answer {
    let answer = answer_with(page, view, load, alone);
    let how_sure = match interval(load) {
        Some(interval) => format!("{interval}; {}", answer.how_sure),
        None => answer.how_sure,
    };
    Answer { how_sure, ..answer }
}

/// Interval of a result about one pair: `ratio 1.08–1.15`, `difference −410 ms to −380 ms`. `None` for other results.
fn interval(load: &LoadView<'_>) -> Option<String> {
    let pair = match load.baseline {
        Some(_) if load.pairs.len() == 1 => load.pairs.first()?,
        Some(_) => return None,
        None => pairs_of_row(load, load.best_rows().next()?.row).next()?,
    };
    let ends = apart::interval_bounds(&pair.by, pair.comparison.estimate?, pair.comparison.interval?);
    Some(format!("{} {ends}", apart::noun(pair.by.scale())))
}

fn answer_with(
    page: &StudyPieces<'_>,
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    write: FormatDifference,
) -> Answer {
    let name: Name<'_> = &|load, row| page.row(load, row);
    let (certainty, how_sure) = certainty(view, load);
    let text = match load.baseline {
        _ if view.study.new.compare.looks_for_failures() => failing::answer(page, view, load),
        Some(baseline) => against_baseline::answer(view, load, baseline, name, write),
        None => text(view, load, name, write),
    };
    let unlike = match view.accepts_unlike() {
        true => None,
        false => alike::of_load(load, &|row| name(load, row), &|text| page.text(text)),
    };
    let besides = [observed(load, name), gone(load, name), unmeasured(load, name), lost(load, name), unlike]
        .into_iter()
        .flatten();
    Answer { text, certainty, how_sure, besides: besides.collect::<Vec<_>>().join("; ") }
}

/// Row that is better by at least the minimum effect in all of its comparisons. `None` if there is none.
pub(crate) fn winner(load: &LoadView<'_>) -> Option<usize> {
    let best = load.best_rows().next()?.row;
    let mut of_best = pairs_of_row(load, best).peekable();
    of_best.peek()?;
    (load.baseline.is_none() && of_best.all(|pair| outcome(pair, best) == Outcome::Beats)).then_some(best)
}

fn text(view: &StudyView<'_>, load: &LoadView<'_>, name: Name<'_>, write: FormatDifference) -> String {
    let Some(best) = load.best_rows().next().map(|best| best.row) else { return "no verdict".to_owned() };
    let words = view.metric_words();
    let measured = |row: usize| measured(view, &figure(view, load, row));
    let Some(runner_up) = pairs_of_row(load, best).next() else {
        if is_tournament(view) {
            return format!("no verdict: {} is the best so far: {}", name(load, best), measured(best));
        }
        return format!("{}: {}", name(load, best), measured(best));
    };
    let others = |wanted: &dyn Fn(&Pair) -> bool| {
        pairs_of_row(load, best)
            .filter(|pair| wanted(pair))
            .map(|pair| pair.other(best))
            .collect::<Vec<usize>>()
    };
    let named = |rows: &[usize]| listed(rows.iter().map(|row| name(load, *row)));
    let is = |wanted: Outcome| move |pair: &Pair| outcome(pair, best) == wanted;
    if pairs_of_row(load, best).any(|pair| outcome(pair, best) == Outcome::Open) {
        if others(&|pair| pair.has_look()).is_empty() {
            // If nothing is compared, no variant leads, so the sentence only has the figures of the table.
            let rows = std::iter::once(best).chain(others(&|_| true));
            return match is_throughput(view) {
                true => {
                    let each = rows.map(|row| format!("{} {}", name(load, row), measured(row)));
                    format!("no verdict: {}", listed(each))
                }
                false => {
                    let each = rows.map(|row| format!("{} {}", name(load, row), figure(view, load, row)));
                    format!("no verdict: {words} {}", listed(each))
                }
            };
        }
        return undecided_text(view, load, best, name, write);
    }
    let beaten = others(&is(Outcome::Beats));
    let level = others(&is(Outcome::Level));
    if !level.is_empty() {
        let ahead = if beaten.is_empty() { String::new() } else { format!("; ahead of {}", named(&beaten)) };
        return format!(
            "no difference above the {} threshold between {} and {} in {words}{ahead}",
            view.matters(),
            name(load, best),
            named(&level)
        );
    }
    let second = runner_up.other(best);
    if runner_up.by.metric.name == "throughput" {
        let [first, second] = [name(load, best), name(load, second)];
        return match write(runner_up) {
            ratio if ratio.is_empty() => format!("{first} is faster than {second}: {}", measured(best)),
            ratio => format!("{first} is{ratio} as fast as {second}: {}", measured(best)),
        };
    }
    let apart = write(runner_up);
    format!("{}: {},{apart} {} {}", name(load, best), measured(best), against(runner_up), name(load, second))
}

/// Formats the result if at least one comparison with the best row was judged, but has no verdict yet.
fn undecided_text(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    best: usize,
    name: Name<'_>,
    write: FormatDifference,
) -> String {
    let matters = |pair: &Pair| pair.is_relevant(&view.study.new.compare);
    let is_ahead = |pair: &&Pair| pair.first == best && matters(pair) == Some(true);
    let (looked_at, rest): (Vec<&Pair>, Vec<&Pair>) =
        pairs_of_row(load, best).partition(|pair| pair.has_look());
    let is_near = |pair: &&Pair| matters(pair) == Some(false);
    let (ahead, others): (Vec<&Pair>, Vec<&Pair>) = looked_at.into_iter().partition(is_ahead);
    let (near, behind): (Vec<&Pair>, Vec<&Pair>) = others.into_iter().partition(is_near);
    let named = |pairs: &[&Pair]| listed(pairs.iter().map(|pair| name(load, pair.other(best))));
    let lead_phrases = ahead.iter().map(|pair| {
        format!("{} {} {}", write(pair).trim_start(), against(pair), name(load, pair.other(best)))
    });
    let mut parts = vec![measured(view, &figure(view, load, best))];
    parts.extend((!ahead.is_empty()).then(|| listed(lead_phrases)));
    parts.extend((!near.is_empty()).then(|| format!("within {} of {}", view.matters(), named(&near))));
    let lead_phrase =
        |pair: &&Pair| format!("{} ({})", name(load, pair.other(best)), write(pair).trim_start());
    parts.extend((!behind.is_empty()).then(|| format!("behind {}", listed(behind.iter().map(lead_phrase)))));
    parts.extend((!rest.is_empty()).then(|| format!("not compared with {}", named(&rest))));
    let may_lead = |pair: &Pair| {
        !pair.has_more_errors && !matches!(pair.comparison.verdict, Verdict::None(_) | Verdict::MoreErrors(_))
    };
    let leads = near.is_empty() && behind.is_empty() && pairs_of_row(load, best).all(may_lead);
    let leads = if leads { " leads" } else { "" };
    format!("no verdict: {}{leads}: {}", name(load, best), parts.join(", "))
}

/// Large differences that every run shows, although there are too few blocks for a verdict.
fn observed(load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let all = load.observed.iter().map(|observed| {
        let Observed { faster, slower, ratio_min, .. } = *observed;
        let [faster, slower] = [faster, slower].map(|row| name(load, row));
        format!("{faster} at least {} as fast as {slower}", ratio::times(rounded_down(ratio_min)))
    });
    let starts = load.observed.iter().map(|observed| observed.starts).max()?;
    let all = listed(all);
    Some(format!("observed in these {starts} starts, if others are like them: {all}"))
}

/// Lower bound with the decimals that reports show.
fn rounded_down(ratio_min: f64) -> f64 {
    let parts = if ratio_min < 10.0 { 100.0 } else { 10.0 };
    (ratio_min * parts).floor() / parts
}

/// Sentence about systems that were unavailable for part of the time. Their figures do not matter then.
fn gone(load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let rows: Vec<usize> = (0..load.rows.len()).filter(|row| load.rows[*row].gone.runs > 0).collect();
    let of = |row: usize| {
        let (gone, runs) = (load.rows[row].gone, load.rows[row].shown().count());
        let share = percent_of(gone.share);
        let what = match gone.is_of_users {
            true => format!("left users without an answer for {share} of their time"),
            false => format!("was unavailable for {share} of the time"),
        };
        format!("{} {what} (degraded in {} of {runs} runs)", name(load, row), gone.runs)
    };
    (!rows.is_empty()).then(|| listed(rows.into_iter().map(of)))
}

/// Variants that a search for the best could not measure to the end.
fn lost(load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let lost: Vec<String> = tournament::lost(load, name).collect();
    (!lost.is_empty()).then(|| format!("not measured to the end: {}", listed(lost.into_iter())))
}

/// Variants without a valid run. A result without them would cover fewer variants than requested.
fn unmeasured(load: &LoadView<'_>, name: Name<'_>) -> Option<String> {
    let lost = |row: &usize| !load.rows[*row].is_valid && !load.rows[*row].runs.is_empty();
    let rows: Vec<usize> = (0..load.rows.len()).filter(lost).collect();
    let of = |row: usize| {
        let row_runs = load.rows[row].runs.len();
        let count = |eligibility| load.rows[row].count(eligibility);
        let what = match (count(Eligibility::Invalid), count(Eligibility::Failed)) {
            (invalid, _) if invalid == row_runs => "invalid",
            (_, failed) if failed == row_runs => "failed",
            _ => "invalid, failed or cut short",
        };
        format!("{} ({row_runs} {what})", name(load, row))
    };
    (!rows.is_empty()).then(|| format!("no valid run of {}", listed(rows.into_iter().map(of))))
}

fn pairs_of_row<'a>(load: &'a LoadView<'_>, row: usize) -> impl Iterator<Item = &'a Pair> {
    load.pairs.iter().filter(move |pair| [pair.first, pair.second].contains(&row))
}

/// Metric of a row over its valid runs, as in the table.
fn figure(view: &StudyView<'_>, load: &LoadView<'_>, row: usize) -> String {
    let figure = view.metric.as_ref().zip(load.rows[row].metric);
    figure.map_or_else(|| "n/a".to_owned(), |(by, spread)| by.metric.kind.writer()(spread.median))
}

/// Formats the metric of a row with its name: `p99 response time 9.40 ms`, or `797.0 ok/s` for throughput.
pub(super) fn measured(view: &StudyView<'_>, figure: &str) -> String {
    match figure.strip_suffix("/s").filter(|_| is_throughput(view)) {
        Some(per_s) => format!("{per_s} ok/s"),
        None => format!("{} {figure}", view.metric_words()),
    }
}

fn is_throughput(view: &StudyView<'_>) -> bool {
    view.metric.as_ref().is_some_and(|by| by.metric.name == "throughput")
}

/// Words between a difference and the name of the other row: `1.12 × that of`, `−398 ms compared with`.
fn against(pair: &Pair) -> &'static str {
    match pair.by.scale() {
        Scale::Ratio => "that of",
        Scale::Difference => "compared with",
    }
}

/// Formats the difference: ` 1.12 ×`. Empty if unknown.
fn alone(pair: &Pair) -> String {
    pair.comparison
        .estimate
        .map_or_else(String::new, |estimate| format!(" {}", apart::alone(&pair.by, estimate)))
}

/// Formats the difference with its interval: ` 1.12 × (1.08–1.15)`. Empty if unknown.
pub(super) fn figures(pair: &Pair) -> String {
    let estimate = pair.comparison.estimate;
    let apart = estimate.map(|estimate| apart::with_interval(&pair.by, estimate, pair.comparison.interval));
    apart.map_or_else(String::new, |apart| format!(" {apart}"))
}

/// Joins up to [`NAMES_MAX`] names.
pub(super) fn listed(all: impl Iterator<Item = String>) -> String {
    text::listed(all, NAMES_MAX, ", ")
}

/// Whether the study searches for the best variant in some blocks, and judges it in others.
pub(super) fn is_tournament(view: &StudyView<'_>) -> bool {
    matches!(view.study.new.compare.procedure, Procedure::Best { .. })
}
