//! Queries to a database before a load: its version, its free connections, and the tables of a workload.

use std::sync::Arc;
use std::time::Duration;

use engine::{Peer, ProbeError, ProbeReply, ProbeResult};
use plan::Transactions;
use sql::workload::{self, Tables};
use wire::sql::{FixedQuery, Login, RowSink, Session};
use wire::{Conversation, ErrorClass};

use crate::databases::{self, Kind};
use crate::filled_tables;
use crate::pooling::{Pooling, Warning};
use crate::prepare::Refusal;
use crate::stretching;

/// Error class of a log-in without an answer.
const NO_ANSWER: ErrorClass = ErrorClass::TimeoutLogin;
/// Error classes of a log-in that hint at a server of another protocol on the port.
const MAY_BE_ANOTHER_SERVER: [ErrorClass; 4] =
    [NO_ANSWER, ErrorClass::ProtocolError, ErrorClass::LoginClosed, ErrorClass::LoginReset];

/// Facts that a database reported before a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    /// Name and version, such as `PostgreSQL 15.14`.
    pub version: Option<String>,
    /// Scale of the tables. `None` if it was not read.
    pub scale: Option<i64>,
    /// Additional connections that the server can accept. `None` if the number is unknown, or must not be checked.
    pub connections_left: Option<u64>,
    /// Connection state that the load relies on and a pooler loses.
    pub warnings: Vec<Warning>,
}

/// Reason why a server is not ready for a load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The server has too few free connections.
    #[error(
        "the server takes {max} connections, {taken} of which are taken, and the load needs {wanted}\n  help: use fewer (-c), share them \
         (--pool), or raise its max_connections; if a pooler takes them, add --no-room-check (`room-check: false` in a plan)"
    )]
    Connections {
        /// Maximum number of connections of the server.
        max: u64,
        /// Connections that others hold, or that are reserved.
        taken: u64,
        /// Connections that the load needs.
        wanted: u32,
    },
    /// A table does not exist, or cannot be read.
    #[error("{what}\n  help: create the tables with `tenbin prepare {url} --workload {workload}{options}`")]
    Tables {
        /// Message of the server.
        what: String,
        /// URL without a password.
        url: String,
        /// Workload that needs the tables.
        workload: &'static str,
        /// Further options for `tenbin prepare`.
        options: String,
    },
    /// The user lacks the privilege to read a table.
    #[error(
        "{what}\n  help: grant {user} the privilege, such as GRANT SELECT, INSERT, UPDATE, DELETE ON … TO {user}"
    )]
    Privilege {
        /// Message of the server.
        what: String,
        /// User of the log-in.
        user: String,
    },
    /// A table with this name exists, but has other columns.
    #[error(
        "{what}\n  help: take another database, or replace the tables with `tenbin prepare {url} --workload {workload}{options} --fresh`, \
         which drops them first"
    )]
    Columns {
        /// Table, missing columns, and message of the server.
        what: String,
        /// URL without a password.
        url: String,
        /// Workload that needs the table.
        workload: &'static str,
        /// Further options for `tenbin prepare`.
        options: String,
    },
    /// The scale of the load differs from the scale of the tables: rows would be missing, or some would never be requested.
    #[error(
        "the tables have scale {found}, and the load is for scale {given}\n  help: leave the scale out: it is read from the tables"
    )]
    Scale {
        /// Scale of the tables.
        found: i64,
        /// Scale of the load.
        given: i64,
    },
    /// The number of items of the load differs from the one of the tables: rows would be missing, or some would never be requested.
    #[error(
        "the tables have {found} items, and the load is for {given}\n  help: add --table-size {found} (`table-size: {found}` in a plan), or \
         fill the tables with `tenbin prepare {url} --workload tpcc-like --table-size {given} --fresh`"
    )]
    Items {
        /// Number of items in the tables.
        found: String,
        /// Number of items of the load.
        given: String,
        /// URL without a password.
        url: String,
    },
    /// A pooler loses state that the load relies on: the state, its script, and help.
    #[error("{0}")]
    Pooler(String),
    /// A file cannot be opened.
    #[error("{0}")]
    File(String),
    /// A `tenbin prepare` of the tables was interrupted.
    #[error(
        "the tables are partly filled: an earlier `tenbin prepare` of them did not end ({asked})\n  help: run that command again, which \
         continues it; or start again with `{prepare}`"
    )]
    Unfinished {
        /// Options of the interrupted call.
        asked: String,
        /// Command that fills the tables from the start.
        prepare: String,
    },
    /// A table has fewer rows than the load addresses.
    #[error(
        "{table} has {what}, and the load assumes {rows}: the others would not be found\n  help: fill the tables with `{prepare}`, which \
         drops them first{instead}"
    )]
    Missing {
        /// Name of the table.
        table: String,
        /// Rows as text.
        what: String,
        /// Number of rows that the load addresses.
        rows: u64,
        /// Command that fills the tables.
        prepare: String,
        /// Further advice, from its comma. May be empty.
        instead: &'static str,
    },
    /// A table is empty.
    #[error(
        "{table} is empty\n  help: fill the tables with `tenbin prepare {url} --workload {workload} --scale 10 --fresh`"
    )]
    Empty {
        /// Name of the table.
        table: &'static str,
        /// URL without a password.
        url: String,
        /// Workload that needs the table.
        workload: &'static str,
    },
}

