//! One connection's side of the protocol: what callers see of it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::blame::PeerFault;
use crate::conversation::Greeting;
use crate::sql::{self, Heard, Login, Rows, Said, Statement, Transaction};

/// The client's side of one PostgreSQL connection.
#[derive(Debug)]
pub struct Session {
    login: Arc<Login>,
    /// What makes the log-ins of this session unlike all others.
    nonce: [u8; 18],
    out: Vec<u8>,
    said: Said,
}

impl Session {
    /// Nothing under way. The nonce must be unpredictable, and another one for each session.
    pub fn new(login: Arc<Login>, nonce: [u8; 18]) -> Self {
        Self { login, nonce, out: Vec::new(), said: Said::default() }
    }

    /// What the server said of itself when the connection was opened, such as `server_version`: of the settings in
    /// [`Session::SETTINGS_KEPT`], as they last were.
    pub fn setting(&self, _name: &str) -> Option<&str> {
        let _ = (&self.login, &self.nonce);
        None
    }

    /// The settings that are kept when the server tells of them.
    pub const SETTINGS_KEPT: [&'static str; 6] = [
        "server_version",
        "in_hot_standby",
        "default_transaction_read_only",
        "server_encoding",
        "client_encoding",
        "standard_conforming_strings",
    ];

    /// The server's version as it writes it, such as `15.14 (Debian 15.14-0+deb12u1)`.
    pub fn server_version(&self) -> Option<&str> {
        self.setting("server_version")
    }

    /// Notices, notifications and changes of settings since the connection was opened.
    pub fn asides(&self) -> u64 {
        0
    }

    /// Puts a `COPY … FROM STDIN` on the wire. Then comes [`Heard::Send`] with [`Session::is_copy_ready`], and
    /// [`Session::copy_bytes`] and [`Session::copy_end`] have their turn; or it is refused. [`Heard::Ready`] comes at the end.
    pub fn copy_in(&mut self, _sql: &str) {}

    /// Whether the server takes the bytes of a copy now.
    pub fn is_copy_ready(&self) -> bool {
        false
    }

    /// Puts bytes of a copy on the wire, cut anywhere. Without [`Session::is_copy_ready`] it does nothing.
    pub fn copy_bytes(&mut self, _bytes: &[u8]) {}

    /// Ends the bytes of a copy.
    pub fn copy_end(&mut self) {}
}

impl sql::Session for Session {
    fn greet(&mut self) -> Greeting {
        Greeting::Send
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        Ok((bytes.len(), Greeting::Await))
    }

    fn secured(&mut self) -> Greeting {
        Greeting::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.out
    }

    fn clear(&mut self) {
        self.out.clear();
    }

    fn query(&mut self, _text: &[u8]) {}

    fn execute(&mut self, _statement: Statement<'_>, _values: &mut dyn Iterator<Item = Option<&[u8]>>) {}

    fn sync(&mut self) {}

    fn received(&mut self, bytes: &[u8], _rows: &mut dyn Rows) -> Result<(usize, Heard), PeerFault> {
        Ok((bytes.len(), Heard::NeedMore))
    }

    fn transaction(&self) -> Transaction {
        Transaction::Idle
    }

    fn said(&self) -> &Said {
        &self.said
    }

    fn has_begun_reply(&self) -> bool {
        false
    }

    fn farewell(&self) -> &[u8] {
        &[]
    }

    fn cancel(&self) -> Option<[u8; 16]> {
        None
    }

    fn forget(&mut self) {
        self.out.clear();
    }
}
