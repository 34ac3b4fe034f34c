//! CPU quota of the system's control group.

use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::words::percent;
use super::{Coverage, Rule, Rung, SATURATED_MIN_SHARE};
use crate::causes::Resource;
use crate::words::{Share, decimal};

/// Min share of quota periods in which the system was throttled.
const THROTTLED_MIN_SHARE: f64 = 0.5;

impl Resource {
    /// CPU quota of the system's control group.
    pub const CPU_QUOTA: Self = Self::new("cpu_quota", "CPU quota of the system").next(
        "raise the CPU quota of the system (`cpu` in `resources` of the plan, or that of its container)",
    );
}

pub(super) const CPU_QUOTA: Rule = Rule {
    finds: &[Resource::CPU_QUOTA],
    when: "a control group limits the CPU time of the system (`resources` of the plan, or a container), and it used 90 % of that or more, \
           or was held back in half of the periods",
    why: "more was not allowed, however busy the cores were. Who needs much at once is held back with less",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: cpu_quota,
};

fn cpu_quota(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let quota = evidence.signal(|signals| signals.cpu_quota_cores)?;
    let periods = evidence.signal(|signals| signals.waits.throttled_periods);
    let periods = periods.filter(|share| *share >= THROTTLED_MIN_SHARE);
    let used =
        evidence.cores()?.system.filter(|used| *used >= SATURATED_MIN_SHARE * quota || periods.is_some())?;
    // The kernel sums the time over all cores, so only the mean over cores is a share of time.
    let held_back = evidence
        .signal(|signals| Share::of_measured(signals.throttled?, signals.cores as f64).map(Share::get));
    let held_back = held_back.map_or(String::new(), |share| {
        format!(", and was held back for {} of the time, mean of all cores", percent(share))
    });
    let because =
        format!("it used {} of the {} cores that it may use{held_back}", decimal(used, 2), decimal(quota, 2));
    let because = match periods {
        Some(share) => format!("{because}, in {} of the periods of its quota", percent(share)),
        None => because,
    };
    let share = evidence.awake_share();
    Some(suspected(Resource::CPU_QUOTA, Scope::ControlGroup, because).direct(Some(share)))
}

pub(super) const NEAR_CPU_QUOTA: Rule = Rule {
    finds: &[Resource::CPU_QUOTA],
    when: "a further cause: the system used 70 % to 90 % of the CPU time that a control group allows, and the load was not an open one that was \
           answered in full",
    why: "once the first limit is raised, the quota allows no more than that. It assumes that a request takes as much CPU time then",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: near_cpu_quota,
};

/// Min share of the quota in use at which it is the next limit.
const NEAR_MIN_SHARE: f64 = 0.7;

fn near_cpu_quota(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let quota = evidence.signal(|signals| signals.cpu_quota_cores)?;
    let used = evidence.cores()?.system?;
    let share = Share::of_measured(used, quota)?.get();
    if !(NEAR_MIN_SHARE..SATURATED_MIN_SHARE).contains(&share) || evidence.is_answered_in_full() {
        return None;
    }
    let because = format!(
        "it used {} of the {} cores that it may use, which allow no more than {} times as many requests at the same CPU time per request",
        decimal(used, 2),
        decimal(quota, 2),
        decimal(1.0 / share, 2)
    );
    Some(suspected(Resource::CPU_QUOTA, Scope::ControlGroup, because).further(share).without_share())
}
