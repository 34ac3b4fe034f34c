//! Systems that steps name: the system of each step, and the addresses of the systems.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use plan::{Environment, FileErrors, Launch, Plan, Select, Study, Transactions};

use crate::good_plans::request;

fn read(text: &str) -> Result<Study, FileErrors> {
    Study::from_bytes(text.as_bytes(), "p.yaml", "p".to_owned(), PathBuf::from("/"), false)
}

/// Launch of a variant, with ports from 81.
fn launch(study: &Study, variant: usize) -> Launch {
    let ports: Vec<(String, u16)> = study.ports(variant).into_iter().zip(81..).collect();
    let (dir, tenbin, host) = (Path::new("/d"), Path::new("/t"), Ipv4Addr::LOCALHOST);
    study.launch(variant, &Environment { ports: &ports, dir, tenbin, host })
}

#[track_caller]
fn plan(study: &Study, load: usize) -> Plan {
    study.plan(load, &launch(study, 0)).unwrap_or_else(|faults| panic!("{faults:?}"))
}

#[track_caller]
fn study(text: &str) -> Study {
    read(text).unwrap_or_else(|faults| panic!("{faults}"))
}

/// Name, system, and port of each step.
fn places(plan: &Plan) -> Vec<(&str, &str, u16)> {
    let place = |step: &'_ plan::PlannedStep| {
        let endpoint = &plan.endpoints[usize::from(step.endpoint)];
        (endpoint, endpoint.peer().port)
    };
    let named = plan.steps.iter().map(|step| (step.name.as_str(), place(step)));
    named.map(|(name, (endpoint, port))| (name, endpoint.name.as_str(), port)).collect()
}

const FIVE: &str = r#"
scenario:
  - get: /
  - get: /items
    endpoint: stock
  - tcp: { text: "PING\r\n" }
    endpoint: cache
  - sql: SELECT 1
  - transaction: [ SELECT 2, SELECT 3 ]
    endpoint: ledger
url: http://127.0.0.1:81
database: postgres://u@127.0.0.1:82/x
endpoints:
  ledger: { url: "mysql://u@127.0.0.1:83/y" }
  stock: http://127.0.0.1:84/shop
  cache: tcp://127.0.0.1:85
load: { users: 1 }
"#;

#[test]
fn plan_mixes_http_raw_tcp_and_databases() {
    let study = study(FIVE);
    let plan = plan(&study, 0);
    let expected = [
        ("GET /", "", 81),
        ("GET /items (stock)", "stock", 84),
        ("send \"PING\\r\\n\" (cache)", "cache", 85),
        ("SELECT 1", "", 82),
        ("SELECT 2 (ledger)", "ledger", 83),
    ];
    assert_eq!(places(&plan), expected);
    let targets: Vec<&str> =
        plan.steps.iter().filter_map(|step| Some(request(step)?.request.target.as_str())).collect();
    assert_eq!(targets[1], "/shop/items", "a path in a URL precedes the paths of its steps alone");
    let scripts: Vec<usize> =
        Transactions::in_plan(&plan).map(|sql| sql.all_scripts.scripts().len()).collect();
    assert_eq!(scripts, [1, 1], "each database has the scripts of its own steps");
    let parts: Vec<u16> = plan.parts().iter().map(|part| part.of).collect();
    assert_eq!(parts, [4; 4], "statements belong to the step of the plan, not to that of the database");
    assert!(study.explain().contains("with stock at http://127.0.0.1:84/shop"), "{}", study.explain());
    assert!(study.explain().contains("(cache): raw TCP, expects a reply\n"), "{}", study.explain());
    let json = plan.to_json();
    assert_eq!(json["steps"][1]["endpoint"], "stock");
    assert_eq!(json["endpoints"][4]["sql"]["engine"], "MySQL");
}

