//! State machine that parses the server's messages, with a queue of expected messages.

use alloc::collections::VecDeque;

use super::fault::Fault;
use super::framing::{Head, Message};
use super::kept::Statements;
use super::outgoing::Outgoing;
use super::report::{self, REPORT_BYTES_MAX};
use super::rows;
use super::settings::Settings;
use crate::blame::PeerFault;
use crate::sql::{RowSink, ServerError, SessionEvent, SqlState, Transaction};

const MESSAGE_BYTES_MAX: usize = 64 * 1024;
const DESCRIPTION_BYTES_MAX: usize = 1024 * 1024;
const ROW_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Max length of ParameterDescription: a count, and a type for each value.
const PARAMETERS_BYTES_MAX: usize = 2 + 4 * u16::MAX as usize;
/// Each field of a row has a length.
const FIELD_BYTES_MIN: usize = 4;

const TOO_LONG: &str = "the statement is longer than 1 GiB or has more than 65535 values, and was not sent";
const COPY_OUT: &str = "COPY … TO STDOUT is not supported: its rows were not counted";
const COPY_IN: &str = "COPY FROM STDIN is not supported in a script";

/// Expected message. A number identifies the kept statement it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// Replies to a simple query.
    Answers,
    /// CloseComplete.
    Closed,
    /// ParseComplete.
    Parsed(Option<u16>),
    /// ParameterDescription.
    Parameters(u16),
    /// RowDescription or NoData, for a kept statement, or for the next execution.
    Described(Option<u16>),
    /// BindComplete.
    Bound(Option<u16>),
    /// DataRow messages, and their end.
    Rows,
    /// No message, because the statement could not be sent.
    Unsent,
    /// CopyInResponse, then the replies to the simple query.
    CopyIn(Copying),
    /// The end of a COPY whose data is discarded; `is_text` if a simple query started it.
    CopyOut { is_text: bool },
    /// Error in response to CopyFail.
    CopyRejected,
    /// ReadyForQuery.
    Ready,
}

/// Progress of a COPY from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copying {
    Requested,
    Open,
    Ended,
}

/// Parser of one connection's replies.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    awaited: VecDeque<Awaited>,
    pub(super) statements: Statements,
    pub(super) settings: Settings,
    /// Number of columns of the rows that are arriving. `None` if no rows are described.
    columns: Option<u16>,
    rows: u64,
    /// Whether any message of the reply in progress has arrived.
    pub(super) has_begun: bool,
    /// Whether a statement of the simple query in progress was answered.
    has_answered: bool,
    pub(super) transaction: Transaction,
    pub(super) server_error: ServerError,
    pub(super) async_message_count: u64,
}

/// Number of bytes that are needed of a message's content.
///
/// # Errors
///
/// The length is invalid for this kind of message, or above the limit.
#[inline]
pub(super) fn needed_bytes(head: Head, keeps_rows: bool) -> Result<usize, Fault> {
    let length = usize::try_from(head.length).map_err(|_| Fault::BadLength)?;
    let exactly = |bytes| if length == bytes { Ok(bytes) } else { Err(Fault::BadLength) };
    let up_to = |bytes_max, fault| if length <= bytes_max { Ok(length) } else { Err(fault) };
    let only = |bytes| if length >= bytes { Ok(bytes) } else { Err(Fault::BadLength) };
    match head.tag {
        b'D' if keeps_rows => only(2).and_then(|_| up_to(ROW_BYTES_MAX, Fault::RowTooLong)),
        b'D' => only(2),
        b'C' => only(1).and_then(|_| up_to(MESSAGE_BYTES_MAX, Fault::TooLong)),
        b'Z' => exactly(1),
        b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c' => exactly(0),
        b'T' if keeps_rows => only(2).and_then(|_| up_to(DESCRIPTION_BYTES_MAX, Fault::DescriptionTooLong)),
        b'T' => only(2),
        b't' if length <= PARAMETERS_BYTES_MAX => Ok(0),
        b't' => Err(Fault::BadLength),
        b'G' | b'H' | b'W' | b'v' => up_to(MESSAGE_BYTES_MAX, Fault::TooLong).map(|_| 0),
        b'A' | b'N' | b'd' => Ok(0),
        b'E' => Ok(length.min(REPORT_BYTES_MAX)),
        b'S' | b'R' => up_to(MESSAGE_BYTES_MAX, Fault::TooLong),
        b'K' => exactly(8),
        _ => Err(Fault::UnknownKind),
    }
}

