//! The log-in, from the server's greeting to a connection that takes statements.
//!
//! ```text
//!   Greeting ──[TLS]──► Answered ──── success ───► Statements ──► done
//!                        ▲  │ plugin switch, more data
//!                        └──┴──► Key: public key of the server, to encrypt the password
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use super::capabilities::Capabilities;
use super::fault::Fault;
use super::fields::Fields;
use super::greeting::{self, ClientGreeting, ServerGreeting};
use super::incoming::ERROR;
use super::nonce::Nonce;
use super::outgoing::PAYLOAD_BYTES_MAX;
use super::plugin::{Plugin, zero_terminated};
use super::{rsa, server_error};
use crate::blame::PeerFault;
use crate::sql::{Login, TlsMode};

/// Max switches of the authentication plugin by a server.
const SWITCHES_MAX: u8 = 8;

/// First bytes of the server's packets.
const SUCCESS: u8 = 0;
const MORE_DATA: u8 = 1;
const SWITCH: u8 = 0xfe;
/// First byte of a query command.
const QUERY: u8 = 3;
/// Status flag of a reply that another one follows.
const MORE_RESULTS: u16 = 8;

/// `caching_sha2_password`: results that the server sends after the scramble, and the request for its public key.
const FAST_AUTH_SUCCESS: u8 = 3;
const FULL_AUTHENTICATION: u8 = 4;
const PUBLIC_KEY_REQUEST: u8 = 2;
/// Request for the public key in `sha256_password`.
const PUBLIC_KEY_REQUEST_SHA256: u8 = 1;

/// State of a log-in.
#[derive(Debug)]
pub(super) struct LogIn {
    state: State,
    plugin: Plugin,
    seed: Vec<u8>,
    switches: u8,
    /// Greeting of the server. `None` before it arrived.
    pub(super) server: Option<ServerGreeting>,
    /// Capabilities that both sides have.
    pub(super) capabilities: Capabilities,
    /// Status flags of the server's latest OK packet; 0 before the first.
    pub(super) status: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Tls,
    Answered,
    Key,
    /// Waits for the reply to this number of statements: settings of the session, and then commands of the user.
    Statements(u16),
}

/// Parameters of a log-in, and properties of its connection.
#[derive(Clone, Copy)]
pub(super) struct LogInContext<'a> {
    pub(super) login: &'a Login,
    pub(super) nonce: &'a Nonce,
    /// Whether the transport protects against eavesdropping: TLS or a Unix socket.
    pub(super) is_private: bool,
    pub(super) offers_local_files: bool,
}

/// Next step of a log-in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LogInAction {
    Await,
    /// Send a packet with this content.
    Send(Vec<u8>),
    /// Send this statement.
    Ask(Vec<u8>),
    /// Send a packet with this content, then establish TLS.
    Secure(Vec<u8>),
    Done,
}

impl LogIn {
    pub(super) fn new() -> Self {
        Self {
            state: State::Greeting,
            plugin: Plugin::Native,
            seed: Vec::new(),
            switches: 0,
            server: None,
            capabilities: Capabilities::default(),
            status: 0,
        }
    }

    /// Whether the server's greeting is still to come.
    pub(super) fn awaits_greeting(&self) -> bool {
        self.state == State::Greeting
    }

    /// Processes the content of a packet.
    pub(super) fn packet(
        &mut self,
        payload: &[u8],
        context: LogInContext<'_>,
    ) -> Result<LogInAction, PeerFault> {
        let Some(&first) = payload.first() else { return Err(Fault::Malformed.plain()) };
        match (self.state, first) {
            (_, ERROR) => Err(log_in_rejected(payload)),
            (State::Greeting, _) => self.greeted(payload, context),
            (State::Answered, SUCCESS) => {
                self.status = status(payload);
                self.succeeded(context)
            }
            (State::Answered, SWITCH) => self.switch_plugin(payload, context),
            (State::Answered, MORE_DATA) => self.more_data(&payload[1..], context),
            (State::Key, MORE_DATA) => {
                let encrypted = rsa::encrypt(
                    password(context),
                    &self.seed,
                    &payload[1..],
                    context.nonce.derive_bytes(b"oaep"),
                )?;
                self.state = State::Answered;
                Ok(LogInAction::Send(encrypted))
            }
            (State::Statements(sent), SUCCESS) => {
                self.status = status(payload);
                // Several statements in one text have a reply each.
                if self.status & MORE_RESULTS == 0 {
                    self.send_next_statement(sent, context)
                } else {
                    Ok(LogInAction::Await)
                }
            }
            (State::Statements(_), _) => Err(Fault::CommandRows.plain()),
            _ => Err(Fault::Unexpected.with_first_bytes(payload)),
        }
    }

