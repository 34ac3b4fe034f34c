//! Loads on several systems: each gets the requests of its steps, and steps share variables across systems.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::support::{Home, assert_counts_or_starved, assert_identity, built_in, number, until, url};
use harness::quiet::assert_measured;
use rusqlite::Connection;
use serde_json::Value;

/// A server that answers lines and counts them. It ends with the test.
fn lines() -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, count) = (listener.local_addr().expect("an address"), Arc::new(AtomicU64::new(0)));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || answer(stream, &counted));
        }
    });
    (address, count)
}

fn answer(mut stream: TcpStream, counted: &AtomicU64) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        counted.fetch_add(
            bytes[..count].iter().filter(|byte| **byte == b'\n').count() as u64,
            Ordering::Relaxed,
        );
        if stream.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

fn table(home: &Home, name: &str) -> Connection {
    let file = Connection::open(home.path().join(name)).expect("a file");
    file.execute_batch("CREATE TABLE kept (id INTEGER PRIMARY KEY, word TEXT NOT NULL)").expect("a table");
    file
}

fn ok(run: &Value, name: &str) -> u64 {
    let steps = run["steps"].as_array().expect("steps");
    number(steps.iter().find(|step| step["name"] == name).expect(name), "outcomes.ok")
}

#[test]
fn five_systems_in_one_load_get_what_their_steps_send() {
    assert_measured(|| {
        let (home, front, stock) = (Home::new(), built_in(), built_in());
        let (cache, lines) = lines();
        let (first, second) = (table(&home, "first.db"), table(&home, "second.db"));
        let (front_url, stock_url) = (url(front.address(), ""), url(stock.address(), ""));
        let settings = "?journal_mode=wal&busy_timeout=20s";
        let plan = format!(
            r#"
scenario:
  - name: ask
    post: /echo
    body: "word {{word}}"
    save: {{ said: {{ body: "word (.+)" }} }}
  - name: keep
    transaction: [ SELECT 1, INSERT INTO kept (word) VALUES (:said) RETURNING id ]
    save: {{ row: {{ column: id }} }}
  - name: stock
    endpoint: stock
    post: /echo
    body: "row {{row}}"
    save: {{ shown: {{ body: "row (\\d+)" }} }}
  - name: line
    endpoint: cache
    tcp: {{ text: "{{said}}\n" }}
  - name: copy
    endpoint: ledger
    transaction: [ 'INSERT INTO kept (id, word) VALUES (:shown, :said)', SELECT 1 ]
    expect: {{ rows: 1 }}
data: {{ word: {{ text: 20 }} }}
load: {{ users: 4, requests: 500, for: 30s }}
url: {front_url}
database: "sqlite:first.db{settings}"
endpoints:
  stock: {stock_url}
  cache: tcp://{cache}
  ledger: "sqlite:second.db{settings}"
"#
        );
        fs::write(home.path().join("plan.yaml"), plan).expect("written");
        let output = home.run(&["run", "plan.yaml"]);
        let run = home.last()["runs"][0].clone();
        assert_counts_or_starved(&output, &run);
        assert_identity(&run);
        assert_eq!(number(&run, "outcomes.ok"), 500, "{run}");
        let names = ["ask", "keep", "stock", "line", "copy"];
        let counts = names.map(|name| ok(&run, name));
        // The count ends the load up to one iteration early for each user.
        assert!(counts.is_sorted_by(|before, after| before >= after) && counts[4] + 4 >= counts[0], "{run}");
        let statements =
            |step: usize| run["steps"][step]["statements"].as_array().expect("statements").clone();
        for (step, count) in [(1, counts[1]), (4, counts[4])] {
            let oks: Vec<u64> = statements(step).iter().map(|part| number(part, "outcomes.ok")).collect();
            assert_eq!(
                oks, [count; 4],
                "BEGIN, two statements, and COMMIT, each in the account of its own: {run}"
            );
        }
        assert_eq!(lines.load(Ordering::Relaxed), counts[3], "each line reached the server of lines");
        let rows = |file: &Connection, text: &str| -> Vec<(i64, String)> {
            let mut rows = file.prepare(text).expect("a query");
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
            rows.map(|row| row.expect("a row")).collect()
        };
        let all = "SELECT id, word FROM kept ORDER BY id";
        let (kept, copied) = (rows(&first, all), rows(&second, all));
        assert_eq!((kept.len() as u64, copied.len() as u64), (counts[1], counts[4]), "{run}");
        assert!(copied.iter().all(|row| kept.contains(row)), "what one database said, the other was told");
    });
}

