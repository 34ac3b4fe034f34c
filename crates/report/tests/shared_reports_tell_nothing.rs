//! No format of an anonymized report contains anything that it should omit.

use crate::studies::{self, Stored};
use evidence::{NewRun, Run, Study, StudyPlace};
use report::{Anonymizer, FORMATS, Format, LoadRun, Options, ReportError};
use serde_json::json;

const OPTIONS: Options = Options { color: false, width: 200, is_wide: true };
/// Texts that must be in no shared report. Each of them is in some format of the original study.
const TELLING: [&str; 14] = [
    "acme-host-7",
    "corp.example",
    "janedoe",
    "/home",
    "/secrets/",
    "run-the-app",
    "10.9.8.7",
    "plan-comment",
    "customer-cluster",
    "quoted-output",
    // Output of a process, which is reduced to known messages, and an answer of a server.
    "RuntimeError",
    "spawn_thread",
    "503 Service Unavailable",
    "systems: {}",
];

/// A file in a home directory.
fn home_path(file: &str) -> String {
    ["", "home", "janedoe", file].join("/")
}

/// A study with many private texts.
fn telling() -> Stored {
    let mut stored = studies::complete();
    let new = &mut stored.study.new;
    new.host["name"] = json!("acme-host-7.corp.example");
    new.title = "app-servers of janedoe on acme-host-7".to_owned();
    new.source.push_str(&format!("\n# plan-comment\n  start: {}", home_path("app")));
    new.stamps.push(format!("the plan is {}", home_path("plan.yaml")));
    new.planned.iter_mut().for_each(place);
    stored.study.baseline = Some(studies::baseline("build of janedoe on acme-host-7"));
    stored.study.runs.iter_mut().chain(&mut stored.runs).for_each(run);
    stored
}

fn place(place: &mut StudyPlace) {
    if place.variant == "workers=8 threads=1" {
        place.variant = format!("conf={}", home_path("puma.rb"));
        place.knobs = vec![("conf".to_owned(), home_path("puma.rb"))];
    }
}

fn run(run: &mut Run) {
    let NewRun { title, host, plan_json, stamps, system_version, place: of_study, .. } = &mut run.new;
    *title = "http://acme-host-7.corp.example:8080/fibonacci?key=janedoe".to_owned();
    host["name"] = json!("acme-host-7.corp.example");
    *plan_json = json!({ "seed": 7, "steps": [{ "host": "acme-host-7.corp.example:8080" }] });
    stamps.push(format!("certificates of {}", home_path("ca.pem")));
    *system_version = Some("puma 6 on ACME-HOST-7 (10.9.8.7)".to_owned());
    of_study.iter_mut().for_each(|(_, of_study)| place(of_study));
    let ending = run.ending.as_mut().unwrap();
    ending.notes.push("the command `run-the-app --key /x` exited with code 4: /secrets/app.conf".to_owned());
    ending.system = Some(json!({ "cluster": "customer-cluster" }));
    if let Some(failure) = &mut ending.failure {
        failure.what = "`run-the-app` wrote \"quoted-output\", cannot read /secrets/app.conf".to_owned();
    }
}

fn written(format: &Format, study: &Study, load: LoadRun<'_>) -> String {
    let mut out = Vec::new();
    report::write_study(format, study, load, &OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn found(text: &str) -> Vec<&'static str> {
    TELLING.into_iter().filter(|telling| text.contains(telling)).collect()
}

#[test]
fn shared_study_has_no_private_text_in_any_format() {
    let stored = telling();
    let sharing = Anonymizer::of_study(&stored.study);
    let shared = sharing.study(stored.study.clone());
    let mut told = Vec::new();
    for format in FORMATS.iter().filter(|format| !matches!(format.name, "jtl" | "hlog")) {
        told.extend(found(&written(format, &stored.study, &|run| stored.load(run))));
        let text = written(format, &shared, &|run| Ok(sharing.run(stored.load(run)?)));
        assert_eq!(found(&text), [""; 0], "{}", format.name);
        let has_no_words = ["csv", "junit", "github"].contains(&format.name);
        assert!(has_no_words || text.contains("Made for sharing"), "{}", format.name);
        // Annotations only name failures.
        let names_all = format.name != "github";
        assert!(
            !names_all || text.contains("conf=path-"),
            "settings can still be told apart: {}",
            format.name
        );
    }
    let untold: Vec<_> = TELLING.iter().filter(|telling| !told.contains(telling)).collect();
    assert!(untold.is_empty(), "no format tells {untold:?} in the first place");
}

#[test]
fn shared_run_has_no_private_text_in_any_format() {
    let stored = telling();
    let sharing = Anonymizer::of_runs(&stored.runs);
    for run in &stored.runs[..6] {
        let shared = [sharing.run(run.clone())];
        for format in FORMATS {
            let mut out = Vec::new();
            // Some formats have no output for a system that did not start.
            let written = report::write(format, &shared, &OPTIONS, &mut out);
            assert!(matches!(written, Ok(()) | Err(ReportError::NoRequestLog { .. })), "{}", format.name);
            assert_eq!(found(&String::from_utf8(out).unwrap()), [""; 0], "{}", format.name);
        }
    }
}

#[test]
fn shared_study_keeps_figures_and_pairs() {
    let stored = telling();
    let sharing = Anonymizer::of_study(&stored.study);
    let json = report::format("json").unwrap();
    let plain: serde_json::Value =
        serde_json::from_str(&written(json, &stored.study, &|run| stored.load(run))).unwrap();
    let shared = sharing.study(stored.study.clone());
    let load: LoadRun<'_> = &|run| Ok(sharing.run(stored.load(run)?));
    let shared: serde_json::Value = serde_json::from_str(&written(json, &shared, load)).unwrap();
    for key in ["ratio", "low", "high", "verdict", "blocks"] {
        let of = |study: &serde_json::Value| {
            let pairs = study["comparison"]["pairs"].as_array().unwrap();
            pairs.iter().map(|pair| pair[key].clone()).collect::<Vec<_>>()
        };
        assert!(!of(&plain).is_empty());
        assert_eq!(of(&plain), of(&shared), "{key}");
    }
}
