//! `tenbin history`: what is in the store.

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;
use store::{State, Store, StudyState, StudySummary, Summary, Utc};

use crate::commands::StoreFlag;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// How many, and how.
#[derive(Args, Debug)]
pub(crate) struct HistoryFlags {
    /// Show at most this many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show the runs of studies one by one, too.
    #[arg(long)]
    runs: bool,
    /// terminal or json.
    #[arg(long, value_name = "FORMAT", default_value = "terminal", help_heading = "Results")]
    format: String,
    #[command(flatten)]
    store: StoreFlag,
}

/// Something that was kept.
enum Entry {
    Run(Summary),
    Study(StudySummary),
}

impl Entry {
    fn started_at_unix_ms(&self) -> i64 {
        match self {
            Self::Run(run) => run.started_at_unix_ms,
            Self::Study(study) => study.started_at_unix_ms,
        }
    }
}

/// Lists them.
pub(crate) fn run(flags: &HistoryFlags) -> anyhow::Result<Exit> {
    let store = Store::open_existing(&flags.store.path())?;
    let entries = newest(&store, flags)?;
    match flags.format.as_str() {
        "terminal" => output::lines(&table(&entries))?,
        "json" => output::data(&format!("{:#}\n", json!(entries.iter().map(object).collect::<Vec<_>>())))?,
        other => {
            let message = format!("--format {other:?} is not known here; write terminal or json");
            return Err(BadArguments(message).into());
        }
    }
    Ok(Exit::Ok)
}

fn newest(store: &Store, flags: &HistoryFlags) -> anyhow::Result<Vec<Entry>> {
    let studies = store.studies()?.into_iter().map(Entry::Study);
    // Runs of studies, which are not shown, must not use up the limit.
    let runs = store.runs(if flags.runs { flags.limit } else { usize::MAX })?;
    let runs = runs.into_iter().filter(|run| flags.runs || run.place.is_none()).map(Entry::Run);
    let mut entries: Vec<Entry> = studies.chain(runs).collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.started_at_unix_ms()));
    entries.truncate(flags.limit);
    Ok(entries)
}

fn table(entries: &[Entry]) -> String {
    let mut text =
        format!("{:<24}{:<26}{:<13}{:>12}  {}\n", "name", "started (UTC)", "verdict", "sent", "what");
    for entry in entries {
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
        let what = report::visible(&what);
        let _ = writeln!(text, "{name:<24}{started:<26}{verdict:<13}{much:>12}  {what}");
    }
    text
}

fn object(entry: &Entry) -> serde_json::Value {
    let started_at = Utc::from_unix_ms(entry.started_at_unix_ms()).to_string();
    match entry {
        Entry::Run(run) => json!({
            "id": run.id.as_str(),
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
        State::Running => "running",
        State::Partial => "partial",
        State::Ended(verdict) => verdict.name(),
    }
}

fn study_state(study: &StudySummary) -> &'static str {
    match (study.state, study.verdict) {
        (StudyState::Complete, Some(verdict)) => verdict.name(),
        (state, _) => state.name(),
    }
}
