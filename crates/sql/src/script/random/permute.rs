//! Seeded permutation of the numbers below a size, as in pgbench.

use load::xoroshiro::Xoroshiro;

const ROUNDS: u32 = 6;

/// Position of `value` in a permutation of 0 to `size` − 1. Each round mixes a lower and an upper part, which overlap and whose
/// size is a power of two, and rotates the whole.
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Xoroshiro::seed(seed as u64);
    let size = size as u64;
    let bits = size.ilog2();
    let mask = (1 << bits) - 1;
    let mut place = value as u64 % size;
    for _ in 0..ROUNDS {
        place = mixed(place, mask, bits, &mut random);
        place = size - 1 - mixed(size - 1 - place, mask, bits, &mut random);
        place = (place + random.range(0, size - 1)) % size;
    }
    place as i64
}

/// Permutes the numbers up to `mask`: multiplies by an odd factor, flips bits, and rotates. Always costs two draws.
fn mixed(place: u64, mask: u64, bits: u32, random: &mut Xoroshiro) -> u64 {
    let factor = (random.draw() & mask) | 1;
    let turned = random.draw() & mask;
    if place > mask {
        return place;
    }
    let place = (place.wrapping_mul(factor) ^ turned) & mask;
    ((place << 1) & mask) | (place >> (bits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn permutations_match_published_values() {
        let small = [(0, 5431), (1, 5431), (0, 5433), (1, 5433)].map(|(value, seed)| permute(value, 2, seed));
        assert_eq!(small, [0, 1, 1, 0]);
        let size = i64::MAX - 10;
        let large: [i64; 7] = std::array::from_fn(|k| permute(size - 1 - k as i64, size, 5432));
        assert_eq!(
            large,
            [
                520_382_784_483_822_430,
                1_143_715_004_660_802_862,
                447_293_596_416_496_998,
                916_527_772_266_572_956,
                2_763_809_008_686_028_849,
                8_648_551_549_198_294_572,
                4_542_876_852_200_565_125
            ]
        );
    }

    proptest! {
        #[test]
        fn permutation_is_a_bijection(size in 1..500_i64, seed: i64) {
            let mut places: Vec<_> = (0..size).map(|value| permute(value, size, seed)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..size));
        }

        #[test]
        fn large_sizes_stay_within_bounds(value: i64, size in 1..=i64::MAX, seed: i64) {
            prop_assert!((0..size).contains(&permute(value, size, seed)));
        }
    }
}
