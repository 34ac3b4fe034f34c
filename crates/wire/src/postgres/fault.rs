//! Every way in which a server can break the protocol or keep a client out, with its class and its sentence.

use alloc::string::String;

use crate::blame::{PeerFault, Seen};
use crate::sql::{Said, SqlState};

macro_rules! faults {
    ($($name:ident $class:literal $sentence:literal)*) => {
        /// A rule that the server broke, or a reason not to log in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Fault { $($name),* }

        impl Fault {
            const fn parts(self) -> (&'static str, &'static str) {
                match self { $(Self::$name => ($class, $sentence)),* }
            }
        }
    };
}

faults! {
    NotPostgres "protocol_error" "the peer does not speak the protocol of PostgreSQL"
    UnknownKind "protocol_error" "the server sent a message of an unknown kind"
    BadLength "protocol_error" "a message of the server has a length that its kind cannot have"
    TooLong "protocol_error" "a message of the server is longer than 64 KiB"
    DescriptionTooLong "protocol_error" "the description of the rows is longer than 1 MiB"
    RowTooLong "protocol_error" "a row that is to be kept is longer than 16 MiB"
    OutOfTurn "protocol_error" "the server sent a message out of turn"
    Unasked "protocol_error" "the server sent a message without a request"
    NoAnswer "protocol_error" "the server is ready again, and has not answered"
    BadText "protocol_error" "a text in a message of the server has no end"
    BadDescription "protocol_error" "the description of the rows is malformed"
    BadColumns "protocol_error" "a row has more or fewer columns than its description"
    BadRow "protocol_error" "a row is malformed"
    BadState "protocol_error" "the server tells an unknown state of its transaction"
    Suspended "protocol_error" "the server stopped in the midst of the rows, unasked"
    CopyInPipeline "protocol_error" "the server awaits the bytes of a COPY, and other statements are on their way"
    BytesBeforeTls "protocol_error" "the server sent bytes before TLS began, which anybody may have slipped in"
    BytesTooEarly "protocol_error" "the server sent bytes before it was told who logs in"
    ErrorBeforeTls "protocol_error" "the server answered the wish for TLS with an error, which cannot be believed without TLS"
    TlsRefused "login_refused" "the server has no TLS, and TLS is required"
    NoPassword "login_refused" "the server asks for a password, and none is given"
    CleartextRefused "login_refused" "the server asks for the password in the clear, without TLS: use TLS (sslmode=require), or add require_auth=password to the URL to send it nevertheless"
    Md5Refused "login_refused" "the server asks for the password as MD5, which others can make use of: use scram-sha-256 or TLS (sslmode=require), or add require_auth=md5 to the URL to send it nevertheless"
    UnknownLogin "login_refused" "the server asks for a kind of log-in that is not spoken here"
    UnknownMechanism "login_refused" "the server offers log-ins by SASL, but not SCRAM-SHA-256"
    TooManyRounds "login_refused" "the server asks for more rounds of SCRAM-SHA-256 than can be computed within the connect time-out"
    BadScram "protocol_error" "the server's part of the log-in by SCRAM is malformed"
    ForeignNonce "protocol_error" "the server's nonce does not begin with the client's"
    ScramRefused "login_refused" "the server rejected the log-in by SCRAM"
    BadSignature "login_refused" "the server does not know the password: it is not the server that it should be"
    NotProven "login_refused" "the server ended the log-in by SCRAM without proof that it knows the password"
}

impl Fault {
    pub(super) fn plain(self) -> PeerFault {
        let (class, sentence) = self.parts();
        PeerFault { class, code: self as u32, sentence, seen: None, said: None }
    }

    pub(super) fn showing(self, bytes: &[u8]) -> PeerFault {
        PeerFault { seen: Some(Seen::beginning(bytes)), ..self.plain() }
    }

    pub(super) fn saying(self, said: impl Into<String>) -> PeerFault {
        PeerFault { said: Some(said.into()), ..self.plain() }
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
    PeerFault { class, code: said.sqlstate.code(), sentence, seen: None, said: Some(words) }
}

/// The class of errors that keep clients out for a while.
fn class(state: SqlState) -> &'static str {
    match &state.0 {
        b"53300" => "too_many_connections",
        [b'5', b'3', ..] => "out_of_resources",
        b"57P01" | b"57P02" | b"57P03" => "server_shutdown",
        _ => "sql_error",
    }
}
