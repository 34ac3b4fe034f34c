//! Loads of external load generators: their command, their values, and keys that do not apply.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use plan::{Action, Amount, At, Environment, Plan, Study, Transactions};
use sql::Mode;

fn read(text: &str, is_quick: bool) -> Result<Study, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick)
        .map_err(|errors| errors.to_string())
}

fn study(load: &str, rest: &str) -> Result<Study, String> {
    read(&format!("load: {load}\n{rest}\n"), false)
}

const APP: &str = "systems: { app: { start: \"app {port} {n}\", vary: { n: [ 3 ] } } }";

fn planned(study: &Study) -> Plan {
    planned_load(study, 0)
}

fn planned_load(study: &Study, load: usize) -> Plan {
    let (dir, tenbin) = (Path::new("/run"), Path::new("/bin/tenbin"));
    let ports: Vec<_> = study.ports(0).into_iter().zip(20_001..).collect();
    let environment = Environment { ports: &ports, dir, tenbin, host: Ipv4Addr::LOCALHOST };
    study.plan(load, &study.launch(0, &environment)).expect("a plan")
}

#[test]
fn command_gets_values_of_load_system_and_run() {
    let load = "{ tool: \"wrk -t{n} -c{users} -d{for} -H 'X: {seconds}' {url}/a\", users: 20, for: 60s, warm-up: 2s }";
    let study = study(load, APP).expect("it needs no scenario");
    let plan = planned(&study);
    let Action::Tool(tool) = &plan.steps[0].action else { panic!("{:?}", plan.steps) };
    let words = |cmd: &plan::LaunchCommand| cmd.argv.join(" ");
    assert_eq!(words(&tool.measured), "wrk -t3 -c20 -d60s -H X: 60 http://127.0.0.1:20001/a");
    let warm_up = tool.warm_up.as_ref().map(words);
    assert_eq!(warm_up.as_deref(), Some("wrk -t3 -c20 -d2s -H X: 2 http://127.0.0.1:20001/a"));
    assert_eq!(
        (tool.tool.name, plan.steps[0].name.as_str(), plan.endpoint().peer().port),
        ("wrk", "wrk", 20_001)
    );
    assert_eq!(
        (plan.load_words(), study.run_words(0)),
        ("wrk, 20 users".to_owned(), "wrk, 20 users".to_owned())
    );
    assert!(study.explain().contains("runs wrk -t{n} -c20 -d60s -H 'X: 60' {url}/a"), "{}", study.explain());
    assert!(plan.stamps()[0].starts_with("wrk makes the load: times are as it reports them"));
    // Ports differ between runs, but the stored plan is unchanged.
    let stored = plan.to_json()["steps"][0].to_string();
    assert!(stored.contains("{url}/a") && !stored.contains("20001"), "{stored}");
}

#[test]
fn parameter_of_the_plan_is_used_in_the_command_of_a_tool_alone() {
    let rest = "vary: { path: [ a, b ] }\nsystems: { app: { start: \"app {port}\" } }";
    let used = study("{ tool: \"wrk -c{users} {url}/{path}\", users: 2, for: 5s }", rest);
    assert_eq!(used.expect("the parameter is used").variants.len(), 2);
    let unused = study("{ tool: \"wrk -c{users} {url}/\", users: 2, for: 5s }", rest);
    let unused = unused.expect_err("nothing uses the parameter");
    assert!(unused.contains("unused parameter `path`"), "{unused}");
}

#[test]
fn tool_may_load_a_database() {
    let load = "{ tool: \"pgbench -p {port} -c {users} -T {seconds} postgres\", users: 4, for: 5s }";
    let system =
        "systems: { pg: { start: \"postgres -p {port}\", url: \"postgres://u@127.0.0.1:{port}/db\" } }";
    let study = study(load, system).expect("a plan");
    let plan = planned(&study);
    assert!(
        Transactions::in_plan(&plan).next().is_none() && plan.database().is_some(),
        "it is asked what its sessions wait for"
    );
    assert_eq!((plan.endpoint().peer().port, plan.load_words().as_str()), (20_001, "pgbench, 4 users"));
}

#[test]
fn plan_may_mix_both_kinds_of_loads_and_be_quick() {
    let text = format!(
        "scenario: [ get: / ]\nload:\n  - {{ name: own, users: 2, for: 10s }}\n  - {{ name: ab, tool: \"ab -t {{seconds}} {{url}}/\" }}\n\
         {APP}\nquick: {{ for: 1s }}\ngates: [ \"GET /: p99<1s\", \"errors<1%\" ]\n"
    );
    let study = read(&text, false).expect("a plan");
    let texts = |load| study.gates_of(load).into_iter().map(|gate| gate.text).collect::<Vec<_>>();
    assert_eq!((texts(0).len(), texts(1)), (2, vec!["errors<1%".to_owned()]), "a tool has no steps");
    assert_eq!(study.run_ns(1), Some(10_000_000_000));
    assert_eq!(read(&text, true).expect("a quick plan").run_ns(1), Some(1_000_000_000));
    assert!(!study.search_obstacles(1).is_empty());
}

