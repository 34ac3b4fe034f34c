//! Sessions and counters of PostgreSQL, version 10 or newer.

use std::time::{Duration, Instant};

use loading::{Answer, Error};

use super::scans::{self, Scans};
use super::statements::Statements;
use crate::database_watch::shape::{Quotes, shape};
use crate::database_watch::tally::Sample;
use crate::database_watch::{
    self, Counter, Dialect, MonitorSession, StatementGrowth, StatementTexts, number, text,
};

/// Sessions of this database, grouped by state, wait event, and statement. Idle sessions wait for their clients.
const SAMPLE: &str = "\
    SELECT state, wait_event_type, wait_event, \
    CASE WHEN state <> 'idle' THEN left(query, 240) END, count(*), sum(count(*)) OVER () \
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
    AND backend_type IN ('client backend', 'parallel worker') GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 256";

/// Sessions that block others, for some of the sessions that wait for a lock. The query briefly locks the server's lock table, so
/// it is used rarely and for few sessions.
const BLOCKING: &str = "\
    WITH waiting AS MATERIALIZED (SELECT pid FROM pg_stat_activity \
    WHERE wait_event_type = 'Lock' AND datname = current_database() LIMIT 16), \
    blocking AS MATERIALIZED (SELECT unnest(pg_blocking_pids(pid)) AS pid FROM waiting) \
    SELECT a.pid, a.state, left(a.query, 240), coalesce(a.wait_event_type, '') = 'Lock', count(*) \
    FROM blocking JOIN pg_stat_activity a USING (pid) GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 8";

/// Version, number of open connections, and maximum for ordinary users.
const BEGIN: &str = "\
    SELECT current_setting('server_version_num'), (SELECT sum(numbackends) FROM pg_stat_database), \
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int";

/// Statistics that one query reads.
struct Statistics {
    what: &'static str,
    /// First version that has them, and first version that does not.
    versions: [u32; 2],
    sql: &'static str,
    /// Metric and label of each column. The label `*` is the value of the first column of the row.
    columns: &'static [(&'static str, &'static str)],
}

const ALWAYS: u32 = u32::MAX;

/// Columns of the WAL statistics in every version.
const WAL: &[(&str, &str)] = &[
    ("db_wal_bytes", ""),
    ("db_wal_buffers_full", ""),
    ("db_wal_writes", ""),
    ("db_wal_syncs", ""),
    ("db_wal_sync_s", ""),
];

