//! MySQL and MariaDB.

mod compatible;
mod costs;
mod statements;
mod watch;

use plan::Engine;
use wire::mysql::Session;

use super::{Explain, Kind, transactions};
use crate::protocol::nonce;

pub(super) const KIND: Kind = Kind {
    engine: Engine::MySql,
    server: "MySQL or MariaDB",
    login_help: "see to the user and the database of the URL, and to the password (MYSQL_PWD)",
    direct_tls_alpn: None,
    about_the_server: "SELECT CONCAT(version(), IF(@@version_comment = '' OR @@version_comment LIKE '%Dolt%', ' Dolt?', '')), @@max_connections, (SELECT count(*) - 1 FROM information_schema.processlist WHERE id > 0 AND \
             command <> 'Daemon'), NULL",
    version_question: "SELECT version()",
    version_line: compatible::version_line,
    own_version: Some(compatible::dolt),
    reports_processes: |_| true,
    ask: |queries, query| {
        let session = Session::new(queries.login.clone(), nonce()?);
        let session = if queries.is_private { session.on_private_transport() } else { session };
        queries.ask_over(session, query, |_| None)
    },
    pooling: None,
    // ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR, and ER_SPECIFIC_ACCESS_DENIED_ERROR.
    is_forbidden: |error| matches!(error.number, 1142 | 1143 | 1227),
    watch: Some(|| Box::new(watch::MySql::default())),
    costs: Some(costs::read),
    explain: Some(Explain {
        before: &["SET SESSION TRANSACTION READ ONLY"],
        of_reads: "EXPLAIN",
        of_writes: "EXPLAIN",
    }),
    server_copy: None,
    watch_in_process: None,
    endpoint: &transactions::ON_SERVER,
};