#[test]
fn rejects_keys_that_do_not_apply_to_tools() {
    for (load, rest, words) in [
        ("{ tool: \"wrk -c{users} -d{for} {url}/\" }", APP, "add `users: 10` to the load"),
        ("{ tool: \"wrk -d{for} {url}/\", users: 2 }", APP, "write {users} into the command"),
        ("{ tool: \"curl {url}/\", for: 1s }", APP, "run one of wrk"),
        ("{ tool: \"ab -n 9 {url}/\" }", APP, "write {for} or {seconds}"),
        (
            "{ tool: \"ab -n 9 {url}/\", for: 9s, warm-up: 1s }",
            APP,
            "`warm-up` requires a command with a length",
        ),
        ("{ tool: \"wrk -d{for} {url}/\", for: 1500ms }", APP, "takes whole seconds"),
        ("{ tool: \"wrk -d{for} {url}/\", think: 1s }", APP, "`think` does not apply"),
        ("{ tool: \"wrk -d{for} {url}/\", rate: 1/s }", APP, "`rate` does not apply"),
        ("{ tool: \"wrk -d{for} {urk}/\" }", APP, "did you mean `{url}`"),
        ("{ tool: \"wrk -d{for} {url}/ | tee x\" }", APP, "commands run without a shell"),
        ("{ tool: \"wrk -d{for} {port}\" }", "url: http://127.0.0.1:1", "undefined variable {port}"),
        (
            "{ tool: \"wrk -d{for} {url}/\" }",
            "url: http://127.0.0.1:1\nevents: { x: { at: 1s } }",
            "remove `events`",
        ),
        ("{ users: 1 }", APP, "requires `scenario`"),
    ] {
        let errors = study(load, rest).expect_err(load);
        assert!(errors.contains(words), "{load}: {errors}");
    }
}

/// A system with a server and a database. Tenbin makes a load on each, and a tool makes one.
fn of_both(page: &str) -> Result<Study, String> {
    let load = format!(
        "\n  - {{ name: page, scenario: page, {page} }}\n  - {{ name: ab, tool: \"ab -t {{seconds}} {{url}}/\" }}\n  \
         - {{ name: look-ups, scenario: look-up, users: 4, pool: 2 }}\n  \
         - {{ name: pgbench, tool: \"pgbench -p {{port.db}} -T {{seconds}} postgres\" }}"
    );
    let rest = "scenarios: { page: { steps: [ get: /hello ] }, look-up: { steps: [ workload: select-only ] } }\n\
                sql: { mode: prepared }\n\
                systems: { both: { start: \"both {port} {port.db}\", url: \"http://127.0.0.1:{port}\", \
                database: \"postgres://u@127.0.0.1:{port.db}/db?sslmode=disable\" } }";
    study(&load, rest)
}

#[test]
fn each_load_needs_only_its_own_scenario_or_tool() {
    let study = of_both("users: 2").expect("a plan");
    let plans: Vec<Plan> = (0..study.loads.len()).map(|load| planned_load(&study, load)).collect();
    let of = |plan: &Plan| {
        (
            plan.steps
                .iter()
                .any(|step| step.owned().is_some_and(|action| !action.step.unit().has_sessions())),
            Transactions::in_plan(plan).next().is_some(),
            plan.database().is_some(),
        )
    };
    let found: Vec<_> = plans.iter().map(of).collect();
    assert_eq!(
        found,
        [(true, false, true), (false, false, true), (false, true, true), (false, false, true)],
        "requests, transactions, and a database that is watched"
    );
    assert_eq!(
        Transactions::in_plan(&plans[2]).next().map(|sql| (sql.pool, sql.settings.mode)),
        Some((Some(2), Mode::Prepared))
    );
    assert_eq!(plans[0].connections(), 2);
    assert_eq!(study.run_words(0), "2 users, closed");
    assert!(!study.explain().contains("of iterations"), "no load draws a scenario: {}", study.explain());
    let errors = of_both("users: 2, pool: 1").expect_err("no database");
    assert!(errors.contains("error: ") && errors.contains("pool: 1"), "{errors}");
}

#[test]
fn search_on_requests_has_a_connection_for_each_user() {
    let study = of_both("users: 2").expect("a plan");
    let ports: Vec<_> = study.ports(0).into_iter().zip(20_001..).collect();
    let (dir, tenbin) = (Path::new("/run"), Path::new("/bin/tenbin"));
    let environment = Environment { ports: &ports, dir, tenbin, host: Ipv4Addr::LOCALHOST };
    let amount =
        Amount { at: At::Users(64), warm_up_ns: 0, measured_ns: 1_000_000_000, connections: 1, seed: 1 };
    let planned = |load| study.plan_at(load, &study.launch(0, &environment), &amount).expect("a plan");
    assert!(Transactions::in_plan(&planned(0)).next().is_none());
    assert_eq!(Transactions::in_plan(&planned(2)).next().expect("transactions").pool, Some(2));
}
