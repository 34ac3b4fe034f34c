//! An experiment after a study: what limits its fastest variant. One thing is changed at a time, in blocks of short runs with a
//! control and a control of the control, in an order of chance.

mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use judge::bottleneck::of_runs;
use judge::diagnosis::EXPERIMENT_BLOCKS;
use judge::intervention::{Chosen, Known, Readings, interventions_for};
use judge::{Bottleneck, ComparedBy, Metric, Setting};
use load::chance::Chance;
use plan::{Amount, Changeable, Experiment as Asked, Study as Plan};
use stats::median;
use store::{Changed, Intervention, IoLimits, Run, Study, StudyPlace, stage};

use super::heard::Heard;
use super::{StudyProcedure, Turn};
use crate::schedule::{ORDER_STREAM, place, shuffle};
use crate::study_error::StudyError;

/// What starting and stopping a system takes in addition to its load, before any run of an experiment has shown it.
const BEYOND: Duration = Duration::from_millis(1_500);
/// More interventions share the error rate, and find less.
const INTERVENTIONS_MAX: usize = 6;

/// The procedure of the study, and then an experiment.
pub(crate) struct Experiment<'a> {
    plan: &'a Plan,
    asked: Asked,
    study: Box<dyn StudyProcedure + 'a>,
    heard: Heard,
}

/// What is experimented on.
struct Subject {
    /// Numbers in the plan.
    variant: usize,
    load: usize,
    changeable: Changeable,
    bottleneck: Option<Bottleneck>,
    readings: Readings,
}

impl<'a> Experiment<'a> {
    /// After a procedure.
    pub(crate) fn after(study: Box<dyn StudyProcedure + 'a>, plan: &'a Plan, asked: Asked) -> Self {
        Self { plan, asked, study, heard: Heard::of(ComparedBy::of(Metric::usual())) }
    }

    /// The variant and the load with the highest throughput of those that can be changed; `None` if no run of them counts.
    fn subject(&self, kept: &Study) -> Result<Option<Subject>, StudyError> {
        let mut best: Option<(f64, Subject, Vec<&Run>)> = None;
        for load in 0..self.plan.loads.len() {
            for variant in 0..self.plan.variants.len() {
                let Some(changeable) = self.plan.changeable(variant, load) else { continue };
                let setting = super::setting(self.plan, variant);
                let runs = runs_of(kept, &setting, &self.plan.loads[load].name);
                let mut figures = Vec::with_capacity(runs.len());
                for run in &runs {
                    figures.extend(self.heard.said(run)?.value());
                }
                let Some(figure) = median(figures) else { continue };
                if best.as_ref().is_none_or(|(most, ..)| figure > *most) {
                    let subject = Subject {
                        variant,
                        load,
                        changeable,
                        bottleneck: None,
                        readings: Readings::default(),
                    };
                    best = Some((figure, subject, runs));
                }
            }
        }
        let Some((_, subject, runs)) = best else { return Ok(None) };
        let (bottleneck, readings) = (of_runs(&runs)?, Readings::of(&runs)?);
        Ok(Some(Subject { bottleneck, readings, ..subject }))
    }

    /// The first block, or why there is none.
    fn begin(&self, kept: &Study) -> Result<(Vec<StudyPlace>, Vec<String>), StudyError> {
        let Some(subject) = self.subject(kept)? else {
            return Ok((Vec::new(), vec![words::NO_SUBJECT.to_owned()]));
        };
        let Chosen { mut changes, mut left_out } = interventions_for(&subject.known(&self.asked));
        if changes.is_empty() {
            let news =
                std::iter::once(words::NOTHING_TO_CHANGE.to_owned()).chain(words::not_changed(&left_out));
            return Ok((Vec::new(), news.collect()));
        }
        let too_many = changes.split_off(changes.len().min(INTERVENTIONS_MAX));
        let each = Duration::from_nanos(self.plan.experiment_run_ns(subject.load)) + BEYOND;
        let affordable = self.affordable(changes.len(), EXPERIMENT_BLOCKS, each, Duration::ZERO);
        let left = changes.split_off(affordable);
        let mut news = words::begins(self.plan, &subject, &changes, each);
        left_out.extend(words::left(&left));
        left_out.extend(words::too_many(&too_many));
        news.extend(words::not_changed(&left_out));
        if changes.is_empty() {
            return Ok((Vec::new(), news));
        }
        let base = place(self.plan, subject.variant, subject.load, stage::INTERVENTION, 0);
        let mut places = self.block(&base, 0, &changes);
        for place in &mut places {
            if let Some(Intervention::Control { left_out: told }) = &mut place.intervention {
                told.clone_from(&left_out);
            }
        }
        Ok((places, news))
    }

