//! Rule for proxies of the plan that were at their limit.

use evidence::{Distorted, Level};

use super::environment::PROXY_BUSY_MIN_SHARE;
use super::evidence::Evidence;
use super::words::{Finding, found, percent};
use crate::causes::Doubt;
use crate::words;

/// Max share of seconds in which a proxy may be busy.
const SECONDS_SUSPECT: f64 = 0.1;

impl Doubt {
    /// A proxy between load and system, or between parts of the system, was at its own limit.
    pub const PROXY_CPU: Self = Self {
        code: "proxy_cpu",
        words: "a proxy was at its limit",
        suspect: "used or waited for more than 90 % of a core in 10 % of the seconds",
        invalid: "never",
        looks_at: "a proxy of the plan, which has one thread",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Reports a saturated proxy. A proxy has one thread, so data that it cannot forward in time is delayed for longer than
/// planned.
pub(super) fn proxy_cpu(evidence: &Evidence<'_>) -> Option<Finding> {
    let (name, share) = evidence.environment.busiest_proxy.as_ref()?;
    if *share < SECONDS_SUSPECT {
        return None;
    }
    let sentence = format!(
        "the {name} used or waited for more than {} of a core in {} of the seconds: it may be the bottleneck",
        words::percent(PROXY_BUSY_MIN_SHARE, 0),
        percent(*share)
    );
    Some(found(Level::Suspect, sentence, "ask for less load, or divide it among several proxies"))
}
