//! Reports a case as two tables: the figures of each tool, and the ratios of Tenbin to each of the other tools.

use std::fmt::Write as _;

use crate::cases::Case;
use crate::flags::Flags;
use crate::installed::Installed;
use crate::row::{CPU_US, Figure, LATENESS_P99_US, MEDIAN_US, P99_US, REQUESTS_PER_S, Row};
use crate::tools::{OURS, OURS_ALONE, Tool};
use harness::aligned::{aligned, cell};
use harness::markdown::TableLine;
use harness::row::{self, Turn, rss_mib, wall_s};
use harness::spread::{self, Spread};

struct Column {
    title: &'static str,
    figure: Figure,
    decimals: usize,
}

const ALWAYS: [Column; 4] = [
    Column { title: "requests/s", figure: REQUESTS_PER_S, decimals: 0 },
    Column { title: "client CPU µs/request", figure: CPU_US, decimals: 2 },
    Column { title: "peak RSS MiB", figure: rss_mib, decimals: 1 },
    Column { title: "wall s", figure: wall_s, decimals: 2 },
];
const OPEN: [Column; 3] = [
    Column { title: "median response µs", figure: MEDIAN_US, decimals: 0 },
    Column { title: "p99 response µs", figure: P99_US, decimals: 0 },
    Column { title: "p99 send delay µs", figure: LATENESS_P99_US, decimals: 0 },
];
const RATIOS: [Column; 3] = [
    Column { title: "CPU per request", figure: CPU_US, decimals: 2 },
    Column { title: "requests/s", figure: REQUESTS_PER_S, decimals: 2 },
    Column { title: "peak RSS", figure: rss_mib, decimals: 2 },
];

/// Formats the report of a case: figures, ratios, and remarks.
pub(crate) fn of(case: &Case, rows: &[Row], installed: &Installed, flags: &Flags) -> String {
    let missing = case.tools.iter().filter(|tool| installed.program(tool).is_none());
    let missing: Vec<(&str, &str)> = missing.map(|tool| (tool.name, tool.how_to_get)).collect();
    let rounds = if flags.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", flags.rounds) };
    let mut text = format!("\n{}: {} ({rounds} of {} s)\n", case.name, case.title, flags.seconds);
    text += &figures(case, rows, &missing);
    text += &ratios(case, rows);
    text += &waiting(case, rows);
    text += &remarks(rows);
    text
}

fn figures(case: &Case, rows: &[Row], missing: &[(&str, &str)]) -> String {
    let columns: Vec<&Column> =
        ALWAYS.iter().chain(OPEN.iter().filter(|_| case.load.rate.is_some())).collect();
    let mut lines = vec![titles("tool", &columns)];
    let mut notes = String::new();
    for tool in &case.tools {
        let name = tool.name;
        if let Some((_, how_to_get)) = missing.iter().find(|(missing, _)| *missing == name) {
            let _ = writeln!(notes, "  {name}: not installed ({how_to_get})");
        } else if row::values(rows, name, REQUESTS_PER_S).is_empty() {
            let _ = writeln!(notes, "  {name}: no figures");
        } else {
            let cells = columns
                .iter()
                .map(|column| cell(spread::of(row::values(rows, name, column.figure)), column.decimals));
            lines.push(std::iter::once(name.to_owned()).chain(cells).collect());
        }
    }
    if lines.len() == 1 {
        notes
    } else {
        "min – median – max over the rounds\n".to_owned() + &aligned(&lines) + &notes
    }
}

fn ratios(case: &Case, rows: &[Row]) -> String {
    let columns: Vec<&Column> = RATIOS.iter().collect();
    let mut lines = vec![titles("tenbin ÷", &columns)];
    for tool in others(case) {
        let spreads: Vec<Option<Spread>> = columns
            .iter()
            .map(|column| spread::of(row::ratios(rows, OURS, tool.name, column.figure)))
            .collect();
        if spreads.iter().any(Option::is_some) {
            let cells = spreads.into_iter().map(|spread| cell(spread, 2));
            lines.push(std::iter::once(tool.name.to_owned()).chain(cells).collect());
        }
    }
    if lines.len() == 1 { String::new() } else { "round by round\n".to_owned() + &aligned(&lines) }
}

