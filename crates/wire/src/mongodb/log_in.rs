//! The log-in of a connection: hello, and SCRAM if the URL has a user.
//!
//! ```text
//!   Hello ── ok ──► [SaslStart ──► SaslContinue ──► [SaslEnd]] ──► Done
//!     └─ unknown command ──► Master (isMaster) ── ok ──┘
//! ```
//!
//! With `replicaSet`, a member that is not the primary ends the log-in, so that the connection opens to the next address.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};

use super::command::put;
use super::errors;
use super::json::Node;
use super::reply::Reply;
use super::rules::literal;
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::Greeting;
use crate::scram::{self, Keys, Mechanism, Scram};
use crate::sql::Stretcher;
use crate::step::{Access, StepValueError};

/// Options of a URL.
pub(super) const OPTIONS: &[&str] = &["authSource", "authMechanism", "replicaSet", "tls", "ssl"];
/// Database of commands if the URL names none, as in mongosh.
const DATABASE: &str = "test";
/// Database of users if the URL names none.
const ADMIN: &str = "admin";
const COMMAND_NOT_FOUND: i64 = 59;

const REJECTED: &str = "the server rejected the log-in";
const NOT_READY: &str = "the server is not ready";
const NO_LOG_IN: &str = "the server answered the log-in with something else than a reply to it";
const NO_SET: &str = "the server is no member of the replica set in the URL";
const NOT_PRIMARY: &str = "the server is not the primary of its replica set";
const NO_MECHANISM: &str =
    "the server offers log-ins for this user, but neither SCRAM-SHA-256 nor SCRAM-SHA-1";

/// Paths of the values in replies to the log-in.
const PATHS: [&str; 10] = [
    "isWritablePrimary",
    "ismaster",
    "setName",
    "payload",
    "conversationId",
    "done",
    "saslSupportedMechs.0",
    "saslSupportedMechs.1",
    "saslSupportedMechs.2",
    "saslSupportedMechs.3",
];
const PAYLOAD: usize = 3;
const CONVERSATION: usize = 4;
const IS_DONE: usize = 5;
const MECHANISMS: core::ops::Range<usize> = 6..10;

/// User, password, and database of the connections of a load.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    user: Option<String>,
    password: String,
    /// Database of commands that name none.
    pub(super) database: String,
    source: String,
    /// If `None`, the server reports the supported mechanisms.
    mechanism: Option<Mechanism>,
    replica_set: Option<String>,
    pub(super) paths: Box<[Box<[u8]>]>,
    stretcher: Option<Stretcher>,
    /// Random bytes, from which each log-in derives its nonce.
    nonce: [u8; 18],
}

/// Whether the options require TLS.
pub(super) fn requires_tls(access: &Access) -> bool {
    ["tls", "ssl"].iter().any(|name| access.option(name) == Some("true"))
}

impl Identity {
    /// Reads user, password, database, and options from the parts of a URL.
    ///
    /// # Errors
    ///
    /// An option has a value that it cannot have, or the path is not the name of a database.
    pub(super) fn read(access: &Access) -> Result<Self, StepValueError> {
        let wrong = |what: String, help: &str| StepValueError { path: Vec::new(), what, help: help.into() };
        let path = access.path.as_str();
        if path.contains(['/', '\\', '.', ' ', '"', '$', '\0']) {
            let what = format!("the path of the URL is the name of a database, not {path:?}");
            return Err(wrong(what, "write mongodb://HOST:PORT/DATABASE"));
        }
        let mechanism = match access.option("authMechanism") {
            None | Some("DEFAULT") => None,
            Some(name) => Some(Mechanism::of(name).ok_or_else(|| {
                wrong(format!("there is no log-in by {name}"), "write SCRAM-SHA-256 or SCRAM-SHA-1")
            })?),
        };
        for name in ["tls", "ssl"] {
            if let Some(value) = access.option(name).filter(|value| !["true", "false"].contains(value)) {
                return Err(wrong(format!("`{name}` is true or false, not {value:?}"), "write tls=true"));
            }
        }
        if access.option("replicaSet") == Some("") {
            return Err(wrong("`replicaSet` has no name".into(), "write the name of the set, or remove it"));
        }
        let or = |text: &str, other: &str| if text.is_empty() { other.to_string() } else { text.into() };
        Ok(Self {
            user: access.user.clone().filter(|user| !user.is_empty()),
            password: access.password.as_ref().map_or_else(String::new, |password| password.0.clone()),
            database: or(path, DATABASE),
            source: access.option("authSource").map_or_else(|| or(path, ADMIN), String::from),
            mechanism,
            replica_set: access.option("replicaSet").map(String::from),
            paths: PATHS.iter().map(|path| path.as_bytes().into()).collect(),
            stretcher: None,
            nonce: [0; 18],
        })
    }

