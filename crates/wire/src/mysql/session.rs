//! A session on one connection, from the server's greeting to the rows of its replies.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::fault::Fault;
use super::incoming::{ERROR, Head, Packet, PacketInterest, PacketReader};
use super::log_in::{LogIn, LogInAction, LogInContext};
use super::nonce::Nonce;
use super::outgoing::{HEADER_BYTES, PAYLOAD_BYTES_MAX, put};
use super::reading::{Form, Outcome, Prepared, ReplyParser};
use super::server_error;
use super::work::{self, Command, CommandKind, Known, PendingCommand, Queue, StatementId, Values};
use crate::blame::PeerFault;
use crate::conversation::{Cancel, Greeting};
use crate::serial::Serial;
use crate::sql::{
    self, FixedQuery, Login, RowSink, ServerError, SessionEvent, SqlState, Statement, Transaction, Value,
};

/// Max length of a packet before the log-in is complete.
const GREETING_BYTES_MAX: usize = 64 * 1024;
/// Max capacity of the output buffer between commands.
const OUTGOING_CAPACITY_MAX: usize = 1024 * 1024;
/// Max length of an error packet that a server may send unasked.
const UNSOLICITED_BYTES_MAX: usize = 4 * 1024;
const QUIT: [u8; 5] = [1, 0, 0, 0, 1];
/// Error number for a KILL whose connection has already ended.
const UNKNOWN_THREAD: u16 = 1094;
/// Errors for an unknown statement, and for a statement that must be prepared again: the server has dropped the prepared statement.
const STALE_STATEMENT_ERRORS: [u16; 2] = [1243, 1615];
/// Error number for a statement that the server executes only as text, such as BEGIN in MySQL.
const NOT_PREPARABLE: u16 = 1295;

/// The client's side of one connection to MySQL or MariaDB.
///
/// Commands are sent one at a time, each after the reply to the previous one. After an error, waiting commands are dropped up to
/// the next [`sql::Session::sync`].
pub struct Session {
    login: Arc<Login>,
    nonce: Nonce,
    /// Whether the transport protects against eavesdropping even without TLS.
    has_private_transport: bool,
    is_private: bool,
    log_in: LogIn,
    /// Whether TLS was requested, and starts when the request has been sent.
    is_securing: bool,
    outgoing: Vec<u8>,
    incoming: PacketReader,
    /// Beginning of bytes that arrived without a command in flight.
    unsolicited: Vec<u8>,
    reading: ReplyParser,
    /// Command that awaits a reply.
    in_flight: Option<Command>,
    /// Execution that follows when its statement is prepared.
    prepares: Option<PendingCommand>,
    queue: Queue,
    /// Whether commands are skipped because of an earlier error.
    skips_commands: bool,
    /// Number of [`SessionEvent::Ready`] to report now.
    ready_pending: u32,
    /// Kept statements, indexed by their numbers.
    known: Vec<Option<Known>>,
    /// Numbers of kept statements that the server does not prepare. They are sent as text.
    unprepared: Vec<u16>,
    /// Statement in flight that is not kept.
    unkept: Option<Known>,
    /// Commands that close statements on the server; sent before the next command.
    closing: Vec<u8>,
    values: Values,
    offers_local_files: bool,
    local_file: Option<Vec<u8>>,
    rejected_local_file: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Outgoing bytes may contain a password.
        f.debug_struct("Session")
            .field("log_in", &self.log_in)
            .field("reading", &self.reading)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// Creates a session that logs in with these parameters. `nonce` must be random, and different for each session.
    pub fn new(login: Arc<Login>, nonce: [u8; 18]) -> Self {
        Self {
            login,
            nonce: Nonce::of(nonce),
            has_private_transport: false,
            is_private: false,
            log_in: LogIn::new(),
            is_securing: false,
            outgoing: Vec::new(),
            incoming: PacketReader::default(),
            unsolicited: Vec::new(),
            reading: ReplyParser::default(),
            in_flight: None,
            prepares: None,
            queue: Queue::new(),
            skips_commands: false,
            ready_pending: 0,
            known: Vec::new(),
            unprepared: Vec::new(),
            unkept: None,
            closing: Vec::new(),
            values: Values::default(),
            offers_local_files: false,
            local_file: None,
            rejected_local_file: false,
        }
    }

