//! Poisson arrivals: exponential gaps at rate 1, which the profile stretches.

use alloc::boxed::Box;

use super::process::Process;
use crate::chance::Chance;

/// Process whose gaps are exponential with mean 1. The inverse of a rate's integral turns it into a Poisson process of that rate,
/// whether constant or not (time-change theorem).
pub static POISSON: Process = Process {
    name: "poisson",
    title: "Poisson",
    sentence: "as independent users do: a Poisson process",
    places: |seed| {
        let (mut chance, mut place) = (Chance::stream(seed, 0), 0.0);
        Box::new(move || {
            place += chance.exponential();
            place
        })
    },
};
