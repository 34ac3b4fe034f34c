//! Sample responses to `get`, valid and invalid, with the expected result of each.

use alloc::vec::Vec;

use super::reader::{LENGTH, NOT_BINARY, OTHER, STATUSES};
use super::request::OPAQUE;
use crate::ErrorClass;
use crate::testing::{End, Sample};

const REPLIED: End = End::Replied { status: 0, reusable: true };

/// Header of a response to `get`: status, bytes of key, extras, and body.
fn header(status: u16, key: u16, extras: u8, body: u32) -> Vec<u8> {
    let mut bytes = Vec::from([0x81, 0x00]);
    bytes.extend(key.to_be_bytes());
    bytes.extend([extras, 0]);
    bytes.extend(status.to_be_bytes());
    bytes.extend(body.to_be_bytes());
    bytes.extend(OPAQUE);
    bytes.extend(7_u64.to_be_bytes());
    bytes
}

/// Response to `get` with a body whose lengths are right.
fn response(status: u16, extras: &[u8], key: &[u8], value: &[u8]) -> Vec<u8> {
    let body = extras.len() + key.len() + value.len();
    let header = header(status, key.len() as u16, extras.len() as u8, body as u32);
    [&header, extras, key, value].concat()
}

/// A response with one changed byte.
fn changed(mut bytes: Vec<u8>, at: usize, byte: u8) -> Vec<u8> {
    bytes[at] = byte;
    bytes
}

/// All samples of the binary protocol.
pub(super) fn all() -> Vec<Sample> {
    let value = || response(0, &[0; 4], b"", b"hello");
    let mut samples = Vec::from([
        sample("value", value(), REPLIED),
        sample("empty value", response(0, &[0; 4], b"", b""), REPLIED),
        sample("value without extras", response(0, b"", b"", b"hello"), REPLIED),
        sample("value with its key", response(0, &[0; 4], b"k", b"hello"), REPLIED),
        sample("value that looks like a response", response(0, &[0; 4], b"", &value()), REPLIED),
        sample("miss", response(1, b"", b"", b"Not found"), REPLIED),
        sample("miss without a text", response(1, b"", b"", b""), REPLIED),
        sample("key that exists", response(2, b"", b"", b""), REPLIED),
        sample("not stored", response(5, b"", b"", b""), REPLIED),
        sample("unknown status", response(0xffff, b"", b"", b"?"), REPLIED),
        sample("long text of an error", response(0x84, b"", b"", &[b'x'; 2000]), REPLIED),
    ]);
    samples.extend(
        STATUSES
            .iter()
            .map(|(status, name, _)| sample(name, response(*status, b"", b"", b"a message"), REPLIED)),
    );
    samples.extend([
        sample("nothing", Vec::new(), End::Incomplete),
        sample("first byte", Vec::from([0x81]), End::Incomplete),
        sample("part of the header", value()[..23].to_vec(), End::Incomplete),
        sample("header alone", value()[..24].to_vec(), End::Incomplete),
        sample("part of the extras", value()[..26].to_vec(), End::Incomplete),
        sample("part of the value", value()[..30].to_vec(), End::Incomplete),
        sample("longest body", header(0, 0, 0, u32::MAX), End::Incomplete),
        sample("text protocol", b"VALUE k 0 5\r\nhello\r\nEND\r\n".to_vec(), fault(NOT_BINARY)),
        sample("error of the text protocol", b"ERROR\r\n".to_vec(), fault(NOT_BINARY)),
        sample("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), fault(NOT_BINARY)),
        sample("TLS alert", Vec::from([0x15, 3, 3, 0, 2, 2, 0x28]), fault(NOT_BINARY)),
        sample("request", changed(value(), 0, 0x80), fault(NOT_BINARY)),
        sample("response to another operation", changed(value(), 1, 0x01), fault(OTHER)),
        sample("response to another request", changed(value(), 15, 0), fault(OTHER)),
        sample("extras longer than the body", header(0, 0, 4, 3), fault(LENGTH)),
        sample("key longer than the body", header(0, u16::MAX, 0, 5), fault(LENGTH)),
    ]);
    samples
}

fn sample(name: &'static str, bytes: Vec<u8>, end: End) -> Sample {
    Sample { name, bytes, end }
}

fn fault(sentence: &'static str) -> End {
    End::Fault(ErrorClass::ProtocolError, sentence)
}
