//! Valid plans, and what they mean.

use std::path::{Path, PathBuf};

use judge::Sign;
use judge::slo::Figure;
use load::values::{RowOrder, Source};
use load::{Load, Order, ThinkTime};
use plan::{
    Environment, EventAction, EventSign, Launch, Pin, PlannedStep, ReadyWhen, Study, StudyPin, Transactions,
};
use record::Percentile;
use wire::http1::{CaptureSource, HttpStep};

fn read(name: &str, is_quick: bool) -> Study {
    Study::read(&Path::new("tests/good").join(name), is_quick).unwrap_or_else(|faults| panic!("{faults}"))
}

pub(crate) fn text(text: &str) -> Study {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

/// Launch of a variant, with ports from 7000.
pub(crate) fn launch(study: &Study, variant: usize) -> Launch {
    let ports: Vec<(String, u16)> = study.ports(variant).into_iter().zip(7000..).collect();
    study.launch(
        variant,
        &Environment {
            ports: &ports,
            dir: Path::new("/run/1"),
            tenbin: Path::new("/bin/tenbin"),
            host: std::net::Ipv4Addr::LOCALHOST,
        },
    )
}

/// The HTTP request of a step. `None` for other steps.
pub(crate) fn request(step: &PlannedStep) -> Option<&HttpStep> {
    step.owned()?.step.downcast()
}

fn variant(study: &Study, system: &str, name: &str) -> usize {
    let is_it =
        |variant: &plan::Variant| study.systems[variant.system].name == system && variant.name == name;
    study.variants.iter().position(is_it).expect("the variant is there")
}

#[test]
fn shortest_plan_has_all_defaults() {
    let study = text("{ scenario: [ get: / ], load: { users: 3 }, url: http://127.0.0.1:8080 }");
    assert_eq!((study.seed, study.compare.blocks, study.variants.len()), (1, 1, 1));
    assert_eq!(
        (study.compare.by.metric.name, study.compare.higher_is_better, study.compare.matters),
        ("throughput", true, 0.03)
    );
    assert_eq!((study.pin.clone(), study.question.clone()), (StudyPin::No, None));
    assert_eq!(study.loads[0].name, "3 users");
    assert_eq!(study.run_ns(0), Some(10_000_000_000));
    assert_eq!(study.step_names().collect::<Vec<_>>(), ["GET /"]);
    let launch = launch(&study, 0);
    assert_eq!((launch.system.as_str(), launch.url.as_str()), ("127.0.0.1:8080", "http://127.0.0.1:8080"));
    assert!(launch.processes.is_empty() && study.ports(0).is_empty());
    let plan = study.plan(0, &launch).expect("it is a plan");
    assert_eq!((plan.connections(), plan.pin.clone(), plan.endpoint().peer().port), (3, Pin::No, 8080));
    assert_eq!(request(&plan.steps[0]).unwrap().request.host, "127.0.0.1:8080");
    assert!(
        request(&plan.steps[0]).unwrap().request.keep_alive
            && request(&plan.steps[0]).unwrap().request.headers.is_empty()
    );
}

#[test]
fn reads_example_of_readme() {
    let study = read("product.yaml", false);
    assert_eq!(study.title, "product");
    assert_eq!(study.variants.len(), 6 + 4);
    let names: Vec<&str> = study.variants.iter().take(3).map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["workers=1 threads=1", "workers=1 threads=16", "workers=8 threads=1"]);
    assert_eq!((study.compare.by.metric.name, study.compare.blocks), ("throughput", 8));
    assert_eq!(study.compare.matters, 0.03, "by the former name of `min-effect`");
    let launch = launch(&study, 3);
    let process = &launch.processes[0];
    assert_eq!(process.command.argv[..3], ["puma", "-b", "tcp://127.0.0.1:7000"]);
    assert_eq!(process.command.argv[3..], ["-w", "8", "-t", "16:16", "config.ru"]);
    assert_eq!(process.command.dir, study.dir);
    assert_eq!(
        (&process.ready.when, process.ready.port),
        (&ReadyWhen::Get("/fibonacci?n=1".to_owned()), Some(7000))
    );
    assert_eq!((process.stop.signal.as_str(), process.stop.within_ns), ("TERM", 10_000_000_000));
    assert_eq!(launch.url, "http://127.0.0.1:7000");
    let unicorn = self::launch(&study, 6);
    assert_eq!(
        (&unicorn.processes[0].ready.when, unicorn.processes[0].ready.within_ns),
        (&ReadyWhen::Tcp, 30_000_000_000)
    );
    assert_eq!(unicorn.processes[0].command.env, [("workers".to_owned(), "1".to_owned())]);
    assert!(study.explain().contains("reads workers from its environment"));
    assert!(study.explain().contains("80 runs: 8 blocks, each with all 10 once, in random order"));
    assert!(study.explain().contains("at least 1h33m20s of load"), "{}", study.explain());
}