    /// Marks the transport as safe from eavesdropping, such as a Unix socket, so that the password may be sent in plain text.
    #[must_use]
    pub fn on_private_transport(self) -> Self {
        Self { has_private_transport: true, is_private: true, ..self }
    }

    /// Allows `LOAD DATA LOCAL INFILE`, with the content given by [`Session::local_infile`].
    #[must_use]
    pub fn with_local_infile(self) -> Self {
        Self { offers_local_files: true, ..self }
    }

    /// Sets the content for the next `LOAD DATA LOCAL INFILE`, regardless of its file name. Such a statement fails if no content is set, or
    /// without [`Session::with_local_infile`].
    pub fn local_infile(&mut self, content: Vec<u8>) {
        self.local_file = Some(content);
    }

    /// Version string of the server, such as `8.0.36` or `10.11.14-MariaDB-0+deb12u2`. Empty before its greeting.
    pub fn server_version(&self) -> &str {
        self.log_in.server.as_ref().map_or("", |server| &server.version)
    }

    /// Whether the server is MariaDB rather than MySQL.
    pub fn is_mariadb(&self) -> bool {
        self.server_version().contains("MariaDB")
    }

    /// Connection ID on the server, the argument of `KILL QUERY`; 0 before the server's greeting.
    pub fn connection_id(&self) -> u32 {
        self.log_in.server.as_ref().map_or(0, |server| server.connection_id)
    }

    /// Replaces the outgoing bytes with one packet that continues the sequence of received packets.
    fn reply_with(&mut self, payload: &[u8]) {
        self.outgoing.clear();
        let next = put(&mut self.outgoing, self.incoming.sequence(), |out| out.extend_from_slice(payload));
        self.incoming.expect(next);
    }

    /// Applies an action of the log-in to the connection. `None` if it waits for the next packet.
    fn apply_log_in_action(&mut self, step: LogInAction) -> Option<Greeting> {
        match step {
            LogInAction::Await => return None,
            LogInAction::Send(payload) => self.reply_with(&payload),
            LogInAction::Ask(payload) => {
                self.incoming.expect(0);
                self.reply_with(&payload);
            }
            LogInAction::Secure(payload) => {
                self.is_securing = true;
                self.reply_with(&payload);
            }
            LogInAction::Done => {
                self.reading.set_capabilities(self.log_in.capabilities);
                self.reading.note_status(self.log_in.status);
                self.outgoing.clear();
                return Some(Greeting::Done);
            }
        }
        Some(Greeting::Send)
    }

    /// Starts TLS once its request has been sent. `bytes` is the last byte of the greeting, presented again.
    fn begin_tls(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        match bytes {
            [] => Ok((0, Greeting::Await)),
            [_] => {
                self.is_securing = false;
                Ok((1, Greeting::Secure))
            }
            [_, early @ ..] => Err(Fault::EarlyBytes.with_first_bytes(early)),
        }
    }

    fn is_free(&self) -> bool {
        self.in_flight.is_none() && self.queue.is_empty()
    }

    /// Appends the pending close commands to the outgoing bytes.
    fn flush_closing(&mut self) {
        self.outgoing.append(&mut self.closing);
    }

    fn begin(&mut self, command: Command, reply_sequence: u8) {
        self.incoming.expect(reply_sequence);
        match command.what {
            CommandKind::Query => self.reading.begin(Form::Text),
            CommandKind::Prepare(_) => self.reading.begin_prepare(),
            CommandKind::Execute(which) => {
                self.swap_columns(which);
                self.reading.begin(Form::Binary);
            }
        }
        self.rejected_local_file = false;
        self.in_flight = Some(command);
    }

