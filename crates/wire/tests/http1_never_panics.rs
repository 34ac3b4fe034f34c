//! HTTP robustness: for any bytes, the parser ends with an equal result, however they are split.

use crate::pieces::{Transcript, compare, feed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use wire::http1::PROTOCOL;

/// Parts of valid and invalid replies. Random sequences of them get further than random bytes.
const PARTS: [&[u8]; 34] = [
    b"HTTP/1.1 ",
    b"HTTP/1.0 ",
    b"HTTP/2 ",
    b"100 ",
    b"101 X",
    b"200 OK",
    b"204",
    b"304 N",
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"\n\n",
    b" ",
    b":",
    b",",
    b";",
    b"\0",
    b"Content-Length: 0",
    b"Content-Length: 5\r\n",
    b"content-length: 18446744073709551616",
    b"Content-Length: 3, 3",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"X: y\r\n",
    b"0\r\n\r\n",
    b"3\r\nabc\r\n",
    b"5;a=b\r\nhello\r\n",
    b"ffffffffffffffff\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 100 C\r\n\r\n",
];

fn from_parts() -> impl Strategy<Value = Vec<u8>> {
    let one = prop_oneof![
        9 => (0..PARTS.len()).prop_map(|number| PARTS[number].to_vec()),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(one, 0..24).prop_map(|parts| parts.concat())
}

/// Two samples, changed in a few places, and truncated.
fn from_samples() -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<Index>(), any::<u8>()), 0..4);
    (any::<Index>(), any::<Index>(), changes, any::<Index>()).prop_map(|(first, second, changes, end)| {
        let samples = (PROTOCOL.samples)();
        let mut bytes = first.get(&samples).bytes.clone();
        bytes.extend_from_slice(&second.get(&samples).bytes);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len() + 1));
        bytes
    })
}

fn check_pieces(bytes: &[u8], sizes: &[usize]) -> Result<(), TestCaseError> {
    let whole = feed(&PROTOCOL, [bytes].into_iter());
    let judge = |pieces: &Transcript| {
        compare(&whole, pieces)
            .map_err(|what| TestCaseError::fail(format!("{}: {what}", bytes.escape_ascii())))
    };
    judge(&feed(&PROTOCOL, bytes.chunks(1)))?;
    let mut rest = bytes;
    let cut = sizes.iter().cycle().map_while(|size| {
        let (piece, later) = rest.split_at((*size).min(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    });
    judge(&feed(&PROTOCOL, cut))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..600), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_parts(bytes in from_parts(), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_damage_to_a_sample(bytes in from_samples(), sizes in vec(1usize..400, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }
}
