//! Replays of logs of MariaDB and Redis, of HTTP archives, and over fewer connections than sessions.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use servers::{Auth, MariaDb, MariaDbSettings, Postgres, PostgresSettings, Redis};

use crate::support::{Home, Output, Started, TENBIN, built_in, until};

fn tenbin(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.args(arguments);
    Started::spawn(command).finish()
}

/// Replays a log, and returns what the command prints in JSON.
fn replay(home: &Home, arguments: &[&str]) -> Value {
    let output = tenbin(home, &[&["replay"], arguments, &["--format", "json"]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    output.json()
}

#[track_caller]
fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer} of {result}"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

/// MariaDB with a log of all statements, and a table of one row.
fn mariadb(home: &Home, settings: MariaDbSettings, log: &str) -> MariaDb {
    let file = home.path().join(log);
    fs::write(&file, "").expect("a log");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("a folder");
    fs::set_permissions(&file, all).expect("a log for the server's user");
    let server = MariaDb::start(&settings).expect("a server");
    server
        .sql("CREATE TABLE t (id int PRIMARY KEY, n int) ENGINE=InnoDB; INSERT INTO t VALUES (1, 0)")
        .expect("a table");
    server
}

#[test]
fn general_log_of_mariadb_is_replayed_with_its_prepared_statements() {
    let home = Home::new();
    let log = home.path().join("general.log");
    let settings = MariaDbSettings::default().with("general_log", "1").with("general_log_file", text(&log));
    let server = mariadb(&home, settings, "general.log");
    let from = fs::metadata(&log).expect("a log").len() as usize;
    let script = home.path().join("script.sql");
    fs::write(&script, "\\set n random(1, 9)\nBEGIN;\nUPDATE t SET n = n + :n WHERE id = 1;\nSELECT n FROM t WHERE id = 1;\nCOMMIT;\n")
        .expect("a script");
    let url = server.admin_url();
    let made = tenbin(&home, &[&url, "-f", text(&script), "-c", "1", "-n", "20", "--query-mode", "prepared"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let sum = server.sql("SELECT n FROM t").expect("a row");
    server.sql("UPDATE t SET n = 0; SELECT 'the last one'").expect("a reset");
    until("the log is written", || fs::read_to_string(&log).is_ok_and(|text| text.contains("the last one")));
    let whole = fs::read(&log).expect("a log");
    let upto = String::from_utf8_lossy(&whole).find("UPDATE t SET n = 0").expect("the reset");
    let recorded = home.path().join("recorded.log");
    let line = whole[..upto].iter().rposition(|byte| *byte == b'\n').expect("a line");
    fs::write(&recorded, &whole[from..=line]).expect("a copy");
    let result = replay(
        &home,
        &[text(&recorded), "--to", &url, "--allow-writes", "--log-format", "mysql-general", "--speed", "max"],
    );
    assert_eq!(count(&result, "/replay/outcomes/failed"), 0, "{result}");
    assert_eq!(server.sql("SELECT n FROM t").expect("a row"), sum, "each update is made once: {result}");
}

#[test]
fn slow_log_of_mariadb_is_replayed_and_rows_are_compared() {
    let home = Home::new();
    let log = home.path().join("slow.log");
    let settings = MariaDbSettings::default()
        .with("slow_query_log", "1")
        .with("long_query_time", "0")
        .with("slow_query_log_file", text(&log));
    let server = mariadb(&home, settings, "slow.log");
    for _ in 0..5 {
        server.sql("SELECT n FROM t WHERE id = 1").expect("a row");
    }
    until("the log is written", || {
        fs::read_to_string(&log).is_ok_and(|text| text.matches("SELECT n FROM t").count() >= 5)
    });
    let url = server.admin_url();
    let dry = replay(&home, &[text(&log), "--dry-run", "--only", "reads"]);
    assert_eq!(dry["log"]["format"], "mysql-slow");
    let result = replay(&home, &[text(&log), "--to", &url, "--only", "reads", "--speed", "max"]);
    assert!(count(&result, "/replay/sent") >= 5, "{result}");
    assert_eq!(count(&result, "/replay/outcomes/failed"), 0, "{result}");
    let of = |text: &str| {
        let list = result["fingerprints"].as_array().expect("a list");
        list.iter().find(|one| one["text"] == text).unwrap_or_else(|| panic!("{text} in {result}")).clone()
    };
    assert_eq!(count(&of("select n from t where id = ?"), "/rows"), 5, "{result}");
}

/// A deadlock that the server does not look for: each session holds the row that the other one waits for.
#[test]
fn deadlock_of_two_sessions_of_mariadb_is_ended_by_the_rule_of_the_replay() {
    let home = Home::new();
    let settings = MariaDbSettings::default().with("innodb_deadlock_detect", "0");
    let server = mariadb(&home, settings, "unused.log");
    server.sql("INSERT INTO t VALUES (2, 0)").expect("a row");
    let update = |by: u32, row: u32| format!("UPDATE t SET n = {by} WHERE id = {row}");
    let planted = [
        (0, 11, "BEGIN".to_owned()),
        (1, 12, "BEGIN".to_owned()),
        (10, 11, update(11, 1)),
        (20, 12, update(12, 2)),
        (100, 11, update(11, 2)),
        (110, 12, update(12, 1)),
        (120, 11, "COMMIT".to_owned()),
        (130, 12, "COMMIT".to_owned()),
    ];
    let lines = planted.map(|(at_ms, session, statement)| {
        format!(
            "# Time: 2026-01-02T03:04:05.{at_ms:03}000Z\n# User@Host: me[me] @ localhost []  Id: {session:5}\n\
             # Query_time: 0.000000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
             SET timestamp=1767323045;\n{statement};\n"
        )
    });
    let log = home.path().join("slow.log");
    fs::write(&log, lines.concat()).expect("a log");
    let url = server.admin_url();
    // The shortest wait that the server can end is a second.
    let result = replay(&home, &[text(&log), "--to", &url, "--allow-writes", "--lock-window", "300ms"]);
    assert_eq!((count(&result, "/replay/planned"), count(&result, "/replay/deadlocks")), (8, 0), "{result}");
    assert!(count(&result, "/replay/lock_waits_ended") >= 1, "{result}");
    let open = server.sql("SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'");
    assert_eq!(open.expect("a number").trim(), "0", "nobody waits");
}

/// Redis, or the command that installs it.
fn redis() -> Redis {
    Redis::start(&[]).unwrap_or_else(|missing| panic!("{missing}"))
}

/// Output of MONITOR while `run` runs, up to a line with `last`.
fn monitored(server: &Redis, home: &Home, last: &str, run: impl FnOnce()) -> PathBuf {
    let log = home.path().join("monitor.log");
    let port = server.port().to_string();
    let mut monitor = Command::new("redis-cli")
        .args(["-p", &port, "monitor"])
        .stdout(fs::File::create(&log).expect("a log"))
        .spawn()
        .expect("redis-cli, from the package redis-tools");
    let has = |text: &str| fs::read_to_string(&log).is_ok_and(|written| written.contains(text));
    until("MONITOR began", || has("OK"));
    run();
    until("the log has all commands", || has(last));
    monitor.kill().expect("a process");
    monitor.wait().expect("its end");
    log
}

#[test]
fn output_of_monitor_is_replayed_by_session_with_its_transactions() {
    let (home, from, to) = (Home::new(), redis(), redis());
    let log = monitored(&from, &home, "\"last\"", || {
        from.cli(&["SET", "text", "a \"b\"\n{c}"]).expect("a reply");
        from.cli(&["EVAL", "redis.call('incr', KEYS[1]) return redis.call('get', KEYS[1])", "1", "n"])
            .expect("a reply");
        let transaction = "MULTI\nINCR n\nGET text\nEXEC\nINCR text\n";
        let mut session = Command::new("redis-cli")
            .args(["-p", &from.port().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-cli");
        session.stdin.take().expect("a pipe").write_all(transaction.as_bytes()).expect("written");
        session.wait().expect("its end");
        from.cli(&["SET", "last", "1"]).expect("a reply");
    });
    let dry = replay(&home, &[text(&log), "--dry-run"]);
    assert_eq!((dry["log"]["format"].as_str(), count(&dry, "/log/sessions")), (Some("monitor"), 4), "{dry}");
    let skipped = dry["log"]["skipped"].as_array().expect("a list");
    let scripts = skipped.iter().find(|one| one["reason"] == "part_of_script").expect("commands of a script");
    assert_eq!(scripts["count"], 2, "{dry}");
    let output = tenbin(&home, &["replay", text(&log), "--to", &to.url()]);
    assert!(output.code == Some(2) && output.stderr.contains("--allow-writes"), "{output:?}");
    let result = replay(&home, &[text(&log), "--to", &to.url(), "--allow-writes"]);
    // Some versions of redis-cli also send COMMAND DOCS.
    assert_eq!(count(&result, "/replay/outcomes/ok"), count(&dry, "/log/statements") - 1, "{result}");
    assert_eq!(count(&result, "/replay/outcomes/rejected"), 1, "INCR of a text: {result}");
    for key in ["text", "n", "last"] {
        assert_eq!(
            to.cli(&["GET", key]).expect("a value"),
            from.cli(&["GET", key]).expect("a value"),
            "{key}"
        );
    }
    assert_eq!(to.cli(&["GET", "n"]).expect("a value").trim(), "2");
    let output = tenbin(&home, &["replay", text(&log), "--to", "postgres://127.0.0.1:1/x", "--allow-writes"]);
    assert!(output.code == Some(2) && output.stderr.contains("redis://"), "{output:?}");
}

#[test]
fn requests_of_an_archive_are_sent_with_headers_and_bodies() {
    let (target, home) = (built_in(), Home::new());
    let file = home.path().join("shop.har");
    let archive = serde_json::json!({ "log": { "version": "1.2", "entries": [
        { "startedDateTime": "2026-01-02T03:04:05.000Z", "time": 1.0,
          "request": { "method": "GET", "url": "https://shop.test/status?token=47110000471", "headers": [
              { "name": "X-Secret", "value": "{47120000471}" }, { "name": "Host", "value": "shop.test" } ] },
          "response": { "status": 200 } },
        { "startedDateTime": "2026-01-02T03:04:05.050Z", "time": 1.0,
          "request": { "method": "POST", "url": "https://shop.test/status", "headers": [
              { "name": "Content-Type", "value": "application/json" } ], "bodySize": 19,
              "postData": { "mimeType": "application/json", "text": "{\"a\":\"47130000471\"}" } },
          "response": { "status": 200 } },
    ] } });
    fs::write(&file, archive.to_string()).expect("an archive");
    let url = format!("http://{}", target.address());
    let result = replay(&home, &[text(&file), "--to", &url, "--allow-writes"]);
    assert_eq!(
        (count(&result, "/replay/sent"), result["log"]["format"].as_str()),
        (2, Some("har")),
        "{result}"
    );
    assert_eq!(count(&result, "/replay/unknown"), 0, "{result}");
    // Long enough that no time or port has these digits.
    assert!(!result.to_string().contains("0000471"), "values are masked: {result}");
    let refused = tenbin(&home, &["replay", text(&file), "--to", &url]);
    assert!(refused.stderr.contains("1 of 2 statements may write"), "{refused:?}");
}

/// Three sessions of PostgreSQL. The third waits for a lock of the second, and the second for a lock of the first.
fn chained() -> String {
    let mut log = String::new();
    for (milli, session, statement) in [
        (0, 1, "SELECT pg_advisory_lock(7)"),
        (50, 2, "BEGIN"),
        (60, 2, "UPDATE t SET n = n + 1"),
        (100, 2, "SELECT pg_advisory_lock(7)"),
        (200, 3, "UPDATE t SET n = n + 1"),
        (300, 1, "SELECT pg_advisory_unlock(7)"),
        (310, 2, "COMMIT"),
        (400, 4, "SELECT 1"),
        (410, 1, "SELECT 1"),
        (420, 3, "SELECT 1"),
    ] {
        let _ = writeln!(
            log,
            "2026-01-02 03:04:05.{milli:03} UTC [{session}] LOG:  duration: 0.000 ms  statement: {statement}"
        );
    }
    log
}

#[test]
fn sessions_share_connections_and_a_deadlock_of_their_order_ends_and_is_counted() {
    let settings = PostgresSettings { auth: Auth::Trust, ..PostgresSettings::default() };
    let (server, home) = (Postgres::start(&settings).expect("a server"), Home::new());
    server.sql("CREATE TABLE t (n int)").expect("a table");
    server.sql("INSERT INTO t VALUES (0)").expect("a row");
    let file = home.path().join("pg.log");
    fs::write(&file, chained()).expect("a log");
    let (url, file) = (server.admin_url(), text(&file));
    let own = replay(&home, &[file, "--to", &url, "--allow-writes"]);
    assert_eq!((count(&own, "/replay/same"), &own["replay"]["shared"]), (10, &Value::Null), "{own}");
    assert_eq!(server.sql("SELECT n FROM t").expect("a row").trim(), "2");
    // The first and the third session are on one connection: the update waits for the second session, whose lock the first one
    // releases only after the update.
    let shared = replay(&home, &[file, "--to", &url, "--allow-writes", "-c", "2", "--lock-window", "500ms"]);
    assert_eq!(count(&shared, "/replay/shared/connections"), 2, "{shared}");
    assert_eq!(count(&shared, "/replay/planned"), 10, "{shared}");
    assert!(
        count(&shared, "/replay/differs") + count(&shared, "/replay/lost_with_transaction") >= 1,
        "{shared}"
    );
    // Not a deadlock of locks alone, which the server would detect, so only the rule of the replay ends it.
    assert_eq!(count(&shared, "/replay/deadlocks"), 0, "{shared}");
    assert!(count(&shared, "/replay/lock_waits_ended") >= 1, "{shared}");
}
