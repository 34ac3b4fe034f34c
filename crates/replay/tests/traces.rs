//! Sessions on slots, fingerprints, and what may write.

use replay::{
    Action, Entry, FINGERPRINTS_MAX, Format, LoggedResult, OTHER, Survey, TraceBuilder, Traffic, scan,
};
use sql::Engine;

const SECOND: u64 = 1_000_000_000;

fn statements() -> &'static Traffic {
    Format::named("postgres").unwrap().traffic
}

fn entry(session: u32, at_ns: u64, text: &str) -> Entry {
    Entry {
        session: Some(session),
        at_ns,
        user: "".into(),
        database: "".into(),
        action: Action::Query(text.to_owned()),
        fingerprint: scan(text, Engine::PostgreSql).fingerprint,
        duration_ns: Some(SECOND / 10),
        result: LoggedResult::Ok,
        rows: None,
    }
}

#[test]
fn sessions_that_do_not_overlap_take_turns_on_a_slot() {
    let mut builder = TraceBuilder::new();
    let start = 100 * SECOND + 1;
    for (session, at_s) in [(0, 0), (1, 1), (0, 2), (2, 3), (1, 4), (3, 10)] {
        builder.add(entry(session, start + at_s * SECOND, "SELECT 1"), 0).unwrap();
    }
    let trace = builder.build(start).unwrap();
    let slots: Vec<Vec<(u64, bool)>> = trace
        .slots
        .iter()
        .map(|items| items.iter().map(|item| (item.at_ns / SECOND, item.is_last)).collect())
        .collect();
    assert_eq!(slots, [vec![(0, false), (2, true), (3, true), (10, true)], vec![(1, false), (4, true)]]);
    assert_eq!((trace.len(), trace.sessions, trace.texts.len()), (6, 4, 1));
}

#[test]
fn times_in_whole_seconds_are_spread_in_the_order_of_the_log() {
    let mut builder = TraceBuilder::new();
    for session in [0, 1, 0, 1] {
        builder.add(entry(session, SECOND, "SELECT 1"), 0).unwrap();
    }
    let mut times: Vec<(u64, u32)> = builder.build(SECOND).unwrap().times().collect();
    times.sort_unstable();
    let quarter = SECOND / 4;
    assert_eq!(times, [(0, 0), (quarter, 1), (2 * quarter, 0), (3 * quarter, 1)]);
}

#[test]
fn time_that_goes_back_keeps_the_order_of_a_session() {
    let mut builder = TraceBuilder::new();
    for (at_ns, text) in [(9, "a"), (3, "b"), (11, "c")] {
        builder.add(entry(0, at_ns, text), 0).unwrap();
    }
    let trace = builder.build(3).unwrap();
    let items: Vec<(u64, &str)> =
        trace.slots[0].iter().map(|item| (item.at_ns, &*trace.texts[item.text as usize])).collect();
    assert_eq!(items, [(6, "a"), (6, "b"), (8, "c")]);
}

#[test]
fn speed_divides_times_and_max_removes_them() {
    let mut builder = TraceBuilder::new();
    builder.add(entry(0, 1, "a"), 0).unwrap();
    builder.add(entry(0, 1 + 4 * SECOND, "b"), 0).unwrap();
    let mut trace = builder.build(1).unwrap();
    trace.speed_up(Some(2.0));
    assert_eq!(trace.slots[0][1].at_ns, 2 * SECOND);
    trace.speed_up(None);
    assert_eq!(trace.slots[0][1].at_ns, 0);
}

#[test]
fn statements_that_may_write_are_counted() {
    let mut survey = Survey::new(statements());
    let writes = |survey: &mut Survey, text: &str| {
        let entry = entry(0, 1, text);
        let (fingerprint, writes) = survey.classify(&entry);
        survey.count(&entry, fingerprint, writes);
        writes
    };
    for (text, expected) in [
        ("SELECT 1", false),
        ("select count(*) from t where a = 'INSERT'", false),
        ("BEGIN", false),
        ("SET search_path = a", false),
        ("SAVEPOINT a", false),
        ("INSERT INTO t VALUES (1)", true),
        ("SELECT 1; DELETE FROM t", true),
        ("SELECT 1 FOR UPDATE", true),
        ("WITH a AS (DELETE FROM t RETURNING 1) SELECT 1", true),
        ("SELECT /* c */ unknown_function(1)", true),
        ("EXPLAIN ANALYZE DELETE FROM t", true),
    ] {
        assert_eq!(writes(&mut survey, text), expected, "{text}");
    }
    let long = format!("SELECT {} 1; DROP TABLE t", "a, ".repeat(1_000));
    assert!(writes(&mut survey, &long), "a fingerprint is cut, and the end of its text is looked at");
    assert_eq!((survey.statements, survey.writes), (12, 7));
}

