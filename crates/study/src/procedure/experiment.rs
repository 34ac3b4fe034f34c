//! Experiment after a study that finds the limit of its fastest variant. Each run changes one parameter. A block has
//! short runs with two controls, in random order.

mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use evidence::{Changed, Intervention, IoLimits, Run, Study, StudyPlace, stage};
use judge::bottleneck::of_runs;
use judge::diagnosis::EXPERIMENT_BLOCKS;
use judge::instrumented::{INSTRUMENTED_BLOCKS, has_instruments};
use judge::intervention::{Chosen, KnownFacts, Readings, interventions_for};
use judge::ladder::{rungs_in_block, rungs_of};
use judge::{Bottleneck, ComparedBy, Metric, Setting};
use load::chance::Chance;
use plan::{Amount, Changeable, Experiment as Asked, Study as Plan};
use progress::VerdictSoFar;
use stats::median;

use super::study_results::StudyResults;
use super::{EndReason, StudyProcedure, Turn};
use crate::schedule::{ORDER_STREAM, place, shuffle};
use crate::study_error::StudyError;

/// Time to start and stop a system, in addition to its load. Assumed before the first run of an experiment.
const RESTART_TIME: Duration = Duration::from_millis(1_500);
/// Max gap between two runs of an experiment, in milliseconds. A longer one is an interruption.
const GAP_MAX_MS: i64 = 60_000;
/// Time between two runs without a restart of the system.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum number of interventions. More of them would share the error rate, and detect less.
const INTERVENTIONS_MAX: usize = 6;

/// The procedure of a study, followed by an experiment.
pub(crate) struct Experiment<'a> {
    plan: &'a Plan,
    asked: Asked,
    study: Box<dyn StudyProcedure + 'a>,
    results: StudyResults,
}

/// Subject of an experiment.
struct Subject {
    /// Number of the variant in the plan.
    variant: usize,
    load: usize,
    changeable: Changeable,
    bottleneck: Option<Bottleneck>,
    readings: Readings,
    /// Whether the runtimes of the system can be instrumented.
    has_instruments: bool,
}

impl<'a> Experiment<'a> {
    /// Adds an experiment to a procedure.
    pub(crate) fn after(study: Box<dyn StudyProcedure + 'a>, plan: &'a Plan, asked: Asked) -> Self {
        Self { plan, asked, study, results: StudyResults::of(ComparedBy::of(Metric::usual())) }
    }

    /// Selects the variant and the load with the highest throughput among those that can be changed. `None` if none of them has a
    /// run that counts.
    fn subject(&self, kept: &Study) -> Result<Option<Subject>, StudyError> {
        let mut best: Option<(f64, Subject, Vec<&Run>)> = None;
        for load in 0..self.plan.loads.len() {
            for variant in 0..self.plan.variants.len() {
                let Some(changeable) = self.plan.changeable(variant, load) else { continue };
                let setting = super::setting(self.plan, variant);
                let runs = runs_of(kept, &setting, &self.plan.loads[load].name);
                let mut figures = Vec::with_capacity(runs.len());
                for run in &runs {
                    figures.extend(self.results.said(run)?.value());
                }
                let Some(figure) = median(figures) else { continue };
                if best.as_ref().is_none_or(|(most, ..)| figure > *most) {
                    let subject = Subject {
                        variant,
                        load,
                        changeable,
                        bottleneck: None,
                        readings: Readings::default(),
                        has_instruments: false,
                    };
                    best = Some((figure, subject, runs));
                }
            }
        }
        let Some((_, subject, runs)) = best else { return Ok(None) };
        let (bottleneck, readings) = (of_runs(&runs)?, Readings::of(&runs)?);
        let has_instruments = has_instruments(&runs);
        Ok(Some(Subject { bottleneck, readings, has_instruments, ..subject }))
    }