#[test]
fn without_url_step_goes_to_only_matching_endpoint() {
    let text = "endpoints: { shop: 'http://127.0.0.1:84', ledger: 'postgres://u@127.0.0.1:82/x' }\nload: { users: 1 }\n\
                scenario: [ get: /, sql: SELECT 1 ]\n";
    let study = study(text);
    assert_eq!(study.systems[0].name, "127.0.0.1:84");
    let plan = plan(&study, 0);
    assert_eq!(places(&plan), [("GET / (shop)", "shop", 84), ("SELECT 1 (ledger)", "ledger", 82)]);
    assert_eq!(plan.front.port, 84);
}

#[test]
fn systems_set_ports_and_addresses_of_endpoints() {
    let text = "endpoints: { stock: 'http://127.0.0.1:{port.stock}' }\nload: { users: 1 }\n\
                scenario: [ get: /, { get: /a, endpoint: stock } ]\nsystems:\n  \
                  one: { start: 'x {port} {port.stock}', url: 'http://127.0.0.1:{port}' }\n  \
                  two: { start: 'x {port}', url: 'http://127.0.0.1:{port}', endpoints: { stock: 'http://127.0.0.1:7000' } }\n";
    let study = study(text);
    let ports = |variant| {
        let plan = study.plan(0, &launch(&study, variant)).expect("a plan");
        plan.endpoints.iter().map(|endpoint| endpoint.peer().port).collect::<Vec<_>>()
    };
    assert_eq!(study.ports(0), ["", "stock"]);
    assert_eq!([ports(0), ports(1)], [[81, 82], [81, 7000]]);
}

#[test]
fn load_of_one_scenario_has_only_systems_of_its_steps() {
    let text = "scenarios:\n  a: { steps: [ get: / ] }\n  b: { steps: [ { get: /x, endpoint: stock }, { sql: SELECT 1, endpoint: ledger } ] }\n\
                url: http://127.0.0.1:81\nendpoints: { stock: 'http://127.0.0.1:84', ledger: 'postgres://u@127.0.0.1:82/x' }\n\
                load: [ { name: one, users: 1, scenario: a }, { name: two, users: 1, scenario: b } ]\n";
    let study = study(text);
    assert_eq!(places(&plan(&study, 0)), [("GET /", "", 81)]);
    let second = plan(&study, 1);
    assert_eq!(places(&second), [("GET /x (stock)", "stock", 84), ("SELECT 1 (ledger)", "ledger", 82)]);
    assert_eq!(second.front.port, 81, "the system is where its URL is, whatever a load speaks to");
}

#[test]
fn each_http_server_has_its_own_cookies_and_certificates() {
    let text = "scenario:\n  cookies: true\n  steps: [ get: /, { get: /a, endpoint: far }, { get: /b, endpoint: far } ]\n\
                url: http://127.0.0.1:81\nendpoints: { far: { url: 'https://127.0.0.1:84', insecure: true } }\nload: { users: 1 }\n";
    let plan = plan(&study(text), 0);
    let jars: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| Some(plan.variables[usize::from(request(step)?.request.cookies?.jar)].as_str()))
        .collect();
    assert_eq!(jars, ["(cookies)", "(cookies)far", "(cookies)far"]);
    let secure: Vec<bool> = plan.peers().map(|peer| peer.tls.is_some()).collect();
    assert_eq!(secure, [false, true]);
    assert_eq!(plan.stamps(), ["TLS certificates were not verified (--insecure)"]);
}

#[test]
fn each_database_saves_values_of_its_own_steps() {
    let text = "scenario: [ { sql: SELECT 1 AS a, save: { a: { column: a } } }, { sql: 'SELECT :a AS b', endpoint: other, save: { b: { column: b } } }, \
                { sql: 'SELECT :b' } ]\nurl: postgres://u@127.0.0.1:82/x\nendpoints: { other: 'postgres://u@127.0.0.1:83/x' }\nload: { users: 1 }\n";
    let plan = plan(&study(text), 0);
    let saves: Vec<Vec<u16>> = Transactions::in_plan(&plan).map(|sql| sql.settings.saves.clone()).collect();
    assert_eq!(saves, [[0], [1]]);
}