#[test]
fn scenarios_become_steps_and_visits() {
    let study = read("everything.yaml", false);
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["item", "POST /orders", "PUT /people/{people.name}", "PURGE /cache?key=(secret)"]);
    let [browse, buy] = plan.scenarios.list.as_slice() else { panic!("two scenarios") };
    assert_eq!((browse.name.as_str(), browse.share, buy.share), ("browse", 80.0, 20.0));
    let Order::InTurn(visits) = &browse.order else { panic!("one after the other") };
    assert_eq!(visits[0].think, ThinkTime::Uniform { min_ns: 50_000_000, max_ns: 150_000_000 });
    assert_eq!((visits[1].step, visits[1].think), (1, ThinkTime::None));
    let Order::Mix(visits) = &buy.order else { panic!("one of them") };
    assert_eq!((visits[0].1, visits[1].1), (3.0, 1.0));
    assert_eq!(visits[1].0.think, ThinkTime::Exponential { constant_ns: 0, mean_ns: 10_000_000 });
    let item = request(&plan.steps[0]).unwrap();
    assert!(
        item.checks.status.contains(200)
            && item.checks.status.contains(302)
            && !item.checks.status.contains(201)
    );
    assert_eq!((item.checks.bodies.len(), item.checks.headers.len()), (3, 2));
    assert_eq!(item.checks.headers[1].contains, None);
    assert_eq!(item.checks.size.map(|size| (size.min_bytes, size.max_bytes)), Some((10, 20 * 1024)));
    let saved: Vec<&str> =
        item.captures.iter().map(|capture| plan.variables[usize::from(capture.variable)].as_str()).collect();
    assert_eq!(saved, ["token", "place", "id2"]);
    assert!(matches!(&item.captures[0].from, CaptureSource::Json(path) if path.written() == "/data/token"));
    assert_eq!(
        request(&plan.steps[2]).unwrap().request.body.as_deref(),
        Some(&b"{\"customer\": {id}}\n"[..])
    );
    assert_eq!(request(&plan.steps[3]).unwrap().request.method, "PURGE");
}

#[test]
fn data_fills_used_variables() {
    let study = read("everything.yaml", false);
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let filled = |name: &str| {
        let variable = plan.variables.iter().position(|known| known == name).expect("it is used") as u16;
        let source = plan.data.iter().find(|data| data.fills.iter().any(|(fill, _)| *fill == variable));
        source.expect("it is filled").clone()
    };
    assert_eq!(filled("n").source, Source::Uniform { min: 1, max: 1000 });
    assert_eq!(
        filled("hot").source,
        Source::Zipf { min: 1, max: 100_000, exponent: 1.1, is_scattered: false }
    );
    assert_eq!(filled("id").source, Source::Sequence { from: 1, until: Some(500), by: 2 });
    assert!(matches!(filled("word").source, Source::Text { length: 12, alphabet } if alphabet.len() == 26));
    let people = filled("people.name");
    let Source::Rows { rows, order } = &people.source else { panic!("rows") };
    assert_eq!((rows.len(), rows[1].len(), &*rows[1][0], *order), (2, 1, "Bob Builder", RowOrder::Random));
    assert_eq!(people.fills.len(), 1);
}

#[test]
fn loads_follow_rules_of_command_line() {
    let study = read("everything.yaml", false);
    let names: Vec<&str> = study.loads.iter().map(|load| load.name.as_str()).collect();
    assert_eq!(names, ["steady", "arrivals", "rising"]);
    let plans: Vec<_> =
        (0..3).map(|load| study.plan(load, &launch(&study, 0)).expect("it is a plan")).collect();
    let Load::Closed(closed) = &plans[0].load else { panic!("users") };
    assert_eq!((closed.users, closed.pacing_ns, closed.throughput_per_s), (100, 1_000_000_000, Some(500.0)));
    assert_eq!(
        (plans[0].timeout_ns, plans[0].threads, plans[0].log_per_second),
        (5_000_000_000, Some(1), 10)
    );
    assert_eq!((plans[0].seed, plans[0].pin.clone()), (42, Pin::Cores(vec![1])));
    let Load::Open(open) = &plans[1].load else { panic!("a rate") };
    assert_eq!((open.connections, open.shed_after_ns), (20, Some(1_000_000_000)));
    let renewed = plans.iter().filter_map(|plan| plan.connection_lifetime_ns);
    assert_eq!(renewed.collect::<Vec<_>>(), [5_000_000_000]);
    assert_eq!(plans[1].stop.requests, Some(1000));
    assert!(
        !request(&plans[2].steps[0]).unwrap().request.keep_alive
            && request(&plans[0].steps[0]).unwrap().request.keep_alive
    );
    assert_eq!(study.run_ns(2), Some(30_000_000_000));
}

#[test]
fn processes_start_in_order_of_their_needs() {
    let study = read("everything.yaml", false);
    let number = variant(&study, "stack", "workers=08 threads=16");
    assert_eq!(study.ports(number), ["", "app"]);
    let launch = launch(&study, number);
    let [app, proxy] = launch.processes.as_slice() else { panic!("two processes") };
    assert_eq!((app.name.as_str(), proxy.name.as_str()), ("app", "proxy"));
    assert_eq!(app.command.argv, ["./app", "--port", "7001", "--name", "two words", "stack"]);
    assert_eq!(
        app.command.env,
        [("MODE".to_owned(), "production".to_owned()), ("THREADS".to_owned(), "16".to_owned())]
    );
    assert_eq!((&app.ready.when, app.ready.port), (&ReadyWhen::Tcp, Some(7001)));
    assert_eq!(proxy.command.argv, ["nginx", "-c", "/run/1/nginx.conf"]);
    assert_eq!((proxy.ready.port, proxy.ready.within_ns), (Some(7000), 5_000_000_000));
    assert_eq!(
        proxy.stop.command.as_ref().map(|command| command.argv.join(" ")),
        Some("nginx -s quit".to_owned())
    );
    assert_eq!(proxy.command.env[1].1, "1");
    let config = String::from_utf8(launch.files[0].1.clone()).expect("it is text");
    assert!(
        config.starts_with("worker_processes 08;\nhttp { server { listen 7000; location / { proxy_pass"),
        "{config}"
    );
    assert_eq!(launch.files[1].1, format!("{} /bin/tenbin {{port}}\n", study.dir.display()).as_bytes());
    assert_eq!(launch.before[1].argv, ["sh", "-c", "echo $HOME | cat"]);
    assert_eq!((launch.after.len(), launch.commands_within_ns), (1, 20_000_000_000));
    assert_eq!(launch.version.map(|command| command.argv.len()), Some(2));
}

