//! Violations of a protocol by a peer, and the bytes that showed them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

use crate::ErrorClass;

/// First bytes that a peer sent, quoted in messages so that people can recognize the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstBytes {
    bytes: [u8; Self::BYTES_MAX],
    len: u8,
}

impl FirstBytes {
    const BYTES_MAX: usize = 24;

    /// Copies the first bytes of `of`, at most 24.
    pub fn beginning(of: &[u8]) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        let len = of.len().min(Self::BYTES_MAX);
        bytes[..len].copy_from_slice(&of[..len]);
        Self { bytes, len: len as u8 }
    }
}

impl fmt::Display for FirstBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.bytes[..usize::from(self.len)].escape_ascii())
    }
}

/// Violation of the protocol by the peer, after which no data on the connection can be trusted. In [`crate::Event::Failed`] it concerns a
/// single exchange, and the connection stays usable.
///
/// Boxed to have the size of a pointer: every step of reading a reply may return an error, and almost none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFault(Box<Violation>);

/// Details of a protocol violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Class of the error in reports. [`ErrorClass::LoginRefused`] ends the load, because every connection would get it.
    pub class: ErrorClass,
    /// Distinguishes errors of one class.
    pub code: u32,
    /// Error message for people.
    pub sentence: &'static str,
    /// Bytes that the peer sent instead. `None` if they would not help.
    pub seen: Option<FirstBytes>,
    /// The peer's own error message, of limited length and with arbitrary content. `None` if the peer sent none.
    pub said: Option<String>,
}

impl Deref for PeerFault {
    type Target = Violation;

    fn deref(&self) -> &Violation {
        &self.0
    }
}

impl PeerFault {
    /// Creates an error with this class, code, and sentence, without quoted bytes.
    #[cold]
    pub fn new(class: ErrorClass, code: u32, sentence: &'static str) -> Self {
        Self(Box::new(Violation { class, code, sentence, seen: None, said: None }))
    }

    /// Adds the beginning of the bytes that were received instead.
    #[must_use]
    pub fn with_first_bytes(mut self, bytes: &[u8]) -> Self {
        self.0.seen = Some(FirstBytes::beginning(bytes));
        self
    }

    /// Changes the class, keeping the words.
    #[must_use]
    pub(crate) fn with_class(mut self, class: ErrorClass) -> Self {
        self.0.class = class;
        self
    }

    /// Adds the peer's own error message.
    #[must_use]
    pub fn with_peer_message(mut self, said: impl Into<String>) -> Self {
        self.0.said = Some(said.into());
        self
    }

    /// Error message for people, followed by the peer's own message or by the escaped bytes.
    pub fn message(&self) -> String {
        match (&self.said, &self.seen) {
            (Some(said), _) => format!("{}: {said}", self.sentence),
            (None, Some(seen)) => format!("{}: {seen}", self.sentence),
            (None, None) => self.sentence.into(),
        }
    }
}
