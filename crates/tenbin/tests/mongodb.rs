//! Loads on a server that speaks the protocol of MongoDB: counts, cursors, error classes, replica sets, and servers that are no
//! MongoDB. Most need a server that misbehaves on request; docs/mongodb.md says which other ones were tried by hand.

use std::fs;
use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN, assert_identity, errors, number, server, url};
use serde_json::Value;
use servers::{FakeMongo, Mongo};
use target::scripted::Step;

fn mongo(is_primary: bool) -> FakeMongo {
    FakeMongo::start(is_primary).expect("a server")
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
    home.run(&["run", &path.display().to_string()])
}

#[test]
fn server_counts_the_commands_that_the_load_counts() {
    let (home, server) = (Home::new(), mongo(true));
    let run = load(&home, &[&server.url(), "-n", "500", "-c", "4", "--commands", "insert,delete"]);
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 500, "{run}");
    assert_eq!(server.calls("insert") + server.calls("delete"), 500);
}

#[test]
fn cursor_is_exhausted_unless_it_is_saved() {
    let (home, server) = (Home::new(), mongo(true));
    let text = format!(
        r#"
scenario:
  - mongo: {{ find: c }}
    expect: {{ documents: 3, fields: {{ name: Ann, _id: 1 }} }}
    save: {{ id: {{ field: _id }} }}
  - mongo: {{ find: c, filter: {{ _id: "{{id:raw}}" }} }}
    name: first batch
    expect: {{ documents: 1 }}
    save: {{ cursor: {{ cursor: true }} }}
  - mongo: {{ getMore: {{ $numberLong: "{{cursor}}" }}, collection: c }}
    expect: {{ documents: 2 }}
  - mongo: {{ find: c }}
    name: wrong
    expect: {{ fields: {{ name: Bob }} }}
load: {{ users: 1, requests: 40 }}
url: {}
"#,
        server.url()
    );
    let output = run_plan(&home, &text);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert_eq!((number(&run, "outcomes.ok"), errors(&run, "check_body")), (30, 10), "{run}");
    assert_eq!((server.calls("find"), server.calls("getMore")), (30, 30));
}

#[test]
fn errors_have_classes_of_their_codes() {
    let (home, server) = (Home::new(), mongo(true));
    for (code, class) in [
        (11000, "constraint"),
        (10107, "not_primary"),
        (13, "missing_privilege"),
        (26, "missing_object"),
        (59, "bad_statement"),
        (112, "serialization_failure"),
        (50, "canceled"),
        (424_242, "command_error"),
    ] {
        let step = format!("{}?mongo={{\"fail\":{code}}}", server.url());
        let run = load(&home, &[&step, "-n", "5", "-c", "1"]);
        assert_identity(&run);
        assert_eq!((errors(&run, class), number(&run, "outcomes.rejected")), (5, 5), "{code}: {run}");
    }
}

#[test]
fn connections_go_to_the_primary_and_follow_it_after_it_stepped_down() {
    let (home, first, second) = (Home::new(), mongo(false), mongo(true));
    let url = |server: &FakeMongo| format!("\"{}?replicaSet=rs0\"", server.url());
    let text = format!(
        "scenario:\n  - mongo: {{ insert: c, documents: [ {{ a: 1 }} ] }}\nload: {{ for: 2s, rate: 200/s, connections: 4 }}\nendpoints:\n  set: \
         {{ url: [ {}, {} ], select: first }}\n",
        url(&first),
        url(&second)
    );
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    let started = home.start(&["run", &path.display().to_string()]);
    crate::support::until("the load is under way", || second.calls("insert") > 50);
    assert_eq!(first.calls("insert"), 0, "the secondary got a command");
    second.set_primary(false);
    first.set_primary(true);
    crate::support::until("the load has moved", || first.calls("insert") > 50);
    let output = started.finish();
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert!((1..=12).contains(&errors(&run, "not_primary")), "{run}");
    assert_eq!(first.calls("insert") + second.calls("insert"), number(&run, "outcomes.ok"), "{run}");
}