    /// How many of so many interventions, at least none, so many blocks can have in the time that is left.
    fn affordable(&self, wanted: usize, blocks: u32, each: Duration, spent: Duration) -> usize {
        let left = Duration::from_nanos(self.asked.within_ns).saturating_sub(spent);
        let of_block = left / blocks.max(1);
        let runs = (of_block.as_secs_f64() / each.as_secs_f64().max(1e-3)) as usize;
        runs.saturating_sub(2).min(wanted)
    }

    /// A control, another, and a run with each change, in an order of chance.
    fn block(&self, base: &StudyPlace, block: u32, changes: &[Changed]) -> Vec<StudyPlace> {
        let controls = [Intervention::CONTROL, Intervention::ControlAgain];
        let all = controls.into_iter().chain(changes.iter().cloned().map(Intervention::Changed));
        let mut places: Vec<StudyPlace> =
            all.map(|of| StudyPlace { block, intervention: Some(of), ..base.clone() }).collect();
        shuffle(&mut places, &mut Chance::stream(self.plan.seed, ORDER_STREAM ^ (u64::from(block) << 40)));
        places
    }

    /// What follows so far, of an experiment that has begun.
    fn go_on(&self, kept: &Study) -> (Vec<StudyPlace>, Vec<String>) {
        let planned: Vec<&StudyPlace> = of_experiment(kept).collect();
        let Some(base) = planned.first() else { return Default::default() };
        let last = planned.iter().map(|place| place.block).max().unwrap_or_default();
        let mut changes = changes_of(planned.iter().filter(|place| place.block == last).copied());
        let blocks_left = EXPERIMENT_BLOCKS.saturating_sub(last.saturating_add(1));
        if blocks_left == 0 || changes.is_empty() {
            return Default::default();
        }
        let (spent, runs) = time_of(kept);
        let each = spent.checked_div(runs).unwrap_or(BEYOND);
        let dropped = changes.split_off(self.affordable(changes.len(), blocks_left, each, spent));
        let news = words::dropped(&dropped, last + 1);
        if changes.is_empty() {
            return (Vec::new(), news);
        }
        let base = StudyPlace { intervention: None, ..(*base).clone() };
        (self.block(&base, last + 1, &changes), news)
    }
}

impl StudyProcedure for Experiment<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        let has_begun = of_experiment(kept).next().is_some();
        let (why, mut news) = match self.study.next(kept)? {
            Turn::Over { why, news } if why.is_whole() => (why, news),
            turn => return Ok(turn),
        };
        let (places, of_experiment) = match has_begun {
            true => {
                // It was told before.
                news.clear();
                self.go_on(kept)
            }
            false => self.begin(kept)?,
        };
        news.extend(of_experiment);
        Ok(if places.is_empty() { Turn::Over { why, news } } else { Turn::Runs { places, news } })
    }

    fn later_at_most(&self, kept: &Study) -> Option<usize> {
        let planned: Vec<&StudyPlace> = of_experiment(kept).collect();
        let last = planned.iter().map(|place| place.block).max()?;
        let of_block = planned.iter().filter(|place| place.block == last).count();
        let later = of_block * EXPERIMENT_BLOCKS.saturating_sub(last.saturating_add(1)) as usize;
        Some(self.study.later_at_most(kept)? + later)
    }

    fn amount(&self, kept: &Study, place: &StudyPlace) -> Result<Option<Amount>, StudyError> {
        if place.intervention.is_some() { Ok(None) } else { self.study.amount(kept, place) }
    }

    fn needs_every_run(&self, kept: &Study) -> bool {
        // A block of an experiment without a run says nothing of one intervention, and something of the others.
        of_experiment(kept).next().is_none() && self.study.needs_every_run(kept)
    }
}

