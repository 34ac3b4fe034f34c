//! The commands, one module each, and the flags that they share.

pub(crate) mod baseline;
pub(crate) mod capacity;
pub(crate) mod check;
pub(crate) mod command_mix;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod expects;
pub(crate) mod export;
pub(crate) mod flag_reader;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod keep;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod man;
pub(crate) mod origin;
pub(crate) mod permissions;
pub(crate) mod prepare;
pub(crate) mod proxy;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sql;
pub(crate) mod statements;
pub(crate) mod stored;
pub(crate) mod target;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use plan::{Fault, Study};
use runner::{LocalGenerator, OwnerToken, PublicLoads};

use crate::exit::{BadArguments, CannotRun};
use crate::output;

/// The commands besides `tenbin URL`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a plan: starts systems, repeats loads in random order, compares
    Run(run::RunFlags),
    /// Finds the maximum sustainable load: highest passing rate, lowest failing rate
    Capacity(Box<capacity::CapacityFlags>),
    /// Writes a first plan from three answers
    Init(init::InitFlags),
    /// Reports the errors of a plan, or describes what it would do
    Check(check::CheckFlags),
    /// Creates and fills the tables of a built-in database workload
    Prepare(Box<prepare::PrepareFlags>),
    /// Replays the recorded traffic of a database or web server on another
    Replay(Box<replay::ReplayFlags>),
    /// Shows stored runs and studies
    Report(report::ReportFlags),
    /// Compares two stored runs or studies
    Compare(compare::CompareFlags),
    /// Writes one run or study to a file of its own
    Export(export::ExportFlags),
    /// Lists stored runs and studies, newest first
    History(history::HistoryFlags),
    /// Serves a built-in target with known response times, for trying Tenbin
    Target(Box<target::TargetFlags>),
    /// Passes connections on with delay, limited bandwidth, resets, or stalls
    Proxy(Box<proxy::ProxyFlags>),
    /// Measures what this machine can do, or tries what Tenbin may read and change on it
    Machine(machine::MachineFlags),
    /// Prints the completion script of a shell
    Completions(completions::CompletionsFlags),
    /// Writes the manual pages into a folder
    #[command(hide = true)]
    Man(man::ManFlags),
    /// Holds a process of a system; started by `run` and `check`
    #[command(hide = true)]
    Keep(keep::KeepFlags),
    /// Runs statements of a plan; started by `run` and `check`
    #[command(hide = true)]
    Sql(statements::StatementsFlags),
}

/// Where results are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct StoreFlag {
    /// File that keeps all runs [default: tenbin.sqlite in your data directory]
    #[arg(long, value_name = "PATH", help_heading = "Results", hide_short_help = true)]
    store: Option<PathBuf>,
}

impl StoreFlag {
    /// Path given with `--store`, or else the default path.
    pub(crate) fn path(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(store::default_path)
    }
}

/// Loads of servers on the internet.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct PublicFlag {
    /// Allow public servers whose owners agree
    ///
    /// The server must serve a file that states the maximum rate. Without the file, the error message says which one.
    #[arg(long, help_heading = "Generator", hide_short_help = true)]
    allow_public: bool,
}

impl PublicFlag {
    /// Load generator of this machine. The token that owners of public servers serve is stored next to the default store.
    fn generator(self) -> anyhow::Result<LocalGenerator> {
        if !self.allow_public {
            return Ok(LocalGenerator::default());
        }
        let path = store::default_path().with_file_name("owner-token");
        let token = OwnerToken::from_file(&path).with_context(|| path.display().to_string())?;
        Ok(LocalGenerator { public: PublicLoads::WithConsent(token) })
    }
}

/// Reads a plan, or returns all errors in it. Registers its secrets, and prints its warnings.
fn read_plan(path: &Path, is_quick: bool) -> anyhow::Result<Study> {
    let study = Study::read(path, is_quick).map_err(|errors| BadArguments(errors.to_string()))?;
    output::register_secrets(&study.secrets);
    study.warnings.iter().for_each(|warning| output::warn(warning));
    Ok(study)
}

/// Returns an error that lists the obstacles, if there are any.
fn fail_on(faults: &[Fault]) -> anyhow::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(CannotRun(list_faults(faults, "nothing was started")).into())
}

/// Lists errors, their number, and what was not done because of them.
fn list_faults(faults: &[Fault], undone: &str) -> String {
    let list: String = faults.iter().map(|fault| format!("{}{fault}\n", output::ERROR)).collect();
    let count = if faults.len() == 1 { "1 error".to_owned() } else { format!("{} errors", faults.len()) };
    format!("{list}{count}; {undone}")
}

/// Path of this program, which starts itself again to hold the processes of systems.
pub(crate) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe()
        .context("this program cannot find its own file, which holds the processes of systems")
}
