//! SQLite as a target: the same transactions, in this process.
//!
//! A [`Session`] does in place what others send over a wire, so that [`sql::SqlConversation`] goes through scripts here as it does there.
//! [`sqlite`] makes the conversations of a load.

mod database;
mod errors;
mod session;
mod transactions;
mod work;

pub use database::Database;
pub use session::Session;
pub use transactions::sqlite;
