//! Loads by other load generators, whose own delay nobody knows.

use store::{Distorted, Level};

use super::evidence::Evidence;
use super::words::{Finding, found};
use crate::causes::Doubt;

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
}

/// Whether requests left when they should is known to the engine alone.
pub(super) fn no_send_delay(evidence: &Evidence<'_>) -> Option<Finding> {
    let tool = evidence.tool.filter(|_| evidence.hopeless.is_empty())?;
    let sentence = format!("validity is unknown: {tool} reports no send delay");
    let remedy = "compare it with a load of Tenbin's own in the same plan, and with the CPU time of the tool";
    Some(found(Level::Suspect, sentence, remedy))
}
