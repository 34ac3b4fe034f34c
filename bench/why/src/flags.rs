//! Command line of `bench-why`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::blind::BlindFlags;

/// Plants bottlenecks in real servers and databases, and grades the bottlenecks that the program names.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) suite: Option<Suite>,
    /// Set of cases to run.
    #[arg(long, value_enum, default_value_t = Profile::Short)]
    pub(crate) profile: Profile,
    /// Runs only these cases, such as c-mutex,c-pool, regardless of the profile.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Number of runs of each case.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Runs without a neighbor (the default).
    #[arg(long, conflicts_with = "noisy")]
    pub(crate) quiet: bool,
    /// Runs next to a neighbor that keeps random cores busy for random times.
    #[arg(long)]
    pub(crate) noisy: bool,
    /// Writes all grades to FILE as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Updates the calibration table in FILE, such as docs/why.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
    /// Keeps the result of each run, as CASE-N.json, and the store in FOLDER.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Path of the program to grade.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
}

/// Suites other than the default one.
#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Runs plants whose author did not read the rules of the program
    Blind(BlindFlags),
}

/// Set of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Cases that the program reliably gets right, for each change: two minutes. Repeats a case that is not right if the machine was busy.
    Short,
    /// All cases.
    Full,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Full => "full",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Flags::command().debug_assert();
    }
}
