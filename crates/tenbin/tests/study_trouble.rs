//! Studies whose systems disturb others or stay silent: their reports are true.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{
    self,
    systems::{assert_nothing_is_left, marked},
};
use crate::support::{Home, Output, Started, TENBIN, number};
use rustix::process::Signal;

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// Runs `check`, which has no store.
fn check(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    command.arg("check").args(arguments);
    home.isolate(&mut command);
    Started::spawn(command).finish()
}

#[test]
fn port_of_another_program_is_not_loaded() {
    let home = Home::new();
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = other.local_addr().expect("an address").port();
    let path = plan(
        &home,
        &format!(
            "scenario: [ get: /status ]\nload: {{ users: 1, for: 300ms }}\nsystems:\n  late:\n    \
             start: sh -c 'sleep 30'\n    url: http://127.0.0.1:{port}\n"
        ),
    );
    let output = home.run(&["run", &path, "--format", "json"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let run = &output.json()["runs"][0];
    assert_eq!((run["failure"]["stage"].as_str(), number(run, "offered.sent")), (Some("port"), 0), "{run}");
    assert!(output.stderr.contains(&format!("port {port} on 127.0.0.1 is taken by ")), "{}", output.stderr);
    assert_nothing_is_left(&home);
}

#[test]
fn gate_on_throughput_uses_the_reported_figure() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { rate: 20/s, arrivals: poisson, warm-up: 500ms, for: 1s }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\ngates: [ throughput>1/s ]\n",
    );
    let study = home.json(&["run", &path]);
    let run = &study["runs"][0];
    let observed = run["gates"][0]["observed"].as_f64().expect("a number");
    let shown = run["ok_per_s"].as_f64().expect("a number");
    assert!((observed - shown).abs() < 0.001, "{observed} and {shown}: {run}");
}