    fn known_statement(&mut self, which: StatementId) -> Option<&mut Known> {
        if which.is_kept {
            self.known.get_mut(usize::from(which.number))?.as_mut()
        } else {
            self.unkept.as_mut()
        }
    }

    /// Swaps the cached column definitions of a statement with those of the parser, before and after its execution.
    fn swap_columns(&mut self, which: StatementId) {
        if !self.reading.caches_metadata() {
            return;
        }
        let mut columns = core::mem::take(&mut self.reading.columns);
        if let Some(known) = self.known_statement(which) {
            core::mem::swap(&mut known.columns, &mut columns);
        }
        self.reading.columns = columns;
    }

    /// Begins the oldest waiting command.
    fn begin_next(&mut self) -> Option<SessionEvent> {
        let waiting = self.queue.pop_front()?;
        self.outgoing.clear();
        self.begin_waiting(waiting);
        Some(SessionEvent::Send)
    }

    fn begin_waiting(&mut self, mut waiting: PendingCommand) {
        self.flush_closing();
        let PendingCommand { command, packets, reply_sequence, text } = &mut waiting;
        let (what, syncs, sequence) = (command.what, command.syncs, *reply_sequence);
        match what {
            CommandKind::Prepare(which) => {
                if which.is_kept && self.unprepared.contains(&which.number) {
                    let sequence = work::put_query(&mut self.outgoing, text.as_bytes());
                    self.begin(Command { what: CommandKind::Query, syncs }, sequence);
                } else if let Some(known) = self.known_statement(which).filter(|_| which.is_kept) {
                    work::set_id(packets, known.id);
                    self.outgoing.extend_from_slice(packets);
                    self.begin(Command { what: CommandKind::Execute(which), syncs }, sequence);
                } else {
                    let sequence = work::put_prepare(&mut self.outgoing, text.as_bytes());
                    self.prepares = Some(waiting);
                    self.begin(Command { what, syncs }, sequence);
                }
            }
            CommandKind::Query | CommandKind::Execute(_) => {
                self.outgoing.extend_from_slice(packets);
                self.begin(Command { what, syncs }, sequence);
            }
        }
    }

    /// Executes the statement that was just prepared.
    fn execute_prepared(&mut self, which: StatementId, prepared: Prepared) -> SessionEvent {
        if prepared.placeholders != which.values {
            return self.reject_values(which, prepared);
        }
        let columns = core::mem::take(&mut self.reading.columns);
        let known = Known { id: prepared.id, columns };
        if which.is_kept {
            let place = usize::from(which.number);
            if self.known.len() <= place {
                self.known.resize_with(place + 1, || None);
            }
            self.known[place] = Some(known);
        } else {
            self.unkept = Some(known);
        }
        self.outgoing.clear();
        let syncs = self.in_flight.as_ref().map_or(0, |command| command.syncs);
        if let Some(PendingCommand { mut packets, reply_sequence, .. }) = self.prepares.take() {
            work::set_id(&mut packets, prepared.id);
            self.outgoing.append(&mut packets);
            self.begin(Command { what: CommandKind::Execute(which), syncs }, reply_sequence);
        }
        SessionEvent::Send
    }

    /// Sends the statement as text after the server has refused to prepare its kind of statement, as drivers do. `None` for other errors,
    /// and for statements with values.
    fn send_unprepared(&mut self) -> Option<SessionEvent> {
        let Some(Command { what: CommandKind::Prepare(which), syncs }) = self.in_flight else { return None };
        if self.reading.server_error.number != NOT_PREPARABLE || which.values > 0 {
            return None;
        }
        let waiting = self.prepares.take()?;
        if which.is_kept {
            self.unprepared.push(which.number);
        }
        self.outgoing.clear();
        let sequence = work::put_query(&mut self.outgoing, waiting.text.as_bytes());
        self.begin(Command { what: CommandKind::Query, syncs }, sequence);
        Some(SessionEvent::Send)
    }

