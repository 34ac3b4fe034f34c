//! Creates a workload's tables and fills them, over several connections at once.
//!
//! [`Plan::new`] says what there will be, [`run`] makes it so. What is done is written down in the database itself, in
//! [`MARKS`], together with the rows: a second call goes on where the first was cut off.

mod client;
mod error;
mod marks;
mod options;
mod plan;
mod queue;
mod rows;
mod run;
mod tables;

pub use client::Database;
pub use error::Error;
pub use marks::MARKS;
pub use options::{Options, PartitionMethod};
pub use plan::Plan;
pub use run::{Loaded, Observer, run};
