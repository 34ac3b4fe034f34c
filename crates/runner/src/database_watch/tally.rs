//! Readings of a database since the last call. The number of labels is bounded, regardless of the server's output.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use judge::{DATABASE, KEY_COMMANDS, PLAN_SEPARATOR, SAMPLED_COMMANDS, WAIT_SEPARATOR};
use lab::probes::Reading;

use super::{Counter, SampledKeys, StatementGrowth, StatementTexts};

/// Label that replaces labels above the maximum.
const OTHER: &str = "other";
/// Maximum length of a label, in characters.
const CHARACTERS_MAX: usize = 160;
/// Like `CHARACTERS_MAX`, for a statement with its plan.
const PLAN_CHARACTERS_MAX: usize = 280;

/// Sessions with equal state, wait event, and statement at the time of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// State: `active`, `idle`, `idle in transaction`, …
    pub(crate) state: String,
    /// Wait event of an active session, as class and event: `Lock:transactionid`. `CPU` if it does not wait. `None` if it is not
    /// active.
    pub(crate) wait: Option<String>,
    /// Normalized statement of an active session.
    pub(crate) statement: String,
    /// Number of sessions.
    pub(crate) sessions: f64,
}

impl Sample {
    /// Whether the sessions wait for a lock that another session holds.
    pub(crate) fn is_locked(&self) -> bool {
        self.wait.as_ref().is_some_and(|wait| wait.starts_with("Lock"))
    }
}

/// Sums by label. New labels above `max` count as `other`.
#[derive(Debug)]
struct Labels {
    max: usize,
    known: BTreeSet<String>,
    sums: BTreeMap<String, f64>,
}

impl Labels {
    fn with_max(max: usize) -> Self {
        Self { max, known: BTreeSet::new(), sums: BTreeMap::new() }
    }

    fn add(&mut self, label: &str, value: f64) {
        let mut label = printable(label);
        if !self.known.contains(&label) {
            if self.known.len() < self.max {
                self.known.insert(label.clone());
            } else {
                OTHER.clone_into(&mut label);
            }
        }
        *self.sums.entry(label).or_default() += value;
    }

    fn write(&mut self, metric: &'static str, over: f64, readings: &mut Vec<Reading>) {
        for (label, sum) in std::mem::take(&mut self.sums) {
            readings.push(of_database(metric, &label, sum / over));
        }
    }
}

/// Samples and growth since the last call, and the latest values of counters.
#[derive(Debug)]
pub(crate) struct Tally {
    samples: u32,
    states: Labels,
    waits: Labels,
    statements: Labels,
    /// Number of queries for blocking sessions.
    blocking_looks: u32,
    blocking: Labels,
    calls: Labels,
    times: Labels,
    last: Labels,
    /// Labels of new plans.
    plans: BTreeSet<String>,
    /// Number of commands in samples.
    sampled: f64,
    keys: Labels,
    before: BTreeMap<(&'static str, String), f64>,
    grown: BTreeMap<(&'static str, String), f64>,
    sizes: BTreeMap<(&'static str, String), f64>,
    took: Duration,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            samples: 0,
            states: Labels::with_max(12),
            waits: Labels::with_max(64),
            statements: Labels::with_max(128),
            blocking_looks: 0,
            blocking: Labels::with_max(24),
            calls: Labels::with_max(24),
            times: Labels::with_max(24),
            last: Labels::with_max(24),
            plans: BTreeSet::new(),
            sampled: 0.0,
            keys: Labels::with_max(64),
            before: BTreeMap::new(),
            grown: BTreeMap::new(),
            sizes: BTreeMap::new(),
            took: Duration::ZERO,
        }
    }
}

/// Maximum number of counters that differ by label.
const COUNTERS_MAX: usize = 128;

impl Tally {
    /// Adds one sample of all sessions. `samples` starts with the labels with the most sessions, so that rare labels become `other`.
    pub(crate) fn add(&mut self, samples: Vec<Sample>) {
        self.samples += 1;
        for Sample { state, wait, statement, sessions } in samples {
            self.states.add(&state, sessions);
            let Some(wait) = wait else { continue };
            self.waits.add(&wait, sessions);
            if !statement.is_empty() {
                self.statements.add(&format!("{wait}{WAIT_SEPARATOR}{statement}"), sessions);
            }
        }
    }

