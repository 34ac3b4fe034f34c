//! Resource use of Tenbin relative to other tools, as a dated table for the documentation.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Context as _;
use units::Utc;

use crate::row::{self, Figure, Row, rss_mib};
use crate::spread::{self, Spread};

/// Comparison with one tool in one case.
#[derive(Clone, Debug)]
pub struct TableLine {
    /// Description of the case.
    pub case: String,
    /// Tool that Tenbin is compared with.
    pub tool: &'static str,
    /// CPU time per request or transaction: Tenbin ÷ tool. `None` if unknown.
    pub cpu: Option<Spread>,
    /// Peak resident memory: Tenbin ÷ tool. `None` if unknown.
    pub rss: Option<Spread>,
}

impl TableLine {
    /// Compares Tenbin, called `ours` in the rows, with another tool. `cpu` is the CPU time per request or transaction.
    pub fn of<M>(case: &str, rows: &[Row<M>], ours: &str, tool: &'static str, cpu: Figure<M>) -> Self {
        let ratio = |figure| spread::of(row::ratios(rows, ours, tool, figure));
        Self { case: case.to_owned(), tool, cpu: ratio(cpu), rss: ratio(rss_mib) }
    }
}

/// Formats the table as Markdown. `machine` describes the machine and the versions.
pub fn table(lines: &[TableLine], machine: &str, rounds: u32, seconds: u32) -> String {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let Utc { year, month, day, .. } = Utc::from_unix_ms(since_1970.as_millis() as i64);
    let mut text = format!(
        "{year}-{month:02}-{day:02}, {machine}; {rounds} rounds of {seconds} s in turns: median (min–max)\n\n"
    );
    text += "| load | Tenbin ÷ | CPU time of each | peak memory |\n|---|---|--:|--:|\n";
    for TableLine { case, tool, cpu, rss } in lines {
        text += &format!("| {case} | {tool} | {} | {} |\n", ratio(*cpu), ratio(*rss));
    }
    text
}

/// Writes the table if a path is given.
///
/// # Errors
///
/// Returns a message with the path if the file cannot be written.
pub fn write(path: Option<&Path>, table: &str) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    fs::write(path, table)
        .with_context(|| format!("cannot write {}; name another with --markdown", path.display()))
}

fn ratio(spread: Option<Spread>) -> String {
    spread.map_or_else(
        || "–".to_owned(),
        |Spread { min, median, max }| format!("{median:.2} ({min:.2}–{max:.2})"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_a_line_with_dashes_for_unknown_figures() {
        let cpu = Some(Spread { min: 0.8, median: 0.85, max: 0.904 });
        let line = TableLine { case: "100 connections".to_owned(), tool: "wrk", cpu, rss: None };
        let text = table(&[line], "2 cores", 5, 3);
        assert!(text.ends_with("| 100 connections | wrk | 0.85 (0.80–0.90) | – |\n"), "{text}");
        assert!(text.contains(", 2 cores; 5 rounds of 3 s"), "{text}");
    }
}
