//! `--slo` on a single load: the exit code, and the message that names the failed condition.

use crate::support::{Home, built_in, number, url};

#[test]
fn failed_condition_is_named_and_exits_with_3() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/hold?mean_us=20000");
    // With a hold time of 20 ms, the mean cannot be below 1 ms, even on a busy machine.
    let arguments = [url.as_str(), "-n", "200", "-c", "4", "--slo", "errors<50%, mean<1ms"];
    let output = home.run(&arguments);
    let run = home.last();
    if run["verdict"] == "invalid" {
        assert_eq!(output.code, Some(4), "{output:?}");
    } else {
        assert_eq!(output.code, Some(3), "{output:?}");
    }
    let failed = output.stdout.lines().find(|line| line.contains("mean<1ms")).expect("it is said");
    assert!(failed.contains("ms") && output.stdout.contains("200 requests"), "{failed}");
    assert!(!failed.contains("errors<50%"), "{failed}");
    let gates = run["gates"].as_array().expect("a list");
    assert_eq!(gates.len(), 2, "{run}");
}

#[test]
fn passed_conditions_do_not_change_the_exit_code() {
    let (home, target) = (Home::new(), built_in());
    let output = home.run(&[
        url(target.address(), "/").as_str(),
        "-n",
        "50",
        "-c",
        "2",
        "--slo",
        "errors<50%",
        "--slo",
        "mean<50s",
    ]);
    assert!(matches!(output.code, Some(0 | 4)), "{output:?}");
    assert_eq!(number(&home.last(), "outcomes.ok"), 50);
}

#[test]
fn few_requests_decide_a_percentile_or_say_how_many_would() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/");
    let load = |requests: &str| home.run(&[&url, "-n", requests, "-c", "4", "--slo", "p99<30s"]);
    // 0.99^400 is 1.8 %.
    let enough = load("400");
    assert_eq!(enough.code, Some(0), "{enough:?}");
    assert!(enough.stdout.contains("p99<30s held"), "{enough:?}");
    let few = load("50");
    assert_eq!(few.code, Some(3), "{few:?}");
    assert!(few.stdout.contains("Gate undecided: p99<30s") && few.stdout.contains("about 370"), "{few:?}");
    let gate = &home.last()["gates"][0];
    assert_eq!((&gate["decision"], &gate["samples_needed"]), (&"undecided".into(), &368.into()), "{gate}");
}

#[test]
fn rejects_unreadable_condition_before_sending() {
    let (home, target) = (Home::new(), built_in());
    let output = home.run(&[url(target.address(), "/").as_str(), "--slo", "p99<200"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("--slo") && output.stderr.contains("nothing was sent"), "{output:?}");
    assert_eq!(target.counters().accepted, 0);
}

#[test]
fn github_job_gets_annotations_and_a_summary() {
    let (home, target) = (Home::new(), built_in());
    let summary = home.path().join("summary.md");
    std::fs::write(&summary, "before\n").expect("written");
    let url = url(target.address(), "/hold?mean_us=20000");
    let mut command = home.command(&[&url, "-n", "50", "-c", "2", "--slo", "mean<1ms", "--format", "github"]);
    command.env("GITHUB_STEP_SUMMARY", &summary);
    let output = crate::support::Started::spawn(command).finish();
    assert!(matches!(output.code, Some(3 | 4)), "{output:?}");
    assert!(output.stdout.contains("::error title="), "{output:?}");
    let text = std::fs::read_to_string(&summary).expect("a file");
    assert!(text.starts_with("before\n") && text.contains("mean") && text.contains('|'), "{text}");
    let other = home.run(&["report", "--format", "md"]);
    assert!(text.contains(other.stdout.lines().next().expect("a line")), "{text}");
}
