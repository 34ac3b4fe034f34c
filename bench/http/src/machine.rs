//! Describes the machine of a comparison: its cores, its kernel, and the versions of server and tools.

use std::collections::BTreeMap;

use serde::Serialize;

use harness::cores::Cores;
use harness::interrupt::Interrupt;
use harness::version::ask;

use crate::cases::Case;
use crate::installed::Installed;
use crate::tools::OURS_ALONE;

/// Machine and versions, for the first line of the output and for the JSON file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    cores: Cores,
    kernel: String,
    /// Versions by name of the program. Empty text if the program prints no version.
    versions: BTreeMap<&'static str, String>,
}

/// Collects the versions of the kernel, nginx, and all installed tools of `cases`.
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

/// Formats the description as one line.
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