/// First row of a reply.
#[derive(Debug, Default)]
struct FirstRow {
    values: Vec<Option<String>>,
    is_over: bool,
}

impl RowSink for FirstRow {
    fn needs_rows(&self) -> bool {
        true
    }

    fn value(&mut self, _column: u16, value: Option<&[u8]>) {
        if !self.is_over {
            self.values.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        }
    }

    fn finish_row(&mut self) {
        self.is_over = true;
    }
}

/// Answer to a query: its first row, or the error message of the server.
type Answer = Result<Vec<Option<String>>, String>;

/// Result of a query.
pub(crate) struct QueryResult {
    pub(crate) answer: Answer,
    /// Whether the user lacks the privilege for this query.
    pub(crate) is_forbidden: bool,
    pub(crate) probed: ProbeResult,
    /// Server process of the connection, as reported at log-in.
    pub(crate) backend_pid: Option<u32>,
}

/// Sends queries to a server one after another, each over a separate connection.
pub(crate) struct ServerQueries<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) login: Arc<Login>,
    kind: &'static Kind,
    /// Whether the transport is private, such as a Unix socket.
    pub(crate) is_private: bool,
    pub(crate) transactions: &'a Transactions,
    pub(crate) timeout: Duration,
}

impl ServerQueries<'_> {
    pub(crate) fn ask(&self, query: &str) -> Result<QueryResult, Refusal> {
        (self.kind.ask)(self, query)
    }

    /// Sends a query over a new connection, in a session of its protocol.
    pub(crate) fn ask_over<S: Session>(
        &self,
        session: S,
        query: &str,
        backend_pid: impl Fn(&S) -> Option<u32>,
    ) -> Result<QueryResult, Refusal> {
        let conversation = FixedQuery::new(session, query, FirstRow::default());
        let asked = engine::ask(self.peer, conversation, self.timeout);
        let ProbeReply { reply, conversation, probed } = asked.map_err(|error| self.with_help(error))?;
        let answer = match reply.rejection {
            None => Ok(conversation.rows().values.clone()),
            Some(rejection) => Err(conversation.explain(rejection)),
        };
        let session = conversation.session();
        Ok(QueryResult {
            answer,
            is_forbidden: (self.kind.is_forbidden)(session.last_error()),
            probed,
            backend_pid: backend_pid(session),
        })
    }

    /// Adds help to an error, if there is any.
    fn with_help(&self, error: ProbeError) -> Refusal {
        match error {
            ProbeError::Greeting { endpoint, class, reason } if class == ErrorClass::LoginRefused => {
                let way_out = self.kind.login_help;
                Refusal::Probe(ProbeError::Greeting {
                    endpoint,
                    class,
                    reason: format!("{reason}\n  help: {way_out}"),
                })
            }
            ProbeError::Greeting { endpoint, class, reason } if MAY_BE_ANOTHER_SERVER.contains(&class) => {
                let whose = self.kind.server;
                let help = if class == NO_ANSWER {
                    format!("check that {whose} listens there")
                } else {
                    format!(
                        "check that {whose} listens there; else correct the port or the scheme of the URL"
                    )
                };
                let reason = format!("{reason}\n  help: {help}");
                Refusal::Probe(ProbeError::Greeting { endpoint, class, reason })
            }
            error => Refusal::Probe(error),
        }
    }
}

