//! PostgreSQL robustness: for any bytes, the parser ends with an equal result, however they are split.

use crate::greetings::greet;
use crate::pieces::{compare, feed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use wire::postgres::PROTOCOL;
use wire::{Conversation, Open};

/// Valid and invalid messages, and parts of them. Random sequences of them get further than random bytes.
const PARTS: [&[u8]; 38] = [
    b"T\0\0\0\x1b\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0",
    b"T\0\0\0\x06\0\0",
    b"T\0\0\0\x07\xff\xff\0",
    b"D\0\0\0\x0b\0\x01\0\0\0\x011",
    b"D\0\0\0\x0a\0\x01\xff\xff\xff\xff",
    b"D\0\0\0\x06\0\0",
    b"D\x7f\xff\xff\xff\0\x01",
    b"C\0\0\0\x0dSELECT 1\0",
    b"C\0\0\0\x0fINSERT 0 99\0",
    b"C\0\0\0\x04",
    b"Z\0\0\0\x05I",
    b"Z\0\0\0\x05T",
    b"Z\0\0\0\x05?",
    b"I\0\0\0\x04",
    b"1\0\0\0\x04",
    b"2\0\0\0\x04",
    b"3\0\0\0\x04",
    b"n\0\0\0\x04",
    b"s\0\0\0\x04",
    b"t\0\0\0\x06\0\0",
    b"E\0\0\0\x15SERROR\0C40001\0Mx\0\0",
    b"E\0\0\0\x15SFATAL\0C57P01\0Mx\0\0",
    b"E\0\0\0\x05\0",
    b"N\0\0\0\x05\0",
    b"A\0\0\0\x0b\0\0\0\x01c\0p",
    b"S\0\0\0\x14server_version\x0015\0",
    b"S\0\0\0\x05\0",
    b"G\0\0\0\x07\0\0\0",
    b"H\0\0\0\x07\0\0\0",
    b"d\0\0\0\x061\n",
    b"c\0\0\0\x04",
    b"W\0\0\0\x07\0\0\0",
    b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x02",
    b"R\0\0\0\x08\0\0\0\0",
    b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0",
    b"R\0\0\0\x0c\0\0\0\x05salt",
    b"v\0\0\0\x0c\0\0\0\0\0\0\0\0",
    b"\0\0\0\0",
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
        bytes.push(0);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len() + 1));
        bytes
    })
}

fn cut<'a>(mut rest: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    sizes.iter().cycle().map_while(move |size| {
        let (piece, later) = rest.split_at((*size).min(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

fn check_pieces(bytes: &[u8], sizes: &[usize]) -> Result<(), TestCaseError> {
    let whole = feed(&PROTOCOL, [bytes].into_iter());
    for pieces in [feed(&PROTOCOL, bytes.chunks(1)), feed(&PROTOCOL, cut(bytes, sizes))] {
        compare(&whole, &pieces)
            .map_err(|what| TestCaseError::fail(format!("{}: {what}", bytes.escape_ascii())))?;
    }
    let met = greet(&mut *opened(), [bytes].into_iter());
    prop_assert_eq!(greet(&mut *opened(), bytes.chunks(1)), met);
    prop_assert_eq!(greet(&mut *opened(), cut(bytes, sizes)), met);
    Ok(())
}

fn opened() -> Box<dyn Conversation> {
    let Open::Conversation(open) = PROTOCOL.open else { panic!("it has one exchange at a time") };
    open()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..600), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_messages(bytes in from_parts(), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_damage_to_samples(bytes in from_samples(), sizes in vec(1usize..400, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }
}