    /// Rejects an execution with a wrong number of values: the server would mix up values, or read past the last one.
    fn reject_values(&mut self, which: StatementId, prepared: Prepared) -> SessionEvent {
        work::put_close(&mut self.closing, prepared.id);
        self.reading.server_error = ServerError {
            sqlstate: SqlState(*b"07001"),
            text: format!(
                "the statement has {} placeholders and was given {} values",
                prepared.placeholders, which.values
            ),
            ..ServerError::default()
        };
        self.end(true);
        SessionEvent::Rejected
    }

    /// Ends the command in flight.
    fn end(&mut self, is_refused: bool) {
        let Some(command) = self.in_flight.take() else { return };
        self.prepares = None;
        self.local_file = None;
        if let CommandKind::Execute(which) = command.what {
            self.swap_columns(which);
            if let Some(known) = self.unkept.take() {
                work::put_close(&mut self.closing, known.id);
            }
            if is_refused
                && which.is_kept
                && STALE_STATEMENT_ERRORS.contains(&self.reading.server_error.number)
            {
                self.known.get_mut(usize::from(which.number)).and_then(Option::take);
            }
        }
        let mut syncs = command.syncs;
        while is_refused && syncs == 0 {
            match self.queue.pop_front() {
                Some(left_out) => syncs = left_out.command.syncs,
                None => {
                    self.skips_commands = true;
                    break;
                }
            }
        }
        self.ready_pending += syncs;
    }

    /// Translates a packet's result to an event of the command in flight. `None` if there is none.
    fn event_of_outcome(&mut self, outcome: Outcome) -> Option<SessionEvent> {
        match outcome {
            Outcome::More => None,
            Outcome::Ended { is_last, .. } if self.rejected_local_file => {
                self.reading.server_error = ServerError {
                    sqlstate: SqlState(*b"HY000"),
                    text: "the server asked for a local file, which it was not given".to_owned(),
                    ..ServerError::default()
                };
                self.rejected_local_file = false;
                if is_last {
                    self.end(true);
                }
                Some(SessionEvent::Rejected)
            }
            Outcome::Ended { rows, has_rows, is_last } => {
                if is_last {
                    self.end(false);
                }
                Some(SessionEvent::Succeeded { rows, has_rows })
            }
            Outcome::Refused => {
                if let Some(event) = self.send_unprepared() {
                    return Some(event);
                }
                self.end(true);
                if self.reading.server_error.is_fatal {
                    // The connection ends here: no further command is answered or accepted.
                    self.queue.clear();
                    self.ready_pending = 0;
                }
                Some(SessionEvent::Rejected)
            }
            Outcome::LocalFile => {
                self.send_local_file();
                Some(SessionEvent::Send)
            }
            Outcome::Prepared(prepared) => match self.in_flight {
                Some(Command { what: CommandKind::Prepare(which), .. }) => {
                    Some(self.execute_prepared(which, prepared))
                }
                _ => None,
            },
        }
    }

    /// Sends the content of the local file, then an empty packet as its end. Without a content, sends only the empty packet.
    fn send_local_file(&mut self) {
        let content = self.local_file.take().filter(|_| self.offers_local_files);
        self.rejected_local_file = content.is_none();
        self.outgoing.clear();
        let mut sequence = self.incoming.sequence();
        for piece in content.as_deref().unwrap_or_default().chunks(PAYLOAD_BYTES_MAX - HEADER_BYTES) {
            sequence = put(&mut self.outgoing, sequence, |out| out.extend_from_slice(piece));
        }
        sequence = put(&mut self.outgoing, sequence, |_| {});
        self.incoming.expect(sequence);
    }

