//! Start of a connection, until it is ready for statements: TLS, log-in, and the server's parameters.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::fault::{self, Fault};
use super::framing::{Head, Message};
use super::outgoing::Outgoing;
use super::reading::{self, ReplyParser};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel_binding::certificate_hash;
use crate::conversation::Greeting;
use crate::scram::{self, Keys, Mechanism, Scram};
use crate::sql::{Attempt, ChannelBinding, Login, ServerRole, TlsMode};

/// Query for the state of a server that does not report it: in recovery, and read-only.
const STATE_QUERY: &str =
    "SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only')";
const NO_STATE: &str = "the server does not tell whether it is in recovery";

/// Bytes of a nonce, a multiple of 3 so that its Base64 has no padding.
pub(super) const NONCE_BYTES: usize = 18;

/// Progress of the start.
#[derive(Debug)]
enum Phase {
    /// Statements are accepted, or nothing was sent yet.
    Up,
    /// Waits for the server's answer to the TLS request.
    Tls,
    /// Waits for the server's authentication request, or for its consent.
    Authenticating,
    Scram(Scram),
    /// A password was sent.
    PasswordSent,
    /// The log-in succeeded, and the server is starting the session.
    Admitted,
    /// Query of the server's state. Holds the answer so far: in recovery, and read-only.
    State(Option<[bool; 2]>),
}

/// State of a connection's start, and data that the session needs later.
pub(super) struct StartUp {
    login: Arc<Login>,
    /// Random bytes that make the log-ins of this session unique.
    seed: [u8; NONCE_BYTES],
    /// Number of log-ins so far.
    count: u32,
    keys: Option<Keys>,
    phase: Phase,
    is_secure: bool,
    /// Number of the address that the connection is opened to.
    address: u16,
    /// Hash of the server's certificate for channel binding. `None` without TLS.
    certificate_hash: Option<Option<Vec<u8>>>,
    /// Process ID and secret key for cancel requests. `None` before the server sent them.
    pub(super) cancel_key: Option<[[u8; 4]; 2]>,
}

impl StartUp {
    pub(super) fn new(login: Arc<Login>, seed: [u8; NONCE_BYTES]) -> Self {
        Self {
            login,
            seed,
            count: 0,
            keys: None,
            phase: Phase::Up,
            is_secure: false,
            address: 0,
            certificate_hash: None,
            cancel_key: None,
        }
    }

    pub(super) fn forget(&mut self) {
        (self.phase, self.is_secure, self.cancel_key) = (Phase::Up, false, None);
        self.certificate_hash = None;
    }

    pub(super) fn set_address(&mut self, address: u16) {
        self.address = address;
    }

    pub(super) fn certificate(&mut self, der: &[u8]) {
        self.certificate_hash = Some(certificate_hash(der));
    }

    fn attempt(&self) -> Option<&Attempt> {
        self.login.attempts.get(usize::from(self.address))
    }

    fn tls(&self) -> TlsMode {
        self.attempt().map_or(self.login.tls, |attempt| attempt.tls)
    }

    pub(super) fn greet(&mut self, out: &mut Outgoing) -> Greeting {
        if self.tls() == TlsMode::No {
            return self.start(out);
        }
        if self.login.is_tls_direct {
            out.clear();
            return Greeting::Secure;
        }
        self.phase = Phase::Tls;
        out.clear();
        out.request_tls();
        Greeting::Send
    }

    pub(super) fn secured(&mut self, out: &mut Outgoing) -> Greeting {
        self.is_secure = true;
        self.start(out)
    }

