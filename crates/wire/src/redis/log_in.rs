//! The log-in of a connection: HELLO 3 with user and password, or AUTH where the server knows no HELLO, then SELECT.
//!
//! ```text
//!   Hello ── ok ─────────────────────────────► [Select] ──► Done
//!     └───── unknown command ──► [Auth] ── ok ──┘
//! ```
//!
//! A server without HELLO uses RESP2 from then on; the reader accepts both versions.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::command::put_words as put;
use super::errors;
use super::reader::{Kind, ReplyParser};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::Greeting;
use crate::step::{Access, StepValueError};

/// Largest database number that is sent. The server checks the number against its own limit.
const DATABASE_MAX: u32 = 1 << 20;

const REJECTED: &str = "the server rejected the log-in";
const NO_DATABASE: &str = "the server rejected the database of the URL";
const NOT_READY: &str = "the server is not ready";
const NO_ROOM: &str = "the server takes no more connections";
const NOT_MASTER: &str = "the server is not the master";
const NO_ROLE: &str = "the server does not report whether it is the master, since it has no HELLO";
const NO_LOG_IN: &str = "the server answered the log-in with something else than a reply to it";

/// User, password, and database of the connections of a load.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    access: Access,
    database: u32,
    /// Whether only a master is accepted.
    needs_master: bool,
}

/// Option of a URL that omits replicas, and its value.
const ROLE: &str = "role";
const MASTER: &str = "master";
/// Option of a URL of a node of a cluster.
const CLUSTER: &str = "cluster";
/// Options that the query of a URL can have.
pub(super) const OPTIONS: &[&str] = &[ROLE, CLUSTER];
/// End of the schemes of Sentinels.
const SENTINEL: &str = "+sentinel";

/// Method of finding the servers of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery<'a> {
    /// The URL names the server.
    Named,
    /// The server reports the nodes of its cluster.
    Cluster,
    /// The server is a Sentinel, and reports the master and the replicas of this name.
    Sentinel(&'a str),
}

/// Returns how to find the servers of a URL with this log-in.
pub fn discovery(access: &Access) -> Discovery<'_> {
    if access.scheme.ends_with(SENTINEL) {
        return Discovery::Sentinel(access.path.split('/').next().unwrap_or_default());
    }
    match access.option(CLUSTER) {
        Some("true") => Discovery::Cluster,
        _ => Discovery::Named,
    }
}

/// Log-in at a server that a Sentinel has reported.
#[must_use]
pub fn behind_sentinel(access: &Access) -> Access {
    let database = access.path.split_once('/').map_or("", |(_, database)| database);
    let scheme = access.scheme.strip_suffix(SENTINEL).unwrap_or(&access.scheme);
    let mut options = access.options.clone();
    options.push((ROLE.into(), MASTER.into()));
    Access { scheme: scheme.into(), path: database.into(), options, ..access.clone() }
}

fn check_option(access: &Access, name: &'static str, known: &'static str) -> Result<(), StepValueError> {
    match access.option(name) {
        Some(value) if value != known => Err(StepValueError {
            path: Vec::new(),
            what: format!("{value:?} is no value of `{name}`"),
            help: format!("write {name}={known}, or remove it"),
        }),
        _ => Ok(()),
    }
}

impl Identity {
    /// Reads user, password, and database from the parts of a URL.
    ///
    /// # Errors
    ///
    /// The path is not a database number.
    pub(super) fn read(access: &Access) -> Result<Self, StepValueError> {
        check_option(access, ROLE, MASTER)?;
        check_option(access, CLUSTER, "true")?;
        let is_sentinel = matches!(discovery(access), Discovery::Sentinel(_));
        let path = match discovery(access) {
            Discovery::Sentinel("") => {
                return Err(StepValueError {
                    path: Vec::new(),
                    what: "the URL of a Sentinel has no name of a master".into(),
                    help: "write redis+sentinel://HOST:26379/NAME, as in `SENTINEL MASTERS`".into(),
                });
            }
            Discovery::Sentinel(_) => access.path.split_once('/').map_or("", |(_, database)| database),
            Discovery::Named | Discovery::Cluster => access.path.as_str(),
        };
        let database = if path.is_empty() { Some(0) } else { path.parse().ok() };
        let database = database.filter(|number| *number <= DATABASE_MAX).ok_or_else(|| StepValueError {
            path: Vec::new(),
            what: format!("the path of the URL is the number of a database, not {path:?}"),
            help: match is_sentinel {
                true => "write redis+sentinel://HOST:PORT/NAME/0, or leave the number out".into(),
                false => "write redis://HOST:PORT/0, or leave the path out".into(),
            },
        })?;
        if discovery(access) == Discovery::Cluster && database > 0 {
            return Err(StepValueError {
                path: Vec::new(),
                what: "a cluster has only the database 0".into(),
                help: "leave the path out".into(),
            });
        }
        Ok(Self { access: access.clone(), database, needs_master: access.option(ROLE).is_some() })
    }

