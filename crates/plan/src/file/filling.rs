//! `prepare`: the tables of a built-in workload, made when a system is ready.

use sql::workload;

use super::reading::Reading;
use super::tree::Node;
use crate::study::Tables;
use crate::units;

const SCALE_MAX: u64 = 21_474;
const TABLES_MAX: u64 = 1_000;
const TABLE_SIZE_MAX: u64 = i32::MAX as u64;
const ROWS_MAX: u64 = u32::MAX as u64;
const JOBS_MAX: u64 = 256;
const FILLFACTOR_MIN: u64 = 10;

/// Reads the key of a system, or of a plan with `url` alone.
pub(crate) fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Tables> {
    let entry = node.entry("prepare")?;
    let node = &entry.value;
    if !reading.is_sql {
        let what = "there are no tables to prepare: no step is a transaction";
        reading.at(entry.key_at, what, "leave it out, or write a step such as `- workload: select-only`");
    }
    let named = node.get("workload")?;
    let name = named.text()?;
    let Some(workload) = workload::find(name) else {
        let known = workload::WORKLOADS.iter().map(|workload| workload.name);
        reading.findings.unknown(
            named.at,
            format!("there is no workload `{name}`"),
            name,
            known,
            "write one of",
        );
        return None;
    };
    let is_true = |key: &str| node.text_of(key) == Some("true");
    let mut number = |key: &str, least: u64, most: u64| {
        let (node, text) = node.get(key).and_then(|node| Some((node, node.text()?)))?;
        // What is no number is told by the form.
        let count = units::count(text).ok()?;
        if !(least..=most).contains(&count) {
            let what = format!("{count} is not between {least} and {most}");
            reading.at(node.at, what, "choose a number between them");
        }
        Some(count.clamp(least, most))
    };
    Some(Tables {
        workload: workload.name,
        scale: number("scale", 1, SCALE_MAX).unwrap_or(1) as u32,
        tables: number("tables", 1, TABLES_MAX).unwrap_or(1) as u32,
        table_size: number("table-size", 1, TABLE_SIZE_MAX).unwrap_or(10_000) as u32,
        rows: number("rows", 0, ROWS_MAX),
        jobs: number("jobs", 1, JOBS_MAX).unwrap_or(4) as u32,
        seed: node.text_of("seed").and_then(|text| text.parse().ok()).unwrap_or(1),
        fillfactor: number("fillfactor", FILLFACTOR_MIN, 100).unwrap_or(100) as u8,
        foreign_keys: is_true("foreign-keys"),
        unlogged: is_true("unlogged-tables"),
        drop: is_true("drop"),
    })
}
