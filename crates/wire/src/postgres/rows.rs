//! Descriptions of rows, and rows.

use super::fault::Fault;
use crate::blame::PeerFault;
use crate::sql::Rows;

/// What follows the name of a column: where it comes from, and its type.
const COLUMN_BYTES: usize = 18;
const NULL: i32 = -1;

/// Columns, of which the first two bytes of a description or of a row tell; and whether a message of this length can hold them.
#[inline]
pub(super) fn columns(content: &[u8], length: usize, column_bytes_min: usize) -> Option<u16> {
    let count = u16::from_be_bytes(*content.first_chunk()?);
    (length >= 2 + column_bytes_min * usize::from(count)).then_some(count)
}

/// The columns of a description.
pub(super) fn described(content: &[u8], length: usize) -> Result<u16, PeerFault> {
    columns(content, length, COLUMN_BYTES + 1).ok_or(Fault::BadDescription.plain())
}

/// Tells the names of a description, all of it.
pub(super) fn tell_names(content: &[u8], rows: &mut dyn Rows) -> Result<(), PeerFault> {
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

/// Tells the values of a row, all of it.
pub(super) fn tell_values(content: &[u8], rows: &mut dyn Rows) -> Result<(), PeerFault> {
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
    rows.row_ended();
    Ok(())
}
