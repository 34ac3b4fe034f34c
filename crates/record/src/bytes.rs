//! Variable-length integers (LEB128), from which the stored form is built.

use alloc::vec::Vec;
use core::fmt;

/// Stored bytes that are invalid: truncated, out of range, or inconsistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the stored histograms are damaged or were written by another version")
    }
}

impl core::error::Error for Malformed {}

/// Appends an integer: seven bits per byte, lowest first.
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads integers from the front of a byte slice.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    /// Reads the next integer.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<u64, Malformed> {
        // Fast path: nearly all integers are one byte long.
        match self.0 {
            [byte @ ..0x80, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(*byte))
            }
            _ => self.read_multibyte(),
        }
    }

    fn read_multibyte(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(Malformed)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(Malformed);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }
}
