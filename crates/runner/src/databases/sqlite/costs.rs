//! Sizes of a SQLite database by which the cost of a load is read.

use loading::Answer;

use crate::database_cost::{Cost, of_row};

const SIZES: &str = "\
    SELECT (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()), \
    (SELECT freelist_count FROM pragma_freelist_count()) * (SELECT page_size FROM pragma_page_size())";

/// Sizes of tables and indexes, if SQLite was built with `dbstat`.
const BY_KIND: &str = "\
    SELECT sum(CASE WHEN type = 'table' THEN s.pgsize END), sum(CASE WHEN type = 'index' THEN s.pgsize END) \
    FROM dbstat s JOIN sqlite_schema m ON m.name = s.name WHERE aggregate = 1";

/// Reads all costs.
pub(super) fn read(ask: &mut dyn FnMut(&str) -> Option<Answer>) -> Vec<Cost> {
    let mut costs = of_row(&["cost_file_bytes", "cost_free_bytes"], ask(SIZES));
    costs.extend(of_row(&["cost_table_bytes", "cost_index_bytes"], ask(BY_KIND)));
    costs
}
