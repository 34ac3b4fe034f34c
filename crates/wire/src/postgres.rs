//! The frontend/backend protocol 3.0 of PostgreSQL, the client's side.

mod session;

pub use session::Session;
