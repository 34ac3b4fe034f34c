//! Reports a case as two tables: the figures of each tool, and the ratios of Tenbin to each of the other tools.

use std::fmt::Write as _;

use harness::aligned::{aligned, cell};
use harness::markdown::TableLine;
use harness::row::{self, Turn, cpu_s, rss_mib, wall_s};
use harness::spread;

use crate::cases::{Case, Work};
use crate::row::{CPU_US, Figure, PER_S, Row};
use crate::tools::OURS;

struct Column {
    title: &'static str,
    figure: Figure,
    decimals: usize,
}

const OF_TRANSACTIONS: &[Column] = &[
    Column { title: "transactions/s", figure: PER_S, decimals: 0 },
    Column { title: "client CPU µs/transaction", figure: CPU_US, decimals: 2 },
    Column { title: "peak RSS MiB", figure: rss_mib, decimals: 1 },
    Column { title: "wall s", figure: wall_s, decimals: 2 },
];
const OF_LOADING: &[Column] = &[
    Column { title: "wall s", figure: wall_s, decimals: 2 },
    Column { title: "client CPU s", figure: cpu_s, decimals: 2 },
    Column { title: "peak RSS MiB", figure: rss_mib, decimals: 1 },
];

/// Formats the report of a case: figures, ratios, and remarks.
pub(crate) fn of(case: &Case, rows: &[Row], rounds: u32, seconds: u32) -> String {
    let columns = if case.load.work == Work::Loading { OF_LOADING } else { OF_TRANSACTIONS };
    let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
    let length = if case.load.work == Work::Loading { String::new() } else { format!(" of {seconds} s") };
    let mut text = format!("\n{}: {} ({rounds}{length})\n", case.name, case.title);
    text += &figures(case, rows, columns);
    text += &ratios(case, rows, columns);
    text += &remarks(rows);
    text
}

fn figures(case: &Case, rows: &[Row], columns: &[Column]) -> String {
    let mut lines = vec![titles("tool", columns)];
    for tool in &case.tools {
        let spreads = columns.iter().map(|column| {
            let values = row::values(rows, tool.name, column.figure);
            cell(spread::of(values), column.decimals)
        });
        lines.push(std::iter::once(tool.name.to_owned()).chain(spreads).collect());
    }
    "min – median – max over the rounds\n".to_owned() + &aligned(&lines)
}

fn ratios(case: &Case, rows: &[Row], columns: &[Column]) -> String {
    let mut lines = vec![titles("tenbin ÷", columns)];
    for tool in case.tools.iter().filter(|tool| tool.name != OURS) {
        let cells = columns
            .iter()
            .map(|column| cell(spread::of(row::ratios(rows, OURS, tool.name, column.figure)), 2));
        lines.push(std::iter::once(tool.name.to_owned()).chain(cells).collect());
    }
    "round by round\n".to_owned() + &aligned(&lines)
}

/// Lists failed turns, errors, and the tools' objections to their own runs.
fn remarks(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { tool, round, turn, .. } in rows {
        let remark = match turn {
            Turn::Failed(reason) => Some(format!("failed: {reason}")),
            Turn::Done(done) => done.measured.as_ref().and_then(|measured| {
                let errors = (measured.errors > 0).then(|| format!("{} errors", measured.errors));
                errors.or_else(|| measured.remark.clone())
            }),
        };
        if let Some(remark) = remark {
            let _ = writeln!(text, "  {tool}, round {round}: {remark}");
        }
    }
    text
}

/// Returns the Markdown table lines of a case: one for each tool that Tenbin is compared with.
pub(crate) fn lines(case: &Case, rows: &[Row]) -> Vec<TableLine> {
    let others = case.tools.iter().filter(|tool| tool.name != OURS);
    others.map(|tool| TableLine::of(&case.title, rows, OURS, tool.name, CPU_US)).collect()
}

fn titles(first: &str, columns: &[Column]) -> Vec<String> {
    std::iter::once(first).chain(columns.iter().map(|column| column.title)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::row::tests::{failed, row};

    #[test]
    fn figures_ratios_and_failures_each_have_their_place() {
        let case = cases::chosen(&["tpcb-simple-1".to_owned()]).unwrap().remove(0);
        let rows =
            [row("tenbin", 1, 1_000_000, 6.0), row("pgbench", 1, 1_000_000, 8.0), failed("pgbench", 2)];
        let text = of(&case, &rows, 2, 5);
        assert!(text.contains("TPC-B-like, simple protocol, 1 client (2 rounds of 5 s)"), "{text}");
        assert!(text.contains("500,000 – 500,000 – 500,000"), "{text}");
        assert!(text.contains("0.75 – 0.75 – 0.75"), "{text}");
        assert!(text.contains("pgbench, round 2: failed: it would not"), "{text}");
    }
}