    /// Adds sessions that block others.
    pub(crate) fn add_blocking(&mut self, blocking: Vec<(String, f64)>) {
        self.blocking_looks += 1;
        blocking.into_iter().for_each(|(who, sessions)| self.blocking.add(&who, sessions));
    }

    /// Adds the growth of statements, longest time first.
    pub(crate) fn add_grown(&mut self, grown: Vec<StatementGrowth>) {
        for StatementGrowth { statement, calls, time_s } in grown {
            self.calls.add(&statement, calls);
            self.times.add(&statement, time_s);
        }
    }

    /// Adds last statements of sessions, and new plans.
    pub(crate) fn add_texts(&mut self, texts: StatementTexts) {
        texts
            .last
            .iter()
            .filter(|statement| !statement.is_empty())
            .for_each(|statement| self.last.add(statement, 1.0));
        let labels =
            texts.plans.into_iter().map(|one| format!("{}{PLAN_SEPARATOR}{}", one.statement, one.plan));
        self.plans.extend(labels);
    }

    /// Adds a sample of commands by key.
    pub(crate) fn add_keys(&mut self, sampled: SampledKeys) {
        self.sampled += sampled.commands;
        sampled.keys.iter().for_each(|(key, commands)| self.keys.add(key, *commands));
    }

    /// Adds current values of counters. The first ones of a session only set the baseline, because the server may have restarted.
    pub(crate) fn count(&mut self, counters: Vec<Counter>, is_first: bool) {
        if is_first {
            self.before.clear();
        }
        for Counter { metric, label, value, grows } in counters {
            let key = (metric, printable(&label));
            let of_kind = if grows { &mut self.before } else { &mut self.sizes };
            if !of_kind.contains_key(&key) && of_kind.len() >= COUNTERS_MAX {
                continue;
            }
            let before = of_kind.insert(key.clone(), value);
            if let Some(before) = before.filter(|_| grows) {
                *self.grown.entry(key).or_default() += (value - before).max(0.0);
            }
        }
    }

    /// Adds the time of an answer.
    pub(crate) fn took(&mut self, took: Duration) {
        self.took += took;
    }

