//! Rules for CPU time that the host or a quota took from the generator.

use evidence::{Distorted, Distortion, Level};

use super::evidence::Evidence;
use super::words::{Finding, found, percent};
use crate::causes::{Doubt, MEASURED_ITSELF, NO_CORE};

/// Max share of the machine's CPU time that its host may give to other guests before the run is suspect.
const STEAL_SUSPECT: f64 = 0.03;
/// Max share of time for which the generator's control group may be throttled before the run is suspect.
const THROTTLED_SUSPECT: f64 = 0.002;

impl Doubt {
    /// A quota throttled the generator.
    pub const THROTTLED: Self = Self {
        code: "throttled",
        words: MEASURED_ITSELF,
        suspect: "0.2 % of the time",
        invalid: "never",
        looks_at: "the quota of the generator's control group (version 1 and 2)",
        distorts: &Distorted::ALL,
        is_limit: true,
        is_lateness: false,
    };

    /// The host gave CPU time to other guests.
    pub const STEAL: Self = Self {
        code: "steal",
        words: NO_CORE,
        suspect: "3 % of the cores' time",
        invalid: "never",
        looks_at: "the host gave the time to other guests",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Reports CPU time that other guests of the host took.
pub(super) fn steal(evidence: &Evidence<'_>) -> Option<Finding> {
    let share =
        evidence.environment.steal_share.filter(|share| evidence.is_long() && *share > STEAL_SUSPECT)?;
    let sentence =
        format!("the host of this machine gave {} of its processor time to others", percent(share));
    let remedy = "measure again when the host is quiet, or on a machine that shares no cores";
    Some(found(Level::Suspect, sentence, remedy).distorting(taken(evidence, share)))
}

/// Reports time for which the generator had exhausted its quota.
pub(super) fn throttled(evidence: &Evidence<'_>) -> Option<Finding> {
    let throttled_s = evidence.environment.throttled_s?;
    let wall_s = evidence.wall_ns() as f64 / 1e9;
    let share = throttled_s / wall_s.max(f64::EPSILON);
    if share <= THROTTLED_SUSPECT {
        return None;
    }
    let sentence = format!(
        "the quota of the generator's control group held it back for {throttled_s:.1} s, summed over cores, during a load of {wall_s:.1} s"
    );
    let remedy = "run the generator outside of the container, or raise its CPU quota";
    Some(found(Level::Suspect, sentence, remedy).distorting(taken(evidence, share)))
}

/// Returns the possible distortions by taken time. A closed load cannot lose a larger share of its throughput.
fn taken(evidence: &Evidence<'_>, share: f64) -> Vec<Distortion> {
    let unknown = |figure| Distortion::with_unknown_size(figure, Level::Suspect);
    let throughput = Distortion { by_share: Some(-share.min(1.0)), ..unknown(Distorted::Throughput) };
    let throughput = (!evidence.planned.is_open()).then_some(throughput);
    throughput.into_iter().chain([Distorted::Mean, Distorted::Tail].map(unknown)).collect()
}
