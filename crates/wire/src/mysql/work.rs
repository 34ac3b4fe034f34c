//! What is asked of the server: the command under way, and those that wait for its end.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::columns::Columns;
use super::outgoing::{HEADER_BYTES, put, put_counted};
use crate::sql::{Number, Value};

/// First bytes of commands.
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
/// Types of values, each with its flag of being unsigned.
const DOUBLE: [u8; 2] = [5, 0];
const INTEGER: [u8; 2] = [8, 0];
const UNSIGNED: [u8; 2] = [8, 0x80];
const DECIMAL: [u8; 2] = [246, 0];
const TEXT: [u8; 2] = [253, 0];

/// A command, from the moment it is asked for.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) what: What,
    /// How often readiness is to be told after it.
    pub(super) syncs: u32,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Query,
    /// Prepares a statement, and then executes it.
    Prepare(Which),
    Execute(Which),
}

/// Which prepared statement is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Which {
    pub(super) number: u16,
    pub(super) is_kept: bool,
    /// Values that come with it.
    pub(super) values: u16,
}

/// A command that waits: for its turn, or for its statement to be prepared.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) command: Command,
    /// Its packets.
    pub(super) packets: Vec<u8>,
    /// The number that its reply begins with.
    pub(super) reply_sequence: u8,
    /// The statement, if it has to be prepared first.
    pub(super) text: String,
}

/// A statement that the server knows by a number of its own.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) id: u32,
    /// What the server said of its columns, if it says so only once.
    pub(super) columns: Columns,
}

/// Commands that wait for the end of the one under way.
pub(super) type Queue = VecDeque<Waiting>;

/// The values of a statement, written down before it is known where they go.
#[derive(Debug, Default)]
pub(super) struct Values {
    nulls: Vec<u8>,
    types: Vec<u8>,
    bytes: Vec<u8>,
    pub(super) count: u16,
}

/// No statement can have more placeholders.
const VALUES_MAX: u16 = u16::MAX;
/// Memory of values is given back above this size.
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

    /// Writes a value as the literal that it is in a text: a number that went as a text would be computed with as a double.
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
                put_counted(bytes, value.text().unwrap_or_default());
                if number.is_some() { DECIMAL } else { TEXT }
            }
        };
        self.types.extend_from_slice(&kind);
    }
}

/// Puts a text of statements on the wire; says the number that its reply begins with.
pub(super) fn put_query(out: &mut Vec<u8>, text: &[u8]) -> u8 {
    put_text(out, QUERY, text)
}

/// Asks for a statement to be prepared.
pub(super) fn put_prepare(out: &mut Vec<u8>, text: &[u8]) -> u8 {
    put_text(out, PREPARE, text)
}

fn put_text(out: &mut Vec<u8>, command: u8, text: &[u8]) -> u8 {
    put(out, 0, |out| {
        out.push(command);
        out.extend_from_slice(text);
    })
}

/// Executes the statement that the server knows by this number.
pub(super) fn put_execute(out: &mut Vec<u8>, id: u32, values: &Values) -> u8 {
    put(out, 0, |out| {
        out.push(EXECUTE);
        out.extend_from_slice(&id.to_le_bytes());
        // No cursor, and once.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if values.count > 0 {
            out.extend_from_slice(&values.nulls);
            // With types, which may be others each time.
            out.push(1);
            out.extend_from_slice(&values.types);
            out.extend_from_slice(&values.bytes);
        }
    })
}

/// Writes the number of its statement into a command that was put together before it was known.
pub(super) fn set_id(packets: &mut [u8], id: u32) {
    let place = HEADER_BYTES + 1;
    if let Some(bytes) = packets.get_mut(place..place + 4) {
        bytes.copy_from_slice(&id.to_le_bytes());
    }
}

/// Forgets a statement, to which the server says nothing.
pub(super) fn put_close(out: &mut Vec<u8>, id: u32) {
    put(out, 0, |out| {
        out.push(CLOSE);
        out.extend_from_slice(&id.to_le_bytes());
    });
}
