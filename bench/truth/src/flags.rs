//! Command-line flags.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Plants known truths on the built-in target and in simulated queues, and grades what Tenbin reports.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Flags {
    /// Number and length of the runs.
    #[arg(long, value_enum, default_value_t = Profile::Short)]
    pub(crate) profile: Profile,
    /// Run only these cases, such as T4,T8; a letter selects all cases that begin with it.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Seed of all random draws.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Max number of parallel runs, for cases that do not disturb each other.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) at_once: u32,
    /// Write all grades to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Program to grade.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
    /// Program that provides the built-in target [default: the program to grade].
    #[arg(long, value_name = "PATH")]
    pub(crate) target: Option<PathBuf>,
}

/// Number and length of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// About 7 minutes, for every change.
    Short,
    /// About 45 minutes, for every release.
    Full,
}

impl Profile {
    /// Returns the value for this profile.
    pub(crate) fn pick<T>(self, short: T, full: T) -> T {
        match self {
            Self::Short => short,
            Self::Full => full,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.pick("short", "full")
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
