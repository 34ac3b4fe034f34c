//! What a comparison says while it goes on, and keeps.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

/// What was found out.
///
/// # Errors
///
/// Standard output cannot be written to.
pub fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// What is only of interest meanwhile. If it cannot be shown, nothing is lost.
pub fn say_aside(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Every single measurement so far, for later calculations. Called after every case, so that an end half-way
/// loses little.
#[derive(Serialize)]
pub struct Measurements<'a, Machine, Row> {
    /// Name and version of the format.
    pub schema: &'static str,
    /// What was measured on.
    pub machine: &'a Machine,
    /// How many rounds were asked for.
    pub rounds: u32,
    /// How long each load is.
    pub seconds: u32,
    /// The turns.
    pub rows: &'a [Row],
}

impl<Machine: Serialize, Row: Serialize> Measurements<'_, Machine, Row> {
    /// Writes them all.
    ///
    /// # Errors
    ///
    /// The file cannot be written; the sentence names it.
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
