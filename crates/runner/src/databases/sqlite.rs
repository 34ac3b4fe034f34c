//! SQLite, in this process.

mod costs;
mod watch;

use engine::ProbeResult;
use plan::{Engine, Transactions};
use sqlite::Database;
use wire::InProcess;

use super::Kind;
use super::transactions::{self, Parts, wrong_script};
use crate::database_check::{NotReady, QueryResult, ServerQueries};
use crate::endpoint_kind::EndpointKind;
use crate::prepare::Refusal;

pub(super) const KIND: Kind = Kind {
    engine: Engine::Sqlite,
    server: "SQLite",
    login_help: "see to the file of the URL",
    direct_tls_alpn: None,
    // 0 means no limit of connections.
    about_the_server: "SELECT sqlite_version(), '0', '0', NULL",
    version_question: "SELECT sqlite_version()",
    reports_processes: |_| true,
    version_line: |version| format!("SQLite {version}"),
    own_version: None,
    ask,
    pooling: None,
    is_forbidden: |_| false,
    watch: None,
    costs: Some(costs::read),
    explain: None,
    server_copy: None,
    watch_in_process: Some(|| Box::new(watch::InProcessWatch::begin())),
    endpoint: &ENDPOINT,
};

static ENDPOINT: EndpointKind = transactions::in_process(|steps| {
    let Parts { sql, all_scripts, steps, settings } = transactions::parts(steps)?;
    let script = sqlite::sqlite(all_scripts, &steps, settings, file(sql));
    script.map(|script| Box::new(InProcess(script)) as _).map_err(|what| wrong_script(sql, what))
});

fn file(transactions: &Transactions) -> Database {
    let (path, settings) = transactions.database.file.clone().unwrap_or_default();
    Database { settings, ..Database::new(path) }
}

fn ask(queries: &ServerQueries<'_>, query: &str) -> Result<QueryResult, Refusal> {
    let connection = file(queries.transactions).open().map_err(NotReady::File)?;
    let answer = connection.query_row(query, [], |row| {
        let columns = (0..row.as_ref().column_count()).map(|column| {
            let value = row.get_ref(column)?;
            let number = value.as_i64().map(|number| number.to_string());
            Ok(number.or_else(|_| value.as_str().map(str::to_owned)).ok())
        });
        columns.collect::<Result<Vec<_>, _>>()
    });
    let answer = answer.map_err(|error| error.to_string());
    let probed = ProbeResult { connect_ns: 0, tls: None, is_certificate_missing: false };
    Ok(QueryResult { answer, is_forbidden: false, probed, backend_pid: None })
}
