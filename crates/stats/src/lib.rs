//! Estimates with confidence intervals, and comparisons with a known error rate. Pure computation: no I/O, no SQL, no formatting.
//!
//! `docs/statistics.md` and `docs/search.md` list the formulas and their sources.
#![no_std]

extern crate alloc;

mod binomial;
mod bounded;
mod carry_over;
mod chance;
mod compare;
mod control;
mod duel;
mod errors;
mod family;
mod first_slices;
mod fit;
mod forecast;
mod holm;
mod in_blocks;
mod intervention;
mod look;
mod mann_whitney;
mod mser;
mod noise;
mod power;
mod proportion;
mod quantile;
mod repeated;
mod run_result;
mod scale;
mod search;
mod signed_rank;
mod slices;
mod spread;
mod steady;
mod student;
mod tournament;
mod unpaired_way;
pub mod usl;
mod walsh;
mod way_to_verdict;

pub use binomial::{largest_count_by_chance, spread_probability};
pub use bounded::Bounded;
pub use carry_over::CarryOver;
pub use compare::{Comparison, Discards, MoreErrors, NoVerdict, Verdict, compare};
pub use control::Control;
pub use duel::{Duel, DuelEnd, DuelRules, DuelStep};
pub use errors::{ERRORS_MARGIN, ErrorGap};
pub use family::{Family, PairedTest, blocks_for_family};
pub use first_slices::{FirstSlices, LONE_STARTS};
pub use forecast::{Forecast, Outlook};
pub use holm::{Paired, compare_together, holm, judge_together};
pub use in_blocks::BlockEffect;
pub use intervention::{
    Effect, Finding, Intervention, Undecided, interventions, spread_around_median, spread_of_controls,
};
pub use look::{
    EARLY, EXTENDED_MAX, FIXED, LOOKS, Look, error_rate, first_look, look_at, look_extended, looks,
    min_blocks,
};
pub use mann_whitney::{FIGURES_MAX, Unpaired};
pub use proportion::{proportion_error, proportion_interval};
pub use quantile::{QuantileRanks, quantile_ranks, samples_to_decide};
pub use repeated::Repeated;
pub use run_result::{RunResult, error_share};
pub use scale::{MinEffect, Scale};
pub use search::{
    At, Capacity, Level, LevelRunResult, OVERRULE_LEAD, Search, SearchEnd, SearchRules, SearchStage,
    SearchStep, Tally,
};
pub use slices::{PAIRS_MAX, PAIRS_MIN, Slice, VarianceComponents, combine_rounds, of_slices};
pub use spread::{Spread, median};
pub use steady::{Series, Steadiness, SteadyVerdict, Unsteady, Window, steady};
pub use tournament::{
    Eliminated, EliminationReason, RACE_MAX, Tournament, TournamentEnd, TournamentFindings,
    TournamentForecast, TournamentRules, TournamentStage, TournamentStep,
};
pub use unpaired_way::{OpenUnpaired, UnpairedWay};
pub use walsh::Walsh;
pub use way_to_verdict::{OpenComparison, WayToVerdict};
