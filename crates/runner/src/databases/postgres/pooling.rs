//! Detects poolers that share server connections between transactions, with two clients that are connected at the same time.
//!
//! ```text
//!   first client    P 0     P 1   B 0  P 2    …      P n: prepares statement n and executes it
//!   second client       P 0     P 1        P 2  …      B 0: executes statement 0 again
//! ```
//!
//! The result of each statement is the process that executes it. A process that served both clients is shared. Both clients use equal names
//! for statement n. A pooler that does not track statements prepares it twice in one server connection, or executes it in one that does not
//! have it. The server rejects both.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::iter;
use std::time::Duration;

use engine::BlockingConnection;
use wire::postgres::Session;
use wire::sql::{RowSink, Session as _, SessionEvent, SqlState, Statement};

use crate::database_check::ServerQueries;
use crate::pooling::Pooling;
use crate::protocol::nonce;

/// Number of statements of each client. Poolers hand out server connections last in, first out, or round-robin. The repeated
/// statement in every other round shifts a round-robin order, so that both clients meet in pools of any usual size.
const ROUNDS: u16 = 6;
/// Reply timeout. A pooler in session mode has no server connection for the second client if its pool is full.
const REPLY_WITHIN: Duration = Duration::from_secs(2);
const BUFFER_BYTES: usize = 4096;

const SELECT_PID: &str = "SELECT pg_backend_pid()";

/// `invalid_sql_statement_name` and `duplicate_prepared_statement`.
const NAME_ERRORS: [SqlState; 2] = [SqlState(*b"26000"), SqlState(*b"42P05")];

/// Detects how a pooler shares its server connections. `None` if each client keeps its connection, or if the pooler does not serve two
/// clients at the same time.
pub(super) fn recognize(queries: &ServerQueries<'_>) -> Option<Pooling> {
    let session = || Some(Session::new(queries.login.clone(), nonce().ok()?));
    let first = session()?;
    let second = session()?.with_statement_names_of(&first);
    let mut clients = [Client::log_in(queries, first)?, Client::log_in(queries, second)?];
    let mut served = [BTreeSet::new(), BTreeSet::new()];
    for round in 0..ROUNDS {
        let repeated = (round % 2 == 1).then_some((0, 0));
        for (client, number) in [(0, round), (1, round)].into_iter().chain(repeated) {
            match clients[client].execute(number)? {
                Reply::Pid(pid) => _ = served[client].insert(pid),
                Reply::Rejected(state) if NAME_ERRORS.contains(&state) => {
                    return Some(Pooling { tracks_statements: false });
                }
                Reply::Rejected(_) => return None,
            }
        }
    }
    let is_shared = !served[0].is_disjoint(&served[1]);
    is_shared.then_some(Pooling { tracks_statements: true })
}

struct Client {
    line: BlockingConnection,
    session: Session,
}

enum Reply {
    /// Process that served the statement, as text.
    Pid(String),
    Rejected(SqlState),
}

impl Client {
    /// Connects and logs in. `None` if that fails.
    fn log_in(queries: &ServerQueries<'_>, mut session: Session) -> Option<Self> {
        let line =
            BlockingConnection::open_logged_in(queries.peer, &mut session, queries.timeout.min(REPLY_WITHIN))
                .ok()?;
        Some(Self { line, session })
    }

    /// Executes a prepared statement by number, and prepares it first if this client did not. `None` without a reply.
    fn execute(&mut self, number: u16) -> Option<Reply> {
        let Self { line, session } = self;
        session.clear();
        session.execute(Statement { number, text: SELECT_PID, is_kept: true }, &mut iter::empty());
        session.sync();
        line.write_all(session.outgoing()).ok()?;
        let (mut buffer, mut bytes, mut used) = (vec![0; BUFFER_BYTES], 0..0, 0);
        let (mut pid, mut rejected) = (Pid::default(), None);
        loop {
            let (taken, event) = session.received(&buffer[bytes.start + used..bytes.end], &mut pid).ok()?;
            used += taken;
            match event {
                SessionEvent::NeedMore => {
                    bytes = 0..line.read(&mut buffer).ok().filter(|count| *count > 0)?;
                    used = 0;
                }
                SessionEvent::Rejected => {
                    let error = session.last_error();
                    rejected = Some(error.sqlstate).filter(|_| !error.is_fatal);
                    rejected?;
                }
                SessionEvent::Ready => break,
                SessionEvent::Send | SessionEvent::Succeeded { .. } | SessionEvent::RolledBack => {}
            }
        }
        Some(rejected.map_or(Reply::Pid(pid.0), Reply::Rejected))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Best effort: the connection is closed anyway.
        let _ = self.line.write_all(self.session.farewell());
    }
}

#[derive(Default)]
struct Pid(String);

impl RowSink for Pid {
    fn needs_rows(&self) -> bool {
        true
    }

    fn value(&mut self, _column: u16, value: Option<&[u8]>) {
        self.0 = String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    }
}
