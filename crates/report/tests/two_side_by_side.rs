//! Comparisons of two runs and of two studies: ratios, verdicts, and what cannot be compared.

use crate::runs;
#[allow(unused_imports, reason = "every test takes what it needs")]
use crate::studies::{self, Stored};
use report::{Compared, Options, ReportError, format};
use serde_json::{Value, json};

const OPTIONS: Options = Options { color: false, width: 120, is_wide: true };

fn written(compared: &Compared, name: &str) -> String {
    let mut out = Vec::new();
    compared.write(format(name).unwrap(), &OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn compared(first: &Stored, second: &Stored) -> Result<Compared, ReportError> {
    Compared::of_studies(
        &first.study,
        &second.study,
        &|run| first.load(run).or_else(|_| second.load(run)),
        &[],
    )
}

fn why(compared: Result<Compared, ReportError>) -> String {
    let Err(error @ ReportError::NotComparable { .. }) = compared.map(|_| ()) else {
        panic!("they cannot be compared")
    };
    error.to_string()
}

#[test]
fn study_compared_with_itself_has_no_difference() {
    let (a, b) = (studies::complete(), studies::complete());
    let compared = compared(&a, &b).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    assert_eq!((&object["schema"], &object["kind"]), (&"tenbin.compare/1".into(), &"studies".into()));
    assert_eq!(object["is_paired"], false);
    let rows = object["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_ne!(row["verdict"], "differs", "{row}");
        if row["a"]["runs"].as_u64().unwrap() >= 4 {
            assert!(
                (row["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9 && row["verdict"] == "equivalent",
                "{row}"
            );
        } else {
            assert!(row["verdict"] == "none" && row["reason"].is_string(), "{row}");
        }
    }
    let text = written(&compared, "terminal");
    assert!(
        text.contains("measured at different times") && text.contains("◉") && text.contains("B ÷ A"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 220), "{text}");
    assert!(written(&compared, "md").contains("| puma workers=8 threads=1 |"));
}

#[test]
fn rejects_sides_without_common_metric_or_load() {
    let metric = why(compared(&studies::complete(), &studies::two_loads()));
    assert!(metric.contains("same metric (throughput; p90)") && metric.contains("help:"), "{metric}");
    let mut other = studies::complete();
    other.study.new.compare.higher_is_better = false;
    assert!(why(compared(&studies::complete(), &other)).contains("same metric"));
    let mut searched = studies::complete();
    searched.study.new.compare.procedure = evidence::Procedure::Capacity(evidence::CapacityRules {
        slos: vec!["p99<100ms".to_owned()],
        resolution: 0.03,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 5,
        overruled_by: 3,
        has_overload: false,
        soak_s: None,
        runs_max: 40,
    });
    let capacity = why(compared(&studies::complete(), &searched));
    assert!(capacity.contains("search for a capacity"), "{capacity}");
    let empty = compared(&studies::not_begun(), &studies::not_begun()).unwrap();
    assert!(written(&empty, "terminal").contains("A has 0 runs that count"));
}

#[test]
fn two_runs_have_ratios_but_no_verdict() {
    let (a, b) = (runs::normal(), runs::normal());
    let compared = Compared::of_runs(&a, &b, &[]).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    assert_eq!((&object["kind"], &object["verdict"]), (&"runs".into(), &"none".into()));
    let figures = object["figures"].as_array().unwrap();
    assert!(
        figures.iter().any(|figure| figure["name"] == "throughput" && figure["ratio"] == 1.0),
        "{figures:?}"
    );
    let text = written(&compared, "terminal");
    assert!(text.contains("One run each gives no verdict") && text.contains("1.000 ×"), "{text}");
    assert!(written(&compared, "md").contains("| throughput |"));
    let mut longer = runs::normal();
    longer.new.warm_up_ns += 1_000_000_000;
    assert!(why(Compared::of_runs(&a, &longer, &[])).contains("under different loads"));
}

/// Notes of a comparison of two runs with these plans.
fn noted(plans: [Value; 2], hashes: [&str; 2]) -> Vec<String> {
    let [a, b] = [0, 1].map(|side| {
        let mut run = runs::normal();
        (run.new.plan_json, run.new.plan_hash) = (plans[side].clone(), hashes[side].to_owned());
        run
    });
    let compared = Compared::of_runs(&a, &b, &[]).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    let notes: Vec<String> =
        object["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned()).collect();
    let on_one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let terminal = on_one_line(written(&compared, "terminal"));
    assert!(notes.iter().all(|note| terminal.contains(&on_one_line(note.clone()))), "{terminal}");
    notes.into_iter().filter(|note| note.contains("plan")).collect()
}

#[test]
fn names_all_differences_between_plans() {
    let name = runs::normal().new.steps[0].clone();
    let steps = [
        ("method", "method", json!("GET"), json!("POST"), "A GET, B POST"),
        ("path", "path", json!("/a"), json!("/b"), "A /a, B /b"),
        ("headers", "headers", json!([["Accept", "x"]]), json!([]), "A [[\"Accept\",\"x\"]], B []"),
        ("body_bytes", "bytes of the body", Value::Null, json!(7), "A none, B 7"),
        ("keep_alive", "keep-alive", json!(true), json!(false), "A true, B false"),
        ("expect", "expected reply", json!({"status": "200"}), json!({"status": "201"}), ""),
        ("saves", "saved values", json!([]), json!([1]), "A [], B [1]"),
        ("script", "script", json!("a"), json!("b"), "A a, B b"),
    ];
    for (key, words, a, b, sides) in steps {
        let plans = [a, b].map(|value| json!({ "steps": [{ (key): value }] }));
        let noted = noted(plans, ["a", "b"]);
        let [only] = &noted[..] else { panic!("{key}: {noted:?}") };
        assert!(only.starts_with(&format!("The plans differ: {words} of {name}: {sides}")), "{only}");
    }
    let plan = [
        ("scenarios", "order of the steps"),
        ("data", "data"),
        ("sql", "transactions"),
        ("tls", "TLS"),
        ("warm_up_ns", "warm-up (ns)"),
        ("timeout_ns", "time-out (ns)"),
        ("connect_timeout_ns", "time-out of connecting (ns)"),
        ("threads", "threads of the generator"),
        ("pin", "cores of the generator"),
    ];
    for (key, words) in plan {
        let noted = noted([json!({ (key): 1 }), json!({ (key): 2 })], ["a", "b"]);
        assert_eq!(noted, [format!("The plans differ: {words}: A 1, B 2.")]);
    }
}

#[test]
fn ignores_seeds_and_reports_unknown_differences() {
    let step = |path: Value| json!({ "steps": [{ "method": "GET", "path": path }], "seed": 1 });
    assert!(noted([step(json!("/a")), step(json!("/a"))], ["a", "a"]).is_empty());
    let mut reseeded = step(json!("/a"));
    reseeded["seed"] = json!(2);
    assert!(noted([step(json!("/a")), reseeded], ["a", "a"]).is_empty());
    // An earlier version did not store paths.
    assert!(noted([step(json!("/a")), step(Value::Null)], ["a", "a"]).is_empty());
    let unkept = noted([step(json!("/a")), step(json!("/a"))], ["a", "b"]);
    assert_eq!(unkept, ["A and B are not of the same plan; it is not kept in what they differ."]);
    let many = |value: u8| {
        let one = |key: &str| (key.to_owned(), json!(value));
        let mut plan =
            serde_json::Map::from_iter(["data", "sql", "tls", "threads", "pin", "scenarios"].map(one));
        let keys = ["method", "path", "headers", "body_bytes", "keep_alive", "expect", "saves", "script"];
        plan.insert("steps".to_owned(), json!([serde_json::Map::from_iter(keys.map(one))]));
        Value::Object(plan)
    };
    let noted = noted([many(1), many(2)], ["a", "b"]);
    assert_eq!((noted.len(), noted[12].as_str()), (13, "The plans differ in 2 more points."));
}

#[test]
fn invalid_run_has_no_ratio() {
    let mut invalid = runs::normal();
    if let Some(ending) = &mut invalid.ending {
        ending.validity.verdict = evidence::Level::Invalid;
    }
    let compared = Compared::of_runs(&runs::normal(), &invalid, &[]).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    assert!(object["figures"].as_array().unwrap().iter().all(|figure| figure["ratio"].is_null()));
    assert!(object["notes"][0].as_str().unwrap().starts_with("B does not count"));
}

#[test]
fn escapes_hostile_names() {
    let attack = "\u{1b}[31m<script>alert(1)</script>|`x`\nend";
    let (a, b) = (studies::hostile(attack), studies::hostile(attack));
    let Ok(compared) = compared(&a, &b) else { return };
    let text = written(&compared, "terminal");
    assert!(!text.contains('\u{1b}') && !text.contains("\nend"), "{text}");
    let md = written(&compared, "md");
    assert!(!md.contains("<script>") && !md.contains('\u{1b}'), "{md}");
    assert!(serde_json::from_str::<Value>(&written(&compared, "json")).is_ok());
    assert!(compared.write(format("csv").unwrap(), &OPTIONS, &mut Vec::new()).is_err());
}

#[test]
fn notes_that_only_one_run_was_profiled() {
    let run = |is_profiled: bool| {
        let store = fixtures::OwnStore::new();
        let new =
            evidence::NewRun { load_words: "2 users, closed".to_owned(), is_profiled, ..runs::new_run() };
        let id = runs::Kept::load(&new, &[], Some(&runs::ending())).keep(&store);
        if is_profiled {
            store
                .keep_cpu_profile(&id, &evidence::CpuProfile { frequency_hz: 199, ..Default::default() })
                .unwrap();
        }
        store.load(&id).unwrap()
    };
    let compared = |first: bool, second: bool| {
        let compared = Compared::of_runs(&run(first), &run(second), &[]).unwrap();
        let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
        assert_eq!([&object["a"]["profiled"], &object["b"]["profiled"]], [first, second]);
        ["terminal", "md"].map(|format| written(&compared, format))
    };
    for text in compared(false, true) {
        assert!(text.contains("Only B was profiled. perf takes CPU time"), "{text}");
    }
    assert!(compared(true, false)[0].contains("Only A was profiled."));
    for both in [true, false] {
        assert!(!compared(both, both)[0].contains("profiled."), "they cost the same");
    }
}