#[test]
fn study_with_only_rejected_requests_ends_in_its_first_run() {
    let home = Home::new();
    let wrong = plan(
        &home,
        "scenario: [ get: /nothing ]\nload: { users: 2, for: 10min }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\ncompare: { blocks: 3 }\n",
    );
    let output = home.run(&["run", &wrong]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let answer =
        "status 404, expected 200–399; the body begins with \"no such endpoint; GET / lists them all\\n\"";
    assert!(output.stderr.contains(answer), "{}", output.stderr);
    assert!(
        output.stderr.contains("target: every request was rejected, also those of a single user"),
        "{}",
        output.stderr
    );
    assert_nothing_is_left(&home);
    // The study can be resumed when the system accepts the requests.
    assert!(home.run(&["history"]).stdout.contains("interrupted"), "it is kept as interrupted");
    let checked = check(&home, &[&wrong, "--start"]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!(checked.stdout.contains("every request was rejected: step"), "{}", checked.stdout);
}

#[test]
fn study_of_failures_continues_if_a_system_rejects_everything() {
    let home = Home::new();
    let of = |compare: &str| {
        format!(
            "scenario: [ get: /nothing ]\nload: {{ users: 2, for: 1500ms }}\nsystems:\n  first:\n    \
             start: '{{tenbin}} target --listen 127.0.0.1:{{port}}'\n  second:\n    \
             start: '{{tenbin}} target --listen 127.0.0.1:{{port}}'\ncompare: {compare}\n"
        )
    };
    for compare in ["no", "{ find: failures, blocks: 1 }"] {
        let output = home.run(&["run", &plan(&home, &of(compare)), "--format", "json"]);
        assert_eq!(output.code, Some(0), "what systems do is the result of such a study: {output:?}");
        let study = output.json();
        let runs = study["runs"].as_array().expect("a list");
        assert_eq!(runs.len(), 2, "{study}");
        for run in runs {
            assert_ne!(run["verdict"], "partial", "{run}");
            assert!(number(run, "outcomes.rejected") > 0 && number(run, "outcomes.ok") == 0, "{run}");
        }
        assert!(output.stderr.contains("note: the system rejected every request"), "{}", output.stderr);
    }
}

/// Answers a single connection, and rejects requests while there are several.
fn answers_one_at_a_time(listener: TcpListener) {
    let connections = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let (mut stream, connections) = (stream.expect("a connection"), Arc::clone(&connections));
        std::thread::spawn(move || {
            connections.fetch_add(1, Ordering::SeqCst);
            let mut request = [0; 4096];
            while stream.read(&mut request).is_ok_and(|read| read > 0) {
                std::thread::sleep(Duration::from_millis(5));
                let status = if connections.load(Ordering::SeqCst) == 1 { 200 } else { 503 };
                let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
                if stream.write_all(reply.as_bytes()).is_err() {
                    break;
                }
            }
            connections.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

#[test]
fn overload_is_a_result_even_if_every_request_is_rejected() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(|| answers_one_at_a_time(listener));
    let text =
        format!("scenario: [ get: / ]\nload: {{ users: 8, for: 2s }}\nsystems:\n  one: {{ url: '{url}' }}\n");
    let output = home.run(&["run", &plan(&home, &text), "--format", "json"]);
    let run = &output.json()["runs"][0];
    assert_ne!(run["verdict"], "partial", "it was made again: {output:?}");
    assert!(number(run, "outcomes.rejected") > 0 && number(run, "outcomes.ok") == 0, "{run}");
    assert!(output.stderr.contains("the run is made again"), "{}", output.stderr);
}

#[test]
fn failing_version_command_is_named_by_check() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { users: 1, for: 300ms }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n    version: 'false'\n",
    );
    let output = check(&home, &[&path, "--start"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stdout.contains("the version command failed"), "{}", output.stdout);
}

#[test]
fn hanging_version_command_does_not_delay_an_interruption() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { users: 1, for: 300ms }\nsystems:\n  target:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n    version: sleep 60\n",
    );
    let program = home.start(&["run", &path]);
    support::until("the command runs", || !marked(program.pid()).is_empty());
    let begun = Instant::now();
    program.signal(Signal::INT);
    let output = program.finish();
    assert_eq!(output.code, Some(130), "{output:?}");
    // If it is not interrupted, the command has 20 s.
    assert!(begun.elapsed() < Duration::from_secs(15), "{output:?}");
    assert_nothing_is_left(&home);
}

#[test]
fn failure_after_a_load_is_reported_and_its_figures_count() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { users: 1, for: 300ms }\nsystems:\n  untidy:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n    after: sh -c 'echo cannot tidy up; exit 4'\n",
    );
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let what = "the command `sh -c echo cannot tidy up; exit 4` exited with code 4";
    assert!(output.stderr.contains(&format!("note: {what}")), "{}", output.stderr);
    assert!(output.stdout.contains(&format!("1 run: {what}")), "{}", output.stdout);
    assert_eq!(output.stdout.matches(": cannot tidy up").count(), 1, "what it wrote: {}", output.stdout);
}

#[test]
fn rejects_public_address_before_anything_is_stored() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: / ]\nload: { users: 1, for: 300ms }\nsystems:\n  theirs: { url: 'http://192.0.2.1:80' }\n  \
         ours: { url: 'http://127.0.0.1:9' }\n",
    );
    for output in [check(&home, &[&path]), home.run(&["run", &path])] {
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains("systems: theirs: 192.0.2.1 is a public address"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("1 error; nothing was started"), "{}", output.stderr);
    }
    assert!(!home.store().exists());
}

#[test]
fn plan_after_resume_is_not_taken_for_a_study() {
    let home = Home::new();
    let output = home.run(&["run", "--resume", "plan.yaml"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("write the plan before --resume"), "{}", output.stderr);
}

#[test]
fn full_study_is_not_resumed_as_a_quick_one() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: / ]\nload: { users: 1, for: 300ms }\nurl: http://127.0.0.1:9\nquick: { for: 200ms }\n",
    );
    for (first, then, way_out) in
        [(&[][..], &["--quick"][..], "leave out --quick"), (&["--quick"], &[], "add --quick")]
    {
        assert_eq!(home.run(&[&["run", &path], first].concat()).code, Some(1), "nobody listens there");
        let study = home.history()[0]["id"].as_str().expect("a name").to_owned();
        let output = home.run(&[&["run", &path, "--resume", &study], then].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(way_out), "{}", output.stderr);
    }
}

