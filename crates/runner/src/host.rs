//! The machine that measured, so that results of different machines can be told apart.

use std::fs;

use serde_json::{Value, json};

/// Its facts, as far as the system tells them.
pub fn describe() -> Value {
    let uname = rustix::system::uname();
    json!({
        "name": uname.nodename().to_string_lossy(),
        "system": format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        "cpu": field("/proc/cpuinfo", "model name"),
        "cores": engine::allowed_cores().len(),
        "memory_bytes": field("/proc/meminfo", "MemTotal").and_then(|text| kibibytes(&text)),
    })
}

/// The processor, and how many cores of it may be used.
pub(crate) fn processor() -> String {
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    format!("{model}, {} cores", engine::allowed_cores().len())
}

/// The value behind the first `name:` of a file of such lines.
pub(crate) fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

/// `123 kB` in bytes.
pub(crate) fn kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
