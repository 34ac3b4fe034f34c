//! Endings of requests without a usable reply: their error class, outcome, and message.

use record::{Blame, ErrorClass, Outcome};
use rustix::io::Errno;
use wire::{PeerFault, Stage};

use crate::link::State;

/// End of a request without a usable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) class: ErrorClass,
    /// Code that distinguishes errors of one class, such as an error number of the system.
    pub(crate) code: u32,
    pub(crate) message: String,
}

impl Ending {
    /// Creates an ending whose outcome follows from its class.
    pub(crate) fn new(class: ErrorClass, code: u32, message: impl Into<String>) -> Self {
        let outcome = class.outcome().unwrap_or(Outcome::Failed);
        Self { outcome, class, code, message: message.into() }
    }

    /// Creates the ending for a peer that broke the protocol or accepts no requests now.
    pub(crate) fn fault(fault: &PeerFault) -> Self {
        Self::new(fault.class, fault.code, fault.message())
    }

    /// Creates the ending for a connection that could not be established.
    pub(crate) fn connect(errno: Errno) -> Self {
        let (class, sentence) = match errno {
            _ if blame(errno) == Blame::Us => {
                (ErrorClass::GeneratorFault, "this machine could not open a connection")
            }
            Errno::CONNREFUSED => (ErrorClass::ConnectRefused, "the connection was refused"),
            Errno::CONNRESET | Errno::CONNABORTED => {
                (ErrorClass::ConnectReset, "the connection was reset while it was opened")
            }
            Errno::TIMEDOUT => (ErrorClass::ConnectTimeout, "the system gave up connecting"),
            Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::NETDOWN => {
                (ErrorClass::ConnectUnreachable, "there is no route to the target")
            }
            Errno::AGAIN => (ErrorClass::ConnectBacklogFull, "the socket's queue of new connections is full"),
            Errno::NOENT => (ErrorClass::ConnectNoSocket, "there is no such socket"),
            _ => (ErrorClass::ConnectFailed, "the connection could not be opened"),
        };
        Self::new(class, errno.raw_os_error() as u32, format!("{sentence} ({errno})"))
    }

    /// Creates the ending for a connection that was reset or lost during a request. A commit in flight is in doubt, regardless of which
    /// side lost the connection.
    pub(crate) fn reset(stage: Stage, is_stale: bool, errno: Errno) -> Self {
        let (class, sentence) = match stage {
            Stage::InDoubt => {
                (ErrorClass::CommitUnknown, "the connection was reset while a commit was on its way")
            }
            _ if blame(errno) == Blame::Us => {
                (ErrorClass::GeneratorFault, "this machine lost the connection")
            }
            Stage::Idle | Stage::FirstByte if is_stale => (
                ErrorClass::StaleReuse,
                "the peer closed a kept-alive connection before the request reached it",
            ),
            Stage::Idle | Stage::FirstByte => {
                (ErrorClass::ResetBeforeReply, "the connection was reset before a reply")
            }
            Stage::Head => (ErrorClass::ResetInHead, "the connection was reset within the head of a reply"),
            Stage::Body => (ErrorClass::ResetInBody, "the connection was reset within the body of a reply"),
        };
        Self::new(class, errno.raw_os_error() as u32, format!("{sentence} ({errno})"))
    }

    /// Creates the ending for a connection that was reset or lost during the TLS handshake.
    pub(crate) fn handshake_reset(errno: Errno) -> Self {
        let class = if blame(errno) == Blame::Us { ErrorClass::GeneratorFault } else { ErrorClass::TlsReset };
        let message = format!("the connection was reset within the TLS handshake ({errno})");
        Self::new(class, errno.raw_os_error() as u32, message)
    }

    /// Creates the ending for a peer that closed the connection during the TLS handshake.
    pub(crate) fn handshake_closed() -> Self {
        Self::new(ErrorClass::TlsClosed, 0, "the peer closed the connection within the TLS handshake")
    }

    /// Creates the ending for a connection that was reset or lost before the peer was ready for requests.
    pub(crate) fn greeting_reset(errno: Errno) -> Self {
        let class =
            if blame(errno) == Blame::Us { ErrorClass::GeneratorFault } else { ErrorClass::LoginReset };
        let message = format!("the connection was reset within the log-in ({errno})");
        Self::new(class, errno.raw_os_error() as u32, message)
    }

    /// Creates the ending for a peer that closed the connection before it was ready for requests.
    pub(crate) fn greeting_closed() -> Self {
        Self::new(ErrorClass::LoginClosed, 0, "the peer closed the connection within the log-in")
    }

    /// Creates the ending for a greeting that asks for TLS when TLS is not configured or already active.
    pub(crate) fn tls_not_configured() -> Self {
        Self::new(ErrorClass::TlsError, 1, "the log-in asks for TLS where there is none to go over to")
    }

