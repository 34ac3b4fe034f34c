//! Data sources: distribution of their values, and reproducibility for a seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use load::chance::Chance;
use load::values::{DataSource, RowOrder, Rows, Source, Values};
use load::{Routes, Scenarios, Share};

fn data(source: Source) -> Vec<DataSource> {
    vec![DataSource { fills: vec![(0, 0)], source }]
}

/// Returns the next values of source 0 for variable 0.
fn draws(values: &mut Values, chance: &mut Chance, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| {
            let mut given = None;
            values.draw(
                0,
                0,
                chance,
                || 0,
                |variable, value| {
                    assert_eq!((variable, given.is_none()), (0, true));
                    given = Some(String::from_utf8(value.to_vec()).unwrap());
                },
            );
            given.expect("a value")
        })
        .collect()
}

fn drawn(source: Source, count: usize) -> Vec<String> {
    draws(&mut Values::new(&data(source), Share::WHOLE), &mut Chance::stream(5, 0), count)
}

fn numbers(source: Source, count: usize) -> Vec<i64> {
    drawn(source, count).iter().map(|text| text.parse().unwrap()).collect()
}

/// Asserts a share within four standard deviations.
#[track_caller]
fn assert_share(seen: usize, of: usize, share: f64) {
    let deviation = (of as f64 * share * (1.0 - share)).sqrt();
    let off = (seen as f64 - of as f64 * share).abs();
    assert!(
        off <= 4.0 * deviation + 1e-9,
        "{seen} of {of}, expected {:.1} ± {deviation:.1}",
        of as f64 * share
    );
}