impl ReplyParser {
    #[inline]
    pub(super) fn await_next(&mut self, awaited: Awaited) {
        self.awaited.push_back(awaited);
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Rejects the statement at the front of the queue if it could not be sent. `None` if the front is something else.
    #[inline]
    pub(super) fn reject_unsent(&mut self) -> Option<SessionEvent> {
        if self.awaited.front() != Some(&Awaited::Unsent) {
            return None;
        }
        self.awaited.pop_front();
        self.set_error(b"54000", TOO_LONG);
        Some(SessionEvent::Rejected)
    }

    /// Number of bytes that are needed of a message's content.
    ///
    /// # Errors
    ///
    /// The message is not valid at this point, or its length is invalid.
    #[inline]
    pub(super) fn needed_bytes(&self, head: Head, keeps_rows: bool) -> Result<usize, Fault> {
        if self.is_idle() && !matches!(head.tag, b'A' | b'E' | b'N' | b'S') {
            return Err(Fault::Unasked);
        }
        needed_bytes(head, keeps_rows)
    }

    /// Processes a message.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        message: Message<'_>,
        rows: &mut dyn RowSink,
        keeps_rows: bool,
        out: &mut Outgoing,
    ) -> Result<Option<SessionEvent>, PeerFault> {
        let row_sink = keeps_rows.then_some(rows);
        match message.tag {
            b'D' => self.take_row(message, row_sink).map(|()| None),
            b'2' => self.take_bound(row_sink).map(|()| None),
            b'C' => self.take_end(message.content).map(Some),
            b'Z' => self.take_ready(message.content).map(Some),
            b'A' | b'N' | b'S' => self.take_async_message(message).map(|()| None),
            _ => self.take_other(message, row_sink, out),
        }
    }

    #[inline(always)]
    fn take_row(
        &mut self,
        message: Message<'_>,
        row_sink: Option<&mut dyn RowSink>,
    ) -> Result<(), PeerFault> {
        let Some(columns) = self.columns else { return Err(Fault::OutOfTurn.with_first_bytes(b"D")) };
        let Message { content, length, skipped, .. } = message;
        let count = rows::columns(content, length, FIELD_BYTES_MIN).ok_or_else(|| Fault::BadRow.plain())?;
        if count != columns {
            return Err(Fault::BadColumns.plain());
        }
        self.rows += 1;
        self.has_begun = true;
        match row_sink {
            Some(rows) => rows::pass_values(content, rows),
            None if skipped.is_valid_row(count) => Ok(()),
            None => Err(Fault::BadRow.plain()),
        }
    }

    #[inline(always)]
    fn take_bound(&mut self, row_sink: Option<&mut dyn RowSink>) -> Result<(), PeerFault> {
        self.has_begun = true;
        match self.awaited.front() {
            Some(Awaited::Bound(None)) => {}
            Some(Awaited::Bound(Some(number))) => {
                if let Some(kept) = self.statements.get(*number) {
                    self.columns = kept.columns;
                    if let Some(rows) = row_sink.filter(|_| !kept.description.is_empty()) {
                        rows::pass_names(&kept.description, rows)?;
                    }
                }
            }
            _ => return Err(Fault::OutOfTurn.with_first_bytes(b"2")),
        }
        self.awaited.pop_front();
        Ok(())
    }

    /// Handles CommandComplete.
    #[inline(always)]
    fn take_end(&mut self, content: &[u8]) -> Result<SessionEvent, PeerFault> {
        let [tag @ .., 0] = content else { return Err(Fault::BadText.plain()) };
        match self.awaited.front_mut() {
            Some(Awaited::Answers) => self.has_answered = true,
            Some(Awaited::Rows) => _ = self.awaited.pop_front(),
            // Other statements of the query may come before the COPY.
            Some(Awaited::CopyIn(Copying::Requested)) => {}
            Some(copy @ Awaited::CopyIn(Copying::Ended)) => {
                *copy = Awaited::Answers;
                self.has_answered = true;
            }
            Some(Awaited::CopyOut { .. }) => return Ok(self.end_copy_out()),
            _ => return Err(Fault::OutOfTurn.with_first_bytes(b"C")),
        }
        self.has_begun = true;
        Ok(self.end_statement(tag))
    }

    #[inline(always)]
    fn end_statement(&mut self, tag: &[u8]) -> SessionEvent {
        let has_rows = self.columns.take().is_some();
        let sent = core::mem::take(&mut self.rows);
        if tag == b"ROLLBACK" {
            return SessionEvent::RolledBack;
        }
        SessionEvent::Succeeded { rows: if has_rows { sent } else { number_at_end(tag) }, has_rows }
    }