    fn start(&mut self, out: &mut Outgoing) -> Greeting {
        self.phase = Phase::Authenticating;
        out.clear();
        out.startup(&self.login);
        Greeting::Send
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self.phase, Phase::Up)
    }

    /// Processes the one byte that answers the TLS request. `None` if no answer is awaited. It must be the only byte: further bytes
    /// were sent before anyone could know the client's next message.
    pub(super) fn take_tls_answer(
        &mut self,
        bytes: &[u8],
        out: &mut Outgoing,
    ) -> Option<Result<(usize, Greeting), PeerFault>> {
        if !matches!(self.phase, Phase::Tls) {
            return None;
        }
        Some(match bytes {
            [] => Ok((0, Greeting::Await)),
            [b'S'] => Ok((1, Greeting::Secure)),
            [b'S', ..] => Err(Fault::BytesBeforeTls.plain()),
            [b'N', ..] if self.tls() == TlsMode::Required => Err(Fault::TlsRefused.plain()),
            [b'N'] => Ok((1, self.start(out))),
            [b'N', ..] => Err(Fault::BytesTooEarly.plain()),
            [b'E', ..] => Err(Fault::ErrorBeforeTls.plain()),
            _ => Err(Fault::NotPostgres.with_first_bytes(bytes)),
        })
    }

    /// Number of bytes that are needed of a message's content.
    ///
    /// # Errors
    ///
    /// The message is not valid at this point.
    pub(super) fn needed_bytes(&self, head: Head) -> Result<usize, Fault> {
        match (&self.phase, head.tag) {
            (Phase::Admitted, b'A' | b'E' | b'K' | b'N' | b'S' | b'Z') => {}
            (Phase::State(_), b'A' | b'C' | b'D' | b'E' | b'N' | b'S' | b'T' | b'Z') => {}
            (Phase::Authenticating, b'E' | b'N' | b'R' | b'v') | (_, b'E' | b'N' | b'R') => {}
            (Phase::Authenticating, _) => return Err(Fault::NotPostgres),
            _ => return Err(Fault::OutOfTurn),
        }
        reading::needed_bytes(head, matches!(self.phase, Phase::State(_)))
    }

    /// Processes a message. Returns the next step of the greeting. `None` if it waits for another message.
    pub(super) fn take(
        &mut self,
        message: Message<'_>,
        reading: &mut ReplyParser,
        out: &mut Outgoing,
    ) -> Result<Option<Greeting>, PeerFault> {
        match (message.tag, message.content) {
            (b'E', _) => {
                reading.read_error(message)?;
                let fault = match self.phase {
                    Phase::State(_) => Fault::WrongRole.with_peer_message(reading.server_error.text.as_str()),
                    _ => fault::log_in_rejected(&reading.server_error),
                };
                let has_fallback = self.attempt().is_some_and(|attempt| attempt.has_fallback);
                return Err(match fault.class {
                    ErrorClass::LoginRefused if has_fallback => fault.with_class(ErrorClass::SqlError),
                    _ => fault,
                });
            }
            (b'D', row) if matches!(self.phase, Phase::State(_)) => self.phase = Phase::State(state_of(row)),
            (b'R', content) => return self.take_log_in(content, out),
            (b'K', [a, b, c, d, secret @ ..]) => {
                self.cancel_key = secret.try_into().ok().map(|secret| [[*a, *b, *c, *d], secret]);
            }
            (b'Z', state) => {
                reading.take_transaction(state)?;
                // Removes the password from memory.
                out.clear();
                return self.check_role(reading, out).map(Some);
            }
            (b'A' | b'N' | b'S', _) => reading.take_async_message(message)?,
            // The server supports an older minor version of the protocol. Version 3.0 was requested, so this changes nothing.
            _ => {}
        }
        Ok(None)
    }

    /// Ends the greeting if the server is in the required state. A server before PostgreSQL 14, or a pooler, does not report its state, and
    /// is queried for it.
    fn check_role(&mut self, reading: &ReplyParser, out: &mut Outgoing) -> Result<Greeting, PeerFault> {
        let role = self.attempt().map_or(ServerRole::Any, |attempt| attempt.role);
        let is_on = |name: &str| reading.settings.get(name).map(|value| value == "on");
        let reported = is_on("in_hot_standby").zip(is_on("default_transaction_read_only"));
        let state = match self.phase {
            Phase::State(answer) => Some(answer.ok_or_else(|| Fault::WrongRole.with_peer_message(NO_STATE))?),
            _ => reported.map(Into::into),
        };
        match state {
            None if role != ServerRole::Any => {
                self.phase = Phase::State(None);
                out.query(STATE_QUERY.as_bytes())
                    .map_err(|_| Fault::WrongRole.with_peer_message(NO_STATE))?;
                Ok(Greeting::Send)
            }
            Some([is_standby, is_read_only]) if !role.accepts(is_standby, is_read_only) => {
                Err(Fault::WrongRole.with_peer_message(format!("{} is required", role.name())))
            }
            _ => {
                self.phase = Phase::Up;
                Ok(Greeting::Done)
            }
        }
    }

    fn take_log_in(&mut self, content: &[u8], out: &mut Outgoing) -> Result<Option<Greeting>, PeerFault> {
        let (kind, rest) =
            content.split_first_chunk().ok_or_else(|| Fault::BadLength.with_first_bytes(b"R"))?;
        let kind = u32::from_be_bytes(*kind);
        let lacks_channel_binding = self.lacks_channel_binding();
        match (kind, &mut self.phase) {
            (0, Phase::Scram(scram)) if !scram.is_proven() => return Err(scram::Fault::NotProven.plain()),
            (0 | 3 | 5, _) if lacks_channel_binding => return Err(Fault::NotBound.plain()),
            (0, _) => {
                self.phase = Phase::Admitted;
                return Ok(None);
            }
            (3, Phase::Authenticating) => {
                if !self.is_secure && !self.login.weak.clear {
                    return Err(Fault::CleartextRefused.plain());
                }
                out.clear();
                out.password(self.password()?);
                self.phase = Phase::PasswordSent;
            }
            (5, Phase::Authenticating) => {
                let salt: [u8; 4] = rest.try_into().map_err(|_| Fault::BadLength.with_first_bytes(b"R"))?;
                if !self.is_secure && !self.login.weak.md5 {
                    return Err(Fault::Md5Refused.plain());
                }
                out.clear();
                out.password(&md5_password(&self.login.user, self.password()?, salt));
                self.phase = Phase::PasswordSent;
            }
            (10, Phase::Authenticating) => self.begin_scram(rest, out)?,
            (11, Phase::Scram(scram)) => {
                let password = self.login.password.as_ref().ok_or_else(|| Fault::NoPassword.plain())?;
                let stretcher = self.login.stretcher.as_ref();
                let answer = scram.answer(rest, &password.0, stretcher, &mut self.keys)?;
                out.clear();
                out.sasl_response(&answer);
            }
            (12, Phase::Scram(scram)) => return scram.verify(rest).map(|()| None),
            (3 | 5 | 10 | 11 | 12, _) => return Err(Fault::OutOfTurn.with_first_bytes(b"R")),
            (kind, _) => return Err(Fault::UnknownLogin.with_peer_message(name_of(kind))),
        }
        Ok(Some(Greeting::Send))
    }

    fn begin_scram(&mut self, mechanisms: &[u8], out: &mut Outgoing) -> Result<(), PeerFault> {
        let offers = |name: &str| mechanisms.split(|byte| *byte == 0).any(|offer| offer == name.as_bytes());
        let (plain, bound) = (Mechanism::Sha256.name(), Mechanism::Sha256.bound_name());
        let binding = self.login.channel_binding;
        let may_bind = self.is_secure && binding != ChannelBinding::Disable;
        let hash = self.certificate_hash.clone().flatten().filter(|_| may_bind && offers(bound));
        let needs_binding = binding == ChannelBinding::Require;
        match hash {
            None if needs_binding && self.is_secure && offers(bound) => {
                return Err(Fault::NoBindingHash.plain());
            }
            None if needs_binding => return Err(Fault::NotBound.plain()),
            None if !offers(plain) => return Err(Fault::UnknownMechanism.plain()),
            _ => {}
        }
        self.password()?;
        let mut nonce = Sha256::new_with_prefix(self.seed);
        nonce.update(self.count.to_be_bytes());
        self.count = self.count.wrapping_add(1);
        let nonce = STANDARD.encode(&nonce.finalize()[..NONCE_BYTES]);
        // The user name is empty, because the start-up message already contains it.
        let scram = Scram::new(Mechanism::Sha256, "", nonce);
        let (name, scram) = match hash {
            Some(hash) => (bound, scram.bound_to(hash)),
            None if may_bind && !offers(bound) => (plain, scram.without_binding_offer()),
            None => (plain, scram),
        };
        out.clear();
        out.sasl_initial_response(name, &scram.first());
        self.phase = Phase::Scram(scram);
        Ok(())
    }

    /// Whether the log-in lacks the required channel binding.
    fn lacks_channel_binding(&self) -> bool {
        self.login.channel_binding == ChannelBinding::Require
            && !matches!(&self.phase, Phase::Scram(scram) if scram.is_bound())
    }

    fn password(&self) -> Result<&str, PeerFault> {
        self.login.password.as_ref().map(|secret| secret.0.as_str()).ok_or_else(|| Fault::NoPassword.plain())
    }
}

/// Values of the row that answers [`STATE_QUERY`]. `None` if it is another row.
fn state_of(row: &[u8]) -> Option<[bool; 2]> {
    let mut rest = row.strip_prefix(&[0, 2])?;
    let mut value = || {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).ok()?;
        let (value, after) = after.split_at_checked(length)?;
        rest = after;
        Some(matches!(value, b"t" | b"on"))
    };
    Some([value()?, value()?])
}

fn md5_password(user: &str, password: &str, salt: [u8; 4]) -> String {
    let inner = Md5::new_with_prefix(password).chain_update(user).finalize();
    let outer = Md5::new_with_prefix(hex(&inner)).chain_update(salt).finalize();
    ["md5", &hex(&outer)].concat()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn name_of(kind: u32) -> String {
    match kind {
        2 => "Kerberos V5".into(),
        7 => "GSSAPI".into(),
        9 => "SSPI".into(),
        _ => format!("number {kind}"),
    }
}