/// Reports by how much Tenbin's median response time in the open loop exceeds that of one connection in a closed loop.
fn waiting(case: &Case, rows: &[Row]) -> String {
    if case.load.rate.is_none() {
        return String::new();
    }
    let more = row::pairs(rows, OURS, OURS_ALONE, MEDIAN_US, |open, alone| open - alone);
    spread::of(more).map_or_else(String::new, |spread| {
        format!(
            "tenbin open median − tenbin closed c=1 median, round by round: {} µs\n",
            cell(Some(spread), 0)
        )
    })
}

/// Lists failed turns, errors, and the tools' objections to their own runs.
fn remarks(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { tool, round, turn, .. } in rows {
        match turn {
            Turn::Failed(reason) => {
                let _ = writeln!(text, "  {tool}, round {round}: failed: {reason}");
            }
            Turn::Done(done) => {
                if done.measured.errors > 0 {
                    let _ = writeln!(text, "  {tool}, round {round}: {} errors", done.measured.errors);
                }
                if let Some(remark) = &done.measured.remark {
                    let _ = writeln!(text, "  {tool}, round {round}: {remark}");
                }
            }
        }
    }
    text
}

/// Returns the Markdown table lines of a case: one for each tool that Tenbin is compared with.
pub(crate) fn lines(case: &Case, rows: &[Row]) -> Vec<TableLine> {
    let lines = others(case).map(|tool| TableLine::of(case.title, rows, OURS, tool.name, CPU_US));
    lines.filter(|line| line.cpu.is_some()).collect()
}

/// Returns the tools of a case that Tenbin is compared with.
fn others(case: &Case) -> impl Iterator<Item = &Tool> {
    case.tools.iter().copied().filter(|tool| tool.name != OURS && tool.name != OURS_ALONE)
}

fn titles(first: &str, columns: &[&Column]) -> Vec<String> {
    std::iter::once(first).chain(columns.iter().map(|column| column.title)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use crate::row::tests::{failed, row};

    fn case(name: &str) -> Case {
        let tools = ["tenbin", "tenbin-c1", "wrk", "ab", "oha"].map(str::to_owned);
        cases::chosen(&[name.to_owned()], &tools).unwrap().remove(0)
    }

    #[test]
    fn figures_ratios_and_failures_each_have_their_place() {
        let rows = [row("tenbin", 1, 1_000_000, 6.0), row("wrk", 1, 1_000_000, 8.0), failed("ab", 1)];
        let case = case("closed-1");
        let table = figures(&case, &rows, &[("oha", "cargo install --locked oha")]);
        assert!(table.contains("500,000 – 500,000 – 500,000   "), "{table}");
        assert!(table.contains("6.00 – 6.00 – 6.00"), "{table}");
        assert!(table.contains("oha: not installed (cargo install"), "{table}");
        assert!(table.contains("ab: no figures"), "{table}");
        let ratios = ratios(&case, &rows);
        assert!(ratios.contains("0.75 – 0.75 – 0.75   1.00 – 1.00 – 1.00"), "{ratios}");
        assert!(!ratios.contains("ab"), "{ratios}");
        assert_eq!(remarks(&rows), "  ab, round 1: failed: it would not\n");
        assert_eq!(waiting(&case, &rows), "");
    }

    #[test]
    fn without_tenbin_there_are_no_ratios() {
        assert_eq!(ratios(&case("closed-1"), &[row("wrk", 1, 10, 1.0)]), "");
    }

    #[test]
    fn open_median_is_compared_with_a_single_connection() {
        let with_median = |tool, median_us| {
            let mut row = row(tool, 1, 10, 1.0);
            if let Turn::Done(done) = &mut row.turn {
                done.measured.median_us = Some(median_us);
            }
            row
        };
        let text =
            waiting(&case("open-2000"), &[with_median("tenbin", 80.0), with_median("tenbin-c1", 60.0)]);
        assert!(text.ends_with(": 20 – 20 – 20 µs\n"), "{text}");
    }
}
