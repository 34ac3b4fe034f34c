//! Loads from external load generators: their figures are stored, missing ones are absent, and no process remains.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{Home, number, systems::assert_nothing_is_left};

/// Writes an executable with the name `wrk`, which runs this script instead of wrk. Returns its path.
fn program(home: &Home, folder: &str, script: &str) -> String {
    let folder = home.path().join(folder);
    fs::create_dir(&folder).expect("a folder");
    let path = folder.join("wrk");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may be run");
    path.to_string_lossy().into_owned()
}

#[test]
fn stores_reported_figures_and_omits_missing_ones() {
    let home = Home::new();
    let recorded = include_str!("../../loadtools/src/recorded/wrk-latency.txt");
    let text = home.path().join("printed");
    fs::write(&text, recorded).expect("written");
    // The script leaves a process behind, and prints a megabyte before its report.
    let good = program(
        &home,
        "good",
        &format!(
            "setsid sleep 60 &\nyes noise | head -c 1000000\necho \"$@\" >> calls\ncat {}",
            text.display()
        ),
    );
    let bad = program(&home, "bad", "echo cannot do it; exit 3");
    let noise = program(&home, "noise", "printf '\\033[31m\\377 and nothing else'");
    let all_rejected = home.path().join("rejected.txt");
    fs::write(&all_rejected, include_str!("../../loadtools/src/recorded/wrk-rejected.txt")).expect("written");
    let rejected = program(&home, "rejected", &format!("cat {}", all_rejected.display()));
    let path = home.path().join("plan.yaml");
    let load = |name: &str, program: &str| {
        format!(
            "  - {{ name: {name}, tool: \"{program} -c{{users}} -d{{for}} {{url}}/\", users: 3, warm-up: 1s, for: 2s }}\n"
        )
    };
    let plan = format!(
        "load:\n{}{}{}{}systems:\n  target:\n    start: '{{tenbin}} target --listen 127.0.0.1:{{port}}'\n",
        load("good", &good),
        load("bad", &bad),
        load("noise", &noise),
        load("rejected", &rejected)
    );
    fs::write(&path, plan).expect("written");
    let study = home.run(&["run", &*path.to_string_lossy(), "--format", "json"]).json();
    let run = |load: &str| -> &Value {
        let mut runs = study["runs"].as_array().expect("a list").iter();
        runs.find(|run| run["place"]["load"] == load).unwrap_or_else(|| panic!("{load}: {study}"))
    };

    let good = run("good");
    assert_eq!((number(good, "outcomes.ok"), number(good, "offered.sent")), (125_316, 125_316), "{good}");
    assert!((good["throughput_per_s"].as_f64().expect("a rate") - 59_676.22).abs() < 1.0, "{good}");
    assert_eq!(good["response_time_us"]["p99"], 2_780.0, "{good}");
    for absent in [
        &good["response_time_us"]["p95"],
        &good["response_time_us"]["min"],
        &good["lateness_us"]["p50"],
        &good["offered"]["not_sent"],
        &good["outcomes"]["unfinished"],
        &good["sent_bytes"],
        &good["connections"],
        &good["warm_up"],
        &good["generator"]["threads"],
        &good["generator"]["heartbeat_max_us"],
        &good["outage"],
        &good["steadiness"],
        &good["window"]["backlog_end"],
    ] {
        assert!(absent.is_null(), "{absent}: {good}");
    }
    assert_eq!((&good["verdict"], &good["validity"]["verdict"]), (&"complete".into(), &"suspect".into()));
    assert_eq!(good["validity"]["causes"][0]["code"], "no_send_delay", "{good}");
    assert_eq!(good["generator"]["tool"]["name"], "wrk", "{good}");
    assert!(number(good, "generator.rss_peak_bytes") > 0, "{good}");
    let calls = fs::read_to_string(home.path().join("calls")).expect("it was called");
    let calls: Vec<Vec<&str>> = calls.lines().map(|call| call.split(' ').take(2).collect()).collect();
    assert_eq!(calls, [["-c3", "-d1s"], ["-c3", "-d2s"]], "the warm-up comes first");

    for (load, words) in
        [("bad", "wrk exited with code 3: cannot do it"), ("noise", "the output of wrk cannot be read")]
    {
        let run = run(load);
        assert_eq!(run["verdict"], "invalid", "{run}");
        let sentence = run["validity"]["causes"][0]["sentence"].as_str().expect("a sentence");
        assert!(sentence.contains(words), "{sentence}");
        assert!(run["throughput_per_s"].is_null() && run["response_time_us"]["p50"].is_null(), "{run}");
    }
    let rejected = run("rejected");
    assert_eq!((&rejected["verdict"], number(rejected, "outcomes.rejected")), (&"complete".into(), 54_523));
    assert_eq!((number(rejected, "outcomes.ok"), &rejected["errors"][0]["class"]), (0, &"status".into()));
    let answers = study["comparison"]["answers"].as_array().expect("a list");
    let loads: Vec<&str> = answers.iter().filter_map(|answer| answer["load"].as_str()).collect();
    assert_eq!(loads, ["good", "bad", "noise", "rejected"], "in the order of the plan");
    let shown = home.run(&["report", "last", "--wide"]).stdout;
    assert!(
        !shown.contains('\u{1b}') && shown.contains("wrk makes the load: times are as it reports them"),
        "{shown}"
    );
    assert_nothing_is_left(&home);
}