#[test]
fn only_and_except_select_variants_and_values_stay_as_written() {
    let study = read("everything.yaml", false);
    let names: Vec<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
    let stack =
        ["workers=1 threads=1", "workers=08 threads=16", "workers=no threads=1", "workers=no threads=16"];
    assert_eq!(names[..4], stack);
    assert_eq!(names[4..], ["", ""]);
    let socket = launch(&study, 4);
    assert_eq!(socket.socket.as_deref(), Some(Path::new("/run/1/app.sock")));
    assert_eq!(socket.processes[0].stop.signal, "QUIT");
    assert_eq!(socket.processes[0].ready.when, ReadyWhen::Unix(PathBuf::from("/run/1/app.sock")));
    assert!(!study.systems[2].is_started());
}

#[test]
fn quick_study_changes_only_what_it_sets() {
    let (full, quick) = (read("everything.yaml", false), read("everything.yaml", true));
    assert_ne!(full.hash, quick.hash);
    assert_eq!((full.compare.blocks, quick.compare.blocks, quick.is_quick), (6, 2, true));
    assert_eq!((quick.loads[0].warm_up_ns, quick.run_ns(0)), (1_000_000_000, Some(7_000_000_000)));
    // Stages take 6 s together, after 1 s of warm-up.
    assert_eq!(quick.run_ns(2), Some(7_000_000_000));
    let names: Vec<&str> = quick.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["workers=4 threads=1", "", ""]);
    let gates: Vec<_> = full.gates.iter().filter(|gate| gate.part_ns.is_none()).cloned().collect();
    assert_eq!(quick.gates, gates, "6 s have no part from 10 s to 20 s");
}

#[test]
fn gates_use_units_of_their_metrics() {
    let study = read("everything.yaml", false);
    let gates: Vec<_> =
        study.gates.iter().map(|gate| (gate.figure, gate.sign, gate.limit, gate.step.as_deref())).collect();
    assert_eq!(gates[0], (Figure::Percentile(Percentile::P99), Sign::Below, 200e6, None));
    assert_eq!(gates[1], (Figure::Percentile(Percentile::P99_9), Sign::Below, 1e9, Some("item")));
    assert_eq!(gates[2], (Figure::named("errors").unwrap(), Sign::Below, 0.001, None));
    assert_eq!(gates[3], (Figure::named("throughput").unwrap(), Sign::Above, 500.0, None));
    assert_eq!(study.gates[1].part_ns, Some((10_000_000_000, 20_000_000_000)));
    assert_eq!(study.gates[1].text, "item: p(99.9)<1s from 10s to 20s");
}

#[test]
fn steps_with_same_name_get_their_paths() {
    let step = |path: &str| {
        let study = text(&format!(
            "scenario: [ {{ get: {path}, name: page }} ]\nload: {{ users: 1 }}\nurl: http://127.0.0.1:8080\n"
        ));
        study.plan(0, &launch(&study, 0)).expect("it is a plan").to_json()["steps"][0].clone()
    };
    assert_eq!((step("/a")["name"].as_str(), step("/a")["path"].as_str()), (Some("page"), Some("/a")));
    assert_eq!(step("/b")["path"].as_str(), Some("/b"));
    assert_eq!(step("/b?of=anybody")["path"].as_str(), Some("/b"), "a query may hold a secret");
}

#[test]
fn description_of_study_shows_no_secrets() {
    let study = text(
        "scenario: [ { get: /x?token=CANARY1&a=b, headers: { X-Api-Key: CANARY2 } } ]\n\
         load: { users: 1 }\nurl: http://me:CANARY3@127.0.0.1:8080\n",
    );
    let launch = launch(&study, 0);
    let plan = study.plan(0, &launch).expect("it is a plan");
    for words in
        [study.explain(), plan.title.clone(), plan.to_json().to_string(), study.systems[0].name.clone()]
    {
        assert!(!words.contains("CANARY"), "{words}");
    }
    let unseen =
        text("question: \"a\\n\\eb\"\nscenario: [ get: / ]\nload: { users: 1 }\nurl: http://127.0.0.1:1\n");
    assert!(unseen.explain().contains("question    a \\u{1b}b\n"), "{}", unseen.explain());
    let headers = &request(&plan.steps[0]).unwrap().request.headers;
    assert_eq!(headers[1].0, "Authorization");
}

#[test]
fn hash_covers_everything_that_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    let plan = "scenario: [ { post: '/{d.a}', body-file: body } ]\ndata: { d: { csv: d.csv } }\nload: { users: 1 }\n\
                systems: { s: { start: 's {port}', files: { f: { template: t } } } }\n";
    let hash =
        || Study::read(&folder.path().join("p.yaml"), false).unwrap_or_else(|faults| panic!("{faults}")).hash;
    write("p.yaml", plan);
    write("body", "1");
    write("d.csv", "a\n1\n");
    write("t", "1");
    let mut hashes = vec![hash()];
    for (name, text) in
        [("body", "2"), ("d.csv", "a\n2\n"), ("t", "2"), ("p.yaml", &plan.replace("users: 1", "users: 2"))]
    {
        write(name, text);
        hashes.push(hash());
    }
    let count = hashes.len();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), count);
    assert!(hashes.iter().all(|hash| hash.len() == 16));
}

