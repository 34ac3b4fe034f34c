//! Starts real database servers for tests and comparisons, and stops them afterwards.
//!
//! Each server has its own folder, a free port on the loopback interface, and a socket in its folder. A server ends when its handle
//! is dropped, and also when this process is killed.

mod account;
mod fake_mongo;
pub mod fake_postgres;
mod folder;
mod keeper;
mod mariadb;
mod memcached;
mod missing;
mod mongo;
mod pgbouncer;
mod postgres;
mod program;
mod redis;
mod redis_cluster;
mod redis_sentinel;
mod server;
mod statement_names;
mod url;

pub use fake_mongo::FakeMongo;
pub use fake_postgres::FakePostgres;
pub use mariadb::{MariaDb, MariaDbSettings};
pub use memcached::Memcached;
pub use missing::Missing;
pub use mongo::Mongo;
pub use pgbouncer::PgBouncer;
pub use postgres::{Auth, Postgres, PostgresSettings};
pub use redis::Redis;
pub use redis_cluster::RedisCluster;
pub use redis_sentinel::{MASTER_NAME, RedisSentinel};
pub use statement_names::with_pgbench_names;

/// Certificate and key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// Certificate, or a chain of certificates.
    pub certificate_pem: String,
    /// Private key.
    pub key_pem: String,
}
