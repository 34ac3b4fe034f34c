//! Judges an experiment on a likely bottleneck: interventions in blocks, each compared with a control, plus a second control.

use std::collections::BTreeMap;

use evidence::{Change, Changed, Ending, EvidenceError, Intervention, Run, Study, StudyPlace};
use stats::{BlockEffect, Bounded, Effect, Finding, MinEffect, Paired, RunResult, Scale};

use crate::bottleneck::{Bottleneck, Certainty, Scope, causes_of_runs, suspected};
use crate::causes::Resource;
use crate::compared_by::ComparedBy;
use crate::instrumented::RuntimeReport;
use crate::ladder::Ladder;
use crate::metric::Metric;
use crate::rung::Rung;
use crate::setting::Setting;
use crate::versus::said;

mod conclusion;

pub use conclusion::{Conclusion, Outcome};

/// Number of blocks of an experiment. The chance that all eight have a given sign is 1 in 256.
pub const EXPERIMENT_BLOCKS: u32 = 8;

/// Result of an experiment on one configuration under one load.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// Name of the load.
    pub load: String,
    /// System and variant.
    pub setting: Setting,
    /// Ratio second control ÷ first control, which shows the noise. `None` without a block that has both.
    pub controls: Option<BlockEffect>,
    /// Ratio second control ÷ first control, in each block that has both.
    pub of_controls: Vec<f64>,
    /// Standard deviation of the log ratios of the controls; `None` with too few blocks.
    pub spread: Option<f64>,
    /// Interventions, in the order in which they were chosen.
    pub tried: Vec<TriedIntervention>,
    /// Throughput by number of users, if other numbers of users were tried.
    pub ladder: Option<Ladder>,
    /// Likely bottleneck once a confirmed limit is raised.
    pub next_limit: Option<NextLimit>,
    /// Changes that were not tried, each with the reason.
    pub left_out: Vec<String>,
    /// Reports of the system's runtimes; `None` without an instrumented run.
    pub runtimes: Option<RuntimeReport>,
}

/// An intervention and its effect.
#[derive(Clone, Debug)]
pub struct TriedIntervention {
    /// Change and prediction.
    pub changed: Changed,
    /// Effect on throughput.
    pub effect: Effect,
    /// Throughput ÷ throughput of the control, in each block that has both.
    pub ratios: Vec<f64>,
    /// Number of blocks in which the intervention was planned: fewer than the control if time ran out.
    pub planned: usize,
}

/// Likely bottleneck of a changed system.
#[derive(Clone, Debug)]
pub struct NextLimit {
    /// Name of the change.
    pub with: String,
    /// Causes of the runs with the change, most likely first; at least one.
    pub causes: Vec<Bottleneck>,
}

/// Returns whether a run is part of its study's figures. Runs of an experiment are not.
pub fn counts_in_study(run: &Run) -> bool {
    run.new.place.as_ref().is_none_or(|(_, place)| place.intervention.is_none())
}

