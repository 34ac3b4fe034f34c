//! `tenbin history`: lists the runs and studies in the store. `tenbin history rm` removes some of them.

mod trend;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use evidence::{Origin, RunState, StudyId, StudyState, StudySummary, Summary};
use plan::units::Utc;
use report::{JSON, TERMINAL};
use serde_json::json;
use store::{Store, StoreError};

use crate::commands::StoreFlag;
use crate::commands::completions::stored;
use crate::commands::origin::named;
use crate::exit::{BadArguments, Exit};
use crate::output;

use trend::{Figures, Series};

/// How many, and how.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct HistoryFlags {
    #[command(subcommand)]
    command: Option<HistoryCommand>,
    /// Maximum number of lines
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// List the runs of studies, too
    #[arg(long)]
    runs: bool,
    /// List only what has this label
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Show how throughput and p99 changed from build to build, for each plan and label
    #[arg(long, conflicts_with = "runs")]
    trend: bool,
    /// terminal or json
    #[arg(long, value_name = "NAME", default_value = TERMINAL.name, help_heading = "Results")]
    format: String,
    #[command(flatten)]
    store: StoreFlag,
}

/// Actions besides listing.
#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Removes runs and studies, with all that is stored of them
    Rm(RemoveFlags),
}

/// Selection of runs and studies to remove.
#[derive(Args, Debug)]
struct RemoveFlags {
    /// Names of runs or studies; a unique beginning is enough
    #[arg(value_name = "NAME", required = true, add = ArgValueCompleter::new(stored))]
    names: Vec<String>,
    #[command(flatten)]
    store: StoreFlag,
}

/// A stored run or study.
enum Entry {
    Run(Box<Summary>),
    Study(StudySummary),
}

impl Entry {
    fn started_at_unix_ms(&self) -> i64 {
        match self {
            Self::Run(run) => run.started_at_unix_ms,
            Self::Study(study) => study.started_at_unix_ms,
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Run(run) => run.id.as_str(),
            Self::Study(study) => study.id.as_str(),
        }
    }
}

/// Origins of runs and studies, by name.
type Origins = BTreeMap<String, Origin>;

/// Lists stored runs and studies, or removes some.
pub(crate) fn run(flags: &HistoryFlags) -> anyhow::Result<Exit> {
    if let Some(HistoryCommand::Rm(flags)) = &flags.command {
        return remove(flags);
    }
    let path = flags.store.path();
    let (entries, figures, origins, series) = match Store::open_existing(&path) {
        Ok(store) => {
            let origins = store.origins()?;
            let entries = newest(&store, flags, &origins)?;
            let series = flags.trend.then(|| Series::read(&store, &entries, &origins)).transpose()?;
            // A trend has its own figures.
            let listed = if flags.trend { &[][..] } else { &entries };
            let figures =
                listed.iter().map(|entry| Figures::read(&store, entry)).collect::<Result<_, _>>()?;
            (entries, figures, origins, series)
        }
        // The store does not exist yet, because nothing was measured.
        Err(StoreError::Missing { .. }) => {
            (Vec::new(), Vec::new(), Origins::new(), flags.trend.then(Vec::new))
        }
        Err(error) => return Err(error.into()),
    };
    match report::format(&flags.format) {
        Some(format) if format == TERMINAL && entries.is_empty() => {
            output::lines(&match &flags.label {
                Some(label) => {
                    format!(
                        "no runs in {} have the label {label:?}; tenbin history lists all\n",
                        path.display()
                    )
                }
                None => format!("no runs in {} yet; tenbin URL makes one\n", path.display()),
            })?;
        }
        Some(format) if format == TERMINAL => match series {
            None => output::lines(&table(&entries, &figures, &origins))?,
            Some(series) => output::lines(&trends(&series))?,
        },
        Some(format) if format == JSON => {
            if let Some(series) = series {
                let list: Vec<_> = series.iter().map(Series::object).collect();
                output::data(&format!("{:#}\n", json!(list)))?;
                return Ok(Exit::Ok);
            }
            let list = entries.iter().zip(&figures).map(|(entry, figures)| {
                let mut object = object(entry, origins.get(entry.id()));
                figures.add_to_object(&mut object);
                object
            });
            let list: Vec<_> = list.collect();
            output::data(&format!("{:#}\n", json!(list)))?
        }
        _ => {
            let message =
                format!("--format {:?} is not available here\n  help: write terminal or json", flags.format);
            return Err(BadArguments(message).into());
        }
    }
    Ok(Exit::Ok)
}

/// Tables of all series, with an empty line between them.
fn trends(series: &[Series]) -> String {
    if series.is_empty() {
        return "no valid runs to compare; searches for a capacity have no trend\n".to_owned();
    }
    let tables: Vec<String> = series.iter().map(Series::table).collect();
    tables.join("\n")
}

