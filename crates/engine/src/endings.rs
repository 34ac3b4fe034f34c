//! How requests end when there is no reply: classes, outcomes, blame.

use record::Outcome;
use rustix::io::Errno;
use wire::{Blame, Stage};

/// An end without a usable reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) class: &'static str,
    /// Tells endings of one class apart.
    pub(crate) code: u32,
    pub(crate) message: String,
}

/// The class of replies that no request asked for: the replies before them may belong to other requests.
pub(crate) const UNSOLICITED: &str = "unsolicited_reply";
/// The class under which faults of the generator itself are counted, whatever they are.
pub(crate) const GENERATOR_FAULT: &str = "generator_fault";

impl Ending {
    pub(crate) fn failed(class: &'static str, code: u32, message: impl Into<String>) -> Self {
        Self { outcome: Outcome::Failed, class, code, message: message.into() }
    }

    /// No connection came about.
    pub(crate) fn connect(errno: Errno) -> Self {
        let (class, sentence) = match errno {
            _ if blame(errno) == Blame::Us => (GENERATOR_FAULT, "this machine could not open a connection"),
            Errno::CONNREFUSED => ("connect_refused", "the connection was refused"),
            Errno::CONNRESET | Errno::CONNABORTED => {
                ("connect_reset", "the connection was reset while it was opened")
            }
            Errno::TIMEDOUT => ("connect_timeout", "the system gave up connecting"),
            Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::HOSTDOWN | Errno::NETDOWN => {
                ("connect_unreachable", "there is no way to the target")
            }
            Errno::AGAIN => ("connect_backlog_full", "the socket's queue of new connections is full"),
            Errno::NOENT => ("connect_no_socket", "there is no such socket"),
            _ => ("connect_failed", "the connection could not be opened"),
        };
        Self::failed(class, errno.raw_os_error() as u32, format!("{sentence} ({errno})"))
    }

    /// The connection was reset or lost under way. A commit is in doubt whoever lost it.
    pub(crate) fn reset(stage: Stage, is_reused: bool, errno: Errno) -> Self {
        let (class, sentence) = match stage {
            Stage::InDoubt => ("commit_unknown", "the connection was reset while a commit was on its way"),
            _ if blame(errno) == Blame::Us => (GENERATOR_FAULT, "this machine lost the connection"),
            Stage::Idle | Stage::FirstByte if is_reused => {
                ("stale_reuse", "the peer closed a kept-alive connection as it was used again")
            }
            Stage::Idle | Stage::FirstByte => {
                ("reset_before_reply", "the connection was reset before a reply")
            }
            Stage::Head => ("reset_in_head", "the connection was reset within the head of a reply"),
            Stage::Body => ("reset_in_body", "the connection was reset within the body of a reply"),
        };
        Self::failed(class, errno.raw_os_error() as u32, format!("{sentence} ({errno})"))
    }

    /// The connection was reset or lost within the TLS handshake.
    pub(crate) fn handshake_reset(errno: Errno) -> Self {
        let class = if blame(errno) == Blame::Us { GENERATOR_FAULT } else { "tls_reset" };
        let message = format!("the connection was reset within the TLS handshake ({errno})");
        Self::failed(class, errno.raw_os_error() as u32, message)
    }

    /// The peer closed within the TLS handshake.
    pub(crate) fn handshake_closed() -> Self {
        Self::failed("tls_closed", 0, "the peer closed the connection within the TLS handshake")
    }

    /// The connection was reset or lost before the peer was ready for requests.
    pub(crate) fn greeting_reset(errno: Errno) -> Self {
        let class = if blame(errno) == Blame::Us { GENERATOR_FAULT } else { "login_reset" };
        let message = format!("the connection was reset within the log-in ({errno})");
        Self::failed(class, errno.raw_os_error() as u32, message)
    }

    /// The peer closed before it was ready for requests.
    pub(crate) fn greeting_closed() -> Self {
        Self::failed("login_closed", 0, "the peer closed the connection within the log-in")
    }

    /// The greeting cannot go over to TLS.
    pub(crate) fn cannot_secure() -> Self {
        Self::failed("tls_error", 1, "the log-in asks for TLS where there is none to go over to")
    }

    /// The peer spoke in the clear after it had agreed to TLS.
    pub(crate) fn too_early_for_tls() -> Self {
        Self::failed("excess_bytes", 2, "bytes came in the clear where TLS was to begin")
    }

    /// The peer closed while a commit was on its way.
    pub(crate) fn closed_in_doubt() -> Self {
        Self::failed("commit_unknown", 0, "the peer closed the connection while a commit was on its way")
    }

    /// The peer closed between the parts of a request.
    pub(crate) fn closed_between() -> Self {
        Self::failed("incomplete", 1, "the peer closed the connection in the middle of a request")
    }

    /// The peer closed or reset the connection while nothing was awaited of it.
    pub(crate) fn ended_in_pause() -> Self {
        Self::failed(
            "closed_in_pause",
            0,
            "the peer ended the connection, without a word, within a pause of the request",
        )
    }

    /// The peer closed before anything of a reply had come.
    pub(crate) fn closed(is_reused: bool) -> Self {
        if is_reused {
            Self::failed("stale_reuse", 0, "the peer closed a kept-alive connection as it was used again")
        } else {
            Self::failed("closed_before_reply", 0, "the peer closed the connection without a reply")
        }
    }

    /// The peer sent something before it was asked.
    pub(crate) fn too_early() -> Self {
        Self::failed("excess_bytes", 1, "bytes came with the TLS handshake, before any request")
    }

    /// The reply was complete before the request was.
    pub(crate) fn early_reply() -> Self {
        Self::failed("early_reply", 0, "the reply ended before the whole request was sent")
    }

    /// The peer closed within a reply.
    pub(crate) fn incomplete() -> Self {
        Self::failed("incomplete", 0, "the peer closed the connection within a reply")
    }

    /// The deadline passed while something was awaited.
    pub(crate) fn timed_out(class: &'static str, awaited: &str) -> Self {
        Self {
            outcome: Outcome::TimedOut,
            class,
            code: 0,
            message: format!("the deadline passed while waiting for {awaited}"),
        }
    }

    /// The deadline passed while a reply was awaited.
    pub(crate) fn reply_timed_out(stage: Stage) -> Self {
        match stage {
            Stage::Idle | Stage::FirstByte => {
                Self::timed_out("timeout_first_byte", "the first byte of a reply")
            }
            Stage::Head => Self::timed_out("timeout_head", "the rest of a reply's head"),
            Stage::Body => Self::timed_out("timeout_body", "the rest of a reply's body"),
            Stage::InDoubt => Self::timed_out("timeout_in_commit", "the answer to a commit"),
        }
    }
}

/// Whose fault an error of the operating system is.
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
    fn limits_of_this_machine_are_never_the_targets_fault() {
        for errno in [Errno::MFILE, Errno::ADDRNOTAVAIL, Errno::NOBUFS] {
            assert_eq!(Ending::connect(errno).class, GENERATOR_FAULT);
            assert_eq!(Ending::reset(Stage::Body, true, errno).class, GENERATOR_FAULT);
        }
        assert_eq!(Ending::connect(Errno::CONNREFUSED).class, "connect_refused");
    }
}
