//! The public interface of a PostgreSQL connection.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::entry::{NONCE_BYTES, StartUp};
use super::framing::{Framing, HEAD_BYTES};
use super::kept::Preparation;
use super::outgoing::{self, NamePrefix, Outgoing, TERMINATE, TooLong};
use super::reading::{Awaited, Copying, ReplyParser};
use crate::blame::PeerFault;
use crate::conversation::{Cancel, Greeting};
use crate::sql::{self, Login, RowSink, ServerError, SessionEvent, Statement, Transaction, Value};

/// The client's side of one PostgreSQL connection.
///
/// A kept statement is prepared and described together with its first execution. Its column names are known in later executions
/// only if the first one had a reader of rows. Statements between two calls of [`sql::Session::sync`] are sent together. If one of
/// them fails, the server skips the statements after it, and no event is reported for them. Outside of a transaction block they are
/// committed together at the end, so that a rejection may come after [`SessionEvent::Succeeded`].
///
/// An error that ends the connection is reported as [`SessionEvent::Rejected`], too, even without a statement in flight.
/// [`ServerError::is_fatal`] is then true, and no further reply is expected.
pub struct Session {
    entry: StartUp,
    framing: Framing,
    reading: ReplyParser,
    out: Outgoing,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Outgoing bytes may contain a password.
        f.debug_struct("Session").field("reading", &self.reading).finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session with nothing under way. The nonce must be unpredictable, and different for each session. The name prefix
    /// of prepared statements is derived from it, too.
    pub fn new(login: Arc<Login>, nonce: [u8; NONCE_BYTES]) -> Self {
        Self {
            out: Outgoing::new(NamePrefix::new(&nonce)),
            entry: StartUp::new(login, nonce),
            framing: Framing::default(),
            reading: ReplyParser::default(),
        }
    }

    /// Uses the statement names of `other`. Behind a pooler that shares server connections but does not track statements, the server
    /// rejects the session that prepares a statement second.
    #[must_use]
    pub fn with_statement_names_of(mut self, other: &Self) -> Self {
        self.out.use_names_of(&other.out);
        self
    }

    /// Latest value of a server parameter that is reported by ParameterStatus. `None` if it is not among [`super::SETTINGS_KEPT`],
    /// or was not reported.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.reading.settings.get(name)
    }

    /// Process ID of the server process for this connection, as sent at its start. `None` before.
    pub fn backend_pid(&self) -> Option<u32> {
        self.entry.cancel_key.map(|[process, _]| u32::from_be_bytes(process))
    }

    /// Version string of the server, such as `15.14 (Debian 15.14-0+deb12u1)`. `None` before it was reported.
    pub fn server_version(&self) -> Option<&str> {
        self.setting("server_version")
    }

    /// Number of notices, notifications, and reported parameters since the connection was opened.
    pub fn async_message_count(&self) -> u64 {
        self.reading.async_message_count
    }

    /// Sends a `COPY … FROM STDIN`. Its first event is [`SessionEvent::Send`] with [`Session::is_copy_ready`], which allows
    /// [`Session::copy_data`] and [`Session::copy_done`], or a rejection. [`SessionEvent::Ready`] comes last.
    pub fn copy_in(&mut self, sql: &str) {
        self.out.copied = None;
        self.put_text(sql.as_bytes(), Awaited::CopyIn(Copying::Requested));
    }

    /// Whether the server accepts COPY data now.
    pub fn is_copy_ready(&self) -> bool {
        self.reading.copying() == Some(Copying::Open)
    }

    /// Sends COPY data, split at any byte. Does nothing if [`Session::is_copy_ready`] is false.
    pub fn copy_data(&mut self, bytes: &[u8]) {
        if self.is_copy_ready() {
            self.out.copy_data(bytes);
        }
    }

    /// Ends the COPY data. The server replies with CommandComplete and the number of rows.
    pub fn copy_done(&mut self) {
        if self.is_copy_ready() {
            self.reading.end_copy();
            self.out.copy_done();
        }
    }

    /// Continues if a message arrived partially, or is too long to be kept.
    #[cold]
    fn receive_partial(
        &mut self,
        bytes: &[u8],
        mut used: usize,
        rows: &mut dyn RowSink,
    ) -> Result<(usize, SessionEvent), PeerFault> {
        let Self { framing, reading, out, .. } = self;
        let keeps_rows = rows.needs_rows();
        while used < bytes.len() {
            let needed = |head| reading.needed_bytes(head, keeps_rows);
            let (taken, message) = framing.next(&bytes[used..], needed)?;
            used += taken;
            if let Some(message) = message
                && let Some(event) = reading.take(message, rows, keeps_rows, out)?
            {
                return Ok((used, event));
            }
        }
        Ok((used, SessionEvent::NeedMore))
    }

    fn put_text(&mut self, text: &[u8], awaited: Awaited) {
        match self.out.query(text) {
            Ok(()) => self.reading.await_next(awaited),
            Err(TooLong) => {
                self.reading.await_next(Awaited::Unsent);
                self.out.sync();
            }
        }
        self.reading.await_next(Awaited::Ready);
    }

    /// Sends the preparation of a kept statement, unless it is already prepared on the server.
    fn put_kept(&mut self, statement: Statement<'_>) -> Result<(), TooLong> {
        let Statement { number, text, .. } = statement;
        outgoing::fits(text.len())?;
        let known = self.reading.statements.get(number).map_or(Preparation::Unknown, |kept| kept.stage);
        if known == Preparation::Sent {
            return Ok(());
        }
        if known == Preparation::Doubtful {
            self.out.close_statement(number);
            self.reading.await_next(Awaited::Closed);
        }
        self.out.parse(Some(number), text)?;
        self.out.describe_statement(number);
        self.reading.statements.send(number);
        self.reading.await_next(Awaited::Parsed(Some(number)));
        self.reading.await_next(Awaited::Parameters(number));
        self.reading.await_next(Awaited::Described(Some(number)));
        Ok(())
    }
}

