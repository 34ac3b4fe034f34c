//! An encoded interval decodes to an equal one, and any other bytes give an error or a valid interval.

use proptest::collection::vec;
use proptest::prelude::*;
use record::{
    ErrorClass, Finish, Interval, IntervalDecodeError, LedgerEntry, Outcome, Phase, Sampled, Statuses, Tally,
    Whole, WindowCounts,
};

fn request(place: u64, outcome: Outcome) -> Sampled {
    let (intended_ns, sent_ns) = (2_000_000_000 + 1_000 * place, 2_000_000_070 + 1_000 * place);
    let finish = Finish {
        intended_ns,
        sent_ns,
        first_byte_ns: (outcome != Outcome::Failed).then_some(sent_ns + 30_000),
        finished_ns: sent_ns + 40_000,
        outcome,
        status: if outcome == Outcome::Ok { 200 } else { 0 },
    };
    Sampled { finish, connection: 7, connect_ns: 9 * place, received_bytes: 100, sent_bytes: 14 }
}

/// Returns an interval with one request of every outcome, and a value in every other field.
fn full() -> Interval {
    let sampled: Vec<Sampled> =
        (0..).zip(Outcome::ALL).map(|(place, outcome)| request(place, outcome)).collect();
    let mut tally = Tally { received_bytes: 5_000, sent_bytes: 700, connections: 2, ..Tally::default() };
    for Sampled { finish, .. } in &sampled {
        tally.note_sent(finish.sent_ns);
        tally.note_finished(finish);
    }
    tally.note_not_sent(3);
    tally.connect.record(55_000);
    tally.tls.record(99_000);
    tally.window = WindowCounts { ok: 11, rejected: 12, other: 13, after: 14 };
    tally.errors.note(ErrorClass::Status, 503, || "HTTP 503 \u{e9}".to_owned());
    // A class that this version does not know.
    tally.errors.insert(LedgerEntry {
        class: "reset".into(),
        code: 104,
        message: "the peer reset the connection".to_owned(),
        count: 1,
    });
    tally.errors.add_others(7);
    Interval { second: 2, phase: Phase::Measured, tally, sampled }
}

/// Version 1 of [`full`]. It never changes, because an agent and a leader may have different versions of Tenbin. A new layout gets
/// a new version next to this one.
const VERSION_1: &str = "\
    01 02 01 08 05 03 01 01 01 01 01 8827 bc05 02 01 c6a8d6b907 01 bef8d8b907 0b0c0d0e \
    01 c80101 \
    07 02 06737461747573 f703 01 0b485454502035303320c3a9 057265736574 68 01 1d746865207065657220726573657420746865\
    20636f6e6e656374696f6e \
    05 \
    00 c801 07 80a8d6b907 c6a8d6b907 01 f692d8b907 86e1d8b907 00 64 0e \
    01 00 07 e8afd6b907 aeb0d6b907 01 de9ad8b907 eee8d8b907 09 64 0e \
    02 00 07 d0b7d6b907 96b8d6b907 00 d6f0d8b907 12 64 0e \
    03 00 07 b8bfd6b907 febfd6b907 01 aeaad8b907 bef8d8b907 1b 64 0e \
    04 00 07 a0c7d6b907 e6c7d6b907 01 96b2d8b907 a680d9b907 24 64 0e";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn bytes_of_version_1_never_change() {
    let interval = full();
    let (bytes, histograms) = (interval.encode(), interval.tally.encode_histograms());
    let head =
        bytes.strip_suffix(&histograms[..]).expect("what the store keeps as a blob is the last section");
    assert_eq!(hex(head), VERSION_1.replace(' ', ""));
    assert_eq!(hex(&histograms), HISTOGRAMS.replace(' ', ""));
    assert_eq!(Interval::decode(&bytes), Ok(interval));
}

