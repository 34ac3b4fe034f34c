//! Creates and fills the tables of a workload over several connections.
//!
//! [`Plan::new`] defines the tables, and [`run`] creates them. Progress is recorded in the database itself, in [`MARKS`], together
//! with the rows. So a second call continues where the first was interrupted.
//!
//! The amount of lost work depends on the chunks, each of which is written in its own transaction, over all connections. On
//! PostgreSQL, a table of up to ten million rows is one chunk. It is written frozen into a new file, so its rows need no second
//! visit to be marked as visible to all.
//!
//! On PostgreSQL 15, that is a quarter less work for the server than the same rows over four connections, and a tenth less time on
//! two cores. Connections that fill one table wait for each other to extend its file. A binary COPY was more work than text for
//! narrow rows, and a larger `maintenance_work_mem` did not speed up building an index.
//!
//! Larger and partitioned tables are divided into chunks, so that a lost connection loses less work.
//!
//! [`load_own_data`] runs the statements of a plan instead, and fills its tables with generated rows or those of CSV files.

mod client;
mod count;
mod databases;
mod error;
mod held;
mod marks;
mod options;
mod own;
mod plan;
mod queue;
mod rows;
mod run;
mod statistics;
mod tables;

pub use client::{Answer, Database, DatabaseLocation, LOGIN_TIMEOUT};
pub use error::Error;
pub use held::HeldSession;
pub use marks::{MARKS, mark_queries};
pub use options::{Options, PartitionMethod};
pub use own::{OwnData, OwnTable, SqlText, load_own_data, run_sql};
pub use plan::{Plan, is_marked_for};
pub use rows::{DrawnColumn, OwnRows};
pub use run::{Loaded, Observer, run};