    /// Whether a server that is not the master is skipped for the next address.
    pub(super) fn needs_master(&self) -> bool {
        self.needs_master
    }

    fn user(&self) -> Option<&str> {
        self.access.user.as_deref().filter(|user| !user.is_empty())
    }

    fn password(&self) -> Option<&[u8]> {
        self.access.password.as_ref().map(|password| password.0.as_bytes())
    }
}

/// State of a connection's log-in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LogIn {
    /// Log-in that has not started, or is complete.
    #[default]
    Idle,
    Hello,
    Auth,
    Select,
}

impl LogIn {
    /// Begins the log-in of a new connection.
    pub(super) fn begin(&mut self, identity: &Identity, out: &mut Vec<u8>) -> Greeting {
        *self = Self::Hello;
        match identity.password() {
            None => put(&[b"HELLO", b"3"], out),
            Some(password) => {
                let user = identity.user().unwrap_or("default");
                put(&[b"HELLO", b"3", b"AUTH", user.as_bytes(), password], out);
            }
        }
        Greeting::Send
    }

    /// Continues after a complete reply.
    pub(super) fn resume(
        &mut self,
        reply: &ReplyParser,
        identity: &Identity,
        out: &mut Vec<u8>,
    ) -> Result<Greeting, PeerFault> {
        if let Some(error) = reply.error() {
            let knows_no_hello = *self == Self::Hello && is_unknown(error);
            if knows_no_hello && identity.needs_master {
                return Err(PeerFault::new(ErrorClass::LoginRefused, 0, NO_ROLE));
            }
            return match identity.password().filter(|_| knows_no_hello) {
                Some(password) => {
                    *self = Self::Auth;
                    match identity.user() {
                        Some(user) => put(&[b"AUTH", user.as_bytes(), password], out),
                        None => put(&[b"AUTH", password], out),
                    }
                    Ok(Greeting::Send)
                }
                None if knows_no_hello => Ok(self.select(identity, out)),
                None => Err(self.fault(error)),
            };
        }
        match (*self, reply.kind()) {
            (Self::Hello, Kind::Map | Kind::Array) if identity.needs_master && !is_master(reply) => {
                Err(PeerFault::new(ErrorClass::NotPrimary, 0, NOT_MASTER))
            }
            (Self::Hello, Kind::Map | Kind::Array) | (Self::Auth, Kind::String) => {
                Ok(self.select(identity, out))
            }
            (Self::Select, Kind::String) => {
                *self = Self::Idle;
                Ok(Greeting::Done)
            }
            _ => Err(PeerFault::new(ErrorClass::ProtocolError, 0, NO_LOG_IN)),
        }
    }

    /// Selects the database, unless it is number 0, the default of connections.
    fn select(&mut self, identity: &Identity, out: &mut Vec<u8>) -> Greeting {
        if identity.database == 0 {
            *self = Self::Idle;
            return Greeting::Done;
        }
        *self = Self::Select;
        put(&[b"SELECT", format!("{}", identity.database).as_bytes()], out);
        Greeting::Send
    }

    /// Error of a failed log-in: permanent, unless the server may have room or be ready later.
    #[cold]
    fn fault(self, error: &[u8]) -> PeerFault {
        let (class, sentence) = match errors::class(error) {
            ErrorClass::NotReady => (ErrorClass::NotReady, NOT_READY),
            ErrorClass::TooManyConnections => (ErrorClass::TooManyConnections, NO_ROOM),
            _ if self == Self::Select => (ErrorClass::LoginRefused, NO_DATABASE),
            _ => (ErrorClass::LoginRefused, REJECTED),
        };
        PeerFault::new(class, 0, sentence).with_peer_message(String::from_utf8_lossy(error))
    }
}

