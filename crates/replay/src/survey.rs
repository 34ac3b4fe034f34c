//! Contents of a log by fingerprint, counted in one pass without the texts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::entry::{Action, Entry, LoggedResult};
use crate::fingerprint;
use crate::traffic::Traffic;

/// Max number of fingerprints that are counted separately. Further ones are counted together.
pub const FINGERPRINTS_MAX: usize = 1_000;

/// Text of the fingerprint that represents all further ones.
pub const OTHER: &str = "(other fingerprints)";

/// Statements of a log with one fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FingerprintCount {
    /// Text with its values masked.
    pub text: String,
    /// Number of statements.
    pub count: u64,
    /// Number of statements with an error in the log, or with a status from 400 on.
    pub errors: u64,
    /// Sum of their durations in the log, and the number of statements that have one.
    pub duration_ns: (u64, u64),
    /// Number of statements that may write.
    pub writes: u64,
}

/// Counts of a log.
#[derive(Debug)]
pub struct Survey {
    traffic: &'static Traffic,
    /// Counts by number of the fingerprint.
    pub fingerprints: Vec<FingerprintCount>,
    numbers: HashMap<String, u16>,
    /// Whether the texts of a fingerprint may write. `None` if each text has to be checked.
    may_write: Vec<Option<bool>>,
    /// Number of statements.
    pub statements: u64,
    /// Number of statements that may write.
    pub writes: u64,
    /// Number of statements by database.
    pub databases: BTreeMap<Arc<str>, u64>,
    spans: HashMap<u32, (u64, u64)>,
    bounds_ns: Option<(u64, u64)>,
    /// Longest duration of a statement in the log, in nanoseconds. 0 if the log has no durations.
    pub duration_max_ns: u64,
    /// Whether all times are whole seconds.
    pub has_whole_seconds: bool,
}

impl Survey {
    /// Begins to count.
    pub fn new(traffic: &'static Traffic) -> Self {
        Self {
            traffic,
            fingerprints: Vec::new(),
            numbers: HashMap::new(),
            may_write: Vec::new(),
            statements: 0,
            writes: 0,
            databases: BTreeMap::new(),
            spans: HashMap::new(),
            bounds_ns: None,
            duration_max_ns: 0,
            has_whole_seconds: true,
        }
    }

    /// Number of the fingerprint of an entry, and whether the entry may write.
    pub fn classify(&mut self, entry: &Entry) -> (u16, bool) {
        let number = match self.numbers.get(&entry.fingerprint) {
            Some(number) => *number,
            None => self.add(&entry.fingerprint),
        };
        let writes = match (self.may_write[usize::from(number)], &entry.action) {
            (_, Action::Request { method, .. }) => {
                !matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE")
            }
            (Some(writes), _) => writes,
            (None, action) => (self.traffic.may_write)(action.text()),
        };
        (number, writes)
    }

    fn add(&mut self, text: &str) -> u16 {
        let is_full = self.fingerprints.len() >= FINGERPRINTS_MAX;
        if is_full && self.fingerprints.len() > FINGERPRINTS_MAX {
            return FINGERPRINTS_MAX as u16;
        }
        let number = self.fingerprints.len() as u16;
        let text = if is_full { OTHER } else { text };
        // The masked text contains every word, unless it is truncated.
        let is_whole = !is_full && text.len() < fingerprint::BYTES_MAX;
        self.may_write.push(is_whole.then(|| (self.traffic.may_write)(text)));
        self.fingerprints.push(FingerprintCount { text: text.to_owned(), ..FingerprintCount::default() });
        if !is_full {
            self.numbers.insert(text.to_owned(), number);
        }
        number
    }

    /// Counts an entry with the result of [`Survey::classify`].
    pub fn count(&mut self, entry: &Entry, fingerprint: u16, writes: bool) {
        let counted = &mut self.fingerprints[usize::from(fingerprint)];
        counted.count += 1;
        counted.writes += u64::from(writes);
        counted.errors += u64::from(is_error(&entry.result));
        if let Some(ns) = entry.duration_ns {
            counted.duration_ns = (counted.duration_ns.0.saturating_add(ns), counted.duration_ns.1 + 1);
            self.duration_max_ns = self.duration_max_ns.max(ns);
        }
        self.statements += 1;
        self.writes += u64::from(writes);
        if !self.databases.contains_key(&entry.database) {
            self.databases.insert(Arc::clone(&entry.database), 0);
        }
        *self.databases.entry(Arc::clone(&entry.database)).or_default() += 1;
        let end_ns = entry.at_ns.saturating_add(entry.duration_ns.unwrap_or(0));
        let widen = |(first, last): (u64, u64)| (first.min(entry.at_ns), last.max(end_ns));
        self.bounds_ns = Some(widen(self.bounds_ns.unwrap_or((u64::MAX, 0))));
        self.has_whole_seconds &= entry.at_ns.is_multiple_of(1_000_000_000);
        if let Some(session) = entry.session {
            let span = self.spans.entry(session).or_insert((u64::MAX, 0));
            *span = widen(*span);
        }
    }

    /// Kind of the entries.
    pub fn traffic(&self) -> &'static Traffic {
        self.traffic
    }

    /// Number of sessions.
    pub fn sessions(&self) -> usize {
        self.spans.len()
    }

    /// Max number of sessions that were open at the same time, judged by statements before and after that time.
    pub fn peak_sessions(&self) -> usize {
        let mut changes: Vec<(u64, i64)> = self
            .spans
            .values()
            .flat_map(|(first, last)| [(*first, 1), (last.saturating_add(1), -1)])
            .collect();
        changes.sort_unstable();
        let mut open = 0_i64;
        let peaks = changes.iter().map(|(_, change)| {
            open += change;
            open
        });
        peaks.max().unwrap_or(0) as usize
    }

    /// Time from the first statement to the end of the last one, in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.bounds_ns.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Start of the first statement, in nanoseconds since 1970. `None` without statements.
    pub fn first_ns(&self) -> Option<u64> {
        self.bounds_ns.map(|(first, _)| first)
    }
}

fn is_error(result: &LoggedResult) -> bool {
    matches!(result, LoggedResult::Error(_) | LoggedResult::Status(400..))
}