#[test]
fn wrong_urls_and_servers_are_reported_before_the_load() {
    let (home, server_of_set) = (Home::new(), mongo(true));
    let bad_request = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec();
    let http = server(vec![Step::ReadBytes(4), Step::Send(bad_request), Step::HoldOpen]);
    let at = |query: &str| format!("{}?{query}", server_of_set.url());
    for (url, words) in [
        (url(http.address(), "").replace("http", "mongodb"), "the reply is no OP_MSG message"),
        (at("replicaSet=other"), "no member of the replica set in the URL: rs0"),
        (at("authMechanism=PLAIN"), "there is no log-in by PLAIN"),
        (at("tls=perhaps"), "`tls` is true or false"),
        (at("tls=true"), "TLS"),
        (at("retryWrites=true"), "unknown part \"retryWrites\" of the query"),
        ("mongodb+srv://cluster.example/db".to_owned(), "its servers are in SRV records of the DNS"),
    ] {
        let output = home.run(&[url.as_str(), "-n", "10"]);
        assert!([Some(1), Some(2)].contains(&output.code), "{url}: {output:?}");
        assert!(output.stderr.contains(words), "{words}: {output:?}");
    }
}

#[test]
fn documents_of_a_real_server_are_inserted_found_updated_and_deleted() {
    let (home, server) = (Home::new(), Mongo::start().unwrap_or_else(|missing| panic!("{missing}")));
    let text = format!(
        r#"
scenario:
  - mongo: {{ insert: users, documents: [ {{ _id: "{{id}}", name: "A \"b\"\n{{id}}", n: 1 }} ] }}
    expect: {{ matched: 1 }}
  - mongo: {{ find: users, filter: {{ _id: "{{id}}" }} }}
    expect: {{ documents: 1, fields: {{ n: 1 }} }}
    save: {{ name: {{ field: name }} }}
  - mongo: {{ update: users, updates: [ {{ q: {{ name: "{{name}}" }}, u: {{ $inc: {{ n: 41 }} }} }} ] }}
    expect: {{ matched: 1 }}
  - mongo: {{ aggregate: users, pipeline: [ {{ $match: {{ _id: "{{id}}" }} }} ], cursor: {{}} }}
    expect: {{ documents: 1, fields: {{ n: 42 }} }}
  - mongo: {{ delete: users, deletes: [ {{ q: {{ _id: "{{id}}" }}, limit: 1 }} ] }}
    expect: {{ matched: 1 }}
  - mongo: {{ find: users, filter: {{ _id: "{{id}}" }} }}
    name: find after delete
    expect: {{ documents: 0 }}
data: {{ id: {{ sequence: 1.. }} }}
load: {{ users: 2, requests: 60 }}
url: {}
"#,
        server.url()
    );
    let output = run_plan(&home, &text);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 60, "{run}");
    let twice = format!(r#"{}?mongo={{"insert":"users","documents":[{{"_id":1}}]}}"#, server.url());
    let run = load(&home, &[&twice, "-n", "5", "-c", "1"]);
    assert_eq!((number(&run, "outcomes.ok"), errors(&run, "constraint")), (1, 4), "{run}");
}

#[test]
fn records_of_ycsb_are_loaded_once_and_read_from_a_real_server() {
    let (home, server) = (Home::new(), Mongo::start().unwrap_or_else(|missing| panic!("{missing}")));
    let url = server.url();
    let mut prepare = Command::new(TENBIN);
    home.isolate(&mut prepare);
    prepare.args(["prepare", &url, "--workload", "ycsb-a", "--table-size", "100"]);
    let output = Started::spawn(prepare).finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    let run = load(&home, &[&url, "--workload", "ycsb-e", "--keys", "100", "-n", "200", "-c", "2"]);
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 200, "{run}");
}
