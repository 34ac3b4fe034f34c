//! Hashes of numbers, as YCSB computes them: FNV-1a over the eight bytes of a number, without its sign.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Returns the hash of a number, which is never negative. YCSB builds the names of its records from it.
pub(super) fn fnv(number: i64) -> i64 {
    let bytes = number.to_le_bytes();
    let hash = bytes.iter().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
    // The smallest number has no positive counterpart.
    (hash as i64).checked_abs().unwrap_or(0)
}

/// Maps the hash of `number` to a number from `min` to `max`. `min` if the range is empty.
pub(super) fn scattered(number: i64, min: i64, max: i64) -> i64 {
    let count = max.wrapping_sub(min) as u64;
    let place = if max < min { 0 } else { fnv(number.wrapping_sub(min)) as u64 % count.saturating_add(1) };
    min.wrapping_add(place as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_matches_ycsb() {
        // Names of the first records that YCSB 0.17 loads.
        for (number, hash) in
            [(0, 6_284_781_860_667_377_211), (1, 8_517_097_267_634_966_620), (2, 1_820_151_046_732_198_393)]
        {
            assert_eq!(fnv(number), hash);
        }
    }

    #[test]
    fn scattered_number_stays_in_range() {
        for (min, max) in [(1, 1), (5, 1), (0, 9), (-3, 3), (i64::MIN, i64::MAX)] {
            for number in [min, max, 0, 7] {
                assert!(scattered(number, min, max) >= min && scattered(number, min, max) <= max.max(min));
            }
        }
    }
}
