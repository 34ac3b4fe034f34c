//! Tenbin is killed or interrupted while an event pauses a process or holds a lock: what was paused is ended, and the lock is released.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

use crate::support::systems::{assert_nothing_is_left, marked};
use crate::support::{Home, Started, until};

/// Both ways to end, each with its exit code.
const ENDINGS: [(Signal, Option<i32>); 2] = [(Signal::KILL, None), (Signal::INT, Some(130))];
/// Far shorter than the events, and than what waits for them.
const SOON: Duration = Duration::from_secs(15);

fn start(home: &Home, plan: &str) -> Started {
    let path = home.path().join("plan.yaml");
    fs::write(&path, plan).expect("written");
    let mut command = home.command(&["run", &path.to_string_lossy()]);
    command.env("PGPASSWORD", Postgres::PASSWORD).env("MYSQL_PWD", MariaDb::PASSWORD);
    Started::spawn(command)
}

/// Ends it, and waits until nothing of it is left.
#[track_caller]
fn end(home: &Home, program: Started, signal: Signal, code: Option<i32>) {
    let begun = Instant::now();
    program.signal(signal);
    let output = program.finish();
    assert_eq!(output.code, code, "{output:?}");
    assert_nothing_is_left(home);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// Whether a process is held up by SIGSTOP.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

#[test]
fn a_paused_process_is_ended_when_tenbin_is() {
    for (signal, code) in ENDINGS {
        let home = Home::new();
        let program = start(
            &home,
            "scenario: [ get: /status ]\nload: { rate: 50/s, warm-up: 100ms, for: 50s, timeout: 1s }\n\
             events: { stall: { at: 100ms } }\nsystems:\n  web:\n    \
             start: '{tenbin} target --listen 127.0.0.1:{port}'\n    \
             events: { stall: { pause: web, for: 40s, within: 50s } }\n",
        );
        let pid = program.pid();
        until("it is paused", || marked(pid).into_iter().any(is_stopped));
        end(&home, program, signal, code);
    }
}

fn locking(home: &Home, url: &str, before: &str, after: &str) -> Started {
    let held = home.path().join("held");
    let plan = format!(
        "scenario: [ {{ sql: SELECT 1 }} ]\nload: {{ rate: 50/s, warm-up: 100ms, for: 50s, timeout: 1s, connections: 2 }}\n\
         events: {{ backup: {{ at: 100ms }} }}\nsystems:\n  database:\n    url: '{url}'\n    events:\n      backup:\n        \
         run: [ sh, -c, 'touch {held}; exec sleep 40' ]\n        within: 50s\n        \
         lock: {{ before: {before}, after: {after} }}\n",
        held = held.display(),
    );
    let mut program = start(home, &plan);
    until("the lock is held", || Path::new(&held).exists() || !program.is_running());
    assert!(program.is_running(), "{:?}", program.finish());
    program
}

#[test]
fn a_lock_of_mariadb_is_released_when_tenbin_ends() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap_or_else(|why| panic!("{why}"));
    server.sql("CREATE TABLE kept (n bigint NOT NULL)").expect("a table");
    let writes = || server.sql("SET lock_wait_timeout = 1; INSERT INTO kept VALUES (1)").is_ok();
    for (signal, code) in ENDINGS {
        let home = Home::new();
        let program =
            locking(&home, &server.url(MariaDb::USER, None), "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES");
        assert!(!writes(), "the lock holds writers back");
        end(&home, program, signal, code);
        until("the lock is released", writes);
    }
}

#[test]
fn a_lock_of_postgresql_is_released_when_tenbin_ends() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap_or_else(|why| panic!("{why}"));
    // The session of this question ends with it, and so does its lock.
    let is_free = || server.sql("SELECT pg_try_advisory_lock(7)").expect("an answer").trim() == "t";
    for (signal, code) in ENDINGS {
        let home = Home::new();
        let (url, before) = (server.url(Postgres::USER, None), "SELECT pg_advisory_lock(7)");
        let program = locking(&home, &url, before, "SELECT pg_advisory_unlock(7)");
        assert!(!is_free(), "the session holds it");
        end(&home, program, signal, code);
        until("the lock is released", is_free);
    }
}