    /// Sets the values that log-ins need in addition to the URL.
    pub(super) fn with(self, stretcher: Option<Stretcher>, nonce: [u8; 18]) -> Self {
        Self { stretcher, nonce, ..self }
    }

    /// Nonce of a log-in: different for each connection, and for each log-in on it.
    fn nonce(&self, number: u32, log_ins: u32) -> String {
        let mut nonce = self.nonce;
        let of_log_in = number.to_le_bytes().into_iter().chain(log_ins.to_le_bytes());
        nonce.iter_mut().zip(of_log_in).for_each(|(byte, other)| *byte ^= other);
        STANDARD.encode(nonce)
    }

    /// Password in the form that the mechanism requires.
    fn password(&self, mechanism: Mechanism) -> String {
        match mechanism {
            Mechanism::Sha256 => self.password.clone(),
            Mechanism::Sha1 => {
                let user = self.user.as_deref().unwrap_or_default();
                let digest = Md5::digest(format!("{user}:mongo:{}", self.password));
                digest.iter().map(|byte| format!("{byte:02x}")).collect()
            }
        }
    }
}

/// State of a connection's log-in.
#[derive(Default)]
pub(super) struct LogIn {
    stage: Stage,
    /// Number of the connection.
    number: u32,
    /// Number of log-ins so far.
    log_ins: u32,
    keys: Option<Keys>,
}

#[derive(Debug, Default)]
enum Stage {
    /// Log-in that has not started, or is complete.
    #[default]
    Idle,
    Hello,
    Master,
    SaslStart(Scram),
    SaslContinue(Scram),
    SaslEnd,
}

impl core::fmt::Debug for LogIn {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "LogIn({:?})", self.stage)
    }
}

