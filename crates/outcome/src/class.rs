//! Error classes, each with outcome, responsible party, description, and advice.
//!
//! The table in `docs/measurement.md`, the explanations in reports, and the outcome of requests without a reply derive from this list. A
//! released name never changes, because stores, JSON, and user-defined conditions contain it.

use alloc::string::String;
use core::fmt;

use crate::Outcome;

/// Party responsible for a request that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// Tenbin or its machine: out of file descriptors, ports, or memory.
    Us,
    /// The peer violated the protocol.
    Peer,
    /// The network: connection refused, unreachable, or reset.
    Network,
    /// The system under test understood the request and rejected it.
    SaidNo,
    /// The time-out expired before the reply was complete.
    GaveUp,
}

impl Blame {
    /// Returns the name used in reports and in the documentation.
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

macro_rules! classes {
    ($($class:ident $name:literal $outcome:ident $blame:ident $words:literal $help:literal;)*) => {
        /// Class of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ErrorClass {
            $(
                #[doc = concat!("`", $name, "`: ", $words, ".")]
                $class,
            )*
        }

        impl ErrorClass {
            /// All classes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$class),*];

            const fn entry(self) -> &'static Entry {
                const ENTRIES: &[Entry] = &[$(Entry {
                    name: $name,
                    outcome: classes!(@ $outcome),
                    blame: Blame::$blame,
                    words: $words,
                    help: $help,
                }),*];
                &ENTRIES[self as usize]
            }
        }
    };
    (@ Nothing) => { None };
    (@ $outcome:ident) => { Some(Outcome::$outcome) };
}

/// Entry of the list of classes.
struct Entry {
    name: &'static str,
    outcome: Option<Outcome>,
    blame: Blame,
    words: &'static str,
    help: &'static str,
}

impl ErrorClass {
    /// Returns the class with this name. `None` if only another version knows the name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.name() == name)
    }

    /// Returns the name used in stores and reports, such as `timeout_body`.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the outcome of a request with this error. `None` if the error is counted separately and ends no request.
    pub const fn outcome(self) -> Option<Outcome> {
        self.entry().outcome
    }

    /// Returns whether the peer answered with an invalid or incomplete reply of the protocol.
    pub const fn is_broken_reply(self) -> bool {
        matches!(
            self,
            Self::ProtocolError
                | Self::Incomplete
                | Self::HeaderLimit
                | Self::ExcessBytes
                | Self::UnsolicitedReply
        )
    }

    /// Returns the party responsible for the error.
    pub const fn blame(self) -> Blame {
        self.entry().blame
    }

    /// Returns a description of the event for users, in Markdown without a full stop.
    pub const fn words(self) -> &'static str {
        self.entry().words
    }

    /// Returns advice that starts with a verb, in Markdown without a full stop.
    pub const fn help(self) -> &'static str {
        self.entry().help
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Class of a recorded error. Keeps names that only a newer version knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassName {
    /// Class that this version knows.
    Known(ErrorClass),
    /// Name that is not in the list of this version.
    Unknown(String),
}

impl ClassName {
    /// Returns the name as stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(class) => class.name(),
            Self::Unknown(name) => name,
        }
    }

    /// Returns the class. `None` if only another version knows it.
    pub fn known(&self) -> Option<ErrorClass> {
        match self {
            Self::Known(class) => Some(*class),
            Self::Unknown(_) => None,
        }
    }
}

impl From<ErrorClass> for ClassName {
    fn from(class: ErrorClass) -> Self {
        Self::Known(class)
    }
}

impl From<String> for ClassName {
    fn from(name: String) -> Self {
        match ErrorClass::of(&name) {
            Some(class) => Self::Known(class),
            None => Self::Unknown(name),
        }
    }
}

impl From<&str> for ClassName {
    fn from(name: &str) -> Self {
        Self::from(String::from(name))
    }
}

