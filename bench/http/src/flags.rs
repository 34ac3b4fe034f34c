//! What can be asked for on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Tenbin and its peers on one nginx, taking turns: CPU per request, throughput, memory, and the ratios.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) flags: Flags,
}

/// What the program can do besides comparing.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The floor: sends and reads in one bare loop, and counts nothing but replies.
    Bare(BareFlags),
}

/// The flags of a comparison.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// Only these cases: closed-1, closed-100, closed-1000, closed-10000, tls-100, open-2000, open-20000.
    #[arg(long = "case", value_name = "LIST", value_delimiter = ',')]
    pub(crate) cases: Vec<String>,
    /// Only these tools; without tenbin there are no ratios.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// How often every tool has its turn.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// How long one turn is.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Where every single measurement is written.
    #[arg(long, value_name = "FILE", default_value = "target/bench-http.json")]
    pub(crate) json: PathBuf,
    /// Where a dated table for documents is written: what Tenbin costs in relation to each of the others.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// The program that is compared.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
    /// wrk2, whose program is called wrk as well and is therefore not looked for.
    #[arg(long, value_name = "PATH")]
    pub(crate) wrk2: Option<PathBuf>,
    /// zrk, if it is not on the PATH.
    #[arg(long, value_name = "PATH")]
    pub(crate) zrk: Option<PathBuf>,
}

/// The flags of the bare loop.
#[derive(Args, Debug)]
pub(crate) struct BareFlags {
    /// A loopback address with its port.
    pub(crate) address: SocketAddr,
    /// Connections, each with one request at a time.
    #[arg(value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub(crate) connections: u32,
    /// How long, connecting excluded.
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(crate) seconds: u32,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_flags_are_consistent() {
        Arguments::command().debug_assert();
    }
}
