//! Command-line flags.

use std::path::PathBuf;

use clap::Parser;

/// Compares Tenbin with pgbench and sysbench on PostgreSQL and MariaDB: CPU time per transaction, throughput, memory, and their
/// ratios.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Flags {
    /// Run only these cases: select-prepared, select-simple, tpcb-simple, pg-point, maria-point, maria-read-write, or loading. A
    /// suffix of -1, -16, or -64 selects a number of clients, such as select-prepared-16; loading has none.
    #[arg(long = "case", value_name = "LIST", value_delimiter = ',')]
    pub(crate) cases: Vec<String>,
    /// Number of rounds. Each tool has one turn per round.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Duration of a turn, in seconds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Write all measurements to this JSON file.
    #[arg(long, value_name = "FILE", default_value = "target/bench-sql.json")]
    pub(crate) json: PathBuf,
    /// Write a dated Markdown table of Tenbin's cost relative to each of the other tools to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Path of the Tenbin program.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
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