impl LogIn {
    pub(super) fn of(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    /// Forgets a log-in that was not completed.
    pub(super) fn forget(&mut self) {
        self.stage = Stage::Idle;
    }

    /// Begins the log-in of a new connection.
    pub(super) fn begin(&mut self, request: u32, identity: &Identity, out: &mut Vec<u8>) -> Greeting {
        self.stage = Stage::Hello;
        self.log_ins = self.log_ins.wrapping_add(1);
        put_hello("hello", request, identity, out);
        Greeting::Send
    }

    /// Continues after a complete reply.
    pub(super) fn resume(
        &mut self,
        reply: &Reply,
        request: u32,
        identity: &Identity,
        out: &mut Vec<u8>,
    ) -> Result<Greeting, PeerFault> {
        let stage = core::mem::take(&mut self.stage);
        if let Some((code, message)) = reply.error() {
            if matches!(stage, Stage::Hello) && code == COMMAND_NOT_FOUND {
                self.stage = Stage::Master;
                put_hello("isMaster", request, identity, out);
                return Ok(Greeting::Send);
            }
            return Err(rejected(code, message));
        }
        match stage {
            Stage::Hello | Stage::Master => {
                check_set(reply, identity)?;
                match &identity.user {
                    None => Ok(Greeting::Done),
                    Some(user) => self.start_sasl(user, reply, request, identity, out),
                }
            }
            Stage::SaslStart(scram) => self.answer(scram, reply, request, identity, out),
            Stage::SaslContinue(mut scram) => {
                scram.verify(payload(reply)?)?;
                if reply.value(IS_DONE) == Some(b"true") {
                    return Ok(Greeting::Done);
                }
                self.stage = Stage::SaslEnd;
                put_sasl("saslContinue", "", reply, request, identity, out)?;
                Ok(Greeting::Send)
            }
            Stage::SaslEnd if reply.value(IS_DONE) == Some(b"true") => Ok(Greeting::Done),
            Stage::SaslEnd | Stage::Idle => Err(fault(ErrorClass::ProtocolError, NO_LOG_IN)),
        }
    }

    fn start_sasl(
        &mut self,
        user: &str,
        reply: &Reply,
        request: u32,
        identity: &Identity,
        out: &mut Vec<u8>,
    ) -> Result<Greeting, PeerFault> {
        let offered = || MECHANISMS.filter_map(|place| reply.value(place));
        let supports = |mechanism: &Mechanism| offered().any(|name| name == mechanism.name().as_bytes());
        let best = [Mechanism::Sha256, Mechanism::Sha1].into_iter().find(supports);
        let mechanism = match (identity.mechanism, best) {
            (Some(mechanism), _) | (None, Some(mechanism)) => mechanism,
            // Without a list of mechanisms, the user does not exist, or the server is older than SCRAM-SHA-256.
            (None, None) if offered().next().is_none() => Mechanism::Sha1,
            (None, None) => return Err(fault(ErrorClass::LoginRefused, NO_MECHANISM)),
        };
        let name = user.replace('=', "=3D").replace(',', "=2C");
        let scram = Scram::new(mechanism, &name, identity.nonce(self.number, self.log_ins));
        let options = Node::Map(Vec::from([("skipEmptyExchange".into(), Node::Boolean(true))]));
        let entries = [
            ("saslStart", Node::Number("1".into())),
            ("mechanism", literal(mechanism.name())),
            ("payload", binary(&scram.first())),
            ("options", options),
            ("$db", literal(&identity.source)),
        ];
        put(request, &entries, out);
        self.stage = Stage::SaslStart(scram);
        Ok(Greeting::Send)
    }

    /// Answers the server's first message of SCRAM.
    fn answer(
        &mut self,
        mut scram: Scram,
        reply: &Reply,
        request: u32,
        identity: &Identity,
        out: &mut Vec<u8>,
    ) -> Result<Greeting, PeerFault> {
        let password = identity.password(scram.mechanism());
        let answer = scram.answer(payload(reply)?, &password, identity.stretcher.as_ref(), &mut self.keys)?;
        put_sasl("saslContinue", &answer, reply, request, identity, out)?;
        self.stage = Stage::SaslContinue(scram);
        Ok(Greeting::Send)
    }
}

/// Checks that a server is the primary of the replica set, if the URL names one.
fn check_set(reply: &Reply, identity: &Identity) -> Result<(), PeerFault> {
    let Some(set) = &identity.replica_set else { return Ok(()) };
    match reply.value(2) {
        Some(name) if name == set.as_bytes() => {}
        Some(name) => {
            return Err(
                fault(ErrorClass::LoginRefused, NO_SET).with_peer_message(String::from_utf8_lossy(name))
            );
        }
        None => return Err(fault(ErrorClass::LoginRefused, NO_SET)),
    }
    let is_primary = [0, 1].iter().any(|place| reply.value(*place) == Some(b"true"));
    if is_primary { Ok(()) } else { Err(fault(ErrorClass::NotPrimary, NOT_PRIMARY)) }
}

fn payload(reply: &Reply) -> Result<&[u8], PeerFault> {
    reply.value(PAYLOAD).ok_or_else(|| scram::Fault::Malformed.plain())
}

fn put_hello(name: &str, request: u32, identity: &Identity, out: &mut Vec<u8>) {
    let map = |entries: &[(&str, Node)]| {
        Node::Map(entries.iter().map(|(name, node)| (name.as_bytes().into(), node.clone())).collect())
    };
    let driver = map(&[("name", literal("tenbin")), ("version", literal(env!("CARGO_PKG_VERSION")))]);
    let client = map(&[("driver", driver), ("os", map(&[("type", literal("Linux"))]))]);
    let mut entries =
        Vec::from([(name, Node::Number("1".into())), ("client", client), ("$db", literal(ADMIN))]);
    if let Some(user) = &identity.user {
        entries.insert(1, ("saslSupportedMechs", literal(&format!("{}.{user}", identity.source))));
    }
    put(request, &entries, out);
}

/// Appends a later message of SCRAM, in the conversation of the server's reply.
fn put_sasl(
    name: &str,
    payload: &str,
    reply: &Reply,
    request: u32,
    identity: &Identity,
    out: &mut Vec<u8>,
) -> Result<(), PeerFault> {
    let conversation = reply.value(CONVERSATION).and_then(|text| core::str::from_utf8(text).ok());
    let conversation = conversation.filter(|text| text.parse::<i32>().is_ok());
    let conversation = conversation.ok_or_else(|| scram::Fault::Malformed.plain())?;
    let entries = [
        (name, Node::Number("1".into())),
        ("conversationId", Node::Number(conversation.into())),
        ("payload", binary(payload)),
        ("$db", literal(&identity.source)),
    ];
    put(request, &entries, out);
    Ok(())
}

/// Binary value with these bytes.
fn binary(text: &str) -> Node {
    let data = Node::Map(Vec::from([("base64".into(), literal(&STANDARD.encode(text)))]));
    Node::Map(Vec::from([("$binary".into(), data)]))
}

/// Error for a rejected log-in: permanent, unless the server may be ready later.
#[cold]
fn rejected(code: i64, message: &[u8]) -> PeerFault {
    let class = errors::class(code);
    let is_temporary =
        matches!(class, ErrorClass::NotReady | ErrorClass::NotPrimary | ErrorClass::ServerShutdown);
    let (class, sentence) =
        if is_temporary { (class, NOT_READY) } else { (ErrorClass::LoginRefused, REJECTED) };
    fault(class, sentence).with_peer_message(format!("{code}: {}", String::from_utf8_lossy(message)))
}

#[cold]
fn fault(class: ErrorClass, sentence: &'static str) -> PeerFault {
    PeerFault::new(class, 0, sentence)
}

#[cfg(test)]
mod tests {
    use super::super::bson;
    use super::*;
    use crate::sql::Secret;