/// Removes runs and studies. Finds all of them before it removes the first.
fn remove(flags: &RemoveFlags) -> anyhow::Result<Exit> {
    let store = Store::open_existing(&flags.store.path())?;
    let (mut studies, mut runs) = (Vec::new(), Vec::new());
    for name in &flags.names {
        let name = named(&store, name)?;
        match name.starts_with(StudyId::PREFIX) {
            true => studies.push(store.find_study(&name)?),
            false => runs.push(store.find(&name)?),
        }
    }
    let running_studies = store.studies()?.into_iter().filter(|study| study.state == StudyState::Running);
    let running_runs = store.runs(usize::MAX)?.into_iter().filter(|run| run.state == RunState::Running);
    let running = running_studies.map(Entry::Study).chain(running_runs.map(|run| Entry::Run(Box::new(run))));
    let names: Vec<&str> =
        studies.iter().map(StudyId::as_str).chain(runs.iter().map(evidence::RunId::as_str)).collect();
    if let Some(entry) = running.into_iter().find(|entry| names.contains(&entry.id())) {
        let what = format!("{} is still running; nothing was removed", entry.id());
        return Err(BadArguments(format!("{what}\n  help: stop it first, or wait for its end")).into());
    }
    let mut text = String::new();
    for name in &names {
        let _ = writeln!(text, "removed {name}");
    }
    studies.iter().try_for_each(|study| store.delete_study(study))?;
    runs.iter().try_for_each(|run| store.delete(run))?;
    output::lines(&text)?;
    Ok(Exit::Ok)
}

fn newest(store: &Store, flags: &HistoryFlags, origins: &Origins) -> anyhow::Result<Vec<Entry>> {
    let studies = store.studies()?.into_iter().map(Entry::Study);
    // Runs of studies are not listed by default, so they must not use up the limit.
    let has_all = flags.runs && flags.label.is_none();
    let runs = store.runs(if has_all { flags.limit } else { usize::MAX })?;
    let runs =
        runs.into_iter().filter(|run| flags.runs || run.place.is_none()).map(|run| Entry::Run(Box::new(run)));
    let is_asked = |entry: &Entry| {
        let label = origins.get(entry.id()).and_then(|origin| origin.label.as_ref());
        flags.label.is_none() || label == flags.label.as_ref()
    };
    let mut entries: Vec<Entry> = studies.chain(runs).filter(is_asked).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.started_at_unix_ms()));
    entries.truncate(flags.limit);
    Ok(entries)
}

/// Table with a line for each entry. Labels and commits have a column if there are any.
fn table(entries: &[Entry], figures: &[Figures], origins: &Origins) -> String {
    let origin =
        |entry: &Entry| report::visible(&origins.get(entry.id()).map_or(String::new(), report::build));
    let origin_width = entries.iter().map(|entry| origin(entry).chars().count() + 2).max().unwrap_or(0);
    let origin_width = if origin_width > 2 { origin_width.max("build".len() + 2) } else { 0 };
    let head = if origin_width > 0 { "build" } else { "" };
    let mut text = format!(
        "{:<24}{:<26}{:<13}{:>12}{:>14}{:>10}  {head:<origin_width$}{}\n",
        "name", "started (UTC)", "verdict", "sent", "throughput", "p99", "what"
    );
    for (entry, figures) in entries.iter().zip(figures) {
        let started = Utc::from_unix_ms(entry.started_at_unix_ms()).to_string();
        let (name, verdict, much, what) = match entry {
            Entry::Run(run) => (
                run.id.as_str(),
                state(run),
                run.sent.to_string(),
                format!("{}; {}", run.title, run.load_words),
            ),
            Entry::Study(study) => {
                let question = study.question.as_deref().unwrap_or("a study");
                let done = format!("{}/{} runs", study.done, study.planned);
                (study.id.as_str(), study_state(study), done, format!("{}: {question}", study.title))
            }
        };
        let (what, origin) = (report::visible(&what), origin(entry));
        let [throughput, p99] = figures.cells();
        let _ = writeln!(
            text,
            "{name:<24}{started:<26}{verdict:<13}{much:>12}{throughput:>14}{p99:>10}  {origin:<origin_width$}{what}"
        );
    }
    text
}

fn object(entry: &Entry, origin: Option<&Origin>) -> serde_json::Value {
    let origin = origin.cloned().unwrap_or_default();
    let started_at = Utc::from_unix_ms(entry.started_at_unix_ms()).to_string();
    match entry {
        Entry::Run(run) => json!({
            "id": run.id.as_str(),
            "label": origin.label,
            "commit": origin.commit,
            "branch": origin.branch,
            "started_at": started_at,
            "title": run.title,
            "load": run.load_words,
            "verdict": state(run),
            "sent": run.sent,
            "ok": run.ok,
            "study": run.place.as_ref().map(|(study, _)| study.as_str()),
        }),
        Entry::Study(study) => json!({
            "id": study.id.as_str(),
            "label": origin.label,
            "commit": origin.commit,
            "branch": origin.branch,
            "started_at": started_at,
            "title": study.title,
            "question": study.question,
            "verdict": study_state(study),
            "planned": study.planned,
            "done": study.done,
        }),
    }
}

fn state(run: &Summary) -> &'static str {
    match run.state {
        RunState::Running => "running",
        RunState::Partial => "partial",
        RunState::Ended(verdict) => verdict.name(),
    }
}

fn study_state(study: &StudySummary) -> &'static str {
    match (study.state, study.verdict) {
        (StudyState::Complete, Some(verdict)) => verdict.name(),
        (state, _) => state.name(),
    }
}
