//! Decoding of bodies with a `Content-Encoding` (RFC 9110, 8.4) for checks, captures, and sampled sizes: gzip, deflate, br, and zstd.
//!
//! The decoded size is bounded, regardless of the size that the body claims: decoding stops at the max that checks and captures read.

use alloc::vec::Vec;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::content::Coding;

/// A decoded body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decompressed {
    pub(super) bytes: Vec<u8>,
    /// Whether the bytes are the complete body.
    pub(super) is_whole: bool,
}

/// Initial size of the output buffer.
const FIRST_BYTES: usize = 16 * 1024;
/// The largest window of zstd that a client must support (RFC 9659).
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 * 1024 * 1024;

impl Coding {
    /// Adds a coding that a header names. Two codings become [`Self::Other`].
    pub(super) fn with(self, token: &[u8]) -> Self {
        let named = |name: &str| token.eq_ignore_ascii_case(name.as_bytes());
        let coding = match () {
            () if named("identity") => return self,
            () if named("gzip") || named("x-gzip") => Self::Gzip,
            () if named("deflate") => Self::Deflate,
            () if named("br") => Self::Brotli,
            () if named("zstd") => Self::Zstd,
            () => Self::Other,
        };
        if self == Self::Identity { coding } else { Self::Other }
    }

    /// Decodes a body, or its beginning, up to `bytes_max`. `None` if it is malformed, or if its coding is unknown.
    pub(super) fn decode_body(self, body: &[u8], bytes_max: usize) -> Option<Decompressed> {
        match self {
            Self::Identity | Self::Other => None,
            Self::Gzip => gzip(body, bytes_max),
            Self::Deflate => {
                // Some servers send deflate data without the zlib header.
                let is_wrapped = matches!(body, [first, second, ..]
                    if first & 15 == 8 && (u32::from(*first) << 8 | u32::from(*second)) % 31 == 0);
                let mut bytes = Vec::new();
                let end = inflate(body, is_wrapped, &mut bytes, bytes_max)?;
                Some(Decompressed { bytes, is_whole: matches!(end, End::Complete { .. }) })
            }
            Self::Brotli => brotli(body, bytes_max),
            Self::Zstd => zstd(body, bytes_max),
        }
    }
}

/// End of a deflate stream.
enum End {
    /// The stream ended after `used` input bytes.
    Complete { used: usize },
    /// The output limit or the end of the kept input was reached first.
    Truncated,
}

/// Appends the decoded data of a deflate stream to `out`. `None` if the stream is malformed.
fn inflate(body: &[u8], is_wrapped: bool, out: &mut Vec<u8>, bytes_max: usize) -> Option<End> {
    let wrapped = if is_wrapped { inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER } else { 0 };
    let flags = wrapped
        | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF
        | inflate_flags::TINFL_FLAG_HAS_MORE_INPUT;
    let mut state = DecompressorOxide::new();
    // Back-references stay within the present member.
    let before = out.len();
    let (mut used, mut filled) = (0, 0);
    loop {
        let room = (filled * 2).max(FIRST_BYTES).min(bytes_max - before);
        out.resize(before + room, 0);
        let (status, more_used, more) =
            decompress(&mut state, &body[used..], &mut out[before..], filled, flags);
        used += more_used;
        filled += more;
        let end = match status {
            TINFLStatus::Done => Some(End::Complete { used }),
            TINFLStatus::HasMoreOutput if before + filled >= bytes_max => Some(End::Truncated),
            TINFLStatus::HasMoreOutput => None,
            TINFLStatus::NeedsMoreInput => Some(End::Truncated),
            _ => {
                out.truncate(before);
                return None;
            }
        };
        if let Some(end) = end {
            out.truncate(before + filled);
            return Some(end);
        }
    }
}

