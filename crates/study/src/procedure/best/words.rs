//! Messages of a search for the best between two blocks.

use evidence::{Study, stage};
use stats::{EliminationReason, TournamentEnd, TournamentFindings, TournamentStage, TournamentStep, Verdict};

use super::Best;
use crate::procedure::{percent, under};

/// Returns messages about the search under a load after a turn: eliminated variants, the variants to confirm, and the
/// result at the end.
pub(super) fn after_turn(
    best: &Best<'_>,
    kept: &Study,
    load: usize,
    step: &TournamentStep,
    found: &TournamentFindings,
) -> Vec<String> {
    let name = |setting: usize| best.settings.get(setting).map_or(String::new(), judge::Setting::name);
    let of_load = || {
        let load = &best.plan.loads[load].name;
        kept.new.planned.iter().filter(move |place| place.load == *load)
    };
    let is_confirming = of_load().any(|place| stage::is_confirming(&place.stage));
    let mut news = Vec::new();
    // No variant is eliminated while the winner is compared with its rival.
    let just_eliminated =
        found.left.iter().filter(|left| !is_confirming && left.after_blocks == found.blocks);
    for left in just_eliminated {
        let why = match left.why {
            EliminationReason::Halved => "is in the worse half",
            EliminationReason::Behind => "is clearly behind",
            EliminationReason::MoreErrors => "has more errors or outages",
            EliminationReason::Invalid => "has no valid run in four tries",
            EliminationReason::NoFigure => "has no figure in four tries",
        };
        news.push(format!("after {} blocks {} leaves: it {why}", left.after_blocks, name(left.setting)));
    }
    match (step, found.best) {
        (TournamentStep::Block { stage: TournamentStage::Confirm, .. }, Some(winner)) if !is_confirming => {
            let rival = found.rival.map_or(String::new(), name);
            news.push(format!(
                "after {} blocks {} is the best: now it is held against {rival} on fresh blocks",
                found.blocks,
                name(winner)
            ));
        }
        (TournamentStep::Over, _) => news.push(result_line(best, kept, found, &name)),
        _ => {}
    }
    let under = under(best.plan, load);
    news.into_iter().map(|line| format!("{under}{line}")).collect()
}

/// Formats the result of the search as a line.
fn result_line(
    best: &Best<'_>,
    kept: &Study,
    found: &TournamentFindings,
    name: &dyn Fn(usize) -> String,
) -> String {
    let winner = found.best.map(name);
    let what = match (found.end, &winner) {
        (Some(TournamentEnd::NotFit), _) | (_, None) => {
            return "given up: fewer than two variants could be measured".to_owned();
        }
        (Some(TournamentEnd::Unmeasured), Some(winner)) => {
            let lost = found.left.iter().filter(|left| left.why == EliminationReason::Invalid);
            let lost: Vec<String> = lost.map(|left| name(left.setting)).collect();
            return format!(
                "not decided: {winner} is the best of those that could be measured, and {} may be as good",
                lost.join(", ")
            );
        }
        (Some(TournamentEnd::OutOfBlocks), Some(winner)) => {
            format!("not decided in {} blocks; {winner} is ahead", found.blocks)
        }
        (_, Some(winner)) => format!("the best is {winner}"),
    };
    let tied: Vec<String> = found
        .tied
        .iter()
        .filter(|setting| Some(**setting) != found.best)
        .map(|setting| name(*setting))
        .collect();
    let matters = percent(kept.new.compare.matters);
    let tied = if tied.is_empty() {
        String::new()
    } else {
        format!("; not told from it by {matters}: {}", tied.join(", "))
    };
    let confirmed = found.confirmed.and_then(|confirmed| {
        let rival = name(found.rival?);
        Some(match confirmed.verdict {
            Verdict::Differs { .. } => {
                format!("; confirmed: its {} differs from that of {rival}", best.results.by().metric.name)
            }
            Verdict::Equivalent => format!("; confirmed as equal to {rival} within {matters}"),
            Verdict::MoreErrors(_) => format!("; but errors tell it and {rival} apart"),
            _ => format!("; not confirmed against {rival}"),
        })
    });
    format!("{what}{tied}{}", confirmed.unwrap_or_default())
}
