//! `tenbin compare`: two stored runs side by side, and errors for names that cannot be compared.

use harness::quiet::assert_measured;

use crate::support::{Home, built_in, url};
use target::Running;

#[test]
fn two_runs_are_shown_side_by_side() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    for _ in 0..2 {
        let output = home.run(&[url.as_str(), "-n", "200", "-c", "2"]);
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    let ids: Vec<String> =
        home.history().iter().map(|run| run["id"].as_str().unwrap_or_default().to_owned()).collect();
    let [newer, older] = &ids[..] else { panic!("{:?}", home.history()) };
    let object = home.json(&["compare", older, newer]);
    assert_eq!((&object["kind"], &object["verdict"]), (&"runs".into(), &"none".into()), "{object}");
    assert_eq!((&object["a"]["id"], &object["b"]["id"]), (&older.as_str().into(), &newer.as_str().into()));
    let text = home.run(&["compare", older, "last"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.contains("B ÷ A") && text.stdout.contains("gives no verdict"), "{text:?}");
    let other = home.run(&[url.as_str(), "-n", "100", "-c", "1"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    let refused = home.run(&["compare", older, "last"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(
        refused.stderr.contains("under different loads") && refused.stderr.contains("help: "),
        "{refused:?}"
    );
    for (arguments, says) in [
        (["compare", older, older], "both names mean"),
        (["compare", older, "s-1"], "only two of a kind"),
        (["compare", "s-1", "s-2"], "s-1"),
        (["compare", "no-such-run", older], "no-such-run"),
    ] {
        let refused = home.run(&arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.stderr.contains(says), "{refused:?}");
    }
    let page = home.run(&["compare", older, newer, "--format", "html", "-o", "page.html"]);
    assert_eq!(page.code, Some(2), "{page:?}");
    assert!(page.stderr.contains("write terminal, json, md, junit or github"), "{page:?}");
}

#[test]
fn empty_file_is_left_alone_and_help_names_the_formats() {
    let home = Home::new();
    let path = home.path().join("other.sqlite");
    std::fs::write(&path, "").expect("written");
    let named = path.to_string_lossy().into_owned();
    let refused = home.run(&["compare", &named, &named]);
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("is not a Tenbin store"), "{refused:?}");
    assert_eq!(std::fs::read(&path).expect("read"), b"");
    let help = home.run(&["compare", "--help"]).stdout;
    assert!(help.contains("terminal, json, md, junit or github") && !help.contains("html"), "{help}");
}

/// Runs a study of four runs on a server with this hold time, in µs.
fn study(home: &Home, target: &Running, label: &str, hold_us: u32, query: &str) {
    let plan = format!(
        "scenario: [ {{ name: page, get: \"/hold?mean_us={hold_us}{query}\" }} ]\nload: {{ users: 2, requests: 60 }}\n\
         url: http://{}\ncompare: {{ blocks: 4 }}\n",
        target.address()
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let output = home.run(&["run", "plan.yaml", "--label", label]);
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[test]
fn condition_of_the_baseline_fails_a_slower_build() {
    assert_measured(|| {
        let (home, target) = (Home::new(), built_in());
        study(&home, &target, "main", 1_000, "");
        study(&home, &target, "slow", 20_000, "");
        assert_eq!(home.run(&["export", "main", "-o", "main.sqlite"]).code, Some(0));
        let compare = |of: [&str; 2], conditions: &str, more: &[&str]| {
            home.run(&[&["compare", of[0], of[1], "--fail-if", conditions], more].concat())
        };
        let failing = "throughput<50% of baseline, errors>+0.1% of baseline, errors>1%, p99>1s";
        let slower = compare(["main.sqlite", "slow"], failing, &[]);
        assert_eq!(slower.code, Some(3), "{slower:?}");
        let first = slower.stdout.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("✗ failed: throughput<50% of baseline: ") && first.contains("% of baseline"),
            "{slower:?}"
        );
        for says in
            ["? undecided: p99>1s", "too few samples", "✓ passed: errors>1%", "A (baseline)", "main", "slow"]
        {
            assert!(slower.stdout.contains(says), "{says}: {slower:?}");
        }
        let object = compare(["main.sqlite", "slow"], failing, &["--format", "json"]);
        let object = (object.code, object.json());
        let verdicts: Vec<_> =
            object.1["fail_if"].as_array().expect("a list").iter().map(|of| of["verdict"].as_str()).collect();
        assert_eq!(
            (object.0, &verdicts[..2]),
            (Some(3), &[Some("failed"), Some("undecided")][..]),
            "{}",
            object.1
        );
        assert_eq!((&object.1["a"]["label"], &object.1["b"]["label"]), (&"main".into(), &"slow".into()));
        let faster = compare(["slow", "main"], "throughput<50% of baseline", &[]);
        assert_eq!(faster.code, Some(0), "{faster:?}");
        assert!(faster.stdout.starts_with("✓ passed"), "{faster:?}");
        let junit = compare(["main", "slow"], failing, &["-o", "tenbin.xml"]);
        assert!(junit.code == Some(3) && junit.stdout.starts_with("✗ failed"), "{junit:?}");
        let xml = std::fs::read_to_string(home.path().join("tenbin.xml")).expect("written");
        assert!(
            xml.contains("failures=\"1\"")
                && xml.contains("skipped")
                && xml.contains("throughput&lt;50% of baseline"),
            "{xml}"
        );
        let github = compare(["main", "slow"], failing, &["--format", "github"]);
        assert!(
            github.stdout.starts_with("::error title=") && github.stdout.contains("2 of 4 checks passed"),
            "{github:?}"
        );
    });
}

#[test]
fn incomparable_runs_do_not_pass_silently() {
    assert_measured(|| {
        let (home, target) = (Home::new(), built_in());
        study(&home, &target, "main", 1_000, "");
        study(&home, &target, "other-path", 1_000, "&dist=exp");
        let failing = ["--fail-if", "throughput<1% of baseline"];
        let said = home.run(&[&["compare", "main", "other-path"], &failing[..]].concat());
        assert!(said.code == Some(0) && said.stdout.contains("A and B are not of the same plan"), "{said:?}");
        let load = format!(
            "url: http://{}\nscenario: [ get: / ]\nload: {{ users: 1, requests: 9 }}\n",
            target.address()
        );
        std::fs::write(home.path().join("plan.yaml"), load).expect("written");
        assert_eq!(home.run(&["run", "plan.yaml", "--label", "other-load"]).code, Some(0));
        for (arguments, code, says) in [
            (&["main", "other-load"][..], 2, "no configuration in common under the same load"),
            (&["main", "no-such-label"], 2, "no-such-label"),
            (&["main", "other-path", "--fail-if", "p99<2 of baseline"], 2, "write a percentage such as 95%"),
            (&["main", "other-path", "--fail-if", "errors>110% of baseline"], 2, "errors +0.1% of baseline"),
            (&["main", "other-path", "--fail-if", "buy: p99>1s"], 2, "no step is named"),
        ] {
            let refused = home.run(&[&["compare"], arguments, &failing].concat());
            assert_eq!(
                (refused.code, refused.stdout.as_str()),
                (Some(code), ""),
                "{arguments:?} {refused:?}"
            );
            assert!(refused.stderr.contains(says), "{refused:?}");
        }
        let url = url(target.address(), "/status");
        for label in ["one", "two"] {
            assert_eq!(home.run(&[url.as_str(), "-n", "200", "-c", "2", "--label", label]).code, Some(0));
        }
        let single = home.run(&[&["compare", "one", "two"], &failing[..]].concat());
        assert_eq!(single.code, Some(0), "{single:?}");
        assert!(
            single.stdout.starts_with("? undecided") && single.stdout.contains("one run each"),
            "{single:?}"
        );
        let junit = home.run(&["compare", "one", "two", "--format", "junit"]);
        assert!(junit.code == Some(2) && junit.stderr.contains("add --fail-if"), "{junit:?}");
    });
}
