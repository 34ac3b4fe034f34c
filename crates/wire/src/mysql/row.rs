//! Parser of rows: passes their values as text.

use alloc::string::String;
use core::fmt::Write;

use super::columns::{Column, Columns};
use super::fault::Fault;
use super::fields::Fields;
use crate::sql::RowSink;

/// Passes the values of a row in text form to `rows`.
pub(super) fn read_text(payload: &[u8], columns: u16, rows: &mut dyn RowSink) -> Result<(), Fault> {
    let mut fields = Fields::of(payload);
    for number in 0..columns {
        let value = fields.value().ok_or(Fault::Malformed)?;
        rows.value(number, value);
    }
    end(&fields, rows)
}

/// Passes the values of a row in the binary form of prepared statements to `rows`. `text` is a buffer that is overwritten.
pub(super) fn read_binary(
    payload: &[u8],
    columns: &Columns,
    text: &mut String,
    rows: &mut dyn RowSink,
) -> Result<(), Fault> {
    let mut fields = Fields::of(payload);
    // The first two bits of the NULL bitmap are unused.
    let nulls =
        fields.byte().and_then(|_kind| fields.bytes((columns.len() + 9) / 8)).ok_or(Fault::Malformed)?;
    for ((place, column), number) in columns.iter().enumerate().zip(0..) {
        let (byte, bit) = ((place + 2) / 8, (place + 2) % 8);
        if nulls[byte] >> bit & 1 == 1 || column.kind == kind::NULL {
            rows.value(number, None);
        } else {
            decode_value(&mut fields, column, text, |value| rows.value(number, Some(value)))?;
        }
    }
    end(&fields, rows)
}

fn end(fields: &Fields<'_>, rows: &mut dyn RowSink) -> Result<(), Fault> {
    if !fields.is_at_end() {
        return Err(Fault::ColumnsDiffer);
    }
    rows.finish_row();
    Ok(())
}

/// Numbers of column types.
mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONG_LONG: u8 = 8;
    pub(super) const INT_24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATE_TIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const NEW_DATE: u8 = 14;
}

/// Types sent as length-prefixed bytes: decimals, texts, bytes, bits, enumerations, sets, JSON, vectors, and geometries.
const LENGTH_PREFIXED: [u8; 15] = [0, 15, 16, 242, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255];

fn decode_value(
    fields: &mut Fields<'_>,
    column: &Column,
    text: &mut String,
    emit: impl FnOnce(&[u8]),
) -> Result<(), Fault> {
    if LENGTH_PREFIXED.contains(&column.kind) {
        emit(fields.length_prefixed().ok_or(Fault::Malformed)?);
        return Ok(());
    }
    text.clear();
    let written = match column.kind {
        kind::TINY | kind::SHORT | kind::YEAR | kind::LONG | kind::INT_24 | kind::LONG_LONG => {
            write_integer(fields, column, text)
        }
        kind::FLOAT => fields.u32_le().map(|bits| {
            let value = f32::from_bits(bits);
            write_float(text, f64::from(value).abs(), &value, &format_args!("{value:e}"))
        }),
        kind::DOUBLE => fields.u64_le().map(|bits| {
            let value = f64::from_bits(bits);
            write_float(text, value.abs(), &value, &format_args!("{value:e}"))
        }),
        kind::DATE | kind::NEW_DATE => write_date_time(fields, column, false, text),
        kind::TIMESTAMP | kind::DATE_TIME => write_date_time(fields, column, true, text),
        kind::TIME => write_duration(fields, column, text),
        _ => return Err(Fault::UnknownType),
    };
    written.ok_or(Fault::Malformed)?;
    emit(text.as_bytes());
    Ok(())
}

/// Writing to a `String` cannot fail.
fn put(text: &mut String, what: core::fmt::Arguments<'_>) {
    let _ = text.write_fmt(what);
}

