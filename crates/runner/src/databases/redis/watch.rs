//! Counters of Redis and its commands, from INFO. Readings that a version does not report are omitted.

use std::collections::BTreeMap;

use loading::{Answer, Error};
use wire::redis::Part;

use super::hot_keys::{self, HotKeys};
use super::slow_log::{self, SlowLog};
use crate::database_watch::tally::Sample;
use crate::database_watch::{Counter, Dialect, MonitorSession, SampledKeys, StatementGrowth, number, text};

const INFO: &str = "INFO";
const COMMANDS: &str = "INFO commandstats";
const SYNCS: &str = "CONFIG GET appendfsync";
/// Everything that a monitor asks, each with the part of the reply that is the answer.
pub(super) const QUESTIONS: [(&str, Part); 4] =
    [(INFO, Part::Reply), (COMMANDS, Part::Reply), (SYNCS, Part::Item(1)), (slow_log::QUESTION, Part::Items)];

/// Fields that grow, with metric, label, and factor.
const GROWING: [(&str, &str, &str, f64); 17] = [
    ("total_commands_processed", "db_commands", "", 1.0),
    ("keyspace_hits", "db_key_hits", "", 1.0),
    ("keyspace_misses", "db_key_misses", "", 1.0),
    ("expired_keys", "db_keys_expired", "", 1.0),
    ("evicted_keys", "db_keys_evicted", "", 1.0),
    ("total_eviction_exceeded_time", "db_eviction_s", "", 1e-3),
    ("total_error_replies", "db_errors", "", 1.0),
    ("rejected_connections", "db_connections_rejected", "", 1.0),
    ("total_net_input_bytes", "db_input_bytes", "", 1.0),
    ("total_net_output_bytes", "db_output_bytes", "", 1.0),
    ("total_forks", "db_forks", "", 1.0),
    ("aof_delayed_fsync", "db_log_syncs_delayed", "", 1.0),
    ("used_cpu_sys_main_thread", "db_main_thread_s", "system", 1.0),
    ("used_cpu_user_main_thread", "db_main_thread_s", "user", 1.0),
    ("used_cpu_sys_children", "db_children_s", "system", 1.0),
    ("used_cpu_user_children", "db_children_s", "user", 1.0),
    ("io_threaded_writes_processed", "db_threaded_writes", "", 1.0),
];

/// Fields that are sizes, states, or the time of the last event, with metric and factor.
const SIZES: [(&str, &str, f64); 10] = [
    ("connected_clients", "db_connections", 1.0),
    ("maxclients", "db_connections_max", 1.0),
    ("blocked_clients", "db_clients_blocked", 1.0),
    ("used_memory", "db_memory_bytes", 1.0),
    ("maxmemory", "db_memory_bytes_max", 1.0),
    ("latest_fork_usec", "db_fork_s", 1e-6),
    ("rdb_bgsave_in_progress", "db_snapshot_running", 1.0),
    ("aof_rewrite_in_progress", "db_log_rewrite_running", 1.0),
    ("aof_enabled", "db_log_enabled", 1.0),
    ("aof_pending_bio_fsync", "db_log_syncs_pending", 1.0),
];

/// Commands of the monitor itself.
const OWN: &str = "info";

#[derive(Debug, Default)]
pub(super) struct RedisWatch {
    /// Calls and seconds by command at the last look. `None` before the first look of a session.
    before: Option<BTreeMap<String, [f64; 2]>>,
    /// Whether the append-only file, if there is one, is synced before each answer. `None` if the server does not report it.
    syncs_each: Option<bool>,
    slow_log: SlowLog,
    /// `None` if the run is not instrumented.
    hot_keys: Option<HotKeys>,
}

impl RedisWatch {
    pub(super) fn new(is_instrumented: bool) -> Self {
        Self { hot_keys: is_instrumented.then(HotKeys::default), ..Self::default() }
    }
}

impl Dialect for RedisWatch {
    fn begin(&mut self, asked: &mut MonitorSession<'_>) -> Result<Option<[f64; 2]>, Error> {
        self.before = None;
        let answer = asked.ask(INFO)?;
        if field(&answer, "used_cpu_user_main_thread").is_none() {
            asked.shared.lacks("the CPU time of its main thread", "this version does not report it");
        }
        let syncs = asked.ask_if_allowed("when it syncs its log", SYNCS)?;
        self.syncs_each = syncs.and_then(|syncs| syncs.first().map(|row| text(row, 0) == "always"));
        // The count includes this session.
        let open = field(&answer, "connected_clients").map(|open| open - 1.0);
        Ok(open.zip(field(&answer, "maxclients")).map(|(open, max)| [open, max]))
    }

    /// Returns no samples: a store runs one command at a time, and does not report which one.
    fn sample(&mut self, _asked: &mut MonitorSession<'_>) -> Result<Vec<Sample>, Error> {
        Ok(Vec::new())
    }

    fn blocking(&mut self, _asked: &mut MonitorSession<'_>) -> Result<Vec<(String, f64)>, Error> {
        Ok(Vec::new())
    }

