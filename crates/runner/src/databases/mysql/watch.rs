//! Sessions and counters of MariaDB and MySQL. They report the state of a thread, and whether its InnoDB transaction waits for a
//! lock.

use loading::{Answer, Error};

use super::statements::Statements;
use crate::database_watch::shape::{Quotes, shape};
use crate::database_watch::tally::Sample;
use crate::database_watch::{
    self, Counter, Dialect, MonitorSession, StatementGrowth, StatementTexts, number, text,
};

/// Sessions of this database with their transactions, which needs the privilege PROCESS.
const SAMPLE: &str = "\
    SELECT p.COMMAND, p.STATE, t.trx_state, CASE WHEN p.COMMAND <> 'Sleep' THEN LEFT(p.INFO, 240) END, COUNT(*) \
    FROM information_schema.PROCESSLIST p \
    LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID \
    WHERE p.ID <> CONNECTION_ID() AND p.DB <=> DATABASE() GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 256";

/// Sessions of this database without transactions.
const SAMPLE_OF_THREADS: &str = "\
    SELECT COMMAND, STATE, NULL, CASE WHEN COMMAND <> 'Sleep' THEN LEFT(INFO, 240) END, COUNT(*) \
    FROM information_schema.PROCESSLIST \
    WHERE ID <> CONNECTION_ID() AND DB <=> DATABASE() GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 256";

/// Tables of lock waits: in MariaDB, and in MySQL 8.
const LOCK_WAITS: [&str; 2] = [
    "information_schema.INNODB_LOCK_WAITS w JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id",
    "performance_schema.data_lock_waits w \
     JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID",
];

/// Maximum number of sessions in lock waits for which blocking sessions are queried: the server lists every pair of them.
const LOCKED_MAX: f64 = 128.0;

/// Time limit of 0.5 s for each statement: in MariaDB, and in MySQL.
const STATEMENT_TIME: [&str; 2] =
    ["SET SESSION max_statement_time = 0.5", "SET SESSION max_execution_time = 500"];

const BEGIN: &str = "SHOW GLOBAL STATUS LIKE 'Threads_connected'";
const CONNECTIONS_MAX: &str = "SELECT @@max_connections";

/// Status variables of the server, with metric and factor. All but [`SIZES`] are counters.
const STATUS: [(&str, &str, f64); 20] = [
    ("Com_commit", "db_commits", 1.0),
    ("Com_rollback", "db_rollbacks", 1.0),
    ("Questions", "db_statements", 1.0),
    ("Handler_read_rnd_next", "db_table_rows", 1.0),
    ("Select_scan", "db_table_scans", 1.0),
    ("Innodb_buffer_pool_reads", "db_blocks_read", 1.0),
    ("Innodb_buffer_pool_read_requests", "db_blocks_requested", 1.0),
    ("Innodb_buffer_pool_wait_free", "db_buffer_waits", 1.0),
    ("Innodb_data_fsyncs", "db_data_syncs", 1.0),
    ("Innodb_deadlocks", "db_deadlocks", 1.0),
    ("Innodb_log_waits", "db_wal_buffers_full", 1.0),
    ("Innodb_log_writes", "db_wal_writes", 1.0),
    ("Innodb_os_log_fsyncs", "db_wal_syncs", 1.0),
    ("Innodb_os_log_written", "db_wal_bytes", 1.0),
    ("Innodb_buffer_pool_pages_flushed", "db_buffers_written", 1.0),
    ("Innodb_row_lock_waits", "db_row_lock_waits", 1.0),
    ("Innodb_row_lock_time", "db_row_lock_wait_s", 1e-3),
    ("Connection_errors_max_connections", "db_connections_rejected", 1.0),
    ("Threads_connected", "db_connections", 1.0),
    ("Threads_running", "db_threads_running", 1.0),
];

/// Metrics that are sizes, not counters.
const SIZES: [&str; 2] = ["db_connections", "db_threads_running"];

/// Commands of threads that serve no client.
const SERVER_COMMANDS: [&str; 4] = ["Daemon", "Binlog Dump", "Binlog Dump GTID", "Slave_worker"];