#[test]
fn study_survives_the_removal_of_its_program_file() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { users: 1, for: 300ms }\nsystems:\n  one:\n    \
         start: sh -c 'rm -f tenbin; exec \"$0\" target --listen 127.0.0.1:{port}' TENBIN\n    \
         version: sh -c 'rm -f tenbin; echo 1'\ncompare: { blocks: 2 }\n"
            .replace("TENBIN", TENBIN)
            .as_str(),
    );
    let copy = home.path().join("tenbin");
    fs::copy(TENBIN, &copy).expect("copied");
    let mut command = Command::new(&copy);
    command.args(["run", &path, "--format", "json", "--store"]).arg(home.store());
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert!(!copy.exists(), "the version command removes it");
    let study = output.json();
    for run in study["runs"].as_array().expect("a list") {
        assert_eq!(run["verdict"], "complete", "{run}");
    }
}

/// Runs a study as a separate user with a limit on processes and threads, because the limit does not apply to root.
fn run_with_few_processes(home: &Home, processes: u32, plan: &str) -> Output {
    assert!(rustix::process::getuid().is_root(), "this test becomes another user: run it as root");
    let user = 700_000 + std::process::id() % 100_000;
    let program = home.path().join("tenbin");
    fs::copy(TENBIN, &program).expect("a copy that every user may start");
    chown(home.path(), Some(user), Some(user)).expect("the user's home");
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}")]).arg("--clear-groups");
    command.args(["prlimit", &format!("--nproc={processes}")]).arg(program);
    command.args(["run", plan, "--format", "json", "--store"]).arg(home.store());
    home.isolate(&mut command);
    Started::spawn(command).finish()
}

#[test]
fn system_that_takes_all_processes_fails_and_the_study_continues() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: /status ]\nload: { users: 1, for: 500ms }\nsystems:\n  forking:\n    \
         start: sh -c '{tenbin} target --listen 127.0.0.1:{port} & sleep 1; (while :; do sleep 40 & done); wait'\n    \
         ready: { log: Cannot fork }\n  calm:\n    start: '{tenbin} target --listen 127.0.0.1:{port}'\n\
         compare: { blocks: 1 }\n",
    );
    let output = run_with_few_processes(&home, 40, &path);
    assert!(!output.stderr.contains("panicked"), "{output:?}");
    let study = output.json();
    let run = |name: &str| {
        let runs = study["runs"].as_array().expect("runs");
        runs.iter().find(|run| run["system"]["name"] == name).unwrap_or_else(|| panic!("{output:?}")).clone()
    };
    let (forking, calm) = (run("forking"), run("calm"));
    assert_eq!(forking["verdict"], "aborted", "{forking}");
    assert_eq!(forking["failure"]["stage"], "threads", "{forking}");
    assert!(number(&calm, "outcomes.ok") > 0, "{calm}");
    assert_nothing_is_left(&home);
}

