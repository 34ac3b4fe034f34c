//! Loads on a real Redis Cluster and behind a real Sentinel: slots, redirections, and fail-over with the writes that were lost.

use serde_json::Value;
use servers::{Redis, RedisCluster, RedisSentinel};

use crate::support::{Home, assert_identity, errors, number, until};

fn cluster(masters: usize, replicas: usize) -> RedisCluster {
    RedisCluster::start(masters, replicas).unwrap_or_else(|missing| panic!("{missing}"))
}

fn url_of(node: &Redis) -> String {
    format!("{}?cluster=true", node.url())
}

/// Runs a plan, with any verdict.
#[track_caller]
fn run_plan(home: &Home, scenario: &str, load: &str, url: &str) -> Value {
    let text =
        format!("scenario:\n{scenario}data: {{ k: {{ sequence: 1..1000000 }} }}\nload: {load}\nurl: {url}\n");
    let path = home.path().join("plan.yaml");
    std::fs::write(&path, text).expect("written");
    let output = home.run(&["run", &path.display().to_string()]);
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    home.last()["runs"][0].clone()
}

const SET: &str = "  - redis: SET key:{k} v\n";

#[test]
fn commands_go_to_the_master_of_their_slot_and_each_node_has_a_row() {
    let (home, cluster) = (Home::new(), cluster(3, 0));
    let run = run_plan(&home, SET, "{ users: 4, requests: 3000 }", &url_of(&cluster.nodes[1]));
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 3000, "{run}");
    assert_eq!(errors(&run, "moved_followed"), 0, "{run}");
    let keys: Vec<u64> = cluster.keys().into_iter().flatten().collect();
    assert_eq!(keys.iter().sum::<u64>(), 3000, "{keys:?}");
    assert!(keys.iter().all(|keys| *keys > 800), "{keys:?}");
    let rows = run["steps"][0]["statements"].as_array().expect("rows");
    let counts: Vec<u64> = rows.iter().map(|row| number(row, "outcomes.ok")).collect();
    assert_eq!((rows.len(), counts.iter().sum::<u64>()), (3, 3000), "{run}");
}

#[test]
fn pipelined_commands_of_a_cluster_are_counted_by_its_nodes() {
    let (home, cluster) = (Home::new(), cluster(3, 0));
    let url = format!("{}?cluster=true", cluster.nodes[0].url());
    let output = home.run(&[
        url.as_str(),
        "-n",
        "6000",
        "-c",
        "2",
        "-P",
        "8",
        "--commands",
        "set",
        "-r",
        "500",
        "--format",
        "json",
    ]);
    let run = output.json();
    assert_identity(&run);
    assert_eq!(number(&run, "outcomes.ok"), 6000, "{run}");
    let calls = cluster.nodes.iter().map(|node| node.calls("set").expect("calls"));
    assert_eq!(calls.sum::<u64>(), 6000);
}

#[test]
fn keys_with_one_hash_tag_are_one_slot_and_others_are_a_cross_slot_error() {
    let (home, cluster) = (Home::new(), cluster(3, 0));
    let url = url_of(&cluster.nodes[0]);
    let tagged = "  - redis: MSET {user:{k}}:a 1 {user:{k}}:b 2\n";
    let run = run_plan(&home, tagged, "{ users: 2, requests: 100 }", &url);
    assert_eq!(number(&run, "outcomes.ok"), 100, "{run}");
    let run = home
        .run(&[format!("{url}&redis=MSET+a+1+b+2").as_str(), "-n", "10", "-c", "2", "--format", "json"])
        .json();
    assert_eq!((errors(&run, "cross_slot"), number(&run, "outcomes.rejected")), (10, 10), "{run}");
}

#[test]
fn moved_and_migrating_slots_are_followed_and_counted() {
    let (home, cluster) = (Home::new(), cluster(3, 0));
    let nodes = &cluster.nodes;
    let id = |node: &Redis| node.cli(&["CLUSTER", "MYID"]).expect("an ID").trim().to_owned();
    // `foo` has the slot 12182, which the third master serves. It moves during the load.
    let started = home.start(&[
        format!("{}?cluster=true&redis=SET+foo+x", nodes[0].url()).as_str(),
        "-d",
        "8s",
        "-c",
        "2",
        "-R",
        "500",
        "--format",
        "json",
    ]);
    until("the load is under way", || nodes[2].calls("set").is_ok_and(|calls| calls > 100));
    let (from, to) = (id(&nodes[2]), id(&nodes[0]));
    nodes[0].cli(&["CLUSTER", "SETSLOT", "12182", "IMPORTING", &from]).expect("importing");
    nodes[2].cli(&["CLUSTER", "SETSLOT", "12182", "MIGRATING", &to]).expect("migrating");
    let port = nodes[0].port().to_string();
    nodes[2].cli(&["MIGRATE", "127.0.0.1", &port, "foo", "0", "5000", "REPLACE"]).expect("migrated");
    until("commands are asked for", || nodes[0].calls("asking").is_ok_and(|calls| calls > 100));
    for node in [&nodes[0], &nodes[2], &nodes[1]] {
        node.cli(&["CLUSTER", "SETSLOT", "12182", "NODE", &to]).expect("moved");
    }
    let run = started.finish().json();
    assert_identity(&run);
    assert!(errors(&run, "ask_followed") >= 100 && errors(&run, "moved_followed") > 0, "{run}");
    assert_eq!(number(&run, "outcomes.rejected") + number(&run, "outcomes.failed"), 0, "{run}");
    let rows = run["steps"][0]["statements"].as_array().expect("rows");
    let followed: Vec<u64> = rows.iter().map(|row| errors(row, "moved_followed")).collect();
    assert_eq!(followed.iter().sum::<u64>(), errors(&run, "moved_followed"), "{run}");
}

