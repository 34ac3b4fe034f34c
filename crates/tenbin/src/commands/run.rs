//! `tenbin run PLAN`: runs all loads and comparisons of a plan file.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use evidence::{Baseline, Procedure, RunId, StudyId, StudyState};
use plan::{Experiment, Interleave, NoSlices, Stacks, Study, units};
use progress::Stream;
use runner::{RunError, Runner, Stopper, StudyRunner, Tools};
use store::Store;
use study::StoredStudy;

use crate::arguments::with_seconds;
use crate::commands::baseline;
use crate::commands::completions::plan_files;
use crate::commands::load::print_remaining_counts;
use crate::commands::origin::LabelFlag;
use crate::commands::resume::ResumeFlag;
use crate::commands::{PublicFlag, StoreFlag, fail_on, read_plan, this_program};
use crate::destination::{Destination, ResultFlags};
use crate::exit::{BadArguments, Exit};
use crate::run_sequence::{RunSequence, broken, of_study};
use crate::study_line::{StudyLine, print_remark};
use crate::{machine_facts, output, seed, signals};

/// Arguments of `tenbin run`.
#[derive(Args, Debug)]
pub(crate) struct RunFlags {
    /// Plan file
    #[arg(value_name = "PLAN", add = ArgValueCompleter::new(plan_files))]
    plan: PathBuf,
    /// Run the short form that the plan defines under `quick`; an A/B comparison takes a minute
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    resume: ResumeFlag,
    /// With --resume: extend a complete study to N blocks and compare again
    #[arg(long, value_name = "N", requires = "resume", value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Option<u32>,
    /// Maximum time of the study, interrupted parts included, without the experiment of --why; replaces the plan's
    #[arg(long, value_name = "TIME", value_parser = within_ns)]
    within: Option<u64>,
    /// Sample with perf where the systems spend CPU time; `dwarf` without frame pointers [possible values: true, dwarf]
    #[arg(long, value_name = "STACKS", num_args = 0..=1, default_missing_value = "true", require_equals = true, value_parser = stacks)]
    profile: Option<Stacks>,
    /// After the study, test by experiment what limits its fastest variant: one change at a time, in 8 blocks of short runs
    #[arg(long)]
    why: bool,
    /// Maximum time of that experiment, in addition to --within [default: 8min]
    #[arg(long, value_name = "TIME", value_parser = within_ns)]
    why_within: Option<u64>,
    #[command(flatten)]
    public: PublicFlag,
    #[command(flatten)]
    label: LabelFlag,
    #[command(flatten)]
    results: ResultFlags,
    #[command(flatten)]
    store: StoreFlag,
}

fn within_ns(text: &str) -> Result<u64, String> {
    match units::duration_ns(&with_seconds(text))? {
        0 => Err("it is 0: write a time such as 10min".to_owned()),
        ns => Ok(ns),
    }
}

fn stacks(text: &str) -> Result<Stacks, String> {
    match text {
        "true" => Ok(Stacks::FramePointers),
        "dwarf" => Ok(Stacks::Dwarf),
        _ => Err("write --profile or --profile=dwarf".to_owned()),
    }
}

/// Checks the plan, runs the study, and stores and reports it.
pub(crate) fn run(flags: &RunFlags) -> anyhow::Result<Exit> {
    let destination = flags.results.check()?;
    destination.check_study()?;
    let mut study = read_plan(&flags.plan, flags.quick)?;
    // A resumed study keeps the flags that it was started with.
    if flags.resume.name().is_none() {
        study.resolve_interleave_at(&runner::place());
        note_whole_runs(&study);
    }
    if let Some(stacks) = flags.profile {
        study.set_profile(stacks);
    }
    study.compare.within_ns = flags.within.or(study.compare.within_ns);
    study.experiment = experiment(flags, &study)?;
    if study.compare.interleave == Interleave::Slices
        && let Some(NoSlices { because, help }) = study.no_slices()
    {
        return Err(BadArguments(format!("{because}\n  help: {help}")).into());
    }
    // A resumed study keeps the baseline that it began with.
    let baseline = match flags.resume.name() {
        None => baseline::of_study(&study, &flags.store)?,
        Some(_) => None,
    };
    baseline.iter().for_each(baseline::announce);
    let procedure = study::procedure(&study);
    let (resume, within_ns) = (Some(&flags.resume), flags.within);
    let ordered = StudyRun {
        study,
        procedure,
        resume,
        blocks: flags.blocks,
        within_ns,
        store: &flags.store,
        public: flags.public,
        label: &flags.label,
        baseline,
    };
    ordered.execute(&destination, "")
}

