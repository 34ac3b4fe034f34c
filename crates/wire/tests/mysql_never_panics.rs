//! MySQL robustness: for any bytes, a session ends with an equal result, however they are split.

use crate::greetings::{self, GreetingResult};
use crate::mysql_server::{MARIADB, MYSQL_8, OLD, SUCCESS, TLS, greeting, logged_in, login, packets};
use crate::pieces::{compare, feed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::sync::Arc;
use wire::mysql::{PROTOCOL, Session};
use wire::sql::{
    FixedQuery, InsecureAuth, Login, RowSink, Session as _, SessionEvent, Statement, TlsMode, Value,
};

/// Contents of valid and invalid packets. Random sequences of them get further than random bytes.
const PAYLOADS: [&[u8]; 26] = [
    SUCCESS,
    &[0, 1, 0, 0x0b, 0, 0, 0],
    &[0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0],
    &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    &[0, 9, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0],
    &[1],
    &[1, 0],
    &[1, 1],
    &[2],
    &[2, 1],
    &[0xfc, 0, 0x10],
    b"\x03def\0\0\0\x01n\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0",
    b"\x03def\0\0\0\x01t\0\x0c\x2d\0\x01\0\0\0\xfd\0\0\0\0\0",
    b"\x03def\0\0\0\x01d\0\x0c\x2d\0\x01\0\0\0\x0c\0\0\x06\0\0",
    &[0xfe, 0, 0, 2, 0],
    &[0xfe, 0, 0, 0x0a, 0],
    &[0xfe, 0, 0, 2, 0, 0, 0],
    b"\xff\x28\x04#42000syntax",
    b"\xfb/etc/passwd",
    b"\x011",
    b"\x011\x012",
    &[0, 0, 7, 0, 0, 0, 0, 0, 0, 0],
    &[0, 4, 2, b'h', b'i'],
    &[0, 0, 1, 2, 3],
    &[],
    b"\xfemysql_native_password\x001234567890123456789\0",
];

/// Records all rows.
#[derive(Default)]
struct RowLog(Vec<u8>, bool);

impl RowSink for RowLog {
    fn needs_rows(&self) -> bool {
        self.1
    }

    fn column(&mut self, number: u16, name: &[u8]) {
        self.0.extend_from_slice(&number.to_le_bytes());
        self.0.extend_from_slice(name);
    }

    fn value(&mut self, column: u16, value: Option<&[u8]>) {
        self.0.extend_from_slice(&column.to_le_bytes());
        self.0.extend_from_slice(value.unwrap_or(b"NULL"));
    }

    fn finish_row(&mut self) {
        self.0.push(b';');
    }
}

/// Events, errors, and rows of up to 13 rounds of statements.
fn transcript<'a>(
    capabilities: u64,
    needs_rows: bool,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (String, Vec<u8>) {
    let mut session = logged_in(capabilities);
    let mut notes = RowLog(Vec::new(), needs_rows);
    let (mut told, mut asked) = (String::new(), 0);
    ask(&mut session, 0);
    for piece in pieces.chain([&[][..]]) {
        let mut rest = piece;
        loop {
            match session.received(rest, &mut notes) {
                Err(fault) => return (format!("{told} {} {}", fault.class, fault.sentence), notes.0),
                Ok((used, event)) => {
                    assert!(used <= rest.len(), "{used} of {} bytes were used", rest.len());
                    rest = &rest[used..];
                    match event {
                        SessionEvent::NeedMore => {
                            assert!(rest.is_empty());
                            break;
                        }
                        SessionEvent::Ready if asked < 12 => {
                            asked += 1;
                            session.clear();
                            ask(&mut session, asked);
                        }
                        SessionEvent::Ready => return (told, notes.0),
                        SessionEvent::Send => assert!(!session.outgoing().is_empty()),
                        SessionEvent::Rejected => told.push_str(&session.last_error().text),
                        SessionEvent::Succeeded { .. } | SessionEvent::RolledBack => {}
                    }
                    told.push_str(&format!("{event:?} "));
                }
            }
        }
    }
    (told, notes.0)
}

/// Sends a query, a kept statement, or an unkept and a kept statement together.
fn ask(session: &mut Session, turn: u16) {
    let statement = |number, is_kept| Statement { number, text: "select ?", is_kept };
    match turn % 3 {
        0 => session.execute(statement(turn / 6, true), &mut [Value::Bare(b"7")].into_iter()),
        1 => return session.query(b"select 1"),
        _ => {
            session.execute(statement(0, false), &mut [].into_iter());
            session.execute(statement(1, true), &mut [Value::Null].into_iter());
        }
    }
    session.sync();
}

fn cut<'a>(bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    sizes.iter().cycle().map_while(move |size| {
        let (piece, later) = rest.split_at((*size).min(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

fn check_pieces(bytes: &[u8], sizes: &[usize]) -> Result<(), TestCaseError> {
    let whole = feed(&PROTOCOL, [bytes].into_iter());
    for pieces in [feed(&PROTOCOL, bytes.chunks(1)), feed(&PROTOCOL, cut(bytes, sizes))] {
        compare(&whole, &pieces).map_err(TestCaseError::fail)?;
    }
    for (capabilities, needs_rows) in [(OLD, true), (MYSQL_8, true), (MARIADB, true), (MARIADB, false)] {
        let whole = transcript(capabilities, needs_rows, [bytes].into_iter());
        prop_assert_eq!(&whole, &transcript(capabilities, needs_rows, bytes.chunks(1)));
        prop_assert_eq!(&whole, &transcript(capabilities, needs_rows, cut(bytes, sizes)));
    }
    Ok(())
}

fn check_greeting_pieces(bytes: &[u8], sizes: &[usize]) -> Result<(), TestCaseError> {
    for (tls, weak) in [
        (TlsMode::No, InsecureAuth::ALL),
        (TlsMode::IfOffered, InsecureAuth::default()),
        (TlsMode::Required, InsecureAuth::default()),
    ] {
        let settings = vec![("a".to_owned(), "b".to_owned())];
        let login = Arc::new(Login { tls, weak, settings, ..login("secret") });
        let open = || FixedQuery::new(Session::new(Arc::clone(&login), [5; 18]), "SELECT 1", ());
        let whole = greetings::greet(&mut open(), [bytes].into_iter());
        let pieces = [bytes.chunks(1).collect::<Vec<_>>(), cut(bytes, sizes).collect()];
        for pieces in pieces.map(|pieces| greetings::greet(&mut open(), pieces.into_iter())) {
            // In pieces, bytes that arrive before TLS look like bytes after its start, because the test does not encrypt.
            let is_early =
                matches!(whole, GreetingResult::Fault(_, sentence) if sentence.contains("TLS was expected"));
            prop_assert!(whole == pieces || is_early, "whole: {:?}; in pieces: {:?}", whole, pieces);
        }
    }
    Ok(())
}

/// Up to eight replies of up to eight packets each, mostly with valid sequence numbers.
fn from_payloads(first: u8) -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        12 => (0..PAYLOADS.len()).prop_map(|number| PAYLOADS[number].to_vec()),
        1 => vec(any::<u8>(), 0..12),
    ];
    let first = prop_oneof![20 => Just(first), 1 => any::<u8>()];
    let reply = (first, vec(payload, 1..8)).prop_map(|(first, payloads)| {
        packets(first, &payloads.iter().map(Vec::as_slice).collect::<Vec<_>>())
    });
    vec(reply, 0..8).prop_map(|replies| replies.concat())
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

/// A greeting, possibly damaged, and packets after it.
fn greeted() -> impl Strategy<Value = Vec<u8>> {
    let capabilities = prop_oneof![Just(MYSQL_8), Just(MARIADB), Just(MYSQL_8 | TLS), any::<u64>()];
    let plugin = prop_oneof![Just("mysql_native_password"), Just("caching_sha2_password"), Just("x")];
    let damage = vec((any::<Index>(), any::<u8>()), 0..2);
    (capabilities, plugin, damage, from_payloads(2)).prop_map(|(capabilities, plugin, damage, rest)| {
        let mut bytes = greeting(capabilities, "8.0.36", plugin, b"12345678901234567890");
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        [bytes, rest].concat()
    })
}

#[test]
fn unsolicited_error_parses_same_in_pieces() {
    let idle = b"\x0d\0\0\0\xff\xbf\x0f#08S01idle".as_slice();
    for more in [
        b"\x17\0\0\x01\xff\x10\x04Too many connections".as_slice(),
        b"\x07\0\0\x01\0\0\0\x02\0\0\0",
        b"\x05\0",
    ] {
        check_pieces(&[idle, more].concat(), &[1, 3]).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..200), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
        check_greeting_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_packets(bytes in from_payloads(1), sizes in vec(1usize..40, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_damage_to_a_sample(bytes in from_samples(), sizes in vec(1usize..400, 1..20)) {
        check_pieces(&bytes, &sizes)?;
    }

    #[test]
    fn any_greeting(bytes in greeted(), sizes in vec(1usize..40, 1..20)) {
        check_greeting_pieces(&bytes, &sizes)?;
    }
}