#[test]
fn uuid_v4_is_well_formed_and_unique() {
    let drawn = drawn(Source::Uuid, 1000);
    for uuid in &drawn {
        let parts: Vec<&str> = uuid.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{uuid}");
        assert!(uuid.bytes().all(|byte| byte == b'-' || matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{uuid}");
        assert!(parts[2].starts_with('4') && parts[3].starts_with(['8', '9', 'a', 'b']), "{uuid}");
    }
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 1000);
    assert_eq!(self::drawn(Source::Uuid, 1000), drawn, "a seed repeats them");
}

#[test]
fn uuid_v7_begins_with_the_time() {
    let mut values = Values::new(&data(Source::TimeUuid), Share::WHOLE);
    let mut chance = Chance::stream(1, 1);
    let mut draw = |wall_ns: u64| {
        let mut given = String::new();
        values.draw(
            0,
            0,
            &mut chance,
            || wall_ns,
            |_, value| given = String::from_utf8(value.to_vec()).unwrap(),
        );
        given
    };
    // Example of RFC 9562, A.6: 2022-02-22 14:22:22.00 GMT-05:00.
    let (first, second, later) =
        (draw(1_645_557_742_000 * 1_000_000), draw(1_645_557_742_000 * 1_000_000), draw(1 << 61));
    assert!(
        first.starts_with("017f22e2-79b0-7") && second.starts_with("017f22e2-79b0-7"),
        "{first} {second}"
    );
    assert!(first != second && first < later, "{first} {second} {later}");
    assert!(first[19..].starts_with(['8', '9', 'a', 'b']) && first.len() == 36, "{first}");
}

#[test]
fn timestamp_is_the_time_in_its_unit() {
    for (unit_ns, expected) in [(1_000_000, "1764111600123"), (1_000_000_000, "1764111600")] {
        let mut values = Values::new(&data(Source::Timestamp { unit_ns }), Share::WHOLE);
        let mut given = String::new();
        let set = |_, value: &[u8]| given = String::from_utf8(value.to_vec()).unwrap();
        values.draw(0, 0, &mut Chance::stream(1, 1), || 1_764_111_600_123_456_789, set);
        assert_eq!(given, expected);
    }
}

#[test]
fn uniform_numbers_are_equally_likely_and_reach_both_ends() {
    let n = 60_000;
    let drawn = numbers(Source::Uniform { min: -2, max: 3 }, n);
    for number in -2..=3 {
        assert_share(drawn.iter().filter(|drawn| **drawn == number).count(), n, 1.0 / 6.0);
    }
    // A modulo would favor the lower third of this range.
    let wide = numbers(Source::Uniform { min: 0, max: i64::MAX / 2 + i64::MAX / 4 }, n);
    assert_share(wide.iter().filter(|drawn| **drawn <= i64::MAX / 4).count(), n, 1.0 / 3.0);
    let all = numbers(Source::Uniform { min: i64::MIN, max: i64::MAX }, n);
    assert_share(all.iter().filter(|drawn| **drawn < 0).count(), n, 0.5);
    assert_eq!(numbers(Source::Uniform { min: 7, max: 7 }, 3), [7, 7, 7]);
    assert_eq!(numbers(Source::Uniform { min: 7, max: 1 }, 1), [7]);
}

#[test]
fn zipf_follows_its_distribution_for_any_exponent() {
    let n = 100_000;
    for exponent in [0.1, 0.5, 0.99, 1.0, 1.000_000_001, 1.1, 2.0, 5.0] {
        for ranks in [1, 2, 3, 10, 100] {
            let drawn = numbers(Source::Zipf { min: 10, max: 9 + ranks, exponent, is_scattered: false }, n);
            let whole: f64 = (1..=ranks).map(|rank| (rank as f64).powf(-exponent)).sum();
            let mut counts = BTreeMap::new();
            drawn.into_iter().for_each(|number| *counts.entry(number - 9).or_insert(0) += 1);
            assert!(counts.keys().all(|rank| (1..=ranks).contains(rank)));
            for rank in (1..=ranks).filter(|rank| *rank <= 5 || *rank == ranks) {
                let share = (rank as f64).powf(-exponent) / whole;
                let seen = counts.get(&rank).copied().unwrap_or(0);
                if share * n as f64 > 20.0 {
                    assert_share(seen, n, share);
                }
            }
        }
    }
}

#[test]
fn zipf_accepts_the_widest_range_and_invalid_exponents() {
    let n = 20_000;
    let wide = |exponent| numbers(Source::Zipf { min: 1, max: i64::MAX, exponent, is_scattered: false }, n);
    let below = wide(1.0).iter().filter(|number| **number < 1 << 32).count();
    // The sum of 1/k up to x is approximately ln x + γ.
    let harmonic = |x: f64| x.ln() + 0.577_215_664_9;
    assert_share(below, n, harmonic(2f64.powi(32)) / harmonic(2f64.powi(63)));
    let steep = wide(3.0);
    assert_share(steep.iter().filter(|number| **number == 1).count(), n, 1.0 / 1.202_056_903);
    for exponent in [1e-300, 60.0, 1e300, f64::INFINITY, f64::NAN, -1.0, 0.0] {
        let drawn = numbers(Source::Zipf { min: i64::MIN, max: i64::MAX, exponent, is_scattered: false }, 50);
        assert_eq!(drawn.len(), 50);
        let few = numbers(Source::Zipf { min: 1, max: 3, exponent, is_scattered: false }, 50);
        assert!(few.iter().all(|number| (1..=3).contains(number)), "{exponent}: {few:?}");
    }
    assert_eq!(
        numbers(Source::Zipf { min: 1, max: 1_000, exponent: 1e300, is_scattered: false }, 3),
        [1, 1, 1]
    );
    assert_eq!(numbers(Source::Zipf { min: 5, max: 1, exponent: 1.0, is_scattered: false }, 1), [5]);
}

#[test]
fn text_has_its_length_and_alphabet() {
    let texts = drawn(Source::Text { length: 8, alphabet: "abcd" }, 2_000);
    assert!(texts.iter().all(|text| text.len() == 8));
    let letters: String = texts.concat();
    for letter in "abcd".chars() {
        assert_share(letters.chars().filter(|drawn| *drawn == letter).count(), letters.len(), 0.25);
    }
    // Few of 65,536 possible texts are drawn twice.
    assert!(texts.iter().collect::<BTreeSet<_>>().len() > 1_900);
    let text = |length, alphabet| drawn(Source::Text { length, alphabet }, 1);
    assert_eq!(text(0, "ab"), [""]);
    assert_eq!(text(3, ""), [""]);
}

fn table() -> Rows {
    let row = |cells: &[&str]| cells.iter().map(|cell| Box::from(*cell)).collect();
    Arc::from([row(&["ann", "1"]), row(&["bob", "22"]), row(&["eve"])])
}

#[test]
fn rows_fill_several_variables_from_one_row() {
    let source = Source::Rows { rows: table(), order: RowOrder::InTurn };
    assert_eq!([source.longest_bytes(0), source.longest_bytes(1), source.longest_bytes(2)], [3, 2, 0]);
    // Three rows of two, two, and one texts: 12 bytes, plus their references.
    assert!((12 + 8 * 16..12 + 8 * 16 + 9 * 64).contains(&source.kept_bytes()), "{}", source.kept_bytes());
    assert_eq!(Source::Uniform { min: 1, max: 2 }.kept_bytes(), 0);
    let mut values = Values::new(&[DataSource { fills: vec![(4, 1), (2, 0)], source }], Share::WHOLE);
    let mut given = Vec::new();
    for _ in 0..4 {
        values.draw(
            0,
            0,
            &mut Chance::stream(1, 1),
            || 0,
            |variable, value| {
                given.push((variable, String::from_utf8(value.to_vec()).unwrap()));
            },
        );
    }
    let expected = [(4, "1"), (2, "ann"), (4, "22"), (2, "bob"), (4, ""), (2, "eve"), (4, "1"), (2, "ann")];
    assert_eq!(given, expected.map(|(variable, text)| (variable, text.to_owned())));
    let random = drawn(Source::Rows { rows: table(), order: RowOrder::Random }, 3_000);
    for name in ["ann", "bob", "eve"] {
        assert_share(random.iter().filter(|drawn| *drawn == name).count(), 3_000, 1.0 / 3.0);
    }
    let nothing = Source::Rows { rows: Arc::from([]), order: RowOrder::InTurn };
    assert_eq!(drawn(nothing, 2), ["", ""]);
}

#[test]
fn workers_partition_sequences_and_rows_in_turn() {
    let deal = |source: &Source, each: usize| {
        let mut all: Vec<String> = (0..3)
            .flat_map(|index| {
                let mut values = Values::new(&data(source.clone()), Share { index, of: 3 });
                draws(&mut values, &mut Chance::stream(1, 0), each)
            })
            .collect();
        all.sort();
        all
    };
    let sequence = Source::Sequence { from: 100, until: None, by: 1 };
    assert_eq!(deal(&sequence, 4), (100..112).map(|number| number.to_string()).collect::<Vec<_>>());
    let rows = Source::Rows { rows: table(), order: RowOrder::InTurn };
    assert_eq!(deal(&rows, 2), ["ann", "ann", "bob", "bob", "eve", "eve"]);
}

#[test]
fn random_values_depend_on_the_user_not_the_worker() {
    let routes = Routes::new(&Scenarios::single(), 9);
    let of_user = |user, share| {
        let mut values = Values::new(&data(Source::Uniform { min: 1, max: 1_000_000 }), share);
        // Other users draw in between.
        draws(&mut values, &mut routes.chance(99), 3);
        draws(&mut values, &mut routes.chance(user), 20)
    };
    assert_eq!(of_user(4, Share::WHOLE), of_user(4, Share { index: 1, of: 2 }));
    assert_ne!(of_user(4, Share::WHOLE), of_user(5, Share::WHOLE));
}

/// Numbers that one user draws from a growing range, and those that it inserted.
#[test]
fn latest_draws_numbers_of_sequence_once_their_iterations_have_ended() {
    let latest = Source::Latest { min: 1, max: 10, exponent: 0.99, grows_with: Some(0) };
    let sequence = Source::Sequence { from: 11, until: None, by: 1 };
    let sources: Vec<DataSource> = [sequence, latest]
        .into_iter()
        .zip(0..)
        .map(|(source, variable)| DataSource { fills: vec![(variable, 0)], source })
        .collect();
    let mut values = Values::new(&sources, Share { index: 1, of: 2 });
    let mut chance = Chance::stream(3, 3);
    let mut draw = |values: &mut Values, source: usize, user: u32| {
        let mut drawn = 0;
        values.draw(
            source,
            user,
            &mut chance,
            || 0,
            |_, text| {
                drawn = std::str::from_utf8(text).unwrap().parse::<i64>().unwrap();
            },
        );
        drawn
    };
    assert!((0..1_000).all(|_| (1..=10).contains(&draw(&mut values, 1, 0))));
    // This worker takes every second number. The numbers of users 1 and 2 are in use.
    assert_eq!([1, 2, 3].map(|user| draw(&mut values, 0, user)), [12, 14, 16]);
    values.end_iteration(3);
    assert!((0..1_000).all(|_| draw(&mut values, 1, 0) <= 10));
    values.end_iteration(1);
    let drawn: BTreeSet<i64> = (0..1_000).map(|_| draw(&mut values, 1, 0)).collect();
    assert_eq!(drawn.last(), Some(&12));
    values.end_iteration(2);
    let drawn: Vec<i64> = (0..10_000).map(|_| draw(&mut values, 1, 0)).collect();
    let distinct: BTreeSet<i64> = drawn.iter().copied().collect();
    let expected: BTreeSet<i64> = (1..=10).chain([12, 14, 16]).collect();
    assert_eq!(distinct, expected);
    // The newest is the most frequent: 13 ranks with the exponent 0.99.
    let weights: f64 = (1..=13).map(|rank| f64::from(rank).powf(-0.99)).sum();
    assert_share(drawn.iter().filter(|number| **number == 16).count(), drawn.len(), 1.0 / weights);
}

#[test]
fn scattered_zipf_keeps_shares_and_moves_frequent_numbers() {
    let n = 200_000;
    let plain = numbers(Source::Zipf { min: 1, max: 1_000, exponent: 0.99, is_scattered: false }, n);
    let scattered = numbers(Source::Zipf { min: 1, max: 1_000, exponent: 0.99, is_scattered: true }, n);
    let most = |drawn: &[i64]| {
        let mut counts = BTreeMap::new();
        drawn.iter().for_each(|number| *counts.entry(*number).or_insert(0_usize) += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap()
    };
    let ((first, count), (moved, of_moved)) = (most(&plain), most(&scattered));
    assert_eq!(first, 1);
    // 6284781860667377211 is the hash of 0: the name of the first record of YCSB.
    assert_eq!(moved, 1 + 6_284_781_860_667_377_211 % 1_000);
    // Other numbers may share the place of the first.
    assert!(
        of_moved as f64 >= count as f64 * 0.95 && scattered.iter().all(|number| (1..=1_000).contains(number))
    );
}

#[test]
fn hashed_number_matches_ycsb_record_name() {
    let sequence = Source::Sequence { from: 0, until: None, by: 1 };
    let source = Source::Hashed { prefix: "user".into(), numbers: Box::new(sequence) };
    let names = ["user6284781860667377211", "user8517097267634966620", "user1820151046732198393"];
    assert!(!source.is_number() && source.longest_bytes(0) >= names[0].len());
    assert_eq!(drawn(source, 3), names);
}
