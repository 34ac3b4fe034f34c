//! Keys of `prepare`: name, meaning, and kind of each value.

use super::values::AskedRows;

crate::spec::spec! {
    /// Tables of a workload as given. Values are parsed, but not yet checked against each other.
    pub(crate) struct PrepareSpec with PREPARE_KEYS {
        PREPARE_WORKLOAD "workload" "--workload": workload: String = TEXT, "tpcb-like",
            "A built-in workload, whose tables `tenbin prepare` creates, too.";
        PREPARE_SQL "sql" "--sql": sql: () = SQL_TEXTS, "[ schema.sql, \"CREATE INDEX by_owner ON items (owner)\" ]",
            "Own statements, in order; a text that ends in .sql is a file in the folder of the plan. Tables under `csv` and `rows` are filled after the last statement that creates one of them.";
        PREPARE_CSV "csv" "--csv": csv: () = CSV_FILES, "{ items: items.csv }",
            "Rows by table, from a CSV file in the folder of the plan. Its first line names the columns; an empty value is NULL. Max 100 MiB.";
        PREPARE_SCALE "scale" "--scale": scale: u64 = COUNT, "10",
            "pgbench tables: the scale, with 100,000 accounts each; tpcc tables: warehouses; default 1.";
        PREPARE_TABLES "tables" "--tables": tables: u64 = COUNT, "4",
            "oltp workloads: number of tables; default 1.";
        PREPARE_TABLE_SIZE "table-size" "--table-size": table_size: u64 = COUNT, "100000",
            "oltp workloads: rows of each table; tpcc workloads: items; default 10000.";
        PREPARE_ROWS "rows" "--rows": rows: AskedRows = ROWS, "{ items: 1000000, columns: { id: { sequence: 1.. }, owner: { uniform: 1..5000 } } }",
            "Generated rows: a table with their number, and its columns; a list for several tables. With `workload`, a number such as 50000: the rows of its own table; default: as in the original workload.";
        PREPARE_JOBS "jobs" "--jobs": jobs: u64 = COUNT, "4",
            "Connections that load data; default 4. SQLite uses one.";
        PREPARE_SEED "seed" "--seed": seed: u64 = SEED, "1",
            "Seed of the random rows; default: `seed` of the plan, or else 1. Tables of a workload: default 1.";
        PREPARE_DROP "drop" "--drop": drop: bool = TRUTH, "true",
            "Drops existing tables with these names first, whoever created them.";
        PREPARE_SHARE "share" "--share": share: bool = TRUTH, "true",
            "The variants of a system start with one copy of the tables of `workload`, made with the parameters of the first that runs; default: a copy for each variant.";
        PREPARE_FILLFACTOR "fillfactor" "--fillfactor": fillfactor: u64 = COUNT, "90",
            "PostgreSQL: fill factor of pages in percent; default 100.";
        PREPARE_FOREIGN_KEYS "foreign-keys" "--foreign-keys": foreign_keys: bool = TRUTH, "true",
            "PostgreSQL: creates foreign keys between pgbench tables.";
        PREPARE_UNLOGGED "unlogged-tables" "--unlogged-tables": unlogged: bool = TRUTH, "true",
            "PostgreSQL: creates unlogged tables.";
        PREPARE_JSONB "jsonb" "--jsonb": jsonb: bool = TRUTH, "true",
            "PostgreSQL, ycsb workloads: keeps the fields of a record in one column of type jsonb, which the steps of the workload then use.";
    }
    on command lines only {}
}
