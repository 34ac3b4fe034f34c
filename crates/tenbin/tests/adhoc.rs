//! Loads on running servers without a plan: comparisons of several URLs, and the capacity of one.

use std::fs;

use servers::{Postgres, PostgresSettings};

use crate::support::{Home, built_in, number, url};

#[test]
fn two_servers_are_compared_in_paired_blocks() {
    let (home, [first, second]) = (Home::new(), [built_in(), built_in()]);
    let (a, b) = (first.address().to_string(), url(second.address(), "/status"));
    let flags =
        ["-d", "0.3", "--warm-up", "0.1", "-c", "2", "--blocks", "2", "--header", "X-Key: s3same-s3cret"];
    let output = home.run(&[&[&format!("{a}/status"), b.as_str(), "--format", "json"][..], &flags].concat());
    assert!(matches!(output.code, Some(0 | 4 | 6)), "{output:?}");
    let study = output.json();
    let runs = study["runs"].as_array().expect("a list");
    let system = |run: &serde_json::Value| run["place"]["system"].as_str().unwrap_or_default().to_owned();
    for name in [first.address().to_string(), second.address().to_string()] {
        let of_it = runs.iter().filter(|run| system(run) == name).count();
        assert_eq!(of_it, 2, "{name}: {study}");
    }
    assert!(first.counters().requests > 0 && second.counters().requests > 0);
    for entry in fs::read_dir(home.path()).expect("a folder") {
        let bytes = fs::read(entry.expect("an entry").path()).unwrap_or_default();
        assert!(!bytes.windows(12).any(|window| window == b"s3same-s3cre"), "a header may be a secret");
    }
}

#[test]
fn two_servers_are_held_to_conditions_and_checks() {
    let (home, [first, second]) = (Home::new(), [built_in(), built_in()]);
    let (a, b) = (url(first.address(), "/status"), url(second.address(), "/status"));
    let flags = ["-n", "5", "--warm-up", "0", "-c", "1", "--blocks", "2", "-H", "X-Key: s3same's3cret"];
    let both = [&[a.as_str(), b.as_str()][..], &flags].concat();
    let checks =
        ["--expect-status", "2xx,404", "--expect-header", "content-length", "--expect-body-regex", "."];
    let breached = home.run(&[&both[..], &checks, &["--slo", "errors<1%, mean<1ns"]].concat());
    assert_eq!(breached.code, Some(3), "{breached:?}");
    let words = breached.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let command = words.split("measure again: tenbin http://127.0.0.1:").nth(1);
    let command = command.unwrap_or_else(|| panic!("{breached:?}"));
    assert!(command.contains("(not shown)") && !breached.stdout.contains("s3cret"), "{breached:?}");
    let rejected = home.run(&[&both[..], &["--expect-body", "no such text {x}"]].concat());
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    assert!(rejected.stderr.contains("the body does not contain \"no such text {x}\""), "{rejected:?}");
    // Two URLs have no plan to correct, and cannot be resumed.
    let all = [rejected.stdout.as_str(), rejected.stderr.as_str()].concat();
    assert!(rejected.stderr.contains("help: correct the URLs") && !all.contains("resume"), "{all}");
}

#[test]
fn rejects_urls_that_cannot_be_compared_before_sending() {
    let (home, target) = (Home::new(), built_in());
    let here = url(target.address(), "/");
    for (arguments, said) in [
        (&[here.as_str(), here.as_str()][..], "both URLs are on"),
        (&[here.as_str(), "127.0.0.1:9/other"], "different paths"),
        (&[here.as_str(), "postgres:///shop"], "one URL is that of an HTTP server"),
        (&["postgres://a@h/x", "postgres://a@h/y"], "nothing to run on the two databases"),
        (&["postgres://a@h/x", "postgres://a@h/x", "-f", "x.sql"], "both URLs name h:5432/x"),
        (
            &["postgres://a@h/x", "postgres://a@h/y", "-H", "A: b"],
            "--header does not work with two databases",
        ),
        (&["postgres://a@h/x", "postgres://a@h/y", "-f", "../x.sql"], "../x.sql is outside"),
        (&[here.as_str(), "127.0.0.1:9", "--body-file", "."], "--body-file: . is not a regular file"),
        (&[here.as_str(), "127.0.0.1:9", "--json", "@."], "--json: . is not a regular file"),
        (
            &[here.as_str(), "127.0.0.1:9", "--workload", "select-only"],
            "--workload does not work with two URLs",
        ),
        (&[here.as_str(), "127.0.0.1:9", "--slo", "p99<1x"], "--slo \"p99<1x\""),
        (&[here.as_str(), "--blocks", "5"], "--blocks: it compares two servers"),
    ] {
        let output = home.run(arguments);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}: {output:?}");
        assert!(
            output.stderr.contains(said) && output.stderr.contains("help: "),
            "{arguments:?}: {output:?}"
        );
    }
    assert_eq!(target.counters().accepted, 0);
}

