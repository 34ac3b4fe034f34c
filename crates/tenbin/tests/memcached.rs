//! Loads on a real memcached: counts that agree with the server, log-in, checks, and servers that are no memcached.

use std::fs;

use crate::support::{Home, Output, Started, assert_identity, errors, number, server, url};
use serde_json::Value;
use servers::Memcached;
use target::scripted::Step;

const PASSWORD: &str = "s3cret-of-memcached";

fn memcached(options: &[&str]) -> Memcached {
    Memcached::start(options, None).unwrap_or_else(|missing| panic!("{missing}"))
}

/// Runs a load, with any verdict.
#[track_caller]
fn load(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(&[arguments, &["--format", "json"]].concat());
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    output.json()
}

fn run_plan(home: &Home, text: &str) -> Output {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    let mut command = home.command(&["run", path.as_str()]);
    command.env("CACHE_PASSWORD", PASSWORD);
    Started::spawn(command).finish()
}

#[test]
fn server_counts_the_commands_that_the_load_counts() {
    let (home, cache) = (Home::new(), memcached(&[]));
    let run = load(&home, &[&cache.url(), "-n", "3000", "-c", "8", "--commands", "set,get,mg", "-r", "50"]);
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 3000, "{run}");
    let count = |name: &str| cache.statistic(name).expect("a statistic");
    assert_eq!(count("cmd_set") + count("cmd_get"), 3000);
    assert!((1..=50).contains(&count("curr_items")));
}

#[test]
fn plan_checks_and_saves_replies_of_both_kinds_of_commands() {
    let (home, cache) = (Home::new(), memcached(&[]));
    let text = format!(
        r#"
scenario:
  - memcached: [ set, "user:{{id}}", "a\r\nflush_all\r\n {{id}}" ]
    expect: {{ type: stored }}
  - memcached: gets user:{{id}}
    expect: {{ type: value, contains: flush_all }}
    save: {{ unique: {{ unique: true }} }}
  - memcached: cas user:{{id}} 41 {{unique}}
    expect: {{ type: stored }}
  - memcached: incr user:{{id}} 1
    expect: {{ reply: 42, type: number }}
  - memcached: mg user:{{id}} v
    expect: {{ reply: 42 }}
  - memcached: ms user:{{id}} b T60
    expect: {{ type: ok }}
  - memcached: delete user:{{id}}
    expect: {{ type: deleted }}
  - memcached: get user:{{id}}
    expect: {{ type: miss }}
  - memcached: get user:{{id}}
    name: wrong
    expect: {{ type: value }}
data: {{ id: {{ sequence: 1.. }} }}
load: {{ users: 2, requests: 90 }}
url: {}
"#,
        cache.url()
    );
    let output = run_plan(&home, &text);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    let wrong = run["steps"].as_array().expect("steps").iter().find(|step| step["name"] == "wrong").cloned();
    let rejected = number(&wrong.expect("a step"), "outcomes.rejected");
    assert_eq!(
        (errors(&run, "check_body"), number(&run, "outcomes.rejected")),
        (rejected, rejected),
        "{run}"
    );
    assert_eq!(cache.statistic("cmd_flush"), Some(0));
}

#[test]
fn value_with_space_in_key_ends_load_with_reason() {
    let (home, cache) = (Home::new(), memcached(&[]));
    cache.ask("set evil 0 0 12\r\nx\r\nflush_all\r\n", "STORED\r\n").expect("a value");
    let text = format!(
        "scenario:\n  - memcached: get evil\n    save: {{ v: {{ reply: true }} }}\n  - memcached: get {{v}}\nload: {{ users: 1, \
         requests: 4 }}\nurl: {}\n",
        cache.url()
    );
    let output = run_plan(&home, &text);
    let said = [output.stdout.as_str(), output.stderr.as_str()].concat();
    assert!(said.contains("cannot be sent: a key has 1 to 250 bytes"), "{output:?}");
    assert_eq!(cache.statistic("cmd_flush"), Some(0));
}

#[test]
fn rejected_log_in_ends_before_the_load_with_the_reason() {
    let users = format!("app:{PASSWORD}\n");
    let cache = Memcached::start(&[], Some(&users)).unwrap_or_else(|missing| panic!("{missing}"));
    let home = Home::new();
    let at = |log_in: &str| format!("memcached://{log_in}127.0.0.1:{}", cache.port());
    let output = home.run(&[at("app:wrong@").as_str(), "-n", "10"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("login_refused") && output.stderr.contains("authentication failure"),
        "{output:?}"
    );
    let run = load(&home, &[&at(&format!("app:{PASSWORD}@")), "-n", "10", "-c", "1"]);
    assert_eq!(number(&run, "outcomes.ok"), 10, "{run}");
    let run = load(&home, &[&at(""), "-n", "10", "-c", "1"]);
    assert_eq!(errors(&run, "missing_privilege"), number(&run, "outcomes.rejected"), "{run}");
    let stored = fs::read(home.store()).expect("a store");
    assert!(
        !stored.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()),
        "the password is stored"
    );
}

