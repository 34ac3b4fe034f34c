//! Tests of a line in virtual time: complete, in order, and exactly on time.

use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Sends data as soon as possible to a peer that reads at most `take` of the ready bytes. Returns the send times and data.
fn play(line: &mut DelayLine, until_ns: u64, rate: Option<u64>, take: usize) -> Vec<(u64, Vec<u8>)> {
    let mut left = Vec::new();
    while let Some(now_ns) = line.next_at_ns(rate).filter(|at_ns| *at_ns <= until_ns) {
        let ready = line.ready(now_ns, rate);
        if ready.is_empty() {
            assert!(line.end(now_ns).is_some(), "due, and neither bytes nor an end");
            break;
        }
        let count = ready.len().min(take);
        left.push((now_ns, ready[..count].to_vec()));
        line.sent(now_ns, rate, count);
    }
    left
}

#[test]
fn bytes_leave_exactly_after_their_delay() {
    let mut line = DelayLine::default();
    line.push(5 * MS, 20 * MS, b"ab");
    line.push(6 * MS, 20 * MS, b"c");
    line.finish(7 * MS, 20 * MS, End::Fin);
    assert_eq!(line.ready(25 * MS - 1, None), b"");
    assert_eq!(play(&mut line, u64::MAX, None, 9), [(25 * MS, b"ab".to_vec()), (26 * MS, b"c".to_vec())]);
    assert_eq!((line.end(27 * MS - 1), line.end(27 * MS)), (None, Some(End::Fin)));
}

#[test]
fn shorter_delay_does_not_reorder() {
    let mut line = DelayLine::default();
    line.push(0, 20 * MS, b"first");
    line.push(MS, 0, b"second");
    line.finish(2 * MS, 0, End::Reset);
    assert_eq!(line.ready(19 * MS, None), b"");
    assert_eq!(line.ready(20 * MS, None), b"firstsecond");
    assert_eq!(line.end(20 * MS), None, "the end waits for the bytes");
    line.sent(20 * MS, None, 11);
    assert_eq!(line.end(20 * MS), Some(End::Reset));
}

#[test]
fn bandwidth_is_exact_and_precedes_the_end() {
    let mut line = DelayLine::default();
    line.push(0, 10 * MS, &[7; 100_000]);
    line.finish(0, 10 * MS, End::Fin);
    let left = play(&mut line, u64::MAX, Some(1_000_000), usize::MAX);
    assert_eq!(left.first().map(|(at_ns, bytes)| (*at_ns, bytes.len())), Some((11 * MS, 1000)));
    assert_eq!(left.last().map(|(at_ns, _)| *at_ns), Some(110 * MS));
    assert_eq!(line.end(110 * MS), Some(End::Fin));
}

#[test]
fn late_proxy_catches_up_without_a_burst() {
    let mut line = DelayLine::default();
    line.push(0, 0, &[7; 100_000]);
    let rate = Some(1_000_000);
    for _ in 0..3 {
        assert_eq!(line.ready(4 * MS, rate).len(), 1000, "three slices of a millisecond have been due");
        line.sent(4 * MS, rate, 1000);
    }
    let mut burst = 0;
    while !line.ready(50 * MS, rate).is_empty() {
        burst += line.ready(50 * MS, rate).len();
        line.sent(50 * MS, rate, line.ready(50 * MS, rate).len());
    }
    assert!((5000..=7000).contains(&burst), "{burst}");
}

#[test]
fn new_bandwidth_applies_to_waiting_data() {
    let mut line = DelayLine::default();
    line.push(0, 0, &[7; 10_000]);
    assert_eq!(line.next_at_ns(Some(1)), Some(64 * SECOND));
    assert_eq!(line.next_at_ns(None), Some(0));
    assert_eq!(line.ready(0, None).len(), 10_000);
}

