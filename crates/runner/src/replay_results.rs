//! Stores the results of a replay: how far they differ from the log, and the outcomes of each fingerprint.

use evidence::Reading;
use judge::{REPLAY_SUBJECT, REPLAYED_CHECKSUM, REPLAYED_ROWS};
use progress::Readings;
use replay::play::{FingerprintOutcome, Outcomes};
use store::StoreError;

use crate::feed::Feed;

/// Bits of a checksum that fit exactly into a reading.
const CHECKSUM_BITS: u32 = 48;

/// Note with the divergence of a replay from its log. `None` if the log has no results.
pub(crate) fn note(outcomes: &Outcomes) -> Option<String> {
    let sums = outcomes.sums();
    let share = sums.divergence()?;
    let FingerprintOutcome { same, unknown, .. } = sums;
    let differs = sums.differs + sums.unsent;
    let head = if share > FingerprintOutcome::DIVERGENCE_MAX {
        "diverged from the log: "
    } else {
        "compared with the log: "
    };
    let locks = match (sums.lock_waits, sums.deadlocks) {
        (0, 0) => String::new(),
        (waits, deadlocks) => {
            format!("; {waits} waits for locks ended by the replay, {deadlocks} deadlocks by the server")
        }
    };
    let share = share * 100.0;
    Some(format!("{head}{same} results same, {differs} differ ({share:.1} %), {unknown} unknown{locks}"))
}

/// Stores the rows of each fingerprint, and their checksum if requested.
pub(crate) fn keep(outcomes: &Outcomes, at_ns: u64, feed: Feed<'_>) -> Result<(), StoreError> {
    let reading = |number: usize, metric: &str, value: f64| Reading {
        subject: REPLAY_SUBJECT.to_owned(),
        metric: metric.to_owned(),
        label: number.to_string(),
        value,
    };
    let mut readings = Vec::new();
    for (number, outcome) in outcomes.list().iter().enumerate().filter(|(_, outcome)| outcome.replies > 0) {
        readings.push(reading(number, REPLAYED_ROWS, outcome.rows as f64));
        if let Some(checksum) = outcome.checksum {
            let low = checksum & ((1 << CHECKSUM_BITS) - 1);
            readings.push(reading(number, REPLAYED_CHECKSUM, low as f64));
        }
    }
    feed.readings(Readings { at_ns, second: at_ns / 1_000_000_000, readings })
}
