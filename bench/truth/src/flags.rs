//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Plants truths on the built-in target and in simulated queues, and grades what the program finds.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Flags {
    /// How many times each truth is planted.
    #[arg(long, value_enum, default_value_t = Profile::Short)]
    pub(crate) profile: Profile,
    /// Only these cases, such as T4,T8; a letter stands for all that begin with it.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Seed of every draw.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Runs that go on at the same time, of the cases that do not disturb each other.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) at_once: u32,
    /// Where every grade is written as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// The program that is graded.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
    /// The program whose built-in target is loaded [default: the program that is graded].
    #[arg(long, value_name = "PATH")]
    pub(crate) target: Option<PathBuf>,
}

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Seven minutes, for every change.
    Short,
    /// Three quarters of an hour, for every release.
    Full,
}

impl Profile {
    /// One of two numbers.
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
