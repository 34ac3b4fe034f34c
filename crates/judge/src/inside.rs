//! Internal statistics of a database while requests were measured: waits of its sessions, statements, and counters.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{Run, StoredReading};
use units::Share;

use crate::core_time::{Seconds, readings_in};

/// Statistics from the readings `db_…` of one run. All names come from outside: escape them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatabaseStatistics {
    /// Number of samples of sessions.
    pub samples: f64,
    /// Mean number of active sessions.
    pub active: f64,
    /// Mean number of sessions by state: `active`, `idle`, `idle in transaction`, …
    pub states: BTreeMap<String, f64>,
    /// Mean number of active sessions by wait: `CPU`, `Lock:transactionid`, `IO:WALSync`, …
    pub waits: BTreeMap<String, f64>,
    /// Statements with their waits, most sessions first.
    pub statements: Vec<StatementWait>,
    /// Statements with their execution time, longest first; empty if the server does not report it.
    pub executed: Vec<StatementTime>,
    /// Slow calls by command, longest time first; empty if no slow log was read.
    pub slow: Vec<SlowCalls>,
    /// Last statements of sessions, idle or not, with the number of samples that saw them, most first.
    pub last: Vec<(String, f64)>,
    /// Scans of whole tables, and rows that they read, per second, by table. The name is empty if the server only
    /// counts over all tables.
    pub scans: BTreeMap<String, [f64; 2]>,
    /// Statements that read a whole table, with the plan line that does, by statement.
    pub plans: BTreeMap<String, String>,
    /// Maintenance of the database, by second since the load began. Names come from outside.
    pub maintenance: BTreeMap<u64, Maintenance>,
    /// Sessions that blocked others, and the mean number of blocked sessions, most first.
    pub blocking: Vec<(String, f64)>,
    /// Rates of counters per second, by metric without `db_`. Counters with labels are summed.
    pub per_s: BTreeMap<String, f64>,
    /// Means of sizes and states, by metric without `db_`.
    pub levels: BTreeMap<String, f64>,
    /// Number of seconds with samples.
    pub seconds: f64,
    /// Peak number of open connections, and their limit; `None` if not reported.
    pub connections: Option<[f64; 2]>,
    /// Share of time that the monitor's own queries took.
    pub asked: f64,
}

/// Waits of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementWait {
    /// Text of the statement without values.
    pub statement: String,
    /// Class and event of the wait.
    pub wait: String,
    /// Mean number of sessions.
    pub sessions: f64,
}

impl StatementWait {
    /// Converts sessions by label of the reading to waits, most sessions first.
    fn ranked(sessions: BTreeMap<String, f64>) -> Vec<Self> {
        let wait = |(label, sessions): (String, f64)| {
            let (wait, statement) = label.split_once(WAIT_SEPARATOR).unwrap_or((&label, ""));
            let [wait, statement] = [wait, statement].map(str::to_owned);
            Self { wait, statement, sessions }
        };
        let mut all: Vec<Self> = sessions.into_iter().map(wait).collect();
        all.sort_by(|a, b| b.sessions.total_cmp(&a.sessions));
        all
    }
}

/// Maintenance of a database in one second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintenance {
    /// Whether a checkpoint wrote to data files.
    pub is_checkpoint: bool,
    /// Tables that were vacuumed.
    pub vacuumed: BTreeSet<String>,
}

/// Execution time of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementTime {
    /// Text of the statement without values.
    pub statement: String,
    /// Number of executions.
    pub calls: f64,
    /// Total execution time, in seconds.
    pub total_s: f64,
}

impl StatementTime {
    /// Converts calls and seconds to statements, longest time first.
    fn ranked(executed: BTreeMap<&str, [f64; 2]>) -> Vec<Self> {
        let called = executed.into_iter().filter(|(_, [calls, _])| *calls > 0.0);
        let of = |(statement, [calls, total_s]): (&str, [f64; 2])| Self {
            statement: statement.to_owned(),
            calls,
            total_s,
        };
        let mut all: Vec<Self> = called.map(of).collect();
        all.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
        all
    }

    /// Returns the mean execution time, in milliseconds.
    pub fn mean_ms(&self) -> f64 {
        self.total_s * 1e3 / self.calls
    }
}

