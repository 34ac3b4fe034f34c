//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::Parser;

/// Tenbin, pgbench and sysbench on PostgreSQL and MariaDB, taking turns: CPU per transaction, throughput, memory, and the
/// ratios.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Flags {
    /// Only these cases, such as select-prepared-16 or select-prepared: select-prepared, select-simple, tpcb-simple, pg-point,
    /// maria-point, maria-read-write, each with -1, -16 and -64 clients; loading.
    #[arg(long = "case", value_name = "LIST", value_delimiter = ',')]
    pub(crate) cases: Vec<String>,
    /// How often every tool has its turn.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// How long one turn is.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Where every single measurement is written.
    #[arg(long, value_name = "FILE", default_value = "target/bench-sql.json")]
    pub(crate) json: PathBuf,
    /// Where a dated table for documents is written: what Tenbin costs in relation to each of the others.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// The program that is compared.
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