/// Histograms of [`full`], as in stores of every version.
const HISTOGRAMS: &str = "\
    0186b90286b90286b9020001e43101 0186b90286b90286b9020001e43101 0286b90286b9028cf2040001e43102 \
    01c0b802c0b802c0b8020001e23101 01c0b802c0b802c0b8020001e23101 02c0b802c0b80280f1040001e23102 \
    0146464600014601 0146464600014601 0246468c0100014602 \
    03b0ea01b0ea0190bf050001d32e03 01d8ad03d8ad03d8ad030001b63501 01b88506b88506b8850600018a3c01";

#[test]
fn unknown_version_is_reported() {
    let mut bytes = full().encode();
    bytes[0] = 2;
    let error = Interval::decode(&bytes).unwrap_err();
    assert_eq!(error, IntervalDecodeError::Version(2));
    assert_eq!(error.to_string(), "the interval has version 2, and this program reads version 1");
    assert_eq!(Interval::decode(&[]), Err(IntervalDecodeError::Malformed));
}

#[test]
fn truncated_and_trailing_bytes_are_rejected() {
    let mut bytes = full().encode();
    for length in 0..bytes.len() {
        assert!(Interval::decode(&bytes[..length]).is_err(), "cut after {length} bytes");
    }
    bytes.push(0);
    assert_eq!(Interval::decode(&bytes), Err(IntervalDecodeError::Malformed));
}

#[test]
fn counts_too_large_to_add_are_rejected() {
    let refused = |change: fn(&mut Interval)| {
        let mut interval = full();
        change(&mut interval);
        assert_eq!(Interval::decode(&interval.encode()), Err(IntervalDecodeError::Malformed));
    };
    const TOO_MANY: u64 = 1 << 48;
    refused(|interval| interval.tally.counts.ok = TOO_MANY);
    refused(|interval| interval.tally.received_bytes = TOO_MANY);
    refused(|interval| interval.tally.window.after = TOO_MANY);
    refused(|interval| interval.tally.statuses.add(204, TOO_MANY));
    refused(|interval| interval.tally.errors.add_others(TOO_MANY));
    refused(|interval| {
        interval
            .tally
            .errors
            .insert(LedgerEntry { count: TOO_MANY, ..interval.tally.errors.entries()[0].clone() })
    });
    refused(|interval| interval.tally.tls.record_many(1, TOO_MANY));
    refused(|interval| interval.sampled[0].received_bytes = TOO_MANY);
    refused(|interval| {
        let entry =
            LedgerEntry { class: "x".repeat(65).into(), ..interval.tally.errors.entries()[0].clone() };
        interval.tally.errors.insert(entry);
    });
    refused(|interval| interval.tally.errors.insert(interval.tally.errors.entries()[0].clone()));
}

#[test]
fn statuses_beyond_three_digits_are_counted_as_the_highest() {
    let mut interval = full();
    interval.tally.statuses.add(998, 1);
    interval.tally.statuses.add(40_000, 2);
    interval.tally.statuses.add(50_000, 3);
    let read = Interval::decode(&interval.encode()).unwrap();
    assert_eq!(read.tally.statuses.iter().collect::<Vec<_>>(), [(200, 1), (998, 1), (Statuses::HIGHEST, 5)]);
}

/// A full ledger has a reserve for errnos of the generator's own errors, which must survive too.
#[test]
fn full_ledger_survives_a_round_trip() {
    let mut interval = full();
    (0..100).for_each(|code| interval.tally.errors.note(ErrorClass::Status, code, String::new));
    (0..100).for_each(|code| interval.tally.errors.note(ErrorClass::GeneratorFault, code, String::new));
    assert_eq!(Interval::decode(&interval.encode()), Ok(interval));
}

/// Lengths and counts in the input are untrusted: nothing is allocated before the bytes are there.
#[test]
fn claimed_lengths_allocate_nothing() {
    let head = hex(&full().encode());
    let many = "ffffffffffffffffff01";
    for (section, claim) in
        [("01c80101", many), ("0702067374", &format!("07{many}")), ("06737461747573", many)]
    {
        let at = head.find(section).expect("it is there");
        let bytes: Vec<u8> = [&head[..at], claim]
            .concat()
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
        assert_eq!(Interval::decode(&bytes), Err(IntervalDecodeError::Malformed), "{section}");
    }
}

