//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::study::Size;

/// Writes made-up results into a new store, and says the name of what it made.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What can be made.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A study of many runs: systems, parameters, blocks.
    MakeStudy(StudyFlags),
    /// One run that takes hours.
    MakeLong(LongFlags),
}

/// A study of many runs.
#[derive(Args, Debug)]
pub(crate) struct StudyFlags {
    /// How many runs; each variant is measured in the same number of blocks, so it may become a few more.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: u32,
    /// How long each run is.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(2..=86_400))]
    pub(crate) seconds: u64,
    /// Cores of the machine.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(crate) cores: u32,
    /// The file, which must not be there yet.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
}

impl StudyFlags {
    pub(crate) fn size(&self) -> Size {
        Size { runs: self.runs, seconds: self.seconds, cores: self.cores }
    }
}

/// One run that takes hours.
#[derive(Args, Debug)]
pub(crate) struct LongFlags {
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=168))]
    pub(crate) hours: u64,
    /// The file, which must not be there yet.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
}