    /// Returns the content of the handshake response, which follows after TLS is established. `None` if TLS was not requested.
    pub(super) fn secured(&mut self, context: LogInContext<'_>) -> Option<Vec<u8>> {
        if self.state == State::Tls { self.handshake_response(context).ok() } else { None }
    }

    fn greeted(&mut self, payload: &[u8], context: LogInContext<'_>) -> Result<LogInAction, PeerFault> {
        let server = ServerGreeting::of(payload).map_err(|fault| fault.with_first_bytes(payload))?;
        let least = Capabilities::PROTOCOL_41.with(Capabilities::SECURE_CONNECTION);
        if !server.capabilities.has(least) {
            return Err(Fault::TooOld.with_peer_message(server.version));
        }
        let offers_tls = server.capabilities.has(Capabilities::TLS);
        let with_tls = match context.login.tls {
            TlsMode::No => false,
            TlsMode::IfOffered => offers_tls && !context.is_private,
            TlsMode::Required if !offers_tls => return Err(Fault::NoTls.plain()),
            TlsMode::Required => true,
        };
        self.capabilities = requested_capabilities(context)
            .with_if(with_tls, Capabilities::TLS)
            .intersection(server.capabilities);
        self.plugin = match server.plugin {
            Some(plugin)
                if !plugin.reveals_password() && self.capabilities.has(Capabilities::PLUGIN_AUTH) =>
            {
                plugin
            }
            _ => Plugin::Native,
        };
        self.seed.clone_from(&server.seed);
        self.server = Some(server);
        // Computes the response before TLS, so that its errors are reported first.
        let introduction = self.handshake_response(context)?;
        if with_tls {
            let mut request = Vec::new();
            greeting::write_tls_request(&mut request, self.capabilities);
            self.state = State::Tls;
            return Ok(LogInAction::Secure(request));
        }
        Ok(LogInAction::Send(introduction))
    }

    fn handshake_response(&mut self, context: LogInContext<'_>) -> Result<Vec<u8>, Fault> {
        let password = password(context);
        let answer =
            if password.is_empty() { Vec::new() } else { self.plugin.answer(password, &self.seed)? };
        let mut payload = Vec::new();
        greeting::write(
            &mut payload,
            &ClientGreeting {
                capabilities: self.capabilities,
                user: &context.login.user,
                database: context.login.database.as_deref(),
                plugin: self.plugin,
                answer: &answer,
            },
        );
        self.state = State::Answered;
        Ok(payload)
    }

    /// Handles the server's switch to another authentication plugin.
    fn switch_plugin(&mut self, payload: &[u8], context: LogInContext<'_>) -> Result<LogInAction, PeerFault> {
        let mut fields = Fields::of(&payload[1..]);
        self.switches += 1;
        if self.switches > SWITCHES_MAX {
            return Err(Fault::Unexpected.with_first_bytes(payload));
        }
        let name = match fields.null_terminated() {
            None | Some(b"mysql_old_password") => return Err(Fault::OldPassword.plain()),
            Some(name) => name,
        };
        let Some(plugin) = Plugin::named(name) else {
            let name = String::from_utf8_lossy(&name[..name.len().min(64)]);
            return Err(Fault::UnknownPlugin.with_peer_message(name.into_owned()));
        };
        self.plugin = plugin;
        self.seed = fields.rest().to_vec();
        let password = password(context);
        let may_reveal = context.is_private || context.login.weak.clear;
        let answer = match plugin {
            Plugin::Native if password.is_empty() => Vec::new(),
            Plugin::CachingSha2 | Plugin::Sha256 if password.is_empty() => Vec::from([0]),
            Plugin::Clear if !may_reveal => return Err(Fault::ClearPassword.plain()),
            Plugin::Sha256 if !context.is_private => {
                return self.request_public_key(PUBLIC_KEY_REQUEST_SHA256, context);
            }
            _ => plugin.answer(password, &self.seed)?,
        };
        Ok(LogInAction::Send(answer))
    }

    fn more_data(&mut self, data: &[u8], context: LogInContext<'_>) -> Result<LogInAction, PeerFault> {
        match (self.plugin, data) {
            (Plugin::CachingSha2, [FAST_AUTH_SUCCESS]) => Ok(LogInAction::Await),
            (Plugin::CachingSha2, [FULL_AUTHENTICATION]) if context.is_private => {
                Ok(LogInAction::Send(zero_terminated(password(context))))
            }
            (Plugin::CachingSha2, [FULL_AUTHENTICATION]) => {
                self.request_public_key(PUBLIC_KEY_REQUEST, context)
            }
            _ => Err(Fault::Unexpected.with_first_bytes(data)),
        }
    }

