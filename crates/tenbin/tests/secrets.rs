//! Secrets from the environment reach the system. No result, message, or list of processes shows them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Home, Output, Started, TENBIN};

/// Each part of a request encodes it in another way.
const SECRET: &str = "s3cr%t \"wörd\\/9";
/// Pieces that any encoding of the secret contains.
const TELLING: [&str; 4] = ["s3cr", "wörd", "%C3%B6rd", "czNjc"];

const PLAN: &str = r#"
scenario:
  - name: ask
    get: /status
    headers: { Authorization: "Bearer {env.TENBIN_TEST_SECRET}" }
  - name: tell
    post: /echo?key={env.TENBIN_TEST_SECRET}
    body: '{"password": "{env.TENBIN_TEST_SECRET}"}'
    expect: { status: 2xx, body: no such text }
load: { users: 2, for: 1200ms }
systems:
  app:
    env: { PASSWORD: "{env.TENBIN_TEST_SECRET}" }
    files: { app.conf: "password={env.TENBIN_TEST_SECRET}" }
    start: sh -c 'echo "$PASSWORD"; cat {dir}/app.conf; exec {tenbin} target --listen 127.0.0.1:{port}'
    version: sh -c 'echo "1.0 of $PASSWORD"'
    events: { deploy: { run: "sh -c 'echo \"$PASSWORD\" >&2; exit 1'", may-fail: true } }
events: { deploy: { at: 300ms } }
compare: no
"#;

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn with_secret(mut command: Command) -> Started {
    command.env("TENBIN_TEST_SECRET", SECRET);
    Started::spawn(command)
}

#[track_caller]
fn assert_hidden(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for telling in TELLING {
        let found = text.find(telling).map(|at| text[at..].chars().take(80).collect::<String>());
        assert_eq!(found, None, "{what} shows the secret");
    }
}

#[track_caller]
fn assert_output_hides(what: &str, output: &Output) {
    assert_hidden(what, output.stdout.as_bytes());
    assert_hidden(what, output.stderr.as_bytes());
}

/// Command lines of all processes of this machine, sampled until this time.
pub(crate) fn arguments_meanwhile(until: Instant) -> Vec<u8> {
    let mut seen = Vec::new();
    while Instant::now() < until {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = entries.map(|entry| entry.path().join("cmdline"));
        lines.filter_map(|line| fs::read(line).ok()).for_each(|line| seen.extend(line));
        thread::sleep(Duration::from_millis(150));
    }
    seen
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn secret_reaches_the_system_and_is_never_stored_or_shown() {
    let home = Home::new();
    let path = plan(&home, PLAN);
    let started = with_secret(home.command(&["run", &path, "--format", "json"]));
    let seen = arguments_meanwhile(Instant::now() + Duration::from_secs(2));
    assert_hidden("the list of processes", &seen);
    let output = started.finish();
    assert_output_hides("tenbin run", &output);
    let run = &output.json()["runs"][0];
    assert!(run["outcomes"]["ok"].as_u64() > Some(0), "{run}");
    assert_eq!(run["system"]["version"], "1.0 of (secret)", "{run}");
    for format in ["terminal", "html", "md", "json", "csv"] {
        let report = home.run(&["report", "last", "--wide", "--format", format]);
        assert_eq!(report.code, Some(0), "{report:?}");
        assert_output_hides(format, &report);
    }
    let written: Vec<PathBuf> = files_below(home.path());
    assert!(written.iter().any(|file| *file == home.store()), "{written:?}");
    for file in written {
        assert_hidden(&file.to_string_lossy(), &fs::read(&file).expect("it can be read"));
    }
    let store = fs::read(home.store()).expect("the store");
    let kept = String::from_utf8_lossy(&store);
    assert!(kept.contains("password=(secret)"), "the output of the system is kept");
    let mut check = Command::new(TENBIN);
    check.args(["check", &path, "--start"]);
    home.isolate(&mut check);
    let checked = with_secret(check).finish();
    assert_output_hides("tenbin check", &checked);
    assert!(checked.stdout.contains("app (1.0 of (secret)): ready"), "{checked:?}");
}

#[test]
fn failing_system_does_not_reveal_its_secret() {
    let home = Home::new();
    let path = plan(
        &home,
        "scenario: [ get: / ]\nload: { users: 1, for: 1s }\nsystems:\n  app:\n    \
         env: { PASSWORD: \"{env.TENBIN_TEST_SECRET}\" }\n    \
         start: sh -c 'echo \"wrong password $PASSWORD for {port}\" >&2; exit 1'\n",
    );
    let output = with_secret(home.command(&["run", &path])).finish();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_output_hides("tenbin run", &output);
    assert!([&output.stdout[..], &output.stderr].concat().contains("wrong password (secret)"), "{output:?}");
    assert_hidden("the store", &fs::read(home.store()).expect("the store"));
}

#[test]
fn starts_nothing_without_the_environment_variable() {
    let home = Home::new();
    let path = plan(&home, PLAN);
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(2), "{output:?}");
    let error = "error: the environment variable `TENBIN_TEST_SECRET` is not set\n --> ";
    assert!(output.stderr.contains(error), "{output:?}");
    assert!(output.stderr.contains("help: set it: TENBIN_TEST_SECRET=… tenbin run PLAN"), "{output:?}");
    assert!(!home.store().exists());
}
