//! Studies that compare by the cost of events: differences with units, zeros, and systems that do not recover.

use crate::pages;
use crate::studies::{Stored, of_events};
use report::Options;
use serde_json::Value;

fn written(format: &str, stored: &Stored) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 120, is_wide: true };
    let format = report::format(format).unwrap();
    report::write_study(format, &stored.study, &|run| stored.load(run), &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(stored: &Stored) -> Value {
    serde_json::from_str(&written("json", stored)).unwrap()
}

#[test]
fn difference_has_unit_and_no_ratio() {
    let stored = of_events::deployments();
    let comparison = &json(&stored)["comparison"];
    assert_eq!((&comparison["scale"], &comparison["unit"]), (&"difference".into(), &"us".into()));
    assert_eq!(
        (&comparison["metric"], &comparison["matters"]),
        (&"event deploy: outage".into(), &20_000.0.into())
    );
    let pairs = comparison["pairs"].as_array().unwrap();
    let pair = &pairs[0];
    assert_eq!((&pair["verdict"], &pair["ratio"]), (&"differs".into(), &Value::Null));
    let end = |key: &str| pair[key].as_f64().unwrap();
    assert!((-820e3..=-780e3).contains(&end("difference")), "{pair}");
    assert!(
        end("low") <= end("difference") && end("difference") <= end("high") && end("high") < 0.0,
        "{pair}"
    );
    let of = |metric: &str| pairs.iter().find(|pair| pair["metric"] == metric).unwrap();
    assert_eq!(
        (&of("lost")["unit"], &of("event deploy: recovery")["verdict"]),
        (&"requests".into(), &"differs".into())
    );
    for format in ["terminal", "md"] {
        let text = written(format, &stored);
        assert!(text.contains("outage of deploy −797 ms (") || text.contains("−798 ms ("), "{text}");
        assert!(!text.contains(" × (") && !text.contains("as fast"), "{text}");
    }
    let document = pages::document(&pages::of_study(&stored));
    let load = &document["loads"][0];
    assert_eq!((&load["metric"]["scale"], &load["metric"]["unit"]), (&"difference".into(), &"ms".into()));
    assert!(load["pairs"][0]["estimate"].as_f64().is_some_and(|ms| (-820.0..-780.0).contains(&ms)), "{load}");
}

#[test]
fn zero_costs_are_equivalent() {
    let stored = of_events::without_cost();
    let pair = &json(&stored)["comparison"]["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["difference"], &pair["low"]),
        (&"equivalent".into(), &0.0.into(), &0.0.into())
    );
    let text = written("terminal", &stored).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("equivalent within 1 request, 8 common blocks"), "{text}");
    assert!(text.contains("no difference above the 1 request threshold"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("−0"), "{text}");
}

#[test]
fn system_that_does_not_recover_is_worse() {
    let stored = of_events::never_back();
    let comparison = &json(&stored)["comparison"];
    let pair = &comparison["pairs"][0];
    assert_eq!(
        (&pair["a"]["system"], &pair["verdict"]),
        (&"reload".into(), &"differs".into()),
        "{comparison}"
    );
    assert_eq!((&pair["difference"], &pair["low"]), (&Value::Null, &Value::Null), "it has no limit");
    let text = written("terminal", &stored);
    assert!(text.contains("−∞") && text.contains("not back"), "{text}");
    assert!(text.contains("longer than any in which it was"), "{text}");
    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
    let page = pages::of_study(&stored);
    assert!(pages::document(&page)["loads"][0]["pairs"][0]["estimate"].is_null());
}

#[test]
fn compares_stored_studies_by_difference() {
    let [first, second] = [of_events::deployments(), of_events::deployments()];
    let load = |stored: &Stored, run: &evidence::RunId| stored.load(run);
    let compared =
        report::Compared::of_studies(&first.study, &second.study, &|run| load(&first, run), &[]).unwrap();
    let mut out = Vec::new();
    let options = Options { color: false, width: 120, is_wide: false };
    compared.write(report::format("terminal").unwrap(), &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("B − A") && text.contains("equivalent within 20.0 ms"), "{text}");
    let mut out = Vec::new();
    compared.write(report::format("json").unwrap(), &options, &mut out).unwrap();
    let value: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&value["scale"], &value["rows"][0]["ratio"]), (&"difference".into(), &Value::Null));
    assert_eq!(value["rows"][0]["difference"], 0.0);
}

#[test]
fn unknown_event_has_no_figure() {
    let mut stored = of_events::deployments();
    stored.study.new.compare.by = "event backup: outage".to_owned();
    assert!(written("terminal", &stored).contains("no"), "it says so");
    for hostile in ["event <script>: outage", "event : lost", "event deploy: p99"] {
        stored.study.new.compare.by = hostile.to_owned();
        let text = written("terminal", &stored);
        assert!(text.contains("this version does not know the metric"), "{hostile}: {text}");
    }
}
