//! Plans of studies of the built-in target.

use std::fs;
use std::path::PathBuf;

use crate::bench::Bench;

/// Plan of a study. `path` is the path of each request; `load`, `systems`, and `compare` are YAML. For `systems`, see [`system`].
pub(crate) struct Plan<'a> {
    pub(crate) question: &'a str,
    pub(crate) path: &'a str,
    pub(crate) load: &'a str,
    pub(crate) systems: &'a str,
    pub(crate) compare: &'a str,
    pub(crate) seed: u64,
}

/// Returns the YAML of a system that starts the built-in target with `flags`. `vary` is YAML, empty if no parameter varies. The port
/// is also the seed, so that each start draws different hold times.
pub(crate) fn system(name: &str, flags: &str, vary: &str) -> String {
    let vary = if vary.is_empty() { String::new() } else { format!("    vary: {vary}\n") };
    format!(
        "  {name}:\n    start: \"{{tenbin}} target --listen 127.0.0.1:{{port}} --seed {{port}} {flags}\"\n    \
         ready: {{ get: /status, within: 20s }}\n{vary}"
    )
}

/// Returns the YAML of a system that `command` starts. Readiness is a TCP check, because the target's times count from its first
/// request, which must come from the load.
pub(crate) fn started(name: &str, command: &str) -> String {
    format!("  {name}:\n    start: \"{command}\"\n    ready: {{ tcp: true, within: 20s }}\n")
}

/// Target flags that lengthen hold times by a factor for the whole run. The factor must follow.
pub(crate) const LONGER: &str = "--slow-start 24h --slow-start-factor";

impl Plan<'_> {
    /// Writes the plan into a file.
    pub(crate) fn write(&self, bench: &Bench) -> Result<PathBuf, String> {
        let Self { question, path, load, systems, compare, seed } = self;
        let text = format!(
            "question: {question}\nseed: {seed}\nscenario:\n  - get: \"{path}\"\n    expect: {{ status: 200 }}\n\
             load: {load}\nsystems:\n{systems}compare: {compare}\n"
        );
        let file = bench.file("yaml");
        fs::write(&file, text).map_err(|error| format!("cannot write a plan: {error}"))?;
        Ok(file)
    }
}
