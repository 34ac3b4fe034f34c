//! Tenbin is killed or interrupted during an event: locks are released, and no process, limit, link, disk, or host remains.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

use crate::support::systems::{assert_nothing_is_left, marked};
use crate::support::{Home, Started, until};

/// Both ways to end Tenbin, each with its exit code.
const ENDINGS: [(Signal, Option<i32>); 2] = [(Signal::KILL, None), (Signal::INT, Some(130))];
/// Max time of the cleanup. It is far shorter than the events and the time-outs of their commands.
const SOON: Duration = Duration::from_secs(15);

fn start(home: &Home, plan: &str) -> Started {
    let path = home.path().join("plan.yaml");
    fs::write(&path, plan).expect("written");
    let mut command = home.command(&["run", &path.to_string_lossy()]);
    command.env("PGPASSWORD", Postgres::PASSWORD).env("MYSQL_PWD", MariaDb::PASSWORD);
    Started::spawn(command)
}

/// Ends the program with a signal, and waits until all of its processes have ended.
#[track_caller]
fn end(home: &Home, program: Started, signal: Signal, code: Option<i32>) {
    let begun = Instant::now();
    program.signal(signal);
    let output = program.finish();
    assert_eq!(output.code, code, "{output:?}");
    assert_nothing_is_left(home);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// Whether a process is stopped by SIGSTOP.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

#[test]
fn paused_process_ends_with_tenbin() {
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

/// Control groups and network namespaces of the Tenbin with this PID.
fn leftovers_of(pid: u32) -> Vec<PathBuf> {
    let (groups, hosts) = (format!("tenbin-{pid}:"), format!("tnb-{pid}:"));
    let mut found = Vec::new();
    let mut next = vec![(PathBuf::from("/sys/fs/cgroup"), 6), (PathBuf::from("/run/netns"), 0)];
    while let Some((folder, levels)) = next.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(&groups) || name.starts_with(&hosts) {
                found.push(entry.path());
            } else if levels > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                next.push((entry.path(), levels - 1));
            }
        }
    }
    found
}

/// Mount points in the folder that a plan calls `{dir}`. Its system wrote the path of the folder into a file.
fn disks(home: &Home) -> Vec<PathBuf> {
    let Ok(dir) = fs::read_to_string(home.path().join("dir")) else { return Vec::new() };
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    points.filter(|point| point.starts_with(dir.trim())).collect()
}

fn is_full(disk: &Path) -> bool {
    rustix::fs::statvfs(disk).is_ok_and(|about| about.f_bavail == 0)
}

/// Whether one of these groups limits its members to a twentieth of a core.
fn is_limited(groups: &[PathBuf]) -> bool {
    let quota = |group: &PathBuf| {
        let read = |name: &str| fs::read_to_string(group.join(name)).ok();
        read("cpu.max").or_else(|| read("cpu.cfs_quota_us")).unwrap_or_default()
    };
    groups.iter().any(|group| quota(group).starts_with("5000") && !quota(group).starts_with("50000"))
}

#[test]
fn limits_links_and_full_disks_are_undone_when_tenbin_ends() {
    for (signal, code) in ENDINGS {
        let home = Home::new();
        let plan = format!(
            "scenario: [ get: /status ]\nload: {{ rate: 20/s, warm-up: 100ms, for: 50s, timeout: 1s }}\n\
             events: {{ far: {{ at: 100ms }}, near: {{ at: 100ms }}, less: {{ at: 100ms }}, full: {{ at: 100ms }} }}\n\
             systems:\n  web:\n    \
             start: [ sh, -c, 'echo {{dir}} > {home}/dir; exec {{tenbin}} target --listen 127.0.0.1:{{port}}' ]\n    \
             url: 'http://127.0.0.1:{{port.far}}'\n    disk: 16MiB\n    resources: {{ cpu: 0.5 }}\n    \
             proxies: {{ far: {{ to: '127.0.0.1:{{port.near}}' }}, near: {{ to: '127.0.0.1:{{port}}' }} }}\n    events:\n      \
             far: {{ slow: {{ link: far, delay: 5ms }}, for: 40s, within: 50s }}\n      \
             near: {{ cut: near, for: 40s, within: 50s }}\n      \
             less: {{ limit: {{ cpu: 0.05 }}, for: 40s, within: 50s }}\n      full: {{ fill: disk, for: 40s, within: 50s }}\n",
            home = home.path().display(),
        );
        let mut program = start(&home, &plan);
        let pid = program.pid();
        let is_there = || disks(&home).iter().any(|disk| is_full(disk)) && is_limited(&leftovers_of(pid));
        until("all events are under way", || is_there() || !program.is_running());
        assert!(program.is_running(), "{:?}", program.finish());
        end(&home, program, signal, code);
        until("no group is left", || leftovers_of(pid).is_empty());
        until("no disk is left", || disks(&home).is_empty());
    }
}

#[test]
fn restart_on_a_host_with_limits_leaves_nothing_when_tenbin_ends() {
    for (signal, code) in ENDINGS {
        let home = Home::new();
        let stopping = home.path().join("stopping");
        // The system ignores SIGTERM, so that the restart waits for it.
        let plan = format!(
            "scenario: [ get: / ]\nload: {{ rate: 20/s, warm-up: 100ms, for: 50s, timeout: 1s }}\n\
             hosts: {{ far: {{ namespace: true }} }}\nevents: {{ again: {{ at: 100ms }} }}\nsystems:\n  web:\n    host: far\n    \
             resources: {{ cpu: 0.5, memory: 256MiB }}\n    \
             start: [ sh, -c, 'trap \"touch {stopping}\" TERM; python3 -m http.server --bind {{host}} {{port}} & while :; do sleep 0.1; done' ]\n    \
             stop: {{ signal: TERM, within: 4s }}\n    events: {{ again: {{ restart: web, within: 45s }} }}\n",
            stopping = stopping.display(),
        );
        let mut program = start(&home, &plan);
        let pid = program.pid();
        until("it is being stopped", || stopping.exists() || !program.is_running());
        assert!(program.is_running(), "{:?}", program.finish());
        assert!(
            leftovers_of(pid).len() >= 2,
            "this test needs root, control groups, and iproute2: {:?}",
            leftovers_of(pid)
        );
        end(&home, program, signal, code);
        until("no group and no host is left", || leftovers_of(pid).is_empty());
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
fn lock_of_mariadb_is_released_when_tenbin_ends() {
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
fn lock_of_postgresql_is_released_when_tenbin_ends() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap_or_else(|why| panic!("{why}"));
    // The lock ends with the session of this query.
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
