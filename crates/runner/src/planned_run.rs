//! Run before it starts: its load, and the system that is started for it, if any.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use evidence::{Baseline, Failure, Intervention, NewRun, RunId, SliceRules, StudyId, StudyPlace, Verdict};
use judge::Condition;
use plan::{Amount, EventAction, Find, Plan, Study};
use progress::{RunEvent, Stream};

use crate::cores::Cores;
use crate::data_copies::DataCopies;
use crate::database_watch::MonitoredDatabase;
use crate::describe::describe;
use crate::early_end::{EarlyEnd, UnusableReply};
use crate::errand::SetUp;
use crate::events::Events;
use crate::experiment;
use crate::kept_system::{KeptSystem, RunOnKeptSystem};
use crate::lone_pass;
use crate::made_run::CompletedRun;
use crate::measure::Measured;
use crate::monitor::MonitoredSystem;
use crate::one_run::Runner;
use crate::own_figures::OwnFigures;
use crate::prepare::Prepared;
use crate::run_error::RunError;
use crate::slices::Block;
use crate::stage::{Stage, failure, setup_failure};
use crate::systems::StartedSystem;
use crate::together::MemoryWatch;
use crate::tools::Tools;
use crate::written::WrittenRows;

/// Note on the first run of a variant in a study of failures.
const ALL_REJECTED: &str =
    "the system rejected every request; if it should not, check the scenario with tenbin check --start";

/// Remark on a run whose load was rejected as a whole.
const REPEAT_NOTE: &str = "every request was rejected, but not those of a single user: the run is made again";

/// Definition of a run before it starts.
#[derive(Debug)]
pub struct PlannedRun<'a> {
    /// Plan as given, plus the values that `setup` saved.
    pub(crate) plan: Cow<'a, Plan>,
    /// Load that was prepared earlier. `None` if it is still to be prepared.
    pub(crate) prepared: Option<Prepared>,
    /// Study and place in it. `None` for a run on its own.
    pub(crate) place: Option<(StudyId, StudyPlace)>,
    /// Path of the study's plan file. `None` if there is none.
    pub(crate) plan_file: Option<&'a Path>,
    /// Variant under load. `None` for a run of a URL.
    pub(crate) stage: Option<&'a Stage>,
    /// Conditions of the run. `None` if its figures are not needed before the report.
    pub(crate) gates: Option<Vec<Condition>>,
    /// Earlier slices since the last start, which the conditions cover as well.
    pub(crate) earlier: Vec<RunId>,
    /// Stored baseline of a run outside a study.
    pub(crate) baseline: Option<Baseline>,
    pub(crate) first: FirstReplyRule,
    /// System shared with other runs, used instead of the stage's. `None` if the run has its own.
    pub(crate) keeps: Option<RunOnKeptSystem<'a>>,
    /// Whether an earlier slice started the system, so that it must still be running.
    pub(crate) is_again: bool,
    /// Prepared data of the study. `None` for a run outside a study.
    pub(crate) copies: Option<&'a DataCopies>,
    /// Whether the system was started with its prepared data.
    pub(crate) has_data: bool,
    /// Client that sent the `setup` requests and will send the `teardown` requests.
    pub(crate) set_up: Option<SetUp>,
}

/// Shortest load of a URL that ends early, in nanoseconds.
const LASTING_NS: u64 = 5_000_000_000;

/// Knowledge about the answers to a scenario before a run, and the consequence of rejections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstReplyRule {
    /// Answers are not checked.
    Any,
    /// No answer is known yet. A system that rejects everything is a valid result.
    MayReject,
    /// No answer is known yet. A system that rejects everything ends the study.
    MustAnswer,
    /// No answer is known yet. A long load ends early if no reply is usable.
    MustAnswerToGoOn,
}

