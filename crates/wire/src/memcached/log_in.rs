//! Log-in of a connection. Text protocol: a `set` with the user and the password as its value (`memcached -Y`). Binary protocol: SASL and
//! the choice of a bucket.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::binary;
use super::content::{Content, Kind};
use super::format::Format;
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::step::{Access, StepValueError};

const REJECTED: &str = "the server rejected the log-in";
const NO_ROOM: &str = "the server takes no more connections";
const NO_LOG_IN: &str = "the server answered the log-in with something else than a reply to it";

/// Messages that begin the connections of a load, and their format.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub(super) format: Format,
    /// Messages in order; each awaits its reply.
    messages: Vec<Message>,
}

/// A message of the log-in.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    /// Operation of the message. `None` in the text protocol.
    pub(super) operation: Option<&'static binary::Operation>,
    /// Type of the reply to a valid message.
    pub(super) success: Kind,
}

impl Identity {
    /// Reads the log-in of the text protocol from the parts of a URL.
    ///
    /// # Errors
    ///
    /// The URL has a path, or the user has a space.
    pub(super) fn read(access: &Access) -> Result<Self, StepValueError> {
        let wrong = |what: String, help: &str| StepValueError { path: Vec::new(), what, help: help.into() };
        if !access.path.is_empty() {
            let what = format!("memcached has no databases, and the path of the URL is {:?}", access.path);
            return Err(wrong(what, "write memcached://HOST:PORT"));
        }
        let Some(user) = access.user.as_deref().filter(|user| !user.is_empty()) else {
            return Ok(Self::default());
        };
        if user.contains(char::is_whitespace) {
            return Err(wrong("the user has a space".into(), "correct the user in the URL"));
        }
        let password = access.password.as_ref().map_or("", |password| password.0.as_str());
        let length = user.len() + 1 + password.len();
        let bytes = format!("set tenbin 0 0 {length}\r\n{user} {password}\r\n").into_bytes();
        let message = Message { bytes, operation: None, success: Kind::Stored };
        Ok(Self { format: Format::Text, messages: Vec::from([message]) })
    }

    /// Creates the log-in of the binary protocol.
    pub(super) fn binary(vbuckets: u32, messages: Vec<Message>) -> Self {
        Self { format: Format::Binary { vbuckets }, messages }
    }

    /// Message with this number, counted from 0. `None` after the last.
    pub(super) fn message(&self, number: usize) -> Option<&Message> {
        self.messages.get(number)
    }
}

impl Message {
    /// Checks the reply.
    ///
    /// # Errors
    ///
    /// The server rejected the log-in.
    pub(super) fn check(&self, reply: &Content) -> Result<(), PeerFault> {
        let Some((error, class)) = reply.error() else {
            return match reply.kind == self.success {
                true => Ok(()),
                // A bucket of Couchbase is absent as a key is.
                false if self.operation.is_some() => {
                    Err(PeerFault::new(ErrorClass::LoginRefused, 0, REJECTED))
                }
                false => Err(PeerFault::new(ErrorClass::ProtocolError, 0, NO_LOG_IN)),
            };
        };
        let (class, sentence) = match class {
            ErrorClass::TooManyConnections => (ErrorClass::TooManyConnections, NO_ROOM),
            _ => (ErrorClass::LoginRefused, REJECTED),
        };
        Err(PeerFault::new(class, 0, sentence).with_peer_message(String::from_utf8_lossy(error)))
    }
}
