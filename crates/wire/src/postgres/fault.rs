//! Violations of the protocol and failures of the log-in, with their error classes and messages.

use alloc::string::String;

use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::sql::{ServerError, SqlState};

macro_rules! faults {
    ($($name:ident $class:ident $sentence:literal)*) => {
        /// A rule that the server broke, or a reason not to log in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault { $($name),* }

        impl Fault {
            const fn parts(self) -> (ErrorClass, &'static str) {
                match self { $(Self::$name => (ErrorClass::$class, $sentence)),* }
            }
        }
    };
}

faults! {
    NotPostgres ProtocolError "the peer does not speak the protocol of PostgreSQL"
    UnknownKind ProtocolError "the server sent a message of an unknown kind"
    BadLength ProtocolError "a message of the server has a length that its kind cannot have"
    TooLong ProtocolError "a message of the server is longer than 64 KiB"
    DescriptionTooLong ProtocolError "the description of the rows is longer than 1 MiB"
    RowTooLong ProtocolError "a row that is to be kept is longer than 16 MiB"
    OutOfTurn ProtocolError "the server sent a message out of turn"
    Unasked ProtocolError "the server sent a message without a request"
    NoAnswer ProtocolError "the server is ready again, and has not answered"
    BadText ProtocolError "a text in a message of the server has no end"
    BadDescription ProtocolError "the description of the rows is malformed"
    BadColumns ProtocolError "a row has more or fewer columns than its description"
    BadRow ProtocolError "a row is malformed"
    BadState ProtocolError "the server reports an unknown transaction state"
    Suspended ProtocolError "the server stopped in the midst of the rows, unasked"
    CopyInPipeline ProtocolError "the server awaits the bytes of a COPY, and other statements are on their way"
    BytesBeforeTls ProtocolError "the server sent bytes before TLS began, which an attacker may have injected"
    BytesTooEarly ProtocolError "the server sent bytes before the login"
    ErrorBeforeTls ProtocolError "the server answered the TLS request with an error, which cannot be trusted without TLS"
    TlsRefused LoginRefused "the server has no TLS, and TLS is required"
    NoPassword LoginRefused "the server asks for a password, and none is given"
    CleartextRefused LoginRefused "the server asks for the password in the clear, without TLS: use TLS (sslmode=require), or add require_auth=password to the URL to send it nevertheless"
    Md5Refused LoginRefused "the server asks for the password as MD5, which others can make use of: use scram-sha-256 or TLS (sslmode=require), or add require_auth=md5 to the URL to send it nevertheless"
    UnknownLogin LoginRefused "the server asks for a kind of log-in that is not spoken here"
    UnknownMechanism LoginRefused "the server offers log-ins by SASL, but not SCRAM-SHA-256"
    WrongRole WrongRole "the server is not in the state that target_session_attrs of the URL requires"
    NotBound LoginRefused "channel_binding=require needs TLS, and a server that offers SCRAM-SHA-256-PLUS: use channel_binding=prefer, or sslmode=require and a password stored as scram-sha-256"
    NoBindingHash LoginRefused "the signature of the server's certificate has no hash function that a log-in can be bound to: use channel_binding=disable"
}

impl Fault {
    pub(super) fn plain(self) -> PeerFault {
        let (class, sentence) = self.parts();
        PeerFault::new(class, self as u32, sentence)
    }

    pub(super) fn with_first_bytes(self, bytes: &[u8]) -> PeerFault {
        self.plain().with_first_bytes(bytes)
    }

    pub(super) fn with_peer_message(self, server_error: impl Into<String>) -> PeerFault {
        self.plain().with_peer_message(server_error)
    }
}

/// Error for a server that rejects the log-in, permanently or temporarily.
pub(super) fn log_in_rejected(server_error: &ServerError) -> PeerFault {
    match &server_error.sqlstate.0 {
        // Insufficient resources, operator intervention, system errors, and internal errors: another attempt may succeed.
        [b'5', b'3' | b'7' | b'8', ..] | [b'X', b'X', ..] => {
            by_server(class(server_error.sqlstate), "the server takes no connection now", server_error)
        }
        _ => by_server(ErrorClass::LoginRefused, "the server rejected the log-in", server_error),
    }
}

fn by_server(class: ErrorClass, sentence: &'static str, server_error: &ServerError) -> PeerFault {
    let words = [server_error.sqlstate.as_str(), ": ", &server_error.text].concat();
    PeerFault::new(class, server_error.sqlstate.code(), sentence).with_peer_message(words)
}

/// Error class of temporary rejections.
fn class(state: SqlState) -> ErrorClass {
    match &state.0 {
        b"53300" => ErrorClass::TooManyConnections,
        [b'5', b'3', ..] => ErrorClass::OutOfResources,
        b"57P01" | b"57P02" | b"57P03" => ErrorClass::ServerShutdown,
        _ => ErrorClass::SqlError,
    }
}
