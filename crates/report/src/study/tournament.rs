//! Details of a search for the best: ties with the best variant, and when others were eliminated.

use judge::results::{EliminationReason, TournamentEnd, TournamentFindings};
use judge::words::blocks;

use super::sentences::row_name;
use super::{LoadView, StudyView};
use crate::ratio;
use crate::text;

/// Maximum number of rows in one sentence.
const NAMES_MAX: usize = 8;

/// Variants that could not be measured to the end, with time and reason. A result without them would be misleading.
pub(super) fn lost<'a>(
    load: &'a LoadView<'_>,
    name: super::sentences::Name<'a>,
) -> impl Iterator<Item = String> {
    let left = load.found.iter().flat_map(|found| &found.left);
    left.filter(|left| matches!(left.why, EliminationReason::Invalid | EliminationReason::NoFigure)).map(
        move |left| {
            let why = if left.why == EliminationReason::Invalid {
                "4 invalid runs in a row"
            } else {
                "4 runs in a row without a figure"
            };
            let ratio =
                left.ratio.map_or_else(String::new, |ratio| format!(", {} until then", ratio::times(ratio)));
            let after = blocks(left.after_blocks as usize);
            format!("{} (after {after}: {why}{ratio})", name(load, left.setting))
        },
    )
}

/// Sentence about variants that are not distinguishable from the best. `None` without any.
pub(super) fn tie(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    escape: &dyn Fn(&str) -> String,
) -> Option<String> {
    let found = load.found.as_ref()?;
    let name = |row: usize| escape(&row_name(load, row));
    let (Some(best), [_, _, ..]) = (found.best, &found.tied[..]) else { return None };
    let others = found.tied.iter().filter(|row| **row != best).map(|row| name(*row));
    Some(format!(
        "{} cannot be distinguished from {} by {}; take the cheapest",
        listed(others),
        name(best),
        view.matters()
    ))
}

/// Sentences about the search. Empty if the study has none. `escape` sanitizes names.
pub(crate) fn sentences(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    escape: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let Some(found) = &load.found else { return Vec::new() };
    let name = |row: usize| escape(&row_name(load, row));
    let mut sentences = Vec::new();
    sentences.extend(tie(view, load, escape).map(|tie| format!("A tie: {tie}.")));
    sentences.extend(search_sentence(view, found));
    for why in [
        EliminationReason::Halved,
        EliminationReason::Behind,
        EliminationReason::MoreErrors,
        EliminationReason::Invalid,
        EliminationReason::NoFigure,
    ] {
        let left = || found.left.iter().filter(move |left| left.why == why);
        if left().next().is_some() {
            let each = left().map(|left| {
                let ratio = left.ratio.map_or_else(String::new, |ratio| format!(", {}", ratio::times(ratio)));
                format!("{} (after {}{ratio})", name(left.setting), blocks(left.after_blocks as usize))
            });
            sentences.push(format!("{}: {}.", reason_words(why), listed(each)));
        }
    }
    sentences
}

fn search_sentence(view: &StudyView<'_>, found: &TournamentFindings) -> Option<String> {
    let chosen = format!("The best was chosen over {}", blocks(found.blocks as usize));
    Some(match (found.end, &found.confirmed) {
        (Some(TournamentEnd::NotFit), _) => "Fewer than two configurations could be measured.".to_owned(),
        (Some(TournamentEnd::Unmeasured), _) => {
            format!("{chosen}, and not confirmed: one that may be as good could not be measured.")
        }
        (_, Some(confirmed)) => format!(
            "{chosen}, and compared with its rival on {} new blocks: the ratio is from these alone.",
            confirmed.common
        ),
        (Some(TournamentEnd::OutOfBlocks), None) => {
            format!("{chosen}, the limit: several configurations may still be the best.")
        }
        (Some(TournamentEnd::Decided), None) => format!("{chosen}, and not confirmed on new blocks."),
        (None, None) if view.missing > 0 || found.blocks > 0 => {
            format!("{chosen} so far; not conclusive.")
        }
        (None, None) => return None,
    })
}

fn reason_words(why: EliminationReason) -> &'static str {
    match why {
        EliminationReason::Halved => "Eliminated in the worse half of a round",
        EliminationReason::Behind => "Eliminated, behind another by more than chance",
        EliminationReason::MoreErrors => "Eliminated for more errors or outages than another",
        EliminationReason::Invalid => "Dropped after four invalid runs in a row",
        EliminationReason::NoFigure => "Eliminated after four runs in a row without a figure",
    }
}

fn listed(all: impl Iterator<Item = String>) -> String {
    text::listed(all, NAMES_MAX, ", ")
}