    /// Plans the first block. Without runs, the messages give the reason.
    fn begin(&self, kept: &Study) -> Result<(Vec<StudyPlace>, Vec<String>), StudyError> {
        let Some(subject) = self.subject(kept)? else {
            return Ok((Vec::new(), vec![words::NO_SUBJECT.to_owned()]));
        };
        let Chosen { mut changes, mut rungs, mut left_out } = interventions_for(&subject.known(&self.asked));
        if changes.is_empty() {
            let news = std::iter::once(words::NOTHING_TO_CHANGE.to_owned())
                .chain(words::untested_messages(&left_out));
            return Ok((Vec::new(), news.collect()));
        }
        let too_many = changes.split_off(changes.len().min(INTERVENTIONS_MAX));
        let within = Duration::from_nanos(self.asked.within_ns) / EXPERIMENT_BLOCKS;
        let left = self.remove_unfit(&mut changes, subject.load, 1.0, within);
        let mut block = self.block_duration(&changes, subject.load);
        let of_rungs = self.rungs_duration(&rungs, subject.load);
        left_out.extend(words::left(&left));
        if block + of_rungs > within {
            left_out.extend(words::no_ladder_message(&rungs));
            rungs.clear();
        } else {
            block += of_rungs;
        }
        let of_instruments = self.instrumented_duration(&changes, subject.load);
        let is_instrumented = subject.has_instruments && block + of_instruments <= within;
        if is_instrumented {
            block += of_instruments;
        } else if subject.has_instruments {
            left_out.push(words::NO_INSTRUMENTS.to_owned());
        }
        let mut news = words::start_messages(self.plan, &subject, &changes, block);
        news.extend(words::ladder(&rungs));
        left_out.extend(words::too_many(&too_many));
        news.extend(words::untested_messages(&left_out));
        if changes.is_empty() {
            return Ok((Vec::new(), news));
        }
        let base = place(self.plan, subject.variant, subject.load, stage::INTERVENTION, 0);
        let mut extra = self.users(subject.load, &rungs, 0);
        extra.extend(instrumented(&changes, is_instrumented, 0));
        news.extend(is_instrumented.then(|| words::INSTRUMENTS.to_owned()));
        let mut places = self.block(&base, 0, &changes, &extra);
        for place in &mut places {
            if let Some(Intervention::Control { left_out: told }) = &mut place.intervention {
                told.clone_from(&left_out);
            }
        }
        Ok((places, news))
    }

    /// Removes and returns changes that do not fit into a block of length `within`. `longer` is the ratio of actual to
    /// planned durations. A cheap change may stay although an expensive earlier one is removed.
    fn remove_unfit(
        &self,
        changes: &mut Vec<Changed>,
        load: usize,
        longer: f64,
        within: Duration,
    ) -> Vec<Changed> {
        let mut left = Vec::new();
        for changed in std::mem::take(changes) {
            changes.push(changed);
            if self.block_duration(changes, load).as_secs_f64() * longer > within.as_secs_f64() {
                left.extend(changes.pop());
            }
        }
        left
    }

    /// Returns the expected duration of a block with these changes.
    fn block_duration(&self, changes: &[Changed], load: usize) -> Duration {
        let restarts: Vec<bool> = block_runs(changes).map(|of| of.needs_restart()).collect();
        let restarts = restarts.iter().filter(|restarts| **restarts).count() as u32;
        let live = block_runs(changes).count() as u32 - restarts;
        let plan = self.plan;
        let run = plan.experiment_run_ns(load);
        let warm_up = Duration::from_nanos(plan.loads[load].warm_up_ns);
        let again = if restarts > 0 { RESTART_TIME + warm_up } else { Duration::ZERO };
        self.live_run_duration(load) * live + (Duration::from_nanos(run) + RESTART_TIME) * restarts + again
    }

    fn live_run_duration(&self, load: usize) -> Duration {
        Duration::from_nanos(self.plan.experiment_live_run_ns(load)) + PAUSE
    }

    /// Returns the mean time per block of runs with other numbers of users.
    fn rungs_duration(&self, rungs: &[u32], load: usize) -> Duration {
        let runs: usize =
            (0..EXPERIMENT_BLOCKS).map(|block| rungs_in_block(rungs, block, EXPERIMENT_BLOCKS).count()).sum();
        self.live_run_duration(load) * runs as u32 / EXPERIMENT_BLOCKS
    }

