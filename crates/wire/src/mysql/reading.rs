//! State machine that parses the reply to one command.
//!
//! ```text
//!            columns        all defined          end
//!   Result ──────────► Definitions ─────► Rows ──────► Idle, or Result if more results follow
//!     │ OK, error                          │ error
//!     └──────────► Idle                    └─────► Idle
//!   Prepared ────► Definitions of placeholders, then of columns ────► Idle
//! ```

use alloc::string::String;

use super::capabilities::Capabilities;
use super::columns::{COLUMNS_MAX, Columns, Definition};
use super::fault::Fault;
use super::fields::{Fields, NULL};
use super::incoming::{ERROR, Head, PacketInterest};
use super::outgoing::PAYLOAD_BYTES_MAX;
use super::{row, server_error};
use crate::sql::{RowSink, ServerError, Transaction};

/// Max length of packets other than rows and skipped packets.
const PACKET_BYTES_MAX: usize = 64 * 1024;
/// First byte of the packet after definitions or rows.
const END: u8 = 0xfe;
/// EOF packets of the old form are shorter than this.
const OLD_END_BYTES: usize = 9;
/// Bits of the status flags.
const IN_TRANSACTION: u16 = 1;
const MORE_RESULTS: u16 = 1 << 3;
const NO_BACKSLASH_ESCAPES: u16 = 1 << 9;
/// Error number of a deadlock, which rolls back the whole transaction. Other errors leave it open.
const DEADLOCK: u16 = 1213;

/// Parser of the reply that is awaited or arriving.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    state: State,
    form: Form,
    deprecates_eof: bool,
    caches_metadata: bool,
    /// Columns of a result in binary form, or of a statement that is being prepared.
    pub(super) columns: Columns,
    column_count: u16,
    rows: u64,
    /// Prepared statement with definitions that are still arriving.
    prepared: Prepared,
    text: String,
    pub(super) transaction: Transaction,
    /// Status flags that the server sent last.
    status: u16,
    pub(super) server_error: ServerError,
    /// Whether any packet of the reply has arrived.
    pub(super) has_begun: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    /// First packet of a result.
    Result,
    /// `left` definitions of a result's columns, then their end.
    Definitions {
        left: u16,
    },
    Rows,
    /// First packet of the reply to a prepare command.
    Prepared,
    /// `left` definitions of placeholders, then their end.
    Placeholders {
        left: u16,
    },
    /// `left` definitions of the prepared statement's columns, then their end.
    PreparedColumns {
        left: u16,
    },
}

/// Encoding of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    #[default]
    Text,
    Binary,
}

/// A statement that the server has prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prepared {
    pub(super) id: u32,
    pub(super) placeholders: u16,
    columns: u16,
}

/// Result of a packet of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The reply continues.
    More,
    /// One result is complete. `is_last` is true if no other result follows. `rows` is the number of rows sent, or the number of changed
    /// rows if `has_rows` is false.
    Ended { rows: u64, has_rows: bool, is_last: bool },
    /// The server reported an error, which ends the reply.
    Refused,
    /// The server requests the content of a local file.
    LocalFile,
    /// A statement was prepared.
    Prepared(Prepared),
}

impl ReplyParser {
    /// Sets the capabilities of a new connection.
    pub(super) fn set_capabilities(&mut self, capabilities: Capabilities) {
        self.deprecates_eof = capabilities.has(Capabilities::DEPRECATE_EOF);
        self.caches_metadata = capabilities.has(Capabilities::CACHE_METADATA);
    }

    /// Starts to wait for the reply to a statement.
    pub(super) fn begin(&mut self, form: Form) {
        (self.state, self.form, self.has_begun) = (State::Result, form, false);
    }

    /// Starts to wait for the reply to a prepare command.
    pub(super) fn begin_prepare(&mut self) {
        (self.state, self.has_begun) = (State::Prepared, false);
        self.columns.clear();
    }

    /// Whether definitions are reused in later executions.
    pub(super) fn caches_metadata(&self) -> bool {
        self.caches_metadata
    }