impl Diagnosis {
    /// Judges the experiment of a study. `None` if the study has none, or has not finished it: an early look would find
    /// effects that do not exist.
    pub fn of(study: &Study) -> Result<Option<Self>, EvidenceError> {
        let planned: Vec<&StudyPlace> =
            study.new.planned.iter().filter(|place| place.intervention.is_some()).collect();
        let Some(first) = planned.first() else { return Ok(None) };
        let runs = finished_runs(study);
        let is_missing = |place: &&&StudyPlace| !runs.contains_key(&place.position);
        if study.ending.is_none() && planned.iter().any(|place| is_missing(&place)) {
            return Ok(None);
        }
        let blocks = Blocks::of(&planned, &runs)?;
        let controls = blocks.pairs(&Intervention::ControlAgain);
        let changes = blocks.changes();
        let spread = stats::spread_of_controls(&controls);
        // A freshly started system is compared with another freshly started one, unless an earlier version of Tenbin
        // planned no such control.
        let restarted = blocks.pairs(&Intervention::ControlRestarted);
        let of_restarted =
            [stats::spread_around_median(&restarted), spread].into_iter().flatten().reduce(f64::max);
        let is_control = |place: &&StudyPlace| place.intervention == Some(Intervention::ControlRestarted);
        let has_restarted = planned.iter().any(is_control);
        let is_restarted = |changed: &Changed| changed.change.needs_restart() && has_restarted;
        let pairs = |changed: &&Changed| {
            let control =
                if is_restarted(changed) { &Intervention::ControlRestarted } else { &Intervention::CONTROL };
            blocks.pairs_to(&Intervention::Changed((*changed).clone()), control)
        };
        let pairs: Vec<Vec<(f64, f64)>> = changes.iter().map(pairs).collect();
        let all = changes.iter().zip(&pairs);
        let all: Vec<stats::Intervention<'_>> = all
            .map(|(changed, pairs)| stats::Intervention {
                pairs,
                factor: changed.factor,
                limit_from: changed.limit_from,
                spread: if is_restarted(changed) { of_restarted } else { spread },
            })
            .collect();
        let effects = stats::interventions(&all, min_effect(study));
        let effects = changes.iter().zip(effects).zip(&pairs);
        let tried: Vec<TriedIntervention> = effects
            .map(|((changed, effect), pairs)| TriedIntervention {
                changed: (*changed).clone(),
                effect,
                ratios: ratios(pairs),
                planned: planned_blocks(&planned, changed),
            })
            .collect();
        let next_limit = next_limit(&tried, &planned, &runs)?;
        let exact: Vec<(Bounded, Bounded)> =
            controls.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        let paired = Paired {
            pairs: &exact,
            attainable: controls.len(),
            discards: Default::default(),
            extensions: 0,
            matters: MinEffect::share(min_effect(study)),
        };
        Ok(Some(Self {
            load: first.load.clone(),
            setting: Setting::of(first),
            controls: BlockEffect::of(&paired, 1),
            of_controls: ratios(&controls),
            spread,
            tried,
            ladder: Ladder::of(blocks.by_block.values(), study.new.seed),
            next_limit,
            left_out: planned.iter().find_map(|place| left_out(place)).unwrap_or_default(),
            runtimes: RuntimeReport::of(study)?,
        }))
    }

    /// Returns the interventions with a confirmed effect that no other intervention on the same resource contradicts.
    pub fn confirmed(&self) -> impl Iterator<Item = &TriedIntervention> {
        self.tried
            .iter()
            .filter(|tried| tried.effect.finding == Finding::Confirmed && !self.is_contested(tried))
    }

    /// Returns a sentence on whether more users get more throughput, by its elasticity, and the number of users from
    /// which on they do not. `None` if twice as many users were not tried, or the result is undecided.
    pub fn scaling(&self) -> Option<String> {
        let is_of_users = |tried: &&TriedIntervention| matches!(tried.changed.change, Change::Users { .. });
        let mut of_users = self.tried.iter().filter(is_of_users);
        let up = of_users.clone().find(|tried| tried.changed.factor > 1.0)?;
        let at = self.ladder.as_ref().and_then(|ladder| ladder.saturated_at.as_ref());
        let at = |word: &str| at.map_or_else(String::new, |at| format!("{word}{}", at.words()));
        let words = match up.effect.finding {
            Finding::Confirmed => {
                format!("latency-bound: each user waits, and more users get more{}", at(", up to "))
            }
            Finding::Contributing => {
                format!("partly saturated{}: more users get a little more", at(" at "))
            }
            Finding::Refuted => format!("saturated{}: more users do not get as much more", at(" at ")),
            Finding::Undecided(_) => return None,
        };
        let down = of_users.find(|tried| tried.changed.factor < 1.0);
        let down = down.map_or_else(String::new, |tried| format!(", {}", tried.words()));
        Some(format!("{words} ({}{down})", up.words()))
    }

