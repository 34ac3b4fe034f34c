//! Data sources: values of requests, drawn for each iteration.

mod column;
mod growth;
mod latest;
mod moment;
mod scatter;
mod sequence;
mod zipf;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::chance::Chance;
use crate::share::Share;
pub use column::{Cell, Column};
use growth::Growth;
use latest::Latest;
pub use moment::{MOMENT_BYTES, second_of_day, write_moment};
use scatter::{fnv, scattered};
use sequence::Sequence;
use zipf::Zipf;

/// Source of values, and the variables that it fills.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// Variables, each with the column that fills it. Only rows have columns beyond column 0.
    pub fills: Vec<(u16, usize)>,
    /// Source of the values.
    pub source: Source,
}

/// Upper bound of an allocation's overhead in bytes: header and rounding.
const ALLOCATION_BYTES: usize = 32;

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Length of a UUID in characters.
const UUID_BYTES: usize = 36;

/// Rows of columns, shared by all workers.
pub type Rows = Arc<[Box<[Box<str>]>]>;

/// Source of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Consecutive numbers, each used once over all workers. After `until` they start again.
    Sequence {
        /// First number.
        from: i64,
        /// Last number, if the step reaches it. `None` if the sequence does not repeat.
        until: Option<i64>,
        /// Step between numbers; may be negative.
        by: i64,
    },
    /// Uniformly distributed integers.
    Uniform {
        /// Smallest number.
        min: i64,
        /// Largest number.
        max: i64,
    },
    /// Zipf-distributed integers: the probability of the k-th is proportional to k^−exponent.
    Zipf {
        /// Smallest and most likely number.
        min: i64,
        /// Largest number.
        max: i64,
        /// Exponent, greater than 0.
        exponent: f64,
        /// Whether a hash spreads the frequent numbers over the range, as in YCSB. Otherwise `min` is the most frequent one.
        is_scattered: bool,
    },
    /// Integers that are Zipf-distributed from the largest downward, so that the latest are the most frequent.
    Latest {
        /// Smallest number.
        min: i64,
        /// Largest number, before the range grows.
        max: i64,
        /// Exponent, greater than 0.
        exponent: f64,
        /// Index of the source whose sequence continues the range. Its numbers belong to the range once the iterations that drew them
        /// have ended, in the worker that drew them. `None` for a fixed range.
        grows_with: Option<usize>,
    },
    /// Names of records as YCSB builds them: a prefix, and the hash of a number.
    Hashed {
        /// Beginning of each name.
        prefix: Box<str>,
        /// Source of the numbers.
        numbers: Box<Self>,
    },
    /// Random text.
    Text {
        /// Length in characters.
        length: u32,
        /// ASCII characters, all equally likely.
        alphabet: &'static str,
    },
    /// UUID version 4 (RFC 9562).
    Uuid,
    /// UUID version 7 (RFC 9562): wall-clock time in milliseconds, followed by random bits.
    TimeUuid,
    /// Wall-clock time since 1970.
    Timestamp {
        /// Unit of the value, in nanoseconds.
        unit_ns: u64,
    },
    /// One of several words, all equally likely.
    Words {
        /// Words to choose from; at least one.
        words: Arc<[Box<str>]>,
    },
    /// Second between two moments, uniformly distributed, written as `2026-01-31 12:00:00`.
    Moment {
        /// First second, since 1970.
        from_s: i64,
        /// Last second, since 1970.
        until_s: i64,
    },
    /// Rows of a table.
    Rows {
        /// Table without its header.
        rows: Rows,
        /// Order of the rows.
        order: RowOrder,
    },
}

/// Order of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// From first to last, dealt out over all workers, then from the first again.
    InTurn,
    /// Uniformly at random.
    Random,
}

impl Source {
    /// Returns whether all values are integers.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Sequence { .. }
                | Self::Uniform { .. }
                | Self::Zipf { .. }
                | Self::Latest { .. }
                | Self::Timestamp { .. }
        )
    }

    /// Returns the length of the longest possible value of a column, in bytes.
    pub fn longest_bytes(&self, column: usize) -> usize {
        match self {
            Self::Sequence { .. } | Self::Uniform { .. } | Self::Zipf { .. } | Self::Latest { .. } => {
                "-9223372036854775808".len()
            }
            Self::Hashed { prefix, .. } => prefix.len() + "9223372036854775808".len(),
            Self::Text { length, .. } => *length as usize,
            Self::Uuid | Self::TimeUuid => UUID_BYTES,
            Self::Timestamp { .. } => "18446744073709551615".len(),
            Self::Words { words } => words.iter().map(|word| word.len()).max().unwrap_or(0),
            Self::Moment { .. } => MOMENT_BYTES,
            Self::Rows { rows, .. } => {
                rows.iter().filter_map(|row| row.get(column)).map(|text| text.len()).max().unwrap_or(0)
            }
        }
    }

    /// Returns the index of the source whose sequence continues the range of this one. `None` if its range is fixed.
    fn grows_with(&self) -> Option<usize> {
        match self {
            Self::Latest { grows_with, .. } => *grows_with,
            Self::Hashed { numbers, .. } => numbers.grows_with(),
            _ => None,
        }
    }

    /// Returns the memory of the source's table, in bytes, which all workers share. 0 without a table.
    pub fn kept_bytes(&self) -> usize {
        let Self::Rows { rows, .. } = self else { return 0 };
        let cell = |text: &str| size_of::<Box<str>>() + text.len() + ALLOCATION_BYTES;
        let row = |row: &[Box<str>]| row.iter().map(|text| cell(text)).sum::<usize>();
        let own = size_of::<Box<[Box<str>]>>() + ALLOCATION_BYTES;
        rows.iter().map(|cells| own + row(cells)).sum()
    }
}

