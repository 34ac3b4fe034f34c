//! Trials of procedures on systems with known truth: counts how often a procedure finds the truth in many attempts.
//!
//! Each trial has its own seed, derived from a common one. Equal seeds give equal counts.

mod coupling;
mod duels;
mod freezes;
mod grid;
mod interleaved;
mod round_robin;
mod searches;
mod tournaments;

pub use coupling::{Aftereffect, Coupling, CouplingKind};
pub use duels::{DuelTrial, Duels, duels, duels_of_equal_queues};
pub use freezes::{Freezes, freezes};
pub use grid::{Answers, Cell, LoadArrangement, MACHINES, Machine};
pub use interleaved::{
    Disturbed, DuelTotals, Figure, Interleaved, LoadSchedule, NEIGHBORS_MAX, Neighbor, OwnDelay, StartShape,
    run_duels,
};
pub use round_robin::{RoundRobinTrial, RoundRobins, round_robins};
pub use searches::{SearchTrial, Searches, searches};
pub use tournaments::{TournamentTrial, Tournaments, tournaments};

use load::chance::Chance;

/// Returns the seeds of the trials, derived from a common seed.
fn seeds(seed: u64, trials: u32) -> impl Iterator<Item = u64> {
    let mut chance = Chance::stream(seed, 0);
    (0..trials).map(move |_| chance.within(0, i64::MAX) as u64)
}

/// Returns the items in random order.
fn shuffled(mut items: Vec<usize>, chance: &mut Chance) -> Vec<usize> {
    for last in (1..items.len()).rev() {
        items.swap(last, chance.within(0, last as i64) as usize);
    }
    items
}
