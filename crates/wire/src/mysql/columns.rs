//! Columns of a result, from their definitions.

use alloc::vec::Vec;

use super::fault::Fault;
use super::fields::Fields;

/// Max columns of a table or a result in any server.
pub(super) const COLUMNS_MAX: u64 = 4096;
/// Max bytes that are kept of a column name. Names have up to 64 characters.
const NAME_BYTES_MAX: usize = 256;
/// Bit of a column's flags for unsigned numbers.
const UNSIGNED: u16 = 0x20;

/// Columns of a result, in order.
#[derive(Debug, Default)]
pub(super) struct Columns {
    list: Vec<Column>,
    /// Names of the columns, concatenated.
    names: Vec<u8>,
}

/// Properties of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Number of the column's type.
    pub(super) kind: u8,
    pub(super) is_unsigned: bool,
    /// Digits after the decimal point; 31 if their number varies.
    pub(super) decimals: u8,
    /// End of the column's name in the concatenated names.
    name_end: u32,
}

/// Column definition in a packet.
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
        // Catalog, schema, table alias, and table name.
        for _ in 0..4 {
            fields.length_prefixed()?;
        }
        let name = fields.length_prefixed()?;
        let _own_name = fields.length_prefixed()?;
        let mut fixed = Fields::of(fields.length_prefixed()?);
        let (_charset, _width) = (fixed.u16_le()?, fixed.u32_le()?);
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        Some(Self { name, kind: fixed.byte()?, flags: fixed.u16_le()?, decimals: fixed.byte()? })
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
            // Cannot overflow: at most COLUMNS_MAX names of NAME_BYTES_MAX bytes.
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
