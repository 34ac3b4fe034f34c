//! Workloads of YCSB on real servers: records that `prepare` inserts, shares of the operations, and reads of new records.

use std::fs;
use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN, assert_identity, number};
use serde_json::Value;
use servers::{MariaDb, MariaDbSettings, Memcached, Postgres, PostgresSettings, Redis};

/// Max distance of a share from that of the mix, as a fraction.
const SHARE_OFF_MAX: f64 = 0.005;

fn redis() -> Redis {
    Redis::start(&[]).unwrap_or_else(|missing| panic!("{missing}"))
}

#[track_caller]
fn prepare(home: &Home, arguments: &[&str]) -> String {
    let output = preparation(home, arguments);
    assert_eq!(output.code, Some(0), "{output:?}");
    output.stdout
}

/// Runs `tenbin prepare`, which keeps nothing in a store.
fn preparation(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    home.isolate(&mut command);
    command.arg("prepare").args(arguments);
    Started::spawn(command).finish()
}

/// Runs a load, with any verdict.
#[track_caller]
fn load(home: &Home, arguments: &[&str]) -> Value {
    // Shares of other seeds are off by two standard deviations once in twenty runs.
    let output = home.run(&[arguments, &["--seed", "5", "--format", "json"]].concat());
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = output.json();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), number(&run, "offered.planned"), "{run}");
    run
}

/// Ended requests of a step.
fn ended(run: &Value, name: &str) -> f64 {
    let steps = run["steps"].as_array().expect("steps");
    let step = steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("no {name}: {run}"));
    step["outcomes"]["ok"].as_f64().expect("a number")
}

#[track_caller]
fn assert_share(run: &Value, name: &str, other: &str, share: f64) {
    let (of_name, of_other) = (ended(run, name), ended(run, other));
    let seen = of_name / (of_name + of_other);
    assert!((seen - share).abs() <= SHARE_OFF_MAX, "{name}: {seen}, expected {share}");
}

#[test]
fn redis_gets_records_of_ycsb_and_operations_in_their_shares() {
    let (home, redis) = (Home::new(), redis());
    let url = redis.url();
    let said = prepare(&home, &[&url, "--workload", "ycsb-a", "--table-size", "500"]);
    assert!(said.contains("500 records"), "{said}");
    assert_eq!(redis.cli(&["ZCARD", "usertable"]).expect("a number").trim(), "500");
    // The name of the first record that YCSB itself loads.
    let fields = redis.cli(&["HLEN", "user6284781860667377211"]).expect("a number");
    assert_eq!(fields.trim(), "10");
    let of = |workload: &'static str, requests: &'static str| {
        load(&home, &[&url, "--workload", workload, "--keys", "500", "-c", "8", "-n", requests])
    };
    assert_share(&of("ycsb-a", "40000"), "read", "update", 0.5);
    assert_share(&of("ycsb-b", "20000"), "read", "update", 0.95);
    assert_eq!(ended(&of("ycsb-c", "1000"), "read"), 1000.0);
    let latest = of("ycsb-d", "20000");
    assert_share(&latest, "read", "insert", 0.95);
    let records: f64 = redis.cli(&["DBSIZE"]).expect("a size").trim().parse().expect("a number");
    // The index is a key, too.
    assert_eq!(records, 501.0 + ended(&latest, "insert"));
    // Reads of new records find them: a record that is missing would be rejected.
    assert_eq!(number(&latest, "outcomes.rejected"), 0);
    assert!(ended(&of("ycsb-e", "500"), "scan") > 400.0);
    let modified = of("ycsb-f", "3000");
    assert!((ended(&modified, "read before update") - ended(&modified, "update after read")).abs() <= 8.0);
}

#[test]
fn postgresql_gets_rows_of_ycsb_and_every_workload() {
    let home = Home::new();
    let postgres =
        Postgres::start(&PostgresSettings::default()).unwrap_or_else(|missing| panic!("{missing}"));
    let url = postgres.admin_url();
    prepare(&home, &[&url, "--workload", "ycsb-e", "--table-size", "300"]);
    for workload in ["ycsb-a", "ycsb-b", "ycsb-c", "ycsb-d", "ycsb-f", "ycsb-e"] {
        if workload == "ycsb-e" {
            // D has inserted the records that E inserts.
            prepare(&home, &[&url, "--workload", "ycsb-e", "--table-size", "300", "--drop"]);
        }
        let run = load(&home, &[&url, "--workload", workload, "--table-size", "300", "-c", "4", "-n", "400"]);
        assert_eq!(number(&run, "outcomes.rejected"), 0, "{run}");
    }
}

#[test]
fn mariadb_gets_rows_of_ycsb_and_every_operation() {
    let home = Home::new();
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap_or_else(|missing| panic!("{missing}"));
    let url = server.admin_url();
    prepare(&home, &[&url, "--workload", "ycsb-f", "--table-size", "200"]);
    for workload in ["ycsb-f", "ycsb-e"] {
        load(&home, &[&url, "--workload", workload, "--table-size", "200", "-n", "200", "-c", "4"]);
    }
}

