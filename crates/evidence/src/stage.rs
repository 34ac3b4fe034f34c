//! Purposes of the runs of a study, in one word each. Only some stages count in tables and pairs.

/// One run of every variant, in blocks. The stage of every run of studies without a procedure.
pub const BLOCK: &str = "block";
/// Of a duel in slices: a short load on a system that stays up for its whole block. All of a block and a variant share a start.
pub const SLICE: &str = "slice";
/// Before a duel: the first variant against itself.
pub const PILOT: &str = "pilot";
/// Of a tournament of many: fresh runs of which the worse half leaves.
pub const HALVING: &str = "halving";
/// Of a tournament: blocks of the variants that are left.
pub const SEARCH: &str = "search";
/// Of a tournament: fresh blocks of the winner and its rival. Of a capacity: the two edges, in turn.
pub const CONFIRM: &str = "confirm";
/// Of a capacity: a closed load that shows where to look.
pub const SIZING: &str = "sizing";
/// Of a capacity: doubled until it fails.
pub const BRACKET: &str = "bracket";
/// Of a capacity: between what held and what failed.
pub const BISECT: &str = "bisect";
/// Of a capacity: the edges of a level that now holds and now fails.
pub const EDGE: &str = "edge";
/// Of a capacity: whether what held holds after more than it can.
pub const OVERLOAD: &str = "overload";
/// Of a capacity: a little less than what held, for long.
pub const SOAK: &str = "soak";
/// As [`SEARCH`], in slices.
pub const SEARCH_SLICE: &str = "search slice";
/// As [`CONFIRM`] of a tournament, in slices.
pub const CONFIRM_SLICE: &str = "confirm slice";
/// Of the best of each system: one run of every variant, in blocks before those that judge.
pub const SWEEP: &str = "sweep";

/// Of an experiment about what limits a system: with one thing changed, or as a control.
pub const INTERVENTION: &str = "intervention";

/// Every stage. What studies draw follows from the places in this list: further stages go to its end.
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

/// Whether a run confirms what was found before it.
pub fn is_confirming(stage: &str) -> bool {
    matches!(stage, CONFIRM | CONFIRM_SLICE)
}

/// Whether a run shares its start with others of its block.
pub fn is_slice(stage: &str) -> bool {
    matches!(stage, SLICE | SEARCH_SLICE | CONFIRM_SLICE)
}
