//! Every way in which a server can break the protocol or keep a client out, with its class and its sentence.

use alloc::string::String;

use crate::blame::PeerFault;
use crate::class;
use crate::sql::{Said, SqlState};

macro_rules! faults {
    ($($name:ident $class:ident $sentence:literal)*) => {
        /// A rule that the server broke, or a reason not to log in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault { $($name),* }

        impl Fault {
            const fn parts(self) -> (&'static str, &'static str) {
                match self { $(Self::$name => (class::$class, $sentence)),* }
            }
        }
    };
}

faults! {
    NotPostgres PROTOCOL_ERROR "the peer does not speak the protocol of PostgreSQL"
    UnknownKind PROTOCOL_ERROR "the server sent a message of an unknown kind"
    BadLength PROTOCOL_ERROR "a message of the server has a length that its kind cannot have"
    TooLong PROTOCOL_ERROR "a message of the server is longer than 64 KiB"
    DescriptionTooLong PROTOCOL_ERROR "the description of the rows is longer than 1 MiB"
    RowTooLong PROTOCOL_ERROR "a row that is to be kept is longer than 16 MiB"
    OutOfTurn PROTOCOL_ERROR "the server sent a message out of turn"
    Unasked PROTOCOL_ERROR "the server sent a message without a request"
    NoAnswer PROTOCOL_ERROR "the server is ready again, and has not answered"
    BadText PROTOCOL_ERROR "a text in a message of the server has no end"
    BadDescription PROTOCOL_ERROR "the description of the rows is malformed"
    BadColumns PROTOCOL_ERROR "a row has more or fewer columns than its description"
    BadRow PROTOCOL_ERROR "a row is malformed"
    BadState PROTOCOL_ERROR "the server tells an unknown state of its transaction"
    Suspended PROTOCOL_ERROR "the server stopped in the midst of the rows, unasked"
    CopyInPipeline PROTOCOL_ERROR "the server awaits the bytes of a COPY, and other statements are on their way"
    BytesBeforeTls PROTOCOL_ERROR "the server sent bytes before TLS began, which anybody may have slipped in"
    BytesTooEarly PROTOCOL_ERROR "the server sent bytes before it was told who logs in"
    ErrorBeforeTls PROTOCOL_ERROR "the server answered the wish for TLS with an error, which cannot be believed without TLS"
    TlsRefused LOGIN_REFUSED "the server has no TLS, and TLS is required"
    NoPassword LOGIN_REFUSED "the server asks for a password, and none is given"
    CleartextRefused LOGIN_REFUSED "the server asks for the password in the clear, without TLS: use TLS (sslmode=require), or add require_auth=password to the URL to send it nevertheless"
    Md5Refused LOGIN_REFUSED "the server asks for the password as MD5, which others can make use of: use scram-sha-256 or TLS (sslmode=require), or add require_auth=md5 to the URL to send it nevertheless"
    UnknownLogin LOGIN_REFUSED "the server asks for a kind of log-in that is not spoken here"
    UnknownMechanism LOGIN_REFUSED "the server offers log-ins by SASL, but not SCRAM-SHA-256"
    TooManyRounds LOGIN_REFUSED "the server asks for more rounds of SCRAM-SHA-256 than can be computed within the connect time-out"
    BadScram PROTOCOL_ERROR "the server's part of the log-in by SCRAM is malformed"
    ForeignNonce PROTOCOL_ERROR "the server's nonce does not begin with the client's"
    ScramRefused LOGIN_REFUSED "the server rejected the log-in by SCRAM"
    BadSignature LOGIN_REFUSED "the server does not know the password: it is not the server that it should be"
    NotProven LOGIN_REFUSED "the server ended the log-in by SCRAM without proof that it knows the password"
}

impl Fault {
    pub(super) fn plain(self) -> PeerFault {
        let (class, sentence) = self.parts();
        PeerFault::new(class, self as u32, sentence)
    }

    pub(super) fn showing(self, bytes: &[u8]) -> PeerFault {
        self.plain().showing(bytes)
    }

    pub(super) fn saying(self, said: impl Into<String>) -> PeerFault {
        self.plain().saying(said)
    }
}

/// The server refused the log-in: for good, or because it cannot take the connection now.
pub(super) fn kept_out(said: &Said) -> PeerFault {
    match &said.sqlstate.0 {
        // Resources, operators, and the machine below: another attempt may succeed.
        [b'5', b'3' | b'7' | b'8', ..] | [b'X', b'X', ..] => {
            by_server(class(said.sqlstate), "the server takes no connection now", said)
        }
        _ => by_server(PeerFault::LOGIN_REFUSED, "the server rejected the log-in", said),
    }
}

fn by_server(class: &'static str, sentence: &'static str, said: &Said) -> PeerFault {
    let words = [said.sqlstate.as_str(), ": ", &said.text].concat();
    PeerFault::new(class, said.sqlstate.code(), sentence).saying(words)
}

/// The class of errors that keep clients out for a while.
fn class(state: SqlState) -> &'static str {
    match &state.0 {
        b"53300" => class::TOO_MANY_CONNECTIONS,
        [b'5', b'3', ..] => class::OUT_OF_RESOURCES,
        b"57P01" | b"57P02" | b"57P03" => class::SERVER_SHUTDOWN,
        _ => class::SQL_ERROR,
    }
}