/// Ports of the first system's addresses, and the hosts of its first step.
fn addresses(plan: &Plan) -> (Vec<u16>, Vec<&str>) {
    let ports = plan.endpoints[0].peers().iter().map(|peer| peer.port).collect();
    let request = &request(&plan.steps[0]).expect("a request").request;
    let further = request.other_hosts.iter().map(String::as_str);
    (ports, std::iter::once(request.host.as_str()).chain(further).collect())
}

#[test]
fn list_of_urls_gives_an_address_and_a_host_for_each() {
    let text =
        "url: [ 'http://a.test:81/shop', 'http://b.test/shop' ]\nscenario: [ get: /x ]\nload: { users: 1 }\n";
    let study = study(text);
    let plan = plan(&study, 0);
    assert_eq!(addresses(&plan), (vec![81, 80], vec!["a.test:81", "b.test"]));
    assert_eq!(plan.endpoints[0].select, Some(Select::InTurn));
    assert_eq!(request(&plan.steps[0]).expect("a request").request.target, "/shop/x");
    assert_eq!(plan.to_json()["select"]["rule"], "in-turn");
    let shown = "running at http://a.test:81/shop, http://b.test/shop (in turn)";
    assert!(study.explain().contains(shown), "{}", study.explain());
}

#[test]
fn systems_fill_their_ports_into_a_list() {
    let text = "scenario: [ get: /, { get: /a, endpoint: stock } ]\nload: { users: 1 }\n\
                endpoints: { stock: { url: [ 'http://127.0.0.1:{port.c}', 'http://127.0.0.1:{port.d}' ], select: first } }\n\
                systems:\n  one: { start: 'x {port.a} {port.b} {port.c} {port.d}', url: [ 'http://127.0.0.1:{port.a}', 'http://127.0.0.1:{port.b}' ] }\n";
    let study = study(text);
    assert_eq!(study.ports(0), ["a", "b", "c", "d"]);
    let plan = plan(&study, 0);
    let ports =
        |number: usize| plan.endpoints[number].peers().iter().map(|peer| peer.port).collect::<Vec<_>>();
    assert_eq!([ports(0), ports(1)], [[81, 82], [83, 84]]);
    assert_eq!(plan.endpoints[1].select, Some(Select::First));
}

#[test]
fn hash_in_select_makes_a_shard_of_each_address() {
    let text = "endpoints: { users: { url: [ 'postgres://u@127.0.0.1:82/x', 'postgres://u@127.0.0.1:83/x' ], select: { hash: 'u{user}' } } }\n\
                data: { user: { uniform: 1..9 } }\nscenario: [ sql: SELECT 1 ]\nload: { users: 1 }\n";
    let plan = plan(&study(text), 0);
    assert_eq!((plan.endpoints[0].shards(), plan.variables.as_slice()), (2, &["user".to_owned()][..]));
    let rule = wire::ShardRule::default();
    assert_eq!(plan.endpoints[0].select, Some(Select::Hash("u{user}".to_owned(), rule)));
    let sql = Transactions::at(&plan.endpoints[0]).expect("transactions");
    assert_eq!(sql.database.shown, "postgres://127.0.0.1:82,127.0.0.1:83/x");
}