    /// Returns the mean time per block of instrumented runs, including the control that they are compared with.
    fn instrumented_duration(&self, changes: &[Changed], load: usize) -> Duration {
        let runs = instrumented(changes, true, 0).len() as u32;
        let run = Duration::from_nanos(self.plan.experiment_run_ns(load)) + RESTART_TIME;
        run * runs * INSTRUMENTED_BLOCKS / EXPERIMENT_BLOCKS
    }

    /// Returns the interventions with other numbers of users in a block.
    fn users(&self, load: usize, rungs: &[u32], block: u32) -> Vec<Intervention> {
        let Some((from, _)) = self.plan.users_and_threads(load) else { return Vec::new() };
        let of_block = rungs_in_block(rungs, block, EXPERIMENT_BLOCKS);
        let one = |users| Intervention::Users { name: format!("users {from} → {users}"), from, users };
        of_block.map(one).collect()
    }

    /// Plans the runs of a block and `extra` ones, in random order. Runs with a restart are grouped at the beginning of
    /// odd blocks and at the end of even ones, which minimizes restarts and lets neither kind always come last.
    fn block(
        &self,
        base: &StudyPlace,
        block: u32,
        changes: &[Changed],
        extra: &[Intervention],
    ) -> Vec<StudyPlace> {
        let all = block_runs(changes).chain(extra.iter().cloned());
        let mut places: Vec<StudyPlace> =
            all.map(|of| StudyPlace { block, intervention: Some(of), ..base.clone() }).collect();
        shuffle(&mut places, &mut Chance::stream(self.plan.seed, ORDER_STREAM ^ (u64::from(block) << 40)));
        let needs_restart =
            |place: &StudyPlace| place.intervention.as_ref().is_some_and(Intervention::needs_restart);
        places.sort_by_key(|place| needs_restart(place) != (block % 2 == 1));
        places
    }

    /// Returns the other numbers of users of an experiment in progress. Empty if it has none.
    fn rungs_of_plan(&self, planned: &[&StudyPlace], load: usize) -> Vec<u32> {
        let has_rungs = planned.iter().any(|place| is_rung(place));
        let of_load = self.plan.users_and_threads(load).filter(|_| has_rungs);
        of_load.map_or_else(Vec::new, |(users, threads)| rungs_of(users, threads.unwrap_or(1)))
    }

    /// Plans the next block of an experiment in progress.
    fn next_block(&self, kept: &Study) -> (Vec<StudyPlace>, Vec<String>) {
        let planned: Vec<&StudyPlace> = of_experiment(kept).collect();
        let Some(base) = planned.first() else { return Default::default() };
        let last = planned.iter().map(|place| place.block).max().unwrap_or_default();
        let mut changes = planned_changes(planned.iter().filter(|place| place.block == last).copied());
        let blocks_left = EXPERIMENT_BLOCKS.saturating_sub(last.saturating_add(1));
        if blocks_left == 0 || changes.is_empty() {
            return Default::default();
        }
        let spent = experiment_duration(kept);
        let load = self.plan.loads.iter().position(|load| load.name == base.load).unwrap_or_default();
        let left = Duration::from_nanos(self.asked.within_ns).saturating_sub(spent);
        let planned_s: f64 = (0..=last)
            .map(|block| planned_changes(planned.iter().filter(|place| place.block == block).copied()))
            .map(|changes| self.block_duration(&changes, load).as_secs_f64())
            .sum();
        let of_rungs = planned.iter().filter(|place| is_rung(place)).count() as u32;
        let is_instrumented = planned.iter().any(|place| is_instrumented(place));
        let of_instruments =
            if is_instrumented { self.instrumented_duration(&changes, load) } else { Duration::ZERO };
        let planned_s = planned_s
            + (self.live_run_duration(load) * of_rungs).as_secs_f64()
            + (of_instruments * (last + 1)).as_secs_f64();
        let longer = spent.as_secs_f64() / planned_s.max(1e-3);
        let within = left / blocks_left;
        let dropped = self.remove_unfit(&mut changes, load, longer, within);
        let news = words::dropped(&dropped, last + 1);
        if changes.is_empty() {
            return (Vec::new(), news);
        }
        let mut rungs = self.rungs_of_plan(&planned, load);
        let takes = self.block_duration(&changes, load) + self.rungs_duration(&rungs, load) + of_instruments;
        if takes.as_secs_f64() * longer > within.as_secs_f64() {
            rungs.clear();
        }
        let base = StudyPlace { intervention: None, ..(*base).clone() };
        let mut extra = self.users(load, &rungs, last + 1);
        extra.extend(instrumented(&changes, is_instrumented, last + 1));
        (self.block(&base, last + 1, &changes, &extra), news)
    }
}