/// Decodes gzip members, one after another (RFC 1952).
fn gzip(mut body: &[u8], bytes_max: usize) -> Option<Decompressed> {
    /// Checksum and length.
    const TRAILER_BYTES: usize = 8;
    let mut bytes = Vec::new();
    loop {
        let head = gzip_head(body)?;
        match inflate(&body[head..], false, &mut bytes, bytes_max)? {
            End::Truncated => return Some(Decompressed { bytes, is_whole: false }),
            End::Complete { used } => {
                body = body.get(head + used + TRAILER_BYTES..).unwrap_or_default();
                if body.is_empty() {
                    return Some(Decompressed { bytes, is_whole: true });
                }
            }
        }
        if bytes.len() >= bytes_max {
            return Some(Decompressed { bytes, is_whole: false });
        }
    }
}

/// Length of a member's header in bytes. `None` if it is malformed or incomplete.
fn gzip_head(body: &[u8]) -> Option<usize> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, ..] = body else { return None };
    let mut at = 10;
    if flags & 4 != 0 {
        let length = u16::from_le_bytes([*body.get(at)?, *body.get(at + 1)?]);
        at += 2 + usize::from(length);
    }
    // File name and comment, each terminated by a zero byte.
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += memchr::memchr(0, body.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at <= body.len()).then_some(at)
}

fn brotli(body: &[u8], bytes_max: usize) -> Option<Decompressed> {
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
    let (mut left, mut used, mut filled, mut total) = (body.len(), 0, 0, 0);
    let mut bytes = alloc::vec![0; FIRST_BYTES.min(bytes_max)];
    loop {
        bytes.resize(bytes.len().max(filled * 2).min(bytes_max), 0);
        let mut room = bytes.len() - filled;
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            body,
            &mut room,
            &mut filled,
            &mut bytes,
            &mut total,
            &mut state,
        );
        let is_whole = match result {
            BrotliResult::ResultSuccess => true,
            BrotliResult::NeedsMoreOutput if filled < bytes_max => continue,
            BrotliResult::NeedsMoreOutput | BrotliResult::NeedsMoreInput => false,
            BrotliResult::ResultFailure => return None,
        };
        bytes.truncate(filled);
        return Some(Decompressed { bytes, is_whole });
    }
}

