//! Values for requests: sources of data, drawn again for each iteration.

mod sequence;
mod zipf;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::chance::Chance;
use crate::share::Share;
use sequence::Sequence;
use zipf::Zipf;

/// A source of values, and the variables that it fills.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// Variables, each with the column that fills it; only rows have more columns than column 0.
    pub fills: Vec<(u16, usize)>,
    /// Where the values come from.
    pub source: Source,
}

/// What an allocation takes at most beyond what was asked for: its head, and rounding up.
const ALLOCATION_BYTES: usize = 32;

/// Characters of a UUID.
const UUID_BYTES: usize = 36;

/// Rows of columns, shared by all workers.
pub type Rows = Arc<[Box<[Box<str>]>]>;

/// Where values come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Numbers in a row, each given once over all workers; after `until` they begin again.
    Sequence {
        /// The first.
        from: i64,
        /// The last, if the distance meets it; `None`: they do not begin again.
        until: Option<i64>,
        /// From one to the next; may be negative.
        by: i64,
    },
    /// Whole numbers, all equally likely.
    Uniform {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// Whole numbers, the smallest the most likely: the chance of the k-th is in proportion to k to the power of −exponent.
    Zipf {
        /// The smallest, and most likely.
        min: i64,
        /// The largest.
        max: i64,
        /// Greater than 0.
        exponent: f64,
    },
    /// Random text.
    Text {
        /// Its length, in characters.
        length: u32,
        /// What it is made of: ASCII, each character equally likely.
        alphabet: &'static str,
    },
    /// A UUID of version 4 (RFC 9562).
    Uuid,
    /// A UUID of version 7 (RFC 9562): the time of the wall clock in milliseconds, then random bits.
    TimeUuid,
    /// The time of the wall clock, since 1970.
    Timestamp {
        /// Nanoseconds of its unit.
        unit_ns: u64,
    },
    /// Rows of a table.
    Rows {
        /// The table, without its header.
        rows: Rows,
        /// Which row comes next.
        order: RowOrder,
    },
}

/// Which row of a table comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// From the first to the last, dealt out over all workers, and again from the first.
    InTurn,
    /// Any, all equally likely.
    Random,
}

impl Source {
    /// Whether all its values are whole numbers.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Sequence { .. } | Self::Uniform { .. } | Self::Zipf { .. } | Self::Timestamp { .. }
        )
    }

    /// Bytes of the longest value that a column can have.
    pub fn longest_bytes(&self, column: usize) -> usize {
        match self {
            Self::Sequence { .. } | Self::Uniform { .. } | Self::Zipf { .. } => "-9223372036854775808".len(),
            Self::Text { length, .. } => *length as usize,
            Self::Uuid | Self::TimeUuid => UUID_BYTES,
            Self::Timestamp { .. } => "18446744073709551615".len(),
            Self::Rows { rows, .. } => {
                rows.iter().filter_map(|row| row.get(column)).map(|text| text.len()).max().unwrap_or(0)
            }
        }
    }

    /// Bytes of memory that the source itself takes, once for all workers: its table, if it has one.
    pub fn kept_bytes(&self) -> usize {
        let Self::Rows { rows, .. } = self else { return 0 };
        let cell = |text: &str| size_of::<Box<str>>() + text.len() + ALLOCATION_BYTES;
        let row = |row: &[Box<str>]| row.iter().map(|text| cell(text)).sum::<usize>();
        let own = size_of::<Box<[Box<str>]>>() + ALLOCATION_BYTES;
        rows.iter().map(|cells| own + row(cells)).sum()
    }
}

/// One worker's draws.
#[derive(Clone, Debug)]
pub struct Values {
    sources: Vec<(Vec<(u16, usize)>, Drawer)>,
    /// The value being made.
    text: String,
}

