//! Sample replies that end with a line feed, with the expected result of each.

use alloc::vec::Vec;

use crate::testing::{End, Sample};

/// All samples of raw TCP.
pub(super) fn all() -> Vec<Sample> {
    let replied = End::Replied { status: 0, reusable: true };
    let samples: [(&'static str, &[u8], End); 11] = [
        ("a line", b"PONG\n", replied),
        ("a line of Windows", b"+PONG\r\n", replied),
        ("an empty line", b"\n", replied),
        ("bytes that are no text", b"\xff\x00\x1b[2J\n", replied),
        ("a reply of HTTP, up to its first line", b"HTTP/1.1 200 OK\r\n", replied),
        ("braces are only braces", b"{v}\n", replied),
        ("a carriage return alone", b"PONG\r", End::Incomplete),
        ("no end", b"PONG", End::Incomplete),
        ("a byte", b"P", End::Incomplete),
        ("zeros", &[0; 300], End::Incomplete),
        ("nothing", b"", End::Incomplete),
    ];
    samples.map(|(name, bytes, end)| Sample { name, bytes: bytes.into(), end }).into()
}