#[test]
fn accepts_byte_order_mark_and_crlf() {
    let study = text("\u{feff}scenario:\r\n  - get: /\r\nload: { users: 1 }\r\nurl: http://127.0.0.1:1\r\n");
    assert_eq!(study.step_names().count(), 1);
}

#[test]
fn quick_run_drops_gates_on_missing_parts_of_time() {
    let plan = "scenario: [ get: / ]\nload: { users: 1, warm-up: 2s, for: 30s }\nurl: http://127.0.0.1:8080\n\
                gates: [ max<1s, max<1s from 0s to 2s, max<1s from 10s to 20s ]\nquick: { warm-up: 1s, for: 3s }\n";
    let texts = |is_quick: bool| -> Vec<String> {
        let study = Study::from_bytes(plan.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), is_quick);
        study.expect("it is a plan").gates.into_iter().map(|gate| gate.text).collect()
    };
    assert_eq!(texts(false), ["max<1s", "max<1s from 0s to 2s", "max<1s from 10s to 20s"]);
    assert_eq!(texts(true), ["max<1s", "max<1s from 0s to 2s"]);
}

#[test]
fn readiness_check_avoids_ports_of_needed_processes() {
    let ready_at = |app: &str| {
        let study = text(&format!(
            "scenario: [ get: / ]\nload: {{ users: 1 }}\nsystems:\n  a:\n    files: {{ app.conf: 'listen {{port}}' }}\n    proxies: {{ far: {{ to: '127.0.0.1:{{port.db}}' }} }}\n    \
             processes:\n      db: {{ start: './db {{port.db}}' }}\n      \
             cache: {{ start: ./cache, needs: db, env: {{ PORT: '{{port.cache}}' }}, ready: {{ log: up }} }}\n      \
             app: {{ needs: cache, {app} }}\n"
        ));
        let launch = launch(&study, 0);
        let port =
            launch.processes.iter().find(|process| process.name == "app").and_then(|app| app.ready.port);
        let number = port.expect("a port") - 7000;
        study.ports(0)[usize::from(number)].clone()
    };
    // The port of the process is in a file, so the check uses the port of the URL.
    let others = "env: { CACHE: '{port.cache}', DB: '{port.db}', FAR: '{port.far}' }";
    assert_eq!(ready_at(&format!("start: ./app, {others}, ready: {{ get: / }}")), "");
    assert_eq!(ready_at("start: ./app, env: { CACHE: '{port.cache}' }, ready: { get: / }"), "");
    assert_eq!(ready_at(&format!("start: './app {{port.app}}', {others}")), "app");
    assert_eq!(ready_at("start: './consumer {port.cache}'"), "cache", "it listens nowhere");
}

#[test]
fn system_with_socket_is_ready_when_socket_accepts() {
    let plan = |start: &str, ready: &str| {
        let study = text(&format!(
            "scenario: [ get: / ]\nload: {{ users: 1 }}\nsystems:\n  a:\n    start: {start}\n    url: http://localhost/\n    \
             socket: '{{dir}}/a.sock'\n{ready}"
        ));
        let ready = launch(&study, 0).processes[0].ready.clone();
        (ready.when, ready.port)
    };
    let by_socket = (ReadyWhen::Unix("/run/1/a.sock".into()), None);
    assert_eq!(plan("'app {dir}/a.sock'", ""), by_socket);
    assert_eq!(plan("'app {dir}/a.sock --admin {port}'", ""), by_socket, "no matter what else it listens to");
    let by_port = plan("'app {dir}/a.sock --admin {port}'", "    ready: { tcp: true }\n");
    assert_eq!(by_port, (ReadyWhen::Tcp, Some(7000)), "asked for, and then it is the port that there is");
}

#[test]
fn description_of_study_shows_checks_of_replies() {
    let study = text(
        "scenario: [ { get: /, expect: { status: 200, body: [ a, b ], headers: { X-Y: z }, size: 1..5 } } ]\n\
         load: { users: 1 }\nurl: http://127.0.0.1:8080\n",
    );
    let words = study.explain();
    assert!(words.contains("GET /: expects status 200, a header, 2 texts in the body, a size\n"), "{words}");
}

#[test]
fn load_that_ends_after_requests_has_no_min_duration() {
    let time = |load: &str| {
        let study = text(&format!(
            "{{ scenario: [ get: / ], load: {{ users: 1, {load} }}, url: http://127.0.0.1:8080 }}"
        ));
        let words = study.explain();
        words.lines().find_map(|line| line.strip_prefix("time        ")).expect("it is said").to_owned()
    };
    assert_eq!(time("for: 3s"), "at least 3s of load");
    assert_eq!(time("for: 3s, requests: 10"), "up to 3s of load");
    assert_eq!(time("requests: 10"), "as long as the requests take");
}

