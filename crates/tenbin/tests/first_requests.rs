//! `tenbin check` prints exactly the first requests and transactions that a run with its seed sends.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use servers::{Postgres, PostgresSettings};

use crate::support::{Home, Started};

/// Requests that `check` prints for a step, without their indentation.
fn printed(check: &str, step: &str) -> Vec<String> {
    let mut lines = check.lines().skip_while(|line| *line != format!("  {step}")).skip(1);
    let mut requests: Vec<String> = Vec::new();
    for line in lines.by_ref().take_while(|line| line.starts_with("    ") || line.is_empty()) {
        match line.get(4..).map(|line| line.split_at(line.len().min(3))) {
            Some((mark, text)) if !mark.trim().is_empty() => requests.push(text.to_owned()),
            Some((_, text)) => requests.last_mut().expect("a request").extend(["\n", text]),
            None => requests.last_mut().expect("a request").push('\n'),
        }
    }
    requests
}

/// Answers every request on a connection with 204, and records it.
fn keep(stream: TcpStream, kept: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    loop {
        let mut request = String::new();
        let mut body_bytes = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(length) = line.strip_prefix("Content-Length: ") {
                body_bytes = length.trim().parse().expect("a length");
            }
            request.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; body_bytes];
        reader.read_exact(&mut body).expect("a body");
        request.push_str(&String::from_utf8_lossy(&body));
        kept.lock().expect("no panic").push(request.replace("\r\n", "\n"));
        if (&stream).write_all(b"HTTP/1.1 204 No Content\r\n\r\n").is_err() {
            return;
        }
    }
}

#[test]
fn run_sends_the_requests_that_check_prints() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let of_thread = kept.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = of_thread.clone();
            std::thread::spawn(move || keep(stream, &kept));
        }
    });
    let home = Home::new();
    let plan = format!(
        "seed: 42\nscenario:\n  - {{ name: list, get: \"/items/{{item}}?q={{word}}\" }}\n  \
         - {{ name: add, post: /items, json: {{ id: \"{{uuid}}\", n: \"{{n:raw}}\" }} }}\n\
         data: {{ item: {{ zipf: 1..1000 }}, word: {{ text: 8 }}, n: {{ sequence: 1.. }} }}\n\
         load: {{ users: 1, for: 10s, requests: 6, threads: 1 }}\nurl: http://127.0.0.1:{port}\n"
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let check = home.run(&["check", "plan.yaml"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    assert!(check.stdout.contains("sends first (seed 42)\n"), "{check:?}");
    assert!(kept.lock().expect("no panic").is_empty(), "check sends nothing");
    let run = home.run(&["run", "plan.yaml"]);
    let sent = kept.lock().expect("no panic").clone();
    assert!(sent.len() >= 6, "{run:?}");
    for (step, method) in [("list", "GET"), ("add", "POST")] {
        let of_step = sent.iter().filter(|request| request.starts_with(method));
        let of_step: Vec<&str> = of_step.map(|request| request.trim_end()).take(3).collect();
        let printed = printed(&check.stdout, step);
        assert_eq!(printed.iter().map(|request| request.trim_end()).collect::<Vec<_>>(), of_step);
        assert_eq!(printed.len(), 3);
    }
}

#[test]
fn run_sends_the_statements_that_check_prints() {
    let settings = PostgresSettings::default()
        .with("log_statement", "all")
        .with("log_line_prefix", "%a|")
        .with("log_duration", "off");
    let server = Postgres::start(&settings).unwrap_or_else(|why| panic!("{why}"));
    server.sql("CREATE TABLE v (id TEXT, page TEXT)").unwrap_or_else(|why| panic!("{why}"));
    let home = Home::new();
    let plan = format!(
        "seed: 42\nscenario:\n  - name: visit\n    \
         sql: INSERT INTO v VALUES ('{{uuid}}', 'it''s {{people.name}}')\n\
         data: {{ people: {{ csv: people.csv }} }}\nload: {{ users: 1, for: 10s, requests: 3, threads: 1 }}\nurl: {}\n",
        server.url(Postgres::USER, None)
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    fs::write(home.path().join("people.csv"), "name\nO'Hara\nC:\\x\n").expect("written");
    let run = |command: &str| {
        let mut command = home.command(&[command, "plan.yaml"]);
        command.env("PGPASSWORD", Postgres::PASSWORD);
        Started::spawn(command).finish()
    };
    let check = run("check");
    let printed = printed(&check.stdout, "visit");
    assert_eq!(printed.len(), 3, "{check:?}");
    assert!(printed[0].contains("it''s O''Hara"), "{printed:?}");
    let run = run("run");
    let log = server.log();
    let heard = log.lines().filter_map(|line| line.strip_prefix("tenbin|")?.split_once("statement: "));
    let heard: Vec<&str> = heard.map(|(_, text)| text).filter(|text| text.starts_with("INSERT")).collect();
    assert_eq!(heard.iter().take(3).copied().collect::<Vec<_>>(), printed, "{run:?}");
}
