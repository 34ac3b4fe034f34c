//! Parameters stand anywhere in a plan, and each variant is read with its own values.

use load::Load;

use crate::good_plans::{launch, text};

/// Paths of the first step and numbers of users, by variant.
fn settings(study: &plan::Study) -> Vec<(String, u64, String)> {
    let one = |variant: usize| {
        let plan = study.plan(0, &launch(study, variant)).expect("the plan can be made");
        let path = plan.steps[0].name.trim_start_matches("GET ").to_owned();
        let Load::Closed(closed) = &plan.load else { panic!("the load is closed") };
        (study.variants[variant].name.clone(), u64::from(closed.users), path)
    };
    (0..study.variants.len()).map(one).collect()
}

#[test]
fn parameters_of_the_plan_fill_paths_and_loads() {
    let study = text(
        "vary: { users: [2, 5], size: [small, large] }\nscenario:\n  - get: /{size}.html\n\
         load: { users: \"{users}\", for: 3s }\nurl: http://127.0.0.1:8080\nexcept: { users: 5, size: small }\n",
    );
    let expected = [
        ("users=2 size=small", 2, "/small.html"),
        ("users=2 size=large", 2, "/large.html"),
        ("users=5 size=large", 5, "/large.html"),
    ];
    let expected = expected.map(|(name, users, path)| (name.to_owned(), users, path.to_owned()));
    assert_eq!(settings(&study), expected);
    assert_eq!(study.loads[0].name, "{users} users", "the load has one name in all runs");
}

#[test]
fn parameters_of_a_system_fill_scenario_and_values_of_other_types() {
    let study = text(
        "scenario:\n  - get: /{page}\n    repeat: \"{times}\"\nload: { users: 1 }\nvary: { times: [1, 3] }\nsystems:\n  \
         a: { start: \"./a {port}\", vary: { page: [x, y] }, ready: { within: \"{times}s\" } }\n  \
         b: { start: \"./b {port}\", vary: { page: [z] } }\n",
    );
    let read: Vec<(String, u64, String)> = (0..study.variants.len())
        .map(|variant| {
            let launch = launch(&study, variant);
            let plan = study.plan(0, &launch).expect("the plan can be made");
            let path = plan.steps[0].name.trim_start_matches("GET ").to_owned();
            (study.variants[variant].name.clone(), launch.processes[0].ready.within_ns / 1_000_000_000, path)
        })
        .collect();
    let expected = [
        ("times=1 page=x", 1, "/x"),
        ("times=1 page=y", 1, "/y"),
        ("times=3 page=x", 3, "/x"),
        ("times=3 page=y", 3, "/y"),
        ("times=1 page=z", 30, "/z"),
        ("times=3 page=z", 30, "/z"),
    ];
    let expected = expected.map(|(name, within, path)| (name.to_owned(), within, path.to_owned()));
    assert_eq!(read, expected);
    assert_eq!(study.setting(2).loads.len(), 1);
    assert_eq!(study.variants_by_setting().len(), 6);
}

#[test]
fn value_of_a_step_takes_precedence_over_a_parameter_of_a_system() {
    let study = text(
        "scenario:\n  - get: /{n}\ndata: { n: { uniform: 1..9 } }\nload: { users: 1 }\nsystems:\n  \
         a: { start: \"./a {port} {n}\", vary: { n: [x, y] } }\n",
    );
    let plan = study.plan(0, &launch(&study, 1)).expect("the plan can be made");
    assert_eq!(plan.steps[0].name, "GET /{n}");
    assert_eq!(study.variants_by_setting(), [0], "all variants share one setting");
}

#[test]
fn parameter_in_the_scenario_alone_is_no_environment_variable() {
    let plan = |scenario: &str| {
        text(&format!(
            "scenario:\n  - get: /{scenario}\nload: {{ users: 1 }}\nsystems:\n  a: {{ start: \"./a {{port}}\", vary: {{ page: [x, y] }} }}\n"
        ))
    };
    let env = |study: &plan::Study| launch(study, 0).processes[0].command.env.clone();
    assert_eq!(env(&plan("{page}")), []);
    assert_eq!(env(&plan("")), [("page".to_owned(), "x".to_owned())]);
}

#[test]
fn seed_reaches_every_setting() {
    let mut study = text(
        "vary: { users: [2, 5] }\nscenario: [ get: / ]\nload: { users: \"{users}\" }\nurl: http://127.0.0.1:8080\n",
    );
    study.set_seed(77);
    let seeds = (0..2).map(|variant| study.plan(0, &launch(&study, variant)).expect("a plan").seed);
    assert_eq!(seeds.collect::<Vec<_>>(), [77, 77]);
}

