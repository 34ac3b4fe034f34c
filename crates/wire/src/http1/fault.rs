//! Violations of HTTP/1.1 by a peer, with their error classes and messages.

use super::foreign;
use crate::ErrorClass;
use crate::blame::PeerFault;

macro_rules! faults {
    ($($name:ident $class:ident $sentence:literal)*) => {
        /// A rule of HTTP/1.1 that the peer broke.
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
    NotHttp ProtocolError "the reply is not HTTP/1.1"
    BadHeader ProtocolError "a header line of the reply is malformed"
    LengthAndCoding ProtocolError "the reply has both Content-Length and Transfer-Encoding"
    BadLength ProtocolError "the reply has a malformed Content-Length"
    TwoLengths ProtocolError "the reply has two different Content-Lengths"
    CodingInOldVersion ProtocolError "a reply of HTTP/1.0 has Transfer-Encoding"
    BadChunkSize ProtocolError "a chunk of the reply has a malformed size"
    ChunkTooLarge ProtocolError "a chunk of the reply is larger than 2^63 bytes"
    ChunkOverrun ProtocolError "a chunk of the reply does not end where its size says"
    ChunkExtension ProtocolError "a chunk size line of the reply is longer than 4 KiB"
    TooManyInterim ProtocolError "more than 16 interim (1xx) replies to one request"
    Upgrade ProtocolError "the peer switched protocols (101) unasked"
    HeadTooLong HeaderLimit "the head of the reply is longer than 64 KiB"
    TooManyHeaders HeaderLimit "the reply has more than 256 header lines"
    TrailerTooLong HeaderLimit "the trailers of the reply are longer than 64 KiB"
    Excess ExcessBytes "bytes came after the end of the reply, or without a request"
    Unsolicited UnsolicitedReply "a reply came that no request asked for"
}

impl Fault {
    pub(super) fn plain(self) -> PeerFault {
        let (class, sentence) = self.parts();
        PeerFault::new(class, self as u32, sentence)
    }

    /// Error for bytes that arrived while no request was in flight. A complete extra reply is worse than stray bytes, because earlier
    /// replies may have answered other requests. A server may send 408 before it closes an idle connection (RFC 9110, 15.5.9).
    #[cold]
    pub(super) fn unsolicited(bytes: &[u8]) -> PeerFault {
        // In some other protocols, the server sends first.
        if let Some(fault) = foreign::foreign_server_error(bytes) {
            return fault;
        }
        let is_time_out = bytes.get(9..12) == Some(b"408");
        let fault =
            if bytes.starts_with(b"HTTP/1.") && !is_time_out { Self::Unsolicited } else { Self::Excess };
        fault.with_first_bytes(bytes)
    }

    pub(super) fn with_first_bytes(self, bytes: &[u8]) -> PeerFault {
        self.plain().with_first_bytes(bytes)
    }
}
