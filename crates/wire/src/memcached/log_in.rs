//! The log-in of a connection in the text protocol: a `set` whose value is the user and the password (`memcached -Y`).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::command;
use super::reader::{Kind, Reader};
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::conversation::Greeting;
use crate::step::{Access, WrongValue};

const REJECTED: &str = "the server rejected the log-in";
const NO_ROOM: &str = "the server takes no more connections";
const NO_LOG_IN: &str = "the server answered the log-in with something else than a reply to it";

/// User and password of the connections of a load.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    /// Bytes of the log-in; empty if the URL has no user.
    message: Vec<u8>,
}

impl Identity {
    /// Reads user and password from the parts of a URL.
    ///
    /// # Errors
    ///
    /// The URL has a path, or the user has a space.
    pub(super) fn read(access: &Access) -> Result<Self, WrongValue> {
        let wrong = |what: String, help: &str| WrongValue { path: Vec::new(), what, help: help.into() };
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
        Ok(Self { message: format!("set tenbin 0 0 {length}\r\n{user} {password}\r\n").into_bytes() })
    }

    /// Begins the log-in of a new connection.
    pub(super) fn begin(&self, out: &mut Vec<u8>) -> Greeting {
        out.extend_from_slice(&self.message);
        if self.message.is_empty() { Greeting::Done } else { Greeting::Send }
    }
}

/// Ends the log-in with a complete reply.
pub(super) fn end(reply: &Reader) -> Result<Greeting, PeerFault> {
    let Some(error) = reply.error() else {
        return match reply.kind() {
            Kind::Stored => Ok(Greeting::Done),
            _ => Err(PeerFault::new(ErrorClass::ProtocolError, 0, NO_LOG_IN)),
        };
    };
    let (class, sentence) = match command::class(error) {
        ErrorClass::TooManyConnections => (ErrorClass::TooManyConnections, NO_ROOM),
        _ => (ErrorClass::LoginRefused, REJECTED),
    };
    Err(PeerFault::new(class, 0, sentence).saying(String::from_utf8_lossy(error)))
}
