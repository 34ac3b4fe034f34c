//! Xoroshiro128** generator, seeded and used like PostgreSQL's, so that pgbench and Tenbin draw the same numbers.

/// Stream of 64-bit random numbers (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM Transactions
/// on Mathematical Software 47, 2021).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xoroshiro {
    s0: u64,
    s1: u64,
}

impl Xoroshiro {
    /// Creates a stream from a seed, which SplitMix64 expands to the state.
    pub fn seed(seed: u64) -> Self {
        let mut state = seed;
        let (s0, s1) = (splitmix(&mut state), splitmix(&mut state));
        // An all-zero state would stay zero forever.
        if s0 == 0 && s1 == 0 {
            Self { s0: 0x5851_f42d_4c95_7f2d, s1: 0x1405_7b7e_f767_814f }
        } else {
            Self { s0, s1 }
        }
    }

    /// Draws 64 bits.
    pub fn draw(&mut self) -> u64 {
        let Self { s0, s1 } = *self;
        let mixed = s1 ^ s0;
        self.s0 = s0.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.s1 = mixed.rotate_left(37);
        s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Draws from the uniform distribution on [0, 1), in steps of 2⁻⁵².
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 12) as f64 / (1u64 << 52) as f64
    }

    /// Draws an integer from `min` to `max` inclusive, without bias. Returns `min` without a draw if there is no choice.
    pub fn range(&mut self, min: u64, max: u64) -> u64 {
        if max <= min {
            return min;
        }
        let span = max - min;
        let shift = span.leading_zeros();
        // More than half of all draws are accepted, so the loop ends.
        loop {
            let value = self.draw() >> shift;
            if value <= span {
                return min + value;
            }
        }
    }
}

/// Runs one step of SplitMix64.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_match_pgbench() {
        // `pgbench --random-seed=1`, client 0: random(1, 100000), ten times.
        let mut client = Xoroshiro::seed(Xoroshiro::seed(1).draw());
        let drawn = core::array::from_fn::<u64, 10, _>(|_| 1 + client.range(0, 99_999));
        assert_eq!(drawn, [83876, 1819, 77088, 67712, 86837, 5416, 24036, 5969, 37970, 24863]);
    }

    #[test]
    fn splitmix_matches_published_outputs() {
        // First outputs for seed 1234567 in many independent implementations.
        let mut state = 1_234_567;
        assert_eq!(splitmix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(splitmix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn range_of_one_costs_no_draw() {
        let mut stream = Xoroshiro::seed(7);
        let before = stream;
        assert_eq!((stream.range(5, 5), stream.range(6, 2)), (5, 6));
        assert_eq!(stream, before);
    }

    #[test]
    fn range_includes_both_ends_and_nothing_else() {
        let mut stream = Xoroshiro::seed(3);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[(stream.range(10, 14) - 10) as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
        assert!((0..100).all(|_| stream.range(0, u64::MAX - 1) < u64::MAX));
        assert!((0..1000).map(|_| stream.unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }
}
