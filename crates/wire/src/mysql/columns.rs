//! The columns of a result: what is known of each from its definition.

use alloc::vec::Vec;

use super::fault::Fault;
use super::fields::Fields;

/// A server has no table or result with more columns.
pub(super) const COLUMNS_MAX: u64 = 4096;
/// Names have up to 64 characters; what is longer is cut.
const NAME_BYTES_MAX: usize = 256;
/// The bit of a column's flags that says its numbers have no sign.
const UNSIGNED: u16 = 0x20;

/// The columns of a result, in order.
#[derive(Debug, Default)]
pub(super) struct Columns {
    list: Vec<Column>,
    /// Their names, one after the other.
    names: Vec<u8>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// The number of its type.
    pub(super) kind: u8,
    pub(super) is_unsigned: bool,
    /// Digits after the decimal point; 31 if that varies.
    pub(super) decimals: u8,
    /// Where its name ends among all names.
    name_end: u32,
}

/// A definition of a column as it is sent.
pub(super) struct Definition<'a> {
    pub(super) name: &'a [u8],
    kind: u8,
    flags: u16,
    decimals: u8,
}

impl<'a> Definition<'a> {
    pub(super) fn of(payload: &'a [u8]) -> Result<Self, Fault> {
        Self::read(payload).ok_or(Fault::Malformed)
    }

    fn read(payload: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::of(payload);
        // Catalogue, schema, table, and the table's own name.
        for _ in 0..4 {
            fields.counted()?;
        }
        let name = fields.counted()?;
        let _own_name = fields.counted()?;
        let mut fixed = Fields::of(fields.counted()?);
        let (_charset, _width) = (fixed.two()?, fixed.four()?);
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        Some(Self { name, kind: fixed.byte()?, flags: fixed.two()?, decimals: fixed.byte()? })
    }
}

impl Columns {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.names.clear();
    }

    pub(super) fn push(&mut self, definition: &Definition<'_>) {
        self.names.extend_from_slice(definition.name);
        self.list.push(Column {
            kind: definition.kind,
            is_unsigned: definition.flags & UNSIGNED != 0,
            decimals: definition.decimals,
            // At most COLUMNS_MAX names of NAME_BYTES_MAX bytes.
            name_end: self.names.len() as u32,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Column> {
        self.list.iter()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        let starts = core::iter::once(0).chain(self.list.iter().map(|column| column.name_end as usize));
        starts.zip(&self.list).map(|(start, column)| &self.names[start..column.name_end as usize])
    }
}