/// Value generators of one worker.
#[derive(Clone, Debug)]
pub struct Values {
    sources: Vec<(Vec<(u16, usize)>, Generator)>,
    /// Sequences that continue the range of another source, by index of their source.
    growths: Vec<(usize, Growth)>,
    /// Buffer of the value under construction.
    text: String,
}

#[derive(Clone, Debug)]
enum Generator {
    Sequence(Sequence),
    Uniform { min: i64, max: i64 },
    Zipf { zipf: Zipf, is_scattered: bool },
    Latest(Latest),
    Hashed { prefix: Box<str>, numbers: Box<Self> },
    Text { length: u32, alphabet: &'static [u8] },
    Uuid,
    TimeUuid,
    Timestamp { unit_ns: u64 },
    Words { words: Arc<[Box<str>]> },
    Moment { from_s: i64, until_s: i64 },
    InTurn { rows: Rows, places: Sequence },
    Random { rows: Rows },
}

/// Value drawn from a source.
enum Drawn<'a> {
    Number(i64),
    /// The text is in the buffer.
    Text,
    Row(Option<&'a [Box<str>]>),
}

impl Generator {
    /// Creates the generator of one source. `share` deals out values that are used once over all workers.
    fn new(source: &Source, share: Share) -> Self {
        match source {
            Source::Sequence { from, until, by } => Self::Sequence(Sequence::new(*from, *until, *by, share)),
            Source::Uniform { min, max } => Self::Uniform { min: *min, max: *max },
            Source::Zipf { min, max, exponent, is_scattered } => {
                Self::Zipf { zipf: Zipf::new(*min, *max, *exponent), is_scattered: *is_scattered }
            }
            Source::Latest { min, max, exponent, grows_with } => {
                Self::Latest(Latest::new(*min, *max, *exponent, *grows_with))
            }
            Source::Hashed { prefix, numbers } => {
                Self::Hashed { prefix: prefix.clone(), numbers: Box::new(Self::new(numbers, share)) }
            }
            Source::Text { length, alphabet } => {
                Self::Text { length: *length, alphabet: alphabet.as_bytes() }
            }
            Source::Uuid => Self::Uuid,
            Source::TimeUuid => Self::TimeUuid,
            Source::Timestamp { unit_ns } => Self::Timestamp { unit_ns: (*unit_ns).max(1) },
            Source::Words { words } => Self::Words { words: Arc::clone(words) },
            Source::Moment { from_s, until_s } => Self::Moment { from_s: *from_s, until_s: *until_s },
            Source::Rows { rows, order: RowOrder::Random } => Self::Random { rows: Arc::clone(rows) },
            Source::Rows { rows, order: RowOrder::InTurn } => {
                let last = rows.len().saturating_sub(1) as i64;
                Self::InTurn { rows: Arc::clone(rows), places: Sequence::new(0, Some(last), 1, share) }
            }
        }
    }

    /// Draws the next value. Appends a text to `text`.
    fn draw(&mut self, chance: &mut Chance, wall_ns: impl FnOnce() -> u64, text: &mut String) -> Drawn<'_> {
        if let Some(number) = self.number(chance) {
            return Drawn::Number(number);
        }
        match self {
            Self::Hashed { prefix, numbers } => {
                if let Some(number) = numbers.number(chance) {
                    text.push_str(prefix);
                    write_decimal(fnv(number), text);
                }
            }
            Self::Timestamp { unit_ns } => return Drawn::Number((wall_ns() / *unit_ns) as i64),
            Self::InTurn { rows, places } => {
                return Drawn::Row(rows.get(places.take() as usize).map(|row| &**row));
            }
            Self::Random { rows } => {
                let place = chance.within(0, rows.len().saturating_sub(1) as i64);
                return Drawn::Row(rows.get(place as usize).map(|row| &**row));
            }
            Self::Text { length, alphabet } => {
                let last = alphabet.len().saturating_sub(1) as i64;
                for _ in 0..*length {
                    let letter = alphabet.get(chance.within(0, last) as usize);
                    text.extend(letter.map(|byte| char::from(*byte)));
                }
            }
            Self::Uuid => write_uuid(chance.bits(), 4, text),
            Self::TimeUuid => {
                let time_ms = u128::from(wall_ns() / 1_000_000);
                write_uuid(time_ms << 80 | chance.bits() >> 48, 7, text);
            }
            Self::Words { words } => {
                let place = chance.within(0, words.len().saturating_sub(1) as i64);
                text.push_str(words.get(place as usize).map_or("", |word| word));
            }
            Self::Moment { from_s, until_s } => write_moment(chance.within(*from_s, *until_s), text),
            Self::Sequence(_) | Self::Uniform { .. } | Self::Zipf { .. } | Self::Latest(_) => {}
        }
        Drawn::Text
    }

