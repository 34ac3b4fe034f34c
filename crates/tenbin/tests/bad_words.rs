//! Words, flags, values, and files that a new user tries first. Each error says what to write.

use std::fs;

use crate::support::{Home, built_in};

/// Arguments separated by spaces, and the start of the help. `{server}` is replaced by the address of a server.
type Row = (&'static str, &'static str);

const WORDS: [Row; 32] = [
    ("8080", "write http://localhost:8080"),
    (":8080", "write http://localhost:8080"),
    ("//localhost:8080/", "write http://localhost:8080/"),
    ("http:/x", "write http://x"),
    ("http:localhost:80", "write http://localhost:80"),
    ("http//localhost:80/", "write http://localhost:80/"),
    ("https:://localhost", "write https://localhost"),
    ("htp://localhost/", "write http://localhost/"),
    ("example.com", "write http://example.com"),
    ("www.example.com/index.html", "write http://www.example.com/index.html"),
    ("ws://localhost:80/", "there is no ws: write http://localhost:80"),
    ("jdbc:postgresql://localhost/x", "write postgresql://localhost/x"),
    ("postgresql+asyncpg://localhost/x", "write postgresql://localhost/x"),
    ("unix:/none/x.sock", "write tenbin http://localhost/ --unix-socket /none/x.sock"),
    ("/none/x.sock", "write tenbin http://localhost/ --unix-socket /none/x.sock"),
    ("rnu plan.yaml", "did you mean run? write tenbin run plan.yaml"),
    ("compar a b", "did you mean compare? write tenbin compare a b"),
    ("histroy", "did you mean history? write tenbin history"),
    ("help", "write tenbin --help"),
    ("help run", "write tenbin run --help"),
    ("version", "write tenbin --version"),
    ("ls", "write tenbin history"),
    ("show", "write tenbin report"),
    ("diff a b", "write tenbin compare a b"),
    ("serve", "write tenbin target --listen 127.0.0.1:8080"),
    ("bench {server}", "leave it out: tenbin {server}"),
    ("GET {server}", "leave it out: tenbin {server}"),
    ("k6 run script.js", "write tenbin run script.js"),
    ("oltp_read_only", "write tenbin postgres://USER@HOST/DATABASE --workload oltp-read-only"),
    ("plan", "write tenbin plan.yaml"),
    ("{server} plan.yaml", "write tenbin plan.yaml; `url` in the plan names a running server"),
    (".", "it is a folder: name a plan in it"),
];

const FLAGS: [Row; 32] = [
    ("{server} -t 10", "write --threads 10 for threads of the generator (wrk), -n 10"),
    ("{server} -t 10s", "write --threads N for threads of the generator"),
    ("{server} --vus 10 --duration 30", "write -c 10"),
    ("{server} --rps 10", "write -R 10"),
    ("{server} -i", "write -n N"),
    ("{server} -q 5", "write -R 5"),
    ("{server} -rate 10", "write --rate 10"),
    ("{server} -duration=5s", "write --duration 5s"),
    ("attack -rate 5 {server}", "write --rate 5"),
    ("{server} --script x.lua", "write a plan with the requests"),
    ("{server} --sql SELECT", "write -f FILE"),
    ("{server} --expect 200", "write --expect-status 200"),
    ("{server} --expect-json x", "write a plan with `expect: { json: "),
    ("{server} --quick", "write -d 2s"),
    ("-N postgres://me@localhost/db", "write --workload simple-update"),
    ("-S postgres://me@localhost/db", "write --workload select-only"),
    ("--mysql-host=localhost oltp", "write the server, user, and database in the URL: mysql://"),
    ("plan.yaml -c 10", "write `users: 10` in `load` in plan.yaml"),
    ("plan.yaml -d 10s", "write `for: 10s` in `load` in plan.yaml"),
    ("plan.yaml {server}", "write `url: http://{server}` in the plan"),
    ("run plan.yaml --only x", "write `only: { … }`, which limits the variants"),
    ("target 8080", "write --listen 127.0.0.1:8080"),
    ("target --port 8080", "write --listen 127.0.0.1:8080"),
    ("proxy --listen 8081 {server}", "write the address without a flag"),
    ("history nope", "write tenbin report nope"),
    ("history -n 5", "write --limit N"),
    ("run", "write tenbin run study.yaml"),
    ("check", "write tenbin check study.yaml"),
    ("compare last", "write tenbin compare A B"),
    ("capacity {server}", "write tenbin capacity localhost:8080 --slo 'p99<200ms, errors<0.1%'"),
    ("export last", "write tenbin export last -o run.sqlite"),
    ("history rm", "write tenbin history rm NAME"),
];

