//! Command line and output parser of each tool. To add a tool, add a file and a line in `TOOLS`.

mod ab;
mod bare;
mod h2load;
mod hey;
mod oha;
mod tenbin;
mod wrk;
mod wrk2;
mod zrk;

use std::net::SocketAddr;

use crate::measured::Measured;

/// All tools, in the order of their turns.
pub(crate) const TOOLS: &[&Tool] = &[
    &tenbin::TOOL,
    &tenbin::ALONE,
    &bare::TOOL,
    &wrk::TOOL,
    &ab::TOOL,
    &h2load::TOOL,
    &oha::TOOL,
    &hey::TOOL,
    &zrk::TOOL,
    &wrk2::TOOL,
];

/// Name of the tool that all others are compared with.
pub(crate) const OURS: &str = tenbin::TOOL.name;
/// Name of Tenbin's closed loop on one connection, which measures response times without queueing.
pub(crate) const OURS_ALONE: &str = tenbin::ALONE.name;

/// Load generator for HTTP.
#[derive(Debug)]
pub(crate) struct Tool {
    /// Name in cases, tables, and JSON.
    pub(crate) name: &'static str,
    /// Location of the program.
    pub(crate) program: Program,
    /// Command that installs the tool, or a hint.
    pub(crate) how_to_get: &'static str,
    /// Arguments that print the version. Empty if the tool cannot print it.
    pub(crate) version: &'static [&'static str],
    /// Builds the command-line arguments of a turn.
    pub(crate) arguments: fn(&Order<'_>) -> Vec<String>,
    /// Parses the tool's standard output. Returns an error message if figures are missing.
    pub(crate) parse: fn(&str) -> Result<Measured, String>,
    /// Exit codes after which the tool's figures are valid.
    pub(crate) good_exits: &'static [i32],
}

/// Location of a tool's program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// This comparison program, which contains the bare loop.
    ThisOne,
    /// Path in `--tenbin`.
    Tenbin,
    /// Path in `--wrk2`, or else `wrk2` on the `PATH`.
    Wrk2,
    /// Path in `--zrk`, or else `zrk` on the `PATH`.
    Zrk,
    /// Name of a program on the `PATH`.
    OnPath(&'static str),
}

/// Load on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of keep-alive connections, each with one request in flight.
    pub(crate) connections: u32,
    /// Requests per second of an open loop. `None` for a closed loop.
    pub(crate) rate: Option<u32>,
    /// Whether connections use TLS.
    pub(crate) is_tls: bool,
}

/// Load, server, and duration of a tool's turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) load: Load,
    /// Address of the server.
    pub(crate) address: SocketAddr,
    /// Duration of the load, in seconds.
    pub(crate) seconds: u32,
    /// Path of the store in which Tenbin saves its runs.
    pub(crate) store: &'a str,
}

impl Order<'_> {
    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}/", if self.load.is_tls { "https" } else { "http" }, self.address)
    }
}

/// Returns the tool called `name`.
pub(crate) fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    use super::*;

    pub(crate) fn order(connections: u32, rate: Option<u32>) -> Order<'static> {
        let load = Load { connections, rate, is_tls: false };
        Order { load, address: (Ipv4Addr::LOCALHOST, 8080).into(), seconds: 5, store: "runs.sqlite" }
    }

    #[test]
    fn every_tool_has_a_name_of_its_own() {
        let names: BTreeSet<_> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), TOOLS.len());
    }

    #[test]
    fn every_tool_is_sent_to_the_server_with_all_connections() {
        for tool in TOOLS.iter().filter(|tool| tool.name != OURS_ALONE) {
            let arguments = (tool.arguments)(&order(321, Some(7_000))).join(" ");
            assert!(
                arguments.contains("127.0.0.1:8080") && arguments.contains("321"),
                "{}: {arguments}",
                tool.name
            );
        }
    }

    #[test]
    fn foreign_words_are_a_failure_of_every_tool() {
        for tool in TOOLS {
            for odd in [
                "",
                "{",
                "{}",
                "[]",
                "no such host",
                "requests in\nRequests/sec:",
                "\u{0}",
                "{\"requests\": 0}",
            ] {
                assert!((tool.parse)(odd).is_err(), "{}: {odd:?}", tool.name);
            }
        }
    }

    #[test]
    fn an_output_that_is_cut_is_read_in_full_or_not_at_all() {
        let samples: [(&Tool, &str); 8] = [
            (&tenbin::TOOL, include_str!("../samples/tenbin.json")),
            (&wrk::TOOL, include_str!("../samples/wrk.txt")),
            (&wrk2::TOOL, include_str!("../samples/wrk2.txt")),
            (&ab::TOOL, include_str!("../samples/ab.txt")),
            (&h2load::TOOL, include_str!("../samples/h2load.txt")),
            (&hey::TOOL, include_str!("../samples/hey.txt")),
            (&zrk::TOOL, include_str!("../samples/zrk.json")),
            (&oha::TOOL, include_str!("../samples/oha.json")),
        ];
        for (tool, sample) in samples {
            let whole = (tool.parse)(sample).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
            let lines: Vec<&str> = sample.lines().collect();
            for count in 0..lines.len() {
                if let Ok(part) = (tool.parse)(&lines[..count].join("\n")) {
                    assert_eq!(part, whole, "{} after {count} lines", tool.name);
                }
            }
        }
    }
}