#[test]
fn three_named_servers_are_compared() {
    let (home, servers) = (Home::new(), [built_in(), built_in(), built_in()]);
    let urls: Vec<String> = ["a", "b", "c"]
        .iter()
        .zip(&servers)
        .map(|(name, server)| format!("{name}={}/status", server.address()))
        .collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let load = ["-n", "5", "--warm-up", "0", "-c", "1", "--blocks", "2", "--format", "json"];
    let study = home.run(&[&urls[..], &load].concat()).json();
    for (name, server) in ["a", "b", "c"].iter().zip(&servers) {
        let runs = study["runs"].as_array().expect("a list");
        assert_eq!(runs.iter().filter(|run| run["place"]["system"] == *name).count(), 2, "{study}");
        assert!(server.counters().requests > 0);
    }
    let same = home.run(&["a=127.0.0.1:9", "a=127.0.0.1:10"]);
    assert!(same.code == Some(2) && same.stderr.contains("two URLs have the name a"), "{same:?}");
}

#[test]
fn body_from_a_file_is_sent_to_both_servers() {
    let (home, [first, second]) = (Home::new(), [built_in(), built_in()]);
    fs::write(home.path().join("order.json"), "{\"item\": \"{x}\"}\n").expect("written");
    let (a, b) = (url(first.address(), "/echo"), url(second.address(), "/echo"));
    let flags = ["--body-file", "order.json", "--expect-body", "{\"item\": \"{x}\"}\n"];
    let load = ["-n", "5", "--warm-up", "0", "-c", "1", "--blocks", "1", "--format", "json"];
    let output = home.run(&[&[a.as_str(), b.as_str()][..], &flags, &load].concat());
    let study = output.json();
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2, "{study}");
    assert!(runs.iter().all(|run| number(run, "outcomes.ok") == 5), "{study}");
}

#[test]
fn two_databases_are_compared_by_scripts() {
    let (home, server) = (Home::new(), Postgres::start(&PostgresSettings::default()).expect("a server"));
    server.sql("CREATE DATABASE other").expect("a database");
    fs::write(home.path().join("one.sql"), "SELECT '{\"a\": 1}', :rows;\n").expect("written");
    fs::write(home.path().join("two.sql"), "\\set n random(1, 10)\nSELECT :n;\n").expect("written");
    let first = server.url(Postgres::USER, None);
    let second = first.strip_suffix(Postgres::DATABASE).expect("its end").to_owned() + "other";
    let scripts = ["-f", "one.sql@3", "-f", "two.sql", "-D", "rows=5", "--query-mode", "prepared"];
    let load = ["-n", "40", "--warm-up", "0", "-c", "2", "--blocks", "2", "--format", "json"];
    let output = home.run(&[&[first.as_str(), second.as_str()][..], &scripts, &load].concat());
    let study = output.json();
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 4, "{study}");
    assert!(runs.iter().all(|run| number(run, "outcomes.ok") == 40), "{study}");
    let steps = &runs[0]["steps"];
    assert_eq!([&steps[0]["name"], &steps[1]["name"]], ["one.sql", "two.sql"], "{study}");
}

#[test]
fn capacity_of_a_url_needs_no_plan() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/hold?mean_us=1000");
    let flags =
        ["--slo", "mean<10s, errors<90%", "--from", "20", "--to", "40/s", "--for", "1", "--warm-up", "0"];
    let quick = ["--quick", "--confirm", "0", "--no-overload", "--format", "json"];
    let output = home.run(&[&["capacity", url.as_str()][..], &flags, &quick].concat());
    assert!(matches!(output.code, Some(0 | 1 | 4)), "{output:?}");
    let report = home.run(&["report", "last"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains(&format!("measure again: tenbin capacity '{url}' --slo")), "{report}");
    let found = &output.json()["capacity"][0];
    assert!(number(found, "runs") >= 1, "{found}");
    let refused = home.run(&["capacity", "plan.yaml", "--slo", "p99<1s", "-c", "5"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--connections is for the URL"), "{refused:?}");
}