#[test]
fn quick_run_has_other_values_of_the_plans_parameters() {
    let source = "vary: { users: [2, 5] }\nscenario: [ get: / ]\nload: { users: \"{users}\", for: 9s }\n\
                  url: http://127.0.0.1:8080\nquick: { for: 1s, vary: { users: [ 3 ] } }\n";
    let quick = plan::Study::from_bytes(source.as_bytes(), "p", "p".to_owned(), "/".into(), true);
    let names: Vec<String> =
        quick.expect("it is right").variants.iter().map(|variant| variant.name.clone()).collect();
    assert_eq!(names, ["users=3"]);
}

#[test]
fn baseline_may_have_the_name_that_reports_show() {
    let study = text(
        "vary: { size: [a, b], kind: [x] }\nscenario: [ get: \"/{size}/{kind}\" ]\nload: { users: 1 }\nsystems:\n  \
         app: { start: \"./app {port}\" }\ncompare: { baseline: app size=b, blocks: 7 }\n",
    );
    assert_eq!(study.compare.baseline, Some(1));
    assert_eq!(study.variants[1].name, "size=b kind=x");
}

#[test]
fn figures_have_whole_names_in_comparisons_and_conditions() {
    let study = text(
        "vary: { size: [a, b] }\nscenario: [ get: \"/{size}\" ]\nload: { users: 1 }\nsystems:\n  app: { start: \"./app {port}\" }\n\
         figures:\n  disk: { command: \"du {dir} {size}\", unit: bytes }\n  hits: { command: ./hits, better: higher, every: 1s }\n\
         compare: { by: disk, also: [ hits, p99 ], blocks: 8 }\ngates: [ disk<5MiB, \"hits >= 10\" ]\n",
    );
    let compared: Vec<String> = study.compare.metrics().map(|by| by.name()).collect();
    assert_eq!(compared, ["figure disk in bytes", "figure hits, higher", "p99"]);
    assert!(!study.compare.higher_is_better);
    let limits: Vec<f64> = study.gates.iter().map(|gate| gate.limit).collect();
    assert_eq!(limits, [5.0 * 1024.0 * 1024.0, 10.0]);
    let plan = study.plan(0, &launch(&study, 1)).expect("the plan can be made");
    let plan::FigureSource::Command(command) = &plan.figures[0].source else { panic!("it is a command") };
    assert_eq!(command.argv, ["du", "/run/1", "b"]);
    assert_eq!(plan.figures[1].summary, plan::FigureSummary::Mean);
    assert_eq!(study.variants_by_setting().len(), 2);
}

/// Plans with `{v}` in one place, and two values for it: the plan equals a plan with the value itself.
const PLACES: &[(&str, [&str; 2])] = &[
    // Scenario.
    ("scenario: [ get: \"/{v}\" ]\n", ["a", "b"]),
    ("scenario: [ { post: /, body: \"n={v}\" } ]\n", ["1", "2"]),
    ("scenario: [ { post: /, body-file: \"{v}\" } ]\n", ["people.csv", "order.txt"]),
    ("scenario: [ { get: /, headers: { Accept: \"text/{v}\" } } ]\n", ["html", "plain"]),
    ("scenario: [ { get: /, expect: { status: \"{v}\" } } ]\n", ["200", "404"]),
    ("scenario: [ { get: /, weight: \"{v}\" }, { get: /other, weight: 1 } ]\n", ["3", "7"]),
    ("scenario: [ { get: /, repeat: \"{v}\" } ]\n", ["3", "7"]),
    ("scenario: [ { get: /, think: \"{v}\" } ]\n", ["1s", "5ms"]),
    ("scenario: [ { get: /, think: \"{v}ms\" } ]\n", ["1", "5"]),
    ("scenario: [ get: \"/{n}\" ]\ndata: { n: { uniform: \"1..{v}\" } }\n", ["10", "1000"]),
    ("scenario: [ get: \"/{n}\" ]\ndata: { n: { zipf: 1..100, exponent: \"{v}\" } }\n", ["0.8", "1.2"]),
    // Load.
    ("scenario: [ get: / ]\nload: { users: \"{v}\", for: 2s }\n", ["2", "50"]),
    ("scenario: [ get: / ]\nload: { rate: \"{v}/s\", for: 2s }\n", ["20", "500"]),
    ("scenario: [ get: / ]\nload: { users: 2, keep-alive: \"{v}\", for: 2s }\n", ["true", "false"]),
    ("scenario: [ get: / ]\nload: { users: 2, think: \"{v}\", for: 2s }\n", ["1ms", "exp:2ms"]),
    ("scenario: [ get: / ]\nload: { rate: 20/s, connections: \"{v}\", for: 2s }\n", ["5", "10"]),
    ("scenario: [ get: / ]\nload: { users: 2, timeout: \"{v}\", for: 2s }\n", ["1s", "3s"]),
    ("scenario: [ get: / ]\nload: { users: 2, for: \"{v}\", warm-up: 1s }\n", ["2s", "4s"]),
    ("scenario: [ get: / ]\nload: { rate: 20/s, arrivals: \"{v}\", for: 2s }\n", ["poisson", "even"]),
    // SQL.
    ("scenario: [ sql: \"SELECT {v}\" ]\nurl: sqlite:a.db\n", ["1", "2"]),
    (
        "scenario: [ sql: SELECT 1 ]\nsql: { mode: \"{v}\" }\nurl: postgres://u@127.0.0.1/db\n",
        ["simple", "prepared"],
    ),
    // Systems: commands, files, and data.
    ("scenario: [ get: / ]\nsystems: { s: { start: \"./a {port} {v}\" } }\n", ["a", "b"]),
    (
        "scenario: [ get: / ]\nsystems: { s: { start: \"./a {port}\", before: \"./prepare {v}\" } }\n",
        ["a", "b"],
    ),
    (
        "scenario: [ get: / ]\nsystems: { s: { start: \"./a {port}\", files: { c: \"n {v};\" } } }\n",
        ["a", "b"],
    ),
    (
        "scenario: [ get: / ]\nsystems: { s: { start: \"./a {port}\", ready: { within: \"{v}\" } } }\n",
        ["5s", "9s"],
    ),
    (
        "scenario: [ sql: SELECT 1 ]\nsystems: { s: { url: sqlite:a.db, prepare: { sql: \"CREATE TABLE t (a {v})\" } } }\n",
        ["int", "text"],
    ),
    (
        "scenario: [ sql: SELECT 1 ]\nsystems: { s: { url: sqlite:a.db, prepare: { rows: { t: \"{v}\", columns: { a: { sequence: 1.. } } } } } }\n",
        ["10", "1000"],
    ),
];

