//! Rule for loads near the ceiling: the generator's peak rate against a server that answers at once.

use evidence::{Distorted, Level};
use record::Health;

use super::cores::limit_distortions;
use super::evidence::{Evidence, SHORTEST_NS};
use super::words::{Finding, found, per_s};
use crate::causes::{Doubt, MEASURED_ITSELF};
use crate::words;

/// Share of the ceiling above which an open load is suspect.
const OPEN_SUSPECT: f64 = 0.5;
/// Share of the ceiling above which a closed load is suspect.
const CLOSED_SUSPECT: f64 = 0.8;
/// Share of a core above which a thread may be near its limit.
const NEAR_LIMIT_MIN_SHARE: f64 = 0.4;

impl Doubt {
    /// The load came near the generator's peak rate.
    pub const CEILING: Self = Self {
        code: "ceiling",
        words: MEASURED_ITSELF,
        suspect: "open 50 %, closed 80 % of the ceiling",
        invalid: "never",
        looks_at: "what this generator reaches against a server that answers at once",
        distorts: &Distorted::ALL,
        is_limit: false,
        is_lateness: false,
    };
}

/// Returns whether this worker was so busy that measuring the ceiling is worthwhile.
pub(crate) fn is_near_limit(worker: &Health) -> bool {
    worker.wall_ns >= SHORTEST_NS && worker.cpu_share() > Some(NEAR_LIMIT_MIN_SHARE)
}

/// Reports a load that may have been limited by its generator.
pub(super) fn near_ceiling(evidence: &Evidence<'_>) -> Option<Finding> {
    let ceiling_per_s = evidence.environment.ceiling_per_s?;
    let reached_per_s = evidence.reached_per_s()?;
    let ratio = reached_per_s / ceiling_per_s;
    let most = if evidence.planned.is_open() { OPEN_SUSPECT } else { CLOSED_SUSPECT };
    if ratio <= most {
        return None;
    }
    let sentence = format!(
        "{} is {} × what this generator reaches here against a server that answers at once ({})",
        per_s(reached_per_s),
        words::decimal(ratio, 2),
        per_s(ceiling_per_s)
    );
    let remedy = "read the throughput as a lower bound; use more --threads on free cores, or another machine";
    Some(found(Level::Suspect, sentence, remedy).distorting(limit_distortions(evidence)))
}