/// Whether the reply to HELLO comes from a master.
fn is_master(reply: &ReplyParser) -> bool {
    let kept = reply.kept();
    let mut names = (0..).step_by(2).map_while(|place| Some((place, kept.item(place)?)));
    let role = names.find(|(_, name)| *name == ROLE.as_bytes());
    role.is_some_and(|(place, _)| kept.item(place + 1) == Some(MASTER.as_bytes()))
}

/// Whether the error means that the server does not support HELLO or RESP3.
fn is_unknown(error: &[u8]) -> bool {
    error.starts_with(b"ERR unknown command") || error.starts_with(b"NOPROTO")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::Secret;

    fn identity(user: &str, password: &str, path: &str) -> Identity {
        let user = (!user.is_empty()).then(|| user.into());
        let password = (!password.is_empty()).then(|| Secret(password.into()));
        Identity::read(&Access { user, password, path: path.into(), ..Access::default() })
            .expect("an identity")
    }

    /// Runs a log-in. Returns the commands that were sent, and the end of the log-in.
    fn converse(identity: &Identity, replies: &[&str]) -> (Vec<String>, Result<Greeting, PeerFault>) {
        let (mut log_in, mut out, mut sent) = (LogIn::default(), Vec::new(), Vec::new());
        let mut greeting = Ok(log_in.begin(identity, &mut out));
        for reply in replies {
            sent.push(String::from_utf8_lossy(&out).replace("\r\n", " "));
            out.clear();
            let mut reader = ReplyParser::default();
            assert_eq!(reader.take(reply.as_bytes(), false), Ok(Some(reply.len())));
            greeting = log_in.resume(&reader, identity, &mut out);
        }
        if greeting == Ok(Greeting::Send) {
            sent.push(String::from_utf8_lossy(&out).replace("\r\n", " "));
        }
        (sent, greeting)
    }

    #[test]
    fn log_in_sends_user_password_and_database() {
        let (sent, end) = converse(&identity("app", "secret", "3"), &["%1\r\n+proto\r\n:3\r\n", "+OK\r\n"]);
        assert_eq!(end, Ok(Greeting::Done));
        assert_eq!(sent, ["*5 $5 HELLO $1 3 $4 AUTH $3 app $6 secret ", "*2 $6 SELECT $1 3 ",]);
        let (sent, end) = converse(&identity("", "", ""), &["%0\r\n"]);
        assert_eq!((sent, end), (Vec::from(["*2 $5 HELLO $1 3 ".into()]), Ok(Greeting::Done)));
    }

    #[test]
    fn server_without_hello_gets_auth() {
        let unknown = "-ERR unknown command 'HELLO'\r\n";
        let (sent, end) = converse(&identity("", "secret", "1"), &[unknown, "+OK\r\n", "+OK\r\n"]);
        assert_eq!(end, Ok(Greeting::Done));
        assert_eq!(sent[1..], ["*2 $4 AUTH $6 secret ", "*2 $6 SELECT $1 1 "]);
        assert_eq!(converse(&identity("", "", ""), &[unknown]).1, Ok(Greeting::Done));
    }

    #[test]
    fn rejected_log_in_has_final_or_temporary_class() {
        let class = |path: &str, replies: &[&str]| {
            converse(&identity("", "secret", path), replies).1.expect_err("a fault").class
        };
        assert_eq!(class("", &["-WRONGPASS invalid username-password pair\r\n"]), ErrorClass::LoginRefused);
        assert_eq!(class("9", &["%0\r\n", "-ERR DB index is out of range\r\n"]), ErrorClass::LoginRefused);
        assert_eq!(class("", &["-LOADING Redis is loading the dataset\r\n"]), ErrorClass::NotReady);
        assert_eq!(class("", &["-ERR max number of clients reached\r\n"]), ErrorClass::TooManyConnections);
        assert_eq!(class("", &["+PONG\r\n"]), ErrorClass::ProtocolError);
    }

    #[test]
    fn rejects_path_that_is_not_a_database_number() {
        for path in ["a", "-1", "1/2", "99999999999"] {
            let access = Access { path: path.into(), ..Access::default() };
            assert!(Identity::read(&access).is_err(), "{path}");
        }
    }
}
