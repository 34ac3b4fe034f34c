//! Describes how a study finds its answer, and how long that takes.

use std::fmt::Write as _;

use judge::{ComparedBy, MetricKind, words};
use stats::Scale;
use wire::step::Unit;

use super::{ComparisonMethod, Find, Interleave, Slicing, Study, StudyLoad};
use crate::plan::PlannedStep;
use crate::units::{show_duration, show_percent};

impl Study {
    /// Min total duration of all loads of the study, in nanoseconds. A load that ends after a number of requests counts as 0.
    pub fn min_duration_ns(&self) -> u64 {
        let variants = self.variants.len();
        if let Some(slicing) = self.slicing() {
            let runs = match self.first_look_of_pairs().filter(|_| self.is_round_robin()) {
                Some(blocks) => variants as u64 * u64::from(blocks),
                None => self.compare.min_runs(variants),
            };
            return self.min_start_ns(&slicing).saturating_mul(runs);
        }
        let loads_ns = self.loads.iter().filter_map(|load| load.run_ns).fold(0, u64::saturating_add);
        let sweep_ns = self.sweep_ns().unwrap_or_default();
        loads_ns.saturating_mul(self.compare.min_runs(variants)).saturating_add(sweep_ns)
    }

    /// Min number of slices of each variant in a block.
    fn min_slices(&self, slicing: &Slicing) -> u32 {
        match self.how() {
            ComparisonMethod::Duel if !slicing.has_full_blocks => stats::PAIRS_MIN as u32,
            ComparisonMethod::Duel => slicing.pairs_most / 2 * 2,
            _ => slicing.pairs_most,
        }
    }

    /// Min duration of the load of one variant in a block of slices, in nanoseconds.
    pub(crate) fn min_start_ns(&self, slicing: &Slicing) -> u64 {
        let slices_ns =
            (slicing.slice_ns + slicing.settle_ns).saturating_mul(self.min_slices(slicing).into());
        slices_ns.saturating_add(slicing.warm_up_ns.saturating_sub(slicing.settle_ns))
    }

    /// Duration of the load of a sweep over all of its runs, in nanoseconds. `None` if a number of requests ends the load.
    fn sweep_ns(&self) -> Option<u64> {
        match self.compare.sweep_runs(self.variants.len()) {
            0 => Some(0),
            runs => self.loads.first()?.run_ns.map(|run_ns| run_ns.saturating_mul(runs)),
        }
    }

    /// Writes the number and order of runs, and their total duration.
    pub(crate) fn explain_order(&self, out: &mut String) {
        let how = self.how();
        if let Some(slicing) = self.slicing() {
            self.explain_slices(&slicing, out);
            return;
        }
        let _ = writeln!(out, "order       {}", self.order_words(how));
        if let Some(no) = self.no_slices().filter(|_| self.compare.interleave == Interleave::Auto) {
            let _ = writeln!(out, "            in whole runs, not in slices: {}", no.because);
        }
        let loads = self.loads.len() as u64;
        let variants = self.variants.len();
        let most = self.compare.max_runs(variants);
        let least = self.compare.min_runs(variants);
        let loads_ns: Option<u64> =
            self.loads.iter().map(|load| load.run_ns).try_fold(0u64, |sum, ns| Some(sum.saturating_add(ns?)));
        let sweep_ns = self.sweep_ns();
        let load_ns = |runs: u64| Some(loads_ns?.saturating_mul(runs).saturating_add(sweep_ns?));
        let of_load = |runs: u64| load_ns(runs).map(show_duration);
        let unit = self.script.steps.iter().map(PlannedStep::unit).min_by_key(|unit| unit.has_sessions());
        let noun = unit.map_or("transaction", Unit::noun);
        let may_end_early = |load: &StudyLoad| load.spec.requests.is_some() || load.spec.extend.is_some();
        let is_counted = self.loads.iter().any(may_end_early);
        let timed = match (of_load(least), of_load(most)) {
            (Some(least), Some(most)) if least != most => format!("{least} to {most} of load"),
            (_, Some(most)) if is_counted => format!("up to {most} of load"),
            (_, Some(most)) => format!("at least {most} of load"),
            _ => format!("as long as the {noun}s take"),
        };
        let started =
            self.variants.iter().filter(|variant| self.systems[variant.system].is_started()).count() as u64;
        let sweep = self.compare.sweep_runs(variants);
        let starts = |runs: u64| (runs * loads + sweep) * started / (variants as u64).max(1);
        let around = match (starts(least), starts(most)) {
            (0, 0) => String::new(),
            (_, 1) => ", plus one start and stop of a system".to_owned(),
            (least, most) if least == most => format!(", plus {most} starts and stops of systems"),
            (least, most) => format!(", plus {least} to {most} starts and stops of systems"),
        };
        let _ = writeln!(out, "time        {timed}{around}");
        if let Some(within_ns) = self.compare.within_ns {
            let short = match load_ns(least) {
                Some(min_duration_ns) if min_duration_ns > within_ns => {
                    format!(
                        ", too short for a result, which takes at least {}",
                        show_duration(min_duration_ns)
                    )
                }
                _ => String::new(),
            };
            let _ = writeln!(out, "            time limit {}{short}", show_duration(within_ns));
        }
    }

