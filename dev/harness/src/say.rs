//! Output of a benchmark: results, progress, and the file of measurements.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

/// Prints a result.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Prints progress to standard error. Ignores errors.
pub fn print_progress(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// All measurements so far, for later analysis. Written after every case, so that little is lost if the program ends early.
#[derive(Serialize)]
pub struct Measurements<'a, Machine, Row> {
    /// Name and version of the format.
    pub schema: &'static str,
    /// Description of the machine.
    pub machine: &'a Machine,
    /// Number of requested rounds.
    pub rounds: u32,
    /// Duration of each load, in seconds.
    pub seconds: u32,
    /// Turns of the tools.
    pub rows: &'a [Row],
}

impl<Machine: Serialize, Row: Serialize> Measurements<'_, Machine, Row> {
    /// Writes all measurements.
    ///
    /// # Errors
    ///
    /// Returns a message with the path if the file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot write JSON")?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}; name another with --json", path.display()))
    }
}
