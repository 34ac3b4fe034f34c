//! Stages: purposes of the runs of a study, in one word each. Only some stages count in tables and pairs.

/// A run of a block with every variant. Studies without a procedure have this stage only.
pub const BLOCK: &str = "block";
/// Comparison in slices: a short load on a system that stays up for its block. Slices of a block and variant share a start.
pub const SLICE: &str = "slice";
/// Pilot before a comparison of two: the first variant against itself.
pub const PILOT: &str = "pilot";
/// Best-of search: successive halving, in which the worse half is eliminated.
pub const HALVING: &str = "halving";
/// Best-of search: blocks of the remaining variants.
pub const SEARCH: &str = "search";
/// Best-of search: new blocks of the winner and its rival. Capacity: alternating runs at the two edges.
pub const CONFIRM: &str = "confirm";
/// Capacity: a closed load that shows where to begin the search.
pub const SIZING: &str = "sizing";
/// Capacity: a rate that is doubled until it fails.
pub const BRACKET: &str = "bracket";
/// Capacity: bisection between passing and failing rates.
pub const BISECT: &str = "bisect";
/// Capacity: the edges of a rate that sometimes passes and sometimes fails.
pub const EDGE: &str = "edge";
/// Capacity: whether the passing rate still passes after an overload.
pub const OVERLOAD: &str = "overload";
/// Capacity: a long run slightly below the passing rate.
pub const SOAK: &str = "soak";
/// Like [`SEARCH`], in slices.
pub const SEARCH_SLICE: &str = "search slice";
/// Like [`CONFIRM`] of a best-of search, in slices. In a comparison of more than two variants: the first slice of a start while no other
/// system is up.
pub const CONFIRM_SLICE: &str = "confirm slice";
/// Best of each system: one run of every variant, in blocks before the final.
pub const SWEEP: &str = "sweep";

/// Experiment on the limit of a system: one thing changed, or a control.
pub const INTERVENTION: &str = "intervention";

/// Every stage. Random draws of studies depend on the index in this list, so append new stages.
pub const ALL: [&str; 16] = [
    BLOCK,
    PILOT,
    HALVING,
    SEARCH,
    CONFIRM,
    SIZING,
    BRACKET,
    BISECT,
    EDGE,
    OVERLOAD,
    SOAK,
    INTERVENTION,
    SLICE,
    SWEEP,
    SEARCH_SLICE,
    CONFIRM_SLICE,
];

/// Returns whether a run of this stage confirms an earlier result.
pub fn is_confirming(stage: &str) -> bool {
    matches!(stage, CONFIRM | CONFIRM_SLICE)
}

/// Returns whether a run of this stage shares its start with others of its block.
pub fn is_slice(stage: &str) -> bool {
    matches!(stage, SLICE | SEARCH_SLICE | CONFIRM_SLICE)
}