#[test]
fn errors_of_commands_have_classes() {
    let (home, cache) = (Home::new(), memcached(&["-I", "1k", "-o", "slab_chunk_max=512"]));
    cache.ask("set text 0 0 3\r\nabc\r\n", "STORED\r\n").expect("a value");
    let large = format!("set+large+{}", "x".repeat(5000));
    for (command, class) in
        [("incr+text+1", "wrong_type"), ("get", "bad_statement"), (large.as_str(), "limit_reached")]
    {
        let run = load(&home, &[&format!("{}?memcached={command}", cache.url()), "-n", "5", "-c", "1"]);
        assert_identity(&run);
        assert_eq!((errors(&run, class), number(&run, "outcomes.rejected")), (5, 5), "{command}: {run}");
    }
}

#[test]
fn server_that_is_no_memcached_is_named_by_its_reply() {
    let home = Home::new();
    let http = server(vec![
        Step::ReadBytes(4),
        Step::Send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec()),
        Step::HoldOpen,
    ]);
    let url = url(http.address(), "").replace("http", "memcached");
    let output = home.run(&[url.as_str(), "-n", "10", "-c", "1"]);
    let said = [output.stdout.as_str(), output.stderr.as_str()].concat();
    assert!(said.contains("not the text protocol of memcached"), "{output:?}");
}

#[test]
fn counts_add_up_after_the_server_is_killed_under_load() {
    let (home, mut cache) = (Home::new(), memcached(&[]));
    let url = cache.url();
    let started = home.start(&[url.as_str(), "-d", "2s", "-c", "4", "--format", "json"]);
    crate::support::until("the load is under way", || {
        cache.statistic("cmd_get").is_some_and(|count| count > 100)
    });
    cache.kill();
    let output = started.finish();
    let run = output.json();
    assert_identity(&run);
    assert!(number(&run, "outcomes.failed") > 0, "{run}");
}

#[test]
fn binary_protocol_logs_in_and_checks_and_saves_replies() {
    let home = Home::new();
    let cache = Memcached::with_sasl("app", PASSWORD).unwrap_or_else(|missing| panic!("{missing}"));
    let at = |log_in: &str| format!("memcached+binary://{log_in}127.0.0.1:{}", cache.port());
    let text = format!(
        r#"
scenario:
  - couchbase: [ set, "user {{id}}\n", "a\r\n {{id}}", 60, 7 ]
    expect: {{ type: stored }}
  - couchbase: [ get, "user {{id}}\n" ]
    expect: {{ type: value, reply: "a\r\n {{id}}" }}
    save: {{ unique: {{ unique: true }} }}
  - couchbase: [ cas, "user {{id}}\n", 41, "{{unique}}" ]
    expect: {{ type: stored }}
  - couchbase: [ cas, "user {{id}}\n", 41, "{{unique}}" ]
    name: changed since
    expect: {{ type: exists }}
  - couchbase: [ incr, "user {{id}}\n", 1 ]
    expect: {{ type: number, reply: 42 }}
  - couchbase: [ add, "user {{id}}\n", x ]
    expect: {{ type: exists }}
  - couchbase: [ delete, "user {{id}}\n" ]
    expect: {{ type: deleted }}
  - couchbase: [ get, "user {{id}}\n" ]
    name: get after delete
    expect: {{ type: miss }}
  - couchbase: incr counter{{id}} 1
    expect: {{ type: not-found }}
  - couchbase: noop
    expect: {{ type: ok }}
data: {{ id: {{ sequence: 1.. }} }}
load: {{ users: 2, requests: 100 }}
url: {}
"#,
        at("app:{env.CACHE_PASSWORD}@")
    );
    let output = run_plan(&home, &text);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 100, "{run}");
    let run = load(&home, &[&at(&format!("app:{PASSWORD}@")), "-n", "200", "-c", "2", "-r", "20"]);
    assert_eq!(number(&run, "outcomes.ok"), 200, "{run}");
    let output = home.run(&[at("app:wrong@").as_str(), "-n", "10"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("login_refused") && output.stderr.contains("Auth failure"), "{output:?}");
    let run = load(&home, &[&at(""), "-n", "10", "-c", "1"]);
    assert!(number(&run, "outcomes.rejected") + number(&run, "outcomes.failed") == 10, "{run}");
}

#[test]
fn binary_protocol_at_a_server_of_the_text_protocol_is_named() {
    let home = Home::new();
    let text = server(vec![Step::ReadBytes(24), Step::Send(b"ERROR\r\n".to_vec()), Step::HoldOpen]);
    let url = format!("couchbase://{}/sessions", text.address());
    let output = home.run(&[url.as_str(), "-n", "10", "-c", "1"]);
    let said = [output.stdout.as_str(), output.stderr.as_str()].concat();
    assert!(said.contains("not the binary protocol of memcached"), "{output:?}");
}
