//! Rows of a table that a plan defines: drawn from generators, or read from a CSV file.

use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;

use csv::{Position, Reader, ReaderBuilder, StringRecord};
use load::values::{Cell, Column, Source};

use super::Sink;

/// Text per write, in bytes.
const WRITE_BYTES: u64 = 256 << 10;
/// Maximum number of rows per write.
const WRITE_ROWS_MAX: u64 = 10_000;
/// Rows between two places of a file that are remembered.
const PLACE_ROWS: u64 = 1_000;

/// Column whose values are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnColumn {
    /// Source of the values.
    pub source: Source,
    /// Share of NULL, from 0 to 1.
    pub null_share: f64,
    /// Seed of the column.
    pub seed: u64,
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnRows {
    count: u64,
    /// Mean length of a row as text, in bytes.
    row_bytes: u64,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Drawn(Vec<DrawnColumn>),
    Csv {
        /// Name of the file.
        file: String,
        bytes: Arc<[u8]>,
        /// Places of every [`PLACE_ROWS`]th row.
        places: Vec<Position>,
    },
}

impl OwnRows {
    /// Rows that are drawn.
    pub fn drawn(count: u64, columns: Vec<DrawnColumn>) -> Self {
        let row_bytes = columns.iter().map(|column| column.source.longest_bytes(0) as u64 + 1).sum();
        Self { count, row_bytes, kind: Kind::Drawn(columns) }
    }