impl Experiment<'_> {
    /// Plans the next block of the experiment after the study ended with `why` and `news`.
    fn after_end(&self, kept: &Study, why: EndReason, mut news: Vec<String>) -> Result<Turn, StudyError> {
        let has_begun = of_experiment(kept).next().is_some();
        let (places, of_experiment) = match has_begun {
            true => {
                // The messages of the study were already published.
                news.clear();
                self.next_block(kept)
            }
            false => self.begin(kept)?,
        };
        news.extend(of_experiment);
        Ok(if places.is_empty() { Turn::Over { why, news } } else { Turn::Runs { places, news } })
    }
}

impl StudyProcedure for Experiment<'_> {
    fn next(&self, kept: &Study) -> Result<Turn, StudyError> {
        match self.study.next(kept)? {
            Turn::Over { why, news } if why.is_whole() => self.after_end(kept, why, news),
            Turn::Over { why, mut news } => {
                news.push(words::TOO_FEW_RUNS.to_owned());
                Ok(Turn::Over { why, news })
            }
            turn => Ok(turn),
        }
    }

    fn out_of_time(&self, kept: &Study) -> Result<Turn, StudyError> {
        self.after_end(kept, EndReason::Budget, Vec::new())
    }

    fn verdicts(&self, kept: &Study) -> Result<Vec<VerdictSoFar>, StudyError> {
        self.study.verdicts(kept)
    }

    fn max_later_runs(&self, kept: &Study) -> Option<usize> {
        let planned: Vec<&StudyPlace> = of_experiment(kept).collect();
        let last = planned.iter().map(|place| place.block).max()?;
        let is_of_all = |place: &StudyPlace| !is_rung(place) && !is_instrumented(place);
        let of_block = planned.iter().filter(|place| place.block == last && is_of_all(place)).count();
        let has_instruments = planned.iter().any(|place| is_instrumented(place));
        let load =
            planned.first().and_then(|base| self.plan.loads.iter().position(|of| of.name == base.load));
        let rungs = self.rungs_of_plan(&planned, load.unwrap_or_default());
        let of_rungs = |block| rungs_in_block(&rungs, block, EXPERIMENT_BLOCKS).count();
        let of_instruments = |block| usize::from(has_instruments && block < INSTRUMENTED_BLOCKS);
        let later = last.saturating_add(1)..EXPERIMENT_BLOCKS;
        let later: usize = later.map(|block| of_block + of_rungs(block) + of_instruments(block)).sum();
        Some(self.study.max_later_runs(kept)? + later)
    }

    fn amount(&self, kept: &Study, place: &StudyPlace) -> Result<Option<Amount>, StudyError> {
        if place.intervention.is_some() { Ok(None) } else { self.study.amount(kept, place) }
    }

    fn needs_every_run(&self, kept: &Study) -> bool {
        // A block of an experiment with a missing run lacks only one intervention: the others count.
        of_experiment(kept).next().is_none() && self.study.needs_every_run(kept)
    }
}