    /// Requires the user's consent, because an attacker between client and server could send another key.
    fn request_public_key(
        &mut self,
        question: u8,
        context: LogInContext<'_>,
    ) -> Result<LogInAction, PeerFault> {
        if !context.login.weak.any_key {
            return Err(Fault::UnknownKey.plain());
        }
        self.state = State::Key;
        Ok(LogInAction::Send(Vec::from([question])))
    }

    fn succeeded(&mut self, context: LogInContext<'_>) -> Result<LogInAction, PeerFault> {
        self.send_next_statement(0, context)
    }

    /// Sends the statement after the first `sent` ones. The statement of the settings comes first if there are any.
    fn send_next_statement(
        &mut self,
        sent: u16,
        context: LogInContext<'_>,
    ) -> Result<LogInAction, PeerFault> {
        let login = context.login;
        let has_settings = !login.settings.is_empty();
        let statement = match usize::from(sent).checked_sub(usize::from(has_settings)) {
            None => settings(&login.settings)?,
            Some(number) => match login.init_commands.get(number) {
                Some(command) => [&[QUERY], command.as_bytes()].concat(),
                None => return Ok(LogInAction::Done),
            },
        };
        self.state = State::Statements(sent + 1);
        if statement.len() >= PAYLOAD_BYTES_MAX {
            Err(Fault::BadSetting.plain())
        } else {
            Ok(LogInAction::Ask(statement))
        }
    }
}

/// Status flags in an OK packet; 0 if the packet is too short.
fn status(payload: &[u8]) -> u16 {
    let mut fields = Fields::of(payload);
    let mut read = || {
        let (_kind, _changed, _inserted) = (fields.byte()?, fields.number()?, fields.number()?);
        fields.u16_le()
    };
    read().unwrap_or(0)
}

fn password(context: LogInContext<'_>) -> &[u8] {
    context.login.password.as_ref().map_or(&[], |secret| secret.0.as_bytes())
}

/// Capabilities that the client requests from any server.
fn requested_capabilities(context: LogInContext<'_>) -> Capabilities {
    Capabilities::MYSQL
        .with(Capabilities::LONG_FLAG)
        .with_if(context.login.database.is_some(), Capabilities::CONNECT_WITH_DB)
        .with_if(context.offers_local_files, Capabilities::LOCAL_FILES)
        .with(Capabilities::PROTOCOL_41)
        .with(Capabilities::TRANSACTIONS)
        .with(Capabilities::SECURE_CONNECTION)
        .with(Capabilities::MULTI_STATEMENTS)
        .with(Capabilities::MULTI_RESULTS)
        .with(Capabilities::PREPARED_MULTI_RESULTS)
        .with(Capabilities::PLUGIN_AUTH)
        .with(Capabilities::CONNECT_ATTRIBUTES)
        .with(Capabilities::LONG_PLUGIN_ANSWER)
        .with(Capabilities::DEPRECATE_EOF)
        .with(Capabilities::CACHE_METADATA)
}

/// Statement that sets the variables of a session.
fn settings(settings: &[(String, String)]) -> Result<Vec<u8>, Fault> {
    let mut statement = Vec::from([QUERY]);
    for (place, (name, value)) in settings.iter().enumerate() {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(Fault::BadSetting);
        }
        statement.extend_from_slice(if place == 0 { b"SET " } else { b", " });
        statement.extend_from_slice(b"SESSION ");
        statement.extend_from_slice(name.as_bytes());
        statement.extend_from_slice(b" = ");
        let is_number = value.parse::<i64>().is_ok();
        if is_number {
            statement.extend_from_slice(value.as_bytes());
        } else {
            // A hexadecimal literal needs no quoting. Quoting rules depend on session variables.
            statement.extend_from_slice(b"_utf8mb4 x'");
            for byte in value.bytes() {
                let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
                statement.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
            statement.push(b'\'');
        }
    }
    Ok(statement)
}

/// Error for a server that rejects the log-in, permanently or temporarily.
fn log_in_rejected(payload: &[u8]) -> PeerFault {
    let Some(server_error) = server_error::read(payload) else {
        return Fault::Malformed.with_first_bytes(payload);
    };
    let fault = match server_error.number {
        // Too many connections in total, or for this user.
        1040 | 1203 | 1226 => Fault::TooMany,
        // Out of memory, threads, or file descriptors.
        1037 | 1038 | 1041 | 1135 => Fault::Resources,
        // The server is not ready yet, such as a starting cluster node, or reports network errors and timeouts.
        1047 | 1158..=1161 => Fault::NotNow,
        _ if server_error.is_fatal => Fault::Ended,
        _ => Fault::Refused,
    };
    fault.with_peer_message(server_error::line(&server_error))
}
