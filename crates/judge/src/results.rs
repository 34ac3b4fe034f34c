//! Re-exports the results of `stats` that reports read: verdicts, intervals, and estimates. Reports use only this list, so that
//! they cannot call functions of `stats`.

pub use stats::usl::Usl;
pub use stats::{
    Capacity, CarryOver, Control, EXTENDED_MAX, Effect, Eliminated, EliminationReason, Finding, FirstSlices,
    MinEffect, MoreErrors, NoVerdict, Repeated, RunResult, Scale, SearchEnd, Spread, TournamentEnd,
    TournamentFindings, Undecided, UnpairedWay, VarianceComponents, Verdict,
};
