//! Contract of `--format json`: the keys, their order, their types, and figures that add up.

use harness::quiet::assert_measured;

use crate::support::{Home, answering, assert_identity, built_in, number, url};
use serde_json::Value;
use target::Settings;
use target::scripted::{Script, Step};

/// Keys of the contract, in order. Keys may be added after them, and none may be removed.
const RUN: [&str; 16] = [
    "schema",
    "run",
    "verdict",
    "validity",
    "offered",
    "outcomes",
    "throughput_per_s",
    "received_bytes",
    "sent_bytes",
    "response_time_us",
    "service_time_us",
    "lateness_us",
    "steps",
    "errors",
    "generator",
    "system",
];
const INNER: [(&str, &[&str]); 6] = [
    ("run", &["id", "started_at", "duration_s", "warm_up_s", "plan_hash", "tenbin_version", "host"]),
    ("validity", &["verdict", "causes"]),
    ("offered", &["planned", "sent", "not_sent"]),
    ("outcomes", &["ok", "refused", "failed", "timed_out", "unfinished"]),
    ("response_time_us", &TIMES),
    ("generator", &["cpu_user_s", "cpu_sys_s", "rss_peak_bytes", "threads"]),
];
const TIMES: [&str; 9] = ["min", "mean", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"];

fn printed(arguments: &[&str]) -> (String, Value) {
    let home = Home::new();
    let output = home.run(&[arguments, &["--format", "json"]].concat());
    let value = output.json();
    let code = if value["verdict"] == "degraded" { 6 } else { 0 };
    assert_eq!(output.code, Some(code), "{output:?}");
    (output.stdout, value)
}

/// Keys of the object that begins after `opening`, at this depth of indentation, in the order of the text.
fn keys<'a>(text: &'a str, opening: &str, depth: usize) -> Vec<&'a str> {
    let from = text.find(opening).unwrap_or_else(|| panic!("no {opening:?}")) + opening.len();
    let indent = " ".repeat(2 * depth);
    let lines = text[from..].lines().skip(1).take_while(|line| line.starts_with(&indent));
    let names = lines.filter_map(|line| line[indent.len()..].strip_prefix('"')?.split_once("\":"));
    names.map(|(name, _)| name).collect()
}

#[test]
fn keys_of_the_contract_come_first_and_in_order() {
    let target = built_in();
    let (text, _) = printed(&[&url(target.address(), "/status"), "-n", "20", "-c", "2"]);
    assert_eq!(keys(&text, "{", 1)[..RUN.len()], RUN);
    for (name, inner) in INNER {
        assert_eq!(&keys(&text, &format!("\n  \"{name}\": {{"), 2)[..inner.len()], inner, "{name}");
    }
    let step = keys(&text, "\n    {\n      \"name\"", 3);
    let same: Vec<&str> = RUN[4..12].iter().chain(&["errors"]).copied().collect();
    assert_eq!(step.iter().filter(|key| same.contains(key)).copied().collect::<Vec<_>>(), same, "{step:?}");
}

#[test]
fn values_have_the_types_of_the_contract() {
    assert_measured(|| {
        let target = built_in();
        let (text, run) = printed(&[&url(target.address(), "/status"), "-n", "2000", "-c", "4"]);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert_eq!((&run["schema"], &run["verdict"]), (&"tenbin.run/1".into(), &"complete".into()));
        assert!(["valid", "suspect"].contains(&run["validity"]["verdict"].as_str().expect("a word")));
        assert!(run["validity"]["causes"].is_array());
        for key in ["id", "started_at", "plan_hash", "tenbin_version"] {
            assert!(run["run"][key].is_string(), "{key}");
        }
        let started_at = run["run"]["started_at"].as_str().expect("a time");
        assert!(started_at.len() == 24 && started_at.ends_with('Z'), "{started_at}");
        assert!(run["run"]["duration_s"].is_number() && run["run"]["warm_up_s"].is_number());
        assert!(run["run"]["host"].is_object());
        for key in ["throughput_per_s", "received_bytes", "sent_bytes"] {
            assert!(run[key].as_f64().expect("a number") > 0.0, "{key}");
        }
        for key in ["response_time_us", "service_time_us", "lateness_us"] {
            let figures = TIMES.map(|name| run[key][name].as_f64());
            let [min, mean, p50, p90, p95, p99, p99_9, p99_99, max] = figures;
            // 0.1 % of 2,000 are two samples above p99.9, and ten are needed.
            assert_eq!((p99_9, p99_99), (None, None), "{key}");
            let known: Vec<f64> =
                [min, p50, p90, p95, p99, max].into_iter().map(|time| time.expect(key)).collect();
            assert!(known.is_sorted(), "{key}: {known:?}");
            assert!(mean >= min && mean <= max, "{key}");
        }
        assert_eq!(run["steps"].as_array().expect("a list").len(), 1);
        assert_eq!(run["steps"][0]["name"], "GET /status");
        assert_eq!(run["errors"], Value::Array(Vec::new()));
        assert!(run["system"].is_null());
        assert!(number(&run, "generator.rss_peak_bytes") > 0 && number(&run, "generator.threads") > 0);
        assert_identity(&run);
    });
}

