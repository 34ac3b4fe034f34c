//! Changes that a plan allows an experiment to make, and those that it rejects.

use std::path::PathBuf;

use judge::intervention::Parameter;
use plan::{Change, Environment, Experiment, Limits, Study, StudyPin};

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
fn plan_lists_raisable_parameters_and_enables_experiment() {
    let study = read(&plan("{ users: 8, threads: 1, for: 60s, warm-up: 1s }", SYSTEM, "diagnose: confirm\n"))
        .unwrap();
    assert_eq!(study.experiment, Some(Experiment::default()));
    let workers = |variant: usize| study.changeable(variant, 0).expect("it can be changed").parameters;
    let step = |from: &str, to: &str, factor, note| {
        [Parameter {
            name: "workers".to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            factor,
            note,
            loses: None,
        }]
    };
    assert_eq!(workers(0), step("1", "2", 2.0, ""), "the next larger value, not the next in the list");
    assert_eq!(workers(1), step("4", "8", 2.0, "doubled"), "twice the largest");
    let changeable = study.changeable(0, 0).unwrap();
    assert_eq!(
        (changeable.users, changeable.threads, changeable.quota_millicores),
        (Some(8), Some(1), Some(500))
    );
    assert_eq!(study.experiment_run_ns(0), 6_000_000_000);
    let durable = SYSTEM.replace("{mode}'", "-c fsync={mode}'").replace("[ fast ]", "[ on, off ]");
    let durable =
        read(&plan("{ users: 8, for: 2s }", &durable.replace("limits: workers", "limits: mode"), ""));
    let of_durable = durable.unwrap().changeable(0, 0).expect("it can be changed").parameters;
    assert!(of_durable[0].loses.is_some_and(|words| words.contains("corrupt")), "{of_durable:?}");
    let words = study.explain();
    assert!(
        words.contains("experiment  on the fastest variant")
            && words.contains("may raise workers 1 → 2, 4 → 8 (doubled), 2 → 4"),
        "{words}"
    );
    assert_eq!(read(&plan("{ users: 8 }", SYSTEM, "")).unwrap().experiment, None);
}

#[test]
fn change_applies_only_to_its_run() {
    let study = read(&plan("{ users: 8, requests: 10, warm-up: 1s }", SYSTEM, "gates: errors<1%\n")).unwrap();
    let launch = |study: &Study| {
        let ports = [(String::new(), 8_080)];
        let dir = PathBuf::from("/tmp");
        let environment = Environment { ports: &ports, dir: &dir, tenbin: &dir, host: [127, 0, 0, 1].into() };
        study.launch(0, &environment)
    };
    let control = study.changed(0, 0, None);
    assert!(control.gates.is_empty() && control.loads[0].run_ns == Some(6_000_000_000));
    let mut live = study.changed(0, 0, None);
    live.shorten_live(0, true);
    assert_eq!(live.loads[0].run_ns, Some(4_500_000_000), "half a second of warm-up, and less to measure");
    assert_eq!(study.experiment_live_run_ns(0), 4_500_000_000);
    let of_load = |study: &Study| study.plan(0, &launch(study)).expect("a plan").connections();
    assert_eq!(of_load(&control), 8);
    assert_eq!(of_load(&study.changed(0, 0, Some(&Change::Users(16)))), 16);
    let raised = Change::Parameter { name: "workers".to_owned(), value: "2".to_owned() };
    let raised = launch(&study.changed(0, 0, Some(&raised)));
    assert_eq!(raised.processes[0].command.argv, ["web", "8080", "2", "fast"]);
    assert_eq!((raised.variant.as_str(), raised.limits.cpu_millicores), ("workers=1 mode=fast", Some(500)));
    let less = launch(&study.changed(0, 0, Some(&Change::CpuMillicores(450))));
    let io = Limits { write_bytes_per_s: Some(1 << 20), reads_per_s: Some(80), ..Limits::default() };
    let slow = launch(&study.changed(0, 0, Some(&Change::Io(io)))).limits;
    assert_eq!(
        (slow.write_bytes_per_s, slow.reads_per_s, slow.cpu_millicores),
        (Some(1 << 20), Some(80), Some(500))
    );
    let moved = study.changed(0, 0, Some(&Change::GeneratorCores(vec![1]))).pin;
    assert_eq!(moved, StudyPin::Cores { system: Vec::new(), generator: vec![1] });
    assert_eq!((less.limits.cpu_millicores, less.processes[0].command.argv[2].as_str()), (Some(450), "1"));
}

#[test]
fn rejects_impossible_changes_and_experiments() {
    let error = |system: &str, more: &str| read(&plan("{ users: 8 }", system, more)).unwrap_err();
    let unknown = error("{ start: 'web {port} {workers}', vary: { workers: 1 }, limits: wokers }", "");
    assert!(unknown.contains("unknown parameter `wokers`") && unknown.contains("workers"), "{unknown}");
    let words = error("{ start: 'web {port} {mode}', vary: { mode: fast }, limits: [ mode ] }", "");
    assert!(words.contains("has one value, \"fast\"") && words.contains("[ fast, … ]"), "{words}");
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

#[test]
fn words_change_to_next_in_list_and_inner_proxies_are_delayed() {
    let system = "{ start: 'web {port} {fsync} {port.far}', vary: { fsync: [ 'on', 'off' ], ms: [ 4 ] }, limits: fsync, \
                  proxies: { far: { to: '127.0.0.1:1', round-trip: '{ms}ms' }, near: { to: '127.0.0.1:{port}' } } }";
    let study = read(&plan("{ users: 8 }", system, "")).unwrap();
    let changeable = study.changeable(0, 0).expect("it can be changed");
    let steps: Vec<(&str, &str)> =
        changeable.parameters.iter().map(|step| (step.from.as_str(), step.to.as_str())).collect();
    assert_eq!(steps, [("on", "off")]);
    assert!(
        study.changeable(1, 0).expect("it can be changed").parameters.is_empty(),
        "nothing after the last"
    );
    assert_eq!(changeable.proxies, [("far".to_owned(), 2_000_000)], "the load goes through the other");
    let slower = Change::Delay { proxy: "far".to_owned(), delay_us: 3_000 };
    let dir = PathBuf::from("/tmp");
    let ports = [(String::new(), 1), ("far".to_owned(), 2), ("near".to_owned(), 3)];
    let environment = Environment { ports: &ports, dir: &dir, tenbin: &dir, host: [127, 0, 0, 1].into() };
    let launch = study.changed(0, 0, Some(&slower)).launch(0, &environment);
    let far = launch.processes.iter().find(|process| process.name == "proxy far").expect("it is started");
    assert_eq!(far.command.argv[far.command.argv.len() - 2..], ["--delay", "3000us"]);
    assert!(!far.command.argv.contains(&"--round-trip".to_owned()), "{:?}", far.command.argv);
}
