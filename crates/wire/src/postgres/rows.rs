//! Parser of row descriptions and rows.

use super::fault::Fault;
use crate::blame::PeerFault;
use crate::sql::RowSink;

/// Bytes after the name of a column: its table, column number, type, and format.
const COLUMN_BYTES: usize = 18;
const NULL: i32 = -1;

/// Checks a row with values that are not needed: its fields must end exactly at its end, regardless of how the bytes are split.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCheck {
    fields_left: u16,
    /// Bytes of the present field's value that are still to arrive.
    value_left: usize,
    /// Received bytes of the next length.
    length: [u8; 4],
    length_bytes: usize,
    is_broken: bool,
}

impl RowCheck {
    pub(super) fn begin(fields: u16) -> Self {
        Self { fields_left: fields, ..Self::default() }
    }

    /// Checks the next bytes.
    #[inline]
    pub(super) fn advance(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_broken {
            if self.value_left > 0 {
                let here = self.value_left.min(bytes.len());
                self.value_left -= here;
                bytes = &bytes[here..];
                continue;
            }
            // Almost always a length arrives whole.
            if self.length_bytes == 0
                && let Some((length, after)) = bytes.split_first_chunk()
            {
                self.enter_field(i32::from_be_bytes(*length));
                bytes = after;
                continue;
            }
            let here = (self.length.len() - self.length_bytes).min(bytes.len());
            self.length[self.length_bytes..][..here].copy_from_slice(&bytes[..here]);
            self.length_bytes += here;
            bytes = &bytes[here..];
            if self.length_bytes == self.length.len() {
                self.enter_field(i32::from_be_bytes(self.length));
            }
        }
    }

    #[inline]
    fn enter_field(&mut self, length: i32) {
        self.length_bytes = 0;
        match (self.fields_left.checked_sub(1), length) {
            (Some(left), NULL) => self.fields_left = left,
            (Some(left), 0..) => (self.fields_left, self.value_left) = (left, length as usize),
            _ => self.is_broken = true,
        }
    }

    /// Whether all fields ended with the last byte.
    #[inline]
    pub(super) fn is_complete(self) -> bool {
        !self.is_broken && self.fields_left == 0 && self.value_left == 0 && self.length_bytes == 0
    }
}

/// Number of columns from the first two bytes of a description or a row. `None` if it does not fit into a message of this length.
#[inline]
pub(super) fn columns(content: &[u8], length: usize, column_bytes_min: usize) -> Option<u16> {
    let count = u16::from_be_bytes(*content.first_chunk()?);
    (length >= 2 + column_bytes_min * usize::from(count)).then_some(count)
}

/// Number of columns of a row description.
pub(super) fn column_count(content: &[u8], length: usize) -> Result<u16, PeerFault> {
    columns(content, length, COLUMN_BYTES + 1).ok_or_else(|| Fault::BadDescription.plain())
}

/// Passes the column names of a complete row description to `rows`.
pub(super) fn pass_names(content: &[u8], rows: &mut dyn RowSink) -> Result<(), PeerFault> {
    let bad = || Fault::BadDescription.plain();
    let (count, mut rest) = content.split_first_chunk().ok_or_else(bad)?;
    for number in 0..u16::from_be_bytes(*count) {
        let end = memchr::memchr(0, rest).ok_or_else(bad)?;
        let after = rest.get(end + 1 + COLUMN_BYTES..).ok_or_else(bad)?;
        rows.column(number, &rest[..end]);
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err(bad()) }
}

/// Passes the values of a complete row to `rows`.
pub(super) fn pass_values(content: &[u8], rows: &mut dyn RowSink) -> Result<(), PeerFault> {
    let bad = || Fault::BadRow.plain();
    let (count, mut rest) = content.split_first_chunk().ok_or_else(bad)?;
    for number in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk().ok_or_else(bad)?;
        rest = match i32::from_be_bytes(*length) {
            NULL => {
                rows.value(number, None);
                after
            }
            length => {
                let length = usize::try_from(length).map_err(|_| bad())?;
                let (value, after) = after.split_at_checked(length).ok_or_else(bad)?;
                rows.value(number, Some(value));
                after
            }
        };
    }
    if !rest.is_empty() {
        return Err(bad());
    }
    rows.finish_row();
    Ok(())
}
