//! Statements of the logs of PostgreSQL, MySQL, and MariaDB.

use replay::{Action, Layout, LogError, LoggedResult, Reason};

use crate::support::{counts, read, read_with, texts, values};

const MS: u64 = 1_000_000;

/// Statements with `log_statement = all` and `log_min_duration_statement = 0`, in the stderr format.
const BOTH: &str = "\
2026-01-02 03:04:05.000 UTC [12] LOG:  connection received: host=127.0.0.1 port=51234
2026-01-02 03:04:05.001 UTC [12] bob@shop LOG:  connection authorized: user=bob database=shop
2026-01-02 03:04:05.100 UTC [12] bob@shop LOG:  statement: SELECT a,
\t  'b' FROM t
2026-01-02 03:04:05.200 UTC [13] eve@shop LOG:  statement: BEGIN
2026-01-02 03:04:05.250 UTC [12] bob@shop LOG:  duration: 149.500 ms
2026-01-02 03:04:05.260 UTC [13] eve@shop LOG:  duration: 0.010 ms
2026-01-02 03:04:05.300 UTC [13] eve@shop LOG:  statement: INSERT INTO t VALUES (1)
2026-01-02 03:04:05.310 UTC [13] eve@shop ERROR:  duplicate key value violates unique constraint \"t_pkey\"
2026-01-02 03:04:05.310 UTC [13] eve@shop DETAIL:  Key (a)=(1) already exists.
2026-01-02 03:04:05.310 UTC [13] eve@shop STATEMENT:  INSERT INTO t VALUES (1)
2026-01-02 03:04:05.320 UTC [13] eve@shop LOG:  statement: ROLLBACK
2026-01-02 03:04:05.400 UTC [14] bob@shop ERROR:  syntax error at or near \"SELEC\" at character 1
2026-01-02 03:04:05.400 UTC [14] bob@shop STATEMENT:  SELEC 1
2026-01-02 03:04:05.500 UTC [1] LOG:  checkpoint starting: time
TopMemoryContext: 8192 total
2026-01-02 03:04:06.000 UTC [12] bob@shop LOG:  disconnection: session time: 0:00:01.000 user=bob database=shop host=127.0.0.1
";

#[test]
fn statement_is_joined_with_its_duration_and_its_error() {
    let (entries, skipped) = read(BOTH, "postgres");
    assert_eq!(
        texts(&entries),
        [
            (0, "SELECT a,\n  'b' FROM t"),
            (1, "BEGIN"),
            (1, "INSERT INTO t VALUES (1)"),
            (2, "SELEC 1"),
            (1, "ROLLBACK"),
        ]
    );
    assert_eq!(entries[0].duration_ns, Some(149_500_000));
    assert_eq!((&*entries[0].user, &*entries[0].database), ("bob", "shop"));
    let results: Vec<LoggedResult> = entries.iter().map(|entry| entry.result.clone()).collect();
    let [ok, error] = [LoggedResult::Ok, LoggedResult::Error(None)];
    assert_eq!(results, [ok.clone(), ok, error.clone(), error, LoggedResult::Unknown]);
    assert_eq!(entries[1].at_ns - entries[0].at_ns, 100 * MS, "times are those of the start");
    assert_eq!(counts(&skipped), [(Reason::Unparsable, 1), (Reason::NoStatement, 4)]);
}

#[test]
fn duration_lines_alone_give_the_start_and_one_statement_per_execution() {
    let log = "\
2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 0.5 ms  parse <unnamed>: SELECT $1
2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 0.5 ms  bind <unnamed>: SELECT $1
2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:DETAIL:  parameters: $1 = 'it''s', $2 = NULL
2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 250.000 ms  execute <unnamed>: SELECT $1, $2
2026-01-02 03:04:05 UTC:10.0.0.1(51234):bob@shop:[12]:DETAIL:  parameters: $1 = 'it''s', $2 = NULL
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  execute S_1/C_2: SELECT 2
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  execute fetch from S_1/C_2: SELECT 2
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  execute a: SELECT $1
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  execute a: SELECT $1
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:DETAIL:  Parameters: $1 = '{ inval...'
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms  statement: COPY t FROM STDIN
2026-01-02 03:04:06 UTC:10.0.0.1(51234):bob@shop:[12]:LOG:  duration: 1.000 ms
";
    let (entries, skipped) = read(log, "postgres");
    assert_eq!(texts(&entries), [(0, "SELECT $1, $2"), (0, "SELECT 2")]);
    assert_eq!(values(&entries[0]), [Some("it's"), None]);
    assert_eq!(entries[0].at_ns % 1_000_000_000, 750 * MS);
    assert!(matches!(&entries[1].action, Action::Execute { is_named: true, .. }));
    assert_eq!(
        counts(&skipped),
        [
            (Reason::PartOfExecution, 2),
            (Reason::DurationOnly, 1),
            (Reason::Copy, 1),
            (Reason::Fetch, 1),
            (Reason::NoValues, 1),
            (Reason::Cut, 1),
        ]
    );
}