#[test]
fn memory_is_bounded_and_freed() {
    let limit = 256 * 1024;
    for size in [1, 100, 65_536] {
        let (mut line, mut now_ns) = (DelayLine::default(), 0);
        while line.room(limit) > 0 {
            now_ns += 1;
            line.push(now_ns, SECOND, &vec![7; size.min(line.room(limit))]);
        }
        assert!(line.memory_bytes() <= 3 * limit, "{size}: {}", line.memory_bytes());
        for _ in 0..2 {
            play(&mut line, u64::MAX, None, usize::MAX);
            line.push(now_ns, SECOND, b"x");
        }
        play(&mut line, u64::MAX, None, usize::MAX);
        assert!(line.memory_bytes() <= 3 * IDLE_BYTES_MAX, "{size}: {}", line.memory_bytes());
    }
}

/// Generates pieces of data: time since the previous piece was read, delay, and length.
fn pieces() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
    prop::collection::vec((0..5 * MS, 0..30 * MS, 1usize..3000), 1..40)
}

proptest! {
    #[test]
    fn data_arrives_in_order_and_never_early(
        pieces in pieces(), rate in prop::option::of(1_000u64..1_000_000_000), take in 1usize..5000,
    ) {
        let (mut line, mut now_ns, mut left) = (DelayLine::default(), 0, Vec::new());
        let (mut all, mut earliest_ns) = (Vec::new(), Vec::new());
        for (number, (pause_ns, delay_ns, len)) in pieces.iter().enumerate() {
            now_ns += pause_ns;
            left.extend(play(&mut line, now_ns, rate, take));
            let bytes: Vec<u8> = (0..*len).map(|at| (number * 31 + at) as u8).collect();
            line.push(now_ns, *delay_ns, &bytes);
            earliest_ns.extend(std::iter::repeat_n(now_ns + delay_ns, *len));
            all.extend(bytes);
        }
        line.finish(now_ns, 0, End::Fin);
        left.extend(play(&mut line, u64::MAX, rate, take));
        let mut arrived = Vec::new();
        for (at_ns, bytes) in left {
            prop_assert!(bytes.iter().enumerate().all(|(at, _)| earliest_ns[arrived.len() + at] <= at_ns));
            arrived.extend(bytes);
        }
        prop_assert_eq!(arrived, all);
        prop_assert_eq!(line.end(u64::MAX), Some(End::Fin));
    }

    /// The link carries one piece at a time: Lindley's recursion, accurate to 1 ns per slice.
    #[test]
    fn piece_has_left_when_the_link_has_carried_it(
        pieces in pieces(), rate in 10_000u64..1_000_000_000,
    ) {
        let (mut line, mut now_ns, mut last_due_ns, mut expected_ns) = (DelayLine::default(), 0, 0, 0.0f64);
        for (pause_ns, delay_ns, len) in &pieces {
            now_ns += pause_ns;
            line.push(now_ns, *delay_ns, &vec![7; *len]);
            last_due_ns = last_due_ns.max(now_ns + delay_ns);
            expected_ns = expected_ns.max(last_due_ns as f64) + *len as f64 * 1e9 / rate as f64;
        }
        let left = play(&mut line, u64::MAX, Some(rate), usize::MAX);
        let (slices, at_ns) = (left.len() as f64, left.last().map_or(0, |(at_ns, _)| *at_ns) as f64);
        prop_assert!(at_ns >= expected_ns - 1.0 && at_ns <= expected_ns + slices + 1.0, "{at_ns} {expected_ns}");
    }

    #[test]
    fn constant_delay_without_bandwidth_is_exact(
        pieces in prop::collection::vec((1..5 * MS, 1usize..3000), 1..40), delay_ns in 0..SECOND,
    ) {
        let (mut line, mut now_ns, mut due_ns) = (DelayLine::default(), 0, Vec::new());
        for (pause_ns, len) in &pieces {
            now_ns += pause_ns;
            line.push(now_ns, delay_ns, &vec![7; *len]);
            due_ns.push(now_ns + delay_ns);
        }
        let left = play(&mut line, u64::MAX, None, usize::MAX);
        let mut instants: Vec<u64> = left.iter().map(|(at_ns, _)| *at_ns).collect();
        instants.dedup();
        prop_assert_eq!(instants, due_ns);
    }
}