#[derive(Clone, Debug)]
enum Drawer {
    Sequence(Sequence),
    Uniform { min: i64, max: i64 },
    Zipf(Zipf),
    Text { length: u32, alphabet: &'static [u8] },
    Uuid,
    TimeUuid,
    Timestamp { unit_ns: u64 },
    InTurn { rows: Rows, places: Sequence },
    Random { rows: Rows },
}

impl Values {
    /// The draws of one worker. What is given once over all workers is dealt out by `share`.
    pub fn new(sources: &[DataSource], share: Share) -> Self {
        let drawer = |source: &Source| match source {
            Source::Sequence { from, until, by } => {
                Drawer::Sequence(Sequence::new(*from, *until, *by, share))
            }
            Source::Uniform { min, max } => Drawer::Uniform { min: *min, max: *max },
            Source::Zipf { min, max, exponent } => Drawer::Zipf(Zipf::new(*min, *max, *exponent)),
            Source::Text { length, alphabet } => {
                Drawer::Text { length: *length, alphabet: alphabet.as_bytes() }
            }
            Source::Uuid => Drawer::Uuid,
            Source::TimeUuid => Drawer::TimeUuid,
            Source::Timestamp { unit_ns } => Drawer::Timestamp { unit_ns: (*unit_ns).max(1) },
            Source::Rows { rows, order: RowOrder::Random } => Drawer::Random { rows: Arc::clone(rows) },
            Source::Rows { rows, order: RowOrder::InTurn } => {
                let last = rows.len().saturating_sub(1) as i64;
                Drawer::InTurn { rows: Arc::clone(rows), places: Sequence::new(0, Some(last), 1, share) }
            }
        };
        let sources = sources.iter().map(|data| (data.fills.clone(), drawer(&data.source)));
        Self { sources: sources.collect(), text: String::new() }
    }

    /// Draws the next value of one source, and hands it over with each variable that it fills. What is random is drawn from
    /// `chance`; what is given once comes from this worker's own row. `wall_ns` is asked for the time, where a source is the time.
    pub fn draw(
        &mut self,
        source: usize,
        chance: &mut Chance,
        wall_ns: impl FnOnce() -> u64,
        mut set: impl FnMut(u16, &[u8]),
    ) {
        let Some((fills, drawer)) = self.sources.get_mut(source) else { return };
        let text = &mut self.text;
        text.clear();
        let number = match drawer {
            Drawer::Sequence(sequence) => sequence.take(),
            Drawer::Uniform { min, max } => chance.within(*min, *max),
            Drawer::Zipf(zipf) => zipf.draw(chance),
            Drawer::Text { length, alphabet } => {
                let last = alphabet.len().saturating_sub(1) as i64;
                for _ in 0..*length {
                    let letter = alphabet.get(chance.within(0, last) as usize);
                    text.extend(letter.map(|byte| char::from(*byte)));
                }
                return fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
            }
            Drawer::Uuid => {
                write_uuid(chance.bits(), 4, text);
                return fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
            }
            Drawer::TimeUuid => {
                let time_ms = u128::from(wall_ns() / 1_000_000);
                write_uuid(time_ms << 80 | chance.bits() >> 48, 7, text);
                return fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
            }
            Drawer::Timestamp { unit_ns } => (wall_ns() / *unit_ns) as i64,
            Drawer::InTurn { rows, places } => {
                let row = rows.get(places.take() as usize).map(|row| &**row);
                return set_columns(row, fills, set);
            }
            Drawer::Random { rows } => {
                let place = chance.within(0, rows.len().saturating_sub(1) as i64);
                let row = rows.get(place as usize).map(|row| &**row);
                return set_columns(row, fills, set);
            }
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{number}");
        fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
    }
}

/// Writes a UUID of these bits, but for those of version and variant.
fn write_uuid(bits: u128, version: u128, text: &mut String) {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | version << 76 | 0x2 << 62;
    let part = |shift: u32, bytes: u32| bits >> shift & ((1 << (8 * bytes)) - 1);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 4),
        part(80, 2),
        part(64, 2),
        part(48, 2),
        part(0, 6)
    );
}

fn set_columns(row: Option<&[Box<str>]>, fills: &[(u16, usize)], mut set: impl FnMut(u16, &[u8])) {
    for (variable, column) in fills {
        let value = row.and_then(|row| row.get(*column));
        set(*variable, value.map_or(b"", |text| text.as_bytes()));
    }
}
