//! A stored baseline in a plan and on the command line: the first study has none, the same build passes, and a slower one fails.

use std::fs;

use harness::quiet::assert_measured;
use target::Running;

use crate::support::{Home, built_in, url};

/// Writes a plan on a server with this hold time, in µs, and number of users. Its gates refer to a baseline.
fn write_plan(home: &Home, target: &Running, name: &str, (hold_us, users): (u32, u32), compare: &str) {
    let plan = format!(
        "scenario: [ {{ name: page, get: \"/hold?mean_us={hold_us}\" }} ]\nload: {{ users: {users}, requests: 60 }}\n\
         url: http://{}\ncompare: {compare}\ngates: [ throughput >= 60% of baseline, errors <= +1% of baseline, errors = 0 ]\n",
        target.address()
    );
    fs::write(home.path().join(name), plan).expect("written");
}

const LABEL: &str = "{ baseline: { label: main }, blocks: 4 }";

#[test]
fn first_study_of_a_label_has_no_baseline_and_the_next_is_compared_with_it() {
    assert_measured(|| {
        let (home, target) = (Home::new(), built_in());
        write_plan(&home, &target, "plan.yaml", (2_000, 2), LABEL);
        let check = home.run(&["check", "plan.yaml"]);
        assert!(check.stdout.contains("no stored study of plan has the label main yet"), "{check:?}");
        let first = home.run(&["run", "plan.yaml", "--label", "main"]);
        assert_eq!(first.code, Some(0), "{first:?}");
        assert!(
            first.stderr.contains("warning: no stored study of plan has the label main yet"),
            "{first:?}"
        );
        assert!(first.stdout.contains("? not judged: throughput >= 60% of baseline"), "{first:?}");
        let check = home.run(&["check", "plan.yaml"]);
        assert!(check.stdout.contains("(main, ") && check.stdout.contains("not paired"), "{check:?}");

        let same = home.run(&["run", "plan.yaml", "--label", "main"]);
        assert_eq!(same.code, Some(0), "{same:?}");
        assert!(same.stdout.contains("✓ throughput >= 60% of baseline: held: "), "{same:?}");
        assert!(
            same.stdout.contains("4 and 4 runs") && same.stdout.contains("measured at another time"),
            "{same:?}"
        );

        write_plan(&home, &target, "plan.yaml", (20_000, 2), LABEL);
        let slower = home.run(&["run", "plan.yaml", "--label", "slow"]);
        assert_eq!(slower.code, Some(3), "{slower:?}");
        assert!(slower.stdout.contains("Gate failed: throughput >= 60% of baseline: "), "{slower:?}");
        assert!(
            slower.stdout.contains("% interval") && slower.stdout.contains(" requests; why"),
            "{slower:?}"
        );

        // Reports are made from the study alone.
        let object = home.json(&["report", "slow"]);
        assert_eq!(object["baseline"]["label"], "main", "{}", object["baseline"]);
        let verdicts: Vec<_> = object["gates_of_baseline"]
            .as_array()
            .expect("gates")
            .iter()
            .map(|gate| &gate["verdict"])
            .collect();
        assert_eq!(verdicts, ["failed", "passed"]);
        assert_eq!(home.run(&["export", "slow", "-o", "slow.sqlite"]).code, Some(0));
        let alone = Home::new();
        let exported = home.path().join("slow.sqlite").to_string_lossy().into_owned();
        for (format, says) in [
            ("terminal", "Gate failed: "),
            ("md", "Gate failed: "),
            ("junit", "<failure"),
            ("github", "::error "),
            ("json", "\"gates_of_baseline\""),
        ] {
            let report = alone.run(&["report", &exported, "--format", format]);
            let is_told = report.stdout.contains(says);
            let names = ["60% of baseline", "60%25 of baseline"];
            let is_named = names.iter().any(|name| report.stdout.contains(name));
            assert!(report.code == Some(0) && is_told && is_named, "{format}: {report:?}");
        }
    });
}

