//! Reports of stored runs in every format.

use crate::support::own_process::Server;
use crate::support::{Home, assert_identity, built_in, number, url};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// A home with one run, which kept a log of single requests.
fn home_with_a_run() -> Home {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/hold?mean_us=2000");
    let load = ["-R", "200/s", "-d", "1500ms", "-c", "10", "--warm-up", "500ms", "--log-requests", "50"];
    home.json(&[&[url.as_str()][..], &load].concat());
    home
}

fn report(home: &Home, format: &str) -> String {
    let output = home.run(&["report", "last", "--format", format]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{format}: {output:?}");
    output.stdout
}

#[test]
fn writes_every_format_from_the_store() {
    let home = home_with_a_run();
    for (format, beginning) in [
        ("terminal", "GET http://127.0.0.1:"),
        ("json", "{\n  \"schema\": \"tenbin.run/1\""),
        ("md", "#"),
        ("csv", "Label,# Samples,Average,Median,90% Line"),
        ("jtl", "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"),
        ("hlog", "#["),
    ] {
        let text = report(&home, format);
        assert!(text.starts_with(beginning), "{format}: {text}");
        // The Base64 of hlog may contain these letters by chance.
        let has_nan = format != "hlog" && text.contains("NaN");
        assert!(text.ends_with('\n') && !has_nan, "{format}: {text}");
    }
    let default = home.run(&["report"]);
    assert_eq!(default.stdout, report(&home, "terminal"), "the newest run, for reading");
}

#[test]
fn report_of_a_run_is_the_same_at_its_end_and_later() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let output = home.run(&[url.as_str(), "-n", "100", "-c", "2"]);
    assert_eq!(output.stdout, report(&home, "terminal"));
}

#[test]
fn figures_are_the_same_in_all_formats() {
    let home = home_with_a_run();
    let run = home.last();
    assert_identity(&run);
    assert_eq!(number(&run, "offered.sent"), 300);
    let csv = report(&home, "csv");
    let total: Vec<&str> = csv.lines().last().expect("a row").split(',').collect();
    assert_eq!(total[..2], ["TOTAL", "300"]);
    let mean_ms: f64 = total[2].parse().expect("a number");
    let mean_us = run["response_time_us"]["mean"].as_f64().expect("a number");
    assert!((mean_ms * 1_000.0 - mean_us).abs() < 1.0, "{mean_ms} ms, {mean_us} µs");
    let wide = home.run(&["report", "last", "--wide"]).stdout;
    assert!(wide.contains("planned 300 = sent 300 + not sent 0"), "{wide}");
    assert!(!report(&home, "terminal").contains("planned 300"), "that is a detail");
}

#[test]
fn single_load_has_figures_of_cores_generator_and_listener() {
    let home = Home::new();
    let server = Server::start(&home);
    let run = home.json(&[server.url.as_str(), "-R", "200/s", "-d", "1500ms", "-c", "10"]);
    assert!(run["cores"].as_array().is_some_and(|cores| !cores.is_empty()), "{run}");
    assert!(run["generator_cores_used"].as_f64().is_some(), "{run}");
    assert!(run["system"]["threads_peak"].as_f64().is_some_and(|threads| threads > 0.0), "{run}");
    assert!(run["system"]["name"].is_null(), "no plan names it: {run}");
}

#[test]
fn listener_that_started_tenbin_is_not_monitored_and_the_report_has_the_reason() {
    // The target runs in the process of this test.
    let run = home_with_a_run().last();
    assert!(run["system"]["threads_peak"].is_null(), "{run}");
    let missing = run["not_available"].as_array().expect("a list");
    let says_why = |probe: &serde_json::Value| {
        let because = probe["because"].as_str().expect("a text");
        because.ends_with(&format!("(process {}) listens there, and started Tenbin", std::process::id()))
    };
    assert!(missing.iter().any(says_why), "{run}");
}

#[test]
fn request_log_has_up_to_the_given_number_of_requests_per_second() {
    let home = home_with_a_run();
    let jtl = report(&home, "jtl");
    let lines: Vec<&str> = jtl.lines().skip(1).collect();
    // The load takes two seconds, and half of the first is warm-up. Kept are 50 of its 100 measured requests, and 50 of the 200
    // requests of the other second.
    //
    // On a busy machine, the last of the 300 requests end in a third second.
    assert!((50..=150).contains(&lines.len()), "{}", lines.len());
    let run = home.last();
    let started_at = lines[0].split(',').next().expect("a time").parse::<u64>().expect("milliseconds");
    assert!(started_at > 1_700_000_000_000, "{started_at}");
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells.len(), cells[3], cells[7]), (17, "200", "true"), "{line}");
        assert!(cells[1].parse::<u64>().expect("milliseconds") >= 2, "{line}");
    }
    assert_eq!(run["steps"][0]["name"], "GET /hold?mean_us=2000");
}

