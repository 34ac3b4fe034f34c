//! Commands to the server: the one under way, and the ones that wait for its end.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::columns::Columns;
use super::outgoing::{HEADER_BYTES, put, put_length_prefixed};
use crate::sql::{Number, Value};

/// First bytes of commands.
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
/// Types of values, each with its unsigned flag.
const DOUBLE: [u8; 2] = [5, 0];
const INTEGER: [u8; 2] = [8, 0];
const UNSIGNED: [u8; 2] = [8, 0x80];
const DECIMAL: [u8; 2] = [246, 0];
const TEXT: [u8; 2] = [253, 0];

/// A command, from its request to its reply.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) what: CommandKind,
    /// Number of ready events to report after the command.
    pub(super) syncs: u32,
}

/// Kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandKind {
    Query,
    /// Prepares a statement, then executes it.
    Prepare(StatementId),
    Execute(StatementId),
}

/// Identifies a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatementId {
    pub(super) number: u16,
    pub(super) is_kept: bool,
    /// Number of values of the execution.
    pub(super) values: u16,
}

/// A command that waits for its turn, or for its statement to be prepared.
#[derive(Debug)]
pub(super) struct PendingCommand {
    pub(super) command: Command,
    /// Encoded packets of the command.
    pub(super) packets: Vec<u8>,
    /// Sequence number of the first packet of the reply.
    pub(super) reply_sequence: u8,
    /// Text of the statement, if it must be prepared first.
    pub(super) text: String,
}

/// A statement that is prepared on the server.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) id: u32,
    /// Column definitions, if the server sends them only once.
    pub(super) columns: Columns,
}

/// Commands that wait for the end of the one under way.
pub(super) type Queue = VecDeque<PendingCommand>;

/// Encoded values of a statement, before the target packet is known.
#[derive(Debug, Default)]
pub(super) struct Values {
    nulls: Vec<u8>,
    types: Vec<u8>,
    bytes: Vec<u8>,
    pub(super) count: u16,
}

/// Max placeholders of a statement.
const VALUES_MAX: u16 = u16::MAX;
/// Max capacity of the buffer of values between statements.
const CAPACITY_MAX: usize = 1024 * 1024;

impl Values {
    pub(super) fn take(&mut self, values: &mut dyn Iterator<Item = Value<'_>>) {
        self.nulls.clear();
        self.types.clear();
        self.bytes.clear();
        self.bytes.shrink_to(CAPACITY_MAX);
        self.count = 0;
        for value in values.take(usize::from(VALUES_MAX)) {
            let bit = self.count % 8;
            if bit == 0 {
                self.nulls.push(0);
            }
            match (value, self.nulls.last_mut()) {
                (Value::Null, Some(nulls)) => {
                    *nulls |= 1 << bit;
                    self.types.extend_from_slice(&TEXT);
                }
                (value, _) => self.put(value),
            }
            self.count += 1;
        }
    }

    /// Encodes a value with the type of its literal. If a number were sent as text, the server would compute with a double.
    fn put(&mut self, value: Value<'_>) {
        let bytes = &mut self.bytes;
        let kind = match value.number() {
            Some(Number::Integer(number)) => {
                bytes.extend_from_slice(&number.to_le_bytes());
                INTEGER
            }
            Some(Number::Unsigned(number)) => {
                bytes.extend_from_slice(&number.to_le_bytes());
                UNSIGNED
            }
            Some(Number::Double(number)) => {
                bytes.extend_from_slice(&number.to_le_bytes());
                DOUBLE
            }
            number => {
                put_length_prefixed(bytes, value.text().unwrap_or_default());
                if number.is_some() { DECIMAL } else { TEXT }
            }
        };
        self.types.extend_from_slice(&kind);
    }
}

/// Writes a query command. Returns the sequence number of the first packet of its reply.
pub(super) fn put_query(out: &mut Vec<u8>, text: &[u8]) -> u8 {
    put_text(out, QUERY, text)
}

/// Writes a prepare command.
pub(super) fn put_prepare(out: &mut Vec<u8>, text: &[u8]) -> u8 {
    put_text(out, PREPARE, text)
}

fn put_text(out: &mut Vec<u8>, command: u8, text: &[u8]) -> u8 {
    put(out, 0, |out| {
        out.push(command);
        out.extend_from_slice(text);
    })
}

/// Writes an execute command for the statement with this ID.
pub(super) fn put_execute(out: &mut Vec<u8>, id: u32, values: &Values) -> u8 {
    put(out, 0, |out| {
        out.push(EXECUTE);
        out.extend_from_slice(&id.to_le_bytes());
        // No cursor, and one iteration.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if values.count > 0 {
            out.extend_from_slice(&values.nulls);
            // New types follow, because they may change with each execution.
            out.push(1);
            out.extend_from_slice(&values.types);
            out.extend_from_slice(&values.bytes);
        }
    })
}

/// Writes the statement's ID into an execute command that was encoded before the ID was known.
pub(super) fn set_id(packets: &mut [u8], id: u32) {
    let place = HEADER_BYTES + 1;
    if let Some(bytes) = packets.get_mut(place..place + 4) {
        bytes.copy_from_slice(&id.to_le_bytes());
    }
}

/// Writes a close command, which has no reply.
pub(super) fn put_close(out: &mut Vec<u8>, id: u32) {
    put(out, 0, |out| {
        out.push(CLOSE);
        out.extend_from_slice(&id.to_le_bytes());
    });
}
