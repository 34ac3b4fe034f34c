//! Results of a replay by fingerprint, compared with the log. All connections add to them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use wire::ErrorClass;

use crate::entry::LoggedResult;
use crate::trace::Item;

/// Max number of kinds of differences that are stored. Further ones are only counted.
pub const DIFFERENCES_MAX: usize = 200;

/// Results of all fingerprints.
#[derive(Debug)]
pub struct Outcomes {
    hashes_rows: bool,
    by_fingerprint: Box<[Counters]>,
    differences: Mutex<BTreeMap<Difference, u64>>,
}

#[derive(Debug, Default)]
struct Counters {
    replies: AtomicU64,
    errors: AtomicU64,
    rows: AtomicU64,
    same: AtomicU64,
    differs: AtomicU64,
    unknown: AtomicU64,
    unsent: AtomicU64,
    lock_waits: AtomicU64,
    deadlocks: AtomicU64,
    checksum: AtomicU64,
}

/// Results of one fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FingerprintOutcome {
    /// Number of statements that ended with a reply, or with a lost connection.
    pub replies: u64,
    /// Number of statements that failed.
    pub errors: u64,
    /// Number of rows that were returned.
    pub rows: u64,
    /// Number of statements that ended as in the log.
    pub same: u64,
    /// Number of statements that ended differently than in the log.
    pub differs: u64,
    /// Number of statements with an unknown result in the log.
    pub unknown: u64,
    /// Number of statements that were skipped because their transaction was lost with its connection.
    pub unsent: u64,
    /// Number of statements that the replay ended because they waited for a lock longer than its rule allows.
    pub lock_waits: u64,
    /// Number of statements that the server ended because of a deadlock, and that did not fail so in the log.
    pub deadlocks: u64,
    /// Sum over the hashes of all returned rows, independent of their order. `None` if no rows were hashed.
    pub checksum: Option<u64>,
}

impl FingerprintOutcome {
    /// Share of differing results above which a replay has diverged from its log.
    pub const DIVERGENCE_MAX: f64 = 0.01;

    /// Share of results that differ, from 0 to 1, relative to the results in the log. Statements of lost transactions count as different.
    /// `None` if the log has no results.
    pub fn divergence(&self) -> Option<f64> {
        let differs = self.differs + self.unsent;
        let known = self.same + differs;
        (known > 0).then(|| differs as f64 / known as f64)
    }
}

/// A kind of difference between log and replay.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Number of the fingerprint.
    pub fingerprint: u16,
    /// Result in the log.
    pub logged: String,
    /// Result of the replay.
    pub replayed: String,
}

/// Result of a replayed item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// Success, with the number of rows that were returned. `None` if the statement returns none.
    Ok(Option<u64>),
    /// Failure with a SQLSTATE, and its class, which also depends on the server's own number.
    Error([u8; 5], ErrorClass),
    /// Error reply without a code.
    Failed,
    /// HTTP status.
    Status(u16),
    /// Incomplete reply, or none.
    Lost,
}

impl Outcomes {
    /// Creates empty counters for this number of fingerprints.
    pub fn new(fingerprints: usize) -> Self {
        let by_fingerprint = (0..fingerprints).map(|_| Counters::default()).collect();
        Self { hashes_rows: false, by_fingerprint, differences: Mutex::default() }
    }

    /// Hashes the rows that statements return, which costs time.
    pub fn with_row_hashes(self, hashes_rows: bool) -> Self {
        Self { hashes_rows, ..self }
    }

    /// Whether rows are hashed.
    pub(super) fn hashes_rows(&self) -> bool {
        self.hashes_rows
    }

    /// Adds the sum of the hashes of an item's rows.
    pub(super) fn add_rows(&self, item: &Item, hash: u64) {
        if let Some(counters) = self.by_fingerprint.get(usize::from(item.fingerprint)) {
            counters.checksum.fetch_add(hash, Ordering::Relaxed);
        }
    }

