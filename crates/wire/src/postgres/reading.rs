//! What is awaited of the server, and what its messages amount to.

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
/// A type for each of as many values as can be counted.
const PARAMETERS_BYTES_MAX: usize = 2 + 4 * u16::MAX as usize;
/// A row's fields have a length each.
const FIELD_BYTES_MIN: usize = 4;

const TOO_LONG: &str = "the statement is longer than 1 GiB or has more than 65535 values, and was not sent";
const COPY_OUT: &str = "COPY … TO STDOUT is not supported: its rows were not counted";
const COPY_IN: &str = "COPY FROM STDIN is not supported in a script";

/// A message that must come next. Where a statement is kept, its number is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    /// Answers to a text of statements.
    Answers,
    /// CloseComplete.
    Closed,
    /// ParseComplete.
    Parsed(Option<u16>),
    /// ParameterDescription.
    Parameters(u16),
    /// RowDescription or NoData: of a statement that is kept, or of what is executed next.
    Described(Option<u16>),
    /// BindComplete.
    Bound(Option<u16>),
    /// Rows, and their end.
    Rows,
    /// Nothing, for a statement that could not be sent.
    Unsent,
    /// CopyInResponse, and then the answers to a text.
    CopyIn(Copying),
    /// The end of a COPY whose bytes nobody takes; whether it came with a text.
    CopyOut { is_text: bool },
    /// An error, to our refusal to copy.
    CopyRefused,
    /// ReadyForQuery.
    Ready,
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copying {
    Asked,
    Open,
    Ended,
}

/// One connection's replies.
#[derive(Debug, Default)]
pub(super) struct Reading {
    awaited: VecDeque<Awaited>,
    pub(super) statements: Statements,
    pub(super) settings: Settings,
    /// The columns of the rows that are coming.
    columns: Option<u16>,
    rows: u64,
    /// Whether anything of the reply under way has come.
    pub(super) has_begun: bool,
    /// Whether a statement of the text under way was answered.
    has_answered: bool,
    pub(super) transaction: Transaction,
    pub(super) server_error: ServerError,
    pub(super) asides: u64,
}

/// What does not fit into 64 KiB is no message of a sane server; those of a fixed size have it.
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

impl Reading {
    #[inline]
    pub(super) fn await_next(&mut self, awaited: Awaited) {
        self.awaited.push_back(awaited);
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Notes that a statement was not sent, although its reply is waited for.
    #[inline]
    pub(super) fn refuse_unsent(&mut self) -> Option<SessionEvent> {
        if self.awaited.front() != Some(&Awaited::Unsent) {
            return None;
        }
        self.awaited.pop_front();
        self.say(b"54000", TOO_LONG);
        Some(SessionEvent::Rejected)
    }

    /// How much of a message is needed, if it may come now.
    #[inline]
    pub(super) fn needed_bytes(&self, head: Head, keeps_rows: bool) -> Result<usize, Fault> {
        if self.is_idle() && !matches!(head.tag, b'A' | b'E' | b'N' | b'S') {
            return Err(Fault::Unasked);
        }
        needed_bytes(head, keeps_rows)
    }

    /// Takes in a message.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        message: Message<'_>,
        rows: &mut dyn RowSink,
        keeps_rows: bool,
        out: &mut Outgoing,
    ) -> Result<Option<SessionEvent>, PeerFault> {
        let taker = keeps_rows.then_some(rows);
        match message.tag {
            b'D' => self.take_row(message, taker).map(|()| None),
            b'2' => self.take_bound(taker).map(|()| None),
            b'C' => self.take_end(message.content).map(Some),
            b'Z' => self.take_ready(message.content).map(Some),
            b'A' | b'N' | b'S' => self.take_aside(message).map(|()| None),
            _ => self.take_rarer(message, taker, out),
        }
    }

    #[inline(always)]
    fn take_row(&mut self, message: Message<'_>, taker: Option<&mut dyn RowSink>) -> Result<(), PeerFault> {
        let Some(columns) = self.columns else { return Err(Fault::OutOfTurn.showing(b"D")) };
        let Message { content, length, skipped, .. } = message;
        let count = rows::columns(content, length, FIELD_BYTES_MIN).ok_or_else(|| Fault::BadRow.plain())?;
        if count != columns {
            return Err(Fault::BadColumns.plain());
        }
        self.rows += 1;
        self.has_begun = true;
        match taker {
            Some(rows) => rows::tell_values(content, rows),
            None if skipped.is_sound_row(count) => Ok(()),
            None => Err(Fault::BadRow.plain()),
        }
    }

