//! Transactions of a load on a database: addresses, the first connection, and compilation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{Endpoint, Peer, Selection};
use evidence::NewRun;
use plan::{Balance, Fault, Plan, Transactions, Trust};
use replay::play::{OpenSession, SqlPlay};
use serde_json::json;
use sql::Settings;
use wire::Channels;

use crate::consent::PublicLoads;
use crate::consistency;
use crate::database_check;
use crate::endpoint_kind::{ConnectionFacts, ConnectionRoom, EndpointKind, FirstConnection, StepsAt};
use crate::prepare::{Prepared, Refusal, addresses};
use crate::protocol::nonce;
use crate::replay::Traffic;
use crate::stretching;

/// Databases on servers.
pub(super) const ON_SERVER: EndpointKind = EndpointKind {
    addresses: |endpoint, public| database_addresses(&at(endpoint)?.database, public),
    ask,
    compile,
    compile_to_text,
    compile_traffic,
    record_facts,
    record_connection: |_, _, _| Vec::new(),
    check_after: Some(|endpoint| consistency::check(Transactions::at(endpoint)?)),
    room_help: Some(
        "the server had no more free: raise its max_connections, or share connections by a pooler",
    ),
    has_no_instant_server: |_| Some("SQL"),
};

/// Databases in this process. Each has its own way to compile.
pub(super) const fn in_process(
    compile: fn(&StepsAt<'_>) -> Result<Box<dyn Channels>, Refusal>,
) -> EndpointKind {
    EndpointKind {
        // A database in this process has no address.
        addresses: |_, _| Ok((Peer::of(Endpoint::Unix(PathBuf::new()), None), None)),
        compile,
        ..ON_SERVER
    }
}

/// Returns the transactions of an endpoint. Fails if it runs none.
fn at(endpoint: &plan::Endpoint) -> Result<&Transactions, Refusal> {
    Transactions::at(endpoint).ok_or_else(|| {
        let what = "the system takes no transactions";
        Refusal::Plan(Fault::new(endpoint.name.clone(), what, "name a database"))
    })
}

/// Addresses of a database in the order of attempts, and the duration of their name resolution.
pub(crate) fn database_addresses(
    database: &plan::Database,
    public: &PublicLoads,
) -> Result<(Peer, Option<Duration>), Refusal> {
    let (peer, resolved) = addresses(&database.attempted_peers(), true, public)?;
    let selection = match database.balance {
        Some(Balance { width, stride }) => Selection::Spread { width, stride },
        None if !database.login.attempts.is_empty() => Selection::First,
        None => Selection::InTurn,
    };
    // A server rejects TLS without a request if the protocol is not named.
    let kind = super::of(database.engine);
    let alpn = kind.direct_tls_alpn.filter(|_| database.login.is_tls_direct);
    Ok((Peer { tls: peer.tls.map(|tls| tls.with_alpn(alpn.as_slice())), selection, ..peer }, resolved))
}

fn ask(first: &FirstConnection<'_>) -> Result<ConnectionFacts, Refusal> {
    let sql = at(first.endpoint)?;
    let (facts, mut probed) = database_check::ask(sql, first.peer, first.wanted, first.timeout)?;
    // A database rejects a log-in that lacks a certificate.
    probed.is_certificate_missing = false;
    let scale = facts.scale.filter(|_| sql.is_scale_asked);
    let room = facts.connections_left.map_or(ConnectionRoom::Unknown, ConnectionRoom::Left);
    Ok(ConnectionFacts { probed, facts: Some(facts), scale, room })
}

/// Parts of a load that channels are created from.
pub(super) struct Parts<'a> {
    pub(super) sql: &'a Transactions,
    pub(super) all_scripts: sql::script::ScriptSet,
    pub(super) steps: Vec<sql::TransactionStep>,
    pub(super) settings: Settings,
}

/// The transactions at an endpoint, with the scale that was read from the tables.
pub(super) fn parts<'a>(steps: &StepsAt<'a>) -> Result<Parts<'a>, Refusal> {
    let sql = at(steps.endpoint())?;
    let settings = settings(steps.plan, sql);
    let settings = Settings { scale: settings.scale.or(steps.scale), ..settings };
    Ok(Parts {
        sql,
        all_scripts: sql.all_scripts.clone(),
        steps: steps.plan.sql_steps(steps.number),
        settings,
    })
}

/// Compiles the transactions on a server.
fn compile(at: &StepsAt<'_>) -> Result<Box<dyn Channels>, Refusal> {
    let Parts { sql, all_scripts, steps, settings } = parts(at)?;
    let (login, is_private) = (login(at.plan, &sql.database.login), is_private(sql));
    let script =
        sql::on_server(sql.database.engine, all_scripts, &steps, settings, login, is_private, nonce()?);
    script.map(|script| Box::new(script) as _).map_err(|what| wrong_script(sql, what))
}

