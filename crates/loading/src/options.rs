//! What may be asked of a workload's tables.

/// How the rows of a partitioned table find their partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionMethod {
    /// By ranges of keys, as pgbench has it unless told otherwise.
    #[default]
    Range,
    /// By a hash of keys.
    Hash,
}

/// How tables are to be, and how they are filled. What a workload does not have is ignored, but for what only PostgreSQL has: that
/// is refused elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Of pgbench's tables: 100,000 accounts, ten tellers and a branch each.
    pub scale: u32,
    /// How many `sbtest` tables.
    pub tables: u32,
    /// Rows of each of them.
    pub table_size: u32,
    /// Rows of the workload's own table, if it has one; `None` is as many as the workload is known for.
    pub rows: Option<u64>,
    /// How full pages of pgbench's tables are made, in percent: PostgreSQL only.
    pub fillfactor: u8,
    /// Partitions of the accounts; 0 is a plain table: PostgreSQL only.
    pub partitions: u32,
    /// How accounts find their partition.
    pub partition_method: PartitionMethod,
    /// Whether pgbench's tables refer to each other: PostgreSQL only.
    pub foreign_keys: bool,
    /// Whether tables are kept out of the write-ahead log: PostgreSQL only.
    pub unlogged: bool,
    /// Connections; at least 1. SQLite has one writer at a time.
    pub jobs: u32,
    /// What random rows are drawn from: the same rows each time.
    pub seed: u64,
    /// Whether tables of these names are dropped first, whosever they are.
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