/// Prints why a study that may be run in slices is not.
fn note_whole_runs(study: &Study) {
    if study.compare.interleave == Interleave::Auto
        && let Some(NoSlices { because, .. }) = study.no_slices()
    {
        output::remark(&format!("in whole runs, not in slices: {}", report::visible(&because)));
    }
}

/// Experiment that the flags or the plan ask for. `None` if neither does.
fn experiment(flags: &RunFlags, study: &Study) -> Result<Option<Experiment>, BadArguments> {
    let Some(asked) = study.experiment.clone().or(flags.why.then(Experiment::default)) else {
        return match flags.why_within {
            None => Ok(None),
            Some(_) => Err(BadArguments("--why-within without an experiment\n  help: add --why".to_owned())),
        };
    };
    if let Some((what, help)) = study.experiment_obstacle() {
        return Err(BadArguments(format!("--why: {what}\n  help: {help}")));
    }
    let within_ns = flags.why_within.unwrap_or(asked.within_ns);
    let [can_limit_cpu, can_limit_io] = runner::can_limit();
    Ok(Some(Experiment { within_ns, can_limit_cpu, can_limit_io, cores: runner::allowed() }))
}

/// A study to begin or to resume.
pub(crate) struct StudyRun<'a> {
    pub(crate) study: Study,
    pub(crate) procedure: Procedure,
    /// `None` if the command cannot resume a study.
    pub(crate) resume: Option<&'a ResumeFlag>,
    /// Number of blocks to which a complete study is extended.
    pub(crate) blocks: Option<u32>,
    /// Time limit from a flag, in ns. It also applies to a study that is resumed.
    pub(crate) within_ns: Option<u64>,
    pub(crate) store: &'a StoreFlag,
    pub(crate) public: PublicFlag,
    pub(crate) label: &'a LabelFlag,
    /// Stored baseline of a study that begins.
    pub(crate) baseline: Option<Baseline>,
}

impl<'a> StudyRun<'a> {
    /// A study made from flags, which begins now and in which no stored baseline is asked for.
    pub(crate) fn begun(
        study: Study,
        store: &'a StoreFlag,
        public: PublicFlag,
        label: &'a LabelFlag,
    ) -> Self {
        let procedure = study::procedure(&study);
        Self {
            study,
            procedure,
            resume: None,
            blocks: None,
            within_ns: None,
            store,
            public,
            label,
            baseline: None,
        }
    }