    /// Draws a number from a fixed range. `None` if the source has other values.
    fn number(&mut self, chance: &mut Chance) -> Option<i64> {
        Some(match self {
            Self::Sequence(sequence) => sequence.take(),
            Self::Uniform { min, max } => chance.within(*min, *max),
            Self::Zipf { zipf, is_scattered: false } => zipf.draw(chance),
            Self::Zipf { zipf, is_scattered: true } => {
                let (min, max) = zipf.range();
                scattered(zipf.draw(chance), min, max)
            }
            Self::Latest(latest) => latest.draw(chance, 0, |_| 0),
            _ => return None,
        })
    }

    /// Returns the drawer of the numbers that names are built from, or this drawer if it is not `Hashed`.
    fn number_generator(&mut self) -> &mut Self {
        match self {
            Self::Hashed { numbers, .. } => numbers.number_generator(),
            other => other,
        }
    }
}

impl Values {
    /// Creates the generators of one worker. `share` deals out values that are used once over all workers.
    pub fn new(sources: &[DataSource], share: Share) -> Self {
        let drawers = sources.iter().map(|data| (data.fills.clone(), Generator::new(&data.source, share)));
        let mut drawers: Vec<(Vec<(u16, usize)>, Generator)> = drawers.collect();
        let mut growths: Vec<(usize, Growth)> = Vec::new();
        for data in sources {
            let Some(number) = data.source.grows_with() else { continue };
            let sequence = drawers.get_mut(number).map(|(_, generator)| generator.number_generator());
            if let Some(Generator::Sequence(sequence)) = sequence
                && growths.iter().all(|(known, _)| *known != number)
            {
                growths.push((number, Growth::new(sequence.clone())));
            }
        }
        Self { sources: drawers, growths, text: String::new() }
    }

    /// Ends the iteration of a user. Sources that grow with a sequence may then draw the numbers that the iteration took from it.
    #[inline]
    pub fn end_iteration(&mut self, user: u32) {
        self.growths.iter_mut().for_each(|(_, growth)| growth.end(user));
    }

    /// Draws the next value of one source for a user, and passes it to `set` with each variable that it fills. Random values come from
    /// `chance`, sequential values from this worker's own part. `wall_ns` is called only if the source needs the time.
    pub fn draw(
        &mut self,
        source: usize,
        user: u32,
        chance: &mut Chance,
        wall_ns: impl FnOnce() -> u64,
        mut set: impl FnMut(u16, &[u8]),
    ) {
        let Some((fills, generator)) = self.sources.get_mut(source) else { return };
        let text = &mut self.text;
        text.clear();
        if !self.growths.is_empty()
            && let Some(number) =
                growth::draw(&mut self.growths, source, user, generator.number_generator(), chance)
        {
            match generator {
                Generator::Hashed { prefix, .. } => {
                    text.push_str(prefix);
                    write_decimal(fnv(number), text);
                }
                _ => write_decimal(number, text),
            }
            return fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
        }
        match generator.draw(chance, wall_ns, text) {
            Drawn::Number(number) => write_decimal(number, text),
            Drawn::Text => {}
            Drawn::Row(row) => return set_columns(row, fills, set),
        }
        fills.iter().for_each(|(variable, _)| set(*variable, text.as_bytes()));
    }
}

/// Appends a number in decimal, without the cost of a formatter.
fn write_decimal(number: i64, text: &mut String) {
    // The longest number has 19 digits and a sign.
    let mut digits = [0; 20];
    let (mut start, mut rest) = (digits.len(), number.unsigned_abs());
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        text.push('-');
    }
    text.push_str(str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Writes a UUID with the given bits, except those of version and variant.
fn write_uuid(bits: u128, version: u128, text: &mut String) {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | version << 76 | 0x2 << 62;
    for digit in (0..32).rev() {
        if matches!(digit, 23 | 19 | 15 | 11) {
            text.push('-');
        }
        text.push(char::from(HEX_DIGITS[(bits >> (4 * digit) & 0xf) as usize]));
    }
}

fn set_columns(row: Option<&[Box<str>]>, fills: &[(u16, usize)], mut set: impl FnMut(u16, &[u8])) {
    for (variable, column) in fills {
        let value = row.and_then(|row| row.get(*column));
        set(*variable, value.map_or(b"", |text| text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_equals_the_formatter() {
        for number in [0, 1, -1, 9, 10, -10, 99_999, i64::MAX, i64::MIN] {
            let mut text = String::new();
            write_decimal(number, &mut text);
            assert_eq!(text, alloc::format!("{number}"));
        }
    }
}
