//! Forecast of the time until the best variant is known, printed after blocks that did not decide it.

use std::collections::BTreeSet;
use std::time::Duration;

use evidence::{Study, StudyPlace};
use stats::{Tournament, TournamentForecast};

use super::Best;
use crate::pace::times;
use crate::procedure::under;

/// Numbers of blocks after which the outlook is printed. Only for whole runs, which print one line each.
const PRINTED_AFTER: [usize; 7] = [1, 2, 4, 6, 8, 12, 16];

/// Formats the outlook as a line. `None` after blocks that print none, and if it is unknown.
pub(super) fn line(best: &Best<'_>, kept: &Study, load: usize, tournament: &Tournament) -> Option<String> {
    let name = &best.plan.loads[load].name;
    let took: Vec<(&StudyPlace, Duration)> =
        times(kept).into_iter().filter(|(place, _)| place.load == *name).collect();
    let blocks = took.iter().map(|(place, _)| place.block).collect::<BTreeSet<u32>>().len();
    if kept.new.compare.procedure.slices().is_none() && !PRINTED_AFTER.contains(&blocks) {
        return None;
    }
    let starts = took.iter().map(|(place, _)| (place.block, &place.system, &place.variant));
    let starts = starts.collect::<BTreeSet<_>>().len();
    let all_s: f64 = took.iter().map(|(_, took)| took.as_secs_f64()).sum();
    let TournamentForecast { runs, is_least } = tournament.forecast(best.plan.seed ^ blocks as u64)?;
    let [low, middle, high] =
        runs.map(|runs| rounded_duration(f64::from(runs) * all_s / starts.max(1) as f64));
    let after = format!("{}after {}", under(best.plan, load), judge::words::blocks(blocks));
    Some(if is_least {
        format!("{after}: the best is known in {low} at the earliest")
    } else if low == high {
        format!("{after}: the best is likely known in about {middle}")
    } else {
        format!("{after}: the best is likely known in about {middle} ({low} to {high})")
    })
}

/// Formats a duration: `40 s`, `6 min`.
fn rounded_duration(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