    /// Sorts the suggested causes by the experiment's result: confirmed ones first, refuted ones last. Adds causes that
    /// the experiment confirms and no reading suggests.
    pub fn judged(&self, causes: Vec<Bottleneck>) -> Vec<Bottleneck> {
        if causes.is_empty() {
            return causes;
        }
        let (mut confirmed, mut open, mut refuted) = (Vec::new(), Vec::new(), Vec::new());
        for cause in self.with_dumped_lock(causes) {
            let confirming = self.found(cause.resource, Finding::Confirmed);
            let refuting = self.refutes(cause.resource);
            if let (Some(confirming), Some(refuting)) = (confirming, refuting) {
                open.push(contested(cause, confirming, refuting));
            } else if let Some(tried) = confirming {
                confirmed.push(tried.confirm(cause));
            } else if let Some(tried) = self.found(cause.resource, Finding::Contributing) {
                let words = format!("an experiment shows that it contributes: {}", tried.words());
                open.push(Bottleneck { for_: [cause.for_, vec![words]].concat(), ..cause });
            } else if let Some(tried) = refuting {
                let words = format!("an experiment refutes it: {}", tried.words());
                let against = [vec![words], cause.against].concat();
                refuted.push(Bottleneck { certainty: Certainty::Refuted, share: None, against, ..cause });
            } else {
                open.push(cause);
            }
        }
        for tried in self.confirmed() {
            if !confirmed.iter().any(|known| tried.is_covered_by(known)) {
                // A parameter without an effect does not refute other parameters.
                let is_refuted = |cause: &Bottleneck| {
                    cause.resource != Resource::PARAMETER && self.refutes(cause.resource).is_some()
                };
                confirmed.extend(tried.cause().filter(|cause| !is_refuted(cause)));
            }
        }
        // A confirmed cause replaces an unknown bottleneck.
        open.retain(|cause| confirmed.is_empty() || cause.certainty != Certainty::Unknown);
        if !confirmed.is_empty() {
            self.add_next_limit(&confirmed, &mut open);
        }
        if confirmed.is_empty() && open.is_empty() {
            open.extend(refuted.first().map(unknown_after_refutation));
        }
        [confirmed, open, refuted].concat()
    }

    /// Moves the likely bottleneck of the runs with a confirmed change to the front of the causes that are not decided. The
    /// runs without the change did not have to show it.
    fn add_next_limit(&self, confirmed: &[Bottleneck], open: &mut Vec<Bottleneck>) {
        let Some(NextLimit { with, causes }) = &self.next_limit else { return };
        let Some(next) = causes.first().filter(|cause| cause.certainty == Certainty::Suspected) else {
            return;
        };
        // A limit that was raised and is met again is no second one.
        let is_known = |known: &Bottleneck| known.resource == next.resource;
        if confirmed.iter().any(is_known) || self.refutes(next.resource).is_some() {
            return;
        }
        let because = format!("with {with}, {}", next.because);
        let known = open.iter().position(is_known).map(|at| open.remove(at));
        let for_ = [vec![because.clone()], known.map_or_else(Vec::new, |known| known.for_)].concat();
        open.insert(0, Bottleneck { because, for_, share: None, ..next.clone() });
    }

    /// Adds the lock found in thread dumps of instrumented runs. The runtime itself reports it, so it ranks before
    /// kernel readings.
    fn with_dumped_lock(&self, mut causes: Vec<Bottleneck>) -> Vec<Bottleneck> {
        let Some(dumped) = self.runtimes.as_ref().and_then(|runtimes| runtimes.dumped.clone()) else {
            return causes;
        };
        if let Some(known) = causes.iter_mut().find(|cause| cause.resource == dumped.resource) {
            known.for_.push(dumped.because);
            return causes;
        }
        causes.retain(|cause| cause.certainty != Certainty::Unknown);
        let at = usize::from(causes.first().is_some_and(|first| first.rung == Rung::Runtime));
        causes.insert(at, dumped);
        causes
    }

    /// Returns the first intervention with the given finding that tests a resource.
    fn found(&self, resource: Resource, finding: Finding) -> Option<&TriedIntervention> {
        self.tried.iter().find(|tried| tried.effect.finding == finding && tried.tests(resource))
    }

    /// Returns the intervention that refutes a resource as the limit: it tests the resource and has no effect.
    fn refutes(&self, resource: Resource) -> Option<&TriedIntervention> {
        self.tried.iter().find(|tried| {
            tried.changed.can_refute && tried.effect.finding == Finding::Refuted && tried.tests(resource)
        })
    }
}

/// Creates a cause on which two experiments disagree. It stays suspected, with both results.
fn contested(cause: Bottleneck, confirming: &TriedIntervention, refuting: &TriedIntervention) -> Bottleneck {
    let for_ = [vec![format!("an experiment speaks for it: {}", confirming.words())], cause.for_].concat();
    let against = [vec![format!("another one refutes it: {}", refuting.words())], cause.against].concat();
    Bottleneck { for_, against, ..cause }
}

/// Returns the changes that were not tried, as recorded with the control of the first block.
fn left_out(place: &StudyPlace) -> Option<Vec<String>> {
    match &place.intervention {
        Some(Intervention::Control { left_out }) if !left_out.is_empty() => Some(left_out.clone()),
        _ => None,
    }
}