    /// Readings since the last call; empty if there was no answer.
    pub(crate) fn take(&mut self) -> Vec<Reading> {
        let mut readings = Vec::new();
        let samples = std::mem::take(&mut self.samples);
        if samples > 0 {
            let over = f64::from(samples);
            readings.push(of_database("db_samples", "", over));
            readings.push(of_database("db_watch_s", "", std::mem::take(&mut self.took).as_secs_f64()));
            let active = self.waits.sums.values().fold(0.0, |sum, sessions| sum + sessions);
            readings.push(of_database("db_sessions_active", "", active / over));
            self.states.write("db_sessions", over, &mut readings);
            self.waits.write("db_waits", over, &mut readings);
            self.statements.write("db_statement_waits", over, &mut readings);
        }
        let looks = std::mem::take(&mut self.blocking_looks);
        self.blocking.write("db_blocking", f64::from(looks.max(1)), &mut readings);
        self.calls.write("db_statement_calls", 1.0, &mut readings);
        self.times.write("db_statement_s", 1.0, &mut readings);
        self.last.write("db_last_statement", 1.0, &mut readings);
        let sampled = std::mem::take(&mut self.sampled);
        readings.extend((sampled > 0.0).then(|| of_database(SAMPLED_COMMANDS, "", sampled)));
        self.keys.write(KEY_COMMANDS, 1.0, &mut readings);
        let plans = std::mem::take(&mut self.plans);
        readings
            .extend(plans.iter().map(|label| of_database("db_plan", &cut(label, PLAN_CHARACTERS_MAX), 1.0)));
        for values in [&mut self.grown, &mut self.sizes] {
            let values = std::mem::take(values);
            readings.extend(
                values.into_iter().map(|((metric, label), value)| of_database(metric, &label, value)),
            );
        }
        readings
    }
}

fn of_database(metric: &'static str, label: &str, value: f64) -> Reading {
    Reading { subject: DATABASE.to_owned(), metric, label: label.to_owned(), value }
}

/// Replaces control characters, and cuts the label.
fn printable(label: &str) -> String {
    cut(label, CHARACTERS_MAX)
}

fn cut(label: &str, characters_max: usize) -> String {
    let visible = |character: char| if character.is_control() { ' ' } else { character };
    label.chars().take(characters_max).map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(state: &str, wait: &str, sessions: f64) -> Sample {
        let wait = (!wait.is_empty()).then(|| wait.to_owned());
        Sample { state: state.to_owned(), wait, statement: "SELECT ?".to_owned(), sessions }
    }

    fn value(readings: &[Reading], metric: &str, label: &str) -> Option<f64> {
        let found =
            readings.iter().find(|reading| (reading.metric, reading.label.as_str()) == (metric, label));
        found.map(|reading| reading.value)
    }

    #[test]
    fn samples_become_mean_session_counts() {
        let mut tally = Tally::default();
        tally.add(vec![sample("active", "Lock:transactionid", 3.0), sample("idle", "", 4.0)]);
        tally.add(vec![sample("active", "CPU", 1.0), sample("idle", "", 2.0)]);
        let readings = tally.take();
        assert_eq!(value(&readings, "db_samples", ""), Some(2.0));
        assert_eq!(value(&readings, "db_sessions_active", ""), Some(2.0));
        assert_eq!(value(&readings, "db_waits", "Lock:transactionid"), Some(1.5));
        assert_eq!(value(&readings, "db_sessions", "idle"), Some(3.0));
        assert_eq!(value(&readings, "db_statement_waits", "CPU | SELECT ?"), Some(0.5));
        assert!(tally.take().is_empty(), "nothing is reported twice");
    }

    #[test]
    fn number_and_length_of_labels_are_bounded() {
        let mut tally = Tally::default();
        for number in 0..10_000 {
            tally.add(vec![sample(&format!("s{number}"), &format!("w{number}\n{}", "x".repeat(500)), 1.0)]);
            let counter = |grows| Counter {
                metric: "db_io_reads",
                label: format!("{number}"),
                value: f64::from(number),
                grows,
            };
            tally.count(vec![counter(true), counter(false)], false);
        }
        let readings = tally.take();
        assert!(readings.len() < 400, "{}", readings.len());
        let longest = readings.iter().map(|reading| reading.label.chars().count()).max();
        assert!(longest <= Some(CHARACTERS_MAX) && readings.iter().all(|one| !one.label.contains('\n')));
        let all: f64 = readings.iter().filter(|one| one.metric == "db_waits").map(|one| one.value).sum();
        assert!((all - 1.0).abs() < 1e-9, "none is lost: {all}");
        assert!(value(&readings, "db_waits", OTHER) > Some(0.9));
    }

    #[test]
    fn counters_are_reported_as_growth_across_restarts() {
        let counter =
            |value| vec![Counter { metric: "db_commits", label: String::new(), value, grows: true }];
        let mut tally = Tally::default();
        tally.count(counter(100.0), true);
        assert!(tally.take().is_empty());
        tally.count(counter(150.0), false);
        tally.count(counter(160.0), false);
        tally.count(counter(5.0), true);
        tally.count(counter(7.0), false);
        assert_eq!(value(&tally.take(), "db_commits", ""), Some(62.0));
    }
}
