//! Two runs and two studies side by side: ratios, verdicts, and what cannot be compared.

mod runs;
#[allow(unused_imports, reason = "every test takes what it needs")]
mod studies;

use report::{Compared, Options, ReportError, format};
use serde_json::Value;
use studies::Stored;

const OPTIONS: Options = Options { color: false, width: 120 };

fn written(compared: &Compared, name: &str) -> String {
    let mut out = Vec::new();
    compared.write(format(name).unwrap(), &OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn compared(first: &Stored, second: &Stored) -> Result<Compared, ReportError> {
    Compared::of_studies(&first.study, &second.study, &|run| first.load(run).or_else(|_| second.load(run)))
}

fn why(compared: Result<Compared, ReportError>) -> String {
    let Err(error @ ReportError::NotComparable { .. }) = compared.map(|_| ()) else {
        panic!("they cannot be compared")
    };
    error.to_string()
}

#[test]
fn a_study_against_itself_is_level() {
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
fn what_has_nothing_in_common_is_refused() {
    let metric = why(compared(&studies::complete(), &studies::two_loads()));
    assert!(metric.contains("same metric (throughput; p90)") && metric.contains("way out:"), "{metric}");
    let mut other = studies::complete();
    other.study.new.compare.higher_is_better = false;
    assert!(why(compared(&studies::complete(), &other)).contains("same metric"));
    let mut searched = studies::complete();
    searched.study.new.compare.procedure = store::Procedure::Capacity(store::CapacityRules {
        slos: vec!["p99<100ms".to_owned()],
        resolution: 0.03,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 5,
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
fn two_runs_have_ratios_and_no_verdict() {
    let (a, b) = (runs::normal(), runs::normal());
    let compared = Compared::of_runs(&a, &b).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    assert_eq!((&object["kind"], &object["verdict"]), (&"runs".into(), &"none".into()));
    let figures = object["figures"].as_array().unwrap();
    assert!(
        figures.iter().any(|figure| figure["name"] == "throughput" && figure["ratio"] == 1.0),
        "{figures:?}"
    );
    let text = written(&compared, "terminal");
    assert!(text.contains("One run each carries no verdict") && text.contains("1.000 ×"), "{text}");
    assert!(written(&compared, "md").contains("| throughput |"));
    let mut longer = runs::normal();
    longer.new.warm_up_ns += 1_000_000_000;
    assert!(why(Compared::of_runs(&a, &longer)).contains("under different loads"));
}

#[test]
fn an_invalid_run_has_no_ratio() {
    let mut invalid = runs::normal();
    if let Some(ending) = &mut invalid.ending {
        ending.validity.verdict = store::Level::Invalid;
    }
    let compared = Compared::of_runs(&runs::normal(), &invalid).unwrap();
    let object: Value = serde_json::from_str(&written(&compared, "json")).unwrap();
    assert!(object["figures"].as_array().unwrap().iter().all(|figure| figure["ratio"].is_null()));
    assert!(object["notes"][0].as_str().unwrap().starts_with("B does not count"));
}

#[test]
fn hostile_names_stay_text() {
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
