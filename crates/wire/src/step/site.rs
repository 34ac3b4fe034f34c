//! The system that steps are sent to, as its URL describes it.

use alloc::string::String;
use alloc::vec::Vec;

/// Properties of a system's URL that its steps inherit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Host and port, as the URL has them.
    pub host: String,
    /// Host and port of the further addresses of a system with several URLs, in order.
    pub other_hosts: Vec<String>,
    /// Path and query of the URL. Braces are literal.
    pub path: String,
    /// `user:password` of the URL, decoded. `None` if it has no user.
    pub credentials: Option<Vec<u8>>,
    /// Whether the system uses TLS.
    pub is_secure: bool,
    /// Whether a connection is kept for further exchanges.
    pub keep_alive: bool,
}
