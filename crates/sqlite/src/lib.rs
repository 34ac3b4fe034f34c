//! SQLite as a target: transactions in this process.
//!
//! A [`Session`] executes in place what others send over a wire, so [`sql::SqlConversation`] runs scripts as on a server.
//! [`sqlite`] creates the conversations of a load.

mod activity;
mod database;
mod errors;
mod session;
mod transactions;
mod work;

pub use activity::{ConnectionSnapshot, LockCounters, State, connections, lock_counters};
pub use database::Database;
pub use session::Session;
pub use transactions::sqlite;
