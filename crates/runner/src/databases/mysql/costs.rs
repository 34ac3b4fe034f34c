//! MariaDB and MySQL counters that give the cost of a load. They cover the whole server.

use loading::Answer;

use crate::database_cost::{Cost, of_row};

/// Status variable, name of the reading, and whether queries of this session count, too.
const STATUS: [(&str, &str); 10] = [
    ("Innodb_os_log_written", "cost_wal_bytes"),
    ("Innodb_buffer_pool_reads", "cost_pages_read"),
    ("Innodb_buffer_pool_read_requests", "cost_pages_hit"),
    ("Innodb_rows_read", "cost_rows_read"),
    ("Handler_read_rnd_next", "cost_rows_by_scan"),
    ("Handler_read_key", "cost_rows_by_index"),
    ("Handler_read_next", "cost_rows_by_index"),
    ("Created_tmp_disk_tables", "cost_temp_files"),
    ("Handler_write", "cost_rows_written"),
    ("Innodb_buffer_pool_pages_flushed", "cost_pages_written"),
];

/// Files of the tables of this database, in MariaDB and MySQL; then estimates.
const SIZES: &str = "SELECT sum(data_length), sum(index_length) FROM information_schema.tables WHERE table_schema = database()";

/// Reads all costs.
pub(super) fn read(ask: &mut dyn FnMut(&str) -> Option<Answer>) -> Vec<Cost> {
    let names: Vec<String> = STATUS.iter().map(|(name, _)| format!("'{name}'")).collect();
    let list = names.join(", ");
    let mut costs: Vec<Cost> = Vec::new();
    // Handlers count the rows of this session's own queries, which are subtracted.
    for (sql, sign) in [("GLOBAL", 1.0), ("SESSION", -1.0)] {
        let answer = ask(&format!("SHOW {sql} STATUS WHERE Variable_name IN ({list})")).unwrap_or_default();
        for row in answer {
            let [Some(name), Some(value)] = row.as_slice() else { continue };
            let known = STATUS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            let Some((status, metric)) = known else { continue };
            let (Ok(value), true) = (value.parse::<f64>(), sign > 0.0 || is_of_session(status)) else {
                continue;
            };
            match costs.iter_mut().find(|cost| cost.metric == *metric) {
                Some(cost) => cost.value += sign * value,
                None => costs.push(Cost { metric: (*metric).to_owned(), value: sign * value }),
            }
        }
    }
    costs.extend(of_row(&["cost_table_bytes", "cost_index_bytes"], ask(SIZES)));
    costs
}

/// Whether the server also counts a status variable by session.
fn is_of_session(status: &str) -> bool {
    status.starts_with("Handler_") || status.starts_with("Created_")
}