fn csv_line(session: &str, severity: &str, code: &str, message: &str, detail: &str, query: &str) -> String {
    let quoted = |text: &str| {
        if text.is_empty() { String::new() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
    };
    format!(
        "2026-01-02 03:04:05.678 UTC,\"bob\",\"shop\",12,\"127.0.0.1:5\",{session},1,\"SELECT\",2026-01-02 03:00:00 UTC,3/4,0,{severity},{code},{},{},,,,,{},,,\"psql\",\"client backend\",,0\n",
        quoted(message),
        quoted(detail),
        quoted(query),
    )
}

#[test]
fn csv_records_may_have_line_breaks_and_quotes() {
    let log = [
        csv_line("6957.c", "LOG", "00000", "statement: SELECT \"a\",\n2, 'x,y'", "", ""),
        csv_line("6957.d", "LOG", "00000", "execute <unnamed>: SELECT $1", "Parameters: $1 = 'a\nb'", ""),
        csv_line("6957.c", "ERROR", "42P01", "relation does not exist", "", "SELECT \"a\",\n2, 'x,y'"),
        csv_line("6957.d", "LOG", "00000", "duration: 1.5 ms", "", ""),
        "2026-01-02 03:04:05.678 UTC,\"bob\",\"cut\n".to_owned(),
        csv_line("6957.d", "LOG", "00000", "duration: 2 ms  statement: SELECT 3", "", ""),
    ];
    let (entries, skipped) = read(&log.concat(), "postgres-csv");
    assert_eq!(texts(&entries), [(0, "SELECT \"a\",\n2, 'x,y'"), (1, "SELECT $1"), (1, "SELECT 3")]);
    assert_eq!(entries[0].result, LoggedResult::Error(Some(*b"42P01")));
    assert_eq!(values(&entries[1]), [Some("a\nb")]);
    assert_eq!(counts(&skipped), [(Reason::TooLong, 1)], "a record that was cut ends at the next one");
}

#[test]
fn json_records_have_the_same_messages() {
    let log = r#"{"timestamp":"2026-01-02 03:04:05.678 UTC","user":"bob","dbname":"shop","pid":12,"session_id":"6957.c","error_severity":"LOG","message":"duration: 1.000 ms  statement: SELECT 'ä\n'"}
{"timestamp":"2026-01-02 03:04:05.679 UTC","session_id":"6957.c","error_severity":"ERROR","state_code":"22012","message":"division by zero","statement":"SELECT 1/0"}
{"timestamp":"2026-01-02 03:04:05.679 UTC","session_id":"69
"#;
    let (entries, skipped) = read(log, "postgres-json");
    assert_eq!(texts(&entries), [(0, "SELECT 'ä\n'"), (0, "SELECT 1/0")]);
    assert_eq!(entries[1].result, LoggedResult::Error(Some(*b"22012")));
    assert_eq!(counts(&skipped), [(Reason::Unparsable, 1)]);
}

#[test]
fn unknown_log_and_unusable_prefix_are_errors() {
    let layout = |prefix: &str| Layout { prefix: Some(prefix.to_owned()), pattern: None };
    assert!(matches!(read_with(b"hello\n", None, &Layout::default()), Err(LogError::Unknown)));
    assert!(matches!(read_with(b"", None, &Layout::default()), Err(LogError::Unknown)));
    assert!(matches!(read_with(b"x", Some("postgres"), &layout("%z")), Err(LogError::Layout(_))));
    let line = b"<2026-01-02 03:04:05.678 UTC|app 1|12> LOG:  duration: 1 ms  statement: SELECT 1\n";
    let (entries, ..) = read_with(line, Some("postgres"), &layout("<%m|%a|%p> ")).unwrap();
    assert_eq!(texts(&entries), [(0, "SELECT 1")]);
}

#[test]
fn process_id_that_is_used_again_is_another_session() {
    let log = "\
2026-01-02 03:04:05.000 UTC [12] LOG:  statement: SELECT 1
2026-01-02 03:04:05.001 UTC [12] LOG:  disconnection: session time: 0:00:01.000
2026-01-02 03:04:05.002 UTC [12] LOG:  connection received: host=[local]
2026-01-02 03:04:05.003 UTC [12] LOG:  statement: SELECT 2
";
    assert_eq!(texts(&read(log, "postgres").0), [(0, "SELECT 1"), (1, "SELECT 2")]);
}

#[test]
fn general_log_has_commands_in_order_of_arrival() {
    let log = "\
/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
2024-01-19T16:29:48.141142Z\t   12 Connect\tapp@web1 on shop using TCP/IP
2024-01-19T16:29:48.142000Z\t   12 Query\tSELECT 1,
  'x'
2024-01-19T16:29:48.143000Z\t   12 Prepare\tSELECT * FROM t WHERE id=?
2024-01-19T16:29:48.144000Z\t   12 Execute\tSELECT * FROM t WHERE id=5
2024-01-19T16:29:48.145000Z\t   13 Init DB\tother
2024-01-19T16:29:48.146000Z\t   12 Ping\t
2024-01-19T16:29:48.147000Z\t   12 Quit\t
";
    let (entries, skipped) = read(log, "mysql-general");
    assert_eq!(
        texts(&entries),
        [(0, "SELECT 1,\n  'x'"), (0, "SELECT * FROM t WHERE id=5"), (1, "use `other`")]
    );
    assert_eq!((&*entries[0].user, &*entries[0].database), ("app", "shop"));
    assert!(entries.iter().all(|entry| entry.result == LoggedResult::Unknown));
    assert_eq!(
        counts(&skipped),
        [(Reason::NoStatement, 5), (Reason::PartOfExecution, 1), (Reason::Command, 1)]
    );
}

#[test]
fn general_log_of_mariadb_leaves_out_equal_times() {
    let log = "260102  3:04:05\t     3 Connect\troot@localhost on test using Socket\n\t\t     3 Query\tSELECT 1\n260102 13:04:06\t     3 Query\tSELECT 2\n";
    let (entries, _) = read(log, "mysql-general");
    assert_eq!(texts(&entries), [(0, "SELECT 1"), (0, "SELECT 2")]);
    assert_eq!(entries[1].at_ns - entries[0].at_ns, 36_001_000_000_000);
}

#[test]
fn slow_log_has_start_duration_and_rows() {
    let log = "\
/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
# Time: 2024-01-19T16:29:48.141142Z
# User@Host: app[app] @ web1 [10.0.0.5]  Id:    12
# Query_time: 0.100000  Lock_time: 0.000004 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1705681788;
SELECT 1;
# User@Host: app[app] @ web1 [10.0.0.5]  Id:    12
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1705681788;
# administrator command: Quit;
# Time: 240119 16:29:49
# User@Host: app[app] @ web1 [10.0.0.5]
# Thread_id: 13  Schema: other  QC_hit: No
# Query_time: 0.5  Lock_time: 0 Rows_sent: 3  Rows_examined: 3
SET timestamp=1705681789;
SELECT '
# not a head
';
# User@Host: app[app] @ web1 []  Id: 14
# Query_time: 0.5  Lock_time: 0 Rows_sent: 3  Rows_examined: 3
SELECT 'cut
";
    let (entries, skipped) = read(log, "mysql-slow");
    assert_eq!(texts(&entries), [(0, "SELECT 1"), (1, "SELECT '\n# not a head\n'")]);
    assert_eq!((entries[0].rows, entries[0].duration_ns), (Some(1), Some(100 * MS)));
    assert_eq!(entries[0].at_ns % 1_000_000_000, 41_142_000);
    assert_eq!((&*entries[0].database, &*entries[1].database), ("shop", "other"));
    assert_eq!(counts(&skipped), [(Reason::NoStatement, 2), (Reason::Cut, 1)]);
}
