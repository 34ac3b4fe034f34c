//! Collects the readings of all probes in one look.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::holders::HeldConnections;
use super::{Look, NotAvailable, Reading};

/// A source of readings.
pub(crate) trait Probe: Send {
    /// Adds all values that it can read. In the first look, counters are only remembered, because there is nothing to compare with.
    fn look(&mut self, sheet: &mut Sheet);

    /// Reads values that change too fast for looks. Returns the time until the next sample. `None` if it never samples.
    fn sample(&mut self, _now: Instant) -> Option<Duration> {
        None
    }
}

/// Readings of one look, and values that were never available.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// Start of the look.
    pub(crate) at: Option<Instant>,
    /// Time since the previous look. `None` in the first look.
    pub(crate) over: Option<Duration>,
    /// Whether the look is the last one.
    pub(crate) is_last: bool,
    /// Whether the processes of the system were not read, but follow in a later look.
    pub(crate) waits: bool,
    /// Whether values of processes also cover earlier looks that waited for them.
    pub(crate) is_shared: bool,
    pub(crate) shared: Vec<Reading>,
    pub(crate) readings: Vec<Reading>,
    /// Connections by process. `None` if this look did not read them.
    pub(crate) held: Option<HeldConnections>,
    pub(crate) missing: Vec<NotAvailable>,
}

impl Sheet {
    pub(crate) fn add(&mut self, subject: &str, metric: &'static str, label: &str, value: f64) {
        self.readings.push(Reading { subject: subject.to_owned(), metric, label: label.to_owned(), value });
    }

    /// Adds a value of processes, which may not be read in each look.
    pub(crate) fn of_processes(&mut self, subject: &str, metric: &'static str, value: f64) {
        self.add_labeled_process_value(subject, metric, "", value);
    }

    /// Like `of_processes`, with a label.
    pub(crate) fn add_labeled_process_value(
        &mut self,
        subject: &str,
        metric: &'static str,
        label: &str,
        value: f64,
    ) {
        let readings = if self.is_shared { &mut self.shared } else { &mut self.readings };
        readings.push(Reading { subject: subject.to_owned(), metric, label: label.to_owned(), value });
    }

    pub(crate) fn machine(&mut self, metric: &'static str, label: &str, value: f64) {
        self.add(super::MACHINE, metric, label, value);
    }

    /// Records that a value cannot be read. Only the first reason of each probe is stored.
    pub(crate) fn note_unavailable(&mut self, probe: &str, because: impl FnOnce() -> String) {
        if self.missing.iter().all(|known| known.probe != probe) {
            self.missing.push(NotAvailable { probe: probe.to_owned(), because: because() });
        }
    }

    /// Removes the record that a value cannot be read.
    pub(crate) fn clear_unavailable(&mut self, probe: &str) {
        self.missing.retain(|known| known.probe != probe);
    }

    /// Takes the readings so far as a look. Records of missing values remain.
    pub(crate) fn take(&mut self, at: Instant, over: Duration) -> Look {
        let room = self.readings.len();
        Look {
            at,
            over,
            readings: std::mem::replace(&mut self.readings, Vec::with_capacity(room)),
            shared: std::mem::take(&mut self.shared),
            waits: std::mem::take(&mut self.waits),
            held: self.held.take(),
        }
    }

    pub(crate) fn missing(self) -> Vec<NotAvailable> {
        self.missing
    }
}

/// Counters of several objects by name, as of the previous look.
#[derive(Debug)]
pub(crate) struct Counters<const N: usize> {
    last: HashMap<String, [u64; N]>,
}

impl<const N: usize> Default for Counters<N> {
    fn default() -> Self {
        Self { last: HashMap::new() }
    }
}

impl<const N: usize> Counters<N> {
    /// Returns the increase of each counter. New objects are omitted, and a decrease counts as 0.
    pub(crate) fn grown(&mut self, now: Vec<(String, [u64; N])>) -> Vec<(String, [u64; N])> {
        let grown = now.iter().filter_map(|(name, counts)| {
            let last = self.last.get(name)?;
            Some((name.clone(), std::array::from_fn(|at| counts[at].saturating_sub(last[at]))))
        });
        let grown = grown.collect();
        self.last = now.into_iter().collect();
        grown
    }

    /// Like `grown`, but omits objects if all of their counters are 0, because a machine has many unused devices.
    pub(crate) fn grown_if_used(&mut self, now: Vec<(String, [u64; N])>) -> Vec<(String, [u64; N])> {
        let mut grown = self.grown(now);
        grown.retain(|(name, _)| self.last.get(name).is_some_and(|counts| *counts != [0; N]));
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_counters_are_left_out_and_decreases_count_as_zero() {
        let mut counters = Counters::default();
        let row = |name: &str, counts| (name.to_owned(), counts);
        assert!(counters.grown(vec![row("a", [5, 5])]).is_empty());
        assert_eq!(counters.grown(vec![row("a", [7, 4]), row("b", [9, 9])]), [row("a", [2, 0])]);
        assert_eq!(counters.grown(vec![row("b", [9, 10])]), [row("b", [0, 1])]);
        assert!(counters.grown(vec![row("a", [100, 100])]).is_empty());
    }

    #[test]
    fn unused_device_is_left_out_and_its_first_use_is_counted() {
        let mut counters = Counters::default();
        let row = |name: &str, count| (name.to_owned(), [count]);
        counters.grown_if_used(vec![row("vda", 5), row("loop0", 0)]);
        assert_eq!(counters.grown_if_used(vec![row("vda", 5), row("loop0", 0)]), [row("vda", 0)]);
        assert_eq!(counters.grown_if_used(vec![row("loop0", 9)]), [row("loop0", 9)]);
    }

    #[test]
    fn first_reason_is_stored_once() {
        let mut sheet = Sheet::default();
        sheet.note_unavailable("disk", || "first".into());
        sheet.note_unavailable("disk", || unreachable!("it is not asked again"));
        let missing = sheet.missing();
        assert_eq!(missing, [NotAvailable { probe: "disk".into(), because: "first".into() }]);
    }
}