    #[inline(always)]
    fn take_bound(&mut self, taker: Option<&mut dyn RowSink>) -> Result<(), PeerFault> {
        self.has_begun = true;
        match self.awaited.front() {
            Some(Awaited::Bound(None)) => {}
            Some(Awaited::Bound(Some(number))) => {
                if let Some(kept) = self.statements.get(*number) {
                    self.columns = kept.columns;
                    if let Some(rows) = taker.filter(|_| !kept.description.is_empty()) {
                        rows::tell_names(&kept.description, rows)?;
                    }
                }
            }
            _ => return Err(Fault::OutOfTurn.showing(b"2")),
        }
        self.awaited.pop_front();
        Ok(())
    }

    /// CommandComplete.
    #[inline(always)]
    fn take_end(&mut self, content: &[u8]) -> Result<SessionEvent, PeerFault> {
        let [tag @ .., 0] = content else { return Err(Fault::BadText.plain()) };
        match self.awaited.front_mut() {
            Some(Awaited::Answers) => self.has_answered = true,
            Some(Awaited::Rows) => _ = self.awaited.pop_front(),
            // Other statements may come before the copy.
            Some(Awaited::CopyIn(Copying::Asked)) => {}
            Some(copy @ Awaited::CopyIn(Copying::Ended)) => {
                *copy = Awaited::Answers;
                self.has_answered = true;
            }
            Some(Awaited::CopyOut { .. }) => return Ok(self.end_copy_out()),
            _ => return Err(Fault::OutOfTurn.showing(b"C")),
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

    /// ReadyForQuery.
    #[inline(always)]
    fn take_ready(&mut self, content: &[u8]) -> Result<SessionEvent, PeerFault> {
        self.take_transaction(content)?;
        match self.awaited.front() {
            Some(Awaited::Ready) => {}
            Some(Awaited::Answers) if self.columns.is_some() => return Err(Fault::OutOfTurn.showing(b"Z")),
            Some(Awaited::Answers) if self.has_answered => _ = self.awaited.pop_front(),
            Some(Awaited::Answers | Awaited::Rows) => return Err(Fault::NoAnswer.plain()),
            _ => return Err(Fault::OutOfTurn.showing(b"Z")),
        }
        self.awaited.pop_front();
        (self.has_begun, self.has_answered) = (false, false);
        Ok(SessionEvent::Ready)
    }

    /// What the server says of its transaction when it is ready.
    #[inline(always)]
    pub(super) fn take_transaction(&mut self, state: &[u8]) -> Result<(), PeerFault> {
        self.transaction = match state {
            b"I" => Transaction::Idle,
            b"T" => Transaction::Open,
            b"E" => Transaction::Failed,
            _ => return Err(Fault::BadState.showing(state)),
        };
        Ok(())
    }

    /// NoticeResponse, NotificationResponse and ParameterStatus.
    pub(super) fn take_aside(&mut self, message: Message<'_>) -> Result<(), PeerFault> {
        self.asides += 1;
        let is_sound = message.tag != b'S' || self.settings.take(message.content).is_some();
        if is_sound { Ok(()) } else { Err(Fault::BadText.plain()) }
    }

    #[cold]
    fn take_rarer(
        &mut self,
        message: Message<'_>,
        taker: Option<&mut dyn RowSink>,
        out: &mut Outgoing,
    ) -> Result<Option<SessionEvent>, PeerFault> {
        let front = self.awaited.front().copied();
        self.has_begun |= front.is_some();
        match (message.tag, front) {
            (b'E', _) => return self.take_error(message).map(Some),
            (b'T', _) => self.take_description(message, taker)?,
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
            (tag, _) => return Err(Fault::OutOfTurn.showing(&[tag])),
        }
        // A statement may have been prepared whose values could not be sent.
        Ok(self.refuse_unsent())
    }

    fn take_description(
        &mut self,
        message: Message<'_>,
        taker: Option<&mut dyn RowSink>,
    ) -> Result<(), PeerFault> {
        let columns = rows::described(message.content, message.length)?;
        match self.awaited.front() {
            Some(Awaited::Answers) if self.columns.is_none() => {}
            Some(Awaited::Described(None)) => _ = self.awaited.pop_front(),
            Some(Awaited::Described(Some(number))) => {
                let description = if taker.is_some() { message.content } else { &[] };
                self.statements.describe(*number, Some(columns), description);
                self.awaited.pop_front();
                return Ok(());
            }
            _ => return Err(Fault::OutOfTurn.showing(b"T")),
        }
        self.columns = Some(columns);
        taker.map_or(Ok(()), |rows| rows::tell_names(message.content, rows))
    }

    fn take_error(&mut self, message: Message<'_>) -> Result<SessionEvent, PeerFault> {
        self.read_error(message)?;
        if self.server_error.is_fatal {
            // Nothing more comes of this connection.
            self.awaited.clear();
            (self.columns, self.rows) = (None, 0);
            return Ok(SessionEvent::Rejected);
        }
        if self.is_idle() {
            return Err(Fault::Unasked.saying(self.server_error.text.as_str()));
        }
        if self.awaited.front() == Some(&Awaited::CopyRefused) {
            // The server's words are about our refusal, as if somebody had canceled the statement.
            self.say(b"0A000", COPY_IN);
        }
        // A pooler may have led us to a server that does not know the statement.
        if let (Some(Awaited::Bound(Some(number))), b"26000") =
            (self.awaited.front(), &self.server_error.sqlstate.0)
        {
            self.statements.doubt(*number);
        }
        self.skip_to_ready();
        Ok(SessionEvent::Rejected)
    }

    /// Reads an error into what the server said.
    pub(super) fn read_error(&mut self, message: Message<'_>) -> Result<(), PeerFault> {
        report::read(message.content, message.content.len() == message.length, &mut self.server_error)
    }

    /// After an error the server leaves out everything up to the next point where it is ready.
    fn skip_to_ready(&mut self) {
        while let Some(awaited) = self.awaited.front()
            && *awaited != Awaited::Ready
        {
            if let Awaited::Parsed(Some(number))
            | Awaited::Parameters(number)
            | Awaited::Described(Some(number)) = awaited
            {
                self.statements.doubt(*number);
            }
            self.awaited.pop_front();
        }
        (self.columns, self.rows) = (None, 0);
    }

    fn begin_copy_in(&mut self, out: &mut Outgoing) -> Result<SessionEvent, PeerFault> {
        // What is sent from here on goes to the server anew.
        match self.awaited.front_mut() {
            Some(copy @ Awaited::CopyIn(Copying::Asked)) => {
                out.clear();
                *copy = Awaited::CopyIn(Copying::Open);
            }
            Some(front @ (Awaited::Answers | Awaited::Rows)) => {
                let is_text = *front == Awaited::Answers;
                *front = Awaited::CopyRefused;
                if self.awaited.len() != 2 || self.columns.is_some() {
                    return Err(Fault::CopyInPipeline.plain());
                }
                out.clear();
                out.copy_fail(COPY_IN);
                if !is_text {
                    // The one that was sent before got lost in the copy.
                    out.sync();
                }
            }
            _ => return Err(Fault::OutOfTurn.showing(b"G")),
        }
        Ok(SessionEvent::Send)
    }

    fn begin_copy_out(&mut self) -> Result<(), PeerFault> {
        match self.awaited.front_mut() {
            Some(front @ (Awaited::Answers | Awaited::Rows)) if self.columns.is_none() => {
                *front = Awaited::CopyOut { is_text: *front == Awaited::Answers };
                Ok(())
            }
            _ => Err(Fault::OutOfTurn.showing(b"H")),
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
        self.say(b"0A000", COPY_OUT);
        SessionEvent::Rejected
    }

    fn say(&mut self, sqlstate: &[u8; 5], text: &str) {
        self.server_error =
            ServerError { sqlstate: SqlState(*sqlstate), text: text.into(), ..ServerError::default() };
    }

    /// How far the copy that was asked for has come.
    pub(super) fn copying(&self) -> Option<Copying> {
        match self.awaited.front() {
            Some(Awaited::CopyIn(copying)) => Some(*copying),
            _ => None,
        }
    }

    /// All bytes of the copy were put on the wire.
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
        (self.transaction, self.asides) = (Transaction::Idle, 0);
    }
}

/// The number that a command's tag ends with, such as `INSERT 0 1`; 0 if there is none.
#[inline]
fn number_at_end(tag: &[u8]) -> u64 {
    let digits = tag.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    tag[tag.len() - digits..]
        .iter()
        .fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}