    /// Creates the ending for a peer that sent unencrypted bytes after it had agreed to TLS.
    pub(crate) fn too_early_for_tls() -> Self {
        Self::new(ErrorClass::ExcessBytes, 2, "unencrypted bytes arrived where TLS was expected")
    }

    /// Creates the ending for a peer that closed the connection while a commit was in flight.
    pub(crate) fn closed_in_doubt() -> Self {
        Self::new(
            ErrorClass::CommitUnknown,
            0,
            "the peer closed the connection while a commit was on its way",
        )
    }

    /// Creates the ending for a peer that closed the connection between the parts of a request.
    pub(crate) fn closed_between() -> Self {
        Self::new(ErrorClass::Incomplete, 1, "the peer closed the connection during a request")
    }

    /// Creates the ending for a peer that closed or reset the connection during a pause within a request, while no reply was awaited.
    pub(crate) fn ended_in_pause() -> Self {
        Self::new(
            ErrorClass::ClosedInPause,
            0,
            "the peer ended the connection, without a word, within a pause of the request",
        )
    }

    /// Creates the ending for a peer that closed the connection before the first byte of a reply. `is_stale`: a kept connection was closed
    /// before the request reached the peer.
    pub(crate) fn closed(is_stale: bool) -> Self {
        if is_stale {
            Self::new(
                ErrorClass::StaleReuse,
                0,
                "the peer closed a kept-alive connection before the request reached it",
            )
        } else {
            Self::new(ErrorClass::ClosedBeforeReply, 0, "the peer closed the connection without a reply")
        }
    }

    /// Creates the ending for a peer that accepts no requests on a connection that it has just accepted.
    pub(crate) fn accepts_no_requests() -> Self {
        Self::new(ErrorClass::ClosedBeforeReply, 1, "the peer takes no requests on a new connection")
    }

    /// Creates the ending for a peer that sent bytes together with the TLS handshake, before any request.
    pub(crate) fn unsolicited_after_handshake() -> Self {
        Self::new(ErrorClass::ExcessBytes, 1, "bytes came with the TLS handshake, before any request")
    }

    /// Creates the ending for a reply that was complete before the request was sent completely.
    pub(crate) fn early_reply() -> Self {
        Self::new(ErrorClass::EarlyReply, 0, "the reply ended before the whole request was sent")
    }

    /// Creates the ending for a peer that closed the connection within a reply.
    pub(crate) fn incomplete() -> Self {
        Self::new(ErrorClass::Incomplete, 0, "the peer closed the connection within a reply")
    }

    /// Creates the ending for a deadline that passed while waiting for `awaited`.
    pub(crate) fn timed_out(class: ErrorClass, awaited: &str) -> Self {
        Self::new(class, 0, format!("the deadline passed while waiting for {awaited}"))
    }

    /// Creates the ending for a deadline that passed before the link was up.
    pub(crate) fn opening_timed_out(state: &State) -> Self {
        match state {
            State::Shaking { .. } => Self::timed_out(ErrorClass::TimeoutTls, "the TLS handshake"),
            State::Greeting { .. } => Self::timed_out(ErrorClass::TimeoutLogin, "the log-in"),
            _ => Self::timed_out(ErrorClass::TimeoutConnect, "a connection"),
        }
    }

    /// Creates the ending for a deadline that passed while waiting for a reply.
    pub(crate) fn reply_timed_out(stage: Stage) -> Self {
        match stage {
            Stage::Idle | Stage::FirstByte => {
                Self::timed_out(ErrorClass::TimeoutFirstByte, "the first byte of a reply")
            }
            Stage::Head => Self::timed_out(ErrorClass::TimeoutHead, "the rest of a reply's head"),
            Stage::Body => Self::timed_out(ErrorClass::TimeoutBody, "the rest of a reply's body"),
            Stage::InDoubt => Self::timed_out(ErrorClass::TimeoutInCommit, "the answer to a commit"),
        }
    }
}

/// Returns the party responsible for an operating system error.
fn blame(errno: Errno) -> Blame {
    match errno {
        Errno::MFILE
        | Errno::NFILE
        | Errno::NOBUFS
        | Errno::NOMEM
        | Errno::ADDRNOTAVAIL
        | Errno::ADDRINUSE => Blame::Us,
        _ => Blame::Network,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_this_machine_are_generator_faults() {
        for errno in [Errno::MFILE, Errno::ADDRNOTAVAIL, Errno::NOBUFS] {
            assert_eq!(Ending::connect(errno).class, ErrorClass::GeneratorFault);
            assert_eq!(Ending::reset(Stage::Body, true, errno).class, ErrorClass::GeneratorFault);
        }
        assert_eq!(Ending::connect(Errno::CONNREFUSED).class, ErrorClass::ConnectRefused);
    }
}
