//! Command line of `bench-why blind`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Runs plants whose author did not read the rules of the program.
#[derive(Debug, Args)]
pub(crate) struct BlindFlags {
    /// Runs only these plants, such as c-tenant-slots,go-gomaxprocs.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "part")]
    pub(crate) only: Vec<String>,
    /// Part of the plants to run.
    #[arg(long, value_enum, default_value_t = Part::First)]
    pub(crate) part: Part,
    /// Measures throughput with and without each cause, and stores the ratios in bench/why/blind/verified.json. Prints no answer.
    #[arg(long, conflicts_with = "show")]
    pub(crate) verify: bool,
    /// Prints the plans without running them.
    #[arg(long)]
    pub(crate) show: bool,
    /// Runs next to a neighbor that keeps random cores busy for random times.
    #[arg(long, conflicts_with_all = ["verify", "show"])]
    pub(crate) noisy: bool,
    /// Starts no plant after N minutes.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) minutes: u64,
    /// Writes all answers to FILE as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Grades earlier answers again, from FILES that --json wrote, without running a plant.
    #[arg(long, value_name = "FILES", value_delimiter = ',', conflicts_with_all = ["only", "part", "verify", "show"])]
    pub(crate) answers: Vec<PathBuf>,
    /// Updates the calibration table in FILE, such as docs/why.md. Has no effect with --only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "show"])]
    pub(crate) document: Option<PathBuf>,
    /// Keeps plans, results, and the store in FOLDER.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Path of the program to grade.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
}

/// Parts of the plants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Three quarters of the plants.
    First,
    /// The other quarter, held back until the work on the program is done.
    Last,
    /// All plants.
    All,
}