    /// Handles bytes that arrive while no command is in flight: only an error from a server that closes the connection is valid. The bytes
    /// are buffered, so that the result does not depend on how they were split. A command that is sent meanwhile does not mistake them for
    /// its reply.
    #[cold]
    fn unsolicited(&mut self, bytes: &[u8]) -> Result<(usize, SessionEvent), PeerFault> {
        let before = self.unsolicited.len();
        self.unsolicited.extend_from_slice(&bytes[..bytes.len().min(HEADER_BYTES + UNSOLICITED_BYTES_MAX)]);
        let Some((&[a, b, c, _], rest)) = self.unsolicited.split_first_chunk() else {
            return Ok((bytes.len(), SessionEvent::NeedMore));
        };
        let payload_bytes = u32::from_le_bytes([a, b, c, 0]) as usize;
        let is_error = rest.first().is_none_or(|first| *first == ERROR);
        if !is_error || !(1..=UNSOLICITED_BYTES_MAX).contains(&payload_bytes) {
            return Err(Fault::Excess.with_first_bytes(bytes));
        }
        let Some(payload) = rest.get(..payload_bytes) else {
            return Ok((bytes.len(), SessionEvent::NeedMore));
        };
        let server_error =
            server_error::read(payload).ok_or_else(|| Fault::Excess.with_first_bytes(bytes))?;
        self.reading.server_error = ServerError { is_fatal: true, ..server_error };
        self.unsolicited.clear();
        Ok((HEADER_BYTES + payload_bytes - before, SessionEvent::Rejected))
    }
}

impl sql::Session for Session {
    fn greet(&mut self) -> Greeting {
        self.forget();
        Greeting::Await
    }

    fn greeted(&mut self, bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        if self.is_securing {
            return self.begin_tls(bytes);
        }
        let mut used = 0;
        loop {
            let packet_interest = |head: Head| {
                if head.payload_bytes > GREETING_BYTES_MAX {
                    Err(Fault::Oversized)
                } else {
                    Ok(PacketInterest::Whole)
                }
            };
            let (taken, packet) = match self.incoming.take(&bytes[used..], packet_interest) {
                Ok(taken) => taken,
                Err(_) if self.log_in.awaits_greeting() => {
                    return Err(Fault::NotMysql.with_first_bytes(bytes));
                }
                Err(fault) => return Err(fault),
            };
            used += taken;
            let Packet::Whole(payload) = packet else { return Ok((used, Greeting::Await)) };
            let context = LogInContext {
                login: &self.login,
                nonce: &self.nonce,
                is_private: self.is_private,
                offers_local_files: self.offers_local_files,
            };
            let step = self.log_in.packet(payload, context)?;
            if let Some(greeting) = self.apply_log_in_action(step) {
                // Keeps back the last byte for the next call, which proves that no other bytes arrive between the TLS request and
                // TLS.
                return Ok((used - usize::from(self.is_securing), greeting));
            }
        }
    }