/// Creates an unknown bottleneck, if the experiment refutes all causes that readings suggest.
fn unknown_after_refutation(refuted: &Bottleneck) -> Bottleneck {
    let because = format!("readings suggested {} alone, and an experiment refutes it", refuted.what);
    let next = "name parameters of the system under `limits`, so that an experiment can raise them";
    let cause = suspected(Resource::UNKNOWN, Scope::System, because).next(next);
    Bottleneck { certainty: Certainty::Unknown, ..cause }
}

/// Returns the name of a limit that an experiment confirmed. A load that is too low is a limit, too.
fn confirmed_words(resource: Resource) -> &'static str {
    if resource == Resource::LOAD { "the load: more users get more" } else { resource.words }
}

impl TriedIntervention {
    fn tests(&self, resource: Resource) -> bool {
        self.changed.tests.iter().any(|code| code == resource.code)
    }

    /// Returns whether a confirmed cause already covers this result. Two parameters are separate causes.
    fn is_covered_by(&self, known: &Bottleneck) -> bool {
        let is_parameter = self.tests(Resource::PARAMETER);
        known.for_.first() == Some(&self.words()) || !is_parameter && self.tests(known.resource)
    }

    /// Confirms a cause that readings suggest. The change is the proof; readings remain further evidence.
    fn confirm(&self, cause: Bottleneck) -> Bottleneck {
        let because = format!("in an experiment, {}", self.words());
        let for_ = [vec![self.words()], cause.for_].concat();
        let what = confirmed_words(cause.resource);
        let next =
            self.costs().map_or_else(|| cause.next.clone(), |costs| format!("{costs}; {}", cause.next));
        Bottleneck { certainty: Certainty::Confirmed, what, because, for_, next, ..cause }
    }

    /// Returns the cause that the intervention confirms if readings suggest another one; `None` if it tests no
    /// resource.
    fn cause(&self) -> Option<Bottleneck> {
        // A delay slows every system that waits for the peer, so it does not show what the system normally waits for.
        // An I/O limit below the system's use always slows it, too.
        let slows_any = matches!(self.changed.change, Change::Delay { .. }) || self.tests(Resource::DISK);
        if slows_any {
            return None;
        }
        let resource = Resource::named(self.changed.tests.first()?)?;
        let (scope, next) = match &self.changed.change {
            Change::Users { .. } => (Scope::Load, "use more users".to_owned()),
            Change::Threads { .. } => (Scope::Generator, "use more threads".to_owned()),
            Change::GeneratorCores { .. } => (
                Scope::Generator,
                "keep system and generator on different cores: `pin: auto`, or another machine".to_owned(),
            ),
            Change::Io { .. } => (Scope::ControlGroup, String::new()),
            Change::Cpu { .. } | Change::Delay { .. } => (Scope::System, String::new()),
            Change::Parameter { name, value } => {
                let is_number = value.parse::<f64>().is_ok();
                let next = if let Some(costs) = self.costs() {
                    format!("{costs}; {}", Resource::DATABASE_LOG.next)
                } else if is_number {
                    format!("set `{name}` to {value} or more")
                } else {
                    format!("see what `{name}` costs: {value} gets more, and may promise less")
                };
                (Scope::Parameter(name.clone()), next)
            }
        };
        let because = format!("in an experiment, {}", self.words());
        let cause = suspected(resource, scope, because).on(Rung::Experiment);
        let next = if next.is_empty() { cause.next.clone() } else { next };
        let what = confirmed_words(resource);
        Some(Bottleneck { certainty: Certainty::Confirmed, what, next, ..cause })
    }

    /// Warns about a change that only shows the cost of durability; `None` for other changes.
    fn costs(&self) -> Option<String> {
        let loses = self.changed.loses.as_ref()?;
        let Change::Parameter { name, value } = &self.changed.change else { return None };
        Some(format!("do not keep `{name}: {value}`, which only shows what the wait costs: {loses}"))
    }

    /// Describes change and effect.
    pub fn words(&self) -> String {
        let ratio = self.effect.ratio.map_or_else(|| "n/a".to_owned(), |ratio| format!("×{ratio:.2}"));
        let within =
            self.effect.interval.map_or_else(String::new, |[low, high]| format!(" ({low:.2}–{high:.2})"));
        format!("{}: throughput {ratio}{within}", self.changed.name)
    }
}

