//! Checks that compared systems do equal work: statuses, sizes, codings, cache hits, and rows of their replies.
//!
//! [`Work`] sums up what the runs of a system answered, step by step. [`unlike`] compares two of them by each of [`KINDS`]. A
//! difference is reported next to the verdict and never changes it: only the reader knows whether the systems should be alike.

mod distribution;
mod work;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use evidence::{EvidenceError, Run};

use distribution::Distribution;
pub use work::{StepWork, Work};

use crate::comparison::Variant;
use crate::measured_run::MeasuredRun;

/// Kind of difference between the work of two systems.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Code in JSON.
    pub code: &'static str,
    /// Evidence that is compared.
    pub looks_at: &'static str,
    /// Condition under which the systems differ, in words.
    pub unlike_when: &'static str,
    /// Reason for the threshold.
    pub why: &'static str,
    /// Traits of both systems if they differ. `None` if they are alike, or if the evidence of one is missing.
    traits: fn(&StepWork, &StepWork) -> Option<[Trait; 2]>,
}

/// Trait of a system in which it differs from another one.
#[derive(Clone, Debug, PartialEq)]
pub enum Trait {
    /// Statuses with their shares of all replies, most frequent first.
    Statuses(Vec<(u16, f64)>),
    /// Size of the content as sent.
    Size(Typical),
    /// Size of the content after decoding.
    Decoded(Typical),
    /// Rows per transaction.
    Rows(Typical),
    /// Content codings with their shares of all replies, most frequent first. Replies without a coding are left out.
    Codings(Vec<(String, f64)>),
    /// Share of all replies that a cache gave.
    Cached(f64),
}

/// Typical size in bytes, or number of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typical {
    /// Median.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
}

impl Typical {
    /// Returns whether the typical reply has size 0, or no rows.
    pub fn is_none(&self) -> bool {
        self.median == 0.0
    }
}

/// Difference between the work of two systems in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkDifference {
    /// Kind of the difference.
    pub kind: &'static Kind,
    /// Name of the step, from outside: escape it.
    pub step: String,
    /// Traits of both systems, in the order of the comparison.
    pub traits: [Trait; 2],
}

/// Differences between two variants under a load.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantDifferences {
    /// Indices of the variants.
    pub rows: (usize, usize),
    /// Differences, in the order of steps and of [`KINDS`]. Not empty.
    pub differences: Vec<WorkDifference>,
}

/// Share of replies by which shares may differ, in addition to sampling error.
const STATUS_SHARE: f64 = 0.01;
const OTHER_SHARE: f64 = 0.05;
/// Number of standard errors of a share that count as sampling error.
const STANDARD_ERRORS: f64 = 3.0;

/// All kinds of differences, in the order of reports.
pub const KINDS: &[Kind] = &[
    Kind {
        code: "status",
        looks_at: "share of each status among all replies; not of transactions, which have none",
        unlike_when: "the share of a status differs by more than 1 % of all replies, beyond chance (3 standard errors)",
        why: "A share of 0.1 % of errors is usual, and failures are reported and judged on their own. More than 1 % of other answers is other work.",
        traits: statuses,
    },
    Kind {
        code: "size",
        looks_at: "bytes of the content as sent: of the body in HTTP, of the reply in Redis and over raw TCP; not of SQL, whose encoding depends on settings",
        unlike_when: "more than 5 % of replies, beyond chance, would need another size by more than 10 % and 16 bytes, or a body at all; or median and mean both differ by more than 10 % and 16 bytes, beyond chance",
        why: "Headers, line ends, and spaces of equal content differ by a few bytes. Lengths that vary by request have equal distributions in both systems.",
        traits: |a, b| typical(&a.sizes, &b.sizes, SIZE_SLACK_BYTES, Trait::Size),
    },
    Kind {
        code: "decoded_size",
        looks_at: "bytes of the body after decoding, of the first 8 coded replies of 8 connections; only if a request has `Accept-Encoding`",
        unlike_when: "as for `size`",
        why: "Coded bodies of equal content differ in size, because servers compress with other levels.",
        traits: decoded,
    },
    Kind {
        code: "coding",
        looks_at: "share of each `Content-Encoding` among all replies",
        unlike_when: "the share of a coding differs by more than 5 % of all replies, beyond chance",
        why: "Compression costs the server CPU time and saves bytes. Some servers leave short bodies uncoded, so a few percent are usual.",
        traits: codings,
    },
    Kind {
        code: "cache",
        looks_at: "share of replies from a cache, by `Age`, `X-Cache`, `X-Cache-Status`, `CF-Cache-Status`, and `Cache-Status`",
        unlike_when: "the share differs by more than 5 % of all replies, beyond chance",
        why: "A reply from a cache is not the server's work. A cache that was cold at first misses a few percent.",
        traits: cached,
    },
    Kind {
        code: "rows",
        looks_at: "rows that the statements of a transaction return or change",
        unlike_when: "as for `size`, with half a row instead of 16 bytes",
        why: "A transaction that finds no row is much cheaper than one that reads and sends some.",
        traits: |a, b| typical(&a.rows, &b.rows, ROW_SLACK, Trait::Rows),
    },
];

/// Max differences of sizes that count as equal, for any share.
const SIZE_SLACK_BYTES: f64 = 16.0;
const ROW_SLACK: f64 = 0.5;

impl Kind {
    /// Returns the kind with a code. `None` if this version does not know it.
    pub fn named(code: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.code == code)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code)
    }
}

/// Returns the differences between the work of two systems. Steps are compared by their order; systems with different
/// numbers of steps, by all steps together.
pub fn unlike(first: &Work, second: &Work) -> Vec<WorkDifference> {
    if first.steps.len() != second.steps.len() {
        return compare_step(&first.whole(), &second.whole());
    }
    let pairs = first.steps.iter().zip(&second.steps);
    pairs.flat_map(|(first, second)| compare_step(first, second)).collect()
}