#[test]
fn rejects_unusable_baseline_before_anything_starts() {
    let (home, target) = (Home::new(), built_in());
    write_plan(&home, &target, "plan.yaml", (1_000, 2), "{ blocks: 4 }");
    let plan = fs::read_to_string(home.path().join("plan.yaml")).expect("read");
    let without = plan.replace("throughput >= 60% of baseline, errors <= +1% of baseline, ", "");
    fs::write(home.path().join("plan.yaml"), without).expect("written");
    assert_eq!(home.run(&["run", "plan.yaml", "--label", "other"]).code, Some(0));
    assert_eq!(home.run(&["export", "other", "-o", "other.sqlite"]).code, Some(0));
    let whole = fs::read(home.path().join("other.sqlite")).expect("read");
    fs::write(home.path().join("cut.sqlite"), &whole[..whole.len() / 2]).expect("written");
    fs::write(home.path().join("text.sqlite"), "no store").expect("written");
    fs::write(home.path().join("empty.sqlite"), "").expect("written");
    let studies = home.json(&["history"]).as_array().map_or(0, Vec::len);
    for (baseline, code, says) in [
        ("{ file: other.sqlite }", 2, "measured nothing of the same: it has "),
        ("{ file: nowhere.sqlite }", 2, "is no file"),
        ("{ file: cut.sqlite }", 5, "cut.sqlite"),
        ("{ file: text.sqlite }", 5, "is not a Tenbin store"),
        ("{ file: empty.sqlite }", 5, "is not a Tenbin store"),
        ("{ run: s-20200101 }", 2, "s-20200101"),
        ("{ run: other, label: main }", 2, "requires one of"),
        ("nobody", 2, "unknown baseline"),
    ] {
        let compare = format!("{{ baseline: {baseline}, blocks: 6 }}");
        write_plan(&home, &target, "other.yaml", (1_000, 3), &compare);
        for command in ["run", "check"] {
            let refused = home.run(&[command, "other.yaml"]);
            assert_eq!(refused.code, Some(code), "{baseline}: {refused:?}");
            assert!(refused.stderr.contains(says), "{baseline}: {refused:?}");
        }
    }
    assert_eq!(home.json(&["history"]).as_array().map_or(0, Vec::len), studies, "nothing was started");
    // A study of another load is no baseline of a label, either.
    write_plan(&home, &target, "plan.yaml", (1_000, 3), "{ baseline: { label: other }, blocks: 4 }");
    let check = home.run(&["check", "plan.yaml"]);
    assert!(check.code == Some(0) && check.stdout.contains("2 users, closed"), "{check:?}");
}

#[test]
fn run_is_compared_with_a_label_a_file_or_a_run_by_the_estimate() {
    assert_measured(|| {
        let (home, target) = (Home::new(), built_in());
        let load = |hold_us: u32, more: &[&str]| {
            let url = url(target.address(), &format!("/hold?mean_us={hold_us}"));
            home.run(&[&[url.as_str(), "-c", "2", "-n", "60", "-H", "X-Build: 1"], more].concat())
        };
        let slo = ["--slo", "throughput>=50% of baseline, errors<=+1% of baseline"];
        let missing = load(2_000, &slo);
        assert_eq!(missing.code, Some(2), "{missing:?}");
        assert!(missing.stderr.contains("add --baseline"), "{missing:?}");
        let first = load(2_000, &[&slo[..], &["--baseline", "main", "--label", "main"]].concat());
        assert_eq!(first.code, Some(0), "{first:?}");
        assert!(first.stdout.contains("no stored run has the label main yet"), "{first:?}");
        let same = load(2_000, &[&slo[..], &["--baseline", "main"]].concat());
        assert_eq!(same.code, Some(0), "{same:?}");
        assert!(same.stdout.contains("of baseline, 1 and 1 run"), "{same:?}");
        assert_eq!(home.run(&["export", "main", "-o", "main.sqlite"]).code, Some(0));
        for baseline in ["main.sqlite", "last"] {
            let compared = load(2_000, &[&slo[..], &["--baseline", baseline]].concat());
            assert_eq!(compared.code, Some(0), "{compared:?}");
        }
        // A stored run may be on another path: the comparison is made, and says so.
        let slower = load(20_000, &[&slo[..], &["--baseline", "main.sqlite"]].concat());
        assert_eq!(slower.code, Some(3), "{slower:?}");
        assert!(slower.stdout.contains("Gate failed: throughput>=50% of baseline: "), "{slower:?}");
        for baseline in ["nowhere.sqlite", "s-20200101", "20200101-000000-abcd"] {
            let refused = load(2_000, &[&slo[..], &["--baseline", baseline]].concat());
            assert_eq!(refused.code, Some(2), "{refused:?}");
        }
        let of_two = load(2_000, &["--slo", "p99<1s", "--baseline", "main"]);
        assert!(
            of_two.code == Some(2) && of_two.stderr.contains("no condition compares with it"),
            "{of_two:?}"
        );
    });
}

#[test]
fn first_of_two_servers_is_the_baseline() {
    assert_measured(|| {
        let (home, targets) = (Home::new(), [built_in(), built_in()]);
        let [first, second] = targets.each_ref().map(|target| url(target.address(), "/hold?mean_us=2000"));
        let load = ["-c", "2", "-n", "40", "--blocks", "6"];
        let slo = ["--slo", "throughput>=30% of baseline"];
        let same = home.run(&[&[&*first, &*second], &load[..], &slo].concat());
        assert_eq!(same.code, Some(0), "{same:?}");
        assert!(same.stdout.contains("✓ throughput>=30% of baseline: held for "), "{same:?}");
        assert!(same.stdout.contains(" 6 blocks"), "paired: {same:?}");
    });
}
