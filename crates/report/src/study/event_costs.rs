//! What events cost, by variant and event, over all blocks.

use std::collections::BTreeMap;

use super::tables::names;
use super::{LoadView, StudyView, VariantRow};
use crate::apart::signed;
use crate::event_costs::{InRun, Pooled, in_run, pooled, with_interval};
use crate::item::Escape;
use crate::table::{Cell, Table};
use crate::text::harmless;
use crate::units::{decimal, duration};
use crate::view::View;
use stats::Repeated;

const NAME_CHARACTERS_MAX: usize = 24;

/// The events of a row, over its runs that count.
pub(crate) fn of_row<'a>(view: &StudyView<'a>, row: &VariantRow<'_>) -> Vec<Pooled<'a>> {
    let views: Vec<&View<'a>> = row.shown().map(|run| &view.runs[run]).collect();
    pooled(&views)
}

/// A row per variant and event; `None` if there was no event.
pub(crate) fn table(view: &StudyView<'_>, load: &LoadView<'_>, escape: Escape) -> Option<Table> {
    let each: Vec<(&VariantRow<'_>, Pooled<'_>)> =
        load.rows.iter().flat_map(|row| of_row(view, row).into_iter().map(move |of| (row, of))).collect();
    if each.is_empty() {
        return None;
    }
    let rows: Vec<&VariantRow<'_>> = each.iter().map(|(row, _)| *row).collect();
    let mut table = names("events", &load.rows, &rows, escape, |_| false);
    table.name("event", each.iter().map(|(_, of)| escape(&harmless(of.name, NAME_CHARACTERS_MAX))));
    let runs = |of: &Pooled<'_>| Cell {
        text: format!("{}/{}", of.runs[0], of.runs[1]),
        value: Some(of.runs[0] as f64),
    };
    table.column("runs", "known", each.iter().map(|(_, of)| runs(of)));
    let middle = |figure: Option<Repeated>, write: &dyn Fn(f64) -> String| {
        Cell::figure(figure.map(|figure| figure.middle), write)
    };
    let seconds = |s: f64| format!("{} s", decimal(s, 1));
    table.column("at", "", each.iter().map(|(_, of)| middle(of.at_s, &seconds)));
    table.column("took", "", each.iter().map(|(_, of)| middle(of.took_ns, &duration)));
    let requests = |lost: f64| decimal(lost, if lost.fract() == 0.0 { 0 } else { 1 });
    table.column("lost", "", each.iter().map(|(_, of)| with_interval(of.lost, requests)));
    let is_stale = |of: &Pooled<'_>| of.stale_reuse.is_some_and(|stale| stale.middle > 0.0);
    if each.iter().any(|(_, of)| is_stale(of)) {
        table.column("stale", "reuse", each.iter().map(|(_, of)| with_interval(of.stale_reuse, requests)));
    }
    table.column("outage", "", each.iter().map(|(_, of)| with_interval(of.outage_ns, duration)));
    table.column(
        "worst",
        "response",
        each.iter().map(|(_, of)| with_interval(of.worst_response_ns, duration)),
    );
    let recovery = |of: &Pooled<'_>| {
        let cell = with_interval(of.recovery_ns, duration);
        match of.not_recovered {
            0 => cell,
            runs => Cell { text: format!("{}; not in {runs} runs", cell.text), ..cell },
        }
    };
    table.column("recovery", "", each.iter().map(|(_, of)| recovery(of)));
    Some(table)
}

/// By how much more an event cost in a variant than in another, over the blocks that both were measured in.
pub(crate) struct Difference<'a> {
    /// It may hold anything: escape it.
    pub(crate) name: &'a str,
    /// Places in the rows of the load: what cost more or less, and than which.
    pub(crate) row: usize,
    pub(crate) from: usize,
    /// Blocks in which both costs are known, and all in which both have a valid run.
    pub(crate) blocks: [usize; 2],
    pub(crate) lost: Option<Repeated>,
    pub(crate) outage_ns: Option<Repeated>,
    pub(crate) excess_wait_ns: Option<Repeated>,
    /// `None` also if one of the two was not back in one of these blocks: without that block the rest would be a biased choice.
    pub(crate) recovery_ns: Option<Repeated>,
}

/// Of all variants from the baseline, or else from the best one, or else from the first, by event.
pub(crate) fn differences<'a>(view: &StudyView<'a>, load: &LoadView<'_>) -> Vec<Difference<'a>> {
    let best = || load.bests().next().map(|best| best.row);
    let from = load.baseline.or_else(best).unwrap_or(0);
    let by_block = |row: &VariantRow<'_>| -> BTreeMap<u32, BTreeMap<&'a str, Option<InRun>>> {
        let valid = row.is_valid.then(|| row.shown()).into_iter().flatten();
        valid.filter_map(|run| Some((view.runs[run].place()?.block, in_run(&view.runs[run])))).collect()
    };
    let Some(other) = load.rows.get(from).map(by_block) else { return Vec::new() };
    let mut differences = Vec::new();
    for (row, _) in load.rows.iter().enumerate().filter(|(row, _)| *row != from) {
        let own = by_block(&load.rows[row]);
        let common = || own.iter().filter_map(|(block, own)| Some((own, other.get(block)?)));
        let names: Vec<&'a str> =
            common().next().map_or_else(Vec::new, |(own, _)| own.keys().copied().collect());
        for name in names {
            let cost = |of: &BTreeMap<&str, Option<InRun>>| of.get(name).copied().flatten();
            let known: Vec<(InRun, InRun)> =
                common().filter_map(|(own, other)| Some((cost(own)?, cost(other)?))).collect();
            differences.push(difference(name, [row, from], &known, common().count()));
        }
    }
    differences
}