/// All statistics. Times are milliseconds on the server, and seconds here.
const STATISTICS: [Statistics; 8] = [
    Statistics {
        what: "pg_stat_database",
        versions: [0, ALWAYS],
        sql: "SELECT xact_commit, xact_rollback, blks_read, blks_hit, deadlocks, temp_bytes FROM pg_stat_database \
              WHERE datname = current_database()",
        columns: &[
            ("db_commits", ""),
            ("db_rollbacks", ""),
            ("db_blocks_read", ""),
            ("db_blocks_hit", ""),
            ("db_deadlocks", ""),
            ("db_temp_bytes", ""),
        ],
    },
    Statistics {
        what: "pg_stat_bgwriter",
        versions: [0, 170_000],
        sql: "SELECT checkpoints_timed, checkpoints_req, buffers_checkpoint, buffers_clean, buffers_backend \
              FROM pg_stat_bgwriter",
        columns: &[
            ("db_checkpoints", "timed"),
            ("db_checkpoints", "requested"),
            ("db_buffers_written", "checkpointer"),
            ("db_buffers_written", "background writer"),
            ("db_buffers_written", "backends"),
        ],
    },
    Statistics {
        what: "pg_stat_checkpointer",
        versions: [170_000, ALWAYS],
        sql: "SELECT num_timed, num_requested, buffers_written, (SELECT buffers_clean FROM pg_stat_bgwriter) \
              FROM pg_stat_checkpointer",
        columns: &[
            ("db_checkpoints", "timed"),
            ("db_checkpoints", "requested"),
            ("db_buffers_written", "checkpointer"),
            ("db_buffers_written", "background writer"),
        ],
    },
    Statistics {
        what: "pg_stat_wal",
        versions: [140_000, 180_000],
        sql: "SELECT wal_bytes, wal_buffers_full, wal_write, wal_sync, wal_sync_time / 1000 FROM pg_stat_wal",
        columns: WAL,
    },
    Statistics {
        what: "pg_stat_wal",
        versions: [180_000, ALWAYS],
        sql: "SELECT w.wal_bytes, w.wal_buffers_full, i.writes, i.fsyncs, i.fsync_time / 1000 FROM pg_stat_wal w, \
              (SELECT sum(writes) AS writes, sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time FROM pg_stat_io \
              WHERE object = 'wal') i",
        columns: WAL,
    },
    Statistics {
        what: "pg_stat_io",
        versions: [160_000, ALWAYS],
        sql: "SELECT backend_type, sum(reads), sum(writes), sum(extends), sum(fsyncs) FROM pg_stat_io GROUP BY 1 LIMIT 24",
        columns: &[
            ("", ""),
            ("db_io_reads", "*"),
            ("db_io_writes", "*"),
            ("db_io_extends", "*"),
            ("db_io_fsyncs", "*"),
        ],
    },
    Statistics {
        what: "pg_stat_progress_vacuum",
        versions: [0, ALWAYS],
        sql: "SELECT relid::regclass::text, 1 FROM pg_stat_progress_vacuum WHERE datname = current_database() LIMIT 8",
        columns: &[("", ""), ("db_vacuum_running", "*")],
    },
    Statistics {
        what: "the number of connections",
        versions: [0, ALWAYS],
        sql: "SELECT sum(numbackends), current_setting('max_connections') FROM pg_stat_database",
        columns: &[("db_connections", ""), ("db_connections_max", "")],
    },
];

/// Metrics that are sizes. All others are counters.
const SIZES: [&str; 3] = ["db_connections", "db_connections_max", "db_vacuum_running"];

/// Text instead of a statement that the role may not see.
const HIDDEN: &str = "<insufficient privilege>";

/// Method of sending a query in this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Put {
    /// Prepared: the server knows the query by name.
    Prepared,
    /// Sent as text each time, because a pooler may use another server session for each query.
    Plain,
}

/// Queries of a session. The server prepares each once, because parsing and planning cost several times as much as the answer.
#[derive(Debug, Default)]
struct PreparedQueries {
    /// Queries that were sent, in order. The index is the number of the prepared statement.
    put: Vec<(&'static str, Put)>,
}

impl PreparedQueries {
    fn ask(&mut self, sql: &'static str, asked: &mut MonitorSession<'_>) -> Result<Answer, Error> {
        let known = self.put.iter().position(|(known, _)| *known == sql);
        let place = known.unwrap_or(self.put.len());
        if known.is_none() {
            let put = match asked.ask(&format!("{PREPARE}{place} AS {sql}")) {
                Ok(_) => Put::Prepared,
                Err(Error::Refused { .. }) => Put::Plain,
                Err(error) => return Err(error),
            };
            self.put.push((sql, put));
        }
        if self.put[place].1 == Put::Prepared {
            match asked.ask(&format!("EXECUTE tenbin_watch_{place}")) {
                Err(Error::Refused { .. }) => self.put[place].1 = Put::Plain,
                answer => return answer,
            }
        }
        asked.ask(sql)
    }
}

/// Prefix of every statement that prepares a query.
pub(super) const PREPARE: &str = "PREPARE tenbin_watch_";

#[derive(Debug, Default)]
pub(super) struct Postgres {
    version: u32,
    questions: PreparedQueries,
    /// Indexes of the statistics that the server rejected.
    refused: Vec<usize>,
    statements: Statements,
    scans: Scans,
    /// Whether reading the statistics of tables has been stopped.
    is_without_tables: bool,
    /// Number of consecutive readings of these statistics that took too long.
    slow_tables: u32,
}

/// Max time for reading the statistics of all tables each second.
const TABLES_WITHIN: Duration = Duration::from_millis(200);
/// Number of consecutive slow readings after which these statistics are omitted. A single slow reading may be due to a busy machine.
const SLOW_TABLES_MAX: u32 = 4;

impl Dialect for Postgres {
    fn begin(&mut self, asked: &mut MonitorSession<'_>) -> Result<Option<[f64; 2]>, Error> {
        self.refused.clear();
        self.scans = Scans::default();
        self.questions = PreparedQueries::default();
        let Some(answer) = asked.ask_if_allowed("the version of the server", BEGIN)? else { return Ok(None) };
        let row = answer.first().map_or(&[][..], Vec::as_slice);
        self.version = number(row, 0).map_or(0, |version| version as u32);
        let own = [SAMPLE, BLOCKING, BEGIN, scans::TABLES, scans::LAST]
            .into_iter()
            .chain(STATISTICS.iter().map(|one| one.sql));
        self.statements.begin(self.version, own, asked)?;
        Ok(number(row, 1).zip(number(row, 2)).map(|(open, max)| [open, max]))
    }