#[test]
fn transactions_are_scripts_with_bound_values() {
    let text = "scenario:\n  - sql: SELECT max(id) AS top FROM t WHERE n = :n\n    save: { last: { column: top } }\n    expect: { rows: 1.. }\n\
                \x20 - name: two\n    transaction:\n      - UPDATE t SET n = 1 WHERE id = :last;\n      - SELECT '{n}'\n\
                data: { n: { uniform: 1..9 } }\nsql: { mode: prepared, max-tries: 3, variables: { x: 7 } }\n\
                load: { users: 3, pool: 2, latency-limit: 1s }\nurl: postgres://u@127.0.0.1:1/d?sslmode=disable\n";
    let study = Study::from_bytes(text.as_bytes(), "p.yaml", "p".to_owned(), "/".into(), false);
    let study = study.unwrap_or_else(|faults| panic!("{faults}"));
    let environment = Environment {
        ports: &[],
        dir: Path::new("/d"),
        tenbin: Path::new("/t"),
        host: std::net::Ipv4Addr::LOCALHOST,
    };
    let plan = study.plan(0, &study.launch(0, &environment)).unwrap();
    let sql = Transactions::in_plan(&plan).next().expect("a plan of transactions");
    let texts: Vec<String> =
        sql.texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    assert_eq!(
        texts,
        [
            "SELECT max(id) AS top FROM t WHERE n = :n\n\\gset saved_column_\n\\set last :saved_column_top\n",
            "BEGIN;\nUPDATE t SET n = 1 WHERE id = :last;\nSELECT '{n}';\nCOMMIT;\n",
        ]
    );
    assert_eq!(sql.settings.bindings, ["n", "last"]);
    assert_eq!((sql.settings.max_tries, sql.settings.clients, sql.pool), (3, 3, Some(2)));
    assert_eq!(sql.settings.variables, [("x".to_owned(), "7".to_owned())]);
    assert_eq!(sql.latency_limit_ns, Some(1_000_000_000));
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["SELECT max(id) AS top FROM t WHERE n = :n", "two"]);
    assert!(study.explain().contains("two: a transaction\n"), "{}", study.explain());
    assert!(study.explain().contains("expects at least 1 rows; saves last"), "{}", study.explain());
}

#[test]
fn requests_and_transactions_have_their_own_peers() {
    let text = "scenario:\n  - sql: SELECT 1 AS one\n    save: { one: { column: one } }\n  - get: /a-{one}\n    save: { two: { header: X } }\n\
                \x20 - name: both\n    transaction: [ 'SELECT :two', 'SELECT 2' ]\n\
                load: { users: 3, pool: 2, latency-limit: 1s }\nsystems:\n  app:\n    start: app {port} {port.db} {dir}\n\
                \x20   database: \"postgres://u@127.0.0.1:{port.db}/d?host={dir}\"\n";
    let study = Study::from_bytes(text.as_bytes(), "p.yaml", "p".to_owned(), "/".into(), false);
    let study = study.unwrap_or_else(|faults| panic!("{faults}"));
    let ports = [(String::new(), 81), ("db".to_owned(), 82)];
    let environment = Environment {
        ports: &ports,
        dir: Path::new("/d"),
        tenbin: Path::new("/t"),
        host: std::net::Ipv4Addr::LOCALHOST,
    };
    assert_eq!(study.ports(0), ["", "db"]);
    let plan = study.plan(0, &study.launch(0, &environment)).unwrap();
    assert!(plan.is_mixed());
    let peers: Vec<(u16, Option<&Path>)> =
        plan.peers().map(|peer| (peer.port, peer.unix_socket.as_deref())).collect();
    assert_eq!(peers, [(81, None), (82, Some(Path::new("/d/.s.PGSQL.82")))]);
    let sql = Transactions::in_plan(&plan).next().expect("transactions");
    assert_eq!(
        (sql.settings.bindings.as_slice(), sql.settings.saves.as_slice()),
        (&["one".to_owned(), "two".to_owned()][..], &[0][..])
    );
    assert_eq!((sql.pool, sql.settings.clients), (Some(2), 3));
    assert_eq!(plan.sql_steps(1).iter().map(|step| step.script).collect::<Vec<_>>(), [0, 1]);
    let parts: Vec<u16> = plan.parts().iter().map(|part| part.of).collect();
    assert_eq!(parts, [2; 4], "statements belong to the step of the plan, not to that of the database");
    assert!(study.explain().contains("with its database at postgres://"), "{}", study.explain());
}

#[test]
fn load_may_follow_one_scenario_with_prepared_tables() {
    let study = text(
        "scenarios:\n  row by row: { steps: [workload: postcodes-insert] }\n  \
         together: { steps: [ { sql: SELECT 1, weight: 1, name: other }, { workload: postcodes-insert:multi-row, weight: 3 } ] }\n\
         sql: { rows: 7, mode: prepared }\n\
         load:\n  - { name: one, scenario: row by row, users: 1 }\n  - { name: two, scenario: together, users: 2 }\n\
         prepare: { workload: postcodes-read, rows: 1k, drop: true }\nurl: sqlite:x.db\n\
         gates: [ \"errors<1%\", \"postcodes-insert:multi-row: p(99)<1s\" ]\n",
    );
    let launch = launch(&study, 0);
    let tables = launch.tables.clone().expect("there are tables");
    assert_eq!((tables.workload, tables.rows, tables.scale), ("postcodes-read", Some(1_000), 1));
    assert!(tables.drop && !tables.unlogged);
    let names = |load: usize| {
        let plan = study.plan(load, &launch).expect("it is a plan");
        let scripts = Transactions::in_plan(&plan).next().expect("it is SQL").all_scripts.scripts();
        assert_eq!(scripts.len(), plan.steps.len());
        let visits: Vec<u16> = plan.scenarios.visits().map(|visit| visit.step).collect();
        (
            plan.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>(),
            visits,
            plan.scenarios.list.len(),
        )
    };
    assert_eq!(names(0), (vec!["postcodes-insert".to_owned()], vec![0], 1));
    let both = vec!["other".to_owned(), "postcodes-insert:multi-row".to_owned()];
    assert_eq!(names(1), (both, vec![0, 1], 1));
    let plan = study.plan(1, &launch).expect("it is a plan");
    let texts = &Transactions::in_plan(&plan).next().expect("it is SQL").texts;
    assert_eq!(String::from_utf8_lossy(&texts[1]).matches("INSERT").count(), 1, "one statement for all rows");
    let steps = |load| study.gates_of(load).into_iter().map(|gate| gate.step).collect::<Vec<_>>();
    assert_eq!(steps(0), [None]);
    assert_eq!(steps(1), [None, Some("postcodes-insert:multi-row".to_owned())]);
}