    /// Decides from its head whether the content of a packet is needed.
    #[inline]
    pub(super) fn packet_interest(&self, head: Head, wants_rows: bool) -> Result<PacketInterest, Fault> {
        let Some(first) = head.first else { return Err(Fault::Malformed) };
        let is_old_end = first == END && head.payload_bytes < OLD_END_BYTES;
        match self.state {
            State::Rows if self.ends_rows(head) => {}
            State::Rows if self.form == Form::Binary && first != 0 => return Err(Fault::Unexpected),
            State::Rows if !wants_rows => return Ok(PacketInterest::Nothing),
            State::Rows if head.payload_bytes == PAYLOAD_BYTES_MAX => return Err(Fault::RowTooLong),
            State::Rows => return Ok(PacketInterest::Whole),
            State::Result | State::Prepared => {}
            _ if first == ERROR => {}
            State::Idle => return Err(Fault::Unexpected),
            State::Definitions { left: 0 }
            | State::Placeholders { left: 0 }
            | State::PreparedColumns { left: 0 } => {
                if !is_old_end {
                    return Err(Fault::ColumnsDiffer);
                }
            }
            _ if is_old_end => return Err(Fault::ColumnsDiffer),
            State::Definitions { .. } if !(wants_rows || self.keeps_definitions()) => {
                return Ok(PacketInterest::Nothing);
            }
            State::PreparedColumns { .. } if !self.caches_metadata => return Ok(PacketInterest::Nothing),
            State::Placeholders { .. } => return Ok(PacketInterest::Nothing),
            State::Definitions { .. } | State::PreparedColumns { .. } => {}
        }
        if head.payload_bytes > PACKET_BYTES_MAX { Err(Fault::Oversized) } else { Ok(PacketInterest::Whole) }
    }

    #[inline]
    fn ends_rows(&self, head: Head) -> bool {
        let end_bytes = if self.deprecates_eof { PAYLOAD_BYTES_MAX } else { OLD_END_BYTES };
        head.first == Some(ERROR) || head.first == Some(END) && head.payload_bytes < end_bytes
    }

    fn keeps_definitions(&self) -> bool {
        self.form == Form::Binary && self.caches_metadata
    }

    /// Handles a packet that was skipped.
    #[inline]
    pub(super) fn skipped(&mut self) -> Outcome {
        self.has_begun = true;
        match self.state {
            State::Rows => {
                self.rows += 1;
                Outcome::More
            }
            _ => self.count_definition(),
        }
    }

    /// Processes the content of a packet.
    pub(super) fn packet(&mut self, payload: &[u8], rows: &mut dyn RowSink) -> Result<Outcome, Fault> {
        self.has_begun = true;
        let first = payload.first().copied().ok_or(Fault::Malformed)?;
        match self.state {
            State::Idle => Err(Fault::Unexpected),
            State::Rows if first == ERROR => self.refused(payload),
            State::Rows => self.row_or_end(payload, rows),
            _ if first == ERROR => self.refused(payload),
            State::Result => self.begin_result(payload, rows),
            State::Prepared => self.begin_prepared(payload),
            State::Definitions { left: 0 } => {
                self.state = State::Rows;
                Ok(Outcome::More)
            }
            State::Placeholders { left: 0 } => {
                Ok(self.begin_definitions(State::PreparedColumns { left: self.prepared.columns }))
            }
            State::PreparedColumns { left: 0 } => {
                self.state = State::Idle;
                Ok(Outcome::Prepared(self.prepared))
            }
            State::Definitions { .. } | State::PreparedColumns { .. } | State::Placeholders { .. } => {
                self.definition(payload, rows)
            }
        }
    }

    fn begin_result(&mut self, payload: &[u8], rows: &mut dyn RowSink) -> Result<Outcome, Fault> {
        match payload[0] {
            0 => return self.success(payload, None),
            NULL => return Ok(Outcome::LocalFile),
            _ => {}
        }
        let mut fields = Fields::of(payload);
        let count = fields.number().ok_or(Fault::Malformed)?;
        if count == 0 {
            return Err(Fault::Malformed);
        }
        if count > COLUMNS_MAX {
            return Err(Fault::TooManyColumns);
        }
        (self.column_count, self.rows) = (count as u16, 0);
        let is_defined = if self.caches_metadata { fields.byte() != Some(0) } else { true };
        if !fields.is_at_end() {
            return Err(Fault::Malformed);
        }
        if is_defined {
            self.columns.clear();
            self.state = State::Definitions { left: self.column_count };
            return Ok(Outcome::More);
        }
        if self.form == Form::Text || self.columns.len() != usize::from(self.column_count) {
            return Err(Fault::ColumnsMissing);
        }
        if rows.needs_rows() {
            (0..).zip(self.columns.names()).for_each(|(number, name)| rows.column(number, name));
        }
        self.state = if self.deprecates_eof { State::Rows } else { State::Definitions { left: 0 } };
        Ok(Outcome::More)
    }

    fn definition(&mut self, payload: &[u8], rows: &mut dyn RowSink) -> Result<Outcome, Fault> {
        let definition = Definition::of(payload)?;
        if let State::Definitions { left } = self.state
            && rows.needs_rows()
        {
            rows.column(self.column_count - left, definition.name);
        }
        if self.form == Form::Binary || !matches!(self.state, State::Definitions { .. }) {
            self.columns.push(&definition);
        }
        Ok(self.count_definition())
    }

