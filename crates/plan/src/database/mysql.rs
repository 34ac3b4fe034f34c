//! URLs of MySQL and MariaDB.

pub(super) mod parameters;

use std::path::PathBuf;

use sql::Engine;
use wire::sql::{InsecureAuth, Login, Secret, TlsMode};

use super::written::{UrlParts, read_port};
use super::{ClientEnvironment, Database, add_tls, plain_peer, shown};
use crate::endpoint::{Peer, Trust};
use crate::fault::Fault;
use parameters::PARAMETERS;

const GET_PUBLIC_KEY: &str = "get-server-public-key";
const CLEARTEXT_PLUGIN: &str = "enable-cleartext-plugin";
const SECONDS_MAX: u64 = 86_400;

pub(super) fn read(
    written: &UrlParts,
    environment: &ClientEnvironment<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Database> {
    written.check_parameters(PARAMETERS, faults);
    let part = |name: &str| written.parameter(name).map(str::to_owned);
    let user = part("user").or_else(|| written.user.clone()).or_else(|| environment.user());
    let Some(user) = user else {
        written.wrong("no user in the URL", "write mysql://USER@HOST/DATABASE", faults);
        return None;
    };
    let port = part("port").and_then(|text| read_port(&text, &written.shown, faults));
    let hosts = written.hosts.iter();
    let peers = hosts.map(|(host, written_port)| {
        let host = part("host").or_else(|| host.clone()).unwrap_or_else(|| "localhost".to_owned());
        plain_peer(host, port.or(*written_port).unwrap_or(wire::mysql::PORT))
    });
    let mut peers: Vec<_> = peers.collect();
    let socket = written.parameter("socket").map(PathBuf::from);
    for peer in &mut peers {
        peer.unix_socket = socket.clone();
        if socket.is_none() && peer.host.starts_with('/') {
            *peer = Peer {
                unix_socket: Some(PathBuf::from(&peer.host)),
                ..plain_peer("localhost".to_owned(), peer.port)
            };
        }
    }
    let (tls, trust) = tls(written, faults);
    let given = |parameter: &str| written.parameter(parameter).map(str::to_owned);
    let certificate = written.certificate(["ssl-cert", "ssl-key"].map(|name| (name, given(name))), faults);
    add_tls(&mut peers, trust.as_ref(), certificate.as_ref());
    let weak = InsecureAuth {
        clear: is_true(written, CLEARTEXT_PLUGIN, faults),
        any_key: is_true(written, GET_PUBLIC_KEY, faults),
        ..InsecureAuth::default()
    };
    let are_all_local = peers.iter().all(|peer| peer.unix_socket.is_some());
    let timeout_ns = written.parameter("connect-timeout").and_then(|text| match text.parse::<u64>() {
        Ok(seconds @ 1..=SECONDS_MAX) => Some(seconds * 1_000_000_000),
        _ => {
            let what = format!("invalid connect-timeout: {text:?}");
            written.wrong(what, "write whole seconds, such as connect-timeout=5", faults);
            None
        }
    });
    let database = part("database").or_else(|| written.database.clone());
    let password = part("password").map(Secret).or_else(|| written.password.clone());
    Some(Database {
        engine: Engine::MySql,
        shown: shown(written.scheme, &peers, database.as_deref().unwrap_or_default()),
        login: Login {
            user,
            password: password.or_else(|| environment.variable("MYSQL_PWD").map(Secret)),
            database,
            tls: if are_all_local { TlsMode::No } else { tls },
            weak: if are_all_local { InsecureAuth::ALL } else { weak },
            init_commands: init_commands(written),
            ..Login::default()
        },
        peers,
        file: None,
        connect_timeout_ns: timeout_ns,
        balance: None,
    })
}

/// Statements after the log-in: the character set, and the command of the URL.
fn init_commands(written: &UrlParts) -> Vec<String> {
    let charset = written.parameter("charset").or(written.parameter("default-character-set"));
    // The log-in itself requests utf8mb4.
    let narrow = charset.filter(|charset| matches!(*charset, "utf8" | "utf8mb3"));
    let names = narrow.map(|charset| format!("SET NAMES {charset}"));
    names.into_iter().chain(written.parameter("init-command").map(str::to_owned)).collect()
}

fn is_true(written: &UrlParts, name: &str, faults: &mut Vec<Fault>) -> bool {
    match written.parameter(name).map(str::to_ascii_lowercase).as_deref() {
        Some("true" | "1" | "on") => true,
        None | Some("false" | "0" | "off") => false,
        Some(other) => {
            let what = format!("invalid {name}: {other:?}");
            written.wrong(what, &format!("write {name}=true, or remove it"), faults);
            false
        }
    }
}

fn tls(written: &UrlParts, faults: &mut Vec<Fault>) -> (TlsMode, Option<Trust>) {
    let file = written.parameter("ssl-ca").map(PathBuf::from);
    // MariaDB defines the options `ssl` and `ssl-verify-server-cert`.
    let by_flags = match (written.parameter("ssl"), is_true(written, "ssl-verify-server-cert", faults)) {
        (_, true) => Some("VERIFY_IDENTITY"),
        (Some(_), false) if is_true(written, "ssl", faults) => Some("REQUIRED"),
        (Some(_), false) => Some("DISABLED"),
        (None, false) => None,
    };
    let mode = written.parameter("ssl-mode").or(by_flags).map(str::to_ascii_uppercase);
    match mode.as_deref().unwrap_or(if file.is_some() { "VERIFY_CA" } else { "PREFERRED" }) {
        "DISABLED" => (TlsMode::No, None),
        "PREFERRED" => (TlsMode::IfOffered, Some(Trust::Anything)),
        "REQUIRED" => (TlsMode::Required, Some(Trust::Anything)),
        "VERIFY_CA" => (TlsMode::Required, Some(Trust::AnyName(file))),
        "VERIFY_IDENTITY" => (TlsMode::Required, Some(file.map_or(Trust::System, Trust::Authorities))),
        other => {
            let what = format!("invalid ssl-mode: {other:?}");
            let help = "write DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
            written.wrong(what, help, faults);
            (TlsMode::No, None)
        }
    }
}
