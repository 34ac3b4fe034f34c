//! `tenbin completions SHELL`: prints the script with which a shell asks this program for completions.

use std::ffi::OsStr;

use clap::{Args, ValueEnum};
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{Bash, CompleteEnv, EnvCompleter, Fish, Zsh};
use store::Store;

use crate::arguments::PLAN_EXTENSIONS;
use crate::exit::Exit;
use crate::output;

/// Environment variable that the scripts set. If it is set, this program only answers with completions.
const VARIABLE: &str = "TENBIN_COMPLETE";
const PROGRAM: &str = "tenbin";
/// Max stored runs and studies to offer, newest first.
const STORED_MAX: usize = 50;

/// For which shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsFlags {
    /// Shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script of a shell.
pub(crate) fn run(flags: &CompletionsFlags) -> anyhow::Result<Exit> {
    let shell: &dyn EnvCompleter = match flags.shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    output::data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// Answers a shell that asks for completions, and then ends this program.
pub(crate) fn answer(command: fn() -> clap::Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).bin(PROGRAM).complete();
}

/// Plans, and folders that may hold some.
pub(crate) fn plan_files(typed: &OsStr) -> Vec<CompletionCandidate> {
    let is_plan = |path: &std::path::Path| {
        path.is_dir()
            || path.extension().is_some_and(|ending| PLAN_EXTENSIONS.iter().any(|plan| ending == *plan))
    };
    PathCompleter::any().filter(is_plan).complete(typed)
}

/// Names of the report formats.
pub(crate) fn formats(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = report::FORMATS.iter().map(|format| format.name);
    names
        .filter(|name| name.as_bytes().starts_with(typed.as_encoded_bytes()))
        .map(CompletionCandidate::new)
        .collect()
}

/// Names in the default store, newest first. Empty if the store cannot be read.
pub(crate) fn stored(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Ok(store) = Store::open_existing(&store::default_path()) else { return Vec::new() };
    let studies = store.studies().unwrap_or_default().into_iter();
    let studies = studies.map(|study| (study.started_at_unix_ms, study.id.as_str().to_owned(), study.title));
    let runs = store.runs(STORED_MAX).unwrap_or_default().into_iter();
    let runs = runs.map(|run| (run.started_at_unix_ms, run.id.as_str().to_owned(), run.title));
    let mut stored: Vec<_> = studies.chain(runs).collect();
    stored.sort_by_key(|(started_at_unix_ms, ..)| std::cmp::Reverse(*started_at_unix_ms));
    let last = ("last".to_owned(), "the newest".to_owned());
    let names = std::iter::once(last).chain(stored.into_iter().map(|(_, id, title)| (id, title)));
    names
        .filter(|(id, _)| id.as_bytes().starts_with(typed.as_encoded_bytes()))
        .take(STORED_MAX)
        .enumerate()
        .map(|(order, (id, title))| {
            let title = report::visible(&title);
            CompletionCandidate::new(id).help(Some(title.into())).display_order(Some(order))
        })
        .collect()
}