#[test]
fn commands_without_a_node_are_errors_before_the_load() {
    let (home, cluster) = (Home::new(), cluster(3, 0));
    let alone = Redis::start(&[]).unwrap_or_else(|missing| panic!("{missing}"));
    for (url, words) in [
        (format!("{}?cluster=true&redis=MULTI", cluster.nodes[0].url()), "MULTI has no key"),
        (format!("{}?cluster=true", alone.url()), "cluster support disabled"),
        (format!("{}/1?cluster=true", alone.url()), "a cluster has only the database 0"),
        (format!("{}?cluster=yes", alone.url()), "write cluster=true"),
        (format!("redis+sentinel://127.0.0.1:{}/mymaster", alone.port()), "the server is no Sentinel"),
        ("redis+sentinel://127.0.0.1".to_owned(), "has no name of a master"),
    ] {
        let output = home.run(&[url.as_str(), "-n", "10"]);
        assert!([Some(1), Some(2)].contains(&output.code), "{output:?}");
        assert!(output.stderr.contains(words), "{words}: {output:?}");
    }
}

/// Asserts that a load continued after its master was killed, and counts the lost writes. Each write has a different key, so the
/// acknowledged ones must not exceed the keys at the end plus the lost ones. Further keys belong to writes whose answers were lost.
fn assert_failed_over(run: &Value, keys: u64) {
    assert_identity(run);
    let (ok, failed) = (number(run, "outcomes.ok"), number(run, "outcomes.failed"));
    let rejected = number(run, "outcomes.rejected");
    assert!(failed + rejected > 0, "the kill was not noticed: {run}");
    let lost = ok.saturating_sub(keys);
    assert!(lost * 10 < ok, "{lost} of {ok} writes are lost; {failed} failed, {rejected} were rejected");
    let planned = number(run, "offered.planned");
    assert!(ok * 5 > planned * 2, "{ok} of {planned} writes: no replica took over: {run}");
}

#[test]
fn replica_of_a_killed_master_takes_its_slots() {
    let (home, mut cluster) = (Home::new(), cluster(3, 1));
    let victim = (0..6)
        .find(|node| {
            cluster.nodes[*node].cli(&["INFO", "replication"]).is_ok_and(|said| said.contains("role:master"))
        })
        .expect("a master");
    let asked = (victim + 1) % 3;
    let path = home.path().join("plan.yaml");
    let text = format!(
        "scenario:\n{SET}data: {{ k: {{ sequence: 1..1000000 }} }}\nload: {{ rate: 500/s, connections: 8, for: 10s, \
         timeout: 1s }}\nurl: {}\n",
        url_of(&cluster.nodes[asked])
    );
    std::fs::write(&path, text).expect("written");
    let started = home.start(&["run", &path.display().to_string()]);
    until("the load is under way", || cluster.nodes[victim].calls("set").is_ok_and(|calls| calls > 300));
    cluster.nodes[victim].kill();
    let output = started.finish();
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    let masters = cluster
        .nodes
        .iter()
        .filter(|node| node.cli(&["INFO", "replication"]).is_ok_and(|said| said.contains("role:master")));
    let keys =
        masters.map(|node| node.cli(&["DBSIZE"]).expect("a size").trim().parse::<u64>().expect("a number"));
    assert_failed_over(&run, keys.sum());
    assert!(errors(&run, "moved_followed") > 0, "{run}");
}

#[test]
fn master_that_a_sentinel_promotes_takes_the_load() {
    let mut started = RedisSentinel::start().unwrap_or_else(|missing| panic!("{missing}"));
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = format!(
        "scenario:\n{SET}data: {{ k: {{ sequence: 1..1000000 }} }}\nload: {{ rate: 500/s, connections: 8, for: 8s, \
         timeout: 1s }}\nurl: {}\n",
        started.url()
    );
    std::fs::write(&path, text).expect("written");
    let load = home.start(&["run", &path.display().to_string()]);
    until("the load is under way", || started.master.calls("set").is_ok_and(|calls| calls > 300));
    assert_eq!(started.replica.calls("hello").expect("calls"), 0, "replicas get no connections");
    started.master.kill();
    let output = load.finish();
    assert!([Some(0), Some(4), Some(6)].contains(&output.code), "{output:?}");
    let run = home.last()["runs"][0].clone();
    let keys = started.replica.cli(&["DBSIZE"]).expect("a size").trim().parse().expect("a number");
    assert_failed_over(&run, keys);
    // A load that begins after the fail-over goes to the new master.
    let output = home.run(&[format!("{}?redis=PING", started.url()).as_str(), "-n", "10", "-c", "1"]);
    assert!([Some(0), Some(4)].contains(&output.code), "{output:?}");
}