    /// Rows of a CSV file with column names in the first line.
    ///
    /// # Errors
    ///
    /// A row cannot be read, or its number of values differs from the first line. The error has the line number.
    pub fn csv(file: &str, bytes: Arc<[u8]>) -> Result<Self, String> {
        let mut reader = reader(&bytes);
        let (mut row, mut places, mut count) = (StringRecord::new(), Vec::new(), 0);
        reader.headers().map_err(|error| format!("{file}: {error}"))?;
        loop {
            let place = reader.position().clone();
            match reader.read_record(&mut row) {
                Ok(true) if count % PLACE_ROWS == 0 => places.push(place),
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(format!("{file}: {error}")),
            }
            count += 1;
        }
        let row_bytes = bytes.len() as u64 / count.max(1);
        Ok(Self { count, row_bytes, kind: Kind::Csv { file: file.to_owned(), bytes, places } })
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn rows_at_once(&self) -> u64 {
        (WRITE_BYTES / self.row_bytes.max(1)).clamp(1, WRITE_ROWS_MAX)
    }

    pub(super) fn file(&self) -> Option<&str> {
        match &self.kind {
            Kind::Drawn(_) => None,
            Kind::Csv { file, .. } => Some(file),
        }
    }

    /// File and line of a row. A row of several lines has the line where it begins.
    pub(super) fn place(&self, row: u64) -> Option<String> {
        let Kind::Csv { file, bytes, places } = &self.kind else { return None };
        let mut found = None;
        records(bytes, places, row..row + 1, |record| {
            found = record.position().map(|position| format!("{file}, line {}", position.line()));
        });
        found
    }

    pub(super) fn write(&self, rows: Range<u64>, sink: &mut impl Sink) {
        match &self.kind {
            Kind::Drawn(columns) => drawn(columns, rows, sink),
            Kind::Csv { bytes, places, .. } => records(bytes, places, rows, |record| {
                sink.begin_row(record.len() as u16);
                for value in record {
                    if value.is_empty() { sink.null() } else { sink.any_text(value.as_bytes()) }
                }
                sink.end_row();
            }),
        }
    }
}

fn drawn(columns: &[DrawnColumn], rows: Range<u64>, sink: &mut impl Sink) {
    let column = |column: &DrawnColumn| Column::new(&column.source, column.null_share, column.seed);
    let is_plain = |column: &DrawnColumn| !matches!(column.source, Source::Words { .. });
    let mut generators: Vec<(Column, bool)> =
        columns.iter().map(|one| (column(one), is_plain(one))).collect();
    for row in rows {
        sink.begin_row(generators.len() as u16);
        for (column, is_plain) in &mut generators {
            match column.cell(row) {
                Cell::Null => sink.null(),
                Cell::Number(number) => sink.big_int(number),
                Cell::Text(text) if *is_plain => sink.text(text.as_bytes()),
                Cell::Text(text) => sink.any_text(text.as_bytes()),
            }
        }
        sink.end_row();
    }
}

fn reader(bytes: &[u8]) -> Reader<Cursor<&[u8]>> {
    ReaderBuilder::new().from_reader(Cursor::new(bytes))
}

/// Calls `each` with the records of a range. The file was read before without errors.
fn records(bytes: &[u8], places: &[Position], rows: Range<u64>, mut each: impl FnMut(&StringRecord)) {
    let from = rows.start / PLACE_ROWS;
    let Some(place) = places.get(from as usize) else { return };
    let mut reader = reader(bytes);
    if reader.seek(place.clone()).is_err() {
        return;
    }
    let mut record = StringRecord::new();
    for row in from * PLACE_ROWS..rows.end {
        if !reader.read_record(&mut record).unwrap_or(false) {
            return;
        }
        if row >= rows.start {
            each(&record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CopyRows, InsertRows};
    use super::*;

    #[test]
    fn drawn_rows_are_the_same_in_any_division() {
        let column = |source| DrawnColumn { source, null_share: 0.1, seed: 3 };
        let columns = vec![
            column(Source::Sequence { from: 1, until: None, by: 1 }),
            column(Source::Text { length: 7, alphabet: "abc" }),
        ];
        let rows = OwnRows::drawn(5_000, columns);
        let written = |parts: &[Range<u64>]| {
            let mut copy = CopyRows::default();
            parts.iter().for_each(|part| rows.write(part.clone(), &mut copy));
            String::from_utf8(copy.bytes().to_vec()).unwrap()
        };
        let parts = [0..1, 1..999, 999..3_001, 3_001..5_000];
        assert_eq!(written(&[0..2_000, 2_000..5_000]), written(&parts));
        assert!(written(&[0..2_000, 2_000..5_000]).contains("\\N"));
    }

    #[test]
    fn rows_of_a_csv_file_have_their_lines() {
        let mut text = "a,b\n".to_owned();
        for row in 0..2_500 {
            text.push_str(&format!("{row},\"x\ny\"\n"));
        }
        let rows = OwnRows::csv("t.csv", text.into_bytes().into()).unwrap();
        assert_eq!((rows.count(), rows.place(0), rows.place(2_001)), (2_500, line(2), line(4_004)));
        let mut copy = CopyRows::default();
        rows.write(2_000..2_001, &mut copy);
        assert_eq!(copy.bytes(), b"2000\tx\\ny\n");
    }

    fn line(line: u64) -> Option<String> {
        Some(format!("t.csv, line {line}"))
    }

    #[test]
    fn empty_values_are_null_and_others_are_quoted() {
        let rows = OwnRows::csv("t.csv", b"a,b\n,it's\n1\\,2\n".to_vec().into()).unwrap();
        let (mut copy, mut insert) = (CopyRows::default(), InsertRows::new("t"));
        rows.write(0..2, &mut copy);
        assert_eq!(copy.bytes(), b"\\N\tit's\n1\\\\\t2\n");
        rows.write(0..2, &mut insert);
        let text = String::from_utf8(insert.bytes().to_vec()).unwrap();
        assert_eq!(text, "INSERT INTO t VALUES (NULL,_utf8mb4 x'69742773'),(_utf8mb4 x'315c','2')");
    }

    #[test]
    fn row_with_too_few_values_is_an_error_with_its_line() {
        let wrong = OwnRows::csv("t.csv", b"a,b\n1,2\n3\n".to_vec().into()).unwrap_err();
        assert!(wrong.starts_with("t.csv: ") && wrong.contains("line: 3"), "{wrong}");
    }
}
