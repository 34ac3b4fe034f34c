//! PostgreSQL counters that give the cost of a load. Table counters cover user tables only, so that Tenbin's queries do not count.

use loading::Answer;

use crate::database_cost::{Cost, of_row};

/// Bytes written to the WAL so far. A standby writes none.
const WAL: &str = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')";

const TABLES: &str = "\
    SELECT sum(coalesce(heap_blks_read, 0) + coalesce(idx_blks_read, 0) + coalesce(toast_blks_read, 0) + coalesce(tidx_blks_read, 0)), \
    sum(coalesce(heap_blks_hit, 0) + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_hit, 0) + coalesce(tidx_blks_hit, 0)), \
    (SELECT sum(seq_tup_read) FROM pg_stat_user_tables), (SELECT sum(coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables), \
    (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables), \
    (SELECT sum(pg_table_size(relid)) FROM pg_stat_user_tables), (SELECT sum(pg_indexes_size(relid)) FROM pg_stat_user_tables) \
    FROM pg_statio_user_tables";

const DATABASE: &str =
    "SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = current_database()";

/// Checkpoints, in versions up to 16 and from 17 on.
const CHECKPOINTS: [&str; 2] = [
    "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
    "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
];

/// Reads all costs.
pub(super) fn read(ask: &mut dyn FnMut(&str) -> Option<Answer>) -> Vec<Cost> {
    let version = ask("SELECT current_setting('server_version_num')::int >= 170000");
    let is_new = version.and_then(|mut rows| rows.pop()?.pop()?).is_some_and(|text| text == "t");
    let tables = [
        "cost_pages_read",
        "cost_pages_hit",
        "cost_rows_by_scan",
        "cost_rows_by_index",
        "cost_rows_written",
        "cost_table_bytes",
        "cost_index_bytes",
    ];
    let mut costs = of_row(&["cost_wal_bytes"], ask(WAL));
    costs.extend(of_row(&tables, ask(TABLES)));
    costs.extend(of_row(&["cost_temp_files", "cost_temp_bytes"], ask(DATABASE)));
    costs.extend(of_row(&["cost_checkpoints"], ask(CHECKPOINTS[usize::from(is_new)])));
    costs
}