#[test]
fn unreachable_endpoint_is_reported_with_its_address() {
    let (home, front) = (Home::new(), built_in());
    let gone = target::scripted::closed_port().expect("a port");
    let plan = format!(
        "scenario: [ get: /, {{ get: /a, endpoint: far }} ]\nurl: {}\nendpoints: {{ far: http://{} }}\nload: {{ users: 1, requests: 4 }}\n",
        url(front.address(), ""),
        gone.address()
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains(&gone.address().to_string()), "{output:?}");
}

#[test]
fn setup_and_teardown_speak_to_each_endpoint_over_one_connection() {
    let (home, front, stock) = (Home::new(), built_in(), built_in());
    let cache = servers::Redis::start(&[]).unwrap_or_else(|missing| panic!("{missing}"));
    let ledger = table(&home, "ledger.db");
    let plan = format!(
        r#"
setup:
  - {{ name: make, post: /echo, body: id 7, endpoint: stock, save: {{ made: {{ body: "id (.)" }} }} }}
  - {{ redis: SELECT 3, endpoint: cache }}
  - {{ sql: "INSERT INTO kept (word) VALUES ('once')", endpoint: ledger }}
  - {{ redis: "SET made {{made}}", endpoint: cache, expect: {{ reply: OK }} }}
scenario: [ {{ post: /echo, body: "<{{made}}>", expect: {{ body: "<7>" }} }} ]
teardown:
  - {{ redis: SET end done, endpoint: cache }}
  - {{ post: /echo, body: end, endpoint: stock }}
load: {{ users: 2, requests: 20 }}
url: {}
endpoints: {{ stock: {}, cache: "{}", ledger: "sqlite:ledger.db" }}
"#,
        url(front.address(), ""),
        url(stock.address(), ""),
        cache.url()
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    let run = home.last()["runs"][0].clone();
    assert_counts_or_starved(&output, &run);
    assert_eq!((number(&run, "outcomes.ok"), number(&run, "outcomes.rejected")), (20, 0), "{run}");
    let value = |database: &str, key: &str| cache.cli(&["-n", database, "GET", key]).expect("a value");
    assert_eq!(value("3", "made").trim(), "7", "SELECT and SET share a connection");
    assert_eq!(value("0", "end").trim(), "done", "teardown has a connection of its own");
    let rows = ledger.query_row("SELECT count(*) FROM kept", [], |row| row.get::<_, i64>(0));
    assert_eq!(rows.expect("a count"), 1);
    assert_eq!(stock.counters().requests, 2, "{run}");
}

#[test]
fn request_of_setup_goes_to_the_shard_that_its_value_selects() {
    let (targets, urls) = three();
    let (home, front) = (Home::new(), built_in());
    let shard = crc32("k") as usize % 3;
    let plan = format!(
        "setup: [ {{ post: /echo, endpoint: shards }} ]\nscenario: [ post: /echo ]\nurl: {}\n\
         endpoints: {{ shards: {{ url: {urls}, select: {{ hash: k }} }} }}\nload: {{ users: 1, requests: 4 }}\n",
        url(front.address(), "")
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    assert_eq!(requests(&targets), [0, 1, 2].map(|number| u64::from(number == shard)), "{output:?}");
}

#[test]
fn endpoint_that_is_down_in_setup_is_named_with_its_address() {
    let (home, front) = (Home::new(), built_in());
    let gone = target::scripted::closed_port().expect("a port");
    let plan = format!(
        "setup: [ {{ redis: FLUSHALL, endpoint: cache }} ]\nscenario: [ get: / ]\nurl: {}\n\
         endpoints: {{ cache: \"redis://{}\" }}\nload: {{ users: 1, requests: 4 }}\n",
        url(front.address(), ""),
        gone.address()
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let said = format!(
        "step \"FLUSHALL (cache)\" of setup at the endpoint cache: cannot connect to {}",
        gone.address()
    );
    assert!(output.stderr.contains(&said), "{output:?}");
}

#[test]
fn requests_wait_for_the_pool_of_their_endpoint_and_the_report_names_it() {
    let (home, front) = (Home::new(), built_in());
    let settings = servers::PostgresSettings::default();
    let stock = servers::Postgres::start(&settings).unwrap_or_else(|missing| panic!("{missing}"));
    let plan = format!(
        "scenario: [ {{ post: /echo, body: a }}, {{ sql: SELECT pg_sleep(0.01), endpoint: stock }} ]\n\
         load: {{ users: 8, requests: 240, for: 30s }}\nurl: {}\n\
         endpoints: {{ stock: {{ url: {:?}, pool: 2 }} }}\n",
        url(front.address(), ""),
        stock.url(servers::Postgres::USER, None)
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    let run = home.last()["runs"][0].clone();
    assert_counts_or_starved(&output, &run);
    assert_eq!(number(&run, "outcomes.ok"), 240, "{run}");
    assert_eq!(number(&run, "connections"), 8 + 2, "one to the server for each user, and the pool: {run}");
    let pool = &run["pools"][0];
    assert_eq!((&pool["endpoint"], &pool["connections"]), (&"stock".into(), &2.into()), "{run}");
    let figure = |key: &str| pool[key].as_f64().expect(key);
    assert!(figure("busy_mean") <= 2.0 && figure("service_mean_us") >= 10_000.0, "{pool}");
    // Each request has six others ahead of it, and two of these are in flight.
    assert!(figure("waited_mean_us") > figure("service_mean_us"), "{pool}");
}

/// Three built-in targets, and their URLs as a list.
fn three() -> ([target::Running; 3], String) {
    let targets = [(); 3].map(|()| built_in());
    let urls = targets.each_ref().map(|target| format!("{:?}", url(target.address(), "")));
    (targets, format!("[ {} ]", urls.join(", ")))
}

fn requests(targets: &[target::Running]) -> Vec<u64> {
    targets.iter().map(|target| target.counters().requests).collect()
}

/// Ok requests of the only step, by address.
fn by_address(run: &Value) -> Vec<(String, u64)> {
    let parts = run["steps"][0]["statements"].as_array().expect("a list");
    parts
        .iter()
        .map(|part| (part["name"].as_str().expect("a name").to_owned(), number(part, "outcomes.ok")))
        .collect()
}

#[test]
fn list_of_urls_gets_new_connections_in_turn() {
    let (home, (targets, urls)) = (Home::new(), three());
    let plan = format!(
        "scenario: [ get: /status ]\nload: {{ users: 1, requests: 60, keep-alive: false }}\nurl: {urls}\n"
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 60, "{output:?}");
    assert_eq!(requests(&targets), [20, 20, 20]);
    assert_eq!(by_address(&run), targets.each_ref().map(|target| (target.address().to_string(), 20)));
}

#[test]
fn select_first_sends_everything_to_the_first_server_and_after_its_end_to_the_next() {
    let (home, ([first, second, third], urls)) = (Home::new(), three());
    let plan = format!(
        "scenario: [ {{ get: '/hold?mean_us=2000', endpoint: shop }} ]\nload: {{ users: 4, for: 3s }}\n\
         endpoints: {{ shop: {{ url: {urls}, select: first }} }}\n"
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let started = home.start(&["run", "plan.yaml"]);
    until("the first server gets the load", || first.counters().requests >= 100);
    let others = [second, third];
    assert_eq!(requests(&others), [0, 0]);
    first.stop();
    let output = started.finish();
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    let [next, last] = requests(&others)[..] else { panic!("two servers") };
    assert!(next > 100 && last == 0, "{next} and {last}: {output:?}");
    // Each user can lose the request in flight, and one on a connection that the server still accepted while it stopped.
    assert!(number(&run, "outcomes.failed") <= 2 * 4, "each user loses at most two requests: {run}");
}

#[test]
fn slots_of_a_number_are_assigned_to_servers_in_ranges() {
    let (home, (targets, urls)) = (Home::new(), three());
    let plan = format!(
        "scenario: [ get: /status ]\ndata: {{ user: {{ sequence: 0..99 }} }}\nload: {{ users: 2, requests: 200 }}\nurl: {urls}\n\
         select: {{ hash: 'u{{user}}', by: number, slots: 10 }}\n"
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    // Slots 0 to 3, 4 to 6, and 7 to 9.
    assert_eq!(requests(&targets), [80, 60, 60], "{output:?}");
}

#[test]
fn hash_of_a_value_sends_it_to_the_same_server_every_time() {
    let (home, (targets, urls)) = (Home::new(), three());
    let plan = format!(
        "scenario: [ {{ get: /status, endpoint: shop }} ]\ndata: {{ user: {{ sequence: 1..40 }} }}\n\
         load: {{ users: 4, requests: 200 }}\nendpoints: {{ shop: {{ url: {urls}, select: {{ hash: 'u{{user}}' }} }} }}\n"
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml"]);
    let run = home.last()["runs"][0].clone();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 200, "{output:?}");
    let mut expected = vec![0; 3];
    for value in (1..=40).cycle().take(200) {
        expected[crc32(&format!("u{value}")) as usize % 3] += 1;
    }
    assert_eq!(requests(&targets), expected, "each value is sent five times, always to one server");
    let counted: Vec<u64> = by_address(&run).into_iter().map(|(_, ok)| ok).collect();
    assert_eq!(counted, expected);
}

/// CRC-32/ISO-HDLC, bit by bit.
fn crc32(text: &str) -> u32 {
    let shifted = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !text.bytes().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(byte), |sum, _| shifted(sum)))
}
