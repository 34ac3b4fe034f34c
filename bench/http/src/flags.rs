//! Command-line flags.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Compares Tenbin with other load testers on one nginx: CPU time per request, throughput, memory, and their ratios.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) flags: Flags,
}

/// Subcommand. Without one, the program runs a comparison.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the bare loop, which sends requests, reads responses, and counts only responses.
    Bare(BareFlags),
}

/// Flags of a comparison.
#[derive(Args, Debug)]
pub(crate) struct Flags {
    /// Run only these cases: closed-1, closed-100, closed-1000, closed-10000, tls-100, open-2000, or open-20000.
    #[arg(long = "case", value_name = "LIST", value_delimiter = ',')]
    pub(crate) cases: Vec<String>,
    /// Run only these tools. Without tenbin, there are no ratios.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Number of rounds. Each tool has one turn per round.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Duration of a turn, in seconds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Write all measurements to this JSON file.
    #[arg(long, value_name = "FILE", default_value = "target/bench-http.json")]
    pub(crate) json: PathBuf,
    /// Write a dated Markdown table of Tenbin's cost relative to each of the other tools to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Path of the Tenbin program.
    #[arg(long, value_name = "PATH", default_value = "target/release/tenbin")]
    pub(crate) tenbin: PathBuf,
    /// Path of wrk2, unless it is on the PATH as wrk2. Its build names the program wrk.
    #[arg(long, value_name = "PATH")]
    pub(crate) wrk2: Option<PathBuf>,
    /// Path of zrk, unless it is on the PATH.
    #[arg(long, value_name = "PATH")]
    pub(crate) zrk: Option<PathBuf>,
}

/// Flags of the bare loop.
#[derive(Args, Debug)]
pub(crate) struct BareFlags {
    /// Loopback address and port of the server.
    pub(crate) address: SocketAddr,
    /// Number of connections, each with one request in flight.
    #[arg(value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub(crate) connections: u32,
    /// Duration of the load, in seconds, without the time to connect.
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
