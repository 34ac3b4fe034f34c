//! Creates a workload's tables and fills them, over several connections at once.
//!
//! [`Plan::new`] says what there will be, [`run`] makes it so. What is done is written down in the database itself, in
//! [`MARKS`], together with the rows: a second call goes on where the first was cut off.
//!
//! How far back that is depends. Rows come in chunks, each in a transaction of its own, over all connections. On PostgreSQL a table
//! of up to ten million rows is one chunk: it is written frozen into a new file, and its rows need no second visit to be marked as
//! seen by all. On PostgreSQL 15 that is a quarter less work for the server than the same rows over four connections, and a tenth
//! less time on two cores: connections that fill one table wait for each other to make its file longer. A binary copy was more work
//! than text for narrow rows, and a larger `maintenance_work_mem` did not make an index sooner. Larger tables, and those with
//! partitions, are cut into chunks, so that less is lost with a connection.

mod client;
mod count;
mod databases;
mod error;
mod held;
mod marks;
mod options;
mod plan;
mod queue;
mod rows;
mod run;
mod tables;

pub use client::{Answer, Database, LOGIN_TIMEOUT, Place};
pub use error::Error;
pub use held::HeldSession;
pub use marks::MARKS;
pub use options::{Options, PartitionMethod};
pub use plan::Plan;
pub use run::{Loaded, Observer, run};
