//! Common interface of the SQL protocols: statements out, rows in.

mod login;
mod single;
mod value;

pub use login::{
    Attempt, ChannelBinding, InsecureAuth, Login, Secret, ServerRole, Stretch, Stretcher, TlsMode,
};
pub use single::FixedQuery;
pub use value::{Number, Value};

pub use crate::scram::{Mechanism, Stretching};

use alloc::string::String;
use alloc::vec::Vec;

use crate::blame::PeerFault;
use crate::conversation::{Cancel, Greeting, Interrupt};

/// The client's side of one SQL connection: encodes messages, and parses the server's messages to events. It has no scripts;
/// another type combines it with a script to a [`crate::Conversation`].
pub trait Session: Send {
    /// Starts the greeting: start-up, TLS, log-in. See [`crate::Conversation::greet`].
    fn greet(&mut self) -> Greeting;

    /// Processes bytes of the greeting. See [`crate::Conversation::greeted`]. A rejected log-in is an error of class
    /// [`outcome::ErrorClass::LoginRefused`].
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault>;

    /// Announces the number of the next socket's address. See [`crate::Conversation::set_address`].
    fn set_address(&mut self, address: u16) {
        let _ = address;
    }

    /// Takes the server's certificate. See [`crate::Conversation::certificate`].
    fn certificate(&mut self, der: &[u8]) {
        let _ = der;
    }

    /// Continues the greeting after TLS is established. See [`crate::Conversation::secured`].
    fn secured(&mut self) -> Greeting;

    /// Bytes to send: all messages since [`Session::clear`].
    fn outgoing(&self) -> &[u8];

    /// Removes the outgoing bytes after they were sent.
    fn clear(&mut self);

    /// Sends a text of one or more statements.
    fn query(&mut self, text: &[u8]);

    /// Sends a statement with values. A kept statement is prepared once per connection, and identified by its number from then on.
    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>);

    /// Allows [`Session::load`]. Called before the log-in, which may announce it to the server.
    fn allow_loads(&mut self) {}

    /// Sends a statement that loads rows, and the rows as soon as the server requests them: tabs between values, a newline after each
    /// row, `\N` for NULL, and a backslash before special characters. A session without such statements sends the text alone.
    fn load(&mut self, text: &[u8], rows: Vec<u8>) {
        let _ = rows;
        self.query(text);
    }

    /// Ends a sequence of [`Session::execute`]. One [`SessionEvent::Ready`] follows for each call.
    fn sync(&mut self);

    /// Processes bytes from the peer, up to the next event. Returns the number of bytes that belong to it. It is called again with
    /// the rest, which may be empty, until it returns [`SessionEvent::NeedMore`]. Without a statement in flight, it accepts only
    /// messages that a server may send at any time.
    fn received(&mut self, bytes: &[u8], rows: &mut dyn RowSink) -> Result<(usize, SessionEvent), PeerFault>;

    /// Transaction status, as the server reported it last.
    fn transaction(&self) -> Transaction;

    /// Whether the server treats a backslash in an ordinary quoted text as an escape, according to the last report. The deciding variable
    /// is `standard_conforming_strings` in PostgreSQL, and the mode `NO_BACKSLASH_ESCAPES` in MySQL.
    fn has_backslash_escapes(&self) -> bool {
        false
    }

    /// Last error that the server reported.
    fn last_error(&self) -> &ServerError;

    /// Whether any part of the current reply has arrived.
    fn has_begun_reply(&self) -> bool;

    /// Bytes that a polite client sends before it closes the connection.
    fn farewell(&self) -> &[u8];

    /// Means to cancel the statement in flight on another connection. `None` if the protocol has no such thing, or if nothing can
    /// be canceled.
    fn cancel(&self) -> Option<Cancel>;

    /// See [`crate::Conversation::interrupt`].
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// Resets the session after its connection was closed, and forgets its prepared statements.
    fn forget(&mut self);
}

/// A statement that is sent with values.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Number among all statements of a script.
    pub number: u16,
    /// Text with the placeholders of the protocol.
    pub text: &'a str,
    /// Whether the statement is prepared once and kept.
    pub is_kept: bool,
}

/// Result of the bytes of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// No event yet. All bytes were used.
    NeedMore,
    /// [`Session::outgoing`] has bytes to send before a reply can arrive.
    Send,
    /// A statement succeeded.
    Succeeded {
        /// Number of rows that it sent, or changed.
        rows: u64,
        /// Whether the statement returns rows, even if there were none.
        has_rows: bool,
    },
    /// The statement ended its transaction without effect.
    RolledBack,
    /// The server rejected a statement: [`Session::last_error`] has the reason.
    Rejected,
    /// All statements up to a sync point are answered, and further ones may be sent.
    Ready,
}

/// Receiver of the rows of a reply.
pub trait RowSink {
    /// Whether rows are needed. If false, they are not decoded.
    fn needs_rows(&self) -> bool {
        false
    }

    /// Takes the name of a column, before the first row. Columns come in order, from 0.
    fn column(&mut self, _number: u16, _name: &[u8]) {}

    /// Takes a value as text; `None` is NULL. Columns come in order, from 0.
    fn value(&mut self, _column: u16, _value: Option<&[u8]>) {}

    /// Takes the end of a row.
    fn finish_row(&mut self) {}
}

/// Discards all rows.
impl RowSink for () {}

/// Transaction status of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transaction {
    /// Outside of a transaction.
    #[default]
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open, and can only be rolled back.
    Failed,
}

/// An error that a server reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// The five characters of the SQLSTATE; zeros if the server sent none.
    pub sqlstate: SqlState,
    /// The server's error number, or 0 if it has none.
    pub number: u16,
    /// Error message of the server, of limited length and with arbitrary content.
    pub text: String,
    /// Whether the error ends the connection.
    pub is_fatal: bool,
    /// Place of the error in the server's words, of limited length: `COPY items, line 3, column id: "x"`. Empty if it sent none.
    pub context: String,
}

/// A SQLSTATE (ISO/IEC 9075-2, subclause 24.1): a class of two characters and a subclass of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlState(pub [u8; 5]);

impl Default for SqlState {
    fn default() -> Self {
        Self(*b"00000")
    }
}

impl SqlState {
    /// Parses a SQLSTATE. Any text other than five digits and capital letters becomes `HY000`, the general error.
    pub fn new(text: &[u8]) -> Self {
        match text.try_into() {
            Ok(bytes) if text.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) => {
                Self(bytes)
            }
            _ => Self(*b"HY000"),
        }
    }

    /// The SQLSTATE as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or("HY000")
    }

    /// The SQLSTATE as a number, with its characters as digits of base 36.
    pub fn code(self) -> u32 {
        self.0.iter().fold(0, |code, byte| code * 36 + char::from(*byte).to_digit(36).unwrap_or(0))
    }
}
