//! What is said to the system, in which protocol.

use std::time::Duration;

use engine::{Job, Running};
use plan::{Action, Engine, Fault, Plan, Transactions};
use ring::rand::{SecureRandom, SystemRandom};
use sql::Sql;
use sqlite::Sqlite;
use wire::http1::{Http1, Step, Template};
use wire::{Both, Place, mysql, postgres};

use crate::prepare::Refusal;
use crate::stretching;

/// The steps of a plan, in the protocol of its system.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them")]
pub(crate) enum Spoken {
    Http(Http1),
    Postgres(Sql<postgres::Session>),
    Mysql(Sql<mysql::Session>),
    Sqlite(Sqlite),
    HttpAndPostgres(Both<Http1, Sql<postgres::Session>>),
    HttpAndMysql(Both<Http1, Sql<mysql::Session>>),
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
            None => requests(plan).map(Self::Http),
            Some(sql) if plan.is_mixed() => Ok(match transactions(plan, sql, scale)? {
                Self::Postgres(script) => {
                    Self::HttpAndPostgres(Both::new(requests(plan)?, script, &places(plan)))
                }
                Self::Mysql(script) => Self::HttpAndMysql(Both::new(requests(plan)?, script, &places(plan))),
                _ => {
                    let what = "it runs within the generator, and some steps are requests".to_owned();
                    return refuse(&sql.database.shown, what);
                }
            }),
            Some(sql) => transactions(plan, sql, scale),
        }
    }

    pub(crate) fn start(self, job: Job) -> std::io::Result<Running> {
        match self {
            Self::Http(script) => engine::start(job, script),
            Self::Postgres(script) => engine::start(job, script),
            Self::Mysql(script) => engine::start(job, script),
            Self::HttpAndPostgres(script) => engine::start(job, script),
            Self::HttpAndMysql(script) => engine::start(job, script),
            Self::Sqlite(script) => engine::start_embedded(job, script),
        }
    }

    /// The same; the words of rejected requests quote the beginning of the reply's body.
    pub(crate) fn quoting(self) -> Self {
        match self {
            Self::Http(script) => Self::Http(script.quoting()),
            // The server's own message is in the words of a rejected transaction in any case.
            other => other,
        }
    }

    /// Bytes that a connection keeps at most. `longest` says how long the value of a variable is at most.
    pub(crate) fn kept_bytes_max(&self, longest: impl Fn(u16) -> u64) -> u64 {
        let longest = self.with_saved(longest);
        let of_sql = if matches!(self, Self::Http(_)) { 0 } else { SQL_KEPT_BYTES };
        self.http().map_or(0, |script| script.kept_bytes_max(longest)).saturating_add(of_sql)
    }

    /// Bytes of the longest request.
    pub(crate) fn request_bytes_max(&self, longest: impl Fn(u16) -> u64) -> u64 {
        let longest = self.with_saved(longest);
        let of_sql = if matches!(self, Self::Http(_)) { 0 } else { SQL_KEPT_BYTES };
        self.http().map_or(0, |script| script.request_bytes_max(longest)).max(of_sql)
    }

    /// Bytes that all connections share.
    pub(crate) fn shared_bytes(&self) -> u64 {
        self.http().map_or(0, Http1::shared_bytes)
    }

    /// How many regular expressions there are.
    pub(crate) fn expressions(&self) -> usize {
        self.http().map_or(0, Http1::expressions)
    }

    fn http(&self) -> Option<&Http1> {
        match self {
            Self::Http(script) => Some(script),
            Self::HttpAndPostgres(both) => Some(both.first()),
            Self::HttpAndMysql(both) => Some(both.first()),
            Self::Postgres(_) | Self::Mysql(_) | Self::Sqlite(_) => None,
        }
    }

    /// A value that a transaction saved for requests is no longer than what a connection keeps of a reply to it.
    fn with_saved(&self, longest: impl Fn(u16) -> u64) -> impl Fn(u16) -> u64 {
        let saves = match self {
            Self::HttpAndPostgres(both) => both.second().saves(),
            Self::HttpAndMysql(both) => both.second().saves(),
            _ => &[],
        };
        move |variable| if saves.contains(&variable) { SQL_KEPT_BYTES } else { longest(variable) }
    }
}

fn refuse<T>(name: &str, what: String) -> Result<T, Refusal> {
    Err(Refusal::Plan(Fault::new(format!("step {name:?}"), what, "correct the step")))
}

/// Where each step is of a load with requests and transactions.
fn places(plan: &Plan) -> Vec<Place> {
    let mut next = [0, 0];
    let mut place = |script: u16| {
        let step = &mut next[usize::from(script)];
        *step += 1;
        Place { script, step: *step - 1 }
    };
    plan.steps.iter().map(|step| place(u16::from(step.request().is_none()))).collect()
}

/// Those steps that are requests.
fn requests(plan: &Plan) -> Result<Http1, Refusal> {
    let mut steps = Vec::new();
    for step in &plan.steps {
        let Action::Http(action) = &step.action else {
            if plan.sql.is_some() {
                continue;
            }
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
    Ok(Http1::new(steps, plan.variables.len() as u16))
}

/// Those steps that are transactions.
fn transactions(plan: &Plan, sql: &Transactions, scale: Option<i64>) -> Result<Spoken, Refusal> {
    let (deck, steps, mut settings) = (sql.deck.clone(), plan.sql_steps(), sql.settings.clone());
    settings.scale = settings.scale.or(scale);
    let of_numbers = plan.data.iter().filter(|data| data.source.is_number());
    settings.numbers = of_numbers.flat_map(|data| &data.fills).map(|(variable, _)| *variable).collect();
    let login = stretching::shared(&sql.database.login, Duration::from_nanos(plan.connect_timeout_ns));
    let spoken = match sql.database.engine {
        Engine::PostgreSql => sql::postgres(deck, &steps, settings, login, nonce()?).map(Spoken::Postgres),
        Engine::MySql => {
            let is_private = sql.database.peers.iter().all(|peer| peer.unix_socket.is_some());
            sql::mysql(deck, &steps, settings, login, is_private, nonce()?).map(Spoken::Mysql)
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