    fn sample(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Sample>, Error> {
        let answer = self.questions.ask(SAMPLE, asked)?;
        if answer.iter().any(|row| text(row, 3) == HIDDEN) {
            let because = "other users' sessions are hidden\n  help: grant pg_read_all_stats to the role";
            asked.shared.lacks("some sessions", because);
        }
        if answer.iter().any(|row| text(row, 0) == "disabled") {
            asked.shared.lacks("sessions", "track_activities is off");
        }
        Ok(sessions(&answer))
    }

    fn blocking(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<(String, f64)>, Error> {
        let answer = asked.ask_if_allowed("who blocks others", BLOCKING)?;
        Ok(answer.map_or_else(Vec::new, |answer| database_watch::blocking(&answer, Quotes::Names)))
    }

    fn counters(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Counter>, Error> {
        let mut counters = Vec::new();
        for (place, statistics) in STATISTICS.iter().enumerate() {
            let [from, to] = statistics.versions;
            if !(from..to).contains(&self.version) || self.refused.contains(&place) {
                continue;
            }
            let answer = self.questions.ask(statistics.sql, asked);
            match asked.if_allowed(statistics.what, answer)? {
                Some(answer) => answer.iter().for_each(|row| statistics.read(row, &mut counters)),
                None => self.refused.push(place),
            }
        }
        self.count_scans(asked, &mut counters)?;
        Ok(counters)
    }

    fn texts(&mut self, asked: &mut MonitorSession<'_>) -> Result<StatementTexts, Error> {
        let answer = self.questions.ask(scans::LAST, asked);
        let Some(answer) = asked.if_allowed("last statements of sessions", answer)? else {
            return Ok(StatementTexts::default());
        };
        let plans = self.scans.explain(self.version, &answer, asked)?;
        let last = answer.iter().map(|row| shape(text(row, 0), Quotes::Names)).collect();
        Ok(StatementTexts { last, plans })
    }

    fn statements(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        self.statements.grown(asked)
    }
}

impl Postgres {
    fn count_scans(
        &mut self,
        asked: &mut MonitorSession<'_>,
        counters: &mut Vec<Counter>,
    ) -> Result<(), Error> {
        const SCANS_NAME: &str = "scans of tables";
        if self.is_without_tables {
            return Ok(());
        }
        let begun = Instant::now();
        let answer = self.questions.ask(scans::TABLES, asked);
        let answer = asked.if_allowed(SCANS_NAME, answer)?;
        self.slow_tables = if begun.elapsed() > TABLES_WITHIN { self.slow_tables + 1 } else { 0 };
        let is_slow = self.slow_tables >= SLOW_TABLES_MAX;
        if is_slow {
            asked.shared.lacks(SCANS_NAME, "reading the statistics of all tables took longer than 0.2 s");
        }
        self.is_without_tables = answer.is_none() || is_slow;
        answer.iter().for_each(|answer| self.scans.counters(answer, counters));
        Ok(())
    }
}

impl Statistics {
    fn read(&self, row: &[Option<String>], counters: &mut Vec<Counter>) {
        for (place, (metric, label)) in
            self.columns.iter().enumerate().filter(|(_, (name, _))| !name.is_empty())
        {
            let label = if *label == "*" { text(row, 0) } else { label }.to_owned();
            let grows = !SIZES.contains(metric);
            counters.extend(number(row, place).map(|value| Counter { metric, label, value, grows }));
        }
    }
}

/// Parses an answer to [`SAMPLE`].
fn sessions(answer: &Answer) -> Vec<Sample> {
    let mut samples: Vec<Sample> = answer.iter().filter_map(|row| session(row)).collect();
    let told: f64 = samples.iter().map(|sample| sample.sessions).sum();
    let all = answer.first().and_then(|row| number(row, 5)).unwrap_or(0.0);
    if all > told {
        samples.push(Sample { state: "other".to_owned(), sessions: all - told, ..Sample::default() });
    }
    samples
}

fn session(row: &[Option<String>]) -> Option<Sample> {
    let sessions = number(row, 4)?;
    let [state, class, event, statement] = [0, 1, 2, 3].map(|place| text(row, place));
    let is_active = matches!(state, "active" | "fastpath function call");
    let wait = match (class, event) {
        ("", _) => "CPU".to_owned(),
        (class, "") => class.to_owned(),
        (class, event) => format!("{class}:{event}"),
    };
    let state = if state.is_empty() { "hidden" } else { state }.to_owned();
    let statement = if is_active { shape(statement, Quotes::Names) } else { String::new() };
    Some(Sample { state, wait: is_active.then_some(wait), statement, sessions })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: [&str; 6]) -> Vec<Option<String>> {
        fields.into_iter().map(|field| (!field.is_empty()).then(|| field.to_owned())).collect()
    }

    #[test]
    fn only_active_sessions_have_a_wait_event() {
        let answer = vec![
            row(["active", "Lock", "transactionid", "UPDATE t SET a = 5", "3", "9"]),
            row(["active", "", "", "SELECT 1", "2", "9"]),
            row(["idle", "Client", "ClientRead", "", "1", "9"]),
            row(["idle in transaction", "Client", "ClientRead", "SELECT 2", "1", "9"]),
            row(["", "", "", HIDDEN, "1", "9"]),
        ];
        let told = sessions(&answer);
        let told: Vec<_> = told
            .iter()
            .map(|one| (one.state.as_str(), one.wait.as_deref(), one.statement.as_str(), one.sessions))
            .collect();
        let expected = [
            ("active", Some("Lock:transactionid"), "UPDATE t SET a = ?", 3.0),
            ("active", Some("CPU"), "SELECT ?", 2.0),
            ("idle", None, "", 1.0),
            ("idle in transaction", None, "", 1.0),
            ("hidden", None, "", 1.0),
            ("other", None, "", 1.0),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn malformed_rows_give_no_sample() {
        let odd = [
            vec![],
            vec![None; 6],
            row(["active", "", "", "", "NaN", "NaN"]),
            row(["a", "b", "c", "d", "-1", "x"]),
        ];
        for row in odd {
            assert_eq!(sessions(&vec![row.clone()]), [], "{row:?}");
        }
    }

    #[test]
    fn each_server_version_has_matching_statistics() {
        for version in [100_000, 130_000, 150_000, 160_000, 170_000, 180_000] {
            let has = |metric: &str| {
                let of_version =
                    STATISTICS.iter().filter(|one| (one.versions[0]..one.versions[1]).contains(&version));
                of_version.flat_map(|one| one.columns).filter(|(name, _)| *name == metric).count()
            };
            assert_eq!(has("db_checkpoints"), 2, "{version}");
            assert_eq!(has("db_wal_syncs"), usize::from(version >= 140_000), "{version}");
            assert_eq!(has("db_io_reads"), usize::from(version >= 160_000), "{version}");
        }
    }
}
