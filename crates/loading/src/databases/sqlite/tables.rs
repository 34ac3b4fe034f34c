//! Statements that create tables in SQLite.

use crate::databases::TableSyntax;

pub(super) static SYNTAX: TableSyntax = TableSyntax {
    needs_blanks: true,
    timestamp: "timestamp",
    tpcc_time: "timestamp",
    suffix: "",
    text_suffix: "",
    indexed_text: str::to_owned,
    account_columns: "id integer PRIMARY KEY,email text NOT NULL UNIQUE,name text NOT NULL,created text NOT NULL",
    pgbench: |table| {
        let (name, (key, _), rest) = (table.name, table.key, table.rest);
        (vec![format!("create table {name} ({key} integer not null primary key,{rest})")], Vec::new())
    },
    sysbench: |name, rest, _| {
        (format!("CREATE TABLE {name}(id INTEGER PRIMARY KEY AUTOINCREMENT,{rest})"), Vec::new())
    },
};
