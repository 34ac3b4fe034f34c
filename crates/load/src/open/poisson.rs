//! Exponential gaps: a Poisson process of rate 1, stretched by the profile.

use alloc::boxed::Box;

use super::process::Process;
use crate::chance::Chance;

/// Places whose gaps are exponential with mean 1. Sent through the inverse of a rate's integral they are a Poisson
/// process of that rate, constant or not (the time-change theorem).
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