#[test]
fn reports_errors_in_lists_of_urls() {
    let plan = |url: &str| {
        format!(
            "url: {url}\nscenario: [ get: / ]\ndata: {{ user: {{ uniform: 1..9 }} }}\nload: {{ users: 1 }}\n"
        )
    };
    for (url, what) in [
        ("[ 'http://a', 'https://b' ]", "the list has URLs of http and of https"),
        ("[ 'http://a/x', 'http://b/y' ]", "the URLs of a list have one path"),
        ("[ 'http://u:p@a', 'http://b' ]", "the URLs of a list name one user"),
        ("[ 'http://a', 'http://a' ]", "the URL is in the list twice"),
        ("[]", "is an empty list"),
        ("'http://a'\nselect: first", "`select` requires a list of URLs"),
        ("[ 'http://a', 'http://b' ]\nselect: frist", "first"),
        ("[ 'http://a', 'http://b' ]\nselect: { hash: '{usr}' }", "undefined variable {usr}"),
        ("[ 'http://a', 'http://b' ]\nsocket: /run/x.sock", "`url` is a list"),
    ] {
        let error = read(&plan(url)).expect_err(url).to_string();
        assert!(error.contains(what), "{url}: {error}");
    }
    let near = read(&plan("[ 'http://a', 'http://b' ]\nselect: { hash: '{usr}' }"))
        .expect_err("unknown")
        .to_string();
    assert!(near.contains("user"), "{near}");
}

/// Plan of one system with three URLs, whose `select` and events are these.
fn sharded(select: &str, event: &str) -> Study {
    study(&format!(
        "scenario: [ get: '/{{user}}' ]\ndata: {{ user: {{ uniform: 1..9 }} }}\nload: {{ rate: 9/s, for: 5s }}\n\
         vary: {{ used: [ 1, 3 ] }}\n{event}systems:\n  one:\n    \
         url: [ 'http://127.0.0.1:81', 'http://127.0.0.1:82', 'http://127.0.0.1:83' ]\n    select: {select}\n{}",
        if event.is_empty() { "" } else { "    events: { split: { shards: 3 } }\n" }
    ))
}

#[test]
fn hash_selects_by_ranges_or_a_ring_and_among_some_of_the_urls() {
    let rule = |study: &Study, variant: usize| {
        let plan = study.plan(0, &launch(study, variant)).expect("a plan");
        let Some(Select::Hash(_, rule)) = plan.endpoints[0].select.clone() else { panic!("no hash") };
        (rule.map, rule.in_use.get(), plan.to_json()["select"].clone())
    };
    let ranged = sharded("{ hash: '{user}', by: number, ranges: [ 4, 7 ], shards: '{used}' }", "");
    let (map, in_use, json) = rule(&ranged, 0);
    assert_eq!((map, in_use), (wire::ShardMap::Ranges([4, 7].into()), Some(1)));
    assert_eq!((&json["ranges"][1], &json["shards"]), (&7.into(), &1.into()));
    assert_eq!(rule(&ranged, 1).1, Some(3), "a parameter sets the number");
    let ring = sharded("{ hash: 'u{user}', ring: 160, shards: '{used}' }", "");
    assert_eq!(rule(&ring, 0).0, wire::ShardMap::Ring(160));
    assert!(ring.explain().contains("a ring with 160 points each"), "{}", ring.explain());
}

#[test]
fn event_changes_the_shards_of_its_own_run_only() {
    let study = sharded("{ hash: '{user}', shards: '{used}' }", "events: { split: { at: 1s } }\n");
    let split = &launch(&study, 0).events[0];
    assert_eq!(split.action, plan::EventAction::Shards(3));
    assert_eq!(split.words, "send requests to 3 shards");
    let (first, second) = (plan(&study, 0), plan(&study, 0));
    first.endpoints[0].active_shards().expect("a hash").set(3);
    assert_eq!(first.endpoints[0].active_shards().expect("a hash").get(), Some(3));
    assert_eq!(second.endpoints[0].active_shards().expect("a hash").get(), Some(1));
}

#[test]
fn written_rows_are_read_from_every_address_of_their_endpoint() {
    let study = study(
        "scenario: [ { post: /sign-up, name: sign up }, get: / ]\nload: { users: 1 }\nurl: http://127.0.0.1:81\n\
         endpoints: { shards: { url: [ 'postgres://u@127.0.0.1:82/x', 'postgres://u@127.0.0.1:83/x' ] } }\n\
         written: { table: app.users, key: email, step: sign up, endpoint: shards }\n",
    );
    let written = plan(&study, 0).written.expect("rows to check");
    let ports: Vec<u16> = written.databases.iter().map(|database| database.peers[0].port).collect();
    assert_eq!((ports, written.step, written.table.as_str()), (vec![82, 83], 0, "app.users"));
}