impl FirstReplyRule {
    /// Rule by which the load ends early because no reply is usable. `None` if there is no such rule. A tool reports only at its end, so it
    /// has none.
    pub(crate) fn early_end(self, plan: &Plan) -> Option<EarlyEnd> {
        let is_short = || plan.stop.at_ns.is_some_and(|at| at < LASTING_NS);
        let after = match self {
            Self::Any | Self::MayReject => return None,
            // Statements of a log may all have failed.
            _ if plan.tool().is_some() || plan.replay.is_some() => return None,
            Self::MustAnswerToGoOn if is_short() => return None,
            Self::MustAnswerToGoOn if plan.stop.requests.is_some() => Duration::from_nanos(LASTING_NS),
            Self::MustAnswer | Self::MustAnswerToGoOn => Duration::ZERO,
        };
        Some(EarlyEnd { after, unusable: self.unusable() })
    }

    /// Replies that end a load early, or the study. In a study, broken replies are a result.
    pub(crate) fn unusable(self) -> UnusableReply {
        match self {
            Self::MustAnswerToGoOn => UnusableReply::RejectedOrBroken,
            Self::Any | Self::MayReject | Self::MustAnswer => UnusableReply::Rejected,
        }
    }
}

impl<'a> PlannedRun<'a> {
    /// Load on a system that Tenbin did not start, outside a study.
    pub fn of_load(plan: &'a Plan, prepared: Option<Prepared>) -> Self {
        let (place, plan_file, stage, gates, baseline, keeps) = (None, None, None, None, None, None);
        let (first, is_again, set_up, plan) = (FirstReplyRule::Any, false, None, Cow::Borrowed(plan));
        let (copies, has_data) = (None, false);
        Self {
            plan,
            prepared,
            place,
            plan_file,
            stage,
            gates,
            earlier: Vec::new(),
            baseline,
            first,
            keeps,
            is_again,
            copies,
            has_data,
            set_up,
        }
    }

    /// Makes the load end early if the system gives no usable reply, with an error that quotes the replies.
    pub fn ending_if_rejected(self) -> Self {
        Self { first: FirstReplyRule::MustAnswerToGoOn, ..self }
    }

    /// Adds conditions. An empty list changes nothing.
    pub fn with_conditions(self, conditions: Vec<Condition>) -> Self {
        Self { gates: (!conditions.is_empty()).then_some(conditions), ..self }
    }

    /// Adds a stored baseline.
    pub fn with_baseline(self, baseline: Option<Baseline>) -> Self {
        Self { baseline, ..self }
    }

    /// Description for the store before the load starts, with the version of the system.
    pub(crate) fn describe(&self, tools: &Tools<'_>) -> NewRun {
        let version = self.stage.and_then(|stage| stage.version(tools.lab, &|| tools.is_stopped()));
        let mut new = NewRun {
            place: self.place.clone(),
            system_version: version,
            ..describe(&self.plan, tools.generator.machine().facts)
        };
        if let Some(file) = self.plan_file {
            new.plan_json[NewRun::PLAN_FILE] = serde_json::json!(file.to_string_lossy());
        }
        new
    }

