//! What a database is asked before a load: its version, whether it has room, and what is in the tables of a workload.

use std::sync::Arc;
use std::time::Duration;

use engine::{Asked, Peer, ProbeError, Probed};
use plan::{Engine, Transactions};
use sql::workload::{self, Tables};
use wire::sql::{Login, RowSink, ServerError, Session, Single};
use wire::{Conversation, ErrorClass, mysql, postgres};

use crate::prepare::Refusal;
use crate::protocol::{file, nonce};
use crate::stretching;

/// The class of a log-in without an answer.
const SILENT: ErrorClass = ErrorClass::TimeoutLogin;

/// What a database said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// `PostgreSQL 15.14`.
    pub version: Option<String>,
    /// Read from the tables, if it was asked for.
    pub scale: Option<i64>,
}

/// A load that a server has no room for, or a workload whose tables are not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unready {
    /// The server takes fewer connections.
    #[error(
        "the server takes {max} connections, {taken} of which are taken, and the load needs {wanted}\n  help: use fewer (-c), share them \
         (--pool), or raise its max_connections; if a pooler takes them, add --no-room-check (`room-check: false` in a plan)"
    )]
    Connections {
        /// How many it takes.
        max: u64,
        /// How many others have, or may have.
        taken: u64,
        /// How many the load needs.
        wanted: u32,
    },
    /// A table is not there, or cannot be read.
    #[error("{what}\n  help: create the tables with `tenbin prepare {url} --workload {workload}{options}`")]
    Tables {
        /// What the server said.
        what: String,
        /// The URL, without a password.
        url: String,
        /// The workload that needs them.
        workload: &'static str,
        /// What else to write.
        options: String,
    },
    /// The user may not read a table.
    #[error(
        "{what}\n  help: grant {user} the privilege, such as GRANT SELECT, INSERT, UPDATE, DELETE ON … TO {user}"
    )]
    Privilege {
        /// What the server said.
        what: String,
        /// Who logs in.
        user: String,
    },
    /// A table of that name is there, and is of something else.
    #[error(
        "{what}\n  help: take another database, or replace the tables with `tenbin prepare {url} --workload {workload}{options} --fresh`, \
         which drops them first"
    )]
    Columns {
        /// Which, what it does not have, and what the server said.
        what: String,
        /// The URL, without a password.
        url: String,
        /// The workload that needs them.
        workload: &'static str,
        /// What else to write.
        options: String,
    },
    /// Rows would be asked for that are not there, or some never.
    #[error(
        "the tables have scale {found}, and the load is for scale {given}\n  help: leave the scale out: it is read from the tables"
    )]
    Scale {
        /// That of the tables.
        found: i64,
        /// What was asked for.
        given: i64,
    },
    /// A file cannot be opened.
    #[error("{0}")]
    File(String),
    /// A table is empty.
    #[error(
        "{table} is empty\n  help: fill the tables with `tenbin prepare {url} --workload {workload} --scale 10 --fresh`"
    )]
    Empty {
        /// Which.
        table: &'static str,
        /// The URL, without a password.
        url: String,
        /// The workload that needs it.
        workload: &'static str,
    },
}

/// The first row of a reply.
#[derive(Debug, Default)]
struct FirstRow {
    values: Vec<Option<String>>,
    is_over: bool,
}

impl RowSink for FirstRow {
    fn wants(&self) -> bool {
        true
    }

    fn value(&mut self, _column: u16, value: Option<&[u8]>) {
        if !self.is_over {
            self.values.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        }
    }

    fn row_ended(&mut self) {
        self.is_over = true;
    }
}

/// What a question came to: the first row, or what the server said instead.
type Answer = Result<Vec<Option<String>>, String>;

/// What a question showed.
struct QueryResult {
    answer: Answer,
    /// Whether it was refused because the user may not ask it.
    is_forbidden: bool,
    probed: Probed,
    /// The process that serves the connection, as the peer reported at the log-in.
    backend_pid: Option<u32>,
}

/// Asks a server one question after the other, each over a connection of its own.
struct Desk<'a> {
    peer: &'a Peer,
    login: Arc<Login>,
    engine: Engine,
    is_private: bool,
    /// Of SQLite.
    file: sqlite::Database,
    timeout: Duration,
}

