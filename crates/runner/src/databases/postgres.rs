//! PostgreSQL, and servers with its protocol.

mod compatible;
mod costs;
mod pooling;
mod scans;
mod statements;
mod template;
mod watch;

use plan::Engine;
use wire::postgres::Session;

use super::{Explain, Kind, transactions};
use crate::protocol::nonce;

pub(super) const KIND: Kind = Kind {
    engine: Engine::PostgreSql,
    server: "PostgreSQL",
    login_help: "see to the user and the database of the URL, to the password (PGPASSWORD or ~/.pgpass), and to the \
                 server's pg_hba.conf",
    direct_tls_alpn: Some("postgresql"),
    // Servers with this protocol report their names in version(), and some of them have no further columns.
    about_the_server: "SELECT CASE WHEN version() LIKE 'PostgreSQL %' THEN current_setting('server_version') ELSE version() END, \
             current_setting('max_connections'), \
             (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) \
             + CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 0 \
             ELSE current_setting('superuser_reserved_connections')::bigint END, pg_backend_pid()",
    version_question: "SELECT version()",
    version_line: compatible::version_line,
    own_version: None,
    reports_processes: compatible::reports_processes,
    ask: |queries, query| {
        let session = Session::new(queries.login.clone(), nonce()?);
        queries.ask_over(session, query, Session::backend_pid)
    },
    pooling: Some(pooling::recognize),
    // SQLSTATE `insufficient_privilege`.
    is_forbidden: |error| error.sqlstate.0 == *b"42501",
    watch: Some(|| Box::new(watch::Postgres::default())),
    costs: Some(costs::read),
    explain: Some(Explain {
        before: &["SET default_transaction_read_only = on", "SET statement_timeout = '10s'"],
        of_reads: "EXPLAIN (ANALYZE, BUFFERS)",
        of_writes: "EXPLAIN",
    }),
    server_copy: Some(template::find),
    watch_in_process: None,
    endpoint: &transactions::ON_SERVER,
};
