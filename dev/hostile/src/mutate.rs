//! Mutates inputs by small random changes, reproducible by seed.

use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;

/// Maximum number of changes to one input.
const CHANGES_MAX: u32 = 6;
/// Maximum number of bytes that one change inserts, removes, or repeats.
const RANGE_BYTES_MAX: u32 = 64;
/// Delimiters on which parsers branch, and numbers at the ends of their ranges.
const PIECES: [&[u8]; 24] = [
    b"\0",
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b":",
    b",",
    b"-",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b"\xff",
    b"0",
    b"-1",
    b"4294967296",
    b"18446744073709551616",
    b"1e999",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xf0\x9f\xa6\x80",
];

/// Generator of mutated inputs.
pub struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    chance: Pcg32,
}

impl<'a> Mutator<'a> {
    /// Creates a generator. `seeds` must not be empty.
    pub fn new(seeds: &'a [Vec<u8>], seed: u64) -> Self {
        Self { seeds, chance: Pcg32::seed_from_u64(seed) }
    }

    /// Returns a random seed input with one to six changes.
    pub fn draw(&mut self) -> Vec<u8> {
        let mut bytes = self.seed().to_vec();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() as u32 + 1) as usize;
        let end = (at + 1 + self.below(RANGE_BYTES_MAX) as usize).min(bytes.len());
        match self.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.chance.next_u32() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let repeated = bytes[at..end].to_vec();
                bytes.splice(at..at, repeated);
            }
            4 => {
                let piece = PIECES[self.below(PIECES.len() as u32) as usize];
                bytes.splice(at..at, piece.iter().copied());
            }
            5 => {
                // Appends the tail of another seed.
                let other = self.seed();
                let from = self.below(other.len() as u32 + 1) as usize;
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            _ => bytes.truncate(at),
        }
    }

    fn seed(&mut self) -> &'a [u8] {
        &self.seeds[self.below(self.seeds.len() as u32) as usize]
    }

    /// Draws a number below `end`, which must be at least 1.
    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.chance.next_u32()) * u64::from(end)) >> 32) as u32
    }
}
