//! Sequences at their limits: any number of workers, and numbers of any size.

use proptest::prelude::*;

use load::Share;
use load::chance::Chance;
use load::values::{DataSource, Source, Values};

/// Returns the next numbers of one worker.
fn taken(source: &Source, share: Share, count: usize) -> Vec<i64> {
    let data = [DataSource { fills: vec![(0, 0)], source: source.clone() }];
    let (mut values, mut chance) = (Values::new(&data, share), Chance::stream(1, 1));
    let mut taken = Vec::new();
    for _ in 0..count {
        values.draw(
            0,
            0,
            &mut chance,
            || 0,
            |_, text| {
                taken.push(std::str::from_utf8(text).unwrap().parse().unwrap());
            },
        );
    }
    taken
}

/// Returns numbers near zero and near both limits.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![-20i64..20, i64::MIN..i64::MIN + 20, i64::MAX - 20..=i64::MAX, any::<i64>()]
}

proptest! {
    #[test]
    fn no_duplicates_before_the_sequence_repeats(
        from in number(),
        until in proptest::option::of(number()),
        by in number().prop_filter("a row goes somewhere", |by| *by != 0),
        of in 1u32..5,
        each in 1usize..8,
    ) {
        let source = Source::Sequence { from, until, by };
        let mut dealt: Vec<i64> =
            (0..of).flat_map(|index| taken(&source, Share { index, of }, each)).collect();
        dealt.sort_unstable();
        // Reference sequence. Without an end, it wraps around at the limits of `i64`.
        let all = each * of as usize;
        let reaches = |number: i128| until.is_none_or(|until| {
            if by > 0 { number <= i128::from(until) } else { number >= i128::from(until) }
        });
        let row = (0..all as i128).map(|place| i128::from(from) + i128::from(by) * place);
        let mut row: Vec<i64> = row.take_while(|number| reaches(*number)).map(|number| number as i64).collect();
        if row.is_empty() {
            // The end lies in the other direction.
            row.push(from);
        }
        if until.is_some() {
            row = row.iter().copied().cycle().take(all).collect();
        }
        row.sort_unstable();
        prop_assert_eq!(dealt, row);
    }

    #[test]
    fn random_numbers_stay_within_their_range(min in number(), max in number(), exponent in 0.01f64..20.0, seed: u64) {
        let (min, max) = (min.min(max), min.max(max));
        for source in [Source::Uniform { min, max }, Source::Zipf { min, max, exponent, is_scattered: false }] {
            let data = [DataSource { fills: vec![(0, 0)], source }];
            let (mut values, mut chance) = (Values::new(&data, Share::WHOLE), Chance::stream(seed, 1));
            for _ in 0..20 {
                let mut number: Option<i64> = None;
                values.draw(0, 0, &mut chance, || 0, |_, text| number = std::str::from_utf8(text).unwrap().parse().ok());
                prop_assert!(number.is_some_and(|number| (min..=max).contains(&number)));
            }
        }
    }
}