fn write_integer(fields: &mut Fields<'_>, column: &Column, text: &mut String) -> Option<()> {
    let (unsigned, signed) = match column.kind {
        kind::TINY => fields.byte().map(|value| (u64::from(value), i64::from(value as i8)))?,
        kind::SHORT | kind::YEAR => {
            fields.u16_le().map(|value| (u64::from(value), i64::from(value as i16)))?
        }
        kind::LONG | kind::INT_24 => {
            fields.u32_le().map(|value| (u64::from(value), i64::from(value as i32)))?
        }
        _ => fields.u64_le().map(|value| (value, value as i64))?,
    };
    if column.is_unsigned || column.kind == kind::YEAR {
        put(text, format_args!("{unsigned}"));
    } else {
        put(text, format_args!("{signed}"));
    }
    Some(())
}

/// Writes very large and very small numbers with an exponent, as the servers do.
fn write_float(
    text: &mut String,
    size: f64,
    plain: &dyn core::fmt::Display,
    exponent: &core::fmt::Arguments<'_>,
) {
    if size == 0.0 || (1e-15..1e15).contains(&size) {
        put(text, format_args!("{plain}"));
    } else {
        put(text, *exponent);
    }
}

/// Writes a date, or a date and a time. The server omits trailing zero fields.
fn write_date_time(
    fields: &mut Fields<'_>,
    column: &Column,
    has_time: bool,
    text: &mut String,
) -> Option<()> {
    let mut sent = Fields::of(fields.length_prefixed()?);
    let (mut date, mut time, mut micros) = ((0, 0, 0), (0, 0, 0), 0);
    if !sent.is_at_end() {
        date = (sent.u16_le()?, sent.byte()?, sent.byte()?);
    }
    if !sent.is_at_end() {
        time = (sent.byte()?, sent.byte()?, sent.byte()?);
    }
    if !sent.is_at_end() {
        micros = sent.u32_le()?;
    }
    put(text, format_args!("{:04}-{:02}-{:02}", date.0, date.1, date.2));
    if has_time {
        put(text, format_args!(" {:02}:{:02}:{:02}", time.0, time.1, time.2));
        write_micros(micros, column, text);
    }
    sent.is_at_end().then_some(())
}

/// Writes a time interval of −838 to 838 hours.
fn write_duration(fields: &mut Fields<'_>, column: &Column, text: &mut String) -> Option<()> {
    let mut sent = Fields::of(fields.length_prefixed()?);
    let (mut is_negative, mut hours, mut minutes, mut seconds, mut micros) = (false, 0, 0, 0, 0);
    if !sent.is_at_end() {
        is_negative = sent.byte()? != 0;
        hours = u64::from(sent.u32_le()?) * 24 + u64::from(sent.byte()?);
        (minutes, seconds) = (sent.byte()?, sent.byte()?);
    }
    if !sent.is_at_end() {
        micros = sent.u32_le()?;
    }
    let sign = if is_negative { "-" } else { "" };
    put(text, format_args!("{sign}{hours:02}:{minutes:02}:{seconds:02}"));
    write_micros(micros, column, text);
    sent.is_at_end().then_some(())
}