#[test]
fn postgresql_keeps_records_of_ycsb_in_one_column() {
    let home = Home::new();
    let server = Postgres::start(&PostgresSettings::default()).unwrap_or_else(|missing| panic!("{missing}"));
    let plan = home.path().join("plan.yaml");
    let text = format!(
        "workload: {{ name: ycsb-f, records: 100, fields: 3, field-size: 10 }}\nload: {{ users: 2, requests: 300 }}\nsystems:\n  \
         jsonb: {{ url: \"{}\", prepare: {{ workload: ycsb-f, jsonb: true }} }}\n",
        server.url(Postgres::USER, None)
    );
    fs::write(&plan, text).expect("written");
    let output = home.run(&["run", &plan.display().to_string()]);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_eq!(number(&run, "outcomes.ok"), 300, "{run}");
    let documents = server.sql("SELECT count(*) FROM usertable WHERE length(document->>'field2') = 10");
    assert_eq!(documents.expect("a count").trim(), "100");
}

#[test]
fn sqlite_gets_rows_of_ycsb() {
    let home = Home::new();
    let url = format!("sqlite:{}", home.path().join("records.db").display());
    prepare(&home, &[&url, "--workload", "ycsb-a", "--table-size", "200"]);
    let run = load(&home, &[&url, "--workload", "ycsb-e", "--table-size", "200", "-c", "1", "-n", "200"]);
    assert!(ended(&run, "scan") > 150.0, "{run}");
    let latest = &["--workload", "ycsb-d", "--table-size", "400", "-c", "1", "-n", "400"][..];
    prepare(&home, &[&url, "--workload", "ycsb-d", "--table-size", "400", "--drop"]);
    load(&home, &[&[url.as_str()], latest].concat());
}

#[test]
fn plan_compares_systems_of_several_protocols_with_one_workload() {
    let (home, redis) = (Home::new(), redis());
    let memcached = Memcached::start(&[], None).unwrap_or_else(|missing| panic!("{missing}"));
    let path = home.path().join("plan.yaml");
    let text = format!(
        "workload: {{ name: ycsb-b, records: 200, fields: 1, field-size: 1KiB }}\n\
         load: {{ users: 4, requests: 500 }}\n\
         systems:\n  \
           redis: {{ url: \"{}\", prepare: {{ workload: ycsb-b }} }}\n  \
           memcached: {{ url: \"{}\", prepare: {{ workload: ycsb-b }} }}\n  \
           sqlite: {{ url: \"sqlite:{{dir}}/records.db\", prepare: {{ workload: ycsb-b }} }}\n\
         compare: {{ by: throughput, blocks: 1 }}\n",
        redis.url(),
        memcached.url()
    );
    fs::write(&path, text).expect("written");
    let output: Output = home.run(&["run", &path.display().to_string(), "--format", "json"]);
    assert!([Some(0), Some(1), Some(4), Some(6)].contains(&output.code), "{output:?}");
    assert_eq!(redis.cli(&["HLEN", "user6284781860667377211"]).expect("a number").trim(), "1");
    for name in ["redis", "memcached", "sqlite"] {
        assert!(output.stdout.contains(&format!("\"{name}\"")), "{output:?}");
    }
    assert!(!output.stdout.contains("no_reply"), "{output:?}");
}

#[test]
fn flags_and_systems_that_do_not_fit_a_workload_are_errors() {
    let home = Home::new();
    let said = |arguments: &[&str]| {
        let output = match arguments {
            ["prepare", rest @ ..] => preparation(&home, rest),
            arguments => home.run(arguments),
        };
        assert_eq!(output.code, Some(2), "{output:?}");
        output.stderr
    };
    for (arguments, expected) in [
        (&["http://127.0.0.1:1", "--workload", "ycsb-a"][..], "ycsb-a does not run on such a system"),
        (&["memcached://127.0.0.1:1", "--workload", "ycsb-e"], "this protocol has no scan of records"),
        (
            &["redis://127.0.0.1:1", "--workload", "ycsb-a", "--commands", "get"],
            "--commands: it does not apply to ycsb-a",
        ),
        (&["redis://127.0.0.1:1", "--workload", "ycsb-a", "--keys", "0"], "no number of records"),
        (&["redis://127.0.0.1:1", "--workload", "ycsb-g"], "write one of ycsb-a to ycsb-f"),
        (&["redis://127.0.0.1:1", "--workload", "ycsb-a", "-d", "soon"], "-d: \"soon\""),
        (&["prepare", "redis://127.0.0.1:1", "--workload", "ycsb-a", "--drop"], "are not dropped"),
    ] {
        let stderr = said(arguments);
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}