fn intervals() -> impl Strategy<Value = Interval> {
    let times = (0u64..1 << 50, 0u64..1 << 44, 0u64..1 << 44, any::<bool>());
    let finish = (times, 0usize..5, any::<u16>(), any::<u32>(), 0u64..1 << 48).prop_map(
        |((intended_ns, wait_ns, work_ns, has_byte), way, status, connection, bytes)| {
            let sent_ns = intended_ns + wait_ns;
            let first_byte_ns = has_byte.then_some(sent_ns + work_ns / 2);
            let outcome = Outcome::ALL[way];
            let finish = Finish {
                intended_ns,
                sent_ns,
                first_byte_ns,
                finished_ns: sent_ns + work_ns,
                outcome,
                status: status % 1_000,
            };
            Sampled { finish, connection, connect_ns: wait_ns, received_bytes: bytes, sent_bytes: bytes / 2 }
        },
    );
    let errors = vec((0usize..3, any::<u32>(), ".{0,80}", 0u64..1 << 40), 0..90);
    let figures = (any::<u64>(), any::<bool>(), vec(0u64..1 << 48, 12));
    (figures, vec(finish, 0..60), errors).prop_map(|((second, is_measured, numbers), sampled, errors)| {
        let mut tally = Tally {
            received_bytes: numbers[0],
            sent_bytes: numbers[1],
            connections: numbers[2],
            ..Tally::default()
        };
        for Sampled { finish, .. } in &sampled {
            tally.note_sent(finish.sent_ns);
            tally.note_finished(finish);
            tally.connect.record(finish.finished_ns % 1_000_000);
            tally.tls.record(finish.finished_ns % 2_000_000);
        }
        tally.note_due(numbers[3] >> 2);
        tally.note_not_sent(numbers[4] >> 2);
        tally.window =
            WindowCounts { ok: numbers[5], rejected: numbers[6], other: numbers[7], after: numbers[8] };
        for (class, code, message, count) in errors {
            let class = ["status", "reset", "generator_fault"][class].into();
            let is_known =
                tally.errors.entries().iter().any(|entry| entry.code == code && entry.class == class);
            if !is_known {
                tally.errors.insert(LedgerEntry { class, code, message, count });
            }
        }
        Interval { second, phase: Phase::ALL[usize::from(is_measured)], tally, sampled }
    })
}

/// Checks that a decoded interval can be added many times, and encoded again.
fn is_error_or_sound(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(interval) = Interval::decode(bytes) else { return Ok(()) };
    prop_assert_eq!(Interval::decode(&interval.encode()), Ok(interval.clone()));
    let mut whole = Whole::default();
    for _ in 0..100 {
        // The interval may be inconsistent, which is then an error.
        let _ = whole.absorb(&interval.tally);
    }
    Ok(())
}

proptest! {
    #[test]
    fn intervals_survive_a_round_trip(interval in intervals()) {
        prop_assert_eq!(Interval::decode(&interval.encode()), Ok(interval));
    }

    #[test]
    fn random_bytes_are_an_error_or_valid(bytes in vec(any::<u8>(), 0..400)) {
        is_error_or_sound(&[&[1], &bytes[..]].concat())?;
        is_error_or_sound(&bytes)?;
    }

    /// Small numbers get past more checks than random bytes.
    #[test]
    fn small_numbers_are_an_error_or_valid(bytes in vec(0u8..3, 0..120)) {
        is_error_or_sound(&[&[1], &bytes[..]].concat())?;
    }

    #[test]
    fn damaged_bytes_are_an_error_or_valid(
        interval in intervals(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
    ) {
        let mut bytes = interval.encode();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        is_error_or_sound(&bytes)?;
        bytes.truncate(cut.index(bytes.len()));
        is_error_or_sound(&bytes)?;
    }
}
