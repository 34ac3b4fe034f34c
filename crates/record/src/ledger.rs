//! Errors by class and code: a capped list, and a count of the rest.

use alloc::string::String;
use alloc::vec::Vec;

use outcome::{ClassName, ErrorClass};

/// Kind of error, with its number of occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    /// Error class, such as `timeout_body` or `status`.
    pub class: ClassName,
    /// Code that distinguishes errors of one class: a status, an errno, or the number of a check. 0 if there is none.
    pub code: u32,
    /// Message for people. It may quote the peer without escaping, so it must be escaped before printing.
    pub message: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Errors by class and code, in order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    others: u64,
}

impl Ledger {
    /// Maximum number of kinds that are counted separately. Later kinds are counted together as others.
    pub const KINDS_MAX: usize = 64;
    /// Reserve for classes that are always kept: one entry per errno of theirs.
    const ERRNOS_MAX: usize = 16;
    /// Maximum number of entries, including the reserve.
    pub const ENTRIES_MAX: usize = Self::KINDS_MAX + Self::ERRNOS_MAX;
    /// Classes that are counted separately even if the list is full, because verdicts depend on them.
    const ALWAYS_KEPT: [ErrorClass; 1] = [ErrorClass::GeneratorFault];
    /// Maximum length of a message, in bytes.
    pub const MESSAGE_BYTES_MAX: usize = 256;

    /// Counts one error. Creates the message only for the first of its kind.
    pub fn note(&mut self, class: ErrorClass, code: u32, message: impl FnOnce() -> String) {
        let class = ClassName::Known(class);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.code == code && entry.class == class)
        {
            entry.count += 1;
        } else {
            self.insert(LedgerEntry { class, code, message: message(), count: 1 });
        }
    }

    /// Adds all errors of another part of the run.
    pub fn merge(&mut self, other: &Self) {
        for theirs in &other.entries {
            let same = |mine: &&mut LedgerEntry| mine.code == theirs.code && mine.class == theirs.class;
            match self.entries.iter_mut().find(same) {
                Some(mine) => mine.count += theirs.count,
                None => self.insert(theirs.clone()),
            }
        }
        self.others += other.others;
    }

    /// Adds a kind of error, or counts it among the others if the list is full.
    pub fn insert(&mut self, mut entry: LedgerEntry) {
        let is_full = self.entries.len() >= Self::KINDS_MAX;
        let is_reserved = entry.class.known().is_some_and(|class| Self::ALWAYS_KEPT.contains(&class))
            && self.entries.len() < Self::ENTRIES_MAX;
        if is_full && !is_reserved {
            self.others += entry.count;
            return;
        }
        let end =
            (0..=Self::MESSAGE_BYTES_MAX).rev().find(|end| entry.message.is_char_boundary(*end)).unwrap_or(0);
        if end < entry.message.len() {
            entry.message.truncate(end);
        }
        self.entries.push(entry);
    }

    /// Adds errors whose kind is unknown.
    pub fn add_others(&mut self, count: u64) {
        self.others += count;
    }

    /// Returns the kinds of errors that are counted separately.
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// Returns the kinds of errors of one class.
    pub fn of(&self, class: ErrorClass) -> impl Iterator<Item = &LedgerEntry> {
        self.entries.iter().filter(move |entry| entry.class.known() == Some(class))
    }

    /// Returns the number of errors whose kind did not fit into the list.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Returns the number of all errors.
    pub fn total(&self) -> u64 {
        self.entries.iter().map(|entry| entry.count).sum::<u64>() + self.others
    }

    /// Clears all entries, but keeps the memory of the list.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.others = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn list_is_capped_and_every_error_is_counted() {
        let mut ledger = Ledger::default();
        for code in 0..1_000 {
            ledger.note(ErrorClass::Status, code % 100, || code.to_string());
        }
        assert_eq!(ledger.entries().len(), Ledger::KINDS_MAX);
        assert_eq!(ledger.total(), 1_000);
        assert_eq!(ledger.others(), 360);
    }

    #[test]
    fn long_message_is_cut_at_a_character_boundary() {
        let mut ledger = Ledger::default();
        ledger.note(ErrorClass::ProtocolError, 0, || "é".repeat(1_000));
        assert_eq!(ledger.entries()[0].message.len(), Ledger::MESSAGE_BYTES_MAX);
        ledger.note(ErrorClass::ProtocolError, 1, || "a".to_string() + &"é".repeat(1_000));
        assert_eq!(ledger.entries()[1].message.len(), Ledger::MESSAGE_BYTES_MAX - 1);
    }

    #[test]
    fn merging_adds_counts_of_equal_kinds() {
        let (mut a, mut b) = (Ledger::default(), Ledger::default());
        a.note(ErrorClass::Status, 503, || "503".to_string());
        b.note(ErrorClass::Status, 503, || "503".to_string());
        b.note(ErrorClass::Status, 500, || "500".to_string());
        b.add_others(2);
        a.merge(&b);
        assert_eq!(a.entries().iter().map(|e| (e.code, e.count)).collect::<Vec<_>>(), [(503, 2), (500, 1)]);
        assert_eq!(a.total(), 5);
    }
}
