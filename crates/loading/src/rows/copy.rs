//! Rows in the text format of COPY.

use super::{Sink, push_decimal};

/// Buffer of rows in the text format of COPY.
#[derive(Debug, Default)]
pub(crate) struct CopyRows {
    bytes: Vec<u8>,
    is_first: bool,
}

impl CopyRows {
    /// Text written so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn next_value(&mut self) {
        if self.is_first {
            self.is_first = false;
        } else {
            self.bytes.push(b'\t');
        }
    }
}

impl Sink for CopyRows {
    fn begin_row(&mut self, _columns: u16) {
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
        self.bytes.extend_from_slice(value);
    }

    fn any_text(&mut self, value: &[u8]) {
        self.next_value();
        for byte in value {
            let escape = match byte {
                b'\\' => b'\\',
                b'\t' => b't',
                b'\n' => b'n',
                b'\r' => b'r',
                _ => {
                    self.bytes.push(*byte);
                    continue;
                }
            };
            self.bytes.extend_from_slice(&[b'\\', escape]);
        }
    }

    fn null(&mut self) {
        self.next_value();
        self.bytes.extend_from_slice(b"\\N");
    }

    fn end_row(&mut self) {
        self.bytes.push(b'\n');
    }
}
