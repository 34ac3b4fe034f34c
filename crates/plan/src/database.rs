//! Databases and their connection URLs, parsed by the rules of the servers' own clients.

mod client;
mod mysql;
mod parameters;
mod pgpass;
mod postgres;
mod sqlite;
mod systems;
mod transactions;
mod written;

use std::borrow::Cow;
use std::path::PathBuf;

use sql::Engine;
use wire::sql::Login;
use wire::step::Access;

pub(crate) use client::ClientEnvironment;
pub(crate) use postgres::connection_string::connection_string_url;
pub(crate) use systems::{SYSTEMS, URL_HELP};
pub use transactions::Transactions;
pub(crate) use written::redacted_url;

use crate::endpoint::{ClientCertificate, Peer, Trust};
use crate::fault::Fault;

/// Scheme of the database that runs within this program.
const IN_PROCESS_SCHEME: &str = "sqlite";

/// Aliases of schemes that drivers and users write.
pub(crate) const SCHEME_ALIASES: [(&str, &str); 5] = [
    ("pgsql", "postgres"),
    ("pg", "postgres"),
    ("postgre", "postgres"),
    ("mysql2", "mysql"),
    ("sqlite3", "sqlite"),
];

/// Schemes of SQL URLs. SQLite is added here, because it is not a protocol.
pub(crate) fn schemes() -> impl Iterator<Item = &'static str> {
    wire::schemes(false).map(|scheme| scheme.name).chain([IN_PROCESS_SCHEME])
}

/// Database and the way to connect to it. Contains a password, and never shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// Kind of database.
    pub engine: Engine,
    /// User, password, and database of the log-in; empty for SQLite.
    pub login: Login,
    /// Servers that connections are spread over, at least one. SQLite has one placeholder.
    pub peers: Vec<Peer>,
    /// SQLite only: path of the file, and pragmas of each connection. `None` for other engines.
    pub file: Option<(PathBuf, Vec<(String, String)>)>,
    /// Connect timeout in nanoseconds. `None` if the URL does not set one.
    pub(crate) connect_timeout_ns: Option<u64>,
    /// Balance of connections over the servers. If `None`, servers are tried in order if there are attempts, else used in turn.
    pub balance: Option<Balance>,
    /// URL without secrets, for display.
    pub shown: String,
}

/// Balance of connections over the attempts of a log-in, as `load_balance_hosts` requests it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Number of attempts that name each server once.
    pub width: u16,
    /// Number of sequential attempts at a server.
    pub stride: u16,
}

/// Whether the extension belongs to a file that is a database.
pub fn opens_as_database(extension: &str) -> bool {
    ["sqlite", "sqlite3", "db"].contains(&extension)
}

/// Whether the URL of a database contains a password.
pub(crate) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let by_user = rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    by_user || rest.split_once('?').is_some_and(|(_, query)| query.contains("password="))
}

/// Scheme of a database URL. `None` if the URL is not one.
fn scheme(url: &str) -> Option<&'static str> {
    if connection_string_url(url).is_some() {
        return schemes().find(|known| *known == "postgres");
    }
    let (scheme, _) = url.trim_start().split_once(':')?;
    schemes().find(|known| known.eq_ignore_ascii_case(scheme))
}

/// Replaces a connection string of libpq, such as `host=db1 dbname=shop`, by its URL. Other texts do not change. Malformed ones are
/// rejected by the code that reads URLs.
pub fn url_of_connection_string(text: &str) -> Cow<'_, str> {
    connection_string_url(text).and_then(Result::ok).map_or(Cow::Borrowed(text), Cow::Owned)
}

impl Database {
    /// Whether a text begins like a database URL or a connection string.
    pub fn has_url(text: &str) -> bool {
        scheme(text).is_some()
    }

    /// Parses a database URL or a connection string. Parts that the URL omits come from the environment of this process.
    pub fn read(url: &str) -> Result<Self, Vec<Fault>> {
        Self::read_with_environment(url, &ClientEnvironment::from_process())
    }