#[test]
fn study_interrupted_twice_leaves_no_folder() {
    let home = Home::new();
    let said = home.path().join("said");
    let text = "scenario: [ get: /status ]\nload: { users: 1, for: 30s }\nsystems:\n  stubborn:\n    start: sh -c 'trap \"\" \
                TERM; {tenbin} target --listen 127.0.0.1:{port} >SAID; while :; do sleep 1; done'\n";
    let path = plan(&home, &text.replace("SAID", &said.display().to_string()));
    let temporary = home.path().join("temporary");
    fs::create_dir(&temporary).expect("a folder");
    let entries = || fs::read_dir(&temporary).expect("a folder").count();
    let mut command = home.command(&["run", &path]);
    command.env("TMPDIR", &temporary);
    let program = Started::spawn(command);
    // Before it listens, the system briefly has a temporary file in the folder. A kill at that moment would leave it behind.
    let is_listening = || fs::read_to_string(&said).is_ok_and(|said| said.contains("listening"));
    support::until("the system is started", is_listening);
    assert!(entries() > 0 && !marked(program.pid()).is_empty());
    program.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    program.signal(Signal::INT);
    let output = program.finish();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert_nothing_is_left(&home);
    // The program ends within a second. On a busy machine, that may be too short to remove the folder, and the next study does it.
    let calm = "scenario: [ get: /status ]\nload: { users: 1, for: 100ms }\nsystems:\n  calm:\n    start: '{tenbin} target \
                --listen 127.0.0.1:{port}'\n";
    let mut next = home.command(&["run", &plan(&home, calm)]);
    next.env("TMPDIR", &temporary);
    let output = Started::spawn(next).finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(entries(), 0, "{output:?}");
}

#[test]
fn secrets_of_a_plan_are_in_no_file_and_only_the_owner_can_read_files() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario:\n  - get: /status\n    headers: { Authorization: \"Bearer s3cr3t\" }\n  - post: /echo\n    name: echo\n    \
         body: '{\"password\": \"s3cr3t\"}'\n    expect: { status: 100-599 }\nload: { users: 1, for: 300ms }\nsystems:\n  target:\n    \
         start: sh -c 'APP_TOKEN=s3cr3t exec {tenbin} target --listen 127.0.0.1:{port}'\n    env: { DB_PASS: s3cr3t }\n    \
         files: { app.ini: \"secret = s3cr3t\" }\n  absent:\n    before: sh -c 'exit 3' app --password s3cr3t\n    start: sleep {port}\n",
    );
    let page = home.path().join("page.html");
    let output = home.run(&["run", &path, "-o", &page.to_string_lossy()]);
    assert!(page.exists(), "{output:?}");
    let mut looked_at = 0;
    for entry in fs::read_dir(home.path()).expect("a folder") {
        let entry = entry.expect("a file").path();
        if entry.ends_with("plan.yaml") || !entry.is_file() {
            continue;
        }
        looked_at += 1;
        let text = String::from_utf8_lossy(&fs::read(&entry).expect("it can be read")).into_owned();
        assert!(!text.contains("s3cr3t"), "{} has a secret", entry.display());
        let mode = fs::metadata(&entry).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.display());
    }
    assert!(looked_at >= 2, "the store and the page");
    assert!(!output.stderr.contains("s3cr3t") && !output.stdout.contains("s3cr3t"), "{output:?}");
    // The hash of the original shows that the plan is unchanged.
    let resumed = home.run(&["run", &path, "--resume"]);
    assert!(resumed.stderr.contains("is complete"), "{resumed:?}");
}

#[test]
fn study_that_is_inconclusive_because_of_invalid_runs_exits_with_4() {
    let home = Home::new();
    // One request at a time, each of 20 ms: many of 200 requests per second are never sent.
    let path = plan(
        &home,
        "scenario: [ get: '/hold?mean_us=20000' ]\nload: { rate: 200/s, connections: 20, shed-after: 200ms, for: 500ms }\nsystems:\n  quick:\n    \
         start: '{tenbin} target --listen 127.0.0.1:{port}'\n  narrow:\n    \
         start: '{tenbin} target --threads 1 --listen 127.0.0.1:{port}'\ncompare: { blocks: 6 }\n",
    );
    let output = home.run(&["run", &path, "--format", "json"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    let study = output.json();
    let pairs = study["comparison"]["pairs"].as_array().expect("pairs");
    assert!(pairs.iter().all(|pair| pair["verdict"].as_str() == Some("none")), "{pairs:?}");
    let runs = study["runs"].as_array().expect("runs");
    let codes = |run: &&serde_json::Value| run["validity"]["causes"][0]["code"].as_str() == Some("not_sent");
    assert!(runs.iter().filter(codes).count() >= 3, "{study}");
    assert_nothing_is_left(&home);
}