impl PartialOrd for ClassName {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders classes by name.
impl Ord for ClassName {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

classes! {
    Status "status" Rejected SaidNo "the status is not one of the accepted ones"
        "read the server's log for this status; if it is right, accept it (`--expect-status`, `expect` in a plan)";
    CheckHeader "check_header" Rejected SaidNo "a header is missing, or does not contain what it should"
        "compare one reply, as from `curl -i`, with the check";
    CheckBody "check_body" Rejected SaidNo "the body does not contain or match what it should; only its first part is looked at"
        "compare one reply, as from `curl`, with the check";
    CheckSize "check_size" Rejected SaidNo "the body is smaller or larger than it should be"
        "compare the size of one reply with the check";
    Capture "capture" Rejected SaidNo "a value to be saved is not there, is not JSON, is no text or number, or is longer than 64 KiB"
        "compare one reply with what the step saves";
    SerializationFailure "serialization_failure" Rejected SaidNo "a transaction cannot be serialized with others: SQLSTATE 40001; MySQL 1020; MongoDB 112"
        "allow more tries (`--max-tries`), lower the isolation level, or let fewer users change the same rows";
    Deadlock "deadlock" Rejected SaidNo "transactions wait for each other's locks: SQLSTATE 40P01; MySQL 1213"
        "allow more tries (`--max-tries`), or take locks in the same order in every transaction";
    LockTimeout "lock_timeout" Rejected SaidNo "a lock did not come free in time: SQLSTATE 55P03; MySQL 1205"
        "let fewer users change the same rows, or raise the lock time-out of the server";
    Constraint "constraint" Rejected SaidNo "SQLSTATE 23…: a key that is there already, a row that is not; MongoDB 11000, 121"
        "load the tables again, or draw keys that do not collide";
    TooManyConnections "too_many_connections" Rejected SaidNo "the server takes no more connections: SQLSTATE 53300; MySQL 1040; `ERR max number of clients reached` of Redis"
        "raise `max_connections` of the server, or use fewer connections";
    OutOfResources "out_of_resources" Rejected SaidNo "any other SQLSTATE 53…: memory, disk; `OOM` and `MISCONF` of Redis; MongoDB 14031, 146, 264, 292; `SERVER_ERROR out of memory` of memcached"
        "free memory or disk of the server, or lower the load";
    Canceled "canceled" Rejected SaidNo "the statement was canceled: SQLSTATE 57014; MySQL 1317, 3024; `UNBLOCKED` of Redis; MongoDB 50, 237, 262, 11601"
        "look for a statement time-out of the server, or for who cancels statements";
    ReadOnly "read_only" Rejected SaidNo "the server takes no changes: SQLSTATE 25006; MySQL 1290; `READONLY` of Redis"
        "name the primary in the URL instead of a replica, or end the server's read-only mode";
    BadStatement "bad_statement" Rejected SaidNo "a statement that no state of the database makes right, such as one with a slip in its syntax: any other SQLSTATE 42…; of Redis an unknown command, a wrong number of arguments, `EXECABORT`, and `CROSSSLOT`; MongoDB 2, 9, 14, 59, 72, 73, and others; `ERROR` and `CLIENT_ERROR` of memcached"
        "correct the statement where the message says, or run it by hand";
    MissingObject "missing_object" Rejected SaidNo "a database, table, column, index, or function does not exist: SQLSTATE 3D000, 3F000, 42P01, 42703, 42704, 42883; MySQL 1049, 1054, 1146, 1305, and others of SQLSTATE 42…; SQLite's `no such …`; `NOSCRIPT` and `NOGROUP` of Redis; MongoDB 11, 26, 27, 43"
        "create it before the load, or correct its name in the statement or the database in the URL";
    ObjectExists "object_exists" Rejected SaidNo "an object to be created exists: SQLSTATE 42P04, 42P06, 42P07, 42701, 42710, 42723; MySQL 1007, 1050, 1060, 1061, 1304, 1359; `BUSYGROUP` and `BUSYKEY` of Redis; MongoDB 48, 68, 85, 86"
        "create it once before the load, drop it first, or write `IF NOT EXISTS`";
    MissingPrivilege "missing_privilege" Rejected SaidNo "the user may not do it: SQLSTATE 42501, 28…, 0L…, 0P…; MySQL 1044, 1045, 1142, 1143, 1227, 1370, and others; `NOAUTH` and `NOPERM` of Redis; MongoDB 13, 18"
        "grant the privilege to the user in the URL, or log in as another user";
    LimitReached "limit_reached" Rejected SaidNo "a limit or quota was reached: SQLSTATE 53400, 54…; MySQL 1104, 1226 (quota of the user), 1390, 1436, 1461 (`max_prepared_stmt_count`); `object too large for cache` of memcached"
        "raise the limit that the message names, or ask for less: fewer connections, prepared statements, or columns";
    PreparedStatement "prepared_statement" Rejected SaidNo "a prepared statement is not there, is there already, or became invalid: SQLSTATE 26000, 42P05; MySQL 1243, 1615"
        "behind a pooler, write `-M extended`, or use a pooler that tracks prepared statements (PgBouncer 1.21 or newer, in transaction mode with `max_prepared_statements`); else look for `DEALLOCATE` or changed tables";
    PoolerRejected "pooler_rejected" Rejected SaidNo "a connection exception from something between, such as a pooler: SQLSTATE 08…"
        "look in the log of the pooler or proxy for its limits (PgBouncer: `max_client_conn`, `query_wait_timeout`), its pool mode, and whether it reaches the database";
    RedirectLimit "redirect_limit" Rejected SaidNo "more redirects in a row than `redirects` allows"
        "look for a redirect that leads back to itself, such as a log-in that did not succeed, or raise `redirects`";
    RedirectTarget "redirect_target" Rejected SaidNo "a redirect, or a saved URL at the start of a path, to another host, port, or scheme, or a redirect to a location longer than 8 KiB: the load stays on the server of the plan"
        "write the `url` as the server names itself, set the header `Host` that it expects, or leave out `redirects` and expect the status";
    ServerShutdown "server_shutdown" Rejected SaidNo "the server shut down, or its administrator ended the connection: SQLSTATE 57P01 to 57P03; MySQL 1053, 1077, 1079, 1080, 1927; MongoDB 91, 11600"
        "look in the server's log for why it stopped or who ended the connection";
    IdleTimeout "idle_timeout" Rejected SaidNo "the server ended a connection that was idle for too long: SQLSTATE 25P03, 57P05; MySQL 4031"
        "shorten the pauses, or raise the idle time-out of the server";
    Corrupted "corrupted" Rejected SaidNo "the server found its own data damaged: SQLSTATE XX001, XX002; MySQL 1033 to 1035, 1194, 1195, 1712, 1877; SQLITE_CORRUPT, SQLITE_NOTADB"
        "restore the data, and test the disk";
    SqlError "sql_error" Rejected SaidNo "any other error of a statement"
        "look up the SQLSTATE, or the server's number, that the message begins with";
    WrongType "wrong_type" Rejected SaidNo "the key holds a value of another type than the command works on: `WRONGTYPE` of Redis; `incr` of a text in memcached"
        "name keys of the type of the command, or delete those that other loads left behind";
    Moved "moved" Rejected SaidNo "the key belongs to another node of a cluster: `MOVED` and `ASK` of Redis, which are followed only with `cluster=true`, up to 16 times, and to nodes that the cluster named before the load"
        "add `?cluster=true` to the URL, use keys with one hash tag (`{…}`), or a server that is no cluster";
    CrossSlot "cross_slot" Rejected SaidNo "the keys of a command belong to several slots of a cluster: `CROSSSLOT` of Redis"
        "give the keys of a command one hash tag, such as `{user:1}:name` and `{user:1}:mail`";
    MovedFollowed "moved_followed" Nothing SaidNo "a command was sent once more to the node that `MOVED` named: it counts as that ended, and this next to it"
        "see whether slots moved between nodes, or a replica became master";
    AskFollowed "ask_followed" Nothing SaidNo "a command was sent once more to the node that `ASK` named: it counts as that ended, and this next to it"
        "slots were moving between nodes; measure again when none move";
    NotPrimary "not_primary" Rejected SaidNo "the server is not, or no longer, the primary of its replica set: codes 10107, 13435, 13436, 189, and 11602 of MongoDB; a replica of Redis where the master is asked for"
        "name all members of the set in `url`, and the set in `replicaSet`: connections then go to the primary; behind a Sentinel, wait until it has promoted a replica";
    WrongRole "wrong_role" Rejected SaidNo "no server of the URL is in the state that `target_session_attrs` requires, such as a primary"
        "name all servers in the URL, and wait until one is promoted, or remove `target_session_attrs`";
    NotReady "not_ready" Rejected SaidNo "the server cannot serve commands now: `LOADING`, `BUSY`, `CLUSTERDOWN`, `MASTERDOWN`, `NOREPLICAS`, and `TRYAGAIN` of Redis; MongoDB 6, 64, 79, 89, 94, 100, 133, 13388"
        "wait until the server has loaded its data, end the script that keeps it busy, or bring the missing nodes back, as the message says";
    CommandError "command_error" Rejected SaidNo "any other error that answers a command of Redis, MongoDB, or memcached"
        "run the command by hand, as with `redis-cli` or `mongosh`";
    Rows "rows" Rejected SaidNo "the rows are not as many as expected"
        "run the statement by hand, and compare its rows with the check";
    RolledBack "rolled_back" Rejected SaidNo "a commit was answered with a rollback: nothing was committed"
        "look for a statement of the transaction that failed before its commit";
    ScriptStopped "script_stopped" Rejected SaidNo "a `\\gset` has not the row it asks for: the user of a closed load who has it makes no further request"
        "make the statement return exactly one row, or use `\\aset`";
    OpenTransaction "open_transaction" Rejected SaidNo "the script ended inside a transaction"
        "end the script with a commit or a rollback";
    LoginRefused "login_refused" Nothing SaidNo "the log-in was rejected, or cannot be made: the load ends without another attempt"
        "correct user, password, and database of the URL, or the server's rules for log-ins";
    CommitUnknown "commit_unknown" Failed Network "the connection was lost while the answer to a commit was awaited: it may have taken effect"
        "allow for these transactions when you compare the database with the counts";
    ConnectRefused "connect_refused" Failed Network "nothing listens on the port"
        "see whether the server still runs, and listens on this port";
    ConnectReset "connect_reset" Failed Network "reset while the connection was opened"
        "raise the server's queue of new connections, or open them more slowly";
    ConnectTimeout "connect_timeout" Failed Network "the kernel gave up connecting, before our deadline"
        "see whether a firewall drops packets, or the server's queue of new connections is full";
    ConnectUnreachable "connect_unreachable" Failed Network "there is no route to the host or its network"
        "correct the address, or the routes of this machine";
    ConnectBacklogFull "connect_backlog_full" Failed Network "the queue of a Unix socket is full"
        "raise the server's queue of new connections (its backlog, and `net.core.somaxconn`)";
    ConnectNoSocket "connect_no_socket" Failed Network "the Unix socket does not exist"
        "correct the path of the socket, or start the server";
    ConnectFailed "connect_failed" Failed Network "any other error of connecting"
        "look up the error of the operating system in the message";
    LoginClosed "login_closed" Failed Peer "closed within the log-in of a database"
        "look in the server's log for why it ended the log-in";
    LoginReset "login_reset" Failed Network "reset within the log-in"
        "look in the server's log for why it ended the log-in, and at proxies on the way";
    StaleReuse "stale_reuse" Failed Network "the peer closed an idle kept-alive connection, and the request did not reach it: TCP acknowledged none of its bytes"
        "raise the server's keep-alive time-out, or its limit of requests per connection";
    StaleRetried "stale_retried" Nothing Network "a request was sent once more on a new connection instead of `stale_reuse` (`--retry-stale`): it counts as its second attempt ended, and this next to it"
        "raise the server's keep-alive time-out, or its limit of requests per connection";
    ResetBeforeReply "reset_before_reply" Failed Network "reset before anything of a reply; the server may have received the request"
        "look in the server's log for a crash, a restart, or a limit on connections";
    ResetInHead "reset_in_head" Failed Network "reset within the head of a reply"
        "look in the server's log for a crash or a restart";
    ResetInBody "reset_in_body" Failed Network "reset within the body of a reply"
        "look in the server's log for a crash or a restart";
    ClosedBeforeReply "closed_before_reply" Failed Peer "closed without a reply after the request was received"
        "look in the server's log for a crash, a restart, or a limit on connections";
    ClosedInPause "closed_in_pause" Failed Peer "the connection was closed or reset, without a word, within a pause of a transaction, as MariaDB does after `wait_timeout`"
        "shorten the pauses, or raise the idle time-out of the server";
    Incomplete "incomplete" Failed Peer "closed within a reply"
        "look in the server's log for a crash, or a wrong `Content-Length`";
    ProtocolError "protocol_error" Failed Peer "the reply breaks its protocol; the message says how"
        "see whether the URL names the right server and protocol; else report it to the makers of the server";
    HeaderLimit "header_limit" Failed Peer "a head or trailers above 64 KiB, or more than 256 header lines"
        "make the server send fewer or shorter headers";
    NotCanceled "not_canceled" Nothing Network "the statement of a request that timed out could not be ended on the server, and may still run there: the request counts as timed out, and this next to it"
        "keep a connection of the server free for canceling, or set a statement time-out there";
    ExcessBytes "excess_bytes" Failed Peer "bytes after the end of a reply; on an idle connection no request is affected"
        "look for a wrong `Content-Length`, or a body after a status that has none";
    UnsolicitedReply "unsolicited_reply" Failed Peer "a reply that no request asked for: earlier replies are in doubt"
        "look for code of the server that answers twice; believe no figure of this run";
    EarlyReply "early_reply" Failed Peer "a reply with a status below 400 ended before the whole request was sent"
        "make the server read the whole request before it answers";
    TlsUnknownIssuer "tls_unknown_issuer" Failed Peer "no trusted authority signed the certificate"
        "name the authority with `--cacert`, or do not verify with `--insecure`";
    TlsWrongHost "tls_wrong_host" Failed Peer "the certificate is for another name"
        "use the name of the certificate in the URL";
    TlsExpired "tls_expired" Failed Peer "the certificate is no longer valid"
        "renew the certificate, or correct the clock of this machine";
    TlsNotYetValid "tls_not_yet_valid" Failed Peer "the certificate is not valid yet"
        "correct the clock of this machine, or wait";
    TlsRevoked "tls_revoked" Failed Peer "the certificate was revoked"
        "renew the certificate";
    TlsCertificate "tls_certificate" Failed Peer "any other fault of the certificate"
        "make a new certificate: the message says what is wrong with this one";
    TlsIncompatible "tls_incompatible" Failed Peer "no common version or cipher"
        "allow TLS 1.2 or 1.3 and a modern cipher on the server";
    TlsClosed "tls_closed" Failed Peer "closed during the handshake"
        "see whether this port speaks TLS, and look in the server's log";
    TlsReset "tls_reset" Failed Network "reset during the handshake"
        "see whether this port speaks TLS, and look in the server's log";
    TlsAlert "tls_alert" Failed Peer "the peer ended TLS with an alert"
        "look up the alert in the message, and the server's log; if the server asks for a client certificate, present it with `--cert` and `--key`";
    TlsProtocol "tls_protocol" Failed Peer "the peer broke TLS"
        "see whether this port speaks TLS";
    TlsError "tls_error" Failed Peer "any other fault of TLS"
        "look in the server's log for its side of the handshake";
    TimeoutConnect "timeout_connect" TimedOut GaveUp "no connection within the deadline"
        "see whether the server accepts connections fast enough; its queue of new ones may be full";
    TimeoutTls "timeout_tls" TimedOut GaveUp "no end of the handshake within the deadline"
        "see whether this port speaks TLS; else use fewer new connections, which cost the server the most";
    TimeoutLogin "timeout_login" TimedOut GaveUp "no end of the log-in within the deadline"
        "see whether the server is overloaded, or looks up names of clients";
    TimeoutSend "timeout_send" TimedOut GaveUp "the target did not take the whole request"
        "see whether the server reads bodies of this size; else raise `--timeout`";
    TimeoutFirstByte "timeout_first_byte" TimedOut GaveUp "nothing of a reply came"
        "lower the load, see what the server waits for, or raise `--timeout`";
    TimeoutHead "timeout_head" TimedOut GaveUp "the rest of the head did not come"
        "see what the server waits for, or raise `--timeout`";
    TimeoutBody "timeout_body" TimedOut GaveUp "the rest of the body did not come"
        "see what the server waits for, or raise `--timeout`";
    TimeoutStatement "timeout_statement" TimedOut GaveUp "a statement of a database within this process (SQLite) was not over by the deadline; it was interrupted"
        "add an index, lower the load, or raise `--timeout`";
    TimeoutInCommit "timeout_in_commit" TimedOut GaveUp "the answer to a commit did not come: it may have taken effect"
        "allow for these transactions when you compare the database with the counts";
    ToolError "tool_error" Failed Network "another load generator reports a failed request, of a kind that has no class here"
        "read its own words in the message, and run its command by hand";
    ToolTimeout "tool_timeout" TimedOut GaveUp "another load generator reports a request that took longer than its timeout"
        "lower the load, or raise the timeout in the command of the tool";
    GeneratorFault "generator_fault" Failed Us "this machine is out of ports, descriptors or memory; the run is invalid"
        "raise the limit that the message names (`ulimit -n`, the range of ports), or use fewer connections";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_texts_are_whole() {
        for class in ErrorClass::ALL.iter().copied() {
            // A lookup returns the first class with a name, so it returns the class itself only if no name is listed twice.
            assert_eq!(ErrorClass::of(class.name()), Some(class));
            assert!(class.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{class}");
            for text in [class.words(), class.help()] {
                assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{class}: {text}");
            }
        }
        assert_eq!(ErrorClass::of("others"), None);
    }

    #[test]
    fn blame_and_outcome_agree() {
        for class in ErrorClass::ALL {
            let by_blame = match class.blame() {
                Blame::SaidNo => Outcome::Rejected,
                Blame::GaveUp => Outcome::TimedOut,
                Blame::Us | Blame::Peer | Blame::Network => Outcome::Failed,
            };
            assert!(class.outcome().is_none_or(|outcome| outcome == by_blame), "{class}");
        }
    }

    #[test]
    fn names_of_other_versions_are_kept() {
        assert_eq!(ClassName::from("status"), ClassName::Known(ErrorClass::Status));
        let newer = ClassName::from("quota_exceeded");
        assert_eq!((newer.as_str(), newer.known()), ("quota_exceeded", None));
    }
}
