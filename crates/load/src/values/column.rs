//! Values of a table's column, each of which depends only on the seed and the number of its row.
//!
//! Rows are drawn in blocks, each with a random stream of its own. So a table has the same rows however it is divided over
//! connections.

use alloc::string::String;

use super::{Drawn, Generator, Source};
use crate::chance::Chance;
use crate::share::Share;

/// Number of rows that share a random stream.
const BLOCK_ROWS: u64 = 1_000;
/// Time of the first row, for values that need the time: 2024-01-01, in nanoseconds since 1970.
const FIRST_NS: u64 = 1_704_067_200_000_000_000;
/// Time between rows, in nanoseconds.
const ROW_NS: u64 = 1_000_000;

/// Value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// Integer.
    Number(i64),
    /// Text.
    Text(&'a str),
}

/// Generator of a column's values.
#[derive(Clone, Debug)]
pub struct Column {
    generator: Generator,
    null_share: f64,
    seed: u64,
    chance: Chance,
    /// Row whose value is drawn next without seeking.
    next: u64,
    text: String,
}

impl Column {
    /// Creates the generator. `null_share` is the share of NULL, from 0 to 1.
    pub fn new(source: &Source, null_share: f64, seed: u64) -> Self {
        let (generator, chance) = (Generator::new(source, Share::WHOLE), Chance::stream(seed, 0));
        Self { generator, null_share, seed, chance, next: 0, text: String::new() }
    }

    /// Returns the value of a row, counted from 0. Rows in ascending order are fastest.
    pub fn cell(&mut self, row: u64) -> Cell<'_> {
        if row != self.next || row.is_multiple_of(BLOCK_ROWS) {
            let block = row / BLOCK_ROWS;
            self.chance = Chance::stream(self.seed, block);
            if let Generator::Sequence(sequence) = self.generator.number_generator() {
                sequence.seek(block * BLOCK_ROWS);
            }
            for before in block * BLOCK_ROWS..row {
                self.draw(before);
            }
        }
        self.next = row + 1;
        self.draw(row)
    }

    fn draw(&mut self, row: u64) -> Cell<'_> {
        self.text.clear();
        let is_null = self.null_share > 0.0 && self.chance.unit() < self.null_share;
        let wall_ns = || FIRST_NS.wrapping_add(row.wrapping_mul(ROW_NS));
        match self.generator.draw(&mut self.chance, wall_ns, &mut self.text) {
            _ if is_null => Cell::Null,
            Drawn::Number(number) => Cell::Number(number),
            Drawn::Text | Drawn::Row(_) => Cell::Text(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::vec::Vec;

    fn all(source: &Source, null_share: f64, rows: impl Iterator<Item = u64>) -> Vec<String> {
        let mut column = Column::new(source, null_share, 7);
        rows.map(|row| format!("{:?}", column.cell(row))).collect()
    }

    #[test]
    fn values_do_not_depend_on_the_rows_read_before() {
        let words = Source::Words { words: ["a".into(), "b".into(), "c".into()].into() };
        let sources = [
            Source::Sequence { from: 5, until: Some(900), by: 2 },
            Source::Uniform { min: 1, max: 1_000_000 },
            Source::Zipf { min: 1, max: 1_000, exponent: 1.0, is_scattered: true },
            Source::Latest { min: 1, max: 1_000, exponent: 1.0, grows_with: None },
            Source::Hashed {
                prefix: "user".into(),
                numbers: Box::new(Source::Sequence { from: 1, until: None, by: 1 }),
            },
            Source::Text { length: 5, alphabet: "abcdef" },
            Source::Uuid,
            Source::TimeUuid,
            Source::Moment { from_s: 0, until_s: 1_000_000 },
            words,
        ];
        for source in sources {
            let whole = all(&source, 0.2, 0..2_500);
            assert_eq!(whole[1_234..], all(&source, 0.2, 1_234..2_500), "{source:?}");
            assert!(whole.contains(&"Null".into()));
        }
    }

    #[test]
    fn null_share_is_the_share_of_nulls() {
        let nulls = |share| {
            let cells = all(&Source::Uniform { min: 1, max: 9 }, share, 0..10_000);
            cells.iter().filter(|cell| *cell == "Null").count()
        };
        assert_eq!((nulls(0.0), nulls(1.0)), (0, 10_000));
        // The standard error of 10,000 draws is 40.
        assert!((2_700..3_300).contains(&nulls(0.3)), "{}", nulls(0.3));
    }

    #[test]
    fn sequence_continues_over_blocks() {
        let cells = all(&Source::Sequence { from: 1, until: None, by: 1 }, 0.0, 998..1_003);
        assert_eq!(cells[4], "Number(1003)");
    }
}