fn write_micros(micros: u32, column: &Column, text: &mut String) {
    let digits = match column.decimals {
        digits @ 1..=6 => usize::from(digits),
        0 => return,
        _ if micros == 0 => return,
        _ => 6,
    };
    let before = text.len();
    put(text, format_args!(".{micros:06}"));
    text.truncate(before + 1 + digits);
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::read_binary;
    use crate::mysql::columns::{Columns, Definition};
    use crate::mysql::fault::Fault;
    use crate::sql::RowSink;

    #[derive(Default)]
    struct Seen(Vec<Option<String>>);

    impl RowSink for Seen {
        fn value(&mut self, _column: u16, value: Option<&[u8]>) {
            self.0.push(value.map(|value| String::from_utf8_lossy(value).to_string()));
        }
    }

    fn columns(kinds: &[(u8, u16, u8)]) -> Columns {
        let mut columns = Columns::default();
        for (kind, flags, decimals) in kinds {
            let [flag, _] = flags.to_le_bytes();
            let payload = [
                3, b'd', b'e', b'f', 0, 0, 0, 1, b'c', 0, 12, 45, 0, 9, 0, 0, 0, *kind, flag, 0, *decimals,
                0, 0,
            ];
            columns.push(&Definition::of(&payload).expect("a definition"));
        }
        columns
    }

    /// Value of a row with one column of this type, flags, and decimals.
    fn value(kind: (u8, u16, u8), bytes: &[u8]) -> Result<Option<String>, Fault> {
        let mut seen = Seen::default();
        let row = [&[0, 0][..], bytes].concat();
        read_binary(&row, &columns(&[kind]), &mut String::new(), &mut seen)?;
        Ok(seen.0.remove(0))
    }

    #[test]
    fn converts_every_type_to_text() {
        let text = |text: &str| Ok(Some(text.to_string()));
        for (kind, bytes, expected) in [
            ((1, 0, 0), &[0xff][..], "-1"),
            ((1, 0x20, 0), &[0xff], "255"),
            ((2, 0, 0), &[0xfe, 0xff], "-2"),
            ((13, 0x20, 0), &[0xea, 0x07], "2026"),
            ((3, 0, 0), &[0, 0, 0, 0x80], "-2147483648"),
            ((9, 0, 0), &[1, 0, 0, 0], "1"),
            ((8, 0, 0), &[0xff; 8], "-1"),
            ((8, 0x20, 0), &[0xff; 8], "18446744073709551615"),
            ((4, 0, 31), &0.1f32.to_le_bytes(), "0.1"),
            ((5, 0, 31), &(-2.5f64).to_le_bytes(), "-2.5"),
            ((5, 0, 31), &1e300f64.to_le_bytes(), "1e300"),
            ((10, 0, 0), &[4, 0xea, 7, 11, 21], "2026-11-21"),
            ((10, 0, 0), &[0], "0000-00-00"),
            ((12, 0, 0), &[7, 0xea, 7, 11, 21, 23, 59, 58], "2026-11-21 23:59:58"),
            ((12, 0, 0), &[4, 0xea, 7, 11, 21], "2026-11-21 00:00:00"),
            ((7, 0, 3), &[11, 0xea, 7, 11, 21, 1, 2, 3, 0x40, 0xe2, 1, 0], "2026-11-21 01:02:03.123"),
            ((7, 0, 31), &[11, 0xea, 7, 11, 21, 1, 2, 3, 0x40, 0xe2, 1, 0], "2026-11-21 01:02:03.123456"),
            ((11, 0, 0), &[0], "00:00:00"),
            ((11, 0, 0), &[8, 1, 34, 0, 0, 0, 22, 59, 59], "-838:59:59"),
            ((11, 0, 6), &[12, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0], "01:02:03.000004"),
            ((246, 0, 2), b"\x053.140", "3.140"),
            ((253, 0, 0), b"\x02hi", "hi"),
        ] {
            assert_eq!(value(kind, bytes), text(expected), "{kind:?}");
        }
    }

    #[test]
    fn malformed_values_are_faults() {
        for (kind, bytes, fault) in [
            ((3, 0, 0), &[1, 2][..], Fault::Malformed),
            ((253, 0, 0), &[5, b'a'], Fault::Malformed),
            ((12, 0, 0), &[5, 0, 0, 0, 0, 0], Fault::Malformed),
            ((12, 0, 0), &[12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Fault::Malformed),
            ((1, 0, 0), &[1, 2], Fault::ColumnsDiffer),
            ((99, 0, 0), &[1], Fault::UnknownType),
        ] {
            assert_eq!(value(kind, bytes), Err(fault), "{kind:?}");
        }
    }

    #[test]
    fn reads_null_bitmap() {
        let kinds = [(1, 0, 0); 7];
        let mut seen = Seen::default();
        // Columns 0 and 6 are NULL: bits 2 and 8 of the bitmap.
        let row = [0, 0b100, 0b1, 1, 2, 3, 4, 5];
        read_binary(&row, &columns(&kinds), &mut String::new(), &mut seen).expect("a row");
        let expected = [None, Some("1"), Some("2"), Some("3"), Some("4"), Some("5"), None];
        assert_eq!(seen.0, expected.map(|value| value.map(ToString::to_string)));
    }
}
