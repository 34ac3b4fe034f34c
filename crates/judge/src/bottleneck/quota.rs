//! The limits that a plan sets for its system.

use super::evidence::Evidence;
use super::{BUSY, Bottleneck, Rule, suspected};
use crate::causes::Resource;
use crate::words::decimal;

impl Resource {
    /// The CPU time that a plan allows its system.
    pub const CPU_QUOTA: Self = Self::new("cpu_quota", "CPU quota of the system");
}

pub(super) const CPU_QUOTA: Rule = Rule {
    finds: &[Resource::CPU_QUOTA],
    when: "the plan limits the CPU time of the system (`resources`), and it used 90 % of that or more",
    why: "more was not allowed, however busy the cores were",
    find: cpu_quota,
};

fn cpu_quota(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let quota = evidence.signal(|signals| signals.cpu_quota_cores)?;
    let used = evidence.cores()?.system.filter(|used| *used >= BUSY * quota)?;
    let held_back = evidence.signal(|signals| signals.throttled);
    let held_back = held_back.map_or(String::new(), |share| {
        format!(", and was held back for {} s of each second", decimal(share, 2))
    });
    let because =
        format!("it used {} of the {} cores that it may use{held_back}", decimal(used, 2), decimal(quota, 2));
    suspected(Resource::CPU_QUOTA, because)
}
