//! Reads `prepare`: the tables of a built-in workload, which are created when a system is ready.

use sql::workload;

use super::reading::Reading;
use super::tree::Node;
use crate::spec::{PrepareSpec, Spanned};
use crate::study::Tables;

const SCALE_MAX: u64 = 21_474;
const TABLES_MAX: u64 = 1_000;
const TABLE_SIZE_MAX: u64 = i32::MAX as u64;
const ROWS_MAX: u64 = u32::MAX as u64;
const JOBS_MAX: u64 = 256;
const FILLFACTOR_MIN: u64 = 10;

/// Reads the key of a system, or of a plan with only `url`.
pub(crate) fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Tables> {
    let entry = node.entry("prepare")?;
    let node = &entry.value;
    if !reading.is_sql {
        let what = "`prepare` requires a step that is a transaction";
        reading.at(entry.key_at, what, "remove it, or add a step such as `- workload: select-only`");
    }
    let spec = PrepareSpec::of_node(node);
    let named = spec.workload.as_ref()?;
    let (name, at) = (named.get()?, named.at()?.value);
    let Some(workload) = workload::find_for_tables(name) else {
        let known = workload::WORKLOADS.iter().map(|workload| workload.name);
        reading.findings.unknown(at, format!("unknown workload `{name}`"), name, known, "write one of");
        return None;
    };
    let is_true = |value: &Option<Spanned<bool>>| value.as_ref().and_then(Spanned::get) == Some(&true);
    Some(Tables {
        workload: workload.name,
        scale: reading.within(&spec.scale, 1, SCALE_MAX).unwrap_or(1) as u32,
        tables: reading.within(&spec.tables, 1, TABLES_MAX).unwrap_or(1) as u32,
        table_size: reading.within(&spec.table_size, 1, TABLE_SIZE_MAX).unwrap_or(10_000) as u32,
        rows: reading.within(&spec.rows, 0, ROWS_MAX),
        jobs: reading.within(&spec.jobs, 1, JOBS_MAX).unwrap_or(4) as u32,
        seed: spec.seed.as_ref().and_then(Spanned::get).copied().unwrap_or(1),
        fillfactor: reading.within(&spec.fillfactor, FILLFACTOR_MIN, 100).unwrap_or(100) as u8,
        foreign_keys: is_true(&spec.foreign_keys),
        unlogged: is_true(&spec.unlogged),
        drop: is_true(&spec.drop),
    })
}
