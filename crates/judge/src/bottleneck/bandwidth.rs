//! Bandwidth: answers that arrive slowly after their first byte.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::little::REPLY_IN_PROGRESS;
use super::words::{cpu_in_brackets, percent};
use super::{Coverage, Rule, Rung, UNSATURATED_MAX_SHARE};
use crate::causes::Resource;
use crate::words::{decimal, duration};

/// Min share of an answer's time after its first byte. Also the min number of cores in use at which busy cores refute
/// the rule.
const TRANSFER_MIN_SHARE: f64 = 0.5;
/// Min size of an answer in bytes. Smaller answers fit into a few packets, so size is not why they are slow.
const BYTES_MIN: f64 = 16.0 * 1024.0;
/// Min transfer time in nanoseconds. Shorter transfers are kernel work.
const TRANSFER_MIN_NS: f64 = 2e6;
/// Min number of cores used by the generator at which it may be the slow reader.
const GENERATOR_BUSY_MIN_CORES: f64 = 0.5;

impl Resource {
    /// Bandwidth: bytes per second of answers.
    pub const BANDWIDTH: Self = Self::new("bandwidth", "bandwidth")
        .next("raise the limit on bytes per second, or send less: compress, cache, smaller answers");
}

/// Processes that constantly write or read bytes need cores, not bandwidth.
const BUSY_CORES_REFUTE: Refutation = Refutation {
    when: "a thread of the system was busy for 75 % of the time or the cores were, or the generator used half a core",
    is_read: |evidence| {
        let busy = evidence.signal(|signals| signals.busy).is_some_and(|busy| busy >= UNSATURATED_MAX_SHARE);
        let used = evidence.cores().and_then(|cores| cores.system);
        let own = evidence
            .signal(|signals| signals.busiest_thread)
            .is_some_and(|thread| thread >= UNSATURATED_MAX_SHARE);
        let generator = evidence.cores().and_then(|cores| cores.generator);
        own || generator.is_some_and(|used| used >= GENERATOR_BUSY_MIN_CORES)
            || busy && used.is_none_or(|used| used >= TRANSFER_MIN_SHARE)
    },
};

pub(super) const BANDWIDTH: Rule = Rule {
    finds: &[Resource::BANDWIDTH],
    when: "half of the time of an answer or more passed after its first byte, at least 2 ms, and answers have 16 KiB or more",
    why: "the system has the answer already, and the generator reads it as it comes",
    refuted_by: &[BUSY_CORES_REFUTE, REPLY_IN_PROGRESS],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: bandwidth,
};

fn bandwidth(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let share = evidence.transfer().filter(|share| *share >= TRANSFER_MIN_SHARE)?;
    let bytes = evidence.pace(|pace| pace.bytes_per_answer).filter(|bytes| *bytes >= BYTES_MIN)?;
    let transfer_ns = share * evidence.together.ok_ns?;
    if transfer_ns < TRANSFER_MIN_NS {
        return None;
    }
    let per_s = bytes / (transfer_ns / 1e9);
    let because = format!(
        "{} of the time of an answer passed after its first byte: {} came in {}, {} a second over each connection{}",
        percent(share),
        kibibytes(bytes),
        duration(transfer_ns),
        kibibytes(per_s),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::BANDWIDTH, Scope::System, because).direct(Some(share));
    Some(cause.next(format!(
        "look for a limit of {} a second for each connection, or of the link for all; or send smaller answers",
        kibibytes(per_s)
    )))
}

fn kibibytes(bytes: f64) -> String {
    format!("{} KiB", decimal(bytes / 1024.0, 0))
}