/// Calls of a command in the slow log of a store. The log has only calls above a limit of the server, and only the
/// latest ones.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowCalls {
    /// Name of the command.
    pub command: String,
    /// Calls per second.
    pub calls_per_s: f64,
    /// Share of time that the calls took, from 0.
    pub share: f64,
    /// Calls per second on the key with most calls.
    pub on_one_key_per_s: f64,
}

impl SlowCalls {
    /// Converts calls, seconds, and calls on one key during `seconds` to slow calls, longest time first.
    fn ranked(slow: BTreeMap<&str, [f64; 3]>, seconds: f64) -> Vec<Self> {
        let called = slow.into_iter().filter(|(_, [calls, ..])| *calls > 0.0);
        let of = |(command, sums): (&str, [f64; 3])| {
            let [calls_per_s, share, on_one_key_per_s] = sums.map(|sum| sum / seconds);
            Self { command: command.to_owned(), calls_per_s, share, on_one_key_per_s }
        };
        let mut all: Vec<Self> = called.map(of).collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share));
        all
    }

    /// Returns the mean time of a slow call, in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.share / self.calls_per_s * 1e9
    }
}

/// Name of these statistics in reports, for the message that they could not be read.
pub const INSIDE: &str = "the database from inside";
/// Subject of the readings.
pub const DATABASE: &str = "database";
/// Separator between wait and statement in a label of `db_statement_waits`.
pub const WAIT_SEPARATOR: &str = " | ";
/// Separator between a session with its state and its statement in a label of `db_blocking`.
pub const BLOCKING_SEPARATOR: &str = ": ";
/// Separator between a statement and its plan in a label of `db_plan`.
pub const PLAN_SEPARATOR: &str = " => ";
/// Metrics of key-value stores that are sizes and states; others are counters, or handled separately.
const LEVELS: [&str; 10] = [
    "db_clients_blocked",
    "db_fork_s",
    "db_in_process",
    "db_log_enabled",
    "db_log_rewrite_running",
    "db_log_synced_each",
    "db_log_syncs_pending",
    "db_memory_bytes",
    "db_memory_bytes_max",
    "db_snapshot_running",
];
/// Metric with the number of commands of a key-value store in a sample.
pub const SAMPLED_COMMANDS: &str = "sampled_commands";
/// Metric with the number of these commands on a key, by key.
pub const KEY_COMMANDS: &str = "sampled_key_commands";
/// Metrics of the slow log of a key-value store, by command.
const SLOW: [&str; 3] = ["db_slow_calls", "db_slow_s", "db_slow_one_key_calls"];
/// Label of the blocks that checkpoints write.
const CHECKPOINTER: &str = "checkpointer";
/// Wait name of a session that does not wait.
pub const ON_CPU: &str = "CPU";

impl DatabaseStatistics {
    /// Returns the statistics of a run; `None` if no database was sampled in a measured second.
    pub fn of(run: &Run) -> Option<Self> {
        Self::during(run, Seconds::Measured)
    }

    /// Returns the statistics of the given seconds only.
    pub(crate) fn during(run: &Run, seconds: Seconds<'_>) -> Option<Self> {
        let of_database = || {
            readings_in(run, seconds)
                .filter(|reading| is_of_database(reading.metric) && reading.value.is_finite())
        };
        let samples_read = of_database().filter(|reading| reading.metric == "db_samples");
        let by_second: BTreeMap<u64, f64> =
            samples_read.map(|reading| (reading.second, reading.value)).collect();
        let samples: f64 = by_second.values().sum();
        if samples <= 0.0 {
            return None;
        }
        let mut sums = Sums::default();
        for reading in of_database() {
            // Weights the means of each second by its samples, because the last second has few.
            let part = by_second.get(&reading.second).copied().unwrap_or(0.0) / samples;
            sums.add(&reading, part);
        }
        Some(Self {
            samples,
            levels: levels(of_database().map(|reading| (reading.metric, reading.value))),
            ..sums.into_statistics(by_second.len() as f64)
        })
    }

    /// Returns the waits by their share of the active sessions, largest first.
    pub fn ranked(&self) -> Vec<(&str, f64)> {
        let shares = self.waits.iter().map(|(wait, sessions)| (wait.as_str(), sessions / self.active));
        let mut shares: Vec<_> = shares.filter(|(_, share)| share.is_finite()).collect();
        shares.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        shares
    }

