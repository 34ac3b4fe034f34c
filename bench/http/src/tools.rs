//! The tools: how each is started, and how its output is read. A new one is a file and a line in `TOOLS`.

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

/// Every tool, in the order of their turns.
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

/// The one that the others are compared with.
pub(crate) const OURS: &str = tenbin::TOOL.name;
/// The same in a closed loop on one connection: what a response takes when nothing waits.
pub(crate) const OURS_ALONE: &str = tenbin::ALONE.name;

/// A load tester.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What it is called here.
    pub(crate) name: &'static str,
    /// Where it is.
    pub(crate) program: Program,
    /// How to get it.
    pub(crate) how_to_get: &'static str,
    /// What makes it tell its version; empty if nothing does.
    pub(crate) version: &'static [&'static str],
    /// Its arguments for a turn.
    pub(crate) arguments: fn(&Order<'_>) -> Vec<String>,
    /// Reads its standard output; the error is a sentence.
    pub(crate) parse: fn(&str) -> Result<Measured, String>,
    /// Exit codes with which its figures stand.
    pub(crate) good_exits: &'static [i32],
}

/// Where a tool's program is found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// This program itself.
    ThisOne,
    /// Where `--tenbin` says.
    Tenbin,
    /// Where `--wrk2` says.
    Wrk2,
    /// Where `--zrk` says, or on the PATH.
    Zrk,
    /// On the PATH.
    OnPath(&'static str),
}

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// Kept alive, one request at a time on each.
    pub(crate) connections: u32,
    /// Requests a second; without it the next request follows each reply.
    pub(crate) rate: Option<u32>,
    /// Whether it goes over TLS.
    pub(crate) is_tls: bool,
}

/// The load that a tool makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    pub(crate) load: Load,
    /// The server.
    pub(crate) address: SocketAddr,
    /// How long.
    pub(crate) seconds: u32,
    /// A file that Tenbin may keep its runs in.
    pub(crate) store: &'a str,
}

impl Order<'_> {
    /// The server as a URL.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}/", if self.load.is_tls { "https" } else { "http" }, self.address)
    }
}

/// The tool of this name.
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