impl Subject {
    fn known(&self, asked: &Asked) -> KnownFacts {
        let Changeable { users, threads, quota_millicores, io, system_cores, generator_cores, .. } =
            &self.changeable;
        // Readings are too sparse in a load shorter than a second, so the number of cores may be unknown.
        let machine = self.readings.cores.max(asked.cores.len());
        let is_pinned = self.changeable.is_pinned_automatically;
        let others = usize::from(is_pinned && machine > 1);
        let generator_choice =
            if is_pinned || generator_cores.is_some() { Vec::new() } else { asked.cores.clone() };
        KnownFacts {
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

/// Returns the places of the experiment of a study.
fn of_experiment(kept: &Study) -> impl Iterator<Item = &StudyPlace> {
    kept.new.planned.iter().filter(|place| place.intervention.is_some())
}

/// Returns the runs of a variant under a load that are not part of an experiment.
fn runs_of<'a>(kept: &'a Study, setting: &Setting, load: &str) -> Vec<&'a Run> {
    let is_of = |run: &&Run| {
        let place = run.new.place.as_ref().map(|(_, place)| place);
        place.is_some_and(|place| place.load == load && setting.is_of(place) && place.intervention.is_none())
    };
    kept.runs.iter().filter(is_of).collect()
}

/// Returns whether the place only changes the number of users, which tests no hypothesis.
fn is_rung(place: &StudyPlace) -> bool {
    matches!(place.intervention, Some(Intervention::Users { .. }))
}

fn is_instrumented(place: &StudyPlace) -> bool {
    place.intervention == Some(Intervention::Instrumented)
}

/// Returns the instrumented run of a block, and the control for the comparison if no change needs one. Empty in later
/// blocks.
fn instrumented(changes: &[Changed], is_instrumented: bool, block: u32) -> Vec<Intervention> {
    if !is_instrumented || block >= INSTRUMENTED_BLOCKS {
        return Vec::new();
    }
    let has_control = changes.iter().any(|changed| changed.change.needs_restart());
    let control = (!has_control).then_some(Intervention::ControlRestarted);
    control.into_iter().chain([Intervention::Instrumented]).collect()
}

/// Returns the changes of places, in the order in which they were selected.
fn planned_changes<'a>(places: impl Iterator<Item = &'a StudyPlace>) -> Vec<Changed> {
    let mut changes: BTreeMap<u32, Changed> = BTreeMap::new();
    for place in places {
        if let Some(Intervention::Changed(changed)) = &place.intervention {
            changes.insert(changed.rank, changed.clone());
        }
    }
    changes.into_values().collect()
}

/// Returns the runs of a block: two controls, a restarted control if a change needs a restart, and one run with each
/// change.
fn block_runs(changes: &[Changed]) -> impl Iterator<Item = Intervention> {
    let restarts = changes.iter().any(|changed| changed.change.needs_restart());
    let controls = [Intervention::CONTROL, Intervention::ControlAgain];
    let controls = controls.into_iter().chain(restarts.then_some(Intervention::ControlRestarted));
    controls.chain(changes.iter().cloned().map(Intervention::Changed))
}

/// Returns the time that the experiment took so far, including gaps between runs, but not interruptions.
fn experiment_duration(kept: &Study) -> Duration {
    let is_of = |run: &&Run| run.new.place.as_ref().is_some_and(|(_, place)| place.intervention.is_some());
    let ended = |run: &Run| Some((run.new.started_at_unix_ms, run.ending.as_ref()?.ended_at_unix_ms));
    let mut times: Vec<(i64, i64)> = kept.runs.iter().filter(is_of).filter_map(ended).collect();
    times.sort_unstable();
    let (mut spent_ms, mut before) = (0i64, None);
    for (started, ended) in times {
        let from = before.filter(|before| started.saturating_sub(*before) <= GAP_MAX_MS).unwrap_or(started);
        spent_ms += ended.saturating_sub(from).max(0);
        before = Some(ended);
    }
    Duration::from_millis(u64::try_from(spent_ms).unwrap_or_default())
}

#[cfg(test)]
mod tests;
