//! Hash of the rows that a statement returns, which does not depend on their order.

use wire::sql::RowSink;

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Adds up the hashes of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowHash {
    is_wanted: bool,
    row: u64,
    sum: u64,
}

impl RowHash {
    /// Begins with no rows. Without `is_wanted`, rows are not decoded.
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, row: OFFSET, sum: 0 }
    }

    /// Sum of the hashes of all rows so far.
    pub(super) fn sum(self) -> u64 {
        self.sum
    }

    fn add(&mut self, byte: u8) {
        self.row = (self.row ^ u64::from(byte)).wrapping_mul(PRIME);
    }
}

impl RowSink for RowHash {
    fn needs_rows(&self) -> bool {
        self.is_wanted
    }

    fn value(&mut self, _column: u16, value: Option<&[u8]>) {
        // The length separates neighboring values, and distinguishes NULL from an empty text.
        let length = value.map_or(u64::MAX, |value| value.len() as u64);
        length.to_le_bytes().into_iter().for_each(|byte| self.add(byte));
        value.unwrap_or_default().iter().for_each(|byte| self.add(*byte));
    }

    fn finish_row(&mut self) {
        // A finalizer, so that sums of rows that differ a little differ much.
        let mixed = (self.row ^ (self.row >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.sum = self.sum.wrapping_add(mixed ^ (mixed >> 29));
        self.row = OFFSET;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(rows: &[&[Option<&str>]]) -> u64 {
        let mut hash = RowHash::new(true);
        for row in rows {
            for (column, value) in (0..).zip(*row) {
                hash.value(column, value.map(str::as_bytes));
            }
            hash.finish_row();
        }
        hash.sum()
    }

    #[test]
    fn rows_in_another_order_have_the_same_hash() {
        let (one, two): (&[Option<&str>], &[Option<&str>]) = (&[Some("1"), Some("a")], &[Some("2"), None]);
        assert_eq!(hash(&[one, two]), hash(&[two, one]));
        assert_ne!(hash(&[one, one]), hash(&[two, two]));
    }

    #[test]
    fn other_values_have_another_hash() {
        let rows: [&[Option<&str>]; 5] =
            [&[Some("ab"), Some("c")], &[Some("a"), Some("bc")], &[Some("")], &[None], &[]];
        let hashes: std::collections::BTreeSet<u64> = rows.iter().map(|row| hash(&[row])).collect();
        assert_eq!(hashes.len(), rows.len());
    }
}