#[test]
fn further_fingerprints_are_counted_together() {
    let mut survey = Survey::new(statements());
    for number in 0..FINGERPRINTS_MAX + 10 {
        let letters: String =
            number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        let entry = entry(0, 1, &format!("DELETE FROM t_{letters}"));
        let (fingerprint, writes) = survey.classify(&entry);
        assert!(writes);
        survey.count(&entry, fingerprint, writes);
    }
    assert_eq!(survey.fingerprints.len(), FINGERPRINTS_MAX + 1);
    let last = &survey.fingerprints[FINGERPRINTS_MAX];
    assert_eq!((last.text.as_str(), last.count), (OTHER, 10));
}

#[test]
fn peak_is_the_largest_number_of_overlapping_sessions() {
    let mut survey = Survey::new(statements());
    for (session, at_s) in [(0, 1), (1, 2), (0, 3), (2, 5), (1, 6)] {
        let entry = entry(session, at_s * SECOND, "SELECT 1");
        let (fingerprint, writes) = survey.classify(&entry);
        survey.count(&entry, fingerprint, writes);
    }
    assert_eq!((survey.sessions(), survey.peak_sessions(), survey.length_ns()), (3, 2, 51 * SECOND / 10));
}

/// Items of all slots as a reader gives them: time, fingerprint, text, form, whether the session ends, result.
/// A statement as read back: time, fingerprint, text, form, whether its session ends with it, and result.
type ReadBack = (u64, u16, String, replay::Form, bool, LoggedResult);

fn read_all(trace: replay::Trace) -> Vec<Vec<ReadBack>> {
    let trace = std::sync::Arc::new(trace);
    let slot = |slot| {
        let mut reader = trace.reader(slot);
        let mut items = Vec::new();
        while let Some((item, text)) = reader.next_item().unwrap() {
            let text = text.to_string();
            items.push((item.at_ns, item.fingerprint, text, item.form, item.is_last, item.result));
        }
        items
    };
    (0..trace.slot_count()).map(slot).collect()
}

/// Entries of three sessions, one of which ends early, with texts that are longer than a chunk and values of any kind.
fn varied(number: u32, whole_seconds: bool) -> Entry {
    let session = if number < 40 { number % 3 } else { number % 2 };
    let at_ns = u64::from(number / 7) * SECOND + if whole_seconds { 0 } else { u64::from(number) };
    let text = if number.is_multiple_of(11) {
        format!("SELECT '{}'", "é".repeat(9_000))
    } else {
        format!("SELECT {number}")
    };
    let values = vec![None, Some(String::new()), Some(format!("value {number}"))];
    let action = match number % 3 {
        0 => Action::Query(text),
        1 => Action::Execute { text: "SELECT $1, $2, $3".to_owned(), values, is_named: true },
        _ => Action::Execute { text, values: Vec::new(), is_named: false },
    };
    let result = [
        LoggedResult::Ok,
        LoggedResult::Unknown,
        LoggedResult::Error(None),
        LoggedResult::Error(Some(*b"23505")),
    ][number as usize % 4]
        .clone();
    let rows = number.is_multiple_of(2).then_some(u64::from(number));
    Entry { action, result, rows, ..entry(session, at_ns, "") }
}

#[test]
fn items_in_a_file_are_those_in_memory() {
    for whole_seconds in [false, true] {
        // The file begins with the first item, in the middle, or never.
        let build = |above: u64| {
            let mut builder = TraceBuilder::new().with_spill_limit(above);
            for number in 0..300 {
                builder.add(varied(number, whole_seconds), (number % 5) as u16).unwrap();
            }
            let mut trace = builder.build(0).unwrap();
            trace.renumber(&[4, 3, 2, 1, 0]);
            trace.speed_up(Some(2.0));
            trace
        };
        let in_memory = build(u64::MAX);
        assert!(!in_memory.is_in_file());
        let (len, last_ns, slots) = (in_memory.len(), in_memory.last_ns(), in_memory.slot_count());
        let expected = read_all(in_memory);
        for above in [0, 20_000] {
            let trace = build(above);
            assert!(trace.is_in_file());
            assert_eq!((trace.len(), trace.last_ns(), trace.slot_count()), (len, last_ns, slots));
            assert!(trace.peak_per_s() >= 7.0 && trace.longest_text_bytes() > 18_000);
            assert!(read_all(trace) == expected, "whole seconds: {whole_seconds}, file above {above}");
        }
    }
}
