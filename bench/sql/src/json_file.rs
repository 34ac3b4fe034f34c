//! Every single measurement, for whoever wants to reckon again.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use crate::flags::Flags;
use crate::row::Row;

#[derive(Serialize)]
struct File<'a> {
    schema: &'static str,
    machine: &'a str,
    rounds: u32,
    seconds: u32,
    rows: &'a [Row],
}

/// Writes all rows so far. Called after every case, so that an end half-way loses little.
///
/// # Errors
///
/// The file cannot be written; the sentence names it.
pub(crate) fn write(path: &Path, machine: &str, flags: &Flags, rows: &[Row]) -> anyhow::Result<()> {
    let file = File { schema: "bench-sql/1", machine, rounds: flags.rounds, seconds: flags.seconds, rows };
    let text = serde_json::to_string_pretty(&file).context("cannot write JSON")?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    fs::write(path, text + "\n")
        .with_context(|| format!("cannot write {}; name another with --json", path.display()))
}