    /// Servers in the order of connection attempts. A server with several ways to connect occurs several times.
    pub fn attempted_peers(&self) -> Vec<Peer> {
        match self.login.attempts.as_slice() {
            [] => self.peers.clone(),
            attempts => {
                attempts.iter().map(|attempt| self.peers[usize::from(attempt.host)].clone()).collect()
            }
        }
    }

    /// Databases of one server each that connections are spread over. One with all servers if connections go to the first that answers.
    pub fn servers(&self) -> Vec<Self> {
        if !self.login.attempts.is_empty() {
            return vec![self.clone()];
        }
        self.peers.iter().map(|peer| Self { peers: vec![peer.clone()], ..self.clone() }).collect()
    }

    /// Adds the servers of another URL with an equal log-in.
    pub(crate) fn add(&mut self, other: &Self) -> Result<(), Vec<Fault>> {
        if !self.login.attempts.is_empty() || !other.login.attempts.is_empty() {
            let what = "a URL of a list names several hosts, target_session_attrs, or sslmode=allow";
            let help = "write all hosts in one URL, such as postgres://USER@HOST1,HOST2/DATABASE?target_session_attrs=any";
            return Err(vec![Fault::new("url", what, help)]);
        }
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

    /// URL to pass to another command: with the user, without password and parameters.
    pub fn command_url(&self) -> String {
        let url = self.shown.split(" over ").next().unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        match url.split_once("://") {
            Some((scheme, rest)) if !self.login.user.is_empty() && self.login.user.bytes().all(is_plain) => {
                format!("{scheme}://{}@{rest}", self.login.user)
            }
            _ => url.to_owned(),
        }
    }

    pub(crate) fn read_with_environment(
        url: &str,
        environment: &ClientEnvironment<'_>,
    ) -> Result<Self, Vec<Fault>> {
        match connection_string_url(url) {
            Some(Ok(url)) => return Self::read_with_environment(&url, environment),
            Some(Err((what, help))) => {
                return Err(vec![Fault::new(format!("{:?}", redacted_url(url)), what, help)]);
            }
            None => {}
        }
        let mut faults = Vec::new();
        let database = match scheme(url) {
            Some(IN_PROCESS_SCHEME) => sqlite::read(url, &mut faults),
            Some("mysql" | "mariadb") => written::read(url, &mut faults)
                .and_then(|written| mysql::read(&written, environment, &mut faults)),
            Some(_) => written::read(url, &mut faults)
                .and_then(|written| postgres::read(&written, environment, &mut faults)),
            None => {
                let known: Vec<&str> = schemes().collect();
                let what = format!("unknown URL scheme; known are {}", known.join(", "));
                faults.push(Fault::new(
                    format!("{:?}", redacted_url(url)),
                    what,
                    "write postgres://USER@HOST/DATABASE",
                ));
                None
            }
        };
        database.filter(|_| faults.is_empty()).ok_or(faults)
    }
}

/// Formats a URL for display: `postgres://127.0.0.1:5432/db`, or `postgres:///db over /run/postgresql/.s.PGSQL.5432`.
fn shown(scheme: &str, peers: &[Peer], database: &str) -> String {
    let places: Vec<String> = peers.iter().map(Peer::authority).collect();
    match peers.iter().all(|peer| peer.unix_socket.is_some()) {
        true => format!("{scheme}:///{database} over {}", places.join(",")),
        false => format!("{scheme}://{}/{database}", places.join(",")),
    }
}

/// A server that is reached without TLS.
fn plain_peer(host: String, port: u16) -> Peer {
    Peer {
        host,
        port,
        addresses: Vec::new(),
        unix_socket: None,
        tls: None,
        certificate: None,
        resumes_tls: false,
        access: Access::none(),
    }
}

/// Adds TLS with this trust and client certificate to each server. Unix sockets stay without TLS.
fn add_tls(peers: &mut [Peer], trust: Option<&Trust>, certificate: Option<&ClientCertificate>) {
    for peer in peers.iter_mut().filter(|peer| peer.unix_socket.is_none()) {
        peer.tls = trust.cloned();
        peer.certificate = certificate.cloned();
    }
}

#[cfg(test)]
mod tests;