#[test]
fn percentile_of_too_few_samples_is_null() {
    let target = built_in();
    let (_, run) = printed(&[&url(target.address(), "/status"), "-n", "5", "-c", "1"]);
    for key in ["response_time_us", "service_time_us", "lateness_us"] {
        for name in TIMES {
            let is_known = ["min", "mean", "max"].contains(&name);
            assert_eq!(run[key][name].is_number(), is_known, "{key}.{name} is {}", run[key][name]);
        }
    }
    let (_, run) = printed(&[&url(target.address(), "/status"), "-n", "20", "-c", "1"]);
    assert!(run["response_time_us"]["p50"].is_number() && run["response_time_us"]["p90"].is_null());
}

#[test]
fn figures_add_up_with_every_kind_of_error() {
    // Cycles through an ok reply, a rejection, a reset, silence, and an invalid reply.
    let server = target::scripted::start(|number| {
        let last = match number % 5 {
            0 => Step::Send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()),
            1 => Step::Send(b"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()),
            2 => Step::Reset,
            3 => Step::HoldOpen,
            _ => Step::Send(b"nonsense\r\n\r\n".to_vec()),
        };
        Script(vec![Step::ReadRequest, last])
    });
    let server = server.expect("a server");
    let (_, run) = printed(&[
        &url(server.address(), "/"),
        "-c",
        "5",
        "-n",
        "50",
        "--timeout",
        "200ms",
        "--no-keepalive",
    ]);
    assert_identity(&run);
    assert_eq!(number(&run, "offered.sent"), 50);
    assert_eq!(run["outcomes"]["refused"], run["outcomes"]["rejected"], "the old key stays");
    for outcome in ["ok", "rejected", "failed", "timed_out"] {
        assert!(number(&run, &format!("outcomes.{outcome}")) >= 5, "{outcome}: {}", run["outcomes"]);
    }
    let errors = run["errors"].as_array().expect("a list");
    let counted: u64 = errors.iter().map(|error| number(error, "count")).sum();
    assert_eq!(counted, 50 - number(&run, "outcomes.ok"), "{errors:?}");
    for error in errors {
        assert!(error["class"].is_string() && error["message"].is_string(), "{error}");
    }
    assert_eq!(run["steps"][0]["outcomes"], run["outcomes"]);
}

#[test]
fn open_load_reports_requests_not_sent() {
    let settings = Settings { threads: 1, ..Settings::default() };
    let target = target::start(settings).expect("a target");
    let home = Home::new();
    let url = url(target.address(), "/hold?mean_us=100000");
    let arguments = ["-R", "100", "-d", "1s", "-c", "2", "--shed-after", "50ms", "--format", "json"];
    let output = home.run(&[&[url.as_str()][..], &arguments].concat());
    let run = output.json();
    assert_eq!(output.code, Some(4), "an invalid run has its own code: {output:?}");
    assert_identity(&run);
    assert_eq!(number(&run, "offered.planned"), 100);
    assert!(number(&run, "offered.not_sent") >= 50);
    assert_eq!((&run["verdict"], &run["validity"]["verdict"]), (&"invalid".into(), &"invalid".into()));
    assert!(run["validity"]["causes"].to_string().contains("not_sent"), "{}", run["validity"]);
    assert_eq!(target.counters().requests, number(&run, "offered.sent"));
}

#[test]
fn several_runs_have_the_format_of_a_study() {
    let (home, server) = (Home::new(), answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    let url = url(server.address(), "/");
    let ids = [(); 2].map(|()| {
        let run = home.json(&[url.as_str(), "-n", "3", "-c", "1"]);
        run["run"]["id"].as_str().expect("a name").to_owned()
    });
    let study = home.json(&["report", &ids[0], &ids[1]]);
    assert_eq!(study["schema"], "tenbin.study/1");
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.iter().map(|run| run["run"]["id"].clone()).collect::<Vec<_>>(), ids);
    assert!(runs.iter().all(|run| run["schema"] == "tenbin.run/1"));
}