    /// Starts the system, unless it is already running or `up`.
    pub(crate) fn start<'l>(
        &mut self,
        tools: &Tools<'l>,
        up: Option<Box<dyn StartedSystem>>,
        stream: &Stream,
    ) -> Result<MonitoredSystem<'l>, lab::Failure> {
        let is_instrumented = self.stage.is_some_and(Stage::is_instrumented);
        self.start_processes(tools, up, stream)
            .map(|system| system.with_database(MonitoredDatabase::of(&self.plan, is_instrumented)))
    }

    fn start_processes<'l>(
        &mut self,
        tools: &Tools<'l>,
        up: Option<Box<dyn StartedSystem>>,
        stream: &Stream,
    ) -> Result<MonitoredSystem<'l>, lab::Failure> {
        let lab = tools.lab;
        let Some(stage) = self.stage.filter(|stage| stage.starts_anything() || self.has_events()) else {
            return Ok(MonitoredSystem::external(lab));
        };
        let events = Events::new(&stage.launch.events, &self.plan, stage.launch.host, tools.stopper);
        if !stage.starts_processes() {
            let nothing = lab.start(stage.recipe_of_events(), &|| tools.is_stopped())?;
            return Ok(MonitoredSystem::external_with_events(lab, nothing, events));
        }
        let start = |recipe| lab.start(recipe, &|| tools.is_stopped());
        let system = match (up, &self.keeps) {
            (Some(system), _) => system,
            // A restarted system would belong to another block.
            (None, _) if self.is_again => return Err(stage.died_between_slices()),
            (None, Some(keeps)) => keeps.take_or_start(stage.recipe(), start)?,
            (None, None) => {
                let copied = self.copies.and_then(|copies| copies.start(stage, &self.plan, tools, stream));
                self.has_data = copied.is_some();
                copied.unwrap_or_else(|| start(stage.recipe()))?
            }
        };
        let subject = stage.subject(&*system);
        Ok(MonitoredSystem::system(lab, system, subject, events))
    }

    /// Creates tables if required, sends the `setup` requests, and connects once.
    pub(crate) fn prepare(&mut self, tools: &Tools<'_>, stream: &Stream) -> Result<Prepared, Failure> {
        if let Some(mut prepared) = self.prepared.take() {
            self.take_discovered(&mut prepared);
            return Ok(prepared);
        }
        let is_new = !self.is_again && self.keeps.as_ref().is_none_or(RunOnKeptSystem::is_new);
        if let Some(stage) = self.stage.filter(|_| is_new && !self.has_data) {
            let is_filled = match self.copies {
                Some(copies) => copies.fill(stage, &self.plan, tools, stream)?,
                None => false,
            };
            if !is_filled {
                stage.fill(tools, &self.plan, stream)?;
            }
        }
        let set_up = tools.generator.set_up(&self.plan, tools.stopper);
        let mut set_up = set_up.map_err(|refusal| setup_failure(&refusal))?;
        if let Some(set_up) = &mut set_up {
            set_up.pass_values(&mut self.plan);
        }
        self.set_up = set_up;
        let prepared = tools.generator.prepare(&self.plan, tools.stopper).map(|mut prepared| {
            self.take_discovered(&mut prepared);
            if self.has_events() {
                prepared.ready.record_windows();
            }
            prepared
        });
        prepared.map_err(|refusal| failure(self.starts_processes(), "connect", refusal.to_string()))
    }

    /// Replaces the plan with the one for the discovered servers, if there are any.
    fn take_discovered(&mut self, prepared: &mut Prepared) {
        if let Some(plan) = prepared.discovered.take() {
            self.plan = Cow::Owned(*plan);
        }
    }

    /// Reads the figures of the plan before the load, and counts the rows that it will add to.
    pub(crate) fn begin_readings(
        &self,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(OwnFigures, Option<WrittenRows>), Failure> {
        let keeper = self.stage.map_or_else(Vec::new, Stage::keeper);
        let figures = OwnFigures::begin(&self.plan.figures, &keeper, is_stopped)?;
        let rows = self.plan.written.as_ref().map(WrittenRows::begin).transpose();
        let rows = rows.map_err(|why| Failure {
            stage: "written".to_owned(),
            process: None,
            what: plan::mask_secrets(&format!("the rows of `written` cannot be counted: {why}")),
            way_out: "create the table before the load, with `prepare` or `setup`, or correct `written`"
                .to_owned(),
        })?;
        Ok((figures, rows))
    }

    /// Failure of a system that leaves no room for the threads of the load, like one that accepts no connection. Without a system
    /// around the run it is an error.
    pub(crate) fn is_out_of_threads(&self, error: io::Error) -> Result<Failure, RunError> {
        let Some(stage) = self.stage else { return Err(RunError::Threads(error)) };
        let what = format!("the threads of the load cannot be started: {error}");
        Ok(failure(stage.starts_processes(), "threads", what))
    }

    /// Judges the first load of a scenario. Returns false if there was nothing to judge, or if the run was stopped.
    ///
    /// The study ends if the system rejects the whole load and a single user as well, because every further run would fail alike. There is
    /// no trial before the run, because it would write to the system.
    pub(crate) fn judge_first(&self, tools: &Tools<'_>, measured: &mut Measured) -> Result<bool, RunError> {
        match self.first {
            FirstReplyRule::Any => return Ok(false),
            // Answers to the rest of the load are unknown.
            _ if tools.is_stopped() => return Ok(false),
            FirstReplyRule::MayReject if measured.is_rejected => {
                measured.ending.notes.push(ALL_REJECTED.to_owned())
            }
            FirstReplyRule::MustAnswerToGoOn if !measured.was_given_up => return Ok(false),
            FirstReplyRule::MustAnswer | FirstReplyRule::MustAnswerToGoOn if measured.is_rejected => {
                measured.wait();
                if let Some(answers) = lone_pass::unusable(tools, &self.plan, self.first.unusable()) {
                    let name = self.stage.map_or_else(|| self.plan.title.clone(), Stage::name);
                    let has_broken = measured.counts.failed > 0;
                    return Err(match has_broken {
                        true => RunError::Unusable { name, answers },
                        false => RunError::Rejected { name, answers },
                    });
                }
                measured.go_on();
            }
            FirstReplyRule::MustAnswerToGoOn => return Ok(false),
            FirstReplyRule::MayReject | FirstReplyRule::MustAnswer => {}
        }
        Ok(true)
    }

    /// Makes the `teardown` requests, if there are any. Returns a note if they failed.
    pub(crate) fn tear_down(&mut self, tools: &Tools<'_>) -> Option<String> {
        self.set_up.take()?.tear_down(tools.stopper).err()
    }

    /// Whether events act on the system under load.
    pub(crate) fn has_events(&self) -> bool {
        self.stage.is_some_and(|stage| !stage.launch.events.is_empty())
    }

    /// Whether an event changes the number of shards that get requests.
    pub(crate) fn changes_shards(&self) -> bool {
        let is_move = |event: &plan::LaunchEvent| matches!(event.action, EventAction::Shards(_));
        self.stage.is_some_and(|stage| stage.launch.events.iter().any(is_move))
    }

    /// Whether the run is a slice.
    pub(crate) fn is_slice(&self) -> bool {
        self.place.as_ref().is_some_and(|(_, place)| evidence::stage::is_slice(&place.stage))
    }

    fn starts_processes(&self) -> bool {
        self.stage.is_some_and(Stage::starts_processes)
    }
}

