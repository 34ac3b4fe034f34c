//! Sequences whose numbers another source may draw, once the iterations that took them have ended.
//!
//! A user has one iteration at a time, so its number is known to be in use until its next iteration begins. A failed iteration also ends,
//! and the system then lacks the record of its number.

use alloc::vec::Vec;

use super::Generator;
use super::sequence::Sequence;
use crate::chance::Chance;

/// Numbers of one worker's sequence.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// Sequence, positioned before its first number.
    sequence: Sequence,
    /// Count of numbers taken so far.
    taken: u64,
    /// Users whose iteration took a number, each with the number's position in the sequence.
    open: Vec<(u32, u64)>,
}

impl Growth {
    pub(super) fn new(sequence: Sequence) -> Self {
        Self { sequence, taken: 0, open: Vec::new() }
    }

    /// Notes that a user takes the next number.
    fn take(&mut self, user: u32) {
        self.open.push((user, self.taken));
        self.taken += 1;
    }

    /// Notes that the iteration of a user has ended.
    pub(super) fn end(&mut self, user: u32) {
        self.open.retain(|(known, _)| *known != user);
    }

    /// Returns how many numbers from the start of the sequence belong to completed iterations, without a gap.
    fn ended(&self) -> u64 {
        self.open.iter().map(|(_, place)| *place).min().unwrap_or(self.taken)
    }
}

/// Draws from a source that grows, or notes a number taken from a sequence that others grow with. `None` if the source draws independently.
pub(super) fn draw(
    growths: &mut [(usize, Growth)],
    source: usize,
    user: u32,
    generator: &mut Generator,
    chance: &mut Chance,
) -> Option<i64> {
    if let Some((_, growth)) = growths.iter_mut().find(|(number, _)| *number == source) {
        growth.take(user);
        return None;
    }
    let Generator::Latest(latest) = generator else { return None };
    let (_, growth) = growths.iter().find(|(number, _)| Some(*number) == latest.grows_with)?;
    Some(latest.draw(chance, growth.ended(), |place| growth.sequence.nth(place)))
}
