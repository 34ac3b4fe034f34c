//! Framing of outgoing packets: a length of three bytes, a sequence number, and up to 16 MiB minus one byte of content.

use alloc::vec::Vec;

pub(super) const HEADER_BYTES: usize = 4;
/// A packet with content of this length continues in the next one.
pub(super) const PAYLOAD_BYTES_MAX: usize = 0xff_ffff;

/// Writes content as packets that begin with `sequence`. Returns the sequence number after the last packet.
pub(super) fn put(out: &mut Vec<u8>, sequence: u8, write: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    write(out);
    let length = out.len() - start - HEADER_BYTES;
    if length >= PAYLOAD_BYTES_MAX {
        return split(out, start, sequence);
    }
    out[start..start + HEADER_BYTES].copy_from_slice(&header(length, sequence));
    sequence.wrapping_add(1)
}

#[cold]
fn split(out: &mut Vec<u8>, start: usize, mut sequence: u8) -> u8 {
    let content = out.split_off(start + HEADER_BYTES);
    out.truncate(start);
    out.reserve(content.len() + HEADER_BYTES * (content.len() / PAYLOAD_BYTES_MAX + 1));
    let (full, last) = content.as_chunks::<PAYLOAD_BYTES_MAX>();
    for payload in full.iter().map(|payload| payload.as_slice()).chain([last]) {
        out.extend_from_slice(&header(payload.len(), sequence));
        out.extend_from_slice(payload);
        sequence = sequence.wrapping_add(1);
    }
    sequence
}

fn header(length: usize, sequence: u8) -> [u8; HEADER_BYTES] {
    let [a, b, c, ..] = length.to_le_bytes();
    [a, b, c, sequence]
}

/// Writes a length-encoded integer.
pub(super) fn put_number(out: &mut Vec<u8>, number: usize) {
    let bytes = (number as u64).to_le_bytes();
    match number {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

/// Writes length-prefixed bytes.
pub(super) fn put_length_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::{HEADER_BYTES, PAYLOAD_BYTES_MAX, put, put_number};
    use crate::mysql::fields::Fields;

    #[test]
    fn length_encoded_integers_round_trip() {
        for number in [0, 0xfa, 0xfb, 0xffff, 0x1_0000, 0xff_ffff, 0x100_0000, usize::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, number);
            let mut fields = Fields::of(&out);
            assert_eq!((fields.number(), fields.is_at_end()), (Some(number as u64), true));
        }
    }

    #[test]
    fn splits_long_content_and_ends_with_shorter_packet() {
        for (length, packets) in
            [(0, 1), (PAYLOAD_BYTES_MAX - 1, 1), (PAYLOAD_BYTES_MAX, 2), (PAYLOAD_BYTES_MAX + 5, 2)]
        {
            let mut out = vec![b'x'];
            let next = put(&mut out, 255, |out| out.resize(out.len() + length, b'q'));
            assert_eq!(usize::from(next.wrapping_sub(255)), packets);
            assert_eq!(out.len(), 1 + length + packets * HEADER_BYTES);
            let last = &out[out.len() - length % PAYLOAD_BYTES_MAX - HEADER_BYTES..];
            let [a, b, c, ..] = (length % PAYLOAD_BYTES_MAX).to_le_bytes();
            assert_eq!(last[..HEADER_BYTES], [a, b, c, next.wrapping_sub(1)]);
        }
    }
}
