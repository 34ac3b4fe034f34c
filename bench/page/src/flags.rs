//! Command-line flags.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::study::Size;

/// Writes synthetic results into a new store, and prints the name of the run or study.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Subcommand: the kind of result to create.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a study of many runs, with several systems, parameters, and blocks.
    MakeStudy(StudyFlags),
    /// Create one run of many hours.
    MakeLong(LongFlags),
}

/// Flags of `make-study`.
#[derive(Args, Debug)]
pub(crate) struct StudyFlags {
    /// Minimum number of runs. Rounded up, so that each variant runs in every block.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: u32,
    /// Duration of each run, in seconds.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(2..=86_400))]
    pub(crate) seconds: u64,
    /// Number of cores of the synthetic machine.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(crate) cores: u32,
    /// Path of the new store. The file must not exist.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
}

impl StudyFlags {
    pub(crate) fn size(&self) -> Size {
        Size { runs: self.runs, seconds: self.seconds, cores: self.cores }
    }
}

/// Flags of `make-long`.
#[derive(Args, Debug)]
pub(crate) struct LongFlags {
    /// Duration of the run, in hours.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=168))]
    pub(crate) hours: u64,
    /// Path of the new store. The file must not exist.
    #[arg(value_name = "STORE")]
    pub(crate) store: PathBuf,
}
