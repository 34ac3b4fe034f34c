//! What the host and its quotas took: time that neither generator nor system had.

use store::Level;

use super::evidence::Evidence;
use super::words::{Finding, found, percent};
use crate::causes::{Doubt, MEASURED_ITSELF, NO_CORE};

/// Of the machine's time, what its host may give to others.
const STEAL_SUSPECT: f64 = 0.03;
const STEAL_INVALID: f64 = 0.2;
/// Of the time, what the generator's control group may be held back.
const THROTTLED_SUSPECT: f64 = 0.002;
const THROTTLED_INVALID: f64 = 0.02;

impl Doubt {
    /// A quota held the generator back.
    pub const THROTTLED: Self = Self {
        code: "throttled",
        words: MEASURED_ITSELF,
        suspect: "0.2 % of the time",
        invalid: "2 % of the time",
        looks_at: "the quota of the generator's control group (version 1 and 2)",
        is_limit: true,
    };

    /// The host gave time to other guests.
    pub const STEAL: Self = Self {
        code: "steal",
        words: NO_CORE,
        suspect: "3 % of the cores' time",
        invalid: "20 %",
        looks_at: "the host gave the time to other guests",
        is_limit: false,
    };
}

/// Time that other guests of the host had.
pub(super) fn steal(evidence: &Evidence<'_>) -> Option<Finding> {
    let share =
        evidence.environment.steal_share.filter(|share| evidence.is_long() && *share > STEAL_SUSPECT)?;
    let level = if share > STEAL_INVALID { Level::Invalid } else { Level::Suspect };
    let sentence =
        format!("the host of this machine gave {} of its processor time to others", percent(share));
    Some(found(level, sentence, "measure again when the host is quiet, or on a machine that shares no cores"))
}

/// Time in which the generator had used up its quota.
pub(super) fn throttled(evidence: &Evidence<'_>) -> Option<Finding> {
    let throttled_s = evidence.environment.throttled_s?;
    let wall_s = evidence.wall_ns() as f64 / 1e9;
    let share = throttled_s / wall_s.max(f64::EPSILON);
    if share <= THROTTLED_SUSPECT {
        return None;
    }
    let level = if evidence.is_long() && share > THROTTLED_INVALID { Level::Invalid } else { Level::Suspect };
    let sentence = format!(
        "the quota of the generator's control group held it back for {throttled_s:.1} s during a load of {wall_s:.1} s"
    );
    Some(found(level, sentence, "run the generator outside of the container, or raise its CPU quota"))
}
