//! Messages of a duel between two blocks.

use evidence::{Study, Unit, stage};
use judge::ComparedBy;
use plan::units::shown;
use stats::{Duel, DuelEnd, DuelStep, Forecast, NoVerdict, Scale, Verdict};

use super::{Duels, outlook};
use crate::procedure::{percent, under};

/// Returns messages about the duel under a load after a turn: the forecast after the pilot, the outlook after a block,
/// and the result at the end.
pub(super) fn after_turn(duels: &Duels<'_>, kept: &Study, load: usize, duel: &Duel) -> Vec<String> {
    let under = under(duels.plan, load);
    let of_load = |stage: &'static str| {
        let name = &duels.plan.loads[load].name;
        kept.new.planned.iter().filter(move |place| place.load == *name && place.stage == stage)
    };
    match duel.next() {
        DuelStep::Block { .. } if of_load(stage::BLOCK).next().is_none() && duel.rules().pilot_blocks > 0 => {
            vec![format!("{under}{}", forecast(duels.results.by(), duel))]
        }
        DuelStep::Block { .. } => {
            outlook::line(duels, kept, load, duel).map(|line| format!("{under}{line}")).into_iter().collect()
        }
        DuelStep::Over(end) => {
            let is_in_slices = kept.new.compare.procedure.slices().is_some();
            vec![format!("{under}{}", result_line(duels, duel, end, is_in_slices))]
        }
        DuelStep::Pilot { .. } => Vec::new(),
    }
}

/// Returns the predicted number of blocks that the duel needs, from its pilot.
fn forecast(by: &ComparedBy, duel: &Duel) -> String {
    let Some(Forecast { spread, blocks, found_from, blocks_for_equivalence, .. }) = duel.forecast() else {
        return "the pilot has too few figures for a prediction".to_owned();
    };
    let (matters, most) = (sized(by, duel.rules().matters.size), duel.rules().blocks_max);
    let apart = sized(
        by,
        match by.scale() {
            Scale::Ratio => spread.exp_m1(),
            Scale::Difference => spread,
        },
    );
    let found = match (blocks, found_from) {
        (Some(blocks), _) => format!("a difference of {matters} will show in {blocks} blocks"),
        (None, Some(from)) => {
            format!(
                "{most} blocks are unlikely to show a difference of {matters}; they can show {} and more",
                sized(by, from)
            )
        }
        (None, None) => format!("{most} blocks show no difference"),
    };
    let equal = match blocks_for_equivalence {
        Some(blocks) => format!("equality within {matters} in {blocks}"),
        None => format!("equality within {matters} is out of reach"),
    };
    format!("the pilot: equal runs lie {apart} apart; {found}, {equal}")
}

/// Formats a relative difference as a percentage, and an absolute one in the unit of the metric.
fn sized(by: &ComparedBy, size: f64) -> String {
    match by.scale() {
        Scale::Ratio => percent(size),
        Scale::Difference => by.sized(size),
    }
}

/// Returns the result of a duel, and the number of its blocks.
fn result_line(duels: &Duels<'_>, duel: &Duel, end: DuelEnd, is_in_slices: bool) -> String {
    let by = duels.results.by();
    let blocks = duel.blocks().len();
    let discards = duel.discards();
    let lost = discards.first + discards.second;
    match end {
        DuelEnd::Decided => {
            let most = duel.rules().blocks_max;
            format!("decided after {blocks} of at most {most} blocks: {}", found(duels, duel))
        }
        DuelEnd::OutOfBlocks => format!("all {blocks} blocks are made: {}", found(duels, duel)),
        DuelEnd::NotFit => {
            "given up: four blocks in a row had an invalid run; this is no place to measure".to_owned()
        }
        DuelEnd::Failing => "given up: four blocks in a row had a run that failed".to_owned(),
        DuelEnd::TooFewSamples => too_few_samples(by, is_in_slices),
        DuelEnd::Uneven => {
            let [a, b] = &duels.settings;
            format!(
                "given up: of {lost} lost runs {} are of {} and {} of {}; what is left is a biased choice",
                discards.first,
                a.name(),
                discards.second,
                b.name()
            )
        }
        DuelEnd::NoRatio => {
            format!("given up: {} is 0 in a run, and has no ratio; compare by another figure", by.name())
        }
    }
}

/// Explains why a duel with too few samples per block was given up, and suggests a change.
fn too_few_samples(by: &ComparedBy, is_in_slices: bool) -> String {
    if by.is_of_events() {
        return format!(
            "given up: in four blocks in a row it is unknown what {} is; begin the event later, and make the load longer",
            by.words(Unit::Requests)
        );
    }
    let name = by.metric.name;
    let needed = by.metric.percentile().and_then(|percentile| percentile.samples_to_judge());
    let few = needed.map_or("too few samples".to_owned(), |needed| {
        format!("fewer than the {} samples that {name} needs", shown::count(needed))
    });
    match (is_in_slices, needed) {
        (false, _) => format!("given up: four blocks in a row had {few}; make the load longer"),
        // The slices of a start are judged together, so longer ones alone would not help.
        (true, Some(_)) => format!(
            "given up: in four blocks in a row the slices of a start together had {few}, or responses take more than a tenth of a slice; \
             make the load longer, or write `interleave: runs`"
        ),
        (true, None) => format!(
            "given up: in four blocks in a row slices were too short for {name}: they have {few}, or responses take more than a tenth of \
             a slice; write `slice: 3s` and a load of at least 6s, or `interleave: runs`"
        ),
    }
}

/// Formats the verdict as a line. Reports show the figures.
fn found(duels: &Duels<'_>, duel: &Duel) -> String {
    let by = duels.results.by();
    let finding = duel.finding();
    let [a, b] = duels.settings.each_ref().map(judge::Setting::name);
    let what = by.name();
    let is_first_ahead = finding.is_first_larger() == Some(duel.rules().higher_is_better);
    let [first, second] = if is_first_ahead { [&a, &b] } else { [&b, &a] };
    match finding.verdict {
        Verdict::Differs { below_matters: false } => format!("by {what} {first} is ahead of {second}"),
        Verdict::Differs { below_matters: true } => {
            format!("by {what} {first} is ahead of {second}, by less than what matters")
        }
        Verdict::Equivalent => {
            format!("{a} and {b} are equal within {}", sized(by, duel.rules().matters.size))
        }
        Verdict::MoreErrors(more) => {
            let worse = if more.of_first { &a } else { &b };
            format!("{worse} has more errors or outages")
        }
        Verdict::Inconclusive if finding.is_first_larger().is_none() => format!("no verdict by {what}"),
        Verdict::Inconclusive => format!("no verdict; by {what} {first} is ahead of {second} so far"),
        Verdict::None(NoVerdict::TooFewBlocks { common, needed }) => {
            format!("no verdict: {common} blocks count, and {needed} are needed")
        }
        Verdict::None(_) => "no verdict".to_owned(),
    }
}
