//! Certainty of the result under a load, and the reason.

use judge::Eligibility;
use judge::results::{NoVerdict, TournamentEnd, Verdict};

use super::Pair;
use super::sentences::{Outcome, ahead, common_blocks, is_undecided, matters, next_step, outcome, reason};
use super::{LoadView, StudyView, VariantRow};
use crate::answer::Certainty;
use crate::units::percent_with;

/// Certainty of the result, and the reason in a few words. The least certain comparison determines both.
pub(crate) fn certainty(view: &StudyView<'_>, load: &LoadView<'_>) -> (Certainty, String) {
    if view.study.new.compare.looks_for_failures() {
        let valid: usize = load.rows.iter().map(|row| row.count(Eligibility::Valid)).sum();
        return (Certainty::Plain, format!("{}, nothing was compared", valid_run_words(valid)));
    }
    if load.baseline.is_some() {
        return against_baseline(view, load);
    }
    let Some(best) = load.best_rows().next() else {
        return (Certainty::None, no_best_reason(view, load));
    };
    let of_best = || load.pairs.iter().filter(|pair| [pair.first, pair.second].contains(&best.row));
    let Some(runner_up) = of_best().next() else {
        let certainty = match &load.found {
            Some(found) if found.end.is_none() => Certainty::Open,
            Some(_) => Certainty::None,
            None => Certainty::Plain,
        };
        return (certainty, not_compared_reason(view, load));
    };
    let with = |wanted: Outcome| of_best().find(|pair| outcome(pair, best.row) == wanted);
    if let Some(open) = with(Outcome::Open) {
        let why = reason(view, load, open).unwrap_or_else(|| match open.comparison.verdict {
            Verdict::Differs { .. } => format!("its median is the best, but it is {}", ahead(open)),
            _ => words(view, load, open),
        });
        return (if can_be_decided(open) { Certainty::Open } else { Certainty::None }, why);
    }
    (Certainty::Sure, words(view, load, with(Outcome::Level).unwrap_or(runner_up)))
}

fn valid_run_words(valid: usize) -> String {
    if valid == 1 { "1 valid run".to_owned() } else { format!("{valid} valid runs") }
}

/// Reason why no row is best.
fn no_best_reason(view: &StudyView<'_>, load: &LoadView<'_>) -> String {
    let failed = |row: &VariantRow<'_>| row.is_valid && row.error_share.is_some_and(|share| share >= 1.0);
    match &view.metric {
        None => "this version does not know the metric to compare by".to_owned(),
        Some(_) if load.rows.iter().any(failed) => format!("no {} ended ok", view.noun().one),
        Some(_) => "no run gave figures that can be ranked".to_owned(),
    }
}

/// Reason why the best row was not compared.
fn not_compared_reason(view: &StudyView<'_>, load: &LoadView<'_>) -> String {
    let end = load.found.as_ref().map(|found| (found.end, found.rival));
    let why = match load.rows.len() {
        1 if view.study.baseline.as_ref().is_some_and(|baseline| baseline.found.is_ok()) => {
            "the plan has one configuration, and a stored baseline"
        }
        1 => "there is nothing to compare it with",
        _ if end == Some((None, None)) => "the search is not over",
        _ if matches!(end, Some((Some(TournamentEnd::Unmeasured), _))) => {
            "a configuration that may be as good could not be measured"
        }
        _ if matches!(end, Some((Some(TournamentEnd::NotFit), _))) => {
            "fewer than two configurations could be measured"
        }
        _ if end.is_some() => "not confirmed on new blocks",
        _ if load.ranking.len() > 1 => {
            "every other configuration with valid figures has more errors or outages"
        }
        _ => "nothing else gave figures that can be ranked",
    };
    why.to_owned()
}

/// Certainty of a comparison of all rows with a baseline.
fn against_baseline(view: &StudyView<'_>, load: &LoadView<'_>) -> (Certainty, String) {
    let Some(first) = load.pairs.first() else {
        return (Certainty::None, "there is nothing to compare".to_owned());
    };
    let open: Vec<&Pair> = load.pairs.iter().filter(|pair| is_undecided(pair)).collect();
    let Some(pair) = open.iter().find(|pair| can_be_decided(pair)).or(open.first()) else {
        let least = load.pairs.iter().filter_map(|pair| pair.comparison.confidence).reduce(f64::min);
        let sure = least.map_or_else(String::new, |least| format!(", {} confidence", percent_with(least, 1)));
        return match load.pairs.len() {
            1 => (Certainty::Sure, words(view, load, first)),
            count => (Certainty::Sure, format!("a verdict on each of the {count}{sure}")),
        };
    };
    let why = reason(view, load, pair).unwrap_or_else(|| words(view, load, pair));
    (if can_be_decided(pair) { Certainty::Open } else { Certainty::None }, why)
}

/// Whether more runs may lead to a verdict.
fn can_be_decided(pair: &Pair) -> bool {
    match pair.comparison.verdict {
        _ if pair.has_more_errors => false,
        Verdict::None(NoVerdict::TooFewBlocks { needed, .. }) => pair.attainable >= needed as usize,
        Verdict::MoreErrors(more) => !more.is_shown,
        Verdict::None(NoVerdict::NoRatio | NoVerdict::UnevenDiscards(_)) => false,
        _ => true,
    }
}

/// Formats a verdict: `significant, better in 6 of 6 common blocks, 96.9 % confidence`.
fn words(view: &StudyView<'_>, load: &LoadView<'_>, pair: &Pair) -> String {
    let ahead = ahead(pair);
    let mut words = match pair.comparison.verdict {
        Verdict::Differs { below_matters: false } => format!("significant, {ahead}"),
        Verdict::Differs { below_matters: true } => {
            format!("significant, below the {} threshold, {ahead}", matters(view, pair))
        }
        Verdict::Equivalent => format!("equivalent within {}, {}", matters(view, pair), common_blocks(pair)),
        Verdict::Inconclusive | Verdict::MoreErrors(_) | Verdict::None(_) => format!("inconclusive, {ahead}"),
    };
    if let Some(confidence) = pair.comparison.confidence {
        words.push_str(&format!(", {} confidence", percent_with(confidence, 1)));
    }
    if pair.comparison.verdict == Verdict::Inconclusive {
        words.push_str(&next_step(load, pair));
    }
    words
}
