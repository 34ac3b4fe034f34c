//! Likely bottlenecks of rows for the page.

use super::document::{Bottleneck, Cause, HighReading};
use super::of_run::sentence;
use crate::bottleneck;

/// Maximum number of causes of a row, so that a page with many rows stays small.
const CAUSES_MAX: usize = 6;

/// Bottleneck of a row. `None` if there is nothing to explain. Evidence may quote names: `text` sanitizes them.
pub(super) fn of_row(
    row: usize,
    causes: &[judge::Bottleneck],
    text: impl Fn(&str) -> String,
) -> Option<Bottleneck> {
    let certainty = bottleneck::certainty(causes.first()?);
    Some(Bottleneck { row, certainty, causes: self::causes(causes, text) })
}

/// The most likely causes.
pub(super) fn causes(causes: &[judge::Bottleneck], text: impl Fn(&str) -> String) -> Vec<Cause> {
    let sentences = |all: &[String]| all.iter().map(|one| sentence(&text(one))).collect();
    let cause = |cause: &judge::Bottleneck| Cause {
        what: cause.what.to_owned(),
        certainty: bottleneck::certainty(cause),
        rung: cause.rung.words(),
        scope: text(&cause.scope.to_string()),
        share: cause.share.filter(|share| share.is_finite()),
        // The highest readings are drawn as bars instead.
        because: sentence(&text(match &cause.for_[..] {
            [first, ..] if !cause.highest.is_empty() => first,
            _ => &cause.because,
        })),
        also: sentences(cause.for_.get(1..).unwrap_or_default()),
        against: sentences(&cause.against),
        next: if cause.next.is_empty() { String::new() } else { sentence(&text(&cause.next)) },
        highest: cause
            .highest
            .iter()
            .map(|reading| HighReading { words: text(&reading.words), share: reading.share })
            .collect(),
    };
    causes.iter().take(CAUSES_MAX).map(cause).collect()
}