/// Decodes zstd frames, one after another (RFC 8878).
fn zstd(body: &[u8], bytes_max: usize) -> Option<Decompressed> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
    let (mut rest, mut bytes) = (body, Vec::new());
    while !rest.is_empty() {
        decoder.reset(&mut rest).ok()?;
        while !decoder.is_finished() {
            let step = BlockDecodingStrategy::UptoBlocks(1);
            if decoder.decode_blocks(&mut rest, step).is_err() {
                // The kept part of the body may end within a block.
                return (!bytes.is_empty()).then_some(Decompressed { bytes, is_whole: false });
            }
            bytes.extend(decoder.collect().unwrap_or_default());
            if bytes.len() > bytes_max {
                bytes.truncate(bytes_max);
                return Some(Decompressed { bytes, is_whole: false });
            }
        }
        bytes.extend(decoder.collect().unwrap_or_default());
    }
    bytes.truncate(bytes_max);
    Some(Decompressed { bytes, is_whole: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const TEXT: &str = "{\"token\": \"packed é\"}";
    const GZIP: &str = "1f8b0800000000000003ab562ac9cf4ecd53b252502a484cce4e4d5138bc52a916006c6c531b16000000";
    const ZLIB: &str = "789cab562ac9cf4ecd53b252502a484cce4e4d5138bc52a91600572c07f0";
    const RAW: &str = "ab562ac9cf4ecd53b252502a484cce4e4d5138bc52a91600";
    const BROTLI: &str = "8b0a807b22746f6b656e223a20227061636b656420c3a9227d03";
    const ZSTD: &str = "28b52ffd0468b100007b22746f6b656e223a20227061636b656420c3a9227d5e077f71";
    /// 64 MiB of one letter, compressed.
    const BROTLI_BOMB: &str = "cbffff3ff825c2e2b14020f7fe8fffff7ff04b00c4611180eefd1fffffffe0970088c30200ddfb3ffeffffc12f0110870500baf77ffcffff835f02200e0b0074effff8ffff07bf04401c1600e8defff1ffff0f7e0980382c00d0bdffcbffff3ffc1200715800a07bff07";

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    fn coding(header: &str) -> Coding {
        header.split(',').fold(Coding::Identity, |coding, token| coding.with(token.trim().as_bytes()))
    }

    #[test]
    fn decodes_every_coding_up_to_the_limit() {
        for (name, packed) in [
            ("gzip", GZIP),
            ("X-GZIP", GZIP),
            ("deflate", ZLIB),
            ("deflate", RAW),
            ("br", BROTLI),
            ("zstd", ZSTD),
        ] {
            let expected = Decompressed { bytes: TEXT.into(), is_whole: true };
            assert_eq!(coding(name).decode_body(&bytes(packed), 1000), Some(expected), "{name}");
            let cut = Decompressed { bytes: TEXT.as_bytes()[..5].to_vec(), is_whole: false };
            assert_eq!(coding(name).decode_body(&bytes(packed), 5), Some(cut), "{name}");
        }
        let two = [bytes(GZIP), bytes(GZIP)].concat();
        let expected = Decompressed { bytes: [TEXT, TEXT].concat().into(), is_whole: true };
        assert_eq!(Coding::Gzip.decode_body(&two, 1000), Some(expected), "members one after the other");
    }

    #[test]
    fn does_not_decode_several_or_unknown_codings() {
        for name in ["gzip, br", "compress", "gzip,gzip", "aws-chunked"] {
            assert_eq!(coding(name), Coding::Other, "{name}");
            assert_eq!(coding(name).decode_body(&bytes(GZIP), 1000), None, "{name}");
        }
        assert_eq!((coding("identity"), coding("identity, gzip")), (Coding::Identity, Coding::Gzip));
    }

    #[test]
    fn decompression_bomb_stops_at_the_limit() {
        let unpacked = Coding::Brotli.decode_body(&bytes(BROTLI_BOMB), 1 << 20).expect("it can be read");
        assert_eq!((unpacked.bytes.len(), unpacked.is_whole), (1 << 20, false));
        // 8 GiB in blocks of one repeated byte.
        let mut frame = bytes("28b52ffd0058");
        frame.extend([0x02, 0x00, 0x10, b'a'].repeat(65_536));
        let unpacked = Coding::Zstd.decode_body(&frame, 1 << 20);
        assert!(unpacked.is_none_or(|unpacked| unpacked.bytes.len() <= 1 << 20 && !unpacked.is_whole));
        // Compresses about 1032 to 1.
        let zeros = miniz_oxide::deflate::compress_to_vec(&vec![0; 64 << 20], 9);
        let unpacked = Coding::Deflate.decode_body(&zeros, 1 << 20).expect("it can be read");
        assert_eq!((unpacked.bytes.len(), unpacked.is_whole), (1 << 20, false));
    }

    #[test]
    fn malformed_body_is_none_and_truncated_body_decodes_partly() {
        for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
            assert_eq!(coding.decode_body(b"{\"token\": 1}", 1000), None, "{coding:?}");
        }
        let cut = bytes(GZIP);
        let unpacked = Coding::Gzip.decode_body(&cut[..20], 1000).expect("a beginning");
        assert!(!unpacked.is_whole && TEXT.as_bytes().starts_with(&unpacked.bytes));
        assert_eq!(Coding::Gzip.decode_body(&[], 1000), None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            tail in proptest::collection::vec(any::<u8>(), 0..200),
            place in 0_usize..30,
            number in 0_usize..4,
        ) {
            let (coding, whole) =
                [(Coding::Gzip, GZIP), (Coding::Deflate, ZLIB), (Coding::Brotli, BROTLI), (Coding::Zstd, ZSTD)][number];
            let mut body = bytes(whole);
            body.truncate(place);
            body.extend(tail);
            if let Some(unpacked) = coding.decode_body(&body, 4096) {
                prop_assert!(unpacked.bytes.len() <= 4096);
            }
        }
    }
}
