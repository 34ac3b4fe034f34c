//! `tenbin history`: what is in the store.

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;
use store::{State, Store, Summary, Utc};

use crate::commands::StoreFlag;
use crate::exit::{BadArguments, Exit};
use crate::output;

/// How many, and how.
#[derive(Args, Debug)]
pub(crate) struct HistoryFlags {
    /// Show at most this many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// terminal or json.
    #[arg(long, value_name = "FORMAT", default_value = "terminal", help_heading = "Results")]
    format: String,
    #[command(flatten)]
    store: StoreFlag,
}

/// Lists them.
pub(crate) fn run(flags: &HistoryFlags) -> anyhow::Result<Exit> {
    let store = Store::open_existing(&flags.store.path())?;
    let runs = store.runs(flags.limit)?;
    match flags.format.as_str() {
        "terminal" => output::lines(&table(&runs))?,
        "json" => output::lines(&format!("{:#}\n", json!(runs.iter().map(object).collect::<Vec<_>>())))?,
        other => {
            let message = format!("--format {other:?} is not known here; write terminal or json");
            return Err(BadArguments(message).into());
        }
    }
    Ok(Exit::Ok)
}

fn table(runs: &[Summary]) -> String {
    let mut text =
        format!("{:<22}{:<26}{:<10}{:>12}  {}\n", "run", "started (UTC)", "verdict", "sent", "what");
    for run in runs {
        let _ = writeln!(
            text,
            "{:<22}{:<26}{:<10}{:>12}  {}; {}",
            run.id.as_str(),
            Utc::from_unix_ms(run.started_at_unix_ms).to_string(),
            state(run),
            run.sent,
            report::visible(&run.title),
            report::visible(&run.load_words),
        );
    }
    text
}

fn object(run: &Summary) -> serde_json::Value {
    json!({
        "id": run.id.as_str(),
        "started_at": Utc::from_unix_ms(run.started_at_unix_ms).to_string(),
        "title": run.title,
        "load": run.load_words,
        "verdict": state(run),
        "sent": run.sent,
        "ok": run.ok,
    })
}

fn state(run: &Summary) -> &'static str {
    match run.state {
        State::Running => "running",
        State::Partial => "partial",
        State::Ended(verdict) => verdict.name(),
    }
}