    /// Like `explain_order`, for a study in slices.
    fn explain_slices(&self, slicing: &Slicing, out: &mut String) {
        let Slicing { slice_ns, settle_ns, pairs_most, pauses_idle, has_control, .. } = *slicing;
        let seed = if self.has_seed { format!(" (seed {})", self.seed) } else { String::new() };
        let (is_duel, is_round_robin) = (self.how() == ComparisonMethod::Duel, self.is_round_robin());
        let least = if is_round_robin { self.first_look_of_pairs() } else { self.compare.first_look() }
            .unwrap_or(self.compare.blocks);
        let family = if is_round_robin { self.family_of_pairs() } else { self.compare.family() };
        let last = stats::looks(self.compare.blocks as usize, family).last();
        let blocks = match last.map_or(self.compare.blocks, |look| look.blocks) {
            most if most > least => format!("{least} to {most} blocks"),
            most => format!("{most} blocks"),
        };
        let _ = if is_duel {
            writeln!(out, "order       A/B comparison in slices: {blocks}, until the result is conclusive")
        } else if is_round_robin {
            writeln!(
                out,
                "order       in slices: {blocks}, {} that share one error rate",
                words::comparisons(self.family_of_pairs())
            )
        } else {
            writeln!(out, "order       in slices: {}", self.order_words(ComparisonMethod::Best))
        };
        let pairs = match u64::from(pairs_most) {
            _ if !is_duel || slicing.has_full_blocks => self.min_slices(slicing).to_string(),
            most if most > stats::PAIRS_MIN as u64 => format!("{} to {most}", stats::PAIRS_MIN),
            most => most.to_string(),
        };
        let who = match self.variants.len() {
            2 => "both variants",
            _ if is_round_robin => "all variants",
            _ => "all variants that are left",
        };
        let _ = writeln!(
            out,
            "            each block starts {who} and gives each {pairs} slices of {} in random balanced order{seed}, \
             the first {} of each left out",
            show_duration(slice_ns),
            show_duration(settle_ns)
        );
        if pauses_idle {
            let _ = writeln!(out, "            the system without load is stopped meanwhile (SIGSTOP)");
        }
        if has_control {
            let _ = writeln!(out, "            CPU time that others take may explain a part of the variance");
        }
        let variants = self.variants.len() as u64;
        let block_ns = self.min_start_ns(slicing).saturating_mul(variants);
        let _ = writeln!(
            out,
            "time        {} of load in {}, plus {} starts and stops of systems",
            show_duration(block_ns),
            if is_duel { "a block of the fewest slices" } else { "the first blocks" },
            if variants == 2 { "two".to_owned() } else { variants.to_string() }
        );
        if let Some(within_ns) = self.compare.within_ns {
            let _ = writeln!(out, "            time limit {}", show_duration(within_ns));
        }
    }