    /// Returns the share of active sessions in waits of a class: `Lock`, `IO`, `LWLock`, `CPU`, …
    pub fn class_share(&self, class: &str) -> f64 {
        let of_class = self.waits.iter().filter(|(wait, _)| class_of(wait) == class);
        let sessions: f64 = of_class.map(|(_, sessions)| sessions).sum();
        if self.active > 0.0 { sessions / self.active } else { 0.0 }
    }

    /// Returns the share of one statement in the execution time of all statements; `None` if there is none.
    pub fn share_of_time(&self, one: &StatementTime) -> Option<f64> {
        let all_s: f64 = self.executed.iter().map(|of| of.total_s).sum();
        Some(one.total_s / all_s).filter(|share| share.is_finite())
    }

    /// Returns the rate of a counter per second; `None` if the server does not report it.
    pub fn rate(&self, metric: &str) -> Option<f64> {
        self.per_s.get(metric).copied()
    }

    /// Returns the mean of a size or state; `None` if the server does not report it.
    pub fn level(&self, metric: &str) -> Option<f64> {
        self.levels.get(metric).copied()
    }

    /// Returns the hit ratio of keys of a key-value store; `None` if it does not report it, or no key was requested.
    pub fn key_hit_ratio(&self) -> Option<f64> {
        let (hits, misses) = (self.rate("key_hits")?, self.rate("key_misses")?);
        Some(hits / (hits + misses)).filter(|share| share.is_finite())
    }

    /// Returns the share of requested blocks that were found in memory.
    pub fn hits(&self) -> Option<f64> {
        let read = self.rate("blocks_read")?;
        let all = self.rate("blocks_requested").or_else(|| Some(read + self.rate("blocks_hit")?))?;
        // Read-ahead may exceed the blocks that statements requested.
        Share::of_measured(all - read, all).map(Share::get)
    }
}

/// Sums of readings, from which rates and ranks follow once all readings are added.
#[derive(Default)]
struct Sums<'a> {
    /// Statistics that are themselves sums, or become rates in place.
    inside: DatabaseStatistics,
    /// Seconds with counters, which the first and the last second lack.
    counted_s: BTreeSet<u64>,
    /// Mean number of sessions by wait and statement.
    statements: BTreeMap<String, f64>,
    /// Calls and seconds by statement.
    executed: BTreeMap<&'a str, [f64; 2]>,
    /// Slow calls by command: number, seconds, and number on the key with most calls.
    slow: BTreeMap<&'a str, [f64; 3]>,
    /// Number of samples by last statement.
    last: BTreeMap<&'a str, f64>,
    /// Mean number of blocked sessions by blocking session.
    blocking: BTreeMap<String, f64>,
    /// Time of the monitor's own queries, in seconds.
    asked_s: f64,
    /// Peak number of open connections.
    open: Option<f64>,
    /// Limit of connections.
    max: Option<f64>,
}

impl<'a> Sums<'a> {
    /// Adds a reading. `part` is the share of its second in all samples.
    fn add(&mut self, reading: &StoredReading<'a>, part: f64) {
        let (label, value, inside) = (reading.label, reading.value, &mut self.inside);
        let mean = value * part;
        match reading.metric {
            "db_samples" => {}
            "db_watch_s" => self.asked_s += value,
            "db_sessions_active" => inside.active += mean,
            "db_sessions" => *inside.states.entry(label.to_owned()).or_default() += mean,
            "db_waits" => *inside.waits.entry(label.to_owned()).or_default() += mean,
            "db_statement_waits" => *self.statements.entry(label.to_owned()).or_default() += mean,
            "db_statement_calls" => self.executed.entry(label).or_default()[0] += value,
            "db_statement_s" => self.executed.entry(label).or_default()[1] += value,
            "db_blocking" => *self.blocking.entry(label.to_owned()).or_default() += mean,
            "db_connections" => self.open = Some(self.open.map_or(value, |most| most.max(value))),
            "db_connections_max" => self.max = Some(value),
            "db_last_statement" => *self.last.entry(label).or_default() += value,
            "db_plan" => drop(note_plan(&mut inside.plans, label)),
            metric @ ("db_table_scans" | "db_table_rows") => {
                self.counted_s.insert(reading.second);
                inside.scans.entry(label.to_owned()).or_default()[usize::from(metric == "db_table_rows")] +=
                    value;
            }
            "db_vacuum_running" => {
                inside.maintenance.entry(reading.second).or_default().vacuumed.insert(label.to_owned());
            }
            metric if SLOW.contains(&metric) => {
                self.counted_s.insert(reading.second);
                let sums = self.slow.entry(label).or_default();
                SLOW.iter().zip(sums).filter(|(of, _)| **of == metric).for_each(|(_, sum)| *sum += value);
            }
            metric if LEVELS.contains(&metric) => {}
            _ => self.count(reading),
        }
    }

