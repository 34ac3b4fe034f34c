//! What the SQL protocols have in common: statements out, rows in.

mod login;
mod single;
mod value;

pub use login::{Login, Secret, Stretch, Stretcher, TlsWish, Weak};
pub use single::Single;
pub use value::{Number, Value};

pub use crate::postgres::Stretching;

use alloc::string::String;

use crate::blame::PeerFault;
use crate::conversation::{Cancel, Greeting, Interrupt};

/// One client's side of one SQL connection: which messages go out and what those that come in amount to. It knows nothing of
/// scripts; [`crate::Conversation`] is made from it and a script elsewhere.
pub trait Session: Send {
    /// As [`crate::Conversation::greet`]: start-up, TLS, log-in.
    fn greet(&mut self) -> Greeting;

    /// As [`crate::Conversation::greeted`]. A log-in that is refused is a fault of class [`outcome::ErrorClass::LoginRefused`].
    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault>;

    /// As [`crate::Conversation::secured`].
    fn secured(&mut self) -> Greeting;

    /// The bytes to be sent: everything that was put on the wire since [`Session::clear`].
    fn outgoing(&self) -> &[u8];

    /// Forgets the bytes to be sent: they have been.
    fn clear(&mut self);

    /// Puts a text of one or more statements on the wire, as it is.
    fn query(&mut self, text: &[u8]);

    /// Puts a statement with values on the wire. A statement that is `kept` is prepared once a connection, and
    /// known by its number from then on.
    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>);

    /// Ends what was put on the wire by [`Session::execute`]: [`SessionEvent::Ready`] comes once for each of these.
    fn sync(&mut self);

    /// Takes in bytes from the peer, as far as the next event; returns how many belong to it. Called again with the
    /// rest, which may be empty, until it needs more. With nothing under way, only what a server may say at any time passes.
    fn received(&mut self, bytes: &[u8], rows: &mut dyn RowSink) -> Result<(usize, SessionEvent), PeerFault>;

    /// What the server last said of its transaction.
    fn transaction(&self) -> Transaction;

    /// Whether the server reads a backslash in an ordinary quoted text as an escape, as far as it has said: a setting decides
    /// that in PostgreSQL (`standard_conforming_strings`) and in MySQL (`NO_BACKSLASH_ESCAPES`).
    fn has_backslash_escapes(&self) -> bool {
        false
    }

    /// The last error that the server reported.
    fn last_error(&self) -> &ServerError;

    /// Whether anything of the reply under way has come.
    fn has_begun_reply(&self) -> bool;

    /// What a polite client says before it closes the connection.
    fn farewell(&self) -> &[u8];

    /// What ends the statement under way over another connection, where the protocol has such a thing.
    fn cancel(&self) -> Option<Cancel>;

    /// As [`crate::Conversation::interrupt`].
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// The connection is gone, and whatever was prepared on it.
    fn forget(&mut self);
}

/// A statement as it is put on the wire with values.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Its number among all statements of a script.
    pub number: u16,
    /// Its text, with placeholders as the protocol has them.
    pub text: &'a str,
    /// Whether it is prepared once and kept.
    pub is_kept: bool,
}

/// What the bytes of a server amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// Nothing yet; all bytes were taken.
    NeedMore,
    /// [`Session::outgoing`] has more to send before a reply can come.
    Send,
    /// A statement succeeded.
    Succeeded {
        /// Rows it sent, or changed.
        rows: u64,
        /// Whether it is of the kind that sends rows, even if there were none.
        has_rows: bool,
    },
    /// A statement ended, and what it did was to end its transaction without effect.
    RolledBack,
    /// The server rejected a statement: [`Session::last_error`] has the reason.
    Rejected,
    /// Everything up to a point is answered, and another statement may go out.
    Ready,
}

/// Who takes the rows of a reply.
pub trait RowSink {
    /// Whether anybody does: what nobody takes is not decoded.
    fn wants(&self) -> bool {
        false
    }

    /// The name of a column, before the first row; columns come in order from 0.
    fn column(&mut self, _number: u16, _name: &[u8]) {}

    /// A value as text; `None` is NULL. Columns come in order from 0.
    fn value(&mut self, _column: u16, _value: Option<&[u8]>) {}

    /// A row is complete.
    fn row_ended(&mut self) {}
}

/// Nobody takes the rows.
impl RowSink for () {}

/// What a server says of its transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transaction {
    /// None is open.
    #[default]
    Idle,
    /// One is open.
    Open,
    /// One is open and can only be rolled back.
    Failed,
}

/// An error that a server reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// The five characters of its SQLSTATE; zeros if it gave none.
    pub sqlstate: SqlState,
    /// The server's own number for it; 0 if it has none.
    pub number: u16,
    /// Its text, capped; may hold anything.
    pub text: String,
    /// Whether the connection ends with it.
    pub is_fatal: bool,
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
    /// From its text; whatever is not five digits and capital letters becomes `HY000`, the general error.
    pub fn new(text: &[u8]) -> Self {
        match text.try_into() {
            Ok(bytes) if text.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()) => {
                Self(bytes)
            }
            _ => Self(*b"HY000"),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or("HY000")
    }

    /// A number that stands for it: its characters as digits of base 36.
    pub fn code(self) -> u32 {
        self.0.iter().fold(0, |code, byte| code * 36 + char::from(*byte).to_digit(36).unwrap_or(0))
    }
}
