//! Decides whether the figures of a run can be trusted, from the generator's own signals, never from the measured
//! figures.
//!
//! Each file covers one topic. `docs/validity.md` lists every rule with its threshold, and the measurements behind it.

mod broken;
mod ceiling;
mod cores;
mod distortion;
mod effect;
mod environment;
mod evidence;
mod host;
mod identities;
mod lag;
mod plan_kept;
mod proxies;
mod stalls;
mod tool;
mod uneven;
mod words;

#[cfg(test)]
mod tests;

use ::evidence::{Cause, Distorted, Level, Validity};

pub(crate) use ceiling::is_near_limit;
pub use distortion::{distorted, said, told};
pub use environment::{Environment, PROXY_BUSY_MIN_SHARE, Process};
pub use evidence::Evidence;
use words::Finding;

use crate::causes::Doubt;

/// A cause of doubt, and the function that detects it.
type Rule = (Doubt, fn(&Evidence<'_>) -> Option<Finding>);

/// All rules. Causes that invalidate figures precede loads that were not fully sent.
const RULES: &[Rule] = &[
    (Doubt::INTERNAL, broken::internal),
    (Doubt::HOPELESS, broken::hopeless),
    (Doubt::GENERATOR_FAULT, broken::generator_fault),
    (Doubt::WAKE_LAG, lag::wake_lag),
    (Doubt::GENERATOR_LAG, lag::share_of_tail),
    (Doubt::GENERATOR_STALLED, stalls::stalls),
    (Doubt::THROTTLED, host::throttled),
    (Doubt::STEAL, host::steal),
    (Doubt::GENERATOR_WAITED, cores::waited_for_a_core),
    (Doubt::GENERATOR_CPU, cores::generator_cpu),
    (Doubt::TOOL_CPU, tool::tool_cpu),
    (Doubt::CEILING, ceiling::near_ceiling),
    (Doubt::PROXY_CPU, proxies::proxy_cpu),
    (Doubt::UNEVEN_CONNECTIONS, uneven::uneven_connections),
    (Doubt::LITTLE, identities::little),
    (Doubt::BYTES, identities::bytes),
    (Doubt::SERVER_COUNT, identities::server_count),
    (Doubt::UNSOLICITED_REPLIES, identities::doubted_replies),
    (Doubt::NOT_SENT, plan_kept::not_sent),
    (Doubt::NOTHING_PLANNED, plan_kept::nothing_planned),
    (Doubt::NO_SEND_DELAY, tool::no_send_delay),
];

/// Causes of doubt that put the generator, or a proxy of the plan, near its peak rate.
const AT_LIMIT: &[Doubt] = &[Doubt::GENERATOR_CPU, Doubt::CEILING, Doubt::PROXY_CPU];

/// Causes of doubt whose whole effect on every figure is in the bounds.
const IN_BOUNDS: &[Doubt] = &[
    Doubt::WAKE_LAG,
    Doubt::GENERATOR_LAG,
    Doubt::GENERATOR_STALLED,
    Doubt::THROTTLED,
    Doubt::STEAL,
    Doubt::GENERATOR_WAITED,
    Doubt::GENERATOR_CPU,
    Doubt::CEILING,
];

/// Causes of doubt that other code reports: thread checks, runs without a load, and stored runs without an ending.
const BY_OTHERS: &[Doubt] = &[Doubt::GENERATOR_BOUND, Doubt::NO_ENDING, Doubt::NO_LOAD];

impl Doubt {
    /// Returns all causes of doubt, in the order of the rules.
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|(doubt, _)| *doubt).chain(BY_OTHERS.iter().copied())
    }

    /// Returns the cause of doubt with the given code; `None` if this version does not know it.
    pub fn named(code: &str) -> Option<Self> {
        Self::all().find(|doubt| doubt.code == code)
    }

    /// The run was cut short, or is still in progress.
    pub const NO_ENDING: Self = Self {
        code: "no_ending",
        words: "the run has no ending",
        suspect: "always",
        invalid: "",
        looks_at: "the run was cut short, or still goes on",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// The load never began.
    pub const NO_LOAD: Self = Self {
        code: "no_load",
        words: "",
        suspect: "always",
        invalid: "",
        looks_at: "the load never began: the run was stopped before it, or the system failed",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Judges a run: its level, the causes of doubt, most severe first, and notes on negligible effects.
pub fn judge(evidence: &Evidence<'_>) -> Validity {
    let mut found: Vec<(Doubt, Finding)> =
        RULES.iter().filter_map(|(doubt, find)| Some((*doubt, find(evidence)?))).collect();
    found.sort_by_key(|(_, found)| std::cmp::Reverse(found.level));
    let verdict = found.first().map_or(Level::Valid, |(_, found)| found.level);
    let is_note = |(_, found): &(Doubt, Finding)| found.level == Level::Valid;
    let (notes, causes): (Vec<_>, Vec<_>) = found.into_iter().partition(is_note);
    let all = |found: Vec<(Doubt, Finding)>| found.into_iter().map(cause).collect();
    let causes: Vec<Cause> = all(causes);
    let is_at_limit = causes.iter().any(|cause| cause_is_one_of(cause, AT_LIMIT));
    let effect = effect::effect(evidence, is_at_limit);
    Validity { verdict, causes, notes: all(notes), effect }
}

/// Returns whether the bounds of figures cover every distortion by a cause of doubt.
pub(crate) fn bounds_include(cause: &Cause) -> bool {
    // If the generator was stopped for half of the time, bounds are meaningless.
    cause_is_one_of(cause, IN_BOUNDS) && cause.distorts.iter().all(|of| of.level < Level::Invalid)
}

/// Returns whether more threads showed that the generator was the limit of a run.
pub(crate) fn is_generator_limit(cause: &Cause) -> bool {
    cause_is_one_of(cause, &[Doubt::GENERATOR_BOUND])
}

fn cause_is_one_of(cause: &Cause, doubts: &[Doubt]) -> bool {
    doubts.iter().any(|doubt| doubt.code == cause.code)
}

fn cause((doubt, found): (Doubt, Finding)) -> Cause {
    let Finding { level, sentence, remedy, distorts } = found;
    let cause = doubt.cause(level, sentence, remedy);
    Cause { distorts: distorts.unwrap_or(cause.distorts), ..cause }
}