/// Returns the ratios of changed to control, without zero and infinite ones.
fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    let ratios = pairs.iter().map(|(changed, control)| changed / control);
    ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect()
}

/// Returns the smallest relevant change of throughput, as a share. A study that compares costs of events does not
/// define it.
fn min_effect(study: &Study) -> f64 {
    let compare = &study.new.compare;
    let is_share = ComparedBy::named(&compare.by).is_some_and(|by| by.scale() == Scale::Ratio);
    if is_share { compare.matters } else { ComparedBy::SHARE }
}

/// Returns the number of blocks in which a change was planned.
fn planned_blocks(planned: &[&StudyPlace], changed: &Changed) -> usize {
    let is_it = |place: &&&StudyPlace| matches!(&place.intervention, Some(Intervention::Changed(of)) if of == changed);
    planned.iter().filter(is_it).count()
}

/// Returns the finished runs of a study, by position.
fn finished_runs(study: &Study) -> BTreeMap<u32, &Run> {
    let is_done = |run: &&Run| run.ending.as_ref().is_some_and(Ending::is_done);
    let position = |run: &'_ Run| run.new.place.as_ref().map(|(_, place)| place.position);
    study.runs.iter().filter(is_done).filter_map(|run| Some((position(run)?, run))).collect()
}

/// Throughput of the runs of each block, by intervention.
struct Blocks {
    by_block: BTreeMap<u32, Vec<(Intervention, Option<f64>)>>,
}

impl Blocks {
    fn of(planned: &[&StudyPlace], runs: &BTreeMap<u32, &Run>) -> Result<Self, EvidenceError> {
        let throughput = ComparedBy::of(Metric::usual());
        let mut by_block: BTreeMap<u32, Vec<(Intervention, Option<f64>)>> = BTreeMap::new();
        for place in planned {
            let Some(intervention) = &place.intervention else { continue };
            let seen =
                runs.get(&place.position).map_or(Ok(RunResult::Missing), |run| said(run, &throughput))?;
            by_block.entry(place.block).or_default().push((intervention.clone(), seen.value()));
        }
        Ok(Self { by_block })
    }

    /// Returns the throughput of an intervention and of the control, in the blocks that have both.
    fn pairs(&self, wanted: &Intervention) -> Vec<(f64, f64)> {
        self.pairs_to(wanted, &Intervention::CONTROL)
    }

    fn pairs_to(&self, wanted: &Intervention, control: &Intervention) -> Vec<(f64, f64)> {
        let of = |runs: &[(Intervention, Option<f64>)], wanted: &Intervention| {
            runs.iter().find(|(of, _)| of.is_like(wanted)).and_then(|(_, figure)| *figure)
        };
        let pair = |runs: &Vec<(Intervention, Option<f64>)>| Some((of(runs, wanted)?, of(runs, control)?));
        self.by_block.values().filter_map(pair).collect()
    }

    /// Returns all changes, in the order in which they were chosen.
    fn changes(&self) -> Vec<&Changed> {
        let mut all: Vec<&Changed> = Vec::new();
        for (intervention, _) in self.by_block.values().flatten() {
            if let Intervention::Changed(changed) = intervention
                && !all.contains(&changed)
            {
                all.push(changed);
            }
        }
        all.sort_by_key(|changed| changed.rank);
        all
    }
}

/// Returns the likely bottleneck of a system with the first confirmed change that raises a limit.
fn next_limit(
    tried: &[TriedIntervention],
    planned: &[&StudyPlace],
    runs: &BTreeMap<u32, &Run>,
) -> Result<Option<NextLimit>, EvidenceError> {
    let is_raised =
        |tried: &&TriedIntervention| tried.effect.finding == Finding::Confirmed && tried.changed.factor > 1.0;
    let Some(raised) = tried.iter().find(is_raised) else { return Ok(None) };
    let is_of = |place: &&&StudyPlace| matches!(&place.intervention, Some(Intervention::Changed(changed)) if *changed == raised.changed);
    let runs: Vec<&Run> =
        planned.iter().filter(is_of).filter_map(|place| runs.get(&place.position).copied()).collect();
    let with = raised.changed.name.clone();
    let causes = causes_of_runs(&runs)?;
    Ok((!causes.is_empty()).then_some(NextLimit { with, causes }))
}

#[cfg(test)]
mod tests;
