//! What is asked of the server: the command under way, and those that wait for its end.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::columns::Columns;
use super::outgoing::{HEADER_BYTES, put, put_counted};

/// First bytes of commands.
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
/// The type of every value: text.
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
    bytes: Vec<u8>,
    pub(super) count: u16,
}

/// No statement can have more placeholders.
const VALUES_MAX: u16 = u16::MAX;
/// Memory of values is given back above this size.
const CAPACITY_MAX: usize = 1024 * 1024;

impl Values {
    pub(super) fn take(&mut self, values: &mut dyn Iterator<Item = Option<&[u8]>>) {
        self.nulls.clear();
        self.bytes.clear();
        self.bytes.shrink_to(CAPACITY_MAX);
        self.count = 0;
        for value in values.take(usize::from(VALUES_MAX)) {
            let bit = self.count % 8;
            if bit == 0 {
                self.nulls.push(0);
            }
            match (value, self.nulls.last_mut()) {
                (None, Some(nulls)) => *nulls |= 1 << bit,
                (value, _) => put_counted(&mut self.bytes, value.unwrap_or_default()),
            }
            self.count += 1;
        }
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
pub(super) fn put_execute(out: &mut Vec<u8>, id: u32, values: &Values, with_types: bool) -> u8 {
    put(out, 0, |out| {
        out.push(EXECUTE);
        out.extend_from_slice(&id.to_le_bytes());
        // No cursor, and once.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if values.count > 0 {
            out.extend_from_slice(&values.nulls);
            out.push(u8::from(with_types));
            if with_types {
                (0..values.count).for_each(|_| out.extend_from_slice(&TEXT));
            }
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
