//! URLs of MySQL and MariaDB.

use std::path::PathBuf;

use sql::Engine;
use wire::sql::{Login, Secret, TlsWish, Weak};

use super::written::Written;
use super::{ClientEnvironment, Database, in_the_clear, shown, with_tls};
use crate::endpoint::{Peer, Trust};
use crate::fault::Fault;

const ANY_KEY: &str = "get-server-public-key";
const CLEAR: &str = "enable-cleartext-plugin";
const PARAMETERS: [&str; 8] =
    ["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "socket", "connect-timeout", ANY_KEY, CLEAR];
const SECONDS_MAX: u64 = 86_400;

pub(super) fn read(
    written: &Written,
    environment: &ClientEnvironment<'_>,
    faults: &mut Vec<Fault>,
) -> Option<Database> {
    written.only(&PARAMETERS, faults);
    let user = written.user.clone().or_else(|| environment.user());
    let Some(user) = user else {
        written.wrong("no user in the URL", "write mysql://USER@HOST/DATABASE", faults);
        return None;
    };
    let hosts = written.hosts.iter();
    let peers = hosts.map(|(host, port)| {
        in_the_clear(
            host.clone().unwrap_or_else(|| "localhost".to_owned()),
            port.unwrap_or(wire::mysql::PORT),
        )
    });
    let mut peers: Vec<_> = peers.collect();
    let socket = written.parameter("socket").map(PathBuf::from);
    for peer in &mut peers {
        peer.unix_socket = socket.clone();
        if socket.is_none() && peer.host.starts_with('/') {
            *peer = Peer {
                unix_socket: Some(PathBuf::from(&peer.host)),
                ..in_the_clear("localhost".to_owned(), peer.port)
            };
        }
    }
    let (tls, trust) = tls(written, faults);
    let given = |parameter: &str| written.parameter(parameter).map(str::to_owned);
    let certificate = written.certificate(["ssl-cert", "ssl-key"].map(|name| (name, given(name))), faults);
    with_tls(&mut peers, trust.as_ref(), certificate.as_ref());
    let weak = Weak {
        clear: is_true(written, CLEAR, faults),
        any_key: is_true(written, ANY_KEY, faults),
        ..Weak::default()
    };
    let is_all_here = peers.iter().all(|peer| peer.unix_socket.is_some());
    let timeout_ns = written.parameter("connect-timeout").and_then(|text| match text.parse::<u64>() {
        Ok(seconds @ 1..=SECONDS_MAX) => Some(seconds * 1_000_000_000),
        _ => {
            let what = format!("invalid connect-timeout: {text:?}");
            written.wrong(what, "write whole seconds, such as connect-timeout=5", faults);
            None
        }
    });
    Some(Database {
        engine: Engine::MySql,
        shown: shown(written.scheme, &peers, written.database.as_deref().unwrap_or_default()),
        login: Login {
            user,
            password: written.password.clone().or_else(|| environment.variable("MYSQL_PWD").map(Secret)),
            database: written.database.clone(),
            settings: Vec::new(),
            tls: if is_all_here { TlsWish::No } else { tls },
            weak: if is_all_here { Weak::ALL } else { weak },
            stretcher: None,
        },
        peers,
        file: None,
        connect_timeout_ns: timeout_ns,
    })
}

fn is_true(written: &Written, name: &str, faults: &mut Vec<Fault>) -> bool {
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

fn tls(written: &Written, faults: &mut Vec<Fault>) -> (TlsWish, Option<Trust>) {
    let file = written.parameter("ssl-ca").map(PathBuf::from);
    let mode = written.parameter("ssl-mode").map(str::to_ascii_uppercase);
    match mode.as_deref().unwrap_or(if file.is_some() { "VERIFY_CA" } else { "PREFERRED" }) {
        "DISABLED" => (TlsWish::No, None),
        "PREFERRED" => (TlsWish::IfOffered, Some(Trust::Anything)),
        "REQUIRED" => (TlsWish::Required, Some(Trust::Anything)),
        "VERIFY_CA" => (TlsWish::Required, Some(Trust::AnyName(file))),
        "VERIFY_IDENTITY" => (TlsWish::Required, Some(file.map_or(Trust::System, Trust::Authorities))),
        other => {
            let what = format!("invalid ssl-mode: {other:?}");
            let help = "write DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY";
            written.wrong(what, help, faults);
            (TlsWish::No, None)
        }
    }
}