    /// Handles ReadyForQuery.
    #[inline(always)]
    fn take_ready(&mut self, content: &[u8]) -> Result<SessionEvent, PeerFault> {
        self.take_transaction(content)?;
        match self.awaited.front() {
            Some(Awaited::Ready) => {}
            Some(Awaited::Answers) if self.columns.is_some() => {
                return Err(Fault::OutOfTurn.with_first_bytes(b"Z"));
            }
            Some(Awaited::Answers) if self.has_answered => _ = self.awaited.pop_front(),
            Some(Awaited::Answers | Awaited::Rows) => return Err(Fault::NoAnswer.plain()),
            _ => return Err(Fault::OutOfTurn.with_first_bytes(b"Z")),
        }
        self.awaited.pop_front();
        (self.has_begun, self.has_answered) = (false, false);
        Ok(SessionEvent::Ready)
    }

    /// Stores the transaction status of a ReadyForQuery.
    #[inline(always)]
    pub(super) fn take_transaction(&mut self, state: &[u8]) -> Result<(), PeerFault> {
        self.transaction = match state {
            b"I" => Transaction::Idle,
            b"T" => Transaction::Open,
            b"E" => Transaction::Failed,
            _ => return Err(Fault::BadState.with_first_bytes(state)),
        };
        Ok(())
    }

    /// Handles NoticeResponse, NotificationResponse, and ParameterStatus.
    pub(super) fn take_async_message(&mut self, message: Message<'_>) -> Result<(), PeerFault> {
        self.async_message_count += 1;
        let is_sound = message.tag != b'S' || self.settings.take(message.content).is_some();
        if is_sound { Ok(()) } else { Err(Fault::BadText.plain()) }
    }

    #[cold]
    fn take_other(
        &mut self,
        message: Message<'_>,
        row_sink: Option<&mut dyn RowSink>,
        out: &mut Outgoing,
    ) -> Result<Option<SessionEvent>, PeerFault> {
        let front = self.awaited.front().copied();
        self.has_begun |= front.is_some();
        match (message.tag, front) {
            (b'E', _) => return self.take_error(message).map(Some),
            (b'T', _) => self.take_description(message, row_sink)?,
            (b'n', Some(Awaited::Described(number))) => {
                self.awaited.pop_front();
                if let Some(number) = number {
                    self.statements.describe(number, None, &[]);
                }
            }
            (b'1', Some(Awaited::Parsed(_)))
            | (b't', Some(Awaited::Parameters(_)))
            | (b'3', Some(Awaited::Closed)) => {
                self.awaited.pop_front();
            }
            (b'I', Some(Awaited::Answers)) if self.columns.is_none() => {
                self.has_answered = true;
                return Ok(Some(self.end_statement(b"")));
            }
            (b'I', Some(Awaited::Rows)) => {
                self.awaited.pop_front();
                return Ok(Some(self.end_statement(b"")));
            }
            (b's', Some(Awaited::Rows)) => return Err(Fault::Suspended.plain()),
            (b'G', Some(_)) => return self.begin_copy_in(out).map(Some),
            (b'H', Some(_)) => self.begin_copy_out()?,
            (b'd' | b'c', Some(Awaited::CopyOut { .. })) => {}
            (tag, _) => return Err(Fault::OutOfTurn.with_first_bytes(&[tag])),
        }
        // A statement may have been prepared although its values could not be sent.
        Ok(self.reject_unsent())
    }

    fn take_description(
        &mut self,
        message: Message<'_>,
        row_sink: Option<&mut dyn RowSink>,
    ) -> Result<(), PeerFault> {
        let columns = rows::column_count(message.content, message.length)?;
        match self.awaited.front() {
            Some(Awaited::Answers) if self.columns.is_none() => {}
            Some(Awaited::Described(None)) => _ = self.awaited.pop_front(),
            Some(Awaited::Described(Some(number))) => {
                let description = if row_sink.is_some() { message.content } else { &[] };
                self.statements.describe(*number, Some(columns), description);
                self.awaited.pop_front();
                return Ok(());
            }
            _ => return Err(Fault::OutOfTurn.with_first_bytes(b"T")),
        }
        self.columns = Some(columns);
        row_sink.map_or(Ok(()), |rows| rows::pass_names(message.content, rows))
    }

