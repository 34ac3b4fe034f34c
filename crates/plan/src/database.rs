//! Whom a load of SQL speaks to: connection URLs as the clients of the servers read them.

mod client;
mod mysql;
mod pgpass;
mod postgres;
mod sqlite;
mod written;

use std::path::PathBuf;

use sql::Engine;
use wire::sql::Login;
use wire::step::Access;

pub(crate) use client::ClientEnvironment;
pub(crate) use written::presentable;

use crate::endpoint::{ClientCertificate, Peer, Trust};
use crate::fault::Fault;

/// The schemes of SQL URLs; SQLite is no protocol.
pub(crate) fn schemes() -> impl Iterator<Item = &'static str> {
    wire::schemes(false).map(|scheme| scheme.name).chain(["sqlite"])
}

/// A database, and how it is connected to. It holds a password, and shows none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// What kind it is.
    pub engine: Engine,
    /// Who logs in; of SQLite nothing.
    pub login: Login,
    /// At least one; connections are spread over them. Of SQLite the one is nowhere.
    pub peers: Vec<Peer>,
    /// Of SQLite: the file, and settings of each connection.
    pub file: Option<(PathBuf, Vec<(String, String)>)>,
    /// If the URL says how long connecting may take.
    pub(crate) connect_timeout_ns: Option<u64>,
    /// The URL as it may be shown.
    pub shown: String,
}

/// Whether a URL names a database.
pub fn is_database(url: &str) -> bool {
    scheme(url).is_some()
}

/// Whether a URL of a database holds a password.
pub(crate) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let by_user = rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    by_user || rest.split_once('?').is_some_and(|(_, query)| query.contains("password="))
}

/// The scheme of a URL, if it is one of a database.
fn scheme(url: &str) -> Option<&'static str> {
    let (scheme, _) = url.trim_start().split_once(':')?;
    schemes().find(|known| known.eq_ignore_ascii_case(scheme))
}

impl Database {
    /// The database that a URL names, with what this process's environment says where the URL says nothing.
    pub fn read(url: &str) -> Result<Self, Vec<Fault>> {
        Self::read_in(url, &ClientEnvironment::here())
    }

    /// Adds the servers of another URL with the same log-in.
    pub(crate) fn add(&mut self, other: &Self) -> Result<(), Vec<Fault>> {
        if self.login != other.login {
            let what = "the databases of a list have different log-ins";
            return Err(vec![Fault::new(
                "url",
                what,
                "use one user, database, and password for all of them",
            )]);
        }
        self.peers.extend_from_slice(&other.peers);
        let authority = other.shown.split("://").nth(1).and_then(|rest| rest.split('/').next());
        let end = self.shown.find("://").and_then(|at| Some(at + 3 + self.shown[at + 3..].find('/')?));
        if let (Some(authority), Some(end)) = (authority.filter(|text| !text.is_empty()), end) {
            self.shown.insert_str(end, &format!(",{authority}"));
        }
        Ok(())
    }

    /// The URL for another command: with the user, without a password and parameters.
    pub fn for_command(&self) -> String {
        let url = self.shown.split(" over ").next().unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        match url.split_once("://") {
            Some((scheme, rest)) if !self.login.user.is_empty() && self.login.user.bytes().all(is_plain) => {
                format!("{scheme}://{}@{rest}", self.login.user)
            }
            _ => url.to_owned(),
        }
    }

    pub(crate) fn read_in(url: &str, environment: &ClientEnvironment<'_>) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let database = match scheme(url) {
            Some("sqlite") => sqlite::read(url, &mut faults),
            Some("mysql" | "mariadb") => written::read(url, &mut faults)
                .and_then(|written| mysql::read(&written, environment, &mut faults)),
            Some(_) => written::read(url, &mut faults)
                .and_then(|written| postgres::read(&written, environment, &mut faults)),
            None => {
                let known: Vec<&str> = schemes().collect();
                let what = format!("unknown URL scheme; known are {}", known.join(", "));
                faults.push(Fault::new(
                    format!("{:?}", presentable(url)),
                    what,
                    "write postgres://USER@HOST/DATABASE",
                ));
                None
            }
        };
        database.filter(|_| faults.is_empty()).ok_or(faults)
    }
}

/// `postgres://127.0.0.1:5432/db`, or `postgres:///db over /run/postgresql/.s.PGSQL.5432`.
fn shown(scheme: &str, peers: &[Peer], database: &str) -> String {
    let places: Vec<String> = peers.iter().map(Peer::authority).collect();
    match peers.iter().all(|peer| peer.unix_socket.is_some()) {
        true => format!("{scheme}:///{database} over {}", places.join(",")),
        false => format!("{scheme}://{}/{database}", places.join(",")),
    }
}

/// A way without TLS.
fn in_the_clear(host: String, port: u16) -> Peer {
    Peer {
        host,
        port,
        addresses: Vec::new(),
        unix_socket: None,
        tls: None,
        certificate: None,
        access: Access::none(),
    }
}

/// The same ways, each with TLS of this kind and the client certificate; sockets of this machine have none.
fn with_tls(peers: &mut [Peer], trust: Option<&Trust>, certificate: Option<&ClientCertificate>) {
    for peer in peers.iter_mut().filter(|peer| peer.unix_socket.is_none()) {
        peer.tls = trust.cloned();
        peer.certificate = certificate.cloned();
    }
}

#[cfg(test)]
mod tests;
