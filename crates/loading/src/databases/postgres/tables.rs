//! Statements that create tables on PostgreSQL.

use crate::databases::TableSyntax;
use crate::options::{Options, PartitionMethod};
use crate::tables::{FinalStep, create_words};

pub(super) static SYNTAX: TableSyntax = TableSyntax {
    needs_blanks: false,
    timestamp: "timestamp",
    tpcc_time: "timestamp",
    suffix: "",
    text_suffix: "",
    indexed_text: str::to_owned,
    account_columns: "id bigserial PRIMARY KEY,email varchar(190) NOT NULL UNIQUE,name varchar(100) NOT NULL,created timestamp NOT NULL",
    pgbench: |table| {
        let (name, (key, key_type), rest) = (table.name, table.key, table.rest);
        let index = format!("{name}_pkey");
        let statement = format!("alter table {name} add primary key ({key})");
        let columns = format!("{key} {key_type} not null,{rest}");
        (create(table.options, name, &columns, table.rows), vec![FinalStep::key(index, statement)])
    },
    sysbench: |name, rest, rows| {
        let key = format!("ALTER TABLE {name} ADD PRIMARY KEY (id)");
        // Rows have explicit numbers, so the sequence must be advanced.
        let next = format!("SELECT setval('{name}_id_seq', {rows})");
        let finish =
            vec![FinalStep::key(format!("{name}_pkey"), key), FinalStep::new(format!("{name}_id_seq"), next)];
        (format!("CREATE TABLE {name}(id SERIAL,{rest})"), finish)
    },
};

/// Statements that create a table and its partitions.
fn create(options: &Options, name: &str, columns: &str, rows: u64) -> Vec<String> {
    let (words, fillfactor, count) = (create_words(options), options.fillfactor, options.partitions);
    if count == 0 || name != "pgbench_accounts" {
        return vec![format!("{words} {name}({columns}) with (fillfactor={fillfactor})")];
    }
    let method = match options.partition_method {
        PartitionMethod::Range => "range",
        PartitionMethod::Hash => "hash",
    };
    let mut create = vec![format!("create table {name}({columns}) partition by {method} (aid)")];
    let size = rows.div_ceil(count.into());
    create.extend((1..=u64::from(count)).map(|number| {
        let values = match options.partition_method {
            PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", number - 1),
            PartitionMethod::Range => {
                let bound = |at: u64, open: &str| match at {
                    0 => open.to_owned(),
                    at if at == u64::from(count) => open.to_owned(),
                    at => (at * size + 1).to_string(),
                };
                format!("from ({}) to ({})", bound(number - 1, "minvalue"), bound(number, "maxvalue"))
            }
        };
        format!(
            "{words} {name}_{number} partition of {name} for values {values} with (fillfactor={fillfactor})"
        )
    }));
    create
}
