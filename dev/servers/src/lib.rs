//! Real database servers, started for a test or a comparison and stopped with it.
//!
//! Each has a folder of its own, a free port on the loopback interface and a socket in that folder. It ends with its value, and
//! also when this process is killed.

mod account;
pub mod fake_postgres;
mod folder;
mod keeper;
mod mariadb;
mod missing;
mod postgres;
mod program;
mod redis;
mod server;
mod url;

pub use fake_postgres::FakePostgres;
pub use mariadb::{MariaDb, MariaDbSettings};
pub use missing::Missing;
pub use postgres::{Auth, Postgres, PostgresSettings};
pub use redis::Redis;

/// A certificate and its key, both as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate, or a chain of them.
    pub certificate_pem: String,
    /// Its key.
    pub key_pem: String,
}
