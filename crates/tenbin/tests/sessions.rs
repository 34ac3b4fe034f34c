//! A site with sessions, built with a web framework: log-ins, cookies, tokens, redirects, compressed pages, and a secret that is
//! shown nowhere.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::secrets::{arguments_meanwhile, files_below};
use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, Started};

/// Secret with words that occur in no other place.
const SECRET: &str = "0pen-sesame/ünd?all";
const TELLING: [&str; 4] = ["0pen-sesame", "ünd?all", "%C3%BCnd", "MHBlbi1z"];

/// Copies the project's plan for sessions and its folder, with only the first of its two systems and a shorter quick form. Returns
/// the path.
fn copied(home: &Home) -> String {
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let folder = home.path().join("sessions");
    fs::create_dir(&folder).expect("a folder");
    for name in ["app.rb", "config.ru"] {
        fs::copy(plans.join("sessions").join(name), folder.join(name)).expect("a copy");
    }
    let text = fs::read_to_string(plans.join("sessions.yaml")).expect("the plan");
    let (before, others) = text.split_once("\n  rails:").expect("a second system");
    let (_, compare) = others.split_once("\ncompare: ").expect("a comparison");
    let (compare, _) = compare.split_once("\nquick: ").expect("a quick study");
    let path = home.path().join("sessions.yaml");
    fs::write(&path, format!("{before}\ncompare: {compare}\nquick: {{ warm-up: 1s, for: 1s, blocks: 1 }}\n"))
        .expect("written");
    path.to_string_lossy().into_owned()
}

#[track_caller]
fn assert_hidden(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for telling in TELLING {
        let found = text.find(telling).map(|at| text[at..].chars().take(80).collect::<String>());
        assert_eq!(found, None, "{what} shows the secret");
    }
}

#[test]
fn users_of_a_real_site_log_in_once_and_no_result_shows_their_password() {
    let home = Home::new();
    let path = copied(&home);
    let mut command = home.command(&["run", &path, "--quick", "--format", "json"]);
    command.env("SHOP_PASSWORD", SECRET);
    let looking = thread::spawn(|| arguments_meanwhile(std::time::Instant::now() + Duration::from_secs(4)));
    let output = Started::spawn(command).finish();
    assert_hidden("the list of processes", &looking.join().expect("no panic"));
    assert_hidden("stdout", output.stdout.as_bytes());
    assert_hidden("stderr", output.stderr.as_bytes());
    let runs = output.json()["runs"].as_array().expect("runs").clone();
    assert_eq!(runs.len(), 2, "{output:?}");
    for run in &runs {
        let count = |step: &str, what: &str| {
            let steps = run["steps"].as_array().expect("steps");
            let found = steps.iter().find(|one| one["name"] == step);
            found.unwrap_or_else(|| panic!("no step {step}: {run}"))["outcomes"][what].as_u64()
        };
        for step in ["list", "order", "look"] {
            assert!(count(step, "ok") > Some(0), "{step}: {run}");
        }
        for outcome in ["rejected", "failed", "timed_out"] {
            assert_eq!(run["outcomes"][outcome], 0, "{outcome}: {run}");
        }
        assert_eq!(run["failure"], serde_json::Value::Null, "{run}");
        assert!(!run["notes"].to_string().contains("teardown"), "{run}");
    }
    for format in ["terminal", "html", "md", "json", "csv"] {
        let report = home.run(&["report", "last", "--wide", "--format", format]);
        assert_hidden(format, report.stdout.as_bytes());
    }
    let written = files_below(home.path());
    assert!(written.iter().any(|file| *file == home.store()), "{written:?}");
    for file in written {
        assert_hidden(&file.to_string_lossy(), &fs::read(&file).expect("it can be read"));
    }
    assert_nothing_is_left(&home);
}

/// Plan for the built-in target, which answers a POST of /echo with its body.
fn of_target(home: &Home, setup: &str, teardown: &str) -> String {
    let path = home.path().join("plan.yaml");
    let text = format!(
        "setup:\n  - {setup}\nteardown:\n  - {teardown}\n\
         scenario: [ {{ name: echo, post: /echo, body: \"<{{user}}>\", expect: {{ body: \"<7>\" }} }} ]\n\
         load: {{ users: 2, for: 600ms }}\n\
         systems: {{ app: {{ start: \"{{tenbin}} target --listen 127.0.0.1:{{port}}\" }} }}\ncompare: no\n"
    );
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

const SETUP: &str =
    "{ name: make, post: /echo, json: { id: [ 5, 7 ] }, save: { user: { json: \"$.id[-1]\" } } }";

#[test]
fn users_get_variables_of_the_setup_and_a_failed_teardown_is_noted() {
    let home = Home::new();
    let path = of_target(&home, SETUP, "{ name: gone, get: \"/no-such-{user}\" }");
    let output = home.run(&["run", &path, "--format", "json"]);
    let run = &output.json()["runs"][0];
    assert!(run["outcomes"]["ok"].as_u64() > Some(10), "{run}");
    assert_eq!(run["outcomes"]["rejected"], 0, "{run}");
    assert_eq!(run["steps"].as_array().map(Vec::len), Some(1), "the setup is not counted: {run}");
    let notes = run["notes"].to_string();
    assert!(notes.contains("step \\\"gone\\\" of teardown: status 404, expected 200"), "{notes}");
}

#[test]
fn failed_setup_ends_the_run_and_shows_the_reply() {
    let home = Home::new();
    let path = of_target(&home, &SETUP.replace("json: \"$.id[-1]\"", "json: $.id"), "{ get: \"/{user}\" }");
    let output = home.run(&["run", &path]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let told = [&output.stdout[..], &output.stderr].concat();
    assert!(told.contains("step \"make\" of setup: the value of \"$.id\" is neither text"), "{told}");
    assert!(told.contains("the body begins with"), "{told}");
}