    /// Counts a skipped item.
    pub(crate) fn count_skipped(&self, item: &Item) {
        if let Some(counters) = self.by_fingerprint.get(usize::from(item.fingerprint)) {
            counters.unsent.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the result of an item.
    pub(crate) fn count_result(&self, item: &Item, replayed: Replayed) {
        let Some(counters) = self.by_fingerprint.get(usize::from(item.fingerprint)) else { return };
        let add = |counter: &AtomicU64, count: u64| {
            counter.fetch_add(count, Ordering::Relaxed);
        };
        add(&counters.replies, 1);
        match replayed {
            Replayed::Ok(rows) => add(&counters.rows, rows.unwrap_or(0)),
            Replayed::Status(..400) => {}
            Replayed::Error(..) | Replayed::Failed | Replayed::Status(_) | Replayed::Lost => {
                add(&counters.errors, 1)
            }
        }
        let is_same = is_same(item, replayed);
        match is_same {
            Some(true) => add(&counters.same, 1),
            None => add(&counters.unknown, 1),
            Some(false) => {
                add(&counters.differs, 1);
                self.keep_difference(item, replayed);
            }
        }
        // A log without results does not show whether the statement waited in the original run, too.
        match replayed {
            _ if is_same == Some(true) => {}
            Replayed::Error(_, ErrorClass::LockTimeout) => add(&counters.lock_waits, 1),
            Replayed::Error(_, ErrorClass::Deadlock) => add(&counters.deadlocks, 1),
            _ => {}
        }
    }

    #[cold]
    fn keep_difference(&self, item: &Item, replayed: Replayed) {
        let (logged, replayed) = words(item, replayed);
        let difference = Difference { fingerprint: item.fingerprint, logged, replayed };
        let mut kept = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < DIFFERENCES_MAX || kept.contains_key(&difference) {
            *kept.entry(difference).or_default() += 1;
        }
    }

    /// Results by number of the fingerprint.
    pub fn list(&self) -> Vec<FingerprintOutcome> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let outcome = |counters: &Counters| FingerprintOutcome {
            replies: load(&counters.replies),
            errors: load(&counters.errors),
            rows: load(&counters.rows),
            same: load(&counters.same),
            differs: load(&counters.differs),
            unknown: load(&counters.unknown),
            unsent: load(&counters.unsent),
            lock_waits: load(&counters.lock_waits),
            deadlocks: load(&counters.deadlocks),
            checksum: self.hashes_rows.then(|| load(&counters.checksum)),
        };
        self.by_fingerprint.iter().map(outcome).collect()
    }

    /// Counts of all fingerprints together, without checksum.
    pub fn sums(&self) -> FingerprintOutcome {
        self.list().iter().fold(FingerprintOutcome::default(), |sums, outcome| FingerprintOutcome {
            replies: sums.replies + outcome.replies,
            errors: sums.errors + outcome.errors,
            rows: sums.rows + outcome.rows,
            same: sums.same + outcome.same,
            differs: sums.differs + outcome.differs,
            unknown: sums.unknown + outcome.unknown,
            unsent: sums.unsent + outcome.unsent,
            lock_waits: sums.lock_waits + outcome.lock_waits,
            deadlocks: sums.deadlocks + outcome.deadlocks,
            checksum: None,
        })
    }

    /// Kinds of differences with their numbers, the most frequent first.
    pub fn differences(&self) -> Vec<(Difference, u64)> {
        let kept = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<_> = kept.iter().map(|(difference, count)| (difference.clone(), *count)).collect();
        list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        list
    }
}

/// Whether an item ended as in the log. `None` if the log lacks the outcome. Rows are compared if both counts are known.
fn is_same(item: &Item, replayed: Replayed) -> Option<bool> {
    match (&item.result, replayed) {
        (LoggedResult::Unknown, _) => None,
        (LoggedResult::Ok, Replayed::Ok(rows)) => Some(item.rows.zip(rows).is_none_or(|(a, b)| a == b)),
        (LoggedResult::Error(None), Replayed::Error(..)) => Some(true),
        (LoggedResult::Error(Some(logged)), Replayed::Error(code, _)) => Some(*logged == code),
        (LoggedResult::Status(logged), Replayed::Status(status)) => Some(*logged == status),
        _ => Some(false),
    }
}

/// Formats both results: the one in the log, and the one of the replay.
fn words(item: &Item, replayed: Replayed) -> (String, String) {
    let code = |code: &[u8; 5]| format!("error {}", String::from_utf8_lossy(code));
    let rows = |rows: Option<u64>| rows.map_or("ok".to_owned(), |rows| format!("ok, {rows} rows"));
    let logged = match &item.result {
        LoggedResult::Unknown => "unknown".to_owned(),
        LoggedResult::Ok => rows(item.rows),
        LoggedResult::Error(logged) => logged.as_ref().map_or("error".to_owned(), code),
        LoggedResult::Status(status) => format!("status {status}"),
    };
    let replayed = match replayed {
        // Rows are named only if they are what differs.
        Replayed::Ok(count) => rows(count.filter(|_| item.rows.is_some())),
        Replayed::Error(replayed, _) => code(&replayed),
        Replayed::Failed => "error".to_owned(),
        Replayed::Status(status) => format!("status {status}"),
        Replayed::Lost => "no reply".to_owned(),
    };
    (logged, replayed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Form;

    fn item(result: LoggedResult, rows: Option<u64>) -> Item {
        Item { at_ns: 0, text: 0, form: Form::Query, fingerprint: 0, is_last: false, result, rows }
    }

    #[test]
    fn result_is_compared_by_error_and_by_rows_if_both_are_known() {
        let unique = *b"23505";
        for (logged, rows, replayed, same) in [
            (LoggedResult::Ok, None, Replayed::Ok(Some(7)), Some(true)),
            (LoggedResult::Ok, Some(7), Replayed::Ok(Some(7)), Some(true)),
            (LoggedResult::Ok, Some(7), Replayed::Ok(Some(8)), Some(false)),
            (LoggedResult::Ok, Some(0), Replayed::Ok(None), Some(true)),
            (LoggedResult::Ok, None, Replayed::Error(unique, ErrorClass::Constraint), Some(false)),
            (LoggedResult::Ok, None, Replayed::Lost, Some(false)),
            (
                LoggedResult::Error(Some(unique)),
                None,
                Replayed::Error(unique, ErrorClass::Constraint),
                Some(true),
            ),
            (
                LoggedResult::Error(Some(*b"40001")),
                None,
                Replayed::Error(unique, ErrorClass::Constraint),
                Some(false),
            ),
            (LoggedResult::Error(None), None, Replayed::Error(unique, ErrorClass::Constraint), Some(true)),
            (LoggedResult::Error(None), None, Replayed::Ok(None), Some(false)),
            (LoggedResult::Status(404), None, Replayed::Status(404), Some(true)),
            (LoggedResult::Status(200), None, Replayed::Status(500), Some(false)),
            (LoggedResult::Unknown, None, Replayed::Lost, None),
        ] {
            assert_eq!(is_same(&item(logged.clone(), rows), replayed), same, "{logged:?} {replayed:?}");
        }
    }

    #[test]
    fn differences_are_counted_by_kind_without_values() {
        let outcomes = Outcomes::new(1);
        for code in [b"23505", b"23505", b"40001"] {
            outcomes
                .count_result(&item(LoggedResult::Ok, None), Replayed::Error(*code, ErrorClass::SqlError));
        }
        let differences = outcomes.differences();
        assert_eq!((differences[0].0.replayed.as_str(), differences[0].1), ("error 23505", 2));
        assert_eq!((outcomes.list()[0].differs, outcomes.list()[0].errors), (3, 3));
    }

    #[test]
    fn lock_waits_and_deadlocks_count_unless_the_log_has_the_same_error() {
        let outcomes = Outcomes::new(1);
        let (waited, deadlock) = (*b"HY000", *b"40001");
        for logged in [LoggedResult::Ok, LoggedResult::Unknown, LoggedResult::Error(Some(waited))] {
            outcomes.count_result(&item(logged, None), Replayed::Error(waited, ErrorClass::LockTimeout));
        }
        outcomes.count_result(&item(LoggedResult::Ok, None), Replayed::Error(waited, ErrorClass::SqlError));
        for logged in [LoggedResult::Ok, LoggedResult::Error(Some(deadlock))] {
            outcomes.count_result(&item(logged, None), Replayed::Error(deadlock, ErrorClass::Deadlock));
        }
        let sums = outcomes.sums();
        assert_eq!((sums.lock_waits, sums.deadlocks), (2, 1), "{sums:?}");
    }
}