const VALUES: [Row; 19] = [
    ("{server} -d 30sec", "write 30s"),
    ("{server} -d 1minute", "write 1m"),
    ("{server} -c 1,000", "write 1000"),
    ("{server} -c 1e3", "write 1000"),
    ("{server} -R 100rps", "write 100/s"),
    ("{server} -R 100/sec", "write 100/s"),
    ("{server} --rate=10/1s", "write 10/s"),
    ("{server} --slo P99<200ms", "did you mean p99? write p99<200ms"),
    ("{server} --slo latency<200ms", "did you mean p99? write p99<200ms"),
    ("{server} --slo error<1%", "did you mean errors? write errors<1%"),
    ("{server} --slo http_req_duration<200ms", "did you mean p99? write p99<200ms"),
    ("{server} --slo p95<200ms;errors<1%", "write p95<200ms, errors<1%"),
    ("{server} --format JSON", "write json"),
    ("{server} -b @x.json --body-file x.json", "use one of them"),
    ("{server} --json x.json", "write --json @x.json to send the file"),
    ("postgres://me@localhost/db --workload tpc-b", "write tpcb-like"),
    ("compare {server} {server}", "a first run creates it"),
    ("{server} -o report.pdf", "use one of the endings .txt"),
    ("{server} --slo p99<200", "write a duration such as 200ms"),
];

const FILES: [Row; 19] = [
    ("pln.yaml", "did you mean plan.yaml? write plan.yaml"),
    ("plan.yml", "did you mean plan.yaml? write plan.yaml"),
    ("run plan", "did you mean plan.yaml? write plan.yaml"),
    ("run none/plan.yaml", "there is no folder none"),
    ("run {server}", "for a running server, write tenbin {server}"),
    ("C:\\plans\\a.yaml", "write / between folders: /mnt/c/plans/a.yaml in WSL"),
    ("script.js", "write a YAML plan"),
    ("test.jmx", "write a YAML plan"),
    ("locustfile.py", "write a YAML plan"),
    ("wrk.lua", "write a YAML plan"),
    ("urls.txt", "write a YAML plan"),
    ("run compose.yaml", "write a plan (`tenbin init` starts one)"),
    ("script.sql", "write tenbin postgres://USER@HOST/DATABASE -f script.sql"),
    ("run script.sql", "run it on a database"),
    ("server.conf", "it is a file; for a plan, write tenbin run server.conf"),
    ("run tabs.yaml", "indent with spaces"),
    ("run empty.yaml", "write `scenario`, `load`, and `url` or `systems`"),
    ("run binary.yaml", "remove it"),
    ("broken.json", "close it with ]"),
];

/// Name and content of the files that the rows use.
const CONTENTS: [(&str, &str); 13] = [
    ("plan.yaml", "scenario: [ get: / ]\nload: { users: 1, for: 1s }\nurl: http://127.0.0.1:1\n"),
    ("script.js", "import http from 'k6/http';\n"),
    ("test.jmx", "<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">\n"),
    ("locustfile.py", "from locust import HttpUser, task\n"),
    ("wrk.lua", "wrk.method = \"POST\"\n"),
    ("urls.txt", "http://localhost/a\nhttp://localhost/b\n"),
    ("compose.yaml", "services:\n  web:\n    image: nginx\n"),
    ("script.sql", "SELECT 1;\n"),
    ("server.conf", "listen 80\n"),
    ("x.json", "{}"),
    ("tabs.yaml", "scenario:\n\t- get: /\n"),
    ("empty.yaml", ""),
    ("broken.json", "{ \"scenario\": ["),
];

#[track_caller]
fn assert_answered(rows: &[Row]) {
    let (home, server) = (Home::new(), built_in());
    let address = server.address().to_string();
    for (name, text) in CONTENTS {
        fs::write(home.path().join(name), text).expect("a file");
    }
    fs::write(home.path().join("binary.yaml"), b"\x7fELF\0\0").expect("a file");
    let mut wrong = Vec::new();
    for (line, help) in rows {
        let arguments: Vec<String> = line.split(' ').map(|word| word.replace("{server}", &address)).collect();
        let output = home.run(&arguments);
        let help = format!("help: {}", help.replace("{server}", &address));
        if output.code != Some(2) || !output.stderr.contains(&help) {
            wrong.push(format!("{line}\n  expected {help}\n  {output:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(server.counters().accepted, 0);
}

#[test]
fn wrong_first_word_is_answered_with_what_to_write() {
    assert_answered(&WORDS);
}

#[test]
fn wrong_or_missing_flag_is_answered_with_what_to_write() {
    assert_answered(&FLAGS);
}

#[test]
fn wrong_value_is_answered_with_the_corrected_value() {
    assert_answered(&VALUES);
}

#[test]
fn wrong_file_is_answered_with_what_to_write() {
    assert_answered(&FILES);
}
