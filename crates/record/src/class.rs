//! Every class of error: the outcome it belongs to, who is to blame, what it means, and what to do.
//!
//! The table in `docs/measurement.md`, the explanations in reports, and the outcome of what ends without a reply derive from
//! this list. A name, once released, never changes: stores, JSON, and conditions of users have it. It is written here, and in
//! `wire::class`, which knows nothing of records; a test of the workspace compares both.

use crate::outcome::Outcome;

/// The five parties that can be to blame when a request does not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// This program or its machine: out of descriptors, ports or memory.
    Us,
    /// The peer broke the protocol.
    Peer,
    /// The way there: refused, unreachable, reset.
    Network,
    /// The system understood and said no.
    SaidNo,
    /// We stopped waiting.
    GaveUp,
}

impl Blame {
    /// In words, as reports and the documentation have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Peer => "peer",
            Self::Network => "network",
            Self::SaidNo => "said no",
            Self::GaveUp => "gave up",
        }
    }
}

/// A class of error.
#[derive(Debug, PartialEq, Eq)]
pub struct Class {
    /// What stores and reports call it.
    pub name: &'static str,
    /// How a request of this class ended; `None`: it is noted with requests, and ends none.
    pub outcome: Option<Outcome>,
    /// Whose fault it is.
    pub blame: Blame,
    /// What happened, for people; Markdown, without a full stop.
    pub words: &'static str,
    /// What to do about it; Markdown, a verb first, without a full stop.
    pub help: &'static str,
}

impl Class {
    /// The class of this name.
    pub fn of(name: &str) -> Option<&'static Self> {
        CLASSES.iter().copied().find(|class| class.name == name)
    }
}

macro_rules! classes {
    ($($constant:ident $name:literal $outcome:ident $blame:ident $words:literal $help:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $words, ".")]
            pub static $constant: Class = Class {
                name: $name,
                outcome: classes!(@ $outcome),
                blame: Blame::$blame,
                words: $words,
                help: $help,
            };
        )*

        /// All classes, in the order of the documentation.
        pub static CLASSES: &[&Class] = &[$(&$constant),*];
    };
    (@ Nothing) => { None };
    (@ $outcome:ident) => { Some(Outcome::$outcome) };
}

