//! The machine that was measured on: which core does what, and which versions took part.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde::Serialize;

use crate::cases::Case;
use crate::child;
use crate::installed::Installed;
use crate::interrupt::Interrupt;
use crate::tools::OURS_ALONE;

const PATIENCE: Duration = Duration::from_secs(10);

/// Who runs where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cores {
    /// The core of nginx.
    pub(crate) server: usize,
    /// The core that the tools take turns on.
    pub(crate) client: usize,
    /// How many this program may use; the others are left alone.
    pub(crate) count: u32,
}

/// What stands in the first line, and in the file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cores: Cores,
    kernel: String,
    /// By name; empty where a program does not tell.
    versions: BTreeMap<&'static str, String>,
}

/// The first two cores that may be used.
///
/// # Errors
///
/// There is only one: then client and server would measure each other.
pub(crate) fn two_cores() -> anyhow::Result<Cores> {
    let set = sched_getaffinity(None).context("cannot ask for the cores of this machine")?;
    let mut cores = (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core));
    match (cores.next(), cores.next()) {
        (Some(server), Some(client)) => Ok(Cores { server, client, count: set.count() }),
        _ => bail!(
            "one core is not enough, since client and server need one each; use another machine or taskset -c 0,1"
        ),
    }
}

/// Asks everything that takes part for its version.
pub(crate) fn describe(
    installed: &Installed,
    cores: Cores,
    cases: &[Case],
    interrupt: &Interrupt,
) -> anyhow::Result<Machine> {
    let mut versions = BTreeMap::from([("nginx", ask("nginx", &installed.nginx, &["-v"], interrupt))]);
    for tool in cases
        .iter()
        .flat_map(|case| &case.tools)
        .filter(|tool| !tool.version.is_empty() && tool.name != OURS_ALONE)
    {
        if let Some(program) = installed.program(tool) {
            versions.entry(tool.name).or_insert_with(|| ask(tool.name, program, tool.version, interrupt));
        }
    }
    let uname = rustix::system::uname();
    let kernel = format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy());
    Ok(Machine { cores, kernel, versions })
}

/// One line.
pub(crate) fn sentence(machine: &Machine) -> String {
    let Machine { cores, kernel, versions } = machine;
    let versions: Vec<String> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    format!(
        "{} cores · {kernel} · server (nginx, one worker) on core {}, clients in turn on core {} · {}",
        cores.count,
        cores.server,
        cores.client,
        versions.join(", ")
    )
}

fn ask(name: &str, program: &Path, arguments: &[&str], interrupt: &Interrupt) -> String {
    let output = child::run(Command::new(program).args(arguments), PATIENCE, interrupt);
    output
        .ok()
        .and_then(|output| version_in(&output.stdout, name).or_else(|| version_in(&output.stderr, name)))
        .unwrap_or_default()
}

/// The first word that looks like a version.
fn version_in(text: &str, name: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(is_version)?.trim_end_matches([',', ';']);
    let word = word.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')).unwrap_or(word);
    Some(word.chars().filter(char::is_ascii_graphic).take(40).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let found = |text, name| version_in(text, name).unwrap_or_default();
        assert_eq!(found("nginx version: nginx/1.22.1\n", "nginx"), "1.22.1");
        assert_eq!(found("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012", "wrk"), "debian/4.1.0-3+b2");
        assert_eq!(found("This is ApacheBench, Version 2.3 <$Revision: 1 $>", "ab"), "2.3");
        assert_eq!(found("h2load nghttp2/1.52.0", "h2load"), "nghttp2/1.52.0");
        assert_eq!(found("zrk 1.4.2", "zrk"), "1.4.2");
        assert_eq!(version_in("no version at all", "x"), None);
    }
}