/// Makes the runs of a study.
#[derive(Debug)]
pub struct StudyRunner<'a> {
    runner: Runner<'a>,
    study: &'a Study,
    id: &'a StudyId,
    /// Path of this program, which also runs as keeper of the systems' processes.
    tenbin: &'a Path,
    cores: Cores,
    /// Variants whose first answers were judged, with the number of the load if its scenario differs.
    answering: RefCell<BTreeSet<(usize, Option<usize>)>>,
    /// System that stays up between runs of an experiment.
    kept: RefCell<Option<KeptSystem>>,
    /// Rules of the slices, and the systems that stay up between them. `None` if the study has no slices.
    slices: Option<SliceRules>,
    block: RefCell<Block>,
    memory: RefCell<MemoryWatch>,
    copies: DataCopies,
}

impl<'a> StudyRunner<'a> {
    /// Creates a bench for the study stored as `id`. `tenbin` is the path of this program.
    ///
    /// # Errors
    ///
    /// The plan names cores that this process may not use.
    pub fn new(
        runner: Runner<'a>,
        study: &'a Study,
        id: &'a StudyId,
        tenbin: &'a Path,
    ) -> Result<Self, RunError> {
        let cores = Cores::choose(&study.pin, &runner.tools.generator.machine().cores)
            .map_err(|fault| RunError::Plan(vec![fault]))?;
        let (answering, kept) = (RefCell::default(), RefCell::default());
        let (slices, block, memory) = (None, RefCell::default(), RefCell::default());
        let copies = DataCopies::default();
        Ok(Self { runner, study, id, tenbin, cores, answering, kept, slices, block, memory, copies })
    }

