//! Labels and commits: stored with a run, listed, accepted as names, and removed with it.

use std::process::Command;

use crate::support::{Home, built_in, url};

/// Creates a repository with one commit on the branch `trunk`, in the working directory of the program. Returns the commit.
fn repository(home: &Home) -> String {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.invalid"]).args(arguments);
        home.isolate(&mut command);
        let output = command.output().expect("this test needs git: apt-get install git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    git(&["init", "-q", "-b", "trunk"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["rev-parse", "HEAD"])
}

#[test]
fn label_and_commit_are_listed_and_the_label_is_a_name() {
    let (home, target) = (Home::new(), built_in());
    let commit = repository(&home);
    let url = url(target.address(), "/status");
    for label in [&["--label", "main"][..], &["--label", "main"], &["--label", "other one"], &[]] {
        let output = home.run(&[&[url.as_str(), "-n", "50", "-c", "2"], label].concat());
        assert!(matches!(output.code, Some(0 | 4)), "{output:?}");
    }
    let list = home.history();
    assert_eq!(list.len(), 4);
    assert!(list.iter().all(|run| commit.starts_with(run["commit"].as_str().expect("a commit"))), "{list:?}");
    assert!(list.iter().all(|run| run["branch"] == "trunk"), "{list:?}");
    let labels: Vec<_> = list.iter().map(|run| run["label"].as_str()).collect();
    assert_eq!(labels, [None, Some("other one"), Some("main"), Some("main")], "{list:?}");
    let table = home.run(&["history"]).stdout;
    assert!(
        table.contains("build") && table.contains(&format!("main · {} on trunk", &commit[..12])),
        "{table}"
    );
    assert_eq!(home.json(&["history", "--label", "main"]).as_array().map(Vec::len), Some(2));
    let newest = home.json(&["report", "main"]);
    assert_eq!(newest["run"]["id"], list[2]["id"], "the newer one");
    let compared = home.json(&["compare", "main", "other one"]);
    assert_eq!((&compared["a"]["id"], &compared["b"]["id"]), (&list[2]["id"], &list[1]["id"]), "{compared}");
}

#[test]
fn trend_has_a_series_for_each_plan_and_label() {
    let (home, target) = (Home::new(), built_in());
    let commit = repository(&home);
    let url = url(target.address(), "/hold?mean_us=2000");
    for (label, requests) in [("main", "20"), ("main", "20"), ("main", "10"), ("other", "20")] {
        // A rate that even a busy machine sustains.
        let output = home.run(&[url.as_str(), "-n", requests, "-R", "20/s", "-c", "2", "--label", label]);
        assert!(matches!(output.code, Some(0 | 4 | 6)), "{output:?}");
    }
    let trend = home.json(&["history", "--trend", "--label", "main"]);
    let series = trend.as_array().expect("a list");
    let valid =
        home.history().iter().filter(|run| run["label"] == "main" && run["verdict"] == "complete").count();
    let points = |series: &serde_json::Value| series["points"].as_array().map_or(0, Vec::len);
    assert_eq!(series.iter().map(points).sum::<usize>(), valid, "{trend}");
    assert!(series.iter().all(|series| series["label"] == "main" && points(series) <= 2), "{trend}");
    for point in series.iter().flat_map(|series| series["points"].as_array().expect("points")) {
        assert!(commit.starts_with(point["commit"].as_str().expect("a commit")), "{trend}");
        assert!(point["throughput_per_s"].as_f64().expect("a figure") > 0.0, "{trend}");
    }
    let table = home.run(&["history", "--trend"]).stdout;
    assert!(table.contains("label other") && table.contains("throughput"), "{table}");
}

#[test]
fn study_has_a_label_and_is_removed_with_its_runs() {
    let (home, target) = (Home::new(), built_in());
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, requests: 3 }}\nurl: http://{}\n",
        target.address()
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let study = home.json(&["run", "plan.yaml", "--label", "nightly"]);
    let id = study["study"]["id"].as_str().expect("a name");
    assert_eq!(home.json(&["report", "nightly"])["study"]["id"], id);
    home.json(&[url(target.address(), "/").as_str(), "-n", "5", "-c", "1"]);
    let wrong = home.run(&["history", "rm", "nightly", "no-such-run"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert_eq!(home.json(&["history", "--runs"]).as_array().map(Vec::len), Some(3), "nothing was removed");
    let removed = home.run(&["history", "rm", "nightly"]);
    assert_eq!((removed.code, removed.stdout), (Some(0), format!("removed {id}\n")));
    assert_eq!(home.json(&["history", "--runs"]).as_array().map(Vec::len), Some(1));
    assert_eq!(home.run(&["report", "nightly"]).code, Some(2), "its label is gone, too");
}

#[test]
fn rejects_labels_that_are_long_or_names_of_something_else() {
    let home = Home::new();
    for label in ["", "last", "s-1", "a\tb", &"x".repeat(61)] {
        let output = home.run(&["127.0.0.1:9", "--label", label]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{label:?}: {output:?}");
        assert!(output.stderr.contains("label"), "{output:?}");
    }
}
