//! Statements that create tables on MySQL and MariaDB.

use crate::databases::TableSyntax;

pub(super) static SYNTAX: TableSyntax = TableSyntax {
    needs_blanks: false,
    // Without NULL, MySQL adds a default value and an automatic update.
    timestamp: "timestamp null",
    tpcc_time: "datetime",
    suffix: " ENGINE=InnoDB",
    // Uses the server's default engine (default_storage_engine), so that engines can be compared.
    text_suffix: " DEFAULT CHARACTER SET utf8mb4",
    // MySQL cannot index a whole text. No code is longer than this prefix.
    indexed_text: |column| format!("{column}(8)"),
    account_columns: "id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,email varchar(190) NOT NULL UNIQUE,name varchar(100) NOT NULL,\
                      created datetime NOT NULL",
    // Rows come in key order, and the table itself is the index, so the key costs nothing from the beginning.
    pgbench: |table| {
        let (name, (key, key_type), rest) = (table.name, table.key, table.rest);
        (vec![format!("create table {name} ({key} {key_type} not null primary key,{rest})")], Vec::new())
    },
    sysbench: |name, rest, _| {
        let create = format!(
            "CREATE TABLE {name}(id INTEGER NOT NULL AUTO_INCREMENT,{rest},PRIMARY KEY (id)) ENGINE=InnoDB"
        );
        (create, Vec::new())
    },
};
