//! Parameters of the log-in, and the use of TLS.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::scram::Mechanism;

/// Parameters for opening a connection to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// User name.
    pub user: String,
    /// Password. `None` if there is none.
    pub password: Option<Secret>,
    /// Database. `None` lets the server choose.
    pub database: Option<String>,
    /// Session variables with their values, in order.
    pub settings: Vec<(String, String)>,
    /// Use of TLS.
    pub tls: TlsMode,
    /// TLS from the first byte, without a request to the server (PostgreSQL 17).
    pub is_tls_direct: bool,
    /// Binding of SCRAM to the TLS connection (PostgreSQL).
    pub channel_binding: ChannelBinding,
    /// Attempts by the number of the address, if a connection may be tried in several ways. Empty: all addresses are alike, `tls`
    /// applies to each, and any server is accepted.
    pub attempts: Vec<Attempt>,
    /// Statements that are run after the log-in, in order (MySQL).
    pub init_commands: Vec<String>,
    /// Insecure ways to send the password that are allowed.
    pub weak: InsecureAuth,
    /// Computes stretched passwords for SCRAM. `None`: each session computes its own, up to 100,000 rounds.
    pub stretcher: Option<Stretcher>,
}

/// Stretches passwords with the number of PBKDF2 rounds that a server requests. Hundreds of thousands of rounds take a large part of a
/// second, and the result is equal for all sessions. An implementation computes it once for all of them, or declines if it would take too
/// long.
/// take too long.
pub trait Stretch: Send + Sync {
    /// Stretched password. `None` if it would take too long.
    fn stretched(&self, mechanism: Mechanism, password: &str, salt: &[u8], rounds: u32) -> Option<[u8; 32]>;
}

/// A shared [`Stretch`] for many sessions.
#[derive(Clone)]
pub struct Stretcher(pub Arc<dyn Stretch>);

impl fmt::Debug for Stretcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stretcher")
    }
}

impl PartialEq for Stretcher {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Stretcher {}

/// Insecure ways to send a password. By default, none is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsecureAuth {
    /// Password in plain text.
    pub clear: bool,
    /// MD5 hash (PostgreSQL).
    pub md5: bool,
    /// Encrypted with an unverified public key of the server (MySQL).
    pub any_key: bool,
}

impl InsecureAuth {
    /// Allows all methods, for transports that are safe from eavesdropping.
    pub const ALL: Self = Self { clear: true, md5: true, any_key: true };
}

/// A text that `Debug` does not show.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Use of TLS on a connection that starts without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never uses TLS.
    #[default]
    No,
    /// Uses TLS if the server offers it.
    IfOffered,
    /// Fails if the server does not offer TLS.
    Required,
}

/// Binding of SCRAM to the TLS connection, which detects an attacker who relays the log-in (RFC 5929, `tls-server-end-point`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelBinding {
    /// Never binds.
    #[default]
    Disable,
    /// Binds if the server offers it.
    Prefer,
    /// Fails if the server does not offer it.
    Require,
}

/// Attempt to open a connection: a server, and the parameters to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the server in the list of hosts.
    pub host: u16,
    /// Use of TLS.
    pub tls: TlsMode,
    /// Required state of the server.
    pub role: ServerRole,
    /// Whether the next attempt goes to this server again, so that a rejected log-in is not final.
    pub has_fallback: bool,
}

/// State of a server that a session requires, as in `target_session_attrs` of libpq.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerRole {
    /// Any state.
    #[default]
    Any,
    /// Transactions may write by default.
    ReadWrite,
    /// Transactions may not write by default.
    ReadOnly,
    /// The server is not in recovery.
    Primary,
    /// The server is in recovery.
    Standby,
}

impl ServerRole {
    /// Name in `target_session_attrs`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::ReadWrite => "read-write",
            Self::ReadOnly => "read-only",
            Self::Primary => "primary",
            Self::Standby => "standby",
        }
    }

    /// Whether a server with this state is accepted.
    pub(crate) const fn accepts(self, is_standby: bool, is_read_only: bool) -> bool {
        match self {
            Self::Any => true,
            Self::ReadWrite => !is_standby && !is_read_only,
            Self::ReadOnly => is_standby || is_read_only,
            Self::Primary => !is_standby,
            Self::Standby => is_standby,
        }
    }
}
