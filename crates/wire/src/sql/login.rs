//! Who logs in, and how much TLS is wanted.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// What is sent to a server when a connection is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password, if there is one.
    pub password: Option<Secret>,
    /// The database; `None` leaves the choice to the server.
    pub database: Option<String>,
    /// Settings of the session, in order.
    pub settings: Vec<(String, String)>,
    /// Whether TLS is asked for.
    pub tls: TlsWish,
    /// In which weak ways the password may go out.
    pub weak: Weak,
    /// Who stretches the password for SCRAM; `None`: each session for itself, up to 100,000 rounds.
    pub stretcher: Option<Stretcher>,
}

/// Stretches a password by the rounds of PBKDF2 that a server asks for. Hundreds of thousands take a good part of a second, and
/// the result is the same for all sessions: whoever knows the sessions and the time does it once, or refuses.
pub trait Stretch: Send + Sync {
    /// The stretched password; `None` if it would take too long.
    fn stretched(&self, password: &str, salt: &[u8], rounds: u32) -> Option<[u8; 32]>;
}

/// One who stretches for many sessions.
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

/// Ways in which a password may go out though others could make use of it. By default there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weak {
    /// In the clear.
    pub clear: bool,
    /// As MD5, as PostgreSQL does it.
    pub md5: bool,
    /// Encrypted for whoever sends a key, as MySQL does it.
    pub any_key: bool,
}

impl Weak {
    /// All of them: where nobody listens.
    pub const ALL: Self = Self { clear: true, md5: true, any_key: true };
}

/// A text that is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Whether TLS is asked for on a connection that begins in the clear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsWish {
    /// No.
    #[default]
    No,
    /// Yes, and without it if the server has none.
    IfOffered,
    /// Yes, or no connection at all.
    Required,
}