/// `known`: what it cost in both, by block.
fn difference<'a>(
    name: &'a str,
    [row, from]: [usize; 2],
    known: &[(InRun, InRun)],
    blocks: usize,
) -> Difference<'a> {
    let over = |figure: fn(&InRun) -> Option<f64>| {
        let apart = known.iter().map(|(own, other)| Some(figure(own)? - figure(other)?));
        Repeated::of(&apart.collect::<Option<Vec<f64>>>()?)
    };
    Difference {
        name,
        row,
        from,
        blocks: [known.len(), blocks],
        lost: over(|run| Some(run.lost)),
        outage_ns: over(|run| Some(run.outage_ns)),
        excess_wait_ns: over(|run| Some(run.excess_wait_ns)),
        recovery_ns: over(|run| run.recovery_ns),
    }
}

/// From which row, and a row per variant and event; `None` if there is nothing to compare.
pub(crate) fn table_of_differences(
    view: &StudyView<'_>,
    load: &LoadView<'_>,
    escape: Escape,
) -> Option<(usize, Table)> {
    let all = differences(view, load);
    let from = all.first()?.from;
    let rows: Vec<&VariantRow<'_>> = all.iter().map(|of| &load.rows[of.row]).collect();
    let mut table = names("events", &load.rows, &rows, escape, |_| false);
    table.name("event", all.iter().map(|of| escape(&harmless(of.name, NAME_CHARACTERS_MAX))));
    let blocks = |of: &Difference<'_>| Cell {
        text: format!("{}/{}", of.blocks[0], of.blocks[1]),
        value: Some(of.blocks[0] as f64),
    };
    table.column("blocks", "known", all.iter().map(blocks));
    let requests = |lost: f64| decimal(lost, if lost.fract() == 0.0 { 0 } else { 1 });
    table.column("lost", "", all.iter().map(|of| with_interval(of.lost, |lost| signed(lost, requests))));
    table.column("outage", "", all.iter().map(|of| with_interval(of.outage_ns, |ns| signed(ns, duration))));
    table.column(
        "recovery",
        "",
        all.iter().map(|of| with_interval(of.recovery_ns, |ns| signed(ns, duration))),
    );
    Some((from, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(lost: f64, outage_ms: f64, recovery_ms: Option<f64>) -> InRun {
        InRun::with(lost, outage_ms * 1e6, recovery_ms.map(|ms| ms * 1e6))
    }

    #[test]
    fn differences_are_of_blocks_and_may_be_zero() {
        // Blocks differ by far more than the two of a block.
        let known: Vec<(InRun, InRun)> = (0..8)
            .map(|block| f64::from(block) * 1_000.0)
            .map(|base| {
                (cost(0.0, base + 800.0, Some(base + 810.0)), cost(0.0, base + 200.0, Some(base + 210.0)))
            })
            .collect();
        let found = difference("deploy", [1, 0], &known, 9);
        let [outage, recovery, lost] = [found.outage_ns, found.recovery_ns, found.lost].map(Option::unwrap);
        assert_eq!((outage.middle, outage.interval), (600e6, Some([600e6, 600e6])));
        assert_eq!((recovery.middle, recovery.runs), (600e6, 8));
        assert_eq!((lost.middle, lost.interval, found.blocks), (0.0, Some([0.0, 0.0]), [8, 9]));
        let mut one_is_not_back = known.clone();
        one_is_not_back[3].0.recovery_ns = None;
        assert_eq!(difference("deploy", [1, 0], &one_is_not_back, 8).recovery_ns, None);
        assert_eq!(difference("deploy", [1, 0], &[], 8).outage_ns, None, "nobody knows");
        assert_eq!(
            [600e6, -2e6, 0.0].map(|ns| signed(ns, duration)),
            ["+600 ms", "−2.00 ms", &duration(0.0)]
        );
    }

    #[test]
    fn equal_variants_seldom_differ() {
        let mut state = 1u64;
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        // What is wrong in a block is wrong in both, and half of the requests lost are none at all.
        let mut study = |effect_ms: f64| {
            let blocks = (0..8).map(|_| {
                let base_ms = 200.0 + 100.0 * chance();
                let mut one = |more_ms: f64| {
                    let ms = base_ms + more_ms + 20.0 * (chance() + chance() - 1.0);
                    cost((4.0 * chance() - 2.0).max(0.0).round(), ms, Some(ms + 20.0 * chance()))
                };
                (one(effect_ms), one(0.0))
            });
            difference("deploy", [1, 0], &blocks.collect::<Vec<_>>(), 8)
        };
        let misses = |figure: Option<Repeated>, truth: f64| {
            let [low, high] = figure.and_then(|figure| figure.interval).unwrap();
            u32::from(truth < low || high < truth)
        };
        let (mut lost, mut outage, mut recovery) = (0, 0, 0);
        for _ in 0..500 {
            let equal = study(0.0);
            lost += misses(equal.lost, 0.0);
            outage += misses(equal.outage_ns, 0.0);
            recovery += misses(study(600.0).recovery_ns, 600e6);
        }
        // 5 % of 500, and three standard deviations.
        assert!([lost, outage, recovery].iter().all(|missed| *missed <= 40), "{lost} {outage} {recovery}");
    }
}