    /// Counts one definition, parsed or skipped.
    #[inline]
    fn count_definition(&mut self) -> Outcome {
        match &mut self.state {
            State::Definitions { left } => {
                *left -= 1;
                if *left == 0 && self.deprecates_eof {
                    self.state = State::Rows;
                }
            }
            State::Placeholders { left } | State::PreparedColumns { left } => {
                *left -= 1;
                if *left == 0 && self.deprecates_eof {
                    return self.after_definitions();
                }
            }
            _ => {}
        }
        Outcome::More
    }

    /// Continues the reply to a prepare command after all definitions of one kind.
    fn after_definitions(&mut self) -> Outcome {
        match self.state {
            State::Placeholders { .. } => {
                self.begin_definitions(State::PreparedColumns { left: self.prepared.columns })
            }
            _ => {
                self.state = State::Idle;
                Outcome::Prepared(self.prepared)
            }
        }
    }

    /// Starts definitions. If there are none, there is no end packet either.
    fn begin_definitions(&mut self, state: State) -> Outcome {
        self.state = state;
        match state {
            State::Placeholders { left: 0 } | State::PreparedColumns { left: 0 } => self.after_definitions(),
            _ => Outcome::More,
        }
    }

    fn begin_prepared(&mut self, payload: &[u8]) -> Result<Outcome, Fault> {
        let mut fields = Fields::of(payload);
        if fields.byte() != Some(0) {
            return Err(Fault::Unexpected);
        }
        let mut read = || Some((fields.u32_le()?, fields.u16_le()?, fields.u16_le()?));
        let (id, columns, placeholders) = read().ok_or(Fault::Malformed)?;
        if u64::from(columns) > COLUMNS_MAX {
            return Err(Fault::TooManyColumns);
        }
        self.prepared = Prepared { id, placeholders, columns };
        Ok(self.begin_definitions(State::Placeholders { left: placeholders }))
    }

    fn row_or_end(&mut self, payload: &[u8], rows: &mut dyn RowSink) -> Result<Outcome, Fault> {
        let is_end = payload[0] == END
            && (payload.len() < OLD_END_BYTES || self.deprecates_eof && payload.len() < PAYLOAD_BYTES_MAX);
        if is_end {
            return if self.deprecates_eof {
                self.success(payload, Some(self.rows))
            } else {
                self.old_end(payload)
            };
        }
        self.rows += 1;
        match self.form {
            Form::Text => row::read_text(payload, self.column_count, rows),
            Form::Binary => row::read_binary(payload, &self.columns, &mut self.text, rows),
        }?;
        Ok(Outcome::More)
    }

    /// Handles an EOF packet after rows, as sent without [`Capabilities::DEPRECATE_EOF`].
    fn old_end(&mut self, payload: &[u8]) -> Result<Outcome, Fault> {
        let mut fields = Fields::of(payload);
        let (_kind, _warnings) = (fields.byte(), fields.u16_le());
        let status = fields.u16_le().ok_or(Fault::Malformed)?;
        Ok(self.end_result(status, self.rows, true))
    }

    /// Handles an OK packet. `sent_rows` is the number of rows before it. `None` if the result has no rows.
    fn success(&mut self, payload: &[u8], sent_rows: Option<u64>) -> Result<Outcome, Fault> {
        let mut fields = Fields::of(payload);
        let mut read = || {
            let _kind = fields.byte()?;
            let (changed, _inserted) = (fields.number()?, fields.number()?);
            Some((changed, fields.u16_le()?, fields.u16_le()?))
        };
        let (changed, status, _warnings) = read().ok_or(Fault::Malformed)?;
        Ok(self.end_result(status, sent_rows.unwrap_or(changed), sent_rows.is_some()))
    }

    fn end_result(&mut self, status: u16, rows: u64, has_rows: bool) -> Outcome {
        let is_last = status & MORE_RESULTS == 0;
        self.state = if is_last { State::Idle } else { State::Result };
        self.transaction = if status & IN_TRANSACTION == 0 { Transaction::Idle } else { Transaction::Open };
        self.note_status(status);
        Outcome::Ended { rows, has_rows, is_last }
    }

    /// Stores status flags that the server sent.
    pub(super) fn note_status(&mut self, status: u16) {
        self.status = status;
    }

    /// Whether the server treats a backslash in quotes as an escape.
    pub(super) fn has_backslash_escapes(&self) -> bool {
        self.status & NO_BACKSLASH_ESCAPES == 0
    }

    fn refused(&mut self, payload: &[u8]) -> Result<Outcome, Fault> {
        self.server_error = server_error::read(payload).ok_or(Fault::Malformed)?;
        if self.server_error.number == DEADLOCK {
            self.transaction = Transaction::Idle;
        }
        self.state = State::Idle;
        Ok(Outcome::Refused)
    }
}
