//! Plans of studies of the built-in target.

use std::fs;
use std::path::PathBuf;

use crate::bench::Bench;

/// A study of targets. The path is what is asked for; `systems` is YAML of its own, see [`system`].
pub(crate) struct Plan<'a> {
    pub(crate) question: &'a str,
    pub(crate) path: &'a str,
    pub(crate) load: &'a str,
    pub(crate) systems: &'a str,
    pub(crate) compare: &'a str,
    pub(crate) seed: u64,
}

/// A target with these flags under a name; `vary` is YAML, empty if nothing varies. The port is the seed of its draws, so that
/// every start draws others.
pub(crate) fn system(name: &str, flags: &str, vary: &str) -> String {
    let vary = if vary.is_empty() { String::new() } else { format!("    vary: {vary}\n") };
    format!(
        "  {name}:\n    start: \"{{tenbin}} target --listen 127.0.0.1:{{port}} --seed {{port}} {flags}\"\n    \
         ready: {{ get: /status, within: 20s }}\n{vary}"
    )
}

/// A system that a command of its own starts. Its first request is one of the load: from there on the target counts times.
pub(crate) fn started(name: &str, command: &str) -> String {
    format!("  {name}:\n    start: \"{command}\"\n    ready: {{ tcp: true, within: 20s }}\n")
}

/// A flag that makes holds longer by a factor, for as long as anyone measures.
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
