//! Loads that replay a log: the description of their plans, and errors in them.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use load::Load;
use plan::{Environment, Fault, Plan, Study};
use tempfile::TempDir;

/// Log of two sessions, one of them with writes.
const LOG: &str = "\
2026-01-02 03:04:05.000 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT 1
2026-01-02 03:04:05.500 UTC [8] LOG:  duration: 1.000 ms  statement: INSERT INTO t VALUES (1)
2026-01-02 03:04:06.000 UTC [7] LOG:  duration: 1.000 ms  statement: SELECT 'secret'
";

const MONITOR: &str = "1767323045.000000 [0 127.0.0.1:60866] \"get\" \"x\"\n";

const DATABASE: &str = "url: postgres://me@127.0.0.1:5432/shop";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("pg.log"), LOG).expect("a log");
    fs::write(folder.path().join("words.log"), "hello\n").expect("a file");
    fs::write(folder.path().join("monitor.log"), MONITOR).expect("a log");
    folder
}

fn read(folder: &Path, load: &str, rest: &str) -> Result<Study, String> {
    let text = format!("load: {load}\n{rest}\n");
    let folder = folder.canonicalize().expect("a folder");
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false)
        .map_err(|errors| errors.to_string())
}

fn planned(study: &Study) -> Result<Plan, Vec<Fault>> {
    let ports: Vec<_> = study.ports(0).into_iter().zip(20_001..).collect();
    let (dir, tenbin) = (Path::new("/run"), Path::new("/bin/tenbin"));
    let environment = Environment { ports: &ports, dir, tenbin, host: Ipv4Addr::LOCALHOST };
    study.plan(0, &study.launch(0, &environment))
}

#[test]
fn sessions_are_users_and_fingerprints_are_parts() {
    let folder = folder();
    let study = read(folder.path(), "{ replay: { log: pg.log, only: reads, speed: 2x } }", DATABASE);
    let study = study.expect("it needs no scenario");
    let plan = planned(&study).expect("a plan");
    assert_eq!(plan.load_words(), "replay of pg.log, 2 statements of 1 session, 2x");
    let Load::Closed(closed) = &plan.load else { panic!("{:?}", plan.load) };
    assert_eq!((closed.users, plan.stop.requests, plan.stop.at_ns), (1, Some(2), None));
    let parts: Vec<String> = plan.parts().into_iter().map(|part| part.name).collect();
    assert_eq!(parts, ["select ?"]);
    let replay = plan.replay.as_ref().expect("a log");
    assert!(replay.is_read_only && !plan.may_write());
    let times: Vec<u64> = replay.trace.times().map(|(at_ns, _)| at_ns).collect();
    assert_eq!(times, [0, 500_000_000]);
    assert!(!plan.to_json().to_string().contains("secret"));
}

#[test]
fn statements_that_write_need_permission_or_a_system_that_is_started() {
    let folder = folder();
    let fault = |load: &str, rest: &str| {
        let study = read(folder.path(), load, rest).expect("a study");
        planned(&study).map(|plan| plan.may_write()).map_err(|faults| faults[0].to_string())
    };
    let refused = fault("{ replay: pg.log }", DATABASE).expect_err("it writes");
    assert!(refused.contains("pg.log: 1 of 3 statements may write"), "{refused}");
    assert_eq!(fault("{ replay: { log: pg.log, allow-writes: true } }", DATABASE), Ok(true));
    let started =
        "systems: { pg: { start: \"postgres -p {port}\", url: \"postgres://me@127.0.0.1:{port}/shop\" } }";
    assert_eq!(fault("{ replay: pg.log }", started), Ok(true));
}

#[test]
fn errors_name_the_log_and_what_to_write() {
    let folder = folder();
    for (load, words) in [
        ("{ replay: none.log }", "none.log does not exist"),
        ("{ replay: words.log }", "words.log: no line has a known log format"),
        ("{ replay: { log: pg.log, format: postgres-cvs } }", "did you mean `postgres-csv`?"),
        ("{ replay: { log: pg.log, speed: 0 } }", "\"0\" is no factor from 0.001x to 1000x"),
        ("{ replay: { log: pg.log, since: noon } }", "\"noon\" is no time in a log"),
        ("{ replay: { log: pg.log, since: 10min } }", "pg.log: nothing in it can be replayed"),
        ("{ replay: { log: pg.log }, users: 5 }", "`users` does not apply to a load with `replay`"),
        ("{ replay: { lg: pg.log } }", "did you mean `log`?"),
    ] {
        let errors = read(folder.path(), load, DATABASE).expect_err("it is wrong");
        assert!(errors.contains(words) && errors.contains("help: "), "{load}: {errors}");
    }
    let http = "url: http://127.0.0.1:8080";
    for (log, system, words) in [
        ("pg.log", http, "the log has SQL statements, and the system is no database"),
        ("pg.log", "url: mysql://me@127.0.0.1/shop", "the log has statements of PostgreSQL"),
        ("monitor.log", DATABASE, "the log has commands of redis, and the system is a SQL database"),
        ("monitor.log", http, "the log has commands of redis, and the system is another"),
    ] {
        let load = format!("{{ replay: {{ log: {log}, only: reads }} }}");
        let study = read(folder.path(), &load, system).expect("a study");
        let fault = planned(&study).expect_err(words)[0].to_string();
        assert!(fault.contains(words) && fault.contains("help: "), "{fault}");
    }
}

#[test]
fn other_log_has_another_hash() {
    let folder = folder();
    let hash = || {
        let study =
            read(folder.path(), "{ replay: { log: pg.log, only: reads } }", DATABASE).expect("a study");
        (study.hash.clone(), planned(&study).expect("a plan").to_json()["replay"]["hash"].clone())
    };
    let before = hash();
    assert_eq!(before, hash());
    fs::write(folder.path().join("pg.log"), LOG.replace("SELECT 1", "SELECT 2")).expect("a log");
    let after = hash();
    assert!(before.0 != after.0 && before.1 != after.1);
}

#[test]
fn comparison_by_statement_makes_all_blocks() {
    let folder = folder();
    let systems =
        "systems: { a: { url: postgres://me@127.0.0.1:1/a }, b: { url: postgres://me@127.0.0.1:2/b } }";
    let study =
        read(folder.path(), "{ replay: { log: pg.log, only: reads } }", &format!("{systems}\ncompare: {{}}"));
    let compare = study.expect("a study").compare;
    assert!(compare.has_all_blocks);
    assert_eq!(compare.blocks, 6, "one fingerprint: 2 in 64 is below 5 %");
}