    fn take_error(&mut self, message: Message<'_>) -> Result<SessionEvent, PeerFault> {
        self.read_error(message)?;
        if self.server_error.is_fatal {
            // The server closes the connection: no further message is expected.
            self.awaited.clear();
            (self.columns, self.rows) = (None, 0);
            return Ok(SessionEvent::Rejected);
        }
        if self.is_idle() {
            return Err(Fault::Unasked.with_peer_message(self.server_error.text.as_str()));
        }
        if self.awaited.front() == Some(&Awaited::CopyRejected) {
            // The server reports the CopyFail as if the user had canceled the statement; replaces its text with the actual reason.
            self.set_error(b"0A000", COPY_IN);
        }
        // A pooler may have switched to a server connection without the statement.
        if let (Some(Awaited::Bound(Some(number))), b"26000") =
            (self.awaited.front(), &self.server_error.sqlstate.0)
        {
            self.statements.mark_doubtful(*number);
        }
        self.skip_to_ready();
        Ok(SessionEvent::Rejected)
    }

    /// Parses an ErrorResponse into `server_error`.
    pub(super) fn read_error(&mut self, message: Message<'_>) -> Result<(), PeerFault> {
        report::read(message.content, message.content.len() == message.length, &mut self.server_error)
    }

    /// Drops expected messages up to ReadyForQuery, because the server skips them after an error.
    fn skip_to_ready(&mut self) {
        while let Some(awaited) = self.awaited.front()
            && *awaited != Awaited::Ready
        {
            if let Awaited::Parsed(Some(number))
            | Awaited::Parameters(number)
            | Awaited::Described(Some(number)) = awaited
            {
                self.statements.mark_doubtful(*number);
            }
            self.awaited.pop_front();
        }
        (self.columns, self.rows) = (None, 0);
    }

    fn begin_copy_in(&mut self, out: &mut Outgoing) -> Result<SessionEvent, PeerFault> {
        // The outgoing bytes are replaced from here on.
        match self.awaited.front_mut() {
            Some(copy @ Awaited::CopyIn(Copying::Requested)) => {
                out.clear();
                *copy = match out.copied.take() {
                    Some(rows) => {
                        out.copy_data(&rows);
                        out.copy_done();
                        Awaited::CopyIn(Copying::Ended)
                    }
                    None => Awaited::CopyIn(Copying::Open),
                };
            }
            Some(front @ (Awaited::Answers | Awaited::Rows)) => {
                let is_text = *front == Awaited::Answers;
                *front = Awaited::CopyRejected;
                if self.awaited.len() != 2 || self.columns.is_some() {
                    return Err(Fault::CopyInPipeline.plain());
                }
                out.clear();
                out.copy_fail(COPY_IN);
                if !is_text {
                    // The earlier Sync was consumed by the COPY.
                    out.sync();
                }
            }
            _ => return Err(Fault::OutOfTurn.with_first_bytes(b"G")),
        }
        Ok(SessionEvent::Send)
    }

    fn begin_copy_out(&mut self) -> Result<(), PeerFault> {
        match self.awaited.front_mut() {
            Some(front @ (Awaited::Answers | Awaited::Rows)) if self.columns.is_none() => {
                *front = Awaited::CopyOut { is_text: *front == Awaited::Answers };
                Ok(())
            }
            _ => Err(Fault::OutOfTurn.with_first_bytes(b"H")),
        }
    }

    fn end_copy_out(&mut self) -> SessionEvent {
        match self.awaited.front_mut() {
            Some(front @ Awaited::CopyOut { is_text: true }) => {
                *front = Awaited::Answers;
                self.has_answered = true;
            }
            _ => _ = self.awaited.pop_front(),
        }
        self.set_error(b"0A000", COPY_OUT);
        SessionEvent::Rejected
    }

    fn set_error(&mut self, sqlstate: &[u8; 5], text: &str) {
        self.server_error =
            ServerError { sqlstate: SqlState(*sqlstate), text: text.into(), ..ServerError::default() };
    }

    /// Progress of the COPY from the client. `None` if there is none.
    pub(super) fn copying(&self) -> Option<Copying> {
        match self.awaited.front() {
            Some(Awaited::CopyIn(copying)) => Some(*copying),
            _ => None,
        }
    }

    /// Marks all COPY data as sent.
    pub(super) fn end_copy(&mut self) {
        if let Some(Awaited::CopyIn(copying)) = self.awaited.front_mut() {
            *copying = Copying::Ended;
        }
    }

    pub(super) fn forget(&mut self) {
        self.awaited.clear();
        self.statements.forget();
        (self.columns, self.rows) = (None, 0);
        (self.has_begun, self.has_answered) = (false, false);
        (self.transaction, self.async_message_count) = (Transaction::Idle, 0);
    }
}

/// Number at the end of a command tag such as `INSERT 0 1`. 0 if there is none.
#[inline]
fn number_at_end(tag: &[u8]) -> u64 {
    let digits = tag.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    tag[tag.len() - digits..]
        .iter()
        .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}
