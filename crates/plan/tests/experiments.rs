//! What a plan lets an experiment change, and what it refuses.

use std::path::PathBuf;

use plan::{Change, Environment, Experiment, Study};

fn read(text: &str) -> Result<Study, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false)
        .map_err(|errors| errors.to_string())
}

fn plan(load: &str, system: &str, more: &str) -> String {
    format!("scenario: [ get: / ]\nload: {load}\nsystems: {{ web: {system} }}\n{more}")
}

const SYSTEM: &str = "{ start: 'web {port} {workers} {mode}', vary: { workers: [ 1, 4, 2 ], mode: [ fast ] }, limits: workers, \
                      resources: { cpu: 0.5 } }";

#[test]
fn a_plan_says_what_may_be_raised_and_whether_an_experiment_follows() {
    let study = read(&plan("{ users: 8, threads: 1, for: 60s, warm-up: 1s }", SYSTEM, "diagnose: confirm\n"))
        .unwrap();
    assert_eq!(study.experiment, Some(Experiment::default()));
    let workers = |variant: usize| study.changeable(variant, 0).expect("it can be changed").parameters;
    assert_eq!(workers(0), [("workers".to_owned(), 1, 2)], "the next value, not the next in the list");
    assert_eq!(workers(1), [("workers".to_owned(), 4, 8)], "twice the last");
    let changeable = study.changeable(0, 0).unwrap();
    assert_eq!(
        (changeable.users, changeable.threads, changeable.quota_millicores),
        (Some(8), Some(1), Some(500))
    );
    assert_eq!(study.experiment_run_ns(0), 6_000_000_000);
    let words = study.explain();
    assert!(
        words.contains("experiment  on the fastest variant") && words.contains("may raise workers"),
        "{words}"
    );
    assert_eq!(read(&plan("{ users: 8 }", SYSTEM, "")).unwrap().experiment, None);
}

#[test]
fn a_change_is_that_of_the_run_and_of_nothing_else() {
    let study = read(&plan("{ users: 8, requests: 10, warm-up: 1s }", SYSTEM, "gates: errors<1%\n")).unwrap();
    let launch = |study: &Study| {
        let ports = [(String::new(), 8_080)];
        let dir = PathBuf::from("/tmp");
        let environment = Environment { ports: &ports, dir: &dir, tenbin: &dir, host: [127, 0, 0, 1].into() };
        study.launch(0, &environment)
    };
    let control = study.changed(0, 0, None);
    assert!(control.gates.is_empty() && control.loads[0].run_ns == Some(6_000_000_000));
    let of_load = |study: &Study| study.plan(0, &launch(study)).expect("a plan").connections();
    assert_eq!(of_load(&control), 8);
    assert_eq!(of_load(&study.changed(0, 0, Some(&Change::Users(16)))), 16);
    let raised = Change::Parameter { name: "workers".to_owned(), value: "2".to_owned() };
    let raised = launch(&study.changed(0, 0, Some(&raised)));
    assert_eq!(raised.processes[0].command.argv, ["web", "8080", "2", "fast"]);
    assert_eq!((raised.variant.as_str(), raised.limits.cpu_millicores), ("workers=1 mode=fast", Some(500)));
    let less = launch(&study.changed(0, 0, Some(&Change::CpuMillicores(450))));
    assert_eq!((less.limits.cpu_millicores, less.processes[0].command.argv[2].as_str()), (Some(450), "1"));
}

#[test]
fn what_cannot_be_raised_or_changed_is_an_error() {
    let error = |system: &str, more: &str| read(&plan("{ users: 8 }", system, more)).unwrap_err();
    let unknown = error("{ start: 'web {port} {workers}', vary: { workers: 1 }, limits: wokers }", "");
    assert!(unknown.contains("unknown parameter `wokers`") && unknown.contains("workers"), "{unknown}");
    let words = error("{ start: 'web {port} {mode}', vary: { mode: [ fast, slow ] }, limits: [ mode ] }", "");
    assert!(words.contains("only whole numbers can be raised"), "{words}");
    let twice = error("{ start: 'web {port} {n}', vary: { n: 1 }, limits: [ n, n ] }", "");
    assert!(twice.contains("listed twice"), "{twice}");
    let running = error("{ url: 'http://127.0.0.1:1' }", "diagnose: confirm\n");
    assert!(running.contains("Tenbin starts none") && running.contains("has `start`"), "{running}");
    let staged = read(&plan(
        "{ stages: [ { for: 1s, to: 10/s } ] }",
        "{ start: 'web {port}' }",
        "diagnose: confirm\n",
    ))
    .unwrap_err();
    assert!(staged.contains("`stages`"), "{staged}");
    let word = error("{ start: 'web {port}' }", "diagnose: yes\n");
    assert!(word.contains("confirm"), "{word}");
}
