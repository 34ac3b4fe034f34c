//! Rows as a multi-row INSERT.

use super::{Sink, push_decimal};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Buffer of an INSERT with many rows.
#[derive(Debug)]
pub(crate) struct InsertRows {
    bytes: Vec<u8>,
    begin_bytes: usize,
    is_first: bool,
}

impl InsertRows {
    /// Creates an INSERT into a table, which may have a list of columns.
    pub(crate) fn new(table: &str) -> Self {
        let bytes = ["INSERT INTO ", table, " VALUES "].concat().into_bytes();
        Self { begin_bytes: bytes.len(), bytes, is_first: true }
    }

    /// Text of the statement so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(self.begin_bytes);
    }

    fn next_value(&mut self) {
        if self.is_first {
            self.is_first = false;
        } else {
            self.bytes.push(b',');
        }
    }
}

impl Sink for InsertRows {
    fn begin_row(&mut self, _columns: u16) {
        let between: &[u8] = if self.bytes.len() == self.begin_bytes { b"(" } else { b",(" };
        self.bytes.extend_from_slice(between);
        self.is_first = true;
    }

    fn int(&mut self, value: i32) {
        self.big_int(value.into());
    }

    fn big_int(&mut self, value: i64) {
        self.next_value();
        push_decimal(&mut self.bytes, value);
    }

    fn text(&mut self, value: &[u8]) {
        self.next_value();
        self.bytes.push(b'\'');
        self.bytes.extend_from_slice(value);
        self.bytes.push(b'\'');
    }

    fn any_text(&mut self, value: &[u8]) {
        if !value.iter().any(|byte| matches!(byte, b'\'' | b'\\')) {
            return self.text(value);
        }
        self.next_value();
        // Hexadecimal digits do not depend on the server's setting for backslashes.
        self.bytes.extend_from_slice(b"_utf8mb4 x'");
        for byte in value {
            self.bytes.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        self.bytes.push(b'\'');
    }

    fn null(&mut self) {
        self.next_value();
        self.bytes.extend_from_slice(b"NULL");
    }

    fn end_row(&mut self) {
        self.bytes.push(b')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_parenthesized_and_texts_quoted() {
        let mut rows = InsertRows::new("t");
        for _ in 0..2 {
            rows.clear();
            for number in [1, -2] {
                rows.begin_row(3);
                rows.int(number);
                rows.text(b"a");
                rows.null();
                rows.end_row();
            }
            assert_eq!(rows.bytes(), b"INSERT INTO t VALUES (1,'a',NULL),(-2,'a',NULL)");
        }
    }
}
