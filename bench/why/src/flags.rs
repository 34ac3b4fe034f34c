//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::blind::BlindFlags;

/// Plants bottlenecks in real servers and databases, and grades what the program says of them.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, args_conflicts_with_subcommands = true)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) suite: Option<Suite>,
    /// Which cases.
    #[arg(long, value_enum, default_value_t = Profile::Short)]
    pub(crate) profile: Profile,
    /// Only these cases, such as c-mutex,c-pool, whatever the profile.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// How many times each case is run.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeat: u32,
    /// Without a neighbor (the default).
    #[arg(long, conflicts_with = "noisy")]
    pub(crate) quiet: bool,
    /// With a neighbor that keeps random cores busy for random times.
    #[arg(long)]
    pub(crate) noisy: bool,
    /// Where every grade is written as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Document whose table of calibration is written, such as docs/why.md.
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
    /// A folder that keeps the result of every run, as CASE-N.json, and the store.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// The program that is graded.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
}

/// Another suite than that of the flags.
#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Plants whose author did not read the rules of the program
    Blind(BlindFlags),
}

/// How many cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// Cases that the program gets right reliably, for every change: two minutes. One that is not right is run once more.
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
