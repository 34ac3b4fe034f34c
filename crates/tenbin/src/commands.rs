//! The commands: one file each.

pub(crate) mod history;
pub(crate) mod load;
pub(crate) mod report;
pub(crate) mod target;

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `tenbin` can be told to do besides loading a URL.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows stored runs: one in full, several side by side.
    Report(report::ReportFlags),
    /// Lists the stored runs, newest first.
    History(history::HistoryFlags),
    /// Serves the built-in target, whose truth is known, on loopback until interrupted.
    Target(Box<target::TargetFlags>),
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

/// The named format, or an error that lists the known ones.
pub(crate) fn format(name: &str) -> anyhow::Result<&'static ::report::Format> {
    ::report::format(name).ok_or_else(|| {
        let known: Vec<&str> = ::report::FORMATS.iter().map(|format| format.name).collect();
        let message = format!("--format {name:?} is not known; write one of {}", known.join(", "));
        crate::exit::BadArguments(message).into()
    })
}
