//! Machine that generates a load, so that results of different machines are distinguished.

use std::fs;

use serde_json::{Value, json};

/// A machine, as far as its operating system describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Facts for the records of runs: a JSON object.
    pub facts: Value,
    /// Name of the processor.
    pub processor: String,
    /// Cores that may be used.
    pub cores: Vec<usize>,
}

impl Machine {
    /// Machine of this process.
    pub fn here() -> Self {
        let (uname, cores) = (rustix::system::uname(), engine::allowed_cores());
        let model = field("/proc/cpuinfo", "model name");
        let facts = json!({
            "name": uname.nodename().to_string_lossy(),
            "system": format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
            "cpu": model,
            "cores": cores.len(),
            "memory_bytes": field("/proc/meminfo", "MemTotal").and_then(|text| kibibytes(&text)),
        });
        Self { facts, processor: model.unwrap_or_else(|| "unknown processor".to_owned()), cores }
    }
}

/// Value after the first `name:` in a file with lines of this form.
pub(crate) fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

/// Parses `123 kB` to bytes.
pub(crate) fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
