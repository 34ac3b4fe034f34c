//! Options of a workload's tables.

/// Partitioning of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionMethod {
    /// Partitions by ranges of keys, which is pgbench's default.
    #[default]
    Range,
    /// Partitions by a hash of keys.
    Hash,
}

/// Options for creating and filling tables. Options that a workload does not use are ignored, except that options of PostgreSQL are
/// rejected on other databases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Scale of pgbench's tables: 100,000 accounts, ten tellers, and one branch per unit.
    pub scale: u32,
    /// Number of `sbtest` tables.
    pub tables: u32,
    /// Number of rows in each `sbtest` table.
    pub table_size: u32,
    /// Number of rows in the workload-specific table, if it has one. `None` for the default number.
    pub rows: Option<u64>,
    /// Fill factor of pgbench's tables in percent. PostgreSQL only.
    pub fillfactor: u8,
    /// Number of partitions of the accounts. 0 for a plain table. PostgreSQL only.
    pub partitions: u32,
    /// Partitioning of the accounts.
    pub partition_method: PartitionMethod,
    /// True to add foreign keys to pgbench's tables. PostgreSQL only.
    pub foreign_keys: bool,
    /// True to keep tables out of the write-ahead log. PostgreSQL only.
    pub unlogged: bool,
    /// Number of connections, at least 1. SQLite has only one writer at a time.
    pub jobs: u32,
    /// Seed of random rows. Equal seeds give equal rows.
    pub seed: u64,
    /// True to drop existing tables with these names first, even if another program created them.
    pub fresh: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: 1,
            tables: 1,
            table_size: 10_000,
            rows: None,
            fillfactor: 100,
            partitions: 0,
            partition_method: PartitionMethod::Range,
            foreign_keys: false,
            unlogged: false,
            jobs: 4,
            seed: 1,
            fresh: false,
        }
    }
}
