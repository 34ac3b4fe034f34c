//! Hashes of a number as in pgbench: FNV-1a and MurmurHash2.

/// FNV-1a over the eight bytes, lowest first.
pub(crate) fn fnv1a(value: i64, seed: i64) -> i64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    value.to_le_bytes().into_iter().fold(start, mix) as i64
}

/// A. Appleby's MurmurHash2 for eight bytes.
pub(crate) fn murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let spread = |value: u64| value ^ (value >> 47);
    let key = spread((value as u64).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let hash = (seed as u64 ^ FACTOR.wrapping_mul(8) ^ key).wrapping_mul(FACTOR);
    spread(spread(hash).wrapping_mul(FACTOR)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_published_values() {
        assert_eq!(murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }
}