#[test]
fn rejects_request_log_of_a_run_that_kept_none() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let run = home.json(&[url.as_str(), "-n", "10", "-c", "1"]);
    let id = run["run"]["id"].as_str().expect("a name");
    let output = home.run(&["report", "last", "--format", "jtl"]);
    let expected = format!(
        "error: run {id} kept no single requests\n  help: measure with `--log-requests 1000` to write a JTL file\n"
    );
    assert_eq!((output.code, output.stdout.as_str(), output.stderr), (Some(1), "", expected));
    let before = target.counters().requests;
    let output = home.run(&[url.as_str(), "-n", "10", "--format", "jtl"]);
    let expected = "error: --format jtl: it lists single requests, and none are kept\n  help: add --log-requests 1000\n1 error; nothing was sent\n";
    assert_eq!((output.code, output.stderr.as_str()), (Some(2), expected));
    assert_eq!(target.counters().requests, before, "and it is said before the load");
}

#[test]
fn interval_log_adds_up_to_the_report() {
    let home = home_with_a_run();
    let (log, run) = (report(&home, "hlog"), home.last());
    for (tag, key) in
        [("response", "response_time_us"), ("service", "service_time_us"), ("lateness", "lateness_us")]
    {
        let mut sum: Option<Histogram<u64>> = None;
        for entry in IntervalLogIterator::new(log.as_bytes()) {
            let LogEntry::Interval(interval) = entry.expect("a line") else { continue };
            if interval.tag().map(|tag| tag.as_str()) != Some(tag) {
                continue;
            }
            let packed = STANDARD.decode(interval.encoded_histogram()).expect("Base64");
            let part: Histogram<u64> =
                Deserializer::new().deserialize(&mut packed.as_slice()).expect("a histogram");
            match &mut sum {
                Some(sum) => sum.add(&part).expect("the same bounds"),
                None => sum = Some(part),
            }
        }
        let sum = sum.expect("at least one interval");
        assert_eq!(sum.len(), 300, "{tag}");
        for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95)] {
            let told_us = run[key][name].as_f64().expect("a number");
            let read_us = sum.value_at_quantile(quantile) as f64 / 1_000.0;
            // Both figures have three significant digits.
            assert!(
                (told_us - read_us).abs() <= read_us / 500.0 + 0.01,
                "{tag} {name}: {told_us}, {read_us}"
            );
        }
    }
}

#[test]
fn several_runs_are_shown_side_by_side() {
    let (home, target) = (home_with_a_run(), built_in());
    let url = url(target.address(), "/status");
    home.json(&[url.as_str(), "-n", "2000", "-c", "2"]);
    let port = format!(":{}/", target.address().port());
    let ids: Vec<String> =
        home.history().iter().map(|run| run["id"].as_str().expect("a name").to_owned()).collect();
    // A table may shorten a title, but not to a prefix that both titles have.
    for (format, named) in
        [("terminal", port.as_str()), ("md", &port), ("csv", "GET /status,2000,"), ("json", &ids[0])]
    {
        let output = home.run(&["report", &ids[0], &ids[1], "--format", format]);
        assert_eq!(output.code, Some(0), "{format}: {output:?}");
        assert!(output.stdout.contains(named), "{format}: {output:?}");
    }
    let output = home.run(&["report", &ids[0], &ids[1], "--format", "hlog"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""), "{output:?}");
    // The beginning of a name is enough if only one name has it.
    let output = home.run(&["report", &ids[1][..ids[1].len() - 1]]);
    assert!(output.code == Some(0) || output.stderr.contains("could be"), "{output:?}");
    let output = home.run(&["report", "2"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains(&ids[0]) && output.stderr.contains(&ids[1]), "{output:?}");
}

#[test]
fn history_has_throughput_and_p99_unless_samples_are_too_few() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    for requests in ["2000", "50"] {
        assert_eq!(home.run(&[&url, "-n", requests, "-c", "2"]).code, Some(0));
    }
    let [few, many] = &home.history()[..] else { panic!("{:?}", home.history()) };
    assert!(few["throughput_per_s"].as_f64() > Some(0.0) && few["p99_us"].is_null(), "{few}");
    assert!(many["throughput_per_s"].as_f64() > Some(0.0) && many["p99_us"].as_f64() > Some(0.0), "{many}");
    let table = home.run(&["history"]).stdout;
    let head: Vec<&str> = table.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(head, ["name", "started", "(UTC)", "verdict", "sent", "throughput", "p99", "what"], "{table}");
}

#[test]
fn name_of_a_plan_means_its_newest_study() {
    let (home, target) = (Home::new(), built_in());
    let plan = format!(
        "scenario: [ get: /status ]\nload: {{ users: 2, requests: 100 }}\nurl: http://{}\ncompare: {{ blocks: 2 }}\n",
        target.address()
    );
    for name in ["web.yaml", "web.yaml", "other.yaml"] {
        std::fs::write(home.path().join(name), &plan).expect("written");
        assert_eq!(home.run(&["run", name]).code, Some(0));
    }
    let newest = home.history()[1]["id"].as_str().expect("a name").to_owned();
    for name in ["web", "web.yaml"] {
        let report = home.json(&["report", name]);
        assert_eq!(report["study"]["id"].as_str(), Some(&*newest), "{name}: {}", report["study"]);
    }
    assert_eq!(home.run(&["report", "webb"]).code, Some(2));
}
