//! Rules for loads by other load generators, whose own delay is unknown.

use evidence::{Distorted, Level};

use super::cores::{CPU_SUSPECT, MAY_LIMIT, limit_distortions};
use super::evidence::Evidence;
use super::words::{Finding, found};
use crate::causes::{Doubt, MEASURED_ITSELF};
use crate::words::percent;

impl Doubt {
    /// Another load generator made the load.
    pub const NO_SEND_DELAY: Self = Self {
        code: "no_send_delay",
        words: "validity is unknown: the tool reports no send delay",
        suspect: "always",
        invalid: "never",
        looks_at: "another load generator made the load (`tool`): whether it kept up with its plan is unknown",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };

    /// Another load generator exhausted its cores.
    pub const TOOL_CPU: Self = Self {
        code: "tool_cpu",
        words: MEASURED_ITSELF,
        suspect: "above 90 % of its cores",
        invalid: "never",
        looks_at: "another load generator made the load (`tool`): its CPU time, of all cores that it may use",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };
}

/// Reports a tool whose CPU use suggests that it could not have sent more.
pub(super) fn tool_cpu(evidence: &Evidence<'_>) -> Option<Finding> {
    let tool = evidence.tool.filter(|_| evidence.hopeless.is_empty())?;
    let share = evidence.environment.tool_share.filter(|share| *share > CPU_SUSPECT)?;
    let sentence = format!("{tool} used {} of the cores that it may use: {MAY_LIMIT}", percent(share, 0));
    let remedy = "read the throughput as a lower bound; give the tool more cores, or another machine";
    Some(found(Level::Suspect, sentence, remedy).distorting(limit_distortions(evidence)))
}

/// Reports that the send delay is unknown. Only Tenbin's own engine measures whether requests were sent on time.
pub(super) fn no_send_delay(evidence: &Evidence<'_>) -> Option<Finding> {
    let tool = evidence.tool.filter(|_| evidence.hopeless.is_empty())?;
    let sentence = format!("validity is unknown: {tool} reports no send delay");
    let remedy = "compare it with a load of Tenbin's own in the same plan, and with the CPU time of the tool";
    Some(found(Level::Suspect, sentence, remedy))
}