    /// Sets the rules of slices.
    pub fn in_slices(self, slices: Option<SliceRules>) -> Self {
        Self { slices, ..self }
    }

    /// Makes a slice: a short load on a system that is up since the first slice of its block. The system stays up if `stays_up`.
    ///
    /// # Errors
    /// As for [`Self::make`].
    pub fn make_slice(
        &self,
        place: &StudyPlace,
        seed: u64,
        stays_up: bool,
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let (variant, load) = find(self.study, place)?;
        let rules = self.slices.ok_or(RunError::NotInPlan)?;
        let mut block = self.block.borrow_mut();
        let lab = self.runner.tools.lab;
        self.memory.borrow_mut().begin(place.block);
        let up = block.variant(place.block, variant, || {
            Stage::set(lab, self.study, variant, load, None, self.tenbin, &self.cores)
        })?;
        let plan = up.plan_of_slice(&rules, seed);
        if rules.pauses_idle {
            up.go_on();
        }
        let mut planned = self.planned((place, variant, load), &plan, &up.stage);
        planned.is_again = !up.slices.is_empty();
        let is_alone = up.slices.is_empty() && !stays_up;
        if stays_up || is_alone {
            // Gates are judged on all slices of the start, with the last one. A start of a single slice only confirms a comparison.
            planned.gates = Some(Vec::new());
        } else {
            planned.earlier.clone_from(&up.slices);
        }
        let made = self.runner.make_on(planned, &mut up.system, stays_up, stream)?;
        up.slices.push(made.run.clone());
        if rules.pauses_idle && stays_up {
            up.hold();
        }
        if block.is_shared() {
            self.memory.borrow().check(place.block)?;
        }
        if !stays_up {
            block.ends(variant);
        }
        self.note(&made, (variant, load));
        Ok(made)
    }

    /// Makes the run of a place. If it ended early because every request was rejected, but a single user was answered, it is
    /// repeated. `amount` replaces the load's own level. Without it, everything is drawn from `seed`.
    ///
    /// # Errors
    /// The store or this program failed, or the study cannot continue.
    pub fn make(
        &self,
        place: &StudyPlace,
        amount: Option<&Amount>,
        seed: u64,
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let made = self.make_once(place, amount, seed, stream)?;
        let was_given_up = made.is_first_answer && made.ending.verdict == Verdict::Partial;
        if !was_given_up || self.runner.tools.is_stopped() {
            return Ok(made);
        }
        stream.publish(None, RunEvent::Remark(REPEAT_NOTE.to_owned()));
        self.make_once(place, amount, seed, stream)
    }

    fn make_once(
        &self,
        place: &StudyPlace,
        amount: Option<&Amount>,
        seed: u64,
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let (variant, load) = find(self.study, place)?;
        if let Some(of) = place.intervention.as_ref().filter(|of| !of.needs_restart()) {
            return self.make_live(place, of, (variant, load), seed, stream);
        }
        // A kept system would occupy the ports of the plan, and disturb the run.
        if let Some(kept) = self.kept.take() {
            kept.stop(stream);
        }
        let of_experiment =
            place.intervention.as_ref().map(|of| experiment::study(self.study, (variant, load), of));
        let study = of_experiment.as_ref().unwrap_or(self.study);
        let (mut plan, mut stage) = Stage::set(
            self.runner.tools.lab,
            study,
            variant,
            load,
            amount,
            self.tenbin,
            &self.cores_of(study)?,
        )?;
        if amount.is_none() {
            plan.seed = seed;
        }
        if place.intervention == Some(Intervention::Instrumented) {
            stage.instrument();
        }
        let planned = PlannedRun {
            gates: Some(study.gates_of(load)),
            ..self.planned((place, variant, load), &plan, &stage)
        };
        self.make_planned(planned, (variant, load), stream)
    }