/// Logs in once, and checks whether the server is ready for `wanted` connections of the load.
pub(crate) fn ask(
    sql: &Transactions,
    peer: &Peer,
    wanted: u32,
    timeout: Duration,
) -> Result<(DatabaseFacts, ProbeResult), Refusal> {
    let is_private = peer.endpoints.iter().all(|endpoint| matches!(endpoint, engine::Endpoint::Unix(_)));
    let login = stretching::shared(&sql.database.login, timeout);
    let kind = databases::of(sql.database.engine);
    let queries = ServerQueries { peer, login, kind, is_private, transactions: sql, timeout };
    let QueryResult { answer: room, probed, backend_pid, .. } = queries.ask(queries.kind.about_the_server)?;
    let mut learnt = DatabaseFacts::default();
    // A server that does not report its free connections may have enough.
    if let Ok(values) = &room
        && let [Some(version), max, taken, process] = values.as_slice()
    {
        let number = |value: &Option<String>| value.as_ref().and_then(|value| value.parse::<u64>().ok());
        // A pooler accepts the connections: it reports its own process at log-in, and answers come from a server behind it.
        let is_pooled = (queries.kind.reports_processes)(version)
            && number(process).is_some_and(|process| Some(process) != backend_pid.map(u64::from));
        let pooling = queries.kind.pooling.filter(|_| is_pooled).and_then(|recognize| recognize(&queries));
        let pooled = if is_pooled { ", through a pooler" } else { "" };
        let shared = if pooling.is_some() { Pooling::WORDS } else { "" };
        let own = queries.kind.own_version.and_then(|ask| ask(&queries, version));
        learnt.version = Some(own.unwrap_or_else(|| (queries.kind.version_line)(version)) + pooled + shared);
        if let Some(pooling) = pooling {
            learnt.warnings = pooling.check(sql)?;
        }
        if let (Some(max), Some(taken)) = (number(max), number(taken))
            && sql.checks_room
            && !is_pooled
            && max > 0
            && peer.endpoints.len() == 1
        {
            if taken.saturating_add(wanted.into()) > max {
                return Err(NotReady::Connections { max, taken, wanted }.into());
            }
            learnt.connections_left = Some(max.saturating_sub(taken));
        }
    }
    // A server that rejects part of the query can still report its name.
    if room.is_err()
        && let Ok(QueryResult { answer: Ok(values), .. }) = queries.ask(queries.kind.version_question)
    {
        let version = values.first().and_then(Option::as_deref);
        learnt.version = version.map(|version| (queries.kind.version_line)(version));
    }
    for name in &sql.workloads {
        let scale = tables(&queries, sql, name)?;
        learnt.scale = learnt.scale.or(scale);
    }
    if sql.workloads.iter().filter_map(|name| workload::find(name)).any(|one| one.tables == Tables::Tpcc) {
        check_items(&queries, sql)?;
    }
    if let (Some(found), Some(given)) = (learnt.scale, sql.settings.scale)
        && found != given
    {
        return Err(NotReady::Scale { found, given }.into());
    }
    Ok((learnt, probed))
}

/// Checks that the tables of a workload exist. Returns the scale of pgbench's tables.
fn tables(
    queries: &ServerQueries<'_>,
    sql: &Transactions,
    name: &'static str,
) -> Result<Option<i64>, Refusal> {
    let Some(workload) = workload::find(name) else { return Ok(None) };
    let set =
        |name: &str| sql.settings.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let many = set("tables").map_or("1", String::as_str);
    let (query, mut options) = query(workload.tables, many);
    let flags = [("tables", "--tables"), ("table_size", "--table-size")];
    let given = flags.iter().filter_map(|(name, flag)| Some(format!(" {flag} {}", set(name)?)));
    options.extend(given.filter(|_| matches!(workload.tables, Tables::Sbtest | Tables::SbtestEmpty)));
    let url = sql.database.command_url();
    let told = queries.ask(&query)?;
    match told.answer {
        Ok(values) if workload.tables.has_stored_scale() => {
            let count = values.first().and_then(|value| value.as_ref()?.parse::<i64>().ok());
            let options =
                count.filter(|count| *count > 0).map_or(options, |count| format!(" --scale {count}"));
            filled_tables::check(queries, sql, workload, count, &options)?;
            match count {
                Some(count) if count > 0 => Ok(Some(count)),
                _ => Err(NotReady::Empty { table: scale_table(workload.tables), url, workload: name }.into()),
            }
        }
        Ok(_) => {
            let Some((table, columns, query)) = columns(workload.tables, many) else { return Ok(None) };
            let told = queries.ask(&query)?;
            let Err(said) = told.answer else {
                filled_tables::check(queries, sql, workload, None, &options)?;
                return Ok(None);
            };
            if told.is_forbidden {
                return Err(NotReady::Privilege { what: said, user: sql.database.login.user.clone() }.into());
            }
            let what = format!("{table} does not have the columns that {name} needs ({columns}): {said}");
            Err(NotReady::Columns { what, url, workload: name, options }.into())
        }
        Err(what) if told.is_forbidden => {
            Err(NotReady::Privilege { what, user: sql.database.login.user.clone() }.into())
        }
        Err(what) => Err(NotReady::Tables { what, url, workload: name, options }.into()),
    }
}