#[test]
fn endpoints_have_pools_of_their_own() {
    let text = "url: http://127.0.0.1:81\nload: { users: 8 }\nscenario: [ get: /a, { get: /b, endpoint: stock } ]\n\
                endpoints: { stock: { url: 'http://127.0.0.1:82', pool: 2 } }\n";
    let plan = plan(&study(text), 0);
    let pools: Vec<Option<u32>> = plan.endpoints.iter().map(|endpoint| endpoint.pool).collect();
    assert_eq!(pools, [None, Some(2)]);
    for (pool, load, expected) in [
        ("pool: 0", "{ users: 8 }", "0 is not between 1 and 1000000"),
        ("pool: 2", "{ users: 8, pool: 4 }", "the load has a pool, and so has this endpoint"),
    ] {
        let text = format!(
            "load: {load}\nscenario: [ {{ sql: SELECT 1 }} ]\n\
             endpoints: {{ stock: {{ url: 'postgres://u@127.0.0.1:82/x', {pool} }} }}\n"
        );
        let error = read(&text).expect_err(&text).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let text = "load: { users: 8 }\nscenario: [ { sql: SELECT 1 } ]\nendpoints: { own: { url: 'sqlite:a.sqlite', pool: 2 } }\n";
    let error = read(text).expect_err(text).to_string();
    assert!(error.contains("SQLite runs within the generator"), "{error}");
}

/// Name, system, and port of each request of `setup` and `teardown`.
fn places_around(plan: &Plan) -> Vec<(&str, &str, u16)> {
    let place = |step: &'_ plan::PlannedStep| {
        let endpoint = &plan.errands.at[usize::from(step.endpoint)];
        (endpoint.name.as_str(), endpoint.peer().port)
    };
    let named = plan.errands.steps().map(|step| (step.name.as_str(), place(step)));
    named.map(|(name, (endpoint, port))| (name, endpoint, port)).collect()
}

#[test]
fn requests_of_setup_go_to_the_endpoint_that_they_name() {
    let text = r#"
setup:
  - post: /users
  - { post: /items, endpoint: stock }
  - { redis: FLUSHALL, endpoint: cache }
  - { redis: SET a 1 }
teardown: [ { delete: /items, endpoint: stock }, delete: /users ]
scenario: [ get: /, { redis: GET a, endpoint: cache } ]
url: http://127.0.0.1:81
endpoints: { stock: "http://127.0.0.1:82/shop", cache: "redis://127.0.0.1:83" }
load: { users: 1 }
"#;
    let plan = plan(&study(text), 0);
    let expected = [
        ("POST /users", "", 81),
        ("POST /items (stock)", "stock", 82),
        ("FLUSHALL (cache)", "cache", 83),
        ("SET a 1 (cache)", "cache", 83),
        ("DELETE /items (stock)", "stock", 82),
        ("DELETE /users", "", 81),
    ];
    assert_eq!(places_around(&plan), expected);
    let target = &request(&plan.errands.setup[1]).expect("a request").request;
    assert_eq!((target.target.as_str(), target.host.as_str()), ("/shop/items", "127.0.0.1:82"));
    assert_eq!(plan.endpoints.len(), 2, "the load speaks to no endpoint that only `setup` has");
}

#[test]
fn setup_may_have_requests_where_the_load_has_transactions() {
    let text = r#"
setup: [ { get: /reset, endpoint: web } ]
scenario: [ sql: SELECT 1 ]
url: postgres://u@127.0.0.1:81/x
endpoints: { web: "http://127.0.0.1:82" }
load: { users: 1 }
"#;
    assert_eq!(places_around(&plan(&study(text), 0)), [("GET /reset (web)", "web", 82)]);
}