impl Desk<'_> {
    fn ask(&self, question: &str) -> Result<QueryResult, Refusal> {
        match self.engine {
            Engine::PostgreSql => {
                let session = postgres::Session::new(self.login.clone(), nonce()?);
                let single = Single::new(session, question, FirstRow::default());
                self.hear(single, postgres::Session::backend_pid)
            }
            Engine::Sqlite => {
                let answer = self.file.open().map_err(Unready::File)?.query_row(question, [], |row| {
                    let columns = (0..row.as_ref().column_count()).map(|column| {
                        let value = row.get_ref(column)?;
                        let number = value.as_i64().map(|number| number.to_string());
                        Ok(number.or_else(|_| value.as_str().map(str::to_owned)).ok())
                    });
                    columns.collect::<Result<Vec<_>, _>>()
                });
                let answer = answer.map_err(|error| error.to_string());
                let probed = Probed { connect_ns: 0, tls: None, is_certificate_missing: false };
                Ok(QueryResult { answer, is_forbidden: false, probed, backend_pid: None })
            }
            Engine::MySql => {
                let session = mysql::Session::new(self.login.clone(), nonce()?);
                let session = if self.is_private { session.on_private_transport() } else { session };
                self.hear(Single::new(session, question, FirstRow::default()), |_| None)
            }
        }
    }

    fn hear<S: Session>(
        &self,
        conversation: Single<S, FirstRow>,
        backend_pid: impl Fn(&S) -> Option<u32>,
    ) -> Result<QueryResult, Refusal> {
        let asked = engine::ask(self.peer, conversation, self.timeout);
        let Asked { reply, conversation, probed } = asked.map_err(|error| self.explained(error))?;
        let answer = match reply.refusal {
            None => Ok(conversation.rows().values.clone()),
            Some(refusal) => Err(conversation.explain(refusal)),
        };
        let session = conversation.session();
        Ok(QueryResult {
            answer,
            is_forbidden: is_forbidden(session.last_error()),
            probed,
            backend_pid: backend_pid(session),
        })
    }

    /// With the next step, where there is one.
    fn explained(&self, error: ProbeError) -> Refusal {
        match error {
            ProbeError::Greeting { endpoint, class, reason } if class == ErrorClass::LoginRefused => {
                let way_out = match self.engine {
                    Engine::PostgreSql => {
                        "see to the user and the database of the URL, to the password (PGPASSWORD or ~/.pgpass), and to the \
                         server's pg_hba.conf"
                    }
                    _ => "see to the user and the database of the URL, and to the password (MYSQL_PWD)",
                };
                Refusal::Probe(ProbeError::Greeting {
                    endpoint,
                    class,
                    reason: format!("{reason}\n  help: {way_out}"),
                })
            }
            ProbeError::Greeting { endpoint, class, reason } if class == SILENT => {
                let whose = if self.engine == Engine::PostgreSql { "PostgreSQL" } else { "MySQL or MariaDB" };
                let reason = format!("{reason}\n  help: check that {whose} listens there");
                Refusal::Probe(ProbeError::Greeting { endpoint, class, reason })
            }
            error => Refusal::Probe(error),
        }
    }
}

/// PostgreSQL's `insufficient_privilege`; MySQL's refusals of a command on a table, of one on a column, and of a privilege.
fn is_forbidden(error: &ServerError) -> bool {
    error.sqlstate.0 == *b"42501" || matches!(error.number, 1142 | 1143 | 1227)
}

/// Logs in once, and asks what must be known before `wanted` connections are opened.
pub(crate) fn ask(
    sql: &Transactions,
    peer: &Peer,
    wanted: u32,
    timeout: Duration,
) -> Result<(Learnt, Probed), Refusal> {
    let is_private = peer.endpoints.iter().all(|endpoint| matches!(endpoint, engine::Endpoint::Unix(_)));
    let login = stretching::shared(&sql.database.login, timeout);
    let desk = Desk { peer, login, engine: sql.database.engine, is_private, file: file(sql), timeout };
    let QueryResult { answer: room, probed, backend_pid, .. } =
        desk.ask(about_the_server(sql.database.engine))?;
    let mut learnt = Learnt::default();
    // A server that cannot say how much room it has may have enough.
    if let Ok(values) = &room
        && let [Some(version), max, taken, process] = values.as_slice()
    {
        let number = |value: &Option<String>| value.as_ref().and_then(|value| value.parse::<u64>().ok());
        // A pooler takes the connections: it tells of a process of its own, and answers come from a server behind it.
        let is_pooled = number(process).is_some_and(|process| Some(process) != backend_pid.map(u64::from));
        let pooled = if is_pooled { ", through a pooler" } else { "" };
        learnt.version = Some(version_line(sql.database.engine, version) + pooled);
        if let (Some(max), Some(taken)) = (number(max), number(taken))
            && sql.checks_room
            && !is_pooled
            && max > 0
            && taken.saturating_add(wanted.into()) > max
            && peer.endpoints.len() == 1
        {
            return Err(Unready::Connections { max, taken, wanted }.into());
        }
    }
    for name in &sql.workloads {
        let scale = tables(&desk, sql, name)?;
        learnt.scale = learnt.scale.or(scale);
    }
    if let (Some(found), Some(given)) = (learnt.scale, sql.settings.scale)
        && found != given
    {
        return Err(Unready::Scale { found, given }.into());
    }
    Ok((learnt, probed))
}