#[derive(Debug, Default)]
pub(super) struct MySql {
    connections_max: Option<f64>,
    hides_transactions: bool,
    /// Index of the entry of [`LOCK_WAITS`] that this server has. Its length if the server has none.
    lock_waits: usize,
    locked: f64,
    statements: Statements,
}

impl Dialect for MySql {
    fn begin(&mut self, asked: &mut MonitorSession<'_>) -> Result<Option<[f64; 2]>, Error> {
        let mut is_bounded = false;
        for statement in STATEMENT_TIME {
            is_bounded = is_bounded || is_accepted(asked.ask(statement))?;
        }
        if !is_bounded {
            asked.shared.lacks("a limit for the time of its questions", "the server has none");
        }
        self.statements.begin(asked)?;
        let answer = asked.ask(CONNECTIONS_MAX)?;
        self.connections_max = answer.first().and_then(|row| number(row, 0));
        let open = asked.ask(BEGIN)?;
        let open = open.first().and_then(|row| number(row, 1));
        Ok(open.zip(self.connections_max).map(|(open, max)| [open, max]))
    }

    fn sample(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Sample>, Error> {
        if !self.hides_transactions {
            if let Some(answer) = asked.ask_if_allowed("waits for row locks", SAMPLE)? {
                return Ok(self.sessions(&answer));
            }
            self.hides_transactions = true;
        }
        let answer = asked.ask(SAMPLE_OF_THREADS)?;
        Ok(self.sessions(&answer))
    }

    fn blocking(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<(String, f64)>, Error> {
        if self.hides_transactions || self.locked > LOCKED_MAX {
            return Ok(Vec::new());
        }
        while let Some(waits) = LOCK_WAITS.get(self.lock_waits) {
            let sql = format!(
                "SELECT b.trx_mysql_thread_id, CASE p.COMMAND WHEN 'Sleep' THEN 'idle in transaction' ELSE 'active' END, \
                 LEFT(p.INFO, 240), CASE b.trx_state WHEN 'LOCK WAIT' THEN 't' ELSE 'f' END, COUNT(*) FROM {waits} \
                 LEFT JOIN information_schema.PROCESSLIST p ON p.ID = b.trx_mysql_thread_id \
                 GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 8"
            );
            match asked.ask(&sql) {
                Ok(answer) => return Ok(database_watch::blocking(&answer, Quotes::Values)),
                Err(Error::Refused { said, .. }) => {
                    self.lock_waits += 1;
                    if self.lock_waits == LOCK_WAITS.len() {
                        asked.shared.lacks("who blocks others", &said);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Vec::new())
    }

    fn counters(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<Counter>, Error> {
        let names: Vec<String> = STATUS.iter().map(|(name, ..)| format!("'{name}'")).collect();
        let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", "));
        let answer = asked.ask(&sql)?;
        let max = self.connections_max.map(|value| Counter {
            metric: "db_connections_max",
            label: String::new(),
            value,
            grows: false,
        });
        let counters: Vec<Counter> = answer.iter().filter_map(|row| counter(row)).chain(max).collect();
        self.statements.note_rows(counters.iter().find(|one| one.metric == "db_table_rows"));
        Ok(counters)
    }

    fn statements(&mut self, asked: &mut MonitorSession<'_>) -> Result<Vec<StatementGrowth>, Error> {
        self.statements.grown(asked)
    }

    fn texts(&mut self, asked: &mut MonitorSession<'_>) -> Result<StatementTexts, Error> {
        self.statements.texts(asked)
    }
}

impl MySql {
    fn sessions(&mut self, answer: &Answer) -> Vec<Sample> {
        let samples: Vec<Sample> = answer.iter().filter_map(|row| session(row)).collect();
        self.locked = samples.iter().filter(|one| one.is_locked()).map(|one| one.sessions).sum();
        samples
    }
}

/// Whether the server accepted a statement that only some servers support.
fn is_accepted(answer: Result<Answer, Error>) -> Result<bool, Error> {
    match answer {
        Ok(_) => Ok(true),
        Err(Error::Refused { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn counter(row: &[Option<String>]) -> Option<Counter> {
    let name = text(row, 0);
    let (_, metric, factor) = STATUS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
    let value = number(row, 1)? * factor;
    Some(Counter { metric, label: String::new(), value, grows: !SIZES.contains(metric) })
}

fn session(row: &[Option<String>]) -> Option<Sample> {
    let sessions = number(row, 4)?;
    let [command, doing, transaction, statement] = [0, 1, 2, 3].map(|place| text(row, place));
    if SERVER_COMMANDS.contains(&command) {
        return None;
    }
    let state = match (command, transaction) {
        ("Sleep", "") => "idle",
        ("Sleep", _) => "idle in transaction",
        _ => "active",
    };
    let is_active = state == "active";
    let statement = if is_active { shape(statement, Quotes::Values) } else { String::new() };
    let wait = is_active.then(|| wait(doing, transaction));
    Some(Sample { state: state.to_owned(), wait, statement, sessions })
}

/// Wait event as class and event. The server does not distinguish executing threads that run from executing threads that read.
fn wait(doing: &str, transaction: &str) -> String {
    let class = match doing {
        _ if transaction == "LOCK WAIT" => return "Lock:row".to_owned(),
        lock if lock.to_ascii_lowercase().contains("lock") => "Lock",
        commit if commit.to_ascii_lowercase().contains("commit") => "Commit",
        waits if waits.starts_with("Waiting") || waits == "User sleep" => "Wait",
        "" => return "Executing".to_owned(),
        _ => "Executing",
    };
    format!("{class}:{doing}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: [&str; 5]) -> Vec<Option<String>> {
        fields.into_iter().map(|field| (!field.is_empty()).then(|| field.to_owned())).collect()
    }

    #[test]
    fn classifies_threads_by_wait_event() {
        let told = |fields| {
            session(&row(fields)).map(|one| (one.state, one.wait.unwrap_or_default(), one.statement))
        };
        let of = |state: &str, wait: &str, statement: &str| {
            Some((state.to_owned(), wait.to_owned(), statement.to_owned()))
        };
        let update = "UPDATE t SET a = 'x' WHERE id = 5";
        let shape = "UPDATE t SET a = ? WHERE id = ?";
        assert_eq!(told(["Query", "Updating", "LOCK WAIT", update, "3"]), of("active", "Lock:row", shape));
        assert_eq!(
            told(["Execute", "Updating", "RUNNING", update, "3"]),
            of("active", "Executing:Updating", shape)
        );
        assert_eq!(
            told(["Query", "Commit", "RUNNING", "COMMIT", "1"]),
            of("active", "Commit:Commit", "COMMIT")
        );
        let metadata = "Waiting for table metadata lock";
        assert_eq!(told(["Query", metadata, "", "", "1"]), of("active", &format!("Lock:{metadata}"), ""));
        assert_eq!(told(["Sleep", "", "", "", "1"]), of("idle", "", ""));
        assert_eq!(told(["Sleep", "", "RUNNING", "", "1"]), of("idle in transaction", "", ""));
        assert_eq!(told(["Daemon", "", "", "", "1"]), None);
        assert_eq!(told(["Query", "", "", "", "many"]), None);
    }

    #[test]
    fn parses_status_by_name_with_times_in_seconds() {
        let told = counter(&[Some("INNODB_ROW_LOCK_TIME".to_owned()), Some("2500".to_owned())]);
        assert_eq!(
            told.map(|one| (one.metric, one.value, one.grows)),
            Some(("db_row_lock_wait_s", 2.5, true))
        );
        let told = counter(&[Some("Threads_connected".to_owned()), Some("7".to_owned())]);
        assert_eq!(told.map(|one| (one.metric, one.value, one.grows)), Some(("db_connections", 7.0, false)));
        assert_eq!(counter(&[Some("Uptime".to_owned()), Some("7".to_owned())]), None);
        assert_eq!(counter(&[]), None);
    }
}