fn compare_step(first: &StepWork, second: &StepWork) -> Vec<WorkDifference> {
    let of_kind = |kind: &'static Kind| {
        let traits = (kind.traits)(first, second)?;
        Some(WorkDifference { kind, step: first.name.clone(), traits })
    };
    KINDS.iter().filter_map(of_kind).collect()
}

/// Returns the differences between each variant under a load and the one with index `reference`. `runs` are all runs of
/// the study.
pub fn compare_work_of_variants(
    variants: &[&Variant<'_>],
    reference: usize,
    runs: &[MeasuredRun<'_>],
) -> Result<Vec<VariantDifferences>, EvidenceError> {
    let works = variants.iter().map(|variant| Work::of(variant.shown().map(|run| runs[run].run)));
    let works = works.collect::<Result<Vec<_>, _>>()?;
    let Some(of_reference) = works.get(reference) else { return Ok(Vec::new()) };
    let others = works.iter().enumerate().filter(|(row, _)| *row != reference);
    let pair = |(row, work): (usize, &Work)| {
        let differences = unlike(of_reference, work);
        (!differences.is_empty()).then_some(VariantDifferences { rows: (reference, row), differences })
    };
    Ok(others.filter_map(pair).collect())
}

/// Returns the differences between two stored runs.
pub fn compare_work_of_runs(first: &Run, second: &Run) -> Result<Vec<WorkDifference>, EvidenceError> {
    Ok(unlike(&Work::of([first].into_iter())?, &Work::of([second].into_iter())?))
}

fn statuses(first: &StepWork, second: &StepWork) -> Option<[Trait; 2]> {
    let traits = shares_differ([&first.statuses, &second.statuses], STATUS_SHARE)?;
    Some(traits.map(Trait::Statuses))
}

fn codings(first: &StepWork, second: &StepWork) -> Option<[Trait; 2]> {
    let replies = [first.replies, second.replies];
    let with_rest = |work: &StepWork| {
        let mut all: BTreeMap<Option<String>, u64> =
            work.codings.iter().map(|(name, count)| (Some(name.clone()), *count)).collect();
        let coded = work.codings.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        all.insert(None, work.replies.saturating_sub(coded));
        all
    };
    let all = [first, second].map(with_rest);
    let traits = shares_differ([&all[0], &all[1]], OTHER_SHARE).filter(|_| !replies.contains(&0))?;
    let named = |(name, share): (Option<String>, f64)| Some((name?, share));
    Some(traits.map(|shares| Trait::Codings(shares.into_iter().filter_map(named).collect())))
}

fn cached(first: &StepWork, second: &StepWork) -> Option<[Trait; 2]> {
    let works = [first, second];
    let hits = works.map(|work| (work.cache_hits.min(work.replies), work.replies));
    let share = |(hits, replies): (u64, u64)| hits as f64 / replies as f64;
    differ_significantly(hits, OTHER_SHARE).then(|| hits.map(|of| Trait::Cached(share(of))))
}

/// Returns the sizes after decoding, if any system codes most of its replies.
fn decoded(first: &StepWork, second: &StepWork) -> Option<[Trait; 2]> {
    let is_coded = |work: &StepWork| {
        let coded = work.codings.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        coded.saturating_mul(2) > work.replies
    };
    if !is_coded(first) && !is_coded(second) {
        return None;
    }
    let of = |work: &'_ StepWork| if is_coded(work) { work.decoded.clone() } else { work.sizes.clone() };
    typical(&of(first), &of(second), SIZE_SLACK_BYTES, Trait::Decoded)
}

fn typical(
    first: &Distribution,
    second: &Distribution,
    slack: f64,
    of: fn(Typical) -> Trait,
) -> Option<[Trait; 2]> {
    distribution::differ(first, second, slack).map(|typical| typical.map(of))
}

/// Returns the shares of each key in both systems, most frequent first, if one differs by more than `margin` beyond
/// sampling error.
fn shares_differ<K: Ord + Clone>(counts: [&BTreeMap<K, u64>; 2], margin: f64) -> Option<[Vec<(K, f64)>; 2]> {
    let totals = counts.map(|counts| counts.values().fold(0u64, |sum, count| sum.saturating_add(*count)));
    let of = |key: &K| [0, 1].map(|side| (counts[side].get(key).copied().unwrap_or(0), totals[side]));
    let mut keys = counts.iter().flat_map(|counts| counts.keys());
    keys.any(|key| differ_significantly(of(key), margin)).then(|| {
        let shares = |side: usize| {
            let share = |(key, count): (&K, &u64)| (key.clone(), *count as f64 / totals[side] as f64);
            let mut shares: Vec<(K, f64)> = counts[side].iter().map(share).collect();
            shares.retain(|(_, share)| *share > 0.0);
            shares.sort_by(|a, b| b.1.total_cmp(&a.1));
            shares
        };
        [shares(0), shares(1)]
    })
}

/// Returns whether two shares, each a count and its total, differ by more than `margin` beyond sampling error. False
/// without replies.
fn differ_significantly(counts: [(u64, u64); 2], margin: f64) -> bool {
    let [(a, of_a), (b, of_b)] = counts.map(|(count, total)| (count as f64, total as f64));
    if of_a == 0.0 || of_b == 0.0 {
        return false;
    }
    let pooled = (a + b) / (of_a + of_b);
    let error = (pooled * (1.0 - pooled) * (1.0 / of_a + 1.0 / of_b)).max(0.0).sqrt();
    (a / of_a - b / of_b).abs() > margin + STANDARD_ERRORS * error
}