/// All that a variant does, without its names and its number, and without the variables of its environment, which parameters are, too.
fn variant_effects(study: &plan::Study, variant: usize) -> String {
    let launch = launch(study, variant);
    let plan = study.plan(0, &launch).expect("the plan can be made");
    let all = format!("{plan:#?}\n{launch:#?}");
    let mut kept = Vec::new();
    let mut env: Option<usize> = None;
    for line in all.lines() {
        let indent = line.len() - line.trim_start().len();
        match env {
            Some(at) if indent > at => continue,
            _ => env = line.trim_start().starts_with("env: [").then_some(indent),
        }
        if !["    title:", "    variant:", "    number:"].iter().any(|name| line.starts_with(name)) {
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[test]
fn parameter_in_any_place_does_what_its_value_does() {
    for (template, values) in PLACES {
        let has = |key: &str| template.contains(key);
        let load = if has("\nload:") { "" } else { "load: { users: 2, for: 2s }\n" };
        let url = if has("url:") || has("systems:") { "" } else { "url: http://127.0.0.1:8080\n" };
        let rest = format!("{template}{load}{url}");
        let study = text(&format!("vary: {{ v: [ \"{}\", \"{}\" ] }}\n{rest}", values[0], values[1]));
        assert_eq!(study.variants.len(), 2, "{template}");
        for (variant, value) in values.iter().enumerate() {
            let literal = text(&rest.replace("{v}", value));
            assert_eq!(variant_effects(&study, variant), variant_effects(&literal, 0), "{template}: {value}");
        }
        assert_ne!(variant_effects(&study, 0), variant_effects(&study, 1), "{template}");
    }
}

#[test]
fn parameters_of_a_system_fill_endpoints_of_the_plan() {
    let study = text(
        "scenario:\n  - { get: \"/{user}\", endpoint: shop }\ndata: { user: { uniform: 1..9 } }\nload: { users: 1 }\nendpoints:\n  \
         shop:\n    url: [ \"http://127.0.0.1:8081\", \"http://127.0.0.1:8082\", \"http://127.0.0.1:8083\" ]\n    \
         select: { hash: \"{user}\", shards: \"{n}\" }\nsystems: { it: { url: \"http://127.0.0.1:8080\", vary: { n: [1, 3] } } }\n",
    );
    let in_use = |variant: usize| {
        let plan = study.plan(0, &launch(&study, variant)).expect("the plan can be made");
        plan.endpoints[0].active_shards().and_then(wire::ShardCount::get)
    };
    assert_eq!([in_use(0), in_use(1)], [Some(1), Some(3)]);
}