    fn order_words(&self, how: ComparisonMethod) -> String {
        let (blocks, loads) = (u64::from(self.compare.blocks), self.loads.len() as u64);
        let each = self.variants.len() as u64 * loads;
        // A seed that is not drawn yet cannot be shown.
        let seed = if self.has_seed { format!(" (seed {})", self.seed) } else { String::new() };
        let under = if loads > 1 { " under each load" } else { "" };
        match how {
            ComparisonMethod::Duel => {
                let pilot = match self.compare.pilot {
                    0 => String::new(),
                    1 => "1 pilot block of the first variant against itself, then ".to_owned(),
                    pilot => format!("{pilot} pilot blocks of the first variant against itself, then "),
                };
                let blocks = match self.compare.first_look().map(u64::from) {
                    Some(look) if look < blocks => {
                        format!("{look} to {blocks} blocks, until the result is conclusive")
                    }
                    _ => format!("{blocks} blocks"),
                };
                format!(
                    "A/B comparison{under}: {pilot}{blocks}; each has both variants once, in random order{seed}"
                )
            }
            ComparisonMethod::Best => format!(
                "a search for the best{under}: up to {blocks} blocks of the remaining candidates, in random \
                 order{seed}, then {}",
                match self.baseline() {
                    Some(incumbent) => format!("the winner against {incumbent} in new blocks"),
                    None => "the winner against the runner-up in new blocks".to_owned(),
                }
            ),
            ComparisonMethod::BestOfEach { sweep_blocks } => {
                let finalists = self.compare.sweep.map_or(0, |sweep| sweep.systems);
                let swept =
                    self.loads.first().map(|load| format!(" under {}", load.name)).filter(|_| loads > 1);
                format!(
                    "the best of each system: a sweep of all {} variants{}, {} in random order{seed}, then a final of the {finalists} \
                     best{}, {} of new runs",
                    self.variants.len(),
                    swept.unwrap_or_default(),
                    words::blocks(sweep_blocks as usize),
                    if loads > 1 { " under all loads" } else { "" },
                    words::blocks(self.compare.blocks as usize)
                )
            }
            ComparisonMethod::Blocks => {
                let runs = blocks * each;
                match (blocks, each) {
                    (1, 1) => "1 run".to_owned(),
                    (1, _) => format!("{runs} runs in random order{seed}"),
                    (_, 1) => format!("{runs} runs"),
                    _ => format!(
                        "{runs} runs: {blocks} blocks, each with all {each} once, in random order{seed}"
                    ),
                }
            }
        }
    }

    /// Describes the comparison and its decision rule. Writes nothing if nothing is compared.
    pub(crate) fn explain_comparison(&self, out: &mut String) {
        if let Some(stored) = &self.compare.stored {
            let _ = writeln!(out, "baseline    {stored}: stored, so not paired by blocks");
        }
        if self.variants.len() * self.loads.len() < 2 {
            return;
        }
        let compare = &self.compare;
        if compare.find == Find::Failures {
            let _ = writeln!(out, "comparison  none: reports which variants fail, and why");
            return;
        }
        let better = if compare.higher_is_better { "higher" } else { "lower" };
        let matters = match compare.by.scale() {
            Scale::Ratio => show_percent(compare.matters),
            Scale::Difference if compare.by.metric.kind == MetricKind::Count => {
                match compare.matters as u64 {
                    1 => "1 request".to_owned(),
                    requests => format!("{requests} requests"),
                }
            }
            Scale::Difference => show_duration(compare.matters as u64),
        };
        let by_difference = if compare.by.is_of_events() { ", by difference within blocks" } else { "" };
        let also: Vec<String> = compare.also.iter().map(ComparedBy::name).collect();
        let also =
            if also.is_empty() { String::new() } else { format!(", together with {}", also.join(", ")) };
        let against = match self.baseline() {
            Some(name) if compare.find == Find::Every => format!("; against {name}"),
            _ => String::new(),
        };
        let by = compare.by.name();
        let _ = writeln!(
            out,
            "comparison  by {by}, {better} is better; smallest relevant difference {matters}{by_difference}{also}{against}"
        );
    }
}
