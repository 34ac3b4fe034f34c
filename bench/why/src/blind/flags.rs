//! Command line of `bench-why blind`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Runs plants whose author did not read the rules of the program.
#[derive(Debug, Args)]
pub(crate) struct BlindFlags {
    /// Only these plants, such as c-tenant-slots,go-gomaxprocs.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "part")]
    pub(crate) only: Vec<String>,
    /// Part of the plants.
    #[arg(long, value_enum, default_value_t = Part::First)]
    pub(crate) part: Part,
    /// Measures throughput with and without each cause, and adds the ratios to bench/why/blind/verified.json. Prints no answer.
    #[arg(long, conflicts_with = "show")]
    pub(crate) verify: bool,
    /// Prints the plans and runs nothing.
    #[arg(long)]
    pub(crate) show: bool,
    /// With a neighbor that keeps random cores busy for random times.
    #[arg(long, conflicts_with_all = ["verify", "show"])]
    pub(crate) noisy: bool,
    /// Starts no plant after so many minutes.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) minutes: u64,
    /// Where every answer is written as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Grades the answers of earlier runs again, as --json wrote them, and runs nothing.
    #[arg(long, value_name = "FILES", value_delimiter = ',', conflicts_with_all = ["only", "part", "verify", "show"])]
    pub(crate) answers: Vec<PathBuf>,
    /// Document whose table of calibration is written, such as docs/why.md. Not with --only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "show"])]
    pub(crate) document: Option<PathBuf>,
    /// A folder that keeps plans, results, and the store.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// The program that is graded.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
}

/// Parts of the plants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Three quarters of the plants.
    First,
    /// The other quarter, which is run for the first time when the work on the program is done.
    Last,
    /// All plants.
    All,
}
