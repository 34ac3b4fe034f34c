//! The machine that was measured on: which core does what, and which versions took part.

use std::collections::BTreeMap;

use serde::Serialize;

use harness::cores::Cores;
use harness::interrupt::Interrupt;
use harness::version::ask;

use crate::cases::Case;
use crate::installed::Installed;
use crate::tools::OURS_ALONE;

/// What stands in the first line, and in the file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cores: Cores,
    kernel: String,
    /// By name; empty where a program does not tell.
    versions: BTreeMap<&'static str, String>,
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