/// Query that fails if the tables do not exist, and further options for `tenbin prepare`.
fn query(tables: Tables, many: &str) -> (String, String) {
    let (query, options) = match tables {
        Tables::Pgbench => (format!("SELECT count(*) FROM {}", scale_table(tables)), " --scale 10"),
        Tables::Tpcc => (format!("SELECT count(*) FROM {}", scale_table(tables)), " --scale 2"),
        Tables::Sbtest | Tables::SbtestEmpty => {
            (format!("SELECT count(*) FROM sbtest{many} WHERE 1 = 0"), "")
        }
        Tables::Postcodes => ("SELECT count(*) FROM tenbin_postcodes WHERE 1 = 0".to_owned(), ""),
        Tables::Accounts => ("SELECT count(*) FROM tenbin_accounts WHERE 1 = 0".to_owned(), ""),
    };
    (query, options.to_owned())
}

/// Table whose row count is the scale.
fn scale_table(tables: Tables) -> &'static str {
    if tables == Tables::Tpcc { "tpcc_warehouse" } else { "pgbench_branches" }
}

/// Checks that the tables have as many items as the load requests.
fn check_items(queries: &ServerQueries<'_>, sql: &Transactions) -> Result<(), Refusal> {
    let given = sql.settings.variables.iter().find(|(name, _)| name == "table_size");
    let answer = queries.ask("SELECT count(*) FROM tpcc_item")?.answer;
    let found = answer.ok().and_then(|row| row.into_iter().next().flatten());
    match (found, given) {
        (Some(found), Some((_, given))) if found != *given => {
            Err(NotReady::Items { found, given: given.clone(), url: sql.database.command_url() }.into())
        }
        _ => Ok(()),
    }
}

/// Check of the columns of an existing table: its name, the required columns, and a query that fails without them. For rows that are
/// inserted without column names, the query also fails if there are other columns.
fn columns(tables: Tables, many: &str) -> Option<(String, &'static str, String)> {
    let (table, columns) = match tables {
        // Tables with a scale are checked by their row count instead.
        Tables::Pgbench | Tables::Tpcc => return None,
        Tables::Sbtest => (format!("sbtest{many}"), "id, k, c, pad"),
        Tables::SbtestEmpty => (format!("sbtest{many}"), "id, k, and no others"),
        Tables::Postcodes => ("tenbin_postcodes".to_owned(), "code, prefecture, city, town"),
        Tables::Accounts => ("tenbin_accounts".to_owned(), "email, name, created"),
    };
    let rows = match tables {
        Tables::SbtestEmpty => {
            format!("SELECT id, k FROM {table} WHERE 1 = 0 UNION ALL SELECT * FROM {table} WHERE 1 = 0")
        }
        _ => format!("SELECT {columns} FROM {table} WHERE 1 = 0"),
    };
    Some((table, columns, format!("SELECT count(*) FROM ({rows}) AS t")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_the_first_row() {
        let mut rows = FirstRow::default();
        rows.value(0, Some(b"a"));
        rows.value(1, None);
        rows.finish_row();
        rows.value(0, Some(b"b"));
        assert_eq!(rows.values, [Some("a".to_owned()), None]);
    }

    #[test]
    fn error_on_missing_tables_names_the_prepare_command() {
        let unready = NotReady::Tables {
            what: "42P01: relation \"pgbench_branches\" does not exist".to_owned(),
            url: "postgres://127.0.0.1:5432/db".to_owned(),
            workload: "tpcb-like",
            options: " --scale 10".to_owned(),
        };
        let step = "`tenbin prepare postgres://127.0.0.1:5432/db --workload tpcb-like --scale 10`";
        assert!(unready.to_string().contains(step), "{unready}");
        assert_eq!(query(Tables::Sbtest, "4").0, "SELECT count(*) FROM sbtest4 WHERE 1 = 0");
        let version_line = databases::of(plan::Engine::MySql).version_line;
        assert_eq!(version_line("10.11.6-MariaDB"), "MariaDB 10.11.6-MariaDB");
    }
}