    /// Prints `words` if there are any, runs the study, and stores and reports it. The exit code follows from what was stored.
    ///
    /// A new study without a seed draws one. A resumed study keeps its own.
    pub(crate) fn execute(self, destination: &Destination, words: &str) -> anyhow::Result<Exit> {
        let tenbin = this_program()?;
        let generator = self.public.generator()?;
        fail_on(&runner::preflight(&self.study, &tenbin, &generator.public))?;
        let stopper = Stopper::default();
        let received_signals = signals::listen(stopper.clone())?;
        let secrets = self.study.secrets.clone();
        let store =
            Store::open(&self.store.path())?.with_redaction(move |text| secrets.redact(text).into_owned());
        if !words.is_empty() {
            output::remark(words);
        }
        let resumed = self.resume.and_then(ResumeFlag::name);
        let going_on = resumed.map(|name| self.reopen(&store, name)).transpose()?;
        let can_resume = self.resume.is_some();
        let (mut study, procedure) = (self.study, self.procedure);
        let id = match going_on {
            Some((id, seed)) => {
                study.set_seed(seed);
                id
            }
            None => {
                let id = store_new_study(&mut study, procedure, self.baseline.as_ref(), &store)?;
                self.label.keep(id.as_str(), &store);
                id
            }
        };
        warn_of_others(&store, &id)?;
        received_signals.mark_run_started();
        let tools = Tools { generator: &generator, ..Tools::local(&stopper) };
        let stream = Stream::default();
        let line = StudyLine::of(&stream);
        runner::tidy_up().iter().for_each(|said| print_remark(said));
        let begun = store.load_study(&id)?.new;
        machine_facts::restore_cores(&mut study, &begun.host);
        let slices = begun.compare.procedure.slices().copied();
        if slices.is_none() && study.slicing().is_some() {
            let because = "it began in whole runs".to_owned();
            study.use_whole_runs(NoSlices { because, help: "run it again without --resume".to_owned() });
        }
        let bench =
            StudyRunner::new(Runner { store: &store, tools }, &study, &id, &tenbin)?.in_slices(slices);
        let mut making = RunSequence { bench, tools, stream: &stream, line };
        study::run_study(&study, &StoredStudy { store: &store, id: &id }, &mut making)
            .map_err(broken)
            .inspect_err(print_remaining_counts)
            .map_err(|error| add_help(error, can_resume))?;
        let kept = store.load_study(&id)?;
        let load = |run: &RunId| Ok(store.load(run)?);
        let ending = report::study_ending(&kept, &load)?;
        let shown = destination
            .write(true, &|format, options, out| report::write_study(format, &kept, &load, options, out));
        output::remark(&format!("kept as {id} in {}", store.path().display()));
        if let Err(error) = shown
            && !output::is_broken_pipe(&error)
        {
            return received_signals.exit_or_error(error);
        }
        Ok(received_signals.exit_or(ending))
    }

    /// Finds the study to resume or extend, and reopens it. Returns its name and its seed.
    fn reopen(&self, store: &Store, name: &str) -> anyhow::Result<(StudyId, u64)> {
        let Self { study, procedure, blocks, .. } = self;
        let id = match name {
            "" => newest(study, procedure, store, blocks.is_some())?,
            name => store.find_study(name)?,
        };
        let kept = store.load_study(&id)?;
        study::is_of(&kept.new, study, procedure).map_err(|fault| BadArguments(fault.to_string()))?;
        let replaced = machine_facts::replaced_programs(study, &kept.new.host)?;
        if !replaced.is_empty() {
            let what = format!(
                "{} changed since the study began, and its runs would compare two programs",
                replaced.join(", ")
            );
            return Err(BadArguments(format!(
                "{what}\n  help: run the plan again, or bring back the program as it was"
            ))
            .into());
        }
        let within_s = self.within_ns.map(|ns| ns as f64 / 1e9);
        match (kept.state, blocks) {
            (StudyState::Complete, None) => return Err(complete_study_error(study, &kept)?.into()),
            (StudyState::Complete, Some(blocks)) => {
                let mut study = study.clone();
                study.set_seed(kept.new.seed);
                let from = study::blocks_of(&study, &kept).map_err(of_study)?;
                let journal = StoredStudy { store, id: &id };
                study::extend_study(&study, &kept, *blocks, within_s, &journal).map_err(of_study)?;
                output::remark(&format!("extending {id} from {from} to {blocks} blocks"));
            }
            (StudyState::Interrupted, Some(blocks)) if *blocks != kept.blocks() => {
                return Err(incomplete_study_error(&kept).into());
            }
            _ => {
                store.resume_study(&id, within_s)?;
                let (of, left) = (kept.new.planned.len(), kept.missing().count());
                let later = if *procedure == Procedure::Blocks { "" } else { " that were planned so far" };
                output::remark(&format!("resuming {id}: {} of {of} runs{later} are complete", of - left));
            }
        }
        Ok((id, kept.new.seed))
    }
}