impl sql::Session for Session {
    fn greet(&mut self) -> Greeting {
        self.forget();
        self.entry.greet(&mut self.out)
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        let Self { entry, framing, reading, out } = self;
        if let Some(answer) = entry.take_tls_answer(bytes, out) {
            return answer;
        }
        let mut used = 0;
        while !entry.is_up() && used < bytes.len() {
            let (taken, message) = framing.next(&bytes[used..], |head| entry.needed_bytes(head))?;
            used += taken;
            if let Some(message) = message
                && let Some(greeting) = entry.take(message, reading, out)?
            {
                return Ok((used, greeting));
            }
        }
        Ok((used, if entry.is_up() { Greeting::Done } else { Greeting::Await }))
    }

    fn set_address(&mut self, address: u16) {
        self.entry.set_address(address);
    }

    fn certificate(&mut self, der: &[u8]) {
        self.entry.certificate(der);
    }

    fn secured(&mut self) -> Greeting {
        self.entry.secured(&mut self.out)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        &self.out.bytes
    }

    #[inline]
    fn clear(&mut self) {
        self.out.clear();
    }

    fn query(&mut self, text: &[u8]) {
        self.put_text(text, Awaited::Answers);
    }

    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>) {
        let start = self.out.bytes.len();
        let number = statement.is_kept.then_some(statement.number);
        let prepared = match number {
            Some(_) => self.put_kept(statement),
            None => self.out.parse(None, statement.text),
        };
        let bind_at = self.out.bytes.len();
        if prepared.and_then(|()| self.out.bind(number, &mut values.map(Value::text))).is_err() {
            // A kept statement may have been prepared although its values do not fit.
            let stays = if prepared.is_ok() && number.is_some() { bind_at } else { start };
            self.out.bytes.truncate(stays);
            self.reading.await_next(Awaited::Unsent);
            return;
        }
        if number.is_none() {
            self.reading.await_next(Awaited::Parsed(None));
            self.out.describe_portal();
        }
        self.out.execute();
        self.reading.await_next(Awaited::Bound(number));
        if number.is_none() {
            self.reading.await_next(Awaited::Described(None));
        }
        self.reading.await_next(Awaited::Rows);
    }

    fn load(&mut self, text: &[u8], rows: Vec<u8>) {
        self.out.copied = Some(rows);
        self.put_text(text, Awaited::CopyIn(Copying::Requested));
    }

    #[inline]
    fn sync(&mut self) {
        self.out.sync();
        self.reading.await_next(Awaited::Ready);
    }

    fn received(&mut self, bytes: &[u8], rows: &mut dyn RowSink) -> Result<(usize, SessionEvent), PeerFault> {
        let Self { framing, reading, out, .. } = self;
        if let Some(refused) = reading.reject_unsent() {
            return Ok((0, refused));
        }
        let keeps_rows = rows.needs_rows();
        let mut used = 0;
        // Almost always messages arrive whole, and are parsed without a copy.
        while let Some(message) =
            framing.whole(&bytes[used..], |head| reading.needed_bytes(head, keeps_rows))?
        {
            used += HEAD_BYTES + message.length;
            if let Some(event) = reading.take(message, rows, keeps_rows, out)? {
                return Ok((used, event));
            }
        }
        if used == bytes.len() {
            Ok((used, SessionEvent::NeedMore))
        } else {
            self.receive_partial(bytes, used, rows)
        }
    }

    fn transaction(&self) -> Transaction {
        self.reading.transaction
    }

    fn has_backslash_escapes(&self) -> bool {
        self.reading.settings.get("standard_conforming_strings") == Some("off")
    }

    fn last_error(&self) -> &ServerError {
        &self.reading.server_error
    }

    fn has_begun_reply(&self) -> bool {
        self.reading.has_begun || self.framing.is_within_message()
    }

    fn farewell(&self) -> &[u8] {
        &TERMINATE
    }

    fn cancel(&self) -> Option<Cancel> {
        self.entry.cancel_key.map(|key| Cancel::Bytes(outgoing::cancel(key)))
    }

    fn forget(&mut self) {
        self.out.copied = None;
        self.entry.forget();
        self.framing.forget();
        self.reading.forget();
        self.out.clear();
    }
}
