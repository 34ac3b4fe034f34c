//! Different requests with equal short bodies in all replies are reported, with a suggestion. Other loads are not.

use crate::support::{Home, answering, server, url};
use serde_json::Value;
use target::scripted::{Scripted, Step};

const DRAWN: &str = "scenario: [ get: \"/item/{id}?token={env.SAME_BODY_TOKEN}\" ]\n";
const DATA: &str = "data: { id: { uniform: 1..100000 } }\n";
const TOKEN: &str = "s3cr3t-token";

/// Notes of a run with 300 requests, made by a plan with this scenario.
fn notes(server: &Scripted, scenario: &str) -> String {
    let home = Home::new();
    let plan = format!(
        "question: Which?\n{scenario}{DATA}load: {{ users: 4, requests: 300 }}\nurl: \"{}\"\n",
        url(server.address(), "")
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let mut command = std::process::Command::new(crate::support::TENBIN);
    home.isolate(&mut command);
    command.env("SAME_BODY_TOKEN", TOKEN).args(["run", "plan.yaml", "--format", "json"]);
    let output = crate::support::Started::spawn(command).finish();
    let json: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    json["runs"][0]["notes"].to_string()
}

fn one_body(body: &str) -> Scripted {
    answering(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

#[test]
fn same_short_body_for_different_requests_is_quoted_with_what_to_expect() {
    let notes = notes(&one_body(&format!("not\u{1b}[31m found {TOKEN}")), DRAWN);
    assert!(notes.contains("different requests, all had the body"), "{notes}");
    assert!(notes.contains("u{1b}[31m found (secret)") && notes.contains("--expect-body"), "{notes}");
    assert!(!notes.contains(TOKEN) && !notes.contains('\u{1b}'), "{notes}");
}

#[test]
fn same_body_is_not_noted_if_expected_or_long_or_for_equal_requests() {
    let expected = "scenario: [ { get: \"/item/{id}\", expect: { body: found } } ]\n";
    let alike = "scenario: [ { get: /item, headers: { X-Id: \"{id}\" } } ]\n";
    let long = "x".repeat(201);
    for (body, scenario) in [("found", expected), ("found", alike), (long.as_str(), DRAWN), ("", DRAWN)] {
        let notes = notes(&one_body(body), scenario);
        assert!(!notes.contains("all had the body"), "{scenario}: {notes}");
    }
    let text = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{body}").into_bytes();
    let alternating = ["one", "two"].into_iter().flat_map(|body| [Step::ReadRequest, Step::Send(text(body))]);
    let alternating = server(vec![Step::Loop(Box::new(target::scripted::Script(alternating.collect())))]);
    let notes = notes(&alternating, DRAWN);
    assert!(!notes.contains("all had the body"), "{notes}");
}
