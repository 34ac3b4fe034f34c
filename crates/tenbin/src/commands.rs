//! The commands: one file each.

pub(crate) mod capacity;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod keep;
pub(crate) mod load;
pub(crate) mod prepare;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sql;
pub(crate) mod target;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};
use plan::{Fault, Study};

use crate::exit::{BadArguments, CannotRun};

/// What `tenbin` can be told to do besides loading a URL.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a plan file: starts the systems, loads them, repeats in random order, compares.
    Run(run::RunFlags),
    /// Searches for the highest rate at which conditions hold: an interval, from what held to what failed.
    Capacity(Box<capacity::CapacityFlags>),
    /// Says what is wrong with a plan file, or in words what it would do; sends nothing.
    Check(check::CheckFlags),
    /// Makes the tables of a built-in workload on a database, and fills them.
    Prepare(Box<prepare::PrepareFlags>),
    /// Shows stored runs: one in full, several side by side.
    Report(report::ReportFlags),
    /// Holds two stored runs or two stored studies side by side: figures, ratios, and whether they differ.
    Compare(compare::CompareFlags),
    /// Lists the stored runs, newest first.
    History(history::HistoryFlags),
    /// Serves the built-in target, whose truth is known, on loopback until interrupted.
    Target(Box<target::TargetFlags>),
    /// Holds a process of a system; started by `run` and `check`.
    #[command(hide = true)]
    Keep(keep::KeepFlags),
}

/// Where results are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct StoreFlag {
    /// The file that keeps every run [default: tenbin.sqlite in your data directory].
    #[arg(long, value_name = "PATH", help_heading = "Results")]
    store: Option<PathBuf>,
}

impl StoreFlag {
    /// The named file, or the default one.
    pub(crate) fn path(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(store::default_path)
    }
}

/// The plan in a file, or everything that is wrong with it.
fn read_plan(path: &Path, is_quick: bool) -> anyhow::Result<Study> {
    Study::read(path, is_quick).map_err(|faults| BadArguments(faults.to_string()).into())
}

/// An error that lists what stands in the way, if anything does.
fn refuse(faults: &[Fault]) -> anyhow::Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(CannotRun(listed(faults, "nothing was started")).into())
}

/// Every fault, how many they are, and what was left undone for them.
fn listed(faults: &[Fault], undone: &str) -> String {
    let list: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let count = if list.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", list.len()) };
    format!("{}\n{count}; {undone}", list.join("\n"))
}

/// Where this program lies: it starts itself to hold the processes of systems.
fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe()
        .context("this program cannot find its own file, which holds the processes of systems")
}