/// Draws a seed and selects cores for a new study that has none, and stores it.
fn store_new_study(
    study: &mut Study,
    procedure: Procedure,
    baseline: Option<&Baseline>,
    store: &Store,
) -> anyhow::Result<StudyId> {
    if !study.has_seed {
        study.set_seed(seed::random_seed());
    }
    let seen = runner::choose_cores(study);
    let mut stamp = runner::stamp(study)?;
    if let (Some(stamp), Some(seen)) = (&mut stamp, seen) {
        *stamp += &format!("; {seen}");
    }
    let facts = machine_facts::gather(store, study);
    Ok(study::begin_study(study, procedure, facts, stamp, baseline, store).map_err(of_study)?)
}

/// Adds help to the error of a system that rejects everything. No other error depends on the command.
pub(crate) fn add_help(error: RunError, can_resume: bool) -> anyhow::Error {
    match error {
        RunError::Rejected { .. } if can_resume => anyhow::anyhow!(
            "{error}\n  help: correct the request, and start again; if the server was at fault, repair it, and add --resume"
        ),
        RunError::Rejected { .. } | RunError::Unusable { .. } => {
            anyhow::anyhow!(
                "{error}\n  help: correct the URLs, -X, -H, or -b, or repair the server, and start again"
            )
        }
        other => other.into(),
    }
}

/// Error for a complete study: only more blocks could be added.
fn complete_study_error(study: &Study, kept: &evidence::Study) -> anyhow::Result<BadArguments> {
    let id = &kept.id;
    if !kept.new.compare.procedure.can_be_extended() {
        return Ok(BadArguments(format!("{id} is complete\n  help: leave out --resume to run it again")));
    }
    let blocks = study::blocks_of(study, kept).map_err(of_study)?;
    let are = if blocks == 1 { "block" } else { "blocks" };
    Ok(BadArguments(format!(
        "{id} is complete, with {blocks} {are}\n  help: add --blocks N to extend it to N blocks in all, or leave out \
         --resume to run it again"
    )))
}

/// Error for extending a study whose planned runs are not all complete.
fn incomplete_study_error(kept: &evidence::Study) -> BadArguments {
    BadArguments(format!(
        "{} is not complete: it has {} of {} runs\n  help: resume it without --blocks first, then extend it",
        kept.id,
        kept.new.planned.len() - kept.missing().count(),
        kept.new.planned.len()
    ))
}

/// Warns of other running studies: two studies at once disturb each other's measurements.
fn warn_of_others(store: &Store, own: &StudyId) -> anyhow::Result<()> {
    for other in store.studies()? {
        if other.state == StudyState::Running && other.id != *own {
            let title = report::visible(&other.title);
            output::warn(&format!(
                "{} ({title}) is running at the same time: the two studies take resources from each other",
                other.id
            ));
        }
    }
    Ok(())
}

/// Newest interrupted study of exactly this plan. With `is_extended`, the newest one that is not running.
fn newest(study: &Study, procedure: &Procedure, store: &Store, is_extended: bool) -> anyhow::Result<StudyId> {
    let mut complete = None;
    for summary in store.studies()? {
        if summary.title != study.title || summary.state == StudyState::Running {
            continue;
        }
        let kept = store.load_study(&summary.id)?;
        if study::is_of(&kept.new, study, procedure).is_err() {
            continue;
        }
        if is_extended || summary.state == StudyState::Interrupted {
            return Ok(summary.id);
        }
        complete = complete.or(Some(kept));
    }
    if let Some(kept) = complete {
        return Err(complete_study_error(study, &kept)?.into());
    }
    let what = match is_extended {
        true => format!("no study of {:?} with this plan is stored", study.title),
        false => format!("no study of {:?} with this plan was interrupted", study.title),
    };
    Err(BadArguments(format!("{what}\n  help: leave out --resume, or name one that tenbin history lists"))
        .into())
}
