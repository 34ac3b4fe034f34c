//! Reads `prepare`: the tables of a built-in workload, which are created when a system is ready. Another module reads tables that the plan
//! defines.

use sql::workload;

use super::reading::Reading;
use super::tree::Node;
use crate::spec::values::AskedRows;
use crate::spec::{PrepareSpec, Spanned};
use crate::study::Tables;
use crate::ycsb;

const SCALE_MAX: u64 = 21_474;
const TABLES_MAX: u64 = 1_000;
const TABLE_SIZE_MAX: u64 = i32::MAX as u64;
const ROWS_MAX: u64 = u32::MAX as u64;
const JOBS_MAX: u64 = 256;
const FILLFACTOR_MIN: u64 = 10;

/// Reads the key of a system, or of a plan with only `url`.
pub(crate) fn read(of_system: &Node, reading: &mut Reading<'_>) -> Option<Tables> {
    let entry = of_system.entry("prepare")?;
    let node = &entry.value;
    let spec = PrepareSpec::from_node(node);
    let of_records = spec.workload.as_ref().and_then(Spanned::get).and_then(|name| ycsb::find(name));
    if of_records.is_some() {
        return None;
    }
    if let Some(at) = spec.jsonb.as_ref().and_then(Spanned::at) {
        let help = "remove it, or write `workload: ycsb-a` here and at the top of the plan";
        reading.at(at.value, "`jsonb` is a layout of the records of ycsb workloads", help);
    }
    let has_own = spec.sql.as_ref().or(spec.csv.as_ref()).is_some() || has_own_tables(&spec);
    if !(reading.kinds.unit().has_sessions() || has_own && of_system.get("database").is_some()) {
        let what = "`prepare` requires a step that is a transaction";
        reading.at(entry.key_at, what, "remove it, or add a step such as `- workload: select-only`");
    }
    if spec.workload.is_none() && !has_own && !node.entries().is_empty() {
        let what = "`prepare` has no tables";
        reading.at(entry.key_at, what, "add one of `workload`, `sql`, `csv`, `rows`");
    }
    if let Some(at) = spec.share.as_ref().and_then(Spanned::at).filter(|_| has_own) {
        let what = "`share` applies to the tables of a `workload`, and the parameters of variants may change own data";
        reading.at(at.key, what, "remove it");
    }
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
        rows: rows_of_workload(&spec, reading),
        jobs: reading.within(&spec.jobs, 1, JOBS_MAX).unwrap_or(4) as u32,
        seed: spec.seed.as_ref().and_then(Spanned::get).copied().unwrap_or(1),
        fillfactor: reading.within(&spec.fillfactor, FILLFACTOR_MIN, 100).unwrap_or(100) as u8,
        foreign_keys: is_true(&spec.foreign_keys),
        unlogged: is_true(&spec.unlogged),
        drop: is_true(&spec.drop),
        share: is_true(&spec.share),
    })
}

/// Whether `rows` describes tables that the plan defines.
fn has_own_tables(spec: &PrepareSpec) -> bool {
    spec.rows.as_ref().and_then(Spanned::get) == Some(&AskedRows::OfTables)
}

/// Number of rows of a workload's own table. `None` for its usual number.
fn rows_of_workload(spec: &PrepareSpec, reading: &mut Reading<'_>) -> Option<u64> {
    let rows = spec.rows.as_ref()?;
    let AskedRows::Count(count) = *rows.get()? else { return None };
    if let Some(at) = rows.at().filter(|_| count > ROWS_MAX) {
        let what = format!("{count} is not between 0 and {ROWS_MAX}");
        reading.at(at.value, what, format!("write a number from 0 to {ROWS_MAX}"));
    }
    Some(count.min(ROWS_MAX))
}