#[test]
fn limits_of_system_may_have_parameters() {
    let study = text(
        "{ scenario: [ get: / ], load: { users: 1, for: 1s }, pin: { system: [ 0, 1 ], generator: [ 2 ] }, systems: {\
           a: { start: 'a {port}', vary: { cpu: [ 0.4, 1 ], ram: [ 64MiB ] }, resources: {\
             cpu: '{cpu}', cores: [ 0-1 ], memory: '{ram}', io: { read: 10MiB/s, write-iops: 50 } } },\
           b: { start: 'b {port}' } } }",
    );
    let limits = |name| launch(&study, variant(&study, "a", name)).limits;
    let small = limits("cpu=0.4 ram=64MiB");
    assert_eq!((small.cpu_millicores, small.memory_bytes), (Some(400), Some(64 << 20)));
    assert_eq!((small.cores.as_slice(), small.read_bytes_per_s), (&[0, 1][..], Some(10 << 20)));
    assert_eq!((small.writes_per_s, small.write_bytes_per_s), (Some(50), None));
    assert_eq!(limits("cpu=1 ram=64MiB").cpu_millicores, Some(1000));
    assert_eq!(launch(&study, variant(&study, "b", "")).limits, plan::Limits::default());
    let words = study.explain();
    let limited = "limited to cpu {cpu}, cores 0-1, memory {ram}, read 10MiB/s, write-iops 50";
    assert!(words.contains(limited), "{words}");
}

#[test]
fn system_on_a_host_gets_load_at_its_address() {
    let study = text(
        "{ scenario: [ get: / ], load: { users: 1, for: 1s }, hosts: { far: { namespace: true } }, systems: {\
           a: { start: 'a {host}:{port}', host: far },\
           b: { start: 'b {host}:{port}' },\
           c: { start: 'c {host}:{port}', vary: { host: [ x ] } } } }",
    );
    let launch = |number| {
        let ports: Vec<(String, u16)> = study.ports(number).into_iter().zip(7000..).collect();
        let host = std::net::Ipv4Addr::new(10, 213, 0, 2);
        study.launch(
            number,
            &Environment { ports: &ports, dir: Path::new("/d"), tenbin: Path::new("/t"), host },
        )
    };
    assert_eq!(
        (launch(0).url.as_str(), study.systems[0].host.as_deref()),
        ("http://10.213.0.2:7000", Some("far"))
    );
    assert_eq!(launch(0).processes[0].command.argv, ["a", "10.213.0.2:7000"]);
    assert_eq!((launch(1).url.as_str(), study.systems[1].host.as_deref()), ("http://127.0.0.1:7000", None));
    assert_eq!(launch(2).processes[0].command.argv, ["c", "x:7000"], "a parameter of that name");
    assert!(study.explain().contains("on the host far, a network namespace"));
}

