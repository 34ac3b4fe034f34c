//! Stored histograms survive a round trip, and any other bytes are rejected without harm.

use proptest::collection::vec;
use proptest::prelude::*;
use record::{Finish, Histogram, Outcome, Percentile, Tally};

/// Returns the requests with arbitrary times and outcomes.
fn finishes() -> impl Strategy<Value = Vec<Finish>> {
    let times = (0u64..1 << 50, 0u64..1 << 44, 0u64..1 << 44, any::<bool>());
    let one = (times, 0usize..5, 0u16..1000).prop_map(
        |((intended_ns, wait_ns, work_ns, has_byte), way, status)| {
            let sent_ns = intended_ns + wait_ns;
            Finish {
                intended_ns,
                sent_ns,
                first_byte_ns: has_byte.then_some(sent_ns + work_ns / 2),
                finished_ns: sent_ns + work_ns,
                outcome: Outcome::ALL[way],
                status,
            }
        },
    );
    vec(one, 0..200)
}

fn tally(finishes: &[Finish]) -> Tally {
    let mut tally = Tally::default();
    for finish in finishes {
        tally.note_sent(finish.sent_ns);
        tally.note_finished(finish);
    }
    tally
}

fn histograms(tally: &Tally) -> Vec<&Histogram> {
    let Tally { response, service, lateness, first_byte, connect, tls, .. } = tally;
    let splits = [response, service, lateness].into_iter();
    splits
        .flat_map(|split| [&split.ok, &split.rejected, &split.other])
        .chain([first_byte, connect, tls])
        .collect()
}

/// Checks that a decoded histogram is consistent.
fn is_sound(histogram: &Histogram) -> Result<(), TestCaseError> {
    let counted = histogram.counters().try_fold(0u64, |sum, (_, count)| sum.checked_add(count));
    prop_assert_eq!(counted, Some(histogram.count()), "the counters add up to the count");
    let whole = Percentile::from_ppm(1_000_000).expect("it is the whole");
    for percentile in [Percentile::P50, Percentile::P99_99, whole] {
        prop_assert_eq!(histogram.value_at(percentile).is_some(), !histogram.is_empty());
    }
    Ok(())
}

fn decode(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut tally = Tally::default();
    let answer = tally.decode_histograms(bytes);
    let counted = histograms(&tally).into_iter().map(Histogram::count).sum();
    prop_assert_eq!(Tally::check_histograms(bytes), answer.map(|()| counted));
    if answer.is_ok() {
        histograms(&tally).into_iter().try_for_each(is_sound)?;
        let again = tally.encode_histograms();
        let mut copy = Tally::default();
        prop_assert!(copy.decode_histograms(&again).is_ok(), "what was accepted can be kept");
        prop_assert_eq!(copy, tally);
    }
    Ok(())
}

proptest! {
    #[test]
    fn stored_histograms_survive_a_round_trip(finishes in finishes()) {
        let tally = tally(&finishes);
        let mut copy = Tally::default();
        prop_assert!(copy.decode_histograms(&tally.encode_histograms()).is_ok());
        prop_assert_eq!(histograms(&copy), histograms(&tally));
    }

    #[test]
    fn adding_stored_histograms_equals_merging_them(one in finishes(), other in finishes()) {
        let (mut merged, kept) = (tally(&one), tally(&other));
        let mut added = merged.clone();
        prop_assert!(added.add_histograms(&kept.encode_histograms()).is_ok());
        merged.merge(&kept);
        prop_assert_eq!(histograms(&added), histograms(&merged));
        let (mut response, mut lateness) = (Histogram::new(), Histogram::new());
        let bytes = merged.encode_histograms();
        prop_assert!(Tally::add_response_and_lateness(&bytes, &mut response, &mut lateness).is_ok());
        prop_assert_eq!((response, lateness), (merged.response.all(), merged.lateness.all()));
    }

    #[test]
    fn random_bytes_are_rejected_or_valid(bytes in vec(any::<u8>(), 0..400)) {
        decode(&bytes)?;
    }

    /// Small numbers get past more checks than random bytes.
    #[test]
    fn small_numbers_are_rejected_or_valid(bytes in vec(0u8..5, 0..200)) {
        decode(&bytes)?;
    }

    #[test]
    fn damaged_bytes_are_rejected_or_valid(
        finishes in finishes(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()
    ) {
        let mut bytes = tally(&finishes).encode_histograms();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        decode(&bytes)?;
        bytes.truncate(cut.index(bytes.len()));
        decode(&bytes)?;
    }
}

/// A few bytes must not allocate much: twelve histograms have at most 396 chunks of 8 KiB.
#[test]
fn hostile_input_does_not_allocate_much() {
    let number = |mut value: u64| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    let head = [u64::MAX, 0, Histogram::HIGHEST_NS, u64::MAX, 0].map(number).concat();
    for (entries, step) in [(u64::MAX, 1024), (u64::MAX, u64::MAX), (1, 33 * 1024), (33, 1024)] {
        let entry = [number(step), number(1)].concat();
        let form = [head.clone(), number(entries), entry.repeat(10_000)].concat();
        assert!(Tally::default().decode_histograms(&form).is_err(), "{entries} entries {step} apart");
    }
}

/// A duplicate counter would have a single count but double weight.
#[test]
fn duplicate_counter_is_rejected() {
    let twice = [2, 0, 5, 2, 0, 2, 1, 1, 0, 1];
    let empty = [0; 11];
    let form = [&twice[..], &empty].concat();
    assert!(Tally::default().decode_histograms(&form).is_err());
    let once = [2, 0, 5, 2, 0, 1, 1, 2];
    assert!(
        Tally::default().decode_histograms(&[&once[..], &empty].concat()).is_ok(),
        "the form is otherwise right"
    );
}
