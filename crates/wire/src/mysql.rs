//! The client/server protocol of MySQL and MariaDB, the client's side.

mod session;

pub use session::Session;
