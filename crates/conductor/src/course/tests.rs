//! Courses on studies whose runs say what a test wants.

use store::{Place, stage};

/// The first block of a variant.
pub(crate) fn place(system: &str, variant: &str) -> Place {
    Place {
        block: 0,
        position: 0,
        system: system.to_owned(),
        variant: variant.to_owned(),
        knobs: Vec::new(),
        load: "1 user".to_owned(),
        stage: stage::BLOCK.to_owned(),
        users: None,
        rate_per_s: None,
    }
}
