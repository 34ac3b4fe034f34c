//! May the numbers be believed? Judged from the generator's own signals, never from the metric.
//!
//! One file for each idea; `docs/validity.md` lists every rule with its threshold, and what it was measured against.

mod broken;
mod ceiling;
mod cores;
mod environment;
mod evidence;
mod host;
mod identities;
mod lag;
mod plan_kept;
mod stalls;
mod words;

#[cfg(test)]
mod tests;

use store::{Level, Validity};

pub(crate) use ceiling::is_near_a_limit;
pub use environment::{Environment, Process};
pub use evidence::Evidence;
use words::Found;

type Rule = fn(&Evidence<'_>) -> Option<Found>;

/// Every rule that looks at figures. What spoils them comes before what was not put on.
const RULES: &[Rule] = &[
    lag::wake_lag,
    lag::share_of_tail,
    stalls::stalls,
    host::throttled,
    host::steal,
    cores::waited_for_a_core,
    cores::generator_cpu,
    ceiling::near_ceiling,
    identities::little,
    identities::bytes,
    identities::server_count,
    identities::doubted_replies,
    plan_kept::not_sent,
    plan_kept::nothing_planned,
];

/// The judgement, with everything that led to it, the gravest first.
pub fn judge(evidence: &Evidence<'_>) -> Validity {
    let mut found = broken::internal(evidence);
    found.extend(broken::hopeless(evidence));
    found.extend(broken::generator_fault(evidence));
    found.extend(RULES.iter().filter_map(|rule| rule(evidence)));
    found.sort_by_key(|found| std::cmp::Reverse(found.level as u8));
    let worst = found.first().map_or(Level::Valid, |found| found.level);
    Validity { verdict: worst, causes: found.into_iter().map(|found| found.cause).collect() }
}