    /// Adds a counter to its sum over all labels. Blocks from the checkpointer also show when a checkpoint ran.
    fn count(&mut self, reading: &StoredReading<'_>) {
        self.counted_s.insert(reading.second);
        let is_checkpoint = reading.metric == "db_buffers_written" && reading.label == CHECKPOINTER;
        if is_checkpoint && reading.value > 0.0 {
            self.inside.maintenance.entry(reading.second).or_default().is_checkpoint = true;
        }
        let name = reading.metric.trim_start_matches("db_");
        *self.inside.per_s.entry(name.to_owned()).or_default() += reading.value;
    }

    /// Converts the sums to statistics. `seconds` is the number of seconds with samples.
    fn into_statistics(mut self, seconds: f64) -> DatabaseStatistics {
        let counted_s = self.counted_s.len() as f64;
        let counts = self.inside.per_s.values_mut().chain(self.inside.scans.values_mut().flatten());
        counts.for_each(|count| *count /= counted_s);
        DatabaseStatistics {
            statements: StatementWait::ranked(self.statements),
            executed: StatementTime::ranked(self.executed),
            slow: SlowCalls::ranked(self.slow, counted_s),
            last: ranked(self.last.into_iter().map(|(text, seen)| (text.to_owned(), seen))),
            blocking: ranked(self.blocking),
            seconds,
            connections: self.open.zip(self.max).map(|(open, max)| [open, max]),
            asked: self.asked_s / seconds,
            ..self.inside
        }
    }
}

/// Returns labels with their sums, largest first.
fn ranked(sums: impl IntoIterator<Item = (String, f64)>) -> Vec<(String, f64)> {
    let mut all: Vec<(String, f64)> = sums.into_iter().collect();
    all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    all
}

/// Adds the plan of a statement from the label of its reading.
fn note_plan(plans: &mut BTreeMap<String, String>, label: &str) -> Option<()> {
    let (statement, plan) = label.split_once(PLAN_SEPARATOR)?;
    plans.insert(statement.to_owned(), plan.to_owned());
    Some(())
}

/// Averages sizes and states, by metric without `db_`.
fn levels<'a>(readings: impl Iterator<Item = (&'a str, f64)>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (metric, value) in readings.filter(|(metric, _)| LEVELS.contains(metric)) {
        let [sum, count] = sums.entry(metric).or_default();
        (*sum, *count) = (*sum + value, *count + 1.0);
    }
    let mean =
        |(metric, [sum, count]): (&str, [f64; 2])| (metric.trim_start_matches("db_").to_owned(), sum / count);
    sums.into_iter().map(mean).collect()
}

/// Label of keys in shared reports.
pub(crate) const SHARED_KEY: &str = "key";

/// Removes the text of a statement, or a key, from the label of a reading, for shared reports.
pub fn without_statement<'a>(metric: &str, label: &'a str) -> &'a str {
    let separator = match metric {
        "db_statement_waits" => WAIT_SEPARATOR,
        "db_blocking" => BLOCKING_SEPARATOR,
        "db_statement_calls" | "db_statement_s" | "db_last_statement" | "db_plan" => return "statement",
        KEY_COMMANDS => return SHARED_KEY,
        _ => return label,
    };
    label.split_once(separator).map_or(label, |(before, _)| before)
}

/// Returns the class of a wait.
pub fn class_of(wait: &str) -> &str {
    wait.split_once(':').map_or(wait, |(class, _)| class)
}

/// Returns whether a reading is an internal statistic of a database.
pub(crate) fn is_of_database(metric: &str) -> bool {
    metric.starts_with("db_")
}

#[cfg(test)]
mod tests {
    use evidence::{NewRun, Reading, Run};
    use fixtures::{OwnStore, ending, new_run, reading};

    use super::*;
    use crate::Resources;

    fn run(seconds: &[Vec<Reading>]) -> Run {
        let seconds: Vec<(u64, Vec<Reading>)> = (0..).zip(seconds.iter().cloned()).collect();
        let new = NewRun { warm_up_ns: 1_000_000_000, ..new_run() };
        OwnStore::new().kept(&new, &[], &seconds, &ending())
    }

