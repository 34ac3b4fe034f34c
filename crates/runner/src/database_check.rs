//! What a database is asked before a load: its version, whether it has room, and what is in the tables of a workload.

use std::sync::Arc;
use std::time::Duration;

use engine::{Asked, Peer, ProbeError, Probed};
use plan::Transactions;
use sql::workload::{self, Tables};
use wire::sql::{Login, RowSink, Session, Single};
use wire::{Conversation, ErrorClass};

use crate::databases::{self, Kind};
use crate::pooling::{Pooling, Warning};
use crate::prepare::Refusal;
use crate::stretching;

/// The class of a log-in without an answer.
const SILENT: ErrorClass = ErrorClass::TimeoutLogin;
/// Endings of a log-in to a port where a server of another protocol listens.
const MAY_BE_ANOTHER_SERVER: [ErrorClass; 4] =
    [SILENT, ErrorClass::ProtocolError, ErrorClass::LoginClosed, ErrorClass::LoginReset];

/// What a database said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// `PostgreSQL 15.14`.
    pub version: Option<String>,
    /// Read from the tables, if it was asked for.
    pub scale: Option<i64>,
    /// State that the load keeps in connections, and that a pooler loses.
    pub warnings: Vec<Warning>,
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
    /// A pooler does not keep what the load relies on: which state of which script, and what to do.
    #[error("{0}")]
    Pooler(String),
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
pub(crate) struct QueryResult {
    pub(crate) answer: Answer,
    /// Whether it was refused because the user may not ask it.
    pub(crate) is_forbidden: bool,
    pub(crate) probed: Probed,
    /// The process that serves the connection, as the peer reported at the log-in.
    pub(crate) backend_pid: Option<u32>,
}

/// Asks a server one question after the other, each over a connection of its own.
pub(crate) struct Desk<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) login: Arc<Login>,
    kind: &'static Kind,
    /// Whether nobody else listens on the transport, such as a Unix socket.
    pub(crate) is_private: bool,
    pub(crate) transactions: &'a Transactions,
    pub(crate) timeout: Duration,
}

impl Desk<'_> {
    fn ask(&self, question: &str) -> Result<QueryResult, Refusal> {
        (self.kind.ask)(self, question)
    }

    /// Asks a server over a new connection, in a session of its protocol.
    pub(crate) fn ask_over<S: Session>(
        &self,
        session: S,
        question: &str,
        backend_pid: impl Fn(&S) -> Option<u32>,
    ) -> Result<QueryResult, Refusal> {
        let conversation = Single::new(session, question, FirstRow::default());
        let asked = engine::ask(self.peer, conversation, self.timeout);
        let Asked { reply, conversation, probed } = asked.map_err(|error| self.explained(error))?;
        let answer = match reply.refusal {
            None => Ok(conversation.rows().values.clone()),
            Some(refusal) => Err(conversation.explain(refusal)),
        };
        let session = conversation.session();
        Ok(QueryResult {
            answer,
            is_forbidden: (self.kind.is_forbidden)(session.last_error()),
            probed,
            backend_pid: backend_pid(session),
        })
    }

    /// With the next step, where there is one.
    fn explained(&self, error: ProbeError) -> Refusal {
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
                let help = if class == SILENT {
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

/// Logs in once, and asks what must be known before `wanted` connections are opened.
pub(crate) fn ask(
    sql: &Transactions,
    peer: &Peer,
    wanted: u32,
    timeout: Duration,
) -> Result<(Learnt, Probed), Refusal> {
    let is_private = peer.endpoints.iter().all(|endpoint| matches!(endpoint, engine::Endpoint::Unix(_)));
    let login = stretching::shared(&sql.database.login, timeout);
    let kind = databases::of(sql.database.engine);
    let desk = Desk { peer, login, kind, is_private, transactions: sql, timeout };
    let QueryResult { answer: room, probed, backend_pid, .. } = desk.ask(desk.kind.about_the_server)?;
    let mut learnt = Learnt::default();
    // A server that cannot say how much room it has may have enough.
    if let Ok(values) = &room
        && let [Some(version), max, taken, process] = values.as_slice()
    {
        let number = |value: &Option<String>| value.as_ref().and_then(|value| value.parse::<u64>().ok());
        // A pooler takes the connections: it tells of a process of its own, and answers come from a server behind it.
        let is_pooled = number(process).is_some_and(|process| Some(process) != backend_pid.map(u64::from));
        let pooling = desk.kind.pooling.filter(|_| is_pooled).and_then(|recognize| recognize(&desk));
        let pooled = if is_pooled { ", through a pooler" } else { "" };
        let shared = if pooling.is_some() { Pooling::WORDS } else { "" };
        learnt.version = Some((desk.kind.version_line)(version) + pooled + shared);
        if let Some(pooling) = pooling {
            learnt.warnings = pooling.check(sql)?;
        }
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
        let version_line = databases::of(plan::Engine::MySql).version_line;
        assert_eq!(version_line("10.11.6-MariaDB"), "MariaDB 10.11.6-MariaDB");
    }
}
