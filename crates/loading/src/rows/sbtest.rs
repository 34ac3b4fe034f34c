//! Rows of sysbench's tables: random values with the format and distribution of sysbench 1.0.

use std::ops::Range;

use super::Sink;
use super::digits::fill;
use super::draw::SplitMix64;

const GROUP: usize = 11;
const GROUP_BOUND: u64 = 100_000_000_000;
const C_BYTES: usize = 119;
const PAD_BYTES: usize = 59;

pub(super) fn rows(rows: Range<u64>, seed: u64, number: u32, size: u32, sink: &mut impl Sink) {
    let (mut c, mut pad) = ([b'-'; C_BYTES], [b'-'; PAD_BYTES]);
    for row in rows {
        let mut draw = SplitMix64::new(seed, number.into(), row);
        sink.begin_row(4);
        sink.int(row as i32 + 1);
        sink.int(special(&mut draw, size.into()) as i32);
        groups(&mut c, &mut draw);
        sink.text(&c);
        groups(&mut pad, &mut draw);
        sink.text(&pad);
        sink.end_row();
    }
}

/// Fills groups of eleven digits. The dashes in between are already there.
fn groups(place: &mut [u8], draw: &mut SplitMix64) {
    for group in place.chunks_mut(GROUP + 1) {
        fill(&mut group[..GROUP], draw.below(GROUP_BOUND));
    }
}

/// Draws from 1 to `size` with sysbench's distribution `special`: three of four values are within the middle hundredth, the others
/// around the middle, as the mean of twelve uniform draws.
fn special(draw: &mut SplitMix64, size: u64) -> u64 {
    const MEAN_OF: u64 = 12;
    if draw.below(100) < 75 {
        let width = (size / 100).max(1);
        return 1 + (size - width) / 2 + draw.below(width);
    }
    let sum: u64 = (0..MEAN_OF).map(|_| draw.below(size)).sum();
    1 + sum / MEAN_OF
}

#[cfg(test)]
mod tests {
    use super::super::{Content, CopyRows};
    use super::*;

    #[test]
    fn rows_have_sysbench_format_and_are_reproducible() {
        let content = Content::Sbtest { seed: 7, number: 2, size: 1000 };
        let (mut whole, mut parts) = (CopyRows::default(), CopyRows::default());
        content.write(0..1000, &mut whole);
        for from in (0..1000).step_by(100) {
            content.write(from..from + 100, &mut parts);
        }
        assert_eq!(whole.bytes(), parts.bytes());
        let text = std::str::from_utf8(whole.bytes()).unwrap();
        for (line, id) in text.lines().zip(1..) {
            let fields: Vec<_> = line.split('\t').collect();
            assert_eq!(fields[0], id.to_string());
            assert!((1..=1000).contains(&fields[1].parse::<u32>().unwrap()));
            for (field, groups) in [(fields[2], 10), (fields[3], 5)] {
                let split: Vec<_> = field.split('-').collect();
                assert_eq!(split.len(), groups);
                assert!(split.iter().all(|g| g.len() == 11 && g.bytes().all(|byte| byte.is_ascii_digit())));
            }
        }
    }

    #[test]
    fn three_of_four_values_are_in_the_middle_hundredth() {
        let mut draw = SplitMix64::new(1, 1, 1);
        let drawn: Vec<_> = (0..100_000).map(|_| special(&mut draw, 10_000)).collect();
        assert!(drawn.iter().all(|k| (1..=10_000).contains(k)));
        let middle = drawn.iter().filter(|k| (4951..=5050).contains(*k)).count();
        assert!((75_000..78_500).contains(&middle), "{middle}");
        assert!((0..1000).all(|_| special(&mut draw, 1) == 1));
    }
}
