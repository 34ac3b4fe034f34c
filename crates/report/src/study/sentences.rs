//! Sentences about a study. The caller escapes the names in them.

use evidence::Procedure;
use judge::comparison::first_look_blocks;
use judge::results::{
    CarryOver, Control, FirstSlices, MoreErrors, NoVerdict, Scale, VarianceComponents, Verdict,
};
use judge::words::blocks;
use judge::{ComparedBy, Eligibility};

use super::Pair;
use super::answer::{figures, is_tournament};
use super::{LoadView, SliceFindings, StudyView};
use crate::apart;
use crate::ratio::times;
use crate::units::{decimal, percent_of, percent_up_to, percent_with};

/// Returns the name of a row, escaped and short.
pub(crate) type Name<'a> = &'a dyn Fn(&LoadView<'_>, usize) -> String;

/// Sources of the variance of a comparison in slices. `None` for a single block, and without any variance.
fn levels(levels: &VarianceComponents) -> Option<String> {
    let (between, pairs) = (levels.between?, levels.pairs / levels.blocks.max(1));
    let share = levels.share_between(pairs)?;
    let percent = |deviation: f64| percent_up_to(deviation.exp_m1(), 2);
    Some(format!(
        "The ratio varies by {} between starts and by {} between pairs of slices (standard deviations, {} blocks, {} pairs): {} of \
         the variance of a block lies between starts.",
        percent(between),
        percent(levels.within),
        levels.blocks,
        levels.pairs,
        percent_up_to(share, 0)
    ))
}

/// Sentences that only slices allow. `None` if there are none.
pub(crate) fn sliced(sliced: &SliceFindings) -> Option<String> {
    let told = [
        levels(&sliced.levels),
        sliced.control.as_ref().map(control),
        sliced.carry_over.as_ref().and_then(carry_over),
        sliced.unconfirmed.as_ref().map(unconfirmed),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// Like [`sliced`], but only the findings that limit the verdict.
pub(crate) fn slice_doubts(sliced: &SliceFindings) -> Option<String> {
    let carried = sliced.carry_over.filter(|carried| carried.is_found);
    let told = [carried.as_ref().and_then(carry_over), sliced.unconfirmed.as_ref().map(unconfirmed)];
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// Smallest reported carry-over, as a logarithm of the ratio. Smaller ones are visible only if there is no other variance, and change no
/// verdict.
const CARRY_OVER_MIN: f64 = 0.001;
/// Smallest possible undetected carry-over that is reported, as a logarithm of the ratio.
const UNDETECTED_CARRY_OVER_MIN: f64 = 0.01;

fn control(control: &Control) -> String {
    format!(
        "CPU time that others took explains {} of the variance between pairs of slices, and is taken out.",
        percent_up_to(control.explained, 0)
    )
}

/// Carry-over between slices of different systems. `None` if it is negligible.
fn carry_over(carried: &CarryOver) -> Option<String> {
    let size = |apart: f64| percent_up_to(apart.abs().exp_m1(), 1);
    if !carried.is_found {
        return (carried.bias_most >= UNDETECTED_CARRY_OVER_MIN).then(|| {
            format!(
                "No carry-over between slices was found. One that fades within a slice may be up to {} of the ratio (99 % confidence): \
                 `pause: idle` or more blocks show whether it is.",
                size(carried.bias_most)
            )
        });
    }
    (carried.bias_most >= CARRY_OVER_MIN).then(|| format!(
        "CARRY-OVER: slices that follow one of the other system are {} {} than those that follow one of their own. What one system leaves \
         to do, or its warm-up, affects the other: the interval is wider by up to {} on either side. Use `pause: idle`, a longer warm-up, or \
         `interleave: runs`.",
        size(carried.effect),
        if carried.effect < 0.0 { "lower" } else { "higher" },
        size(carried.bias_most)
    ))
}

/// Difference of slices that first slices do not confirm.
fn unconfirmed(first: &FirstSlices) -> String {
    format!(
        "Slices differ, but the first slices of the blocks, which no load on the other system precedes, do not confirm it: their ratio \
         is {}. One system may affect the other for longer than a slice. More blocks or `interleave: runs` show whether it does.",
        times(first.ratio)
    )
}

/// Reason why slices of one pair of many are not conclusive, as the continuation of "inconclusive; ".
fn unconfirmed_pair(first: &FirstSlices) -> String {
    format!(
        "slices differ, but those that no load on another system precedes do not confirm it: their ratio is {}; `interleave: runs` \
         excludes such an effect",
        times(first.ratio)
    )
}

/// Verdict on a pair in one word, for programs.
pub(crate) fn verdict_word(pair: &Pair) -> &'static str {
    if pair.has_more_errors { "none" } else { verdict_name(pair.comparison.verdict) }
}

/// Verdict on a comparison in one word, for programs.
pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Differs { .. } => "differs",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::MoreErrors(_) | Verdict::None(_) => "none",
    }
}

/// Reason why there is no verdict on a pair. `None` if there is one.
pub(crate) fn reason(view: &StudyView<'_>, load: &LoadView<'_>, pair: &Pair) -> Option<String> {
    if pair.has_more_errors {
        let share = |row: usize| load.rows[row].error_share.map_or("n/a".to_owned(), percent_of);
        let (ahead, other) = pair.ahead();
        if let Some(words) = gone(load, pair) {
            return Some(words);
        }
        return Some(format!(
            "{} of the {} to the one that is ahead failed, {} of the other's: more errors are not \
             better",
            share(ahead),
            view.noun().many,
            share(other)
        ));
    }
    let why = match pair.comparison.verdict {
        Verdict::None(why) => why,
        Verdict::MoreErrors(more) => return gone(load, pair).or_else(|| Some(more_errors(&more))),
        _ => return None,
    };
    Some(match why {
        NoVerdict::TooFewBlocks { .. } if pair.too_few_samples > 0 && pair.by.is_of_events() => format!(
            "in {} of {} common blocks it is unknown what an event cost",
            pair.too_few_samples,
            pair.too_few_samples + pair.comparison.common
        ),
        NoVerdict::TooFewBlocks { .. } if pair.too_few_samples > 0 => format!(
            "in {} of {} common blocks a run has too few samples for a verdict on this percentile; measure for longer",
            pair.too_few_samples,
            pair.too_few_samples + pair.comparison.common
        ),
        NoVerdict::TooFewBlocks { needed, .. } if view.study.blocks() < needed => {
            format!("a verdict needs {needed} blocks, and this study has {}", view.study.blocks())
        }
        NoVerdict::TooFewBlocks { common, needed } if pair.attainable < needed as usize => {
            let have = if common == 1 { "has" } else { "have" };
            let of = view.study.blocks();
            format!("{common} of {of} blocks {have} a valid run of both, and a verdict needs {needed}")
        }
        NoVerdict::TooFewBlocks { common, needed } if view.study.extensions.is_empty() => {
            format!("{common} of the {needed} blocks that a first verdict needs")
        }
        NoVerdict::TooFewBlocks { common, needed } => {
            format!("{common} of the {needed} blocks at which the extended study is judged")
        }
        NoVerdict::NoRatio => "a figure is zero, so there is no ratio".to_owned(),
        NoVerdict::UnevenDiscards(discards) => format!(
            "{} runs of one and {} of the other were invalid, so the remaining runs are a biased sample",
            discards.first, discards.second
        ),
    })
}

/// Sentence about a leading variant that was unavailable for longer than the other one. `None` otherwise.
fn gone(load: &LoadView<'_>, pair: &Pair) -> Option<String> {
    let (ahead, other) = pair.ahead();
    let [ahead, other] = [ahead, other].map(|row| load.rows[row].gone.share);
    (ahead > other).then(|| {
        format!(
            "the one that is ahead was unavailable for {} of the time, the other for {}: an unavailable system is not better",
            percent_of(ahead),
            percent_of(other)
        )
    })
}

/// Sentence about errors, which count before any figure.
fn more_errors(more: &MoreErrors) -> String {
    let (who, points) =
        (if more.of_first { "the first" } else { "the second" }, decimal(more.gap * 100.0, 2));
    if more.is_shown {
        format!("{who} has more errors, by {points} percentage points, and errors count before speed")
    } else {
        format!(
            "it cannot be ruled out that {who} has more errors (by {points} percentage points in these runs)"
        )
    }
}

/// Sentence about one pair: the leader, the difference, and the verdict.
pub(crate) fn pair(view: &StudyView<'_>, load: &LoadView<'_>, pair: &Pair, name: Name<'_>) -> String {
    let (first, second) = (name(load, pair.first), name(load, pair.second));
    let words = pair.by.words(view.noun().unit);
    let matters = matters(view, pair);
    let verdict = pair.comparison.verdict;
    let link = match verdict {
        Verdict::Differs { below_matters: true } if pair.is_behind() => "is slightly behind",
        Verdict::Differs { .. } if pair.is_behind() => "is behind",
        _ if pair.has_more_errors => "is ahead of",
        Verdict::Differs { below_matters: false } => "beats",
        Verdict::Differs { below_matters: true } => "is slightly ahead of",
        Verdict::Equivalent => "is level with",
        _ => "against",
    };
    let figures = figures(pair);
    let common = pair.comparison.blocks;
    let ahead = ahead(pair);
    let end = match verdict {
        _ if pair.has_more_errors => {
            format!("no verdict: {}", reason(view, load, pair).unwrap_or_default())
        }
        Verdict::Differs { below_matters: false } => format!("{ahead}: significant"),
        Verdict::Differs { below_matters: true } => {
            format!("{ahead}: significant, below the {matters} threshold")
        }
        Verdict::Equivalent => format!("{}: equivalent within {matters}", common_blocks(pair)),
        Verdict::Inconclusive => {
            // A look before the usual first one was the only one of its study.
            let is_only_look = common < first_look_blocks() && unconfirmed_of_many(load, pair).is_none();
            let next = if is_only_look { String::new() } else { next_step(load, pair) };
            format!("{ahead}: inconclusive{next}")
        }
        Verdict::None(_) if common == 0 => {
            format!("no verdict: {}", reason(view, load, pair).unwrap_or_default())
        }
        Verdict::MoreErrors(_) | Verdict::None(_) => {
            format!("{ahead}; no verdict: {}", reason(view, load, pair).unwrap_or_default())
        }
    };
    format!("{first} {link} {second}: {words}{figures}, {end}")
}

/// Sentence about a comparison by a further metric: `index_size: b is better than a, 0.82 × (0.80–0.85)`.
pub(super) fn further(view: &StudyView<'_>, pair: &Pair, name: &dyn Fn(usize) -> String) -> String {
    let (ahead, other) = pair.ahead();
    let [first, second] = [ahead, other].map(name);
    let (estimate, ends) = pair.estimate_for(ahead);
    let apart = estimate.map(|estimate| format!(", {}", apart::with_interval(&pair.by, estimate, ends)));
    let says = match pair.comparison.verdict {
        Verdict::Differs { below_matters } if !pair.has_more_errors => {
            format!("{first} is {}better than {second}", if below_matters { "slightly " } else { "" })
        }
        Verdict::Equivalent => format!("{first} and {second} are equivalent"),
        Verdict::Inconclusive => format!("{first} against {second} is inconclusive"),
        Verdict::Differs { .. } | Verdict::MoreErrors(_) | Verdict::None(_) => {
            format!("no verdict on {first} and {second}")
        }
    };
    format!("{}: {says}{}", pair.by.words(view.noun().unit), apart.unwrap_or_default())
}

/// Whether a pair has no verdict.
pub(super) fn is_undecided(pair: &Pair) -> bool {
    pair.has_more_errors || !matches!(pair.comparison.verdict, Verdict::Differs { .. } | Verdict::Equivalent)
}

/// Result of a pair for the best row.
#[derive(PartialEq)]
pub(super) enum Outcome {
    Beats,
    Level,
    Open,
}

pub(super) fn outcome(pair: &Pair, best: usize) -> Outcome {
    match pair.comparison.verdict {
        _ if pair.has_more_errors => Outcome::Open,
        Verdict::Differs { below_matters: true } | Verdict::Equivalent => Outcome::Level,
        Verdict::Differs { below_matters: false } if pair.first == best => Outcome::Beats,
        _ => Outcome::Open,
    }
}

/// Notes on the method, for example if variants were selected and judged on the same blocks.
pub(crate) fn caveats(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<String> {
    let mut caveats = Vec::new();
    let of_interval =
        load.pairs.iter().chain(&load.further).filter(|pair| pair.comparison.interval.is_some());
    if let Some(confidence) = of_interval.filter_map(|pair| pair.comparison.confidence).reduce(f64::min) {
        caveats.push(format!(
            "In brackets: the confidence interval of the {}, {}.",
            apart::noun(scale(view)),
            percent_with(confidence, 1)
        ));
        caveats.extend(infinity_note(load));
    }
    caveats.extend(partial_runs_note(view, load));
    if !load.pairs.is_empty() {
        caveats.extend(extended(view.study));
    }
    let is_chosen = |row: usize| {
        let system = &load.rows[row].place.system;
        load.ranking.iter().filter(|ranked| load.rows[ranked.row].place.system == *system).count() > 1
    };
    // If all pairs share one error rate, it does not matter which of them are shown.
    let is_best_chosen = load.baseline.is_none() && !is_tournament(view) && !is_round_robin(view);
    if !load.pairs.is_empty() && is_best_chosen && load.best_rows().any(|best| is_chosen(best.row)) {
        caveats.push(
            "The best configurations were chosen and compared on the same blocks, which favors them slightly; \
             a study of these alone does not."
                .to_owned(),
        );
    }
    caveats.extend(many(view, load));
    caveats
}

/// Sentence about the effect of extensions on the error rate. `None` without an extension.
pub(super) fn extended(study: &evidence::Study) -> Option<String> {
    let steps: Vec<String> = study.extensions.iter().map(|extension| extension.blocks.to_string()).collect();
    let times = match steps.as_slice() {
        [] => return None,
        [_] => "once".to_owned(),
        _ => format!("{} times", steps.len()),
    };
    Some(format!(
        "The study was extended {times} after its end, to {} blocks, and judged again at each end: the total error rate of \
         `differs` is at most {} instead of 5 %.",
        steps.join(", then "),
        error_rate(study)
    ))
}

/// Formats the total error rate: `7.5 %`.
fn error_rate(study: &evidence::Study) -> String {
    percent_up_to(judge::comparison::error_rate(study), 3)
}

/// Scale of the first metric: ratio or difference.
pub(crate) fn scale(view: &StudyView<'_>) -> Scale {
    view.metric.as_ref().map_or(Scale::Ratio, ComparedBy::scale)
}

/// Sentence about the meaning of an infinite difference. `None` without any.
fn infinity_note(load: &LoadView<'_>) -> Option<String> {
    let is_endless = |pair: &Pair| {
        let ends = pair.comparison.interval.into_iter().flatten();
        ends.chain(pair.comparison.estimate).any(f64::is_infinite)
    };
    load.pairs.iter().chain(&load.further).any(is_endless).then(|| {
        "∞: in some runs the system was not back. Such a run counts as longer than any in which it was; between two of them, nobody knows."
            .to_owned()
    })
}

/// Sentence about comparisons that use other runs than the figures in the table. `None` without any.
fn partial_runs_note(view: &StudyView<'_>, load: &LoadView<'_>) -> Option<String> {
    let is_partial = |pair: &&Pair| {
        let valid = |row: usize| load.rows[row].count(Eligibility::Valid);
        pair.comparison.common > 0 && pair.comparison.blocks < valid(pair.first).max(valid(pair.second))
    };
    load.pairs.iter().find(is_partial).map(|_| {
        format!(
            "A {} compares runs of the same blocks, its common ones; the table has the median over all valid runs.",
            apart::noun(scale(view))
        )
    })
}

/// Whether all pairs of variants are judged together.
fn is_round_robin(view: &StudyView<'_>) -> bool {
    matches!(view.study.new.compare.procedure, Procedure::RoundRobin { .. })
}

/// Sentences about the error rate of several comparisons.
fn many(view: &StudyView<'_>, load: &LoadView<'_>) -> Vec<String> {
    let (also, mut sentences) = (view.study.new.compare.also.len(), Vec::new());
    let none_wrong = match view.study.extensions.len() {
        0 => "share an error rate of 5 % (Holm): with 95 % probability, no difference found among them is false"
            .to_owned(),
        _ => format!("share an error rate of {} (Holm)", error_rate(view.study)),
    };
    let is_shared = load.pairs.iter().chain(&load.further).any(|pair| pair.is_shared);
    if load.baseline.is_some() && is_shared {
        let family = load.rows.len().saturating_sub(1) * (also + 1);
        let each = if also == 0 { "" } else { ", each row by each metric," };
        return vec![format!("All {family} comparisons with the baseline{each} {none_wrong}.")];
    }
    if is_shared && is_round_robin(view) {
        let family = judge::family(&view.study.new.compare);
        let each = if also == 0 { "" } else { ", each pair by each metric," };
        return vec![format!("All {family} comparisons of two variants{each} {none_wrong}.")];
    }
    if is_shared && is_tournament(view) {
        sentences.push(format!(
            "The {also} further metrics were judged only because there is a difference by the first one, and {none_wrong}."
        ));
    } else if is_shared {
        let pair = if load.pairs.len() > 1 { "of each pair" } else { "of the pair" };
        sentences.push(format!("The {} metrics {pair} {none_wrong}.", also + 1));
    }
    if load.pairs.len() > 1 {
        let what = if is_shared { "pairs" } else { "comparisons" };
        sentences.push(format!(
            "Each of the {} {what} is tested alone at {}, without correction for multiple comparisons.",
            load.pairs.len(),
            error_rate(view.study)
        ));
    }
    sentences
}

/// Minimum effect between the rows of a pair.
pub(super) fn matters(view: &StudyView<'_>, pair: &Pair) -> String {
    apart::min_effect(&pair.by, pair.by.min_effect(&view.study.new.compare))
}

/// Number of blocks over which a pair was judged: `6 common blocks`, or `6 of 7 common blocks` if some came after the look that decided.
pub(super) fn common_blocks(pair: &Pair) -> String {
    let (judged, common) = (pair.comparison.blocks, pair.blocks_in_common);
    if common > judged {
        return format!("{judged} of {common} common blocks");
    }
    format!("{judged} common block{}", if judged == 1 { "" } else { "s" })
}

/// Formats the number of blocks in which a row was better: `better in 6 of 8 common blocks`.
pub(super) fn ahead(pair: &Pair) -> String {
    let (judged, common) = (pair.comparison.blocks, pair.blocks_in_common);
    let blocks = match common > judged {
        true => format!("the first {judged} of {common} common blocks"),
        false => common_blocks(pair),
    };
    match pair.is_behind() {
        _ if pair.first_better + pair.second_better == 0 => format!("equal in all {blocks}"),
        true => format!("worse in {} of {blocks}", pair.second_better),
        false => format!("better in {} of {blocks}", pair.first_better),
    }
}

/// First slices that do not confirm the difference of one pair of many. With two variants, the details of the study say why.
fn unconfirmed_of_many(load: &LoadView<'_>, pair: &Pair) -> Option<FirstSlices> {
    pair.unconfirmed.filter(|_| load.rows.len() > 2)
}

/// Advice for an inconclusive pair, which follows the word "inconclusive". Empty if more blocks decide nothing.
pub(super) fn next_step(load: &LoadView<'_>, pair: &Pair) -> String {
    unconfirmed_of_many(load, pair)
        .map_or_else(|| next_look(pair), |first| format!("; {}", unconfirmed_pair(&first)))
}

/// Number of blocks that may be conclusive. Empty if more blocks decide nothing.
fn next_look(pair: &Pair) -> String {
    let next = || Some(format!("{} may be conclusive", blocks(pair.next_look_blocks()? as usize)));
    let way = pair.way.as_ref().map(judge::comparison::way_in_words).or_else(next);
    way.map_or_else(String::new, |way| format!("; {way}"))
}

/// Name of a row for people, not escaped.
pub(crate) fn row_name(load: &LoadView<'_>, row: usize) -> String {
    load.rows[row].shown_name.clone()
}