/// Version, connections that it takes, those that somebody else has (our own is gone when the load begins), and the process
/// that answers.
fn about_the_server(engine: Engine) -> &'static str {
    match engine {
        Engine::PostgreSql => {
            "SELECT current_setting('server_version'), current_setting('max_connections'), \
             (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) \
             + CASE WHEN (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN 0 \
             ELSE current_setting('superuser_reserved_connections')::bigint END, pg_backend_pid()"
        }
        // It takes as many as there are.
        Engine::Sqlite => "SELECT sqlite_version(), '0', '0', NULL",
        Engine::MySql => {
            "SELECT version(), @@max_connections, (SELECT count(*) - 1 FROM information_schema.processlist WHERE id > 0 AND \
             command <> 'Daemon'), NULL"
        }
    }
}

fn version_line(engine: Engine, version: &str) -> String {
    match engine {
        Engine::PostgreSql => format!("PostgreSQL {version}"),
        Engine::MySql if version.contains("MariaDB") => format!("MariaDB {version}"),
        Engine::MySql => format!("MySQL {version}"),
        Engine::Sqlite => format!("SQLite {version}"),
    }
}

/// Whether the tables of a workload are there, and how large pgbench's are.
fn tables(desk: &Desk<'_>, sql: &Transactions, name: &'static str) -> Result<Option<i64>, Refusal> {
    let Some(workload) = workload::find(name) else { return Ok(None) };
    let set =
        |name: &str| sql.settings.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let many = set("tables").map_or("1", String::as_str);
    let (question, mut options) = question(workload.tables, many);
    let flags = [("tables", "--tables"), ("table_size", "--table-size")];
    let given = flags.iter().filter_map(|(name, flag)| Some(format!(" {flag} {}", set(name)?)));
    options.extend(given.filter(|_| matches!(workload.tables, Tables::Sbtest | Tables::SbtestEmpty)));
    let url = sql.database.for_command();
    let told = desk.ask(&question)?;
    match told.answer {
        Ok(values) if workload.tables == Tables::Pgbench => {
            let count = values.first().and_then(|value| value.as_ref()?.parse::<i64>().ok());
            match count {
                Some(count) if count > 0 => Ok(Some(count)),
                _ => Err(Unready::Empty { table: "pgbench_branches", url, workload: name }.into()),
            }
        }
        Ok(_) => {
            let Some((table, columns, question)) = columns(workload.tables, many) else { return Ok(None) };
            let told = desk.ask(&question)?;
            let Err(said) = told.answer else { return Ok(None) };
            if told.is_forbidden {
                return Err(Unready::Privilege { what: said, user: sql.database.login.user.clone() }.into());
            }
            let what = format!("{table} does not have the columns that {name} needs ({columns}): {said}");
            Err(Unready::Columns { what, url, workload: name, options }.into())
        }
        Err(what) if told.is_forbidden => {
            Err(Unready::Privilege { what, user: sql.database.login.user.clone() }.into())
        }
        Err(what) => Err(Unready::Tables { what, url, workload: name, options }.into()),
    }
}

/// What shows that the tables are there, and what else `tenbin prepare` needs to know.
fn question(tables: Tables, many: &str) -> (String, String) {
    let (question, options) = match tables {
        Tables::Pgbench => ("SELECT count(*) FROM pgbench_branches".to_owned(), " --scale 10"),
        Tables::Sbtest | Tables::SbtestEmpty => {
            (format!("SELECT count(*) FROM sbtest{many} WHERE 1 = 0"), "")
        }
        Tables::Postcodes => ("SELECT count(*) FROM tenbin_postcodes WHERE 1 = 0".to_owned(), ""),
        Tables::Accounts => ("SELECT count(*) FROM tenbin_accounts WHERE 1 = 0".to_owned(), ""),
    };
    (question, options.to_owned())
}

/// A table that is there may be of something else: its name, the columns that it needs, and a question that is refused if it does
/// not have them, or, where rows go in without names, if it has others.
fn columns(tables: Tables, many: &str) -> Option<(String, &'static str, String)> {
    let (table, columns) = match tables {
        // Whether it is empty is asked for too.
        Tables::Pgbench => return None,
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
    fn the_first_row_is_kept_and_no_other() {
        let mut rows = FirstRow::default();
        rows.value(0, Some(b"a"));
        rows.value(1, None);
        rows.row_ended();
        rows.value(0, Some(b"b"));
        assert_eq!(rows.values, [Some("a".to_owned()), None]);
    }

    #[test]
    fn what_is_missing_has_a_next_step() {
        let unready = Unready::Tables {
            what: "42P01: relation \"pgbench_branches\" does not exist".to_owned(),
            url: "postgres://127.0.0.1:5432/db".to_owned(),
            workload: "tpcb-like",
            options: " --scale 10".to_owned(),
        };
        let step = "`tenbin prepare postgres://127.0.0.1:5432/db --workload tpcb-like --scale 10`";
        assert!(unready.to_string().contains(step), "{unready}");
        assert_eq!(question(Tables::Sbtest, "4").0, "SELECT count(*) FROM sbtest4 WHERE 1 = 0");
        assert_eq!(version_line(Engine::MySql, "10.11.6-MariaDB"), "MariaDB 10.11.6-MariaDB");
    }
}