    fn planned<'r>(
        &'r self,
        (place, variant, load): (&StudyPlace, usize, usize),
        plan: &'r Plan,
        stage: &'r Stage,
    ) -> PlannedRun<'r> {
        PlannedRun {
            plan: Cow::Borrowed(plan),
            prepared: None,
            place: Some((self.id.clone(), place.clone())),
            plan_file: self.study.file.as_deref(),
            stage: Some(stage),
            gates: Some(self.study.gates_of(load)),
            earlier: Vec::new(),
            baseline: None,
            first: self.first((variant, load)),
            keeps: None,
            is_again: false,
            copies: Some(&self.copies),
            has_data: false,
            set_up: None,
        }
    }

    fn make_planned(
        &self,
        planned: PlannedRun<'_>,
        numbers: (usize, usize),
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let made = self.runner.make(planned, stream)?;
        self.note(&made, numbers);
        Ok(made)
    }

    fn note(&self, made: &CompletedRun, numbers: (usize, usize)) {
        if made.is_first_answer {
            self.answering.borrow_mut().insert(self.scenario(numbers));
        }
    }

    /// Runs an experiment with a change that needs no restart, on the system of the previous run if it is still up.
    fn make_live(
        &self,
        place: &StudyPlace,
        of: &Intervention,
        (variant, load): (usize, usize),
        seed: u64,
        stream: &Stream,
    ) -> Result<CompletedRun, RunError> {
        let mut study = experiment::study(self.study, (variant, load), of);
        let cores = self.cores_of(&study)?;
        let kept = match self.kept.take() {
            Some(kept) if kept.is_running() => kept,
            other => {
                if let Some(gone) = other {
                    gone.stop(stream);
                }
                let base = self.study.changed(variant, load, None);
                let lab = self.runner.tools.lab;
                let (_, stage) = Stage::set(lab, &base, variant, load, None, self.tenbin, &self.cores)?;
                KeptSystem::of(stage, experiment::limits_to_come(self.study))
            }
        };
        study.shorten_live(load, kept.is_running());
        let mut plan = kept.stage.plan(&study, load, &cores)?;
        plan.seed = seed;
        let planned = PlannedRun {
            gates: Some(study.gates_of(load)),
            keeps: Some(RunOnKeptSystem { system: &kept, limits: experiment::limits(of) }),
            ..self.planned((place, variant, load), &plan, &kept.stage)
        };
        let made = self.make_planned(planned, (variant, load), stream)?;
        self.kept.replace(Some(kept));
        Ok(made)
    }

    /// Cores of the study, unless an experiment moves the generator.
    fn cores_of(&self, study: &Study) -> Result<Cores, RunError> {
        if study.pin == self.study.pin {
            return Ok(self.cores.clone());
        }
        let allowed = &self.runner.tools.generator.machine().cores;
        Cores::choose(&study.pin, allowed).map_err(|fault| RunError::Plan(vec![fault]))
    }

    fn first(&self, numbers: (usize, usize)) -> FirstReplyRule {
        if self.answering.borrow().contains(&self.scenario(numbers)) {
            FirstReplyRule::Any
        } else if self.study.compare.find == Find::Failures {
            FirstReplyRule::MayReject
        } else {
            FirstReplyRule::MustAnswer
        }
    }

    fn scenario(&self, (variant, load): (usize, usize)) -> (usize, Option<usize>) {
        (variant, self.study.loads[load].scenario.as_ref().map(|_| load))
    }
}

/// Indexes of a place's variant and load in the plan. A search has a single load with separately named levels.
fn find(study: &Study, place: &StudyPlace) -> Result<(usize, usize), RunError> {
    let variant = study.variants.iter().position(|variant| {
        study.systems[variant.system].name == place.system && variant.name == place.variant
    });
    let is_level = place.users.is_some() || place.rate_per_s.is_some();
    let load = study.loads.iter().position(|load| is_level || load.name == place.load);
    variant.zip(load).ok_or(RunError::NotInPlan)
}