classes! {
    STATUS "status" Rejected SaidNo "the status is not one of the accepted ones"
        "read the server's log for this status; if it is right, accept it (`--expect-status`, `expect` in a plan)";
    CHECK_HEADER "check_header" Rejected SaidNo "a header is missing, or does not contain what it should"
        "compare one reply, as from `curl -i`, with the check";
    CHECK_BODY "check_body" Rejected SaidNo "the body does not contain or match what it should; only its first part is looked at, and a compressed body is not unpacked"
        "compare one reply, as from `curl`, with the check";
    CHECK_SIZE "check_size" Rejected SaidNo "the body is smaller or larger than it should be"
        "compare the size of one reply with the check";
    CAPTURE "capture" Rejected SaidNo "a value to be saved is not there, is not JSON, is no text or number, or is longer than 64 KiB"
        "compare one reply with what the step saves";
    SERIALIZATION_FAILURE "serialization_failure" Rejected SaidNo "a transaction cannot be serialized with others: SQLSTATE 40001; MySQL 1020"
        "allow more tries (`--max-tries`), lower the isolation level, or let fewer users change the same rows";
    DEADLOCK "deadlock" Rejected SaidNo "transactions wait for each other's locks: SQLSTATE 40P01; MySQL 1213"
        "allow more tries (`--max-tries`), or take locks in the same order in every transaction";
    LOCK_TIMEOUT "lock_timeout" Rejected SaidNo "a lock did not come free in time: SQLSTATE 55P03; MySQL 1205"
        "let fewer users change the same rows, or raise the lock time-out of the server";
    CONSTRAINT "constraint" Rejected SaidNo "SQLSTATE 23…: a key that is there already, a row that is not"
        "load the tables again, or draw keys that do not collide";
    TOO_MANY_CONNECTIONS "too_many_connections" Rejected SaidNo "the server takes no more connections: SQLSTATE 53300; MySQL 1040"
        "raise `max_connections` of the server, or use fewer connections";
    OUT_OF_RESOURCES "out_of_resources" Rejected SaidNo "any other SQLSTATE 53…: memory, disk"
        "free memory or disk of the server, or lower the load";
    CANCELED "canceled" Rejected SaidNo "the statement was canceled: SQLSTATE 57014; MySQL 1317, 3024"
        "look for a statement time-out of the server, or for who cancels statements";
    READ_ONLY "read_only" Rejected SaidNo "the server takes no changes: SQLSTATE 25006; MySQL 1290"
        "name the primary in the URL instead of a replica, or end the server's read-only mode";
    BAD_STATEMENT "bad_statement" Rejected SaidNo "SQLSTATE 42…: syntax, a table that is not there, a right that is missing"
        "correct the statement, create the tables, or grant the right";
    SERVER_SHUTDOWN "server_shutdown" Rejected SaidNo "the server shut down, or its administrator ended the connection: SQLSTATE 57P01 to 57P03; MySQL 1053, 1077, 1079, 1080, 1927"
        "look in the server's log for why it stopped or who ended the connection";
    IDLE_TIMEOUT "idle_timeout" Rejected SaidNo "the server ended a connection that was idle for too long: SQLSTATE 25P03, 57P05; MySQL 4031"
        "shorten the pauses, or raise the idle time-out of the server";
    CORRUPTED "corrupted" Rejected SaidNo "the server found its own data damaged: SQLSTATE XX001, XX002; MySQL 1033 to 1035, 1194, 1195, 1712, 1877; SQLITE_CORRUPT, SQLITE_NOTADB"
        "restore the data, and test the disk";
    SQL_ERROR "sql_error" Rejected SaidNo "any other error of a statement"
        "look up the SQLSTATE, or the server's number, that the message begins with";
    ROWS "rows" Rejected SaidNo "the rows are not as many as expected"
        "run the statement by hand, and compare its rows with the check";
    ROLLED_BACK "rolled_back" Rejected SaidNo "a commit was answered with a rollback: nothing was committed"
        "look for a statement of the transaction that failed before its commit";
    SCRIPT_STOPPED "script_stopped" Rejected SaidNo "a `\\gset` has not the row it asks for: the user of a closed load who has it makes no further request"
        "make the statement return exactly one row, or use `\\aset`";
    OPEN_TRANSACTION "open_transaction" Rejected SaidNo "the script ended inside a transaction"
        "end the script with a commit or a rollback";
    LOGIN_REFUSED "login_refused" Nothing SaidNo "the log-in was rejected, or is none that can be made: the load ends, and nobody is asked again"
        "correct user, password, and database of the URL, or the server's rules for log-ins";
    COMMIT_UNKNOWN "commit_unknown" Failed Network "the connection was lost while the answer to a commit was awaited: it may have taken effect"
        "allow for these transactions when you compare the database with the counts";
    CONNECT_REFUSED "connect_refused" Failed Network "nobody listens there"
        "see whether the server still runs, and listens on this port";
    CONNECT_RESET "connect_reset" Failed Network "reset while the connection was opened"
        "raise the server's queue of new connections, or open them more slowly";
    CONNECT_TIMEOUT "connect_timeout" Failed Network "the kernel gave up connecting, before our deadline"
        "see whether a firewall drops packets, or the server's queue of new connections is full";
    CONNECT_UNREACHABLE "connect_unreachable" Failed Network "there is no way to the host or its network"
        "correct the address, or the routes of this machine";
    CONNECT_BACKLOG_FULL "connect_backlog_full" Failed Network "the queue of a Unix socket is full"
        "raise the server's queue of new connections (its backlog, and `net.core.somaxconn`)";
    CONNECT_NO_SOCKET "connect_no_socket" Failed Network "the Unix socket does not exist"
        "correct the path of the socket, or start the server";
    CONNECT_FAILED "connect_failed" Failed Network "any other error of connecting"
        "look up the error of the operating system in the message";
    LOGIN_CLOSED "login_closed" Failed Peer "closed within the log-in of a database"
        "look in the server's log for why it ended the log-in";
    LOGIN_RESET "login_reset" Failed Network "reset within the log-in"
        "look in the server's log for why it ended the log-in, and at proxies on the way";
    STALE_REUSE "stale_reuse" Failed Network "the peer closed a kept-alive connection as it was used again"
        "raise the server's keep-alive time-out, or its limit of requests per connection";
    RESET_BEFORE_REPLY "reset_before_reply" Failed Network "reset on a fresh connection before anything of a reply"
        "look in the server's log for a crash, a restart, or a limit on connections";
    RESET_IN_HEAD "reset_in_head" Failed Network "reset within the head of a reply"
        "look in the server's log for a crash or a restart";
    RESET_IN_BODY "reset_in_body" Failed Network "reset within the body of a reply"
        "look in the server's log for a crash or a restart";
    CLOSED_BEFORE_REPLY "closed_before_reply" Failed Peer "closed on a fresh connection without a reply"
        "look in the server's log for a crash, a restart, or a limit on connections";
    CLOSED_IN_PAUSE "closed_in_pause" Failed Peer "the connection was closed or reset, without a word, within a pause of a transaction, as MariaDB does after `wait_timeout`"
        "shorten the pauses, or raise the idle time-out of the server";
    INCOMPLETE "incomplete" Failed Peer "closed within a reply"
        "look in the server's log for a crash, or a wrong `Content-Length`";
    PROTOCOL_ERROR "protocol_error" Failed Peer "the reply breaks its protocol; the message says how"
        "see whether the URL names the right server and protocol; else report it to the makers of the server";
    HEADER_LIMIT "header_limit" Failed Peer "a head or trailers above 64 KiB, or more than 256 header lines"
        "make the server send fewer or shorter headers";
    NOT_CANCELED "not_canceled" Nothing Network "the statement of a request that timed out could not be ended on the server, and may still run there: the request counts as timed out, and this next to it"
        "keep a connection of the server free for canceling, or set a statement time-out there";
    EXCESS_BYTES "excess_bytes" Failed Peer "bytes after the end of a reply; on an idle connection no request is affected"
        "look for a wrong `Content-Length`, or a body after a status that has none";
    UNSOLICITED_REPLY "unsolicited_reply" Failed Peer "a reply that no request asked for: earlier replies are in doubt"
        "look for code of the server that answers twice; believe no figure of this run";
    EARLY_REPLY "early_reply" Failed Peer "a reply with a status below 400 ended before the whole request was sent"
        "make the server read the whole request before it answers";
    TLS_UNKNOWN_ISSUER "tls_unknown_issuer" Failed Peer "no trusted authority signed the certificate"
        "name the authority with `--cacert`, or do not verify with `--insecure`";
    TLS_WRONG_HOST "tls_wrong_host" Failed Peer "the certificate is for another name"
        "use the name of the certificate in the URL";
    TLS_EXPIRED "tls_expired" Failed Peer "the certificate is no longer valid"
        "renew the certificate, or correct the clock of this machine";
    TLS_NOT_YET_VALID "tls_not_yet_valid" Failed Peer "the certificate is not valid yet"
        "correct the clock of this machine, or wait";
    TLS_REVOKED "tls_revoked" Failed Peer "the certificate was revoked"
        "renew the certificate";
    TLS_CERTIFICATE "tls_certificate" Failed Peer "any other fault of the certificate"
        "make a new certificate: the message says what is wrong with this one";
    TLS_INCOMPATIBLE "tls_incompatible" Failed Peer "no common version or cipher"
        "allow TLS 1.2 or 1.3 and a modern cipher on the server";
    TLS_CLOSED "tls_closed" Failed Peer "closed during the handshake"
        "see whether this port speaks TLS, and look in the server's log";
    TLS_RESET "tls_reset" Failed Network "reset during the handshake"
        "see whether this port speaks TLS, and look in the server's log";
    TLS_ALERT "tls_alert" Failed Peer "the peer ended TLS with an alert"
        "look up the alert in the message, and the server's log";
    TLS_PROTOCOL "tls_protocol" Failed Peer "the peer broke TLS"
        "see whether this port speaks TLS";
    TLS_ERROR "tls_error" Failed Peer "any other fault of TLS"
        "look in the server's log for its side of the handshake";
    TIMEOUT_CONNECT "timeout_connect" TimedOut GaveUp "no connection within the deadline"
        "see whether the server accepts connections fast enough; its queue of new ones may be full";
    TIMEOUT_TLS "timeout_tls" TimedOut GaveUp "no end of the handshake within the deadline"
        "see whether this port speaks TLS; else use fewer new connections, which cost the server the most";
    TIMEOUT_LOGIN "timeout_login" TimedOut GaveUp "no end of the log-in within the deadline"
        "see whether the server is overloaded, or looks up names of clients";
    TIMEOUT_SEND "timeout_send" TimedOut GaveUp "the target did not take the whole request"
        "see whether the server reads bodies of this size; else raise `--timeout`";
    TIMEOUT_FIRST_BYTE "timeout_first_byte" TimedOut GaveUp "nothing of a reply came"
        "lower the load, see what the server waits for, or raise `--timeout`";
    TIMEOUT_HEAD "timeout_head" TimedOut GaveUp "the rest of the head did not come"
        "see what the server waits for, or raise `--timeout`";
    TIMEOUT_BODY "timeout_body" TimedOut GaveUp "the rest of the body did not come"
        "see what the server waits for, or raise `--timeout`";
    TIMEOUT_STATEMENT "timeout_statement" TimedOut GaveUp "a statement of a database within this process (SQLite) was not over by the deadline; it was interrupted"
        "add an index, lower the load, or raise `--timeout`";
    TIMEOUT_IN_COMMIT "timeout_in_commit" TimedOut GaveUp "the answer to a commit did not come: it may have taken effect"
        "allow for these transactions when you compare the database with the counts";
    GENERATOR_FAULT "generator_fault" Failed Us "this machine is out of ports, descriptors or memory; the run is invalid"
        "raise the limit that the message names (`ulimit -n`, the range of ports), or use fewer connections";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_once_and_texts_are_whole() {
        for (place, class) in CLASSES.iter().enumerate() {
            assert!(
                Class::of(class.name).is_some_and(|found| core::ptr::eq(found, *class)),
                "{}",
                class.name
            );
            assert!(!CLASSES[..place].iter().any(|other| other.name == class.name), "{} twice", class.name);
            assert!(
                class.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
                "{}",
                class.name
            );
            for text in [class.words, class.help] {
                assert!(
                    !text.is_empty() && !text.ends_with('.') && !text.contains('\n'),
                    "{}: {text}",
                    class.name
                );
            }
        }
        assert_eq!(Class::of("others"), None);
    }

    #[test]
    fn blame_and_outcome_agree() {
        for class in CLASSES {
            let by_blame = match class.blame {
                Blame::SaidNo => Outcome::Rejected,
                Blame::GaveUp => Outcome::TimedOut,
                Blame::Us | Blame::Peer | Blame::Network => Outcome::Failed,
            };
            assert!(class.outcome.is_none_or(|outcome| outcome == by_blame), "{}", class.name);
        }
    }
}