/// Log-in of the connections of a load. Its password is stretched once for all of them.
fn login(plan: &Plan, login: &wire::sql::Login) -> Arc<wire::sql::Login> {
    stretching::shared(login, Duration::from_nanos(plan.connect_timeout_ns))
}

fn is_private(sql: &Transactions) -> bool {
    sql.database.peers.iter().all(|peer| peer.unix_socket.is_some())
}

/// Compiles transactions to text, without a server.
fn compile_to_text(steps: &StepsAt<'_>) -> Result<Box<dyn Channels>, Refusal> {
    let sql = at(steps.endpoint())?;
    let (engine, of_plan) = (sql.database.engine, steps.plan.sql_steps(steps.number));
    let script =
        sql::recorded(engine, sql.all_scripts.clone(), &sql.texts, &of_plan, settings(steps.plan, sql));
    script.map(|script| Box::new(script) as _).map_err(|what| wrong_script(sql, what))
}

pub(super) fn wrong_script(sql: &Transactions, what: String) -> Refusal {
    Refusal::Plan(Fault::new(sql.database.shown.clone(), what, "correct the script"))
}

/// Settings of transactions, with the variables of the plan that are numbers.
fn settings(plan: &Plan, sql: &Transactions) -> Settings {
    let of_numbers = plan.data.iter().filter(|data| data.source.is_number());
    let numbers = of_numbers.flat_map(|data| &data.fills).map(|(variable, _)| *variable).collect();
    Settings { numbers, ..sql.settings.clone() }
}

/// Script that sends recorded statements.
fn compile_traffic(
    plan: &Plan,
    endpoint: &plan::Endpoint,
    traffic: &Traffic,
) -> Result<Box<dyn Channels>, Refusal> {
    let sql = at(endpoint)?;
    let open = sessions(plan, sql, traffic, endpoint)?;
    let names: Vec<&str> = traffic.fingerprints.iter().map(String::as_str).collect();
    let (trace, outcomes) = (Arc::clone(&traffic.trace), Arc::clone(&traffic.outcomes));
    Ok(Box::new(SqlPlay::new(trace, outcomes, &names, sql.database.engine, open)))
}

fn sessions(
    plan: &Plan,
    sql: &Transactions,
    traffic: &Traffic,
    endpoint: &plan::Endpoint,
) -> Result<OpenSession, Refusal> {
    let mut login = sql.database.login.clone();
    if let Some((name, value)) = sql::read_only_setting(sql.database.engine).filter(|_| traffic.is_read_only)
    {
        login.settings.push((name.to_owned(), value.to_owned()));
    }
    let lock_wait_max_ms = traffic.lock_wait_max_ns.map(|ns| ns.div_ceil(1_000_000));
    let timeout = lock_wait_max_ms.and_then(|ms| sql::lock_timeout_setting(sql.database.engine, ms));
    login.settings.extend(timeout.map(|(name, value)| (name.to_owned(), value)));
    let open = sql::sessions(sql.database.engine, self::login(plan, &login), is_private(sql), nonce()?);
    let wrong = |what| Refusal::Plan(Fault::new(endpoint.name.clone(), what, "name a server with --to"));
    open.map(|open| Box::new(open) as _).map_err(wrong)
}

/// Adds facts from the first connection to the record of a run. Returns them as text.
fn record_facts(plan: &Plan, prepared: &Prepared, new: &mut NewRun) -> Option<String> {
    let sql = Transactions::in_plan(plan).next()?;
    if new.system_version.is_none() {
        new.system_version.clone_from(&prepared.learnt.version);
    }
    let mut words = sql.words(prepared.learnt.scale);
    let is_encrypted = prepared.tls.is_some();
    if is_encrypted && plan.peers().any(|peer| peer.tls == Some(Trust::Anything)) {
        new.stamps.push(format!("TLS certificates were not verified ({} verifies them)", sql.verified_by()));
    }
    let way = match (is_encrypted, &sql.database.file) {
        (_, Some(_)) => None,
        (true, None) => Some("over TLS"),
        (false, None) if plan.peers().all(|peer| peer.unix_socket.is_some()) => Some("over a Unix socket"),
        (false, None) => Some("without TLS"),
    };
    words.extend(way.map(|way| format!(", {way}")));
    new.plan_text = format!("{}; {words}", new.plan_text);
    // The hash covers what was requested, so it does not change.
    if let (Some(scale), true) = (prepared.learnt.scale, sql.is_scale_asked) {
        new.plan_json["sql"]["scale"] = json!(scale);
    }
    Some(words)
}
