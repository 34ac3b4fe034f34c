//! What is said to the system, in which protocol.

use std::sync::Arc;

use engine::{Job, Running};
use plan::{Action, Engine, Fault, Plan, Transactions};
use ring::rand::{SecureRandom, SystemRandom};
use sql::Sql;
use sqlite::Sqlite;
use wire::http1::{Http1, Step, Template};
use wire::{mysql, postgres};

use crate::prepare::Refusal;

/// The steps of a plan, in the protocol of its system.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
pub(crate) enum Spoken {
    Http(Http1),
    Postgres(Sql<postgres::Session>),
    Mysql(Sql<mysql::Session>),
    Sqlite(Sqlite),
}

/// What a connection keeps of its script beside what the plan shares: variables, a reply under way, a message of the server.
const SQL_KEPT_BYTES: u64 = 256 * 1024;

impl Spoken {
    pub(crate) fn read(plan: &Plan) -> Result<Self, Refusal> {
        Self::read_at(plan, None)
    }

    /// With the scale that was read from the tables, if it was.
    pub(crate) fn read_at(plan: &Plan, scale: Option<i64>) -> Result<Self, Refusal> {
        let steps = plan.steps.len();
        if let Some(visit) = plan.scenarios.visits().find(|visit| usize::from(visit.step) >= steps) {
            return refuse(&visit.step.to_string(), "a scenario has it, and the plan does not".to_owned());
        }
        match &plan.sql {
            None => requests(plan),
            Some(sql) => transactions(plan, sql, scale),
        }
    }

    pub(crate) fn start(self, job: Job) -> std::io::Result<Running> {
        match self {
            Self::Http(script) => engine::start(job, script),
            Self::Postgres(script) => engine::start(job, script),
            Self::Mysql(script) => engine::start(job, script),
            Self::Sqlite(script) => engine::start_embedded(job, script),
        }
    }

    /// Bytes that a connection keeps at most. `longest` says how long the value of a variable is at most.
    pub(crate) fn kept_bytes_max(&self, longest: impl Fn(u16) -> u64) -> u64 {
        match self {
            Self::Http(script) => script.kept_bytes_max(longest),
            Self::Postgres(_) | Self::Mysql(_) | Self::Sqlite(_) => SQL_KEPT_BYTES,
        }
    }

    /// Bytes of the longest request.
    pub(crate) fn request_bytes_max(&self, longest: impl Fn(u16) -> u64) -> u64 {
        match self {
            Self::Http(script) => script.request_bytes_max(longest),
            Self::Postgres(_) | Self::Mysql(_) | Self::Sqlite(_) => SQL_KEPT_BYTES,
        }
    }

    /// Bytes that all connections share.
    pub(crate) fn shared_bytes(&self) -> u64 {
        match self {
            Self::Http(script) => script.shared_bytes(),
            Self::Postgres(_) | Self::Mysql(_) | Self::Sqlite(_) => 0,
        }
    }

    /// How many regular expressions there are.
    pub(crate) fn expressions(&self) -> usize {
        match self {
            Self::Http(script) => script.expressions(),
            Self::Postgres(_) | Self::Mysql(_) | Self::Sqlite(_) => 0,
        }
    }
}

fn refuse<T>(name: &str, what: String) -> Result<T, Refusal> {
    Err(Refusal::Plan(Fault::new(format!("step {name:?}"), what, "correct the step")))
}

fn requests(plan: &Plan) -> Result<Spoken, Refusal> {
    let mut steps = Vec::new();
    for step in &plan.steps {
        let Action::Http(action) = &step.action else {
            return refuse(&step.name, "it is a transaction, and the system is none of SQL".to_owned());
        };
        match Template::compile(&action.request, &plan.variables) {
            Ok(request) => {
                let (checks, captures) = (action.checks.clone(), action.captures.clone());
                steps.push(Step { request, checks, captures });
            }
            Err(faults) => {
                return refuse(&step.name, faults.first().map(ToString::to_string).unwrap_or_default());
            }
        }
    }
    Ok(Spoken::Http(Http1::new(steps, plan.variables.len() as u16)))
}

fn transactions(plan: &Plan, sql: &Transactions, scale: Option<i64>) -> Result<Spoken, Refusal> {
    if let Some(step) = plan.steps.iter().find(|step| step.request().is_some()) {
        return refuse(&step.name, "it is a request, and the system is a database".to_owned());
    }
    let (deck, steps, mut settings) = (sql.deck.clone(), plan.sql_steps(), sql.settings.clone());
    settings.scale = settings.scale.or(scale);
    let login = Arc::new(sql.database.login.clone());
    let spoken = match sql.database.engine {
        Engine::PostgreSql => sql::postgres(deck, &steps, settings, login, nonce()?).map(Spoken::Postgres),
        Engine::MySql => {
            let is_private = plan.peers().all(|peer| peer.unix_socket.is_some());
            sql::mysql(deck, &steps, settings, login, is_private).map(Spoken::Mysql)
        }
        Engine::Sqlite => sqlite::sqlite(deck, &steps, settings, file(sql)).map(Spoken::Sqlite),
    };
    spoken.map_err(|what| Refusal::Plan(Fault::new(sql.database.shown.clone(), what, "correct the script")))
}

/// The file of a load on SQLite.
pub(crate) fn file(sql: &Transactions) -> sqlite::Database {
    let (path, settings) = sql.database.file.clone().unwrap_or_default();
    sqlite::Database { settings, ..sqlite::Database::new(path) }
}

/// What nobody can foresee: log-ins are made from it.
pub(crate) fn nonce() -> Result<[u8; 18], Refusal> {
    let mut nonce = [0; 18];
    SystemRandom::new().fill(&mut nonce).map_err(|_| {
        let what = "the system gives no random numbers, from which a log-in is made";
        Refusal::Plan(Fault::new("log-in", what, "see whether /dev/urandom can be read"))
    })?;
    Ok(nonce)
}
