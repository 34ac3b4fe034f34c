//! What a peer did wrong, and how it showed.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

use crate::ErrorClass;

/// The first bytes of what a peer sent, for people to recognise it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    bytes: [u8; Self::BYTES_MAX],
    len: u8,
}

impl Seen {
    const BYTES_MAX: usize = 24;

    /// The beginning of these bytes.
    pub fn beginning(of: &[u8]) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        let len = of.len().min(Self::BYTES_MAX);
        bytes[..len].copy_from_slice(&of[..len]);
        Self { bytes, len: len as u8 }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.bytes[..usize::from(self.len)].escape_ascii())
    }
}

/// The peer broke the protocol: nothing on this connection can be believed any more. In [`crate::Event::Failed`] it concerns a
/// single exchange, and the connection goes on.
///
/// It takes no more room than a pointer: every step of reading a reply may answer with a fault, and hardly any does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFault(Box<Violation>);

/// How a peer broke the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What reports count it as. [`ErrorClass::LoginRefused`] will be the same on every connection: the load ends with it.
    pub class: ErrorClass,
    /// Tells faults of one class apart.
    pub code: u32,
    /// What is wrong, in words.
    pub sentence: &'static str,
    /// What was seen instead, where that helps.
    pub seen: Option<Seen>,
    /// What the peer itself said of it, capped; may hold anything.
    pub said: Option<String>,
}

impl Deref for PeerFault {
    type Target = Violation;

    fn deref(&self) -> &Violation {
        &self.0
    }
}

impl PeerFault {
    /// A violation, in words.
    #[cold]
    pub fn new(class: ErrorClass, code: u32, sentence: &'static str) -> Self {
        Self(Box::new(Violation { class, code, sentence, seen: None, said: None }))
    }

    /// The same with the beginning of what was seen instead.
    #[must_use]
    pub fn showing(mut self, bytes: &[u8]) -> Self {
        self.0.seen = Some(Seen::beginning(bytes));
        self
    }

    /// The same with what the peer itself said of it.
    #[must_use]
    pub fn saying(mut self, said: impl Into<String>) -> Self {
        self.0.said = Some(said.into());
        self
    }

    /// The sentence for people, with what was seen, escaped.
    pub fn message(&self) -> String {
        match (&self.said, &self.seen) {
            (Some(said), _) => format!("{}: {said}", self.sentence),
            (None, Some(seen)) => format!("{}: {seen}", self.sentence),
            (None, None) => self.sentence.into(),
        }
    }
}