    fn counters(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Counter>, Error> {
        let info = asked.ask(INFO)?;
        if let Some(keys) = &mut self.hot_keys {
            keys.note(&info);
        }
        let mut counters = counters(&info);
        let has_log = |counter: &Counter| counter.metric == "db_log_enabled" && counter.value > 0.0;
        if let Some(syncs_each) = self.syncs_each.filter(|_| counters.iter().any(has_log)) {
            let value = if syncs_each { 1.0 } else { 0.0 };
            counters.push(Counter {
                metric: "db_log_synced_each",
                label: String::new(),
                value,
                grows: false,
            });
        }
        if let Some(slow) = asked.ask_if_allowed("its slow log", slow_log::QUESTION)? {
            let items: Vec<String> = slow.iter().map(|row| text(row, 0).to_owned()).collect();
            self.slow_log.add(&items);
            counters.extend(self.slow_log.counters());
        }
        Ok(counters)
    }

    fn statements(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        let Some(answer) = asked.ask_if_allowed("the time of each command", COMMANDS)? else {
            return Ok(Vec::new());
        };
        let now: BTreeMap<String, [f64; 2]> = answer.iter().filter_map(|row| command(row)).collect();
        let Some(before) = self.before.replace(now.clone()) else { return Ok(Vec::new()) };
        let grown = now.into_iter().filter_map(|(name, [calls, time_s])| {
            let [calls_before, time_s_before] = before.get(&name).copied().unwrap_or_default();
            let (calls, time_s) = (calls - calls_before, time_s - time_s_before);
            let statement = name.to_uppercase().replace('|', " ");
            (calls > 0.0 && time_s >= 0.0).then_some(StatementGrowth { statement, calls, time_s })
        });
        let mut grown: Vec<StatementGrowth> = grown.collect();
        grown.sort_by(|one, other| other.time_s.total_cmp(&one.time_s));
        Ok(grown)
    }

    fn sampled_keys(&mut self, asked: &mut MonitorSession<'_>) -> Option<SampledKeys> {
        let keys = self.hot_keys.as_mut()?;
        if !keys.take_turn() {
            return None;
        }
        match asked.ask(hot_keys::QUESTION) {
            Ok(answer) => hot_keys::by_key(&answer),
            Err(error) => {
                keys.stop();
                asked.shared.lacks("a sample of its commands", &error.to_string());
                None
            }
        }
    }
}

/// Number in a field of INFO. `None` if the server does not report it.
pub(super) fn field(answer: &Answer, name: &str) -> Option<f64> {
    number(answer.iter().find(|row| text(row, 0) == name)?, 1)
}

fn counters(answer: &Answer) -> Vec<Counter> {
    let growing = GROWING.iter().filter_map(|(name, metric, label, factor)| {
        let value = field(answer, name)? * factor;
        Some(Counter { metric, label: (*label).to_owned(), value, grows: true })
    });
    let sizes = SIZES.iter().filter_map(|(name, metric, factor)| {
        let value = field(answer, name)? * factor;
        Some(Counter { metric, label: String::new(), value, grows: false })
    });
    growing.chain(sizes).collect()
}

/// Command of a row of the command statistics, with its calls and seconds.
fn command(row: &[Option<String>]) -> Option<(String, [f64; 2])> {
    let name = text(row, 0).strip_prefix("cmdstat_").filter(|name| *name != OWN)?;
    let value = |key: &str| {
        let fields = text(row, 1).split(',').filter_map(|field| field.split_once('='));
        fields.filter(|(name, _)| *name == key).find_map(|(_, value)| value.parse::<f64>().ok())
    };
    let [calls, usec] = [value("calls")?, value("usec")?];
    let is_number = |value: f64| value.is_finite() && value >= 0.0;
    (is_number(calls) && is_number(usec)).then(|| (name.to_owned(), [calls, usec * 1e-6]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: &str) -> Vec<Option<String>> {
        vec![Some(name.to_owned()), Some(value.to_owned())]
    }

    #[test]
    fn fields_become_counters_with_units() {
        let answer = vec![
            row("used_memory", "1024"),
            row("used_cpu_user_main_thread", "1.5"),
            row("latest_fork_usec", "2500"),
            row("evicted_keys", "-1"),
            row("keyspace_hits", "nan"),
            row("role", "master"),
        ];
        let counters = counters(&answer);
        let read: Vec<(&str, &str, f64, bool)> = counters
            .iter()
            .map(|counter| (counter.metric, counter.label.as_str(), counter.value, counter.grows))
            .collect();
        assert_eq!(
            read,
            [
                ("db_main_thread_s", "user", 1.5, true),
                ("db_memory_bytes", "", 1024.0, false),
                ("db_fork_s", "", 0.0025, false),
            ]
        );
    }

    #[test]
    fn command_statistics_have_calls_and_seconds() {
        let of = |name: &str, value: &str| command(&row(name, value));
        let told = "calls=3,usec=1500,usec_per_call=500.00,rejected_calls=0,failed_calls=0";
        assert_eq!(of("cmdstat_config|get", told), Some(("config|get".to_owned(), [3.0, 0.0015])));
        assert_eq!(of("cmdstat_info", told), None, "the monitor's own");
        assert_eq!(of("cmdstat_get", "calls=x,usec=1"), None);
        assert_eq!(of("cmdstat_get", "calls=inf,usec=1"), None);
        assert_eq!(of("errorstat_ERR", "count=1"), None);
    }
}