    fn of_database(metric: &str, label: &str, value: f64) -> Reading {
        reading(DATABASE, metric, label, value)
    }

    fn second(lock: f64, cpu: f64) -> Vec<Reading> {
        let update = "UPDATE t SET a = ?";
        vec![
            of_database("db_samples", "", 5.0),
            of_database("db_watch_s", "", 0.01),
            of_database("db_sessions_active", "", lock + cpu),
            of_database("db_waits", "Lock:transactionid", lock),
            of_database("db_waits", "CPU", cpu),
            of_database("db_statement_waits", &format!("Lock:transactionid | {update}"), lock),
            of_database("db_statement_waits", "CPU | SELECT ? | ?", cpu),
            of_database("db_blocking", "session 7, active: x", lock),
            of_database("db_statement_calls", update, 40.0),
            of_database("db_statement_s", update, 0.3),
            of_database("db_statement_calls", "COMMIT", 40.0),
            of_database("db_statement_s", "COMMIT", 0.1),
            of_database("db_commits", "", 100.0),
            of_database("db_blocks_read", "", 25.0),
            of_database("db_blocks_hit", "", 75.0),
            of_database("db_connections", "", 12.0),
            of_database("db_connections_max", "", 100.0),
        ]
    }

    #[test]
    fn sums_measured_seconds_without_the_warm_up() {
        let run = run(&[second(50.0, 50.0), second(4.0, 1.0), second(2.0, 3.0)]);
        let inside = DatabaseStatistics::of(&run).expect("some");
        assert_eq!((inside.samples, inside.active), (10.0, 5.0));
        let mut last = second(0.0, 0.0);
        last[0].value = 1.0;
        let with_last = self::run(&[vec![], second(4.0, 1.0), last]);
        let active = DatabaseStatistics::of(&with_last).map(|inside| inside.active);
        assert_eq!(active.map(|active| (active * 6.0).round()), Some(25.0), "five samples of six");
        assert_eq!(inside.ranked(), [("Lock:transactionid", 0.6), ("CPU", 0.4)]);
        assert_eq!((inside.class_share("Lock"), inside.class_share("IO")), (0.6, 0.0));
        assert_eq!(inside.statements[0].statement, "UPDATE t SET a = ?");
        assert_eq!(inside.statements[1].statement, "SELECT ? | ?");
        let first = &inside.executed[0];
        assert_eq!((first.statement.as_str(), first.calls, first.total_s), ("UPDATE t SET a = ?", 80.0, 0.6));
        assert_eq!((first.mean_ms(), inside.share_of_time(first)), (7.5, Some(0.6 / 0.8)));
        assert_eq!(inside.blocking, [("session 7, active: x".to_owned(), 3.0)]);
        assert_eq!((inside.rate("commits"), inside.hits()), (Some(100.0), Some(0.75)));
        assert_eq!(inside.connections, Some([12.0, 100.0]));
        assert_eq!(inside.asked, 0.01);
        assert!(Resources::of(&run).is_some_and(|resources| resources.processes.is_empty()));
    }

    #[test]
    fn shared_labels_have_no_statement() {
        let told = |metric, label| without_statement(metric, label);
        assert_eq!(told("db_statement_waits", "IO:WALSync | INSERT INTO secrets"), "IO:WALSync");
        assert_eq!(told("db_blocking", "session 7, active: SELECT a::b"), "session 7, active");
        assert_eq!(told("db_statement_s", "SELECT secret"), "statement");
        assert_eq!(told(KEY_COMMANDS, "cart:alice@example.com"), "key");
        assert_eq!(told("disk_busy_s", "vda: x | y"), "vda: x | y");
    }

    #[test]
    fn no_statistics_without_samples() {
        assert_eq!(DatabaseStatistics::of(&run(&[second(1.0, 1.0)])), None, "the warm-up alone");
        assert_eq!(DatabaseStatistics::of(&run(&[vec![], vec![of_database("db_commits", "", 1.0)]])), None);
        let idle = vec![of_database("db_samples", "", 5.0), of_database("db_sessions_active", "", 0.0)];
        let idle = DatabaseStatistics::of(&run(&[vec![], idle])).expect("a sample");
        assert_eq!((idle.active, idle.class_share("Lock"), idle.ranked().len()), (0.0, 0.0, 0));
    }
}
