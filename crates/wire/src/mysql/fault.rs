//! Violations of the protocol and rejections of the log-in, with their error classes and messages.

use alloc::string::String;

use crate::ErrorClass;
use crate::blame::PeerFault;

macro_rules! faults {
    ($($name:ident $class:ident $sentence:literal)*) => {
        /// Error in the packets of a server, or reason why the log-in failed.
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
    NotMysql ProtocolError "the server's greeting is not that of MySQL or MariaDB"
    BadGreeting ProtocolError "the server's greeting is malformed"
    EarlyBytes ProtocolError "unencrypted bytes arrived after the greeting, where TLS was expected"
    Sequence ProtocolError "the packets of the reply are out of sequence"
    Oversized ProtocolError "a packet is longer than any of its kind can be"
    Unexpected ProtocolError "the reply has a packet of another kind than the protocol has at this place"
    Malformed ProtocolError "a packet of the reply is malformed"
    TooManyColumns ProtocolError "the reply announces more than 4096 columns"
    ColumnsDiffer ProtocolError "the reply has another number of columns than it announced"
    ColumnsMissing ProtocolError "the reply leaves out a description of its columns that was never sent"
    UnknownType ProtocolError "a column has a type that the protocol does not know"
    RowTooLong ProtocolError "a row that is to be kept is 16 MiB long or longer"
    Excess ExcessBytes "bytes came without a statement under way"
    Ended ServerShutdown "the server ended the connection"
    NotNow ServerShutdown "the server takes no connection now"
    Refused LoginRefused "the server rejected the log-in"
    TooMany TooManyConnections "the server takes no more connections"
    Resources OutOfResources "the server has no resources left for another connection"
    TooOld LoginRefused "the server speaks a protocol older than that of MySQL 4.1, which sends passwords unsafely"
    NoTls LoginRefused "TLS is required and the server offers none: set up its certificate, or do without TLS"
    UnknownPlugin LoginRefused "the server asks for a way to log in that is not known here"
    OldPassword LoginRefused "the server asks for the insecure password format of before MySQL 4.1: set a new password for the user"
    ClearPassword LoginRefused "the server asks for the password in the clear: use TLS (ssl-mode=REQUIRED) or a Unix socket, or add enable-cleartext-plugin=true to the URL to send it nevertheless"
    UnknownKey LoginRefused "the server requires the password, encrypted with an unverified key: use TLS (ssl-mode=REQUIRED) or a Unix socket, or add get-server-public-key=true to the URL to accept the key"
    BadKey LoginRefused "the server's public key for passwords cannot be used"
    BadSeed ProtocolError "the server's challenge for the log-in has the wrong length"
    CommandRows LoginRefused "init-command returns rows: write statements without rows, such as SET"
    BadSetting LoginRefused "a setting of the session has a name that is none"
}

impl Fault {
    pub(super) fn plain(self) -> PeerFault {
        let (class, sentence) = self.parts();
        PeerFault::new(class, self as u32, sentence)
    }

    pub(super) fn with_first_bytes(self, bytes: &[u8]) -> PeerFault {
        self.plain().with_first_bytes(bytes)
    }

    pub(super) fn with_peer_message(self, said: String) -> PeerFault {
        self.plain().with_peer_message(said)
    }
}

impl From<Fault> for PeerFault {
    fn from(fault: Fault) -> Self {
        fault.plain()
    }
}