#[test]
fn events_change_limits_and_links() {
    let study = text(
        "{ scenario: [ get: / ], load: { rate: 1/s, for: 60s },\
           events: { less: { at: 1s }, far: { at: 9s }, gone: { at: 20s }, over: { at: 40s } }, systems: { a: {\
             start: 'a {port}', vary: { cpu: [ 0.4 ] }, proxies: { far: { to: '127.0.0.1:{port}' } },\
             events: { less: { limit: { cpu: '{cpu}' }, for: 5s }, far: { slow: { link: far, delay: 50ms } },\
               gone: { cut: far, for: 2s }, over: { reset: far } } } } }",
    );
    let events = launch(&study, 0).events;
    let plan::EventAction::Limit { limits, for_ns } = &events[0].action else { panic!("{events:?}") };
    assert_eq!((limits.cpu_millicores, *for_ns), (Some(400), Some(5_000_000_000)));
    let link = |number: usize| match &events[number].action {
        plan::EventAction::Link { name, control, order, undo, for_ns } => {
            assert_eq!((name.as_str(), control.as_path()), ("far", Path::new("/run/1/far.control")));
            (order.as_str(), undo.as_deref(), *for_ns)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(link(1), (r#"{"delay":"50ms","order":"change"}"#, Some(r#"{"order":"restore"}"#), None));
    assert_eq!(link(2), (r#"{"order":"cut"}"#, Some(r#"{"order":"mend"}"#), Some(2_000_000_000)));
    assert_eq!(link(3), (r#"{"order":"reset"}"#, None, None));
    let words: Vec<&str> = events.iter().map(|event| event.words.as_str()).collect();
    assert_eq!(words, ["limit cpu {cpu} for 5s", "slow far: delay 50ms", "cut far for 2s", "reset far"]);
}

#[test]
fn events_fill_disk_of_system() {
    let study = text(
        "{ scenario: [ get: / ], load: { rate: 1/s, for: 60s }, events: { full: { at: 1s }, nearly: { at: 20s } }, systems: { a: {\
             start: 'a {port} {dir}/disk', disk: 64MiB,\
             events: { full: { fill: disk, for: 5s }, nearly: { fill: disk, leave: 1MiB } } } } }",
    );
    let launch = launch(&study, 0);
    assert_eq!(launch.disk_bytes, Some(64 << 20));
    let actions: Vec<_> = launch.events.iter().map(|event| &event.action).collect();
    let full = plan::EventAction::Fill { leave_bytes: 0, for_ns: Some(5_000_000_000) };
    let nearly = plan::EventAction::Fill { leave_bytes: 1 << 20, for_ns: None };
    assert_eq!(actions, [&full, &nearly]);
    let words: Vec<&str> = launch.events.iter().map(|event| event.words.as_str()).collect();
    assert_eq!(words, ["fill the disk for 5s", "fill the disk but for 1MiB"]);
    assert!(study.explain().contains("with a disk of 64MiB at {dir}/disk"), "{}", study.explain());
}

#[test]
fn proxies_start_first_and_do_not_count_as_ready() {
    let study = text(
        "{ scenario: [ get: / ], load: { users: 1, for: 1s }, systems: { a: {\
           url: 'http://127.0.0.1:{port.far}', start: 'a {port}', vary: { rtt: [ 1ms, 20ms ] }, proxies: {\
             far: { to: '127.0.0.1:{port.near}', round-trip: '{rtt}', jitter: 1ms, jitter-kind: normal },\
             near: { to: '127.0.0.1:{port}', bandwidth: 10MB/s, drop-new: close } } } } }",
    );
    let launch = launch(&study, variant(&study, "a", "rtt=20ms"));
    let names: Vec<&str> = launch.processes.iter().map(|process| process.name.as_str()).collect();
    assert_eq!(names, ["proxy far", "proxy near", "a"]);
    let ports: Vec<String> = study.ports(0);
    let port = |name: &str| 7000 + ports.iter().position(|port| port == name).expect("a port") as u16;
    let (far, near, own) = (port("far"), port("near"), port(""));
    let expected = format!(
        "/bin/tenbin proxy {far} 127.0.0.1:{near} --format json --control /run/1/far.control --round-trip 20ms \
         --jitter 1ms --jitter-kind normal"
    );
    assert_eq!(launch.processes[0].command.argv.join(" "), expected);
    let proxy = launch.processes[0].proxy.as_ref().expect("a proxy");
    assert_eq!((proxy.name.as_str(), proxy.port), ("far", Some(far)));
    assert_eq!(launch.url, format!("http://127.0.0.1:{far}"));
    let app = &launch.processes[2];
    assert_eq!((app.ready.port, app.proxy.as_ref()), (Some(own), None), "behind both proxies");
    let words = study.explain();
    assert!(words.contains("proxy far on port {port.far}, to 127.0.0.1:{port.near}"), "{words}");
}

#[test]
fn path_of_url_precedes_paths_of_steps() {
    let targets = |url: &str, first: &str| {
        let study = text(&format!(
            "{{ scenario: [ {{ {first} }}, get: '/b?x={{n}}' ], data: {{ n: {{ text: 1 }} }}, load: {{ users: 1 }}, url: '{url}' }}"
        ));
        let environment = Environment {
            ports: &[],
            dir: Path::new("/d"),
            tenbin: Path::new("/t"),
            host: std::net::Ipv4Addr::LOCALHOST,
        };
        let plan = study.plan(0, &study.launch(0, &environment)).expect("it is a plan");
        let target = |step: &plan::PlannedStep| request(step).expect("a request").request.target.clone();
        (plan.endpoint().peer().port, plan.steps.iter().map(target).collect::<Vec<_>>())
    };
    let both = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
    assert_eq!(targets("http://127.0.0.1", "get: /a"), (80, both("/a", "/b?x={n}")));
    assert_eq!(targets("https://127.0.0.1/", "get: /a"), (443, both("/a", "/b?x={n}")));
    assert_eq!(targets("http://127.0.0.1:81/v1/", "get: /a"), (81, both("/v1/a", "/v1/b?x={n}")));
    assert_eq!(targets("http://127.0.0.1:81/v1", "request: OPTIONS *"), (81, both("*", "/v1/b?x={n}")));
}

#[test]
fn events_are_described_and_filled_in_for_each_variant() {
    let study = read("events.yaml", false);
    let words = study.explain();
    for line in [
        "event       early: 2s before the end of the warm-up\n            stack: start replica; within 30s",
        "stack: send USR1 to web, until web writes \"restarted {workers}\"; within 10s",
        "event       settle: 2s after deploy\n            stack: set workers=8, then send HUP to web, until GET /health answers 2xx",
        "--db-password (secret) {port.db}` between `LOCK TABLE items` and `COMMIT`; within 30s; may fail",
        "500ms after db writes \"checkpoint complete\"",
        "pause web for 800ms",
    ] {
        assert!(words.contains(line), "{line}\n{words}");
    }
    assert!(!words.contains("users"), "an open load needs no warning");
    let launch = launch(&study, 1);
    let named = |name: &str| launch.events.iter().find(|event| event.name == name).expect("it is there");
    let EventAction::Set { files, .. } = &named("settle").action else { panic!("{:?}", named("settle")) };
    assert_eq!(files, &[("web.conf".into(), b"workers 8 in /run/1".to_vec())]);
    let sign = named("deploy").until.clone();
    assert_eq!(sign, Some(EventSign::Text { process: "web".to_owned(), text: "restarted 4".to_owned() }));
    let times = |name: &str| named(name).moment.times(Some(60_000_000_000));
    assert_eq!((times("often"), times("backup"), times("failover")), (Some(9), Some(2), Some(1)));
    let started: Vec<bool> = launch.processes.iter().map(|process| process.is_started_by_event).collect();
    assert_eq!(started, [false, false, true]);
}

#[test]
fn quick_run_drops_events_after_its_end_and_closed_load_has_note() {
    let plan = "scenario: [ get: / ]\nload: { users: 2, for: 10s }\nquick: { for: 2s }\n\
                events: { a: { at: 1s }, b: { at: 5s }, c: { after: b } }\n\
                systems: { s: { start: 's {port}', events: { a: { run: x }, b: { run: x }, c: { run: x } } } }\n";
    let names = |is_quick: bool| {
        let study =
            Study::from_bytes(plan.as_bytes(), "p.yaml", "p".to_owned(), "/".into(), is_quick).unwrap();
        assert!(study.explain().contains("note        with `users`, fewer requests"), "{}", study.explain());
        study.events.iter().map(|event| event.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(false), ["a", "b", "c"]);
    assert_eq!(names(true), ["a"]);
}

#[test]
fn quick_run_may_have_other_times_for_events() {
    let read = |quick: &str, is_quick: bool| {
        let plan = format!(
            "scenario: [ get: / ]\nload: {{ rate: 10/s, for: 10s }}\nquick: {{ for: 2s, events: {quick} }}\n\
             events: {{ a: {{ at: 5s, every: 1s }}, b: {{ at: 6s }}, c: {{ after: b }} }}\n\
             systems: {{ s: {{ start: 's {{port}}', events: {{ a: {{ run: x }}, b: {{ run: x }}, c: {{ run: x }} }} }} }}\n"
        );
        Study::from_bytes(plan.as_bytes(), "p.yaml", "p".to_owned(), "/".into(), is_quick)
            .map_err(|errors| errors.to_string())
    };
    let of = |study: &Study| -> Vec<(String, plan::EventMoment)> {
        study.events.iter().map(|event| (event.name.clone(), event.moment.clone())).collect()
    };
    let at = |at_ns| plan::EventMoment::At { at_ns, every_ns: None, times: None };
    let earlier = read("{ b: { at: 1s } }", true).unwrap();
    let after = plan::EventMoment::AfterEvent { event: "b".to_owned(), delay_ns: 0 };
    assert_eq!(of(&earlier), [("b".to_owned(), at(1_000_000_000)), ("c".to_owned(), after)]);
    assert_eq!(of(&read("{ b: { at: 1s } }", false).unwrap())[1].1, at(6_000_000_000), "not quick");
    // Errors of both forms are reported.
    for (quick, what) in [
        ("{ bb: { at: 1s } }", "the plan has no event `bb`"),
        ("{ b: { at: 3s } }", "`b` begins after the end of the load"),
        ("{ b: { after: c } }", "wait for each other"),
        ("{ b: {} }", "the event `b` has no time"),
    ] {
        let told = read(quick, false).unwrap_err();
        assert!(told.contains(what), "{quick}: {told}");
    }
}

#[test]
fn open_load_grows_to_max_in_flight_unless_connections_are_given() {
    let grown = |load: &str| {
        let study = text(&format!("{{ scenario: [ get: / ], load: {load}, url: http://127.0.0.1:8080 }}"));
        let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
        (plan.connections(), plan.grows_to, plan.load_words().contains("as needed"))
    };
    assert_eq!(grown("{ rate: 200/s, timeout: 5s }"), (50, Some(1_000), true));
    assert_eq!(grown("{ rate: 5000/s }"), (50, Some(10_000), true));
    assert_eq!(grown("{ rate: 4/s }"), (50, None, false), "40 are in flight at most");
    assert_eq!(grown("{ rate: 200/s, connections: 20 }"), (20, None, false));
    assert_eq!(grown("{ users: 20 }"), (20, None, false));
    let of_database = |url: &str| {
        let study = text(&format!(
            "{{ scenario: [ sql: SELECT 1 ], load: {{ rate: 200/s, timeout: 5s }}, url: '{url}' }}"
        ));
        study.plan(0, &launch(&study, 0)).expect("it is a plan").grows_to
    };
    assert_eq!(of_database("postgres://me@127.0.0.1/app"), Some(1_000));
    assert_eq!(of_database("sqlite:///tmp/app.db"), None, "a thread for each connection");
}

#[test]
fn workload_can_be_a_step_of_two_scenarios() {
    let study = text(
        "{ scenarios: { few: { share: 25%, steps: [ { workload: tpcb-like } ] }, \
         many: { share: 75%, steps: [ { name: again, workload: tpcb-like } ] } }, \
         load: { users: 3 }, url: 'postgres://bench@127.0.0.1:5432/bench' }",
    );
    assert_eq!(study.step_names().collect::<Vec<_>>(), ["tpcb-like", "again"]);
}
