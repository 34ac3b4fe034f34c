//! Forecast of the time until a duel reaches a verdict, printed after blocks without one.

use std::time::Duration;

use evidence::{Study, stage};
use stats::Duel;

use super::{Duels, slices};
use crate::pace::times;
use crate::procedure::percent;

/// Relative difference that a quick study should be able to detect.
const QUICK_DIFFERENCE: f64 = 0.1;
/// Numbers of blocks after which the outlook is printed. Only for whole runs, which print one line each.
const PRINTED_AFTER: [usize; 6] = [2, 4, 6, 8, 12, 16];

/// Formats the outlook as a line. `None` after blocks that print none, and if it is unknown.
pub(super) fn line(duels: &Duels<'_>, kept: &Study, load: usize, duel: &Duel) -> Option<String> {
    let outlook = duel.outlook()?;
    let block_s = match kept.new.compare.procedure.slices() {
        Some(rules) => slices::block_s(kept, duel, rules)?,
        None if PRINTED_AFTER.contains(&outlook.blocks) => block_s(kept, &duels.plan.loads[load].name)?,
        None => return None,
    };
    let left = |blocks: u32| {
        let seconds = block_s * (f64::from(blocks) - outlook.blocks as f64).max(0.0);
        format!("{blocks} blocks, in about {seconds:.0} s")
    };
    let blocks = if outlook.blocks == 1 { "block" } else { "blocks" };
    let least = if outlook.is_more { "at least " } else { "" };
    let when = match outlook.verdict {
        Some(blocks) => format!("a verdict is likely after {}", left(blocks)),
        None => format!("a verdict is unlikely within {} blocks", duel.rules().blocks_max),
    };
    let quick = match outlook.blocks_for(QUICK_DIFFERENCE) {
        _ if !duels.plan.is_quick => String::new(),
        Some(blocks) => {
            format!("; a difference of {} shows after {}", percent(QUICK_DIFFERENCE), left(blocks))
        }
        None => format!("; a difference of {} takes more blocks", percent(QUICK_DIFFERENCE)),
    };
    Some(format!(
        "after {} {blocks}: the ratio of a block varies by {least}{}; {when}{quick}",
        outlook.blocks,
        percent(outlook.spread.exp_m1())
    ))
}

/// Returns the mean duration of a block of two whole runs, in seconds. `None` before the first.
fn block_s(kept: &Study, load: &str) -> Option<f64> {
    let of_blocks =
        times(kept).into_iter().filter(|(place, _)| place.load == load && place.stage == stage::BLOCK);
    let took: Vec<f64> = of_blocks.map(|(_, took): (_, Duration)| took.as_secs_f64()).collect();
    (!took.is_empty()).then(|| 2.0 * took.iter().sum::<f64>() / took.len() as f64)
}
