//! Pseudorandom numbers (xorshift64*), for file offsets and incompressible bytes.

/// State of the generator; never 0.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Draws a number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end.max(1)
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_cover_the_whole_range() {
        let mut random = Random::new(3);
        let mut hits = [0; 10];
        (0..10_000).for_each(|_| hits[random.below(10) as usize] += 1);
        assert!(hits.iter().all(|count| (800..1_200).contains(count)), "{hits:?}");
    }
}