    fn secured(&mut self) -> Greeting {
        self.is_private = true;
        let context = LogInContext {
            login: &self.login,
            nonce: &self.nonce,
            is_private: true,
            offers_local_files: self.offers_local_files,
        };
        match self.log_in.secured(context) {
            Some(payload) => {
                self.reply_with(&payload);
                Greeting::Send
            }
            None => Greeting::Await,
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    fn clear(&mut self) {
        self.outgoing.clear();
        self.outgoing.shrink_to(OUTGOING_CAPACITY_MAX);
    }

    fn query(&mut self, text: &[u8]) {
        let command = Command { what: CommandKind::Query, syncs: 1 };
        if self.skips_commands {
            self.sync();
        } else if self.is_free() {
            self.flush_closing();
            let sequence = work::put_query(&mut self.outgoing, text);
            self.begin(command, sequence);
        } else {
            let mut packets = Vec::new();
            let reply_sequence = work::put_query(&mut packets, text);
            self.queue.push_back(PendingCommand { command, packets, reply_sequence, text: String::new() });
        }
    }

    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = Value<'_>>) {
        if self.skips_commands {
            return;
        }
        let mut taken = core::mem::take(&mut self.values);
        taken.take(values);
        let Statement { number, text, is_kept } = statement;
        let which = StatementId { number, is_kept, values: taken.count };
        let is_free = self.is_free();
        if is_free {
            self.flush_closing();
        }
        let known = if is_free && is_kept { self.known_statement(which).map(|known| known.id) } else { None };
        if let Some(id) = known {
            let sequence = work::put_execute(&mut self.outgoing, id, &taken);
            self.begin(Command { what: CommandKind::Execute(which), syncs: 0 }, sequence);
        } else {
            let mut packets = Vec::new();
            let reply_sequence = work::put_execute(&mut packets, 0, &taken);
            let command = Command { what: CommandKind::Prepare(which), syncs: 0 };
            let waiting = PendingCommand { command, packets, reply_sequence, text: text.to_owned() };
            if is_free {
                self.begin_waiting(waiting);
            } else {
                self.queue.push_back(waiting);
            }
        }
        self.values = taken;
    }

    fn allow_loads(&mut self) {
        self.offers_local_files = true;
    }

    fn load(&mut self, text: &[u8], rows: Vec<u8>) {
        self.local_file = Some(rows);
        sql::Session::query(self, text);
    }

    fn sync(&mut self) {
        let last = self.queue.back_mut().map(|waiting| &mut waiting.command).or(self.in_flight.as_mut());
        match last {
            Some(command) => command.syncs += 1,
            None => self.ready_pending += 1,
        }
        self.skips_commands = false;
    }

    fn received(&mut self, bytes: &[u8], rows: &mut dyn RowSink) -> Result<(usize, SessionEvent), PeerFault> {
        if self.ready_pending > 0 {
            self.ready_pending -= 1;
            return Ok((0, SessionEvent::Ready));
        }
        if !self.unsolicited.is_empty() {
            return self.unsolicited(bytes);
        }
        if self.in_flight.is_none() {
            return match self.begin_next() {
                Some(event) => Ok((0, event)),
                None if bytes.is_empty() => Ok((0, SessionEvent::NeedMore)),
                None => self.unsolicited(bytes),
            };
        }
        let wants_rows = rows.needs_rows();
        let mut used = 0;
        loop {
            let (taken, packet) =
                self.incoming.take(&bytes[used..], |head| self.reading.packet_interest(head, wants_rows))?;
            used += taken;
            let outcome = match packet {
                Packet::NeedMore => return Ok((used, SessionEvent::NeedMore)),
                Packet::Continue => continue,
                Packet::Skipped => self.reading.skipped(),
                Packet::Whole(payload) => {
                    self.reading.packet(payload, rows).map_err(|fault| fault.with_first_bytes(payload))?
                }
            };
            if let Some(event) = self.event_of_outcome(outcome) {
                return Ok((used, event));
            }
        }
    }

    fn transaction(&self) -> Transaction {
        self.reading.transaction
    }

    fn has_backslash_escapes(&self) -> bool {
        self.reading.has_backslash_escapes()
    }

    fn last_error(&self) -> &ServerError {
        &self.reading.server_error
    }

    fn has_begun_reply(&self) -> bool {
        self.in_flight.is_some() && (self.reading.has_begun || self.incoming.is_within_packet())
    }

    fn farewell(&self) -> &[u8] {
        &QUIT
    }

    fn cancel(&self) -> Option<Cancel> {
        // The server accepts KILL only from another session that has logged in. The connection is killed together with its
        // statement.
        let id = self.connection_id();
        if self.in_flight.is_none() || id == 0 {
            return None;
        }
        let [nonce @ .., _, _] = self.nonce.derive_bytes(b"kill");
        let session = Self::new(Arc::clone(&self.login), nonce);
        let session = Self { is_private: self.has_private_transport, ..session };
        let session = Self { has_private_transport: self.has_private_transport, ..session };
        let kill = FixedQuery::new(session, format!("KILL {id}"), ()).tolerating(UNKNOWN_THREAD);
        Some(Cancel::Request(Box::new(Serial::new(kill))))
    }

    fn forget(&mut self) {
        let (login, has_private_transport) = (Arc::clone(&self.login), self.has_private_transport);
        let offers_local_files = self.offers_local_files;
        let mut fresh = Self { nonce: self.nonce.next(), ..Self::new(login, [0; 18]) };
        (fresh.has_private_transport, fresh.is_private) = (has_private_transport, has_private_transport);
        fresh.offers_local_files = offers_local_files;
        *self = fresh;
    }
}
