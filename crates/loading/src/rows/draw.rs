//! Random numbers of a row, which depend only on seed, table, and row.

/// SplitMix64 generator (Steele, Lea and Flood, 2014).
pub(super) struct SplitMix64(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    /// Creates the generator of one row of one table.
    pub(super) fn new(seed: u64, table: u64, row: u64) -> Self {
        let mut of_table = Self(seed ^ table.wrapping_mul(STEP).rotate_left(32));
        let mut of_row = Self(of_table.next() ^ row);
        Self(of_row.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number from 0 to below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