impl Subject {
    fn known(&self, asked: &Asked) -> Known {
        let Changeable { users, threads, quota_millicores, io, system_cores, generator_cores, .. } =
            &self.changeable;
        // A load of less than a second is read too rarely.
        let machine = self.readings.cores.max(asked.cores.len());
        let is_pinned = self.changeable.is_pinned_automatically;
        let others = usize::from(is_pinned && machine > 1);
        let generator_choice =
            if is_pinned || generator_cores.is_some() { Vec::new() } else { asked.cores.clone() };
        Known {
            users: *users,
            threads: *threads,
            system_cores: system_cores.unwrap_or(machine - others),
            generator_cores: generator_cores.unwrap_or(if others > 0 { 1 } else { machine }),
            generator_choice,
            can_limit_cpu: asked.can_limit_cpu,
            can_limit_io: asked.can_limit_io,
            quota_millicores: *quota_millicores,
            io: IoLimits {
                read_bytes_per_s: io.read_bytes_per_s,
                write_bytes_per_s: io.write_bytes_per_s,
                reads_per_s: io.reads_per_s,
                writes_per_s: io.writes_per_s,
            },
            parameters: self.changeable.parameters.clone(),
            proxies: self.changeable.proxies.clone(),
            suspected: self.bottleneck.as_ref().map(|bottleneck| bottleneck.resource),
            read: self.readings.clone(),
        }
    }
}

/// The places of the experiment of a study.
fn of_experiment(kept: &Study) -> impl Iterator<Item = &StudyPlace> {
    kept.new.planned.iter().filter(|place| place.intervention.is_some())
}

/// The runs of a variant under a load that are no part of an experiment.
fn runs_of<'a>(kept: &'a Study, setting: &Setting, load: &str) -> Vec<&'a Run> {
    let is_of = |run: &&Run| {
        let place = run.new.place.as_ref().map(|(_, place)| place);
        place.is_some_and(|place| place.load == load && setting.is_of(place) && place.intervention.is_none())
    };
    kept.runs.iter().filter(is_of).collect()
}

/// The changes of places, in the order in which they were chosen.
fn changes_of<'a>(places: impl Iterator<Item = &'a StudyPlace>) -> Vec<Changed> {
    let mut changes: BTreeMap<u32, Changed> = BTreeMap::new();
    for place in places {
        if let Some(Intervention::Changed(changed)) = &place.intervention {
            changes.insert(changed.rank, changed.clone());
        }
    }
    changes.into_values().collect()
}

/// How long the runs of the experiment took so far, with what is between them, and how many there are. The time of an interruption
/// is that of nobody.
fn time_of(kept: &Study) -> (Duration, u32) {
    let is_of = |run: &&Run| run.new.place.as_ref().is_some_and(|(_, place)| place.intervention.is_some());
    let (mut spent_ms, mut runs) = (0i64, 0u32);
    for run in kept.runs.iter().filter(is_of) {
        let Some(ending) = &run.ending else { continue };
        spent_ms += ending.ended_at_unix_ms.saturating_sub(run.new.started_at_unix_ms).max(0);
        runs += 1;
    }
    let started = Duration::from_millis(u64::try_from(spent_ms).unwrap_or_default());
    (started.saturating_add(BEYOND.saturating_mul(runs) / 3), runs)
}

#[cfg(test)]
mod tests;
