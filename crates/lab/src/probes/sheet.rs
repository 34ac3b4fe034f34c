//! The sheet that the probes of one look write on.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::holders::Held;
use super::{Look, NotAvailable, Reading};

/// One source of readings.
pub(crate) trait Probe: Send {
    /// Adds what it can read. In the first look there is nothing to compare with: counters are remembered only.
    fn look(&mut self, sheet: &mut Sheet);

    /// Reads what changes too fast for looks. How long to wait until the next time; `None` for never.
    fn sample(&mut self, _now: Instant) -> Option<Duration> {
        None
    }
}

/// The readings of one look, and what was never available.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// When the look began.
    pub(crate) at: Option<Instant>,
    /// How long it was since the look before; nothing in the first one.
    pub(crate) over: Option<Duration>,
    /// Whether no other look follows.
    pub(crate) is_last: bool,
    /// Whether the processes of the system were left out, and come with a later look.
    pub(crate) waits: bool,
    /// Whether what is read of processes is that of the looks that wait, too.
    pub(crate) is_shared: bool,
    pub(crate) shared: Vec<Reading>,
    pub(crate) readings: Vec<Reading>,
    /// Connections by process, in a look that has a reading of them.
    pub(crate) held: Option<Held>,
    pub(crate) missing: Vec<NotAvailable>,
}

impl Sheet {
    pub(crate) fn add(&mut self, subject: &str, metric: &'static str, label: &str, value: f64) {
        self.readings.push(Reading { subject: subject.to_owned(), metric, label: label.to_owned(), value });
    }

    /// Of processes that are not read in each look.
    pub(crate) fn of_processes(&mut self, subject: &str, metric: &'static str, value: f64) {
        let readings = if self.is_shared { &mut self.shared } else { &mut self.readings };
        readings.push(Reading { subject: subject.to_owned(), metric, label: String::new(), value });
    }

    pub(crate) fn machine(&mut self, metric: &'static str, label: &str, value: f64) {
        self.add(super::MACHINE, metric, label, value);
    }

    /// Notes that something cannot be read. Only the first reason of each probe is kept.
    pub(crate) fn not_available(&mut self, probe: &str, because: impl FnOnce() -> String) {
        if self.missing.iter().all(|known| known.probe != probe) {
            self.missing.push(NotAvailable { probe: probe.to_owned(), because: because() });
        }
    }

    /// Takes back that something cannot be read.
    pub(crate) fn is_available(&mut self, probe: &str) {
        self.missing.retain(|known| known.probe != probe);
    }

    /// The readings so far as a look; what is not available stays noted.
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

/// Counters of several things by name, as they were in the look before.
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
    /// By how much each grew. What was not there before is left out; what went down did not grow.
    pub(crate) fn grown(&mut self, now: Vec<(String, [u64; N])>) -> Vec<(String, [u64; N])> {
        let grown = now.iter().filter_map(|(name, counts)| {
            let last = self.last.get(name)?;
            Some((name.clone(), std::array::from_fn(|at| counts[at].saturating_sub(last[at]))))
        });
        let grown = grown.collect();
        self.last = now.into_iter().collect();
        grown
    }

    /// The same without those that never counted anything: a machine has many unused devices.
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
    fn only_what_was_there_before_has_grown_and_nothing_grows_below_zero() {
        let mut counters = Counters::default();
        let row = |name: &str, counts| (name.to_owned(), counts);
        assert!(counters.grown(vec![row("a", [5, 5])]).is_empty());
        assert_eq!(counters.grown(vec![row("a", [7, 4]), row("b", [9, 9])]), [row("a", [2, 0])]);
        assert_eq!(counters.grown(vec![row("b", [9, 10])]), [row("b", [0, 1])]);
        assert!(counters.grown(vec![row("a", [100, 100])]).is_empty());
    }

    #[test]
    fn what_was_never_used_is_left_out_and_its_first_use_is_counted() {
        let mut counters = Counters::default();
        let row = |name: &str, count| (name.to_owned(), [count]);
        counters.grown_if_used(vec![row("vda", 5), row("loop0", 0)]);
        assert_eq!(counters.grown_if_used(vec![row("vda", 5), row("loop0", 0)]), [row("vda", 0)]);
        assert_eq!(counters.grown_if_used(vec![row("loop0", 9)]), [row("loop0", 9)]);
    }

    #[test]
    fn a_reason_is_kept_once() {
        let mut sheet = Sheet::default();
        sheet.not_available("disk", || "first".into());
        sheet.not_available("disk", || unreachable!("it is not asked again"));
        let missing = sheet.missing();
        assert_eq!(missing, [NotAvailable { probe: "disk".into(), because: "first".into() }]);
    }
}