    fn identity(options: &[(&str, &str)]) -> Result<Identity, StepValueError> {
        let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let password = Some(Secret("pencil".into()));
        Identity::read(&Access { user: Some("user".into()), password, options, ..Access::default() })
    }

    fn reply(identity: &Identity, values: &[(&str, u8, &[u8])]) -> Reply {
        let mut reply = Reply::default();
        reply.note(b"ok", bson::DOUBLE, &1f64.to_le_bytes(), &[]);
        values
            .iter()
            .for_each(|(path, kind, bytes)| reply.note(path.as_bytes(), *kind, bytes, &identity.paths));
        reply
    }

    fn begun(identity: &Identity) -> LogIn {
        let mut log_in = LogIn::of(0);
        assert_eq!(log_in.begin(1, identity, &mut Vec::new()), Greeting::Send);
        log_in
    }

    #[test]
    fn log_in_uses_best_mechanism_that_server_offers() {
        let contains = |out: &[u8], text: &str| out.windows(text.len()).any(|part| part == text.as_bytes());
        for (option, offered, expected) in [
            (None, &["SCRAM-SHA-1", "SCRAM-SHA-256"][..], "SCRAM-SHA-256"),
            (None, &["SCRAM-SHA-1"], "SCRAM-SHA-1\0"),
            (None, &[], "SCRAM-SHA-1\0"),
            (Some(("authMechanism", "SCRAM-SHA-1")), &["SCRAM-SHA-256"], "SCRAM-SHA-1\0"),
        ] {
            let identity = identity(option.as_slice()).expect("an identity");
            let paths = ["saslSupportedMechs.0", "saslSupportedMechs.1"];
            let values: Vec<(&str, u8, &[u8])> = paths
                .iter()
                .zip(offered)
                .map(|(path, name)| (*path, bson::STRING, name.as_bytes()))
                .collect();
            let (mut log_in, mut out) = (begun(&identity), Vec::new());
            assert_eq!(log_in.resume(&reply(&identity, &values), 2, &identity, &mut out), Ok(Greeting::Send));
            assert!(contains(&out, expected) && contains(&out, "saslStart"), "{offered:?}");
        }
    }

    #[test]
    fn unknown_mechanisms_end_log_in() {
        let identity = identity(&[]).expect("an identity");
        let reply = reply(&identity, &[("saslSupportedMechs.0", bson::STRING, b"PLAIN")]);
        let fault = begun(&identity).resume(&reply, 2, &identity, &mut Vec::new()).expect_err("a fault");
        assert_eq!((fault.class, fault.sentence), (ErrorClass::LoginRefused, NO_MECHANISM));
    }

    #[test]
    fn accepts_only_the_primary_of_a_replica_set() {
        let identity = identity(&[("replicaSet", "rs0")]).expect("an identity");
        let end = |values: &[(&str, u8, &[u8])]| {
            let reply = reply(&identity, values);
            begun(&identity).resume(&reply, 2, &identity, &mut Vec::new()).map_err(|fault| fault.class)
        };
        let (set, yes, no) = (("setName", bson::STRING, &b"rs0"[..]), &[1][..], &[0][..]);
        assert_eq!(end(&[set, ("isWritablePrimary", bson::BOOLEAN, yes)]), Ok(Greeting::Send));
        assert_eq!(end(&[set, ("isWritablePrimary", bson::BOOLEAN, no)]), Err(ErrorClass::NotPrimary));
        assert_eq!(end(&[("setName", bson::STRING, b"rs1")]), Err(ErrorClass::LoginRefused));
        assert_eq!(end(&[("isWritablePrimary", bson::BOOLEAN, yes)]), Err(ErrorClass::LoginRefused));
    }

    #[test]
    fn rejects_wrong_options_and_paths() {
        for option in [("authMechanism", "PLAIN"), ("tls", "yes"), ("replicaSet", "")] {
            assert!(identity(&[option]).is_err(), "{option:?}");
        }
        for path in ["a/b", "a.b", "$x"] {
            assert!(Identity::read(&Access { path: path.into(), ..Access::default() }).is_err(), "{path}");
        }
    }

    #[test]
    fn nonce_differs_by_connection_and_log_in() {
        let identity = identity(&[]).expect("an identity");
        let mut nonces: Vec<String> =
            (0..3).flat_map(|number| [1, 2].map(|log_ins| identity.nonce(number, log_ins))).collect();
        nonces.sort();
        nonces.dedup();
        assert_eq!(nonces.len(), 6);
    }
}
