//! Costs of events are in every report, and hostile names are escaped.

use crate::{pages, runs, studies};
use evidence::{Cost, Event, EventCost, Judged, LevelBefore, Lost, Recovery, Run};
use fixtures::OwnStore;
use record::{Loss, Moment};
use report::Options;
use serde_json::Value;

const MS: u64 = 1_000_000;

fn event(name: &str, begun_ns: u64) -> Event {
    Event {
        name: name.to_owned(),
        action: "signal USR1".to_owned(),
        planned_ns: Some(begun_ns),
        begun_ns: Some(begun_ns),
        ended_ns: Some(begun_ns + 20 * MS),
        ..Event::default()
    }
}

/// A run with three events: one with a cost, one whose cost is unknown, and one that did not begin.
fn run() -> Run {
    let store = OwnStore::new();
    let mut kept = runs::Kept::load(&runs::new_run(), &[], Some(&runs::ending()));
    kept.readings.extend((2..4).map(|second| (second, of_stopped_threads())));
    let id = kept.keep(&store);
    let events = [event("deploy", 2_000 * MS), event("<b>late</b>", 3_500 * MS)];
    let never = Event { name: "never".to_owned(), begun_ns: None, ended_ns: None, ..events[0].clone() };
    store.keep_events(&id, &[events[0].clone(), events[1].clone(), never]).unwrap();
    let mut windows: Vec<Moment> = (0..40).map(Moment::numbered).collect();
    for window in &mut windows {
        (window.planned, window.sent) = (10, 10);
        (0..10).for_each(|number| window.note_ok(5 * MS, window.at_ns() + number));
    }
    windows[20].note_lost(Loss::Reset, 2_000 * MS);
    store.keep_moments(&id, &windows).unwrap();
    let cost = Cost {
        from_ns: 2_000 * MS,
        to_ns: 3_500 * MS,
        planned: 150,
        errors: 12,
        lost: Lost { reset: 10, rejected: 2, stale_reuse: 3, ..Lost::default() },
        outage_ns: 800 * MS,
        worst_response_ns: Some(812 * MS),
        excess_wait_ns: 6.4e9,
        recovery: Recovery::After(900 * MS),
        before: LevelBefore { ok_per_s: 100.0, response_mean_ns: 5e6, ..LevelBefore::default() },
        ..Cost::default()
    };
    let of = |name: &str, judged| EventCost { name: name.to_owned(), occurrence: 0, judged };
    let costs = vec![
        of("deploy", Judged::Cost(Box::new(cost))),
        of("<b>late</b>", Judged::Unknown("too little is known from before it".to_owned())),
    ];
    store.keep_event_costs(&mut store.load(&id).unwrap(), costs).unwrap();
    store.load(&id).unwrap()
}

/// Readings of the second of the deployment, in which four threads were stopped for 90 % of the time.
fn of_stopped_threads() -> Vec<evidence::Reading> {
    let of_app = |metric: &str, label: &str, value: f64| fixtures::reading("<i>app", metric, label, value);
    vec![
        fixtures::reading("system", "cpu_user_s", "", 0.1),
        of_app("thread_samples", "", 20.0),
        of_app("threads_stopped", "worker", 3.6),
        of_app("threads_poll", "worker", 0.4),
    ]
}

fn written(format: &str, is_wide: bool) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 120, is_wide };
    report::write(report::format(format).unwrap(), &[run()], &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn terminal_and_markdown_have_a_line_per_event() {
    for format in ["terminal", "md"] {
        let text = written(format, false);
        let line =
            text.lines().find(|line| line.contains("deploy") && line.contains("800 ms")).unwrap_or_default();
        for figure in ["12 (2 rejected, 10 reset) + 3 stale", "20.0 ms", "812 ms", "900 ms"] {
            assert!(line.contains(figure), "{figure} in {line:?} of\n{text}");
        }
        assert!(text.contains("too little is known from before it"), "{text}");
        assert!(text.contains("never"), "{text}");
        let cause = text.lines().find(|line| line.contains("deploy: likely")).unwrap_or_default();
        let stopped =
            "likely stopped processes of the system (90 % of the response time): the 4.0 threads of";
        assert!(cause.contains(stopped), "{text}");
        assert!(!cause.contains("<i>") || format == "terminal", "{cause}");
    }
}

#[test]
fn causes_of_events_have_keys_of_bottlenecks() {
    let value: Value = serde_json::from_str(&written("json", false)).unwrap();
    let events = value["events"].as_array().unwrap();
    let causes = events[0]["causes"].as_array().unwrap();
    let mut keys: Vec<&str> = causes[0].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let of_bottleneck =
        ["against", "because", "certainty", "for", "next", "resource", "rung", "scope", "share", "what"];
    assert_eq!(keys, of_bottleneck);
    assert_eq!((&causes[0]["resource"], &causes[0]["share"]), (&"stopped".into(), &0.9.into()));
    assert_eq!(causes[0]["scope"], "process <i>app");
    assert_eq!((&events[0]["causes_unknown"], &events[0]["felt"]), (&Value::Null, &1.into()));
    // An event with unknown cost has no causes.
    assert_eq!((&events[1]["causes"], &events[1]["felt"]), (&Value::Array(Vec::new()), &0.into()));
}

#[test]
fn json_has_costs_of_events() {
    let value: Value = serde_json::from_str(&written("json", false)).unwrap();
    let events = value["events"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    let cost = &events[0]["cost"];
    assert_eq!((&cost["lost"], &cost["lost_by_class"]["reset"]), (&12.into(), &10.into()));
    assert_eq!(cost["lost_by_class"]["stale_reuse"], 3);
    assert_eq!((&cost["outage_us"], &cost["recovery_us"]), (&800_000.0.into(), &900_000.0.into()));
    assert_eq!((&cost["recovered"], &cost["excess_wait_s"]), (&"yes".into(), &6.4.into()));
    assert_eq!((&events[1]["cost"], &events[2]["cost"]), (&Value::Null, &Value::Null));
    assert!(events[1]["cost_unknown"].as_str().is_some_and(|why| why.contains("too little")));
}

#[test]
fn page_has_load_around_each_event() {
    let page = pages::of_runs(&[run()]);
    let document = pages::document(&page);
    let happened = document["runs"][0]["happened"].as_array().unwrap();
    assert_eq!(happened[0]["cost"]["lost"], 12);
    let course = &happened[0]["course"];
    let sum = |key: &str| course[key].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!((sum("ok"), sum("planned")), (400, 400));
    assert_eq!(course["lost"]["reset"].as_array().unwrap()[20], 1);
    assert_eq!(course["lost"].as_object().unwrap().len(), 1, "classes without a loss are left out");
    assert_eq!(happened[1]["why"], "too little is known from before it");
    assert_eq!(happened[2]["begun_s"], Value::Null);
}

/// Lines of a terminal table that have these names.
fn lines_of<'a>(text: &'a str, names: [&'a str; 2]) -> impl DoubleEndedIterator<Item = &'a str> {
    text.lines().filter(move |line| names.iter().all(|name| line.contains(name)))
}

fn study_report(format: &str, study: &studies::Stored) -> String {
    study_report_with(format, study, false)
}

/// Report for the terminal with all details.
fn full_study_report(study: &studies::Stored) -> String {
    study_report_with("terminal", study, true)
}

fn study_report_with(format: &str, study: &studies::Stored, is_wide: bool) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 300, is_wide };
    let load = |run: &evidence::RunId| study.load(run);
    report::write_study(report::format(format).unwrap(), &study.study, &load, &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Title on the page, JSON key, and the page's unit in units of JSON.
const FIGURES: [(&str, &str, f64); 5] = [
    ("Lost requests", "lost", 1.0),
    ("Outage", "outage_us", 1e3),
    ("Worst response", "worst_response_us", 1e3),
    ("Recovery", "recovery_us", 1e3),
    ("Excess waiting", "excess_wait_s", 1.0),
];

#[test]
fn repeated_events_have_equal_costs_in_every_report() {
    let study = studies::with_events();
    let (brief, terminal) = (study_report("terminal", &study), full_study_report(&study));
    let json: Value = serde_json::from_str(&study_report("json", &study)).unwrap();
    let page = pages::document(&study_report("html", &study));
    let load = &page["loads"][0];
    let deploy = &load["event_costs"]["events"][0];
    assert_eq!(deploy["name"], "deploy");
    let name = |row: &Value| load["rows"][row.as_u64().unwrap() as usize]["name"].as_str().unwrap();
    let is_same = |page: &Value, json: &Value, size: f64, what: &str| {
        for end in ["middle", "low", "high"] {
            match (page[end].as_f64(), json.get(end).and_then(Value::as_f64)) {
                (Some(one), Some(other)) => {
                    assert!((one * size - other).abs() < 0.01, "{what} {end}: {one} {other}")
                }
                (one, other) => assert_eq!(one, other, "{what} {end}"),
            }
        }
    };
    for (title, key, size) in FIGURES {
        let figure = deploy["figures"].as_array().unwrap().iter().find(|of| of["title"] == title).unwrap();
        let (rows, apart) = (figure["rows"].as_array().unwrap(), figure["differences"].as_array().unwrap());
        assert_eq!((rows.len(), apart.len()), (2, 1));
        for row in rows {
            let of_json = json["events"].as_array().unwrap();
            let variant = |of: &&Value| {
                format!("{} {}", of["system"].as_str().unwrap(), of["variant"].as_str().unwrap())
                    == name(&row["row"])
            };
            let of_json = of_json.iter().filter(variant).find(|of| of["event"] == "deploy").unwrap();
            is_same(row, &of_json[key], size, title);
            let text = row["text"].as_str().unwrap();
            let mut lines = lines_of(&terminal, [name(&row["row"]).split(' ').next().unwrap(), "deploy"]);
            // The terminal has no column for it.
            let is_told = title == "Excess waiting" || lines.any(|line| line.contains(text));
            assert!(is_told, "{title} {text:?} in {terminal}");
        }
        let of_json = json["event_differences"].as_array().unwrap();
        let of_json = of_json.iter().find(|of| of["event"] == "deploy").unwrap();
        is_same(&apart[0], &of_json[key], size, title);
        let mut lines = lines_of(&brief, [name(&apart[0]["row"]).split(' ').next().unwrap(), "deploy"]);
        let line = lines.rfind(|line| !line.starts_with("cause")).unwrap();
        let text = apart[0]["text"].as_str().unwrap();
        let is_told = !["Excess waiting", "Worst response"].contains(&title);
        assert!(!is_told || line.contains(text), "{title} {text:?} in {line:?}");
    }
}

#[test]
fn repeated_events_are_combined_by_run_and_block() {
    let study = studies::with_events();
    let page = pages::document(&study_report("html", &study));
    let deploy = &page["loads"][0]["event_costs"]["events"][0];
    let row = |name: &str| {
        let rows = page["loads"][0]["rows"].as_array().unwrap();
        rows.iter().position(|row| row["system"] == name).unwrap()
    };
    let figure = |title: &str, system: &str| -> Vec<Value> {
        let figures = deploy["figures"].as_array().unwrap();
        let of = figures.iter().find(|of| of["title"] == title).unwrap();
        let of = of["rows"].as_array().unwrap().iter().find(|of| of["row"] == row(system)).unwrap();
        of["blocks"].as_array().unwrap().iter().map(|block| block["value"].clone()).collect()
    };
    // Each of two deployments has 10 + block resets, and the second has 4 time-outs. Stale reuse does not count as a loss.
    let lost: Vec<Value> = (0..7).map(|block| Value::from(24 + 2 * block)).collect();
    assert_eq!(figure("Lost requests", "puma"), lost);
    assert_eq!(figure("Lost requests: timed out", "puma"), vec![Value::from(4); 7]);
    assert_eq!(figure("Outage", "puma")[3], 215, "the longest of both");
    assert_eq!(figure("Recovery", "puma")[5], Value::Null, "it was not back after the second");
    assert_eq!(figure("Lost requests", "passenger")[4], Value::Null, "nobody knows of the second");
    let of_row =
        |system: &str| deploy["rows"].as_array().unwrap().iter().find(|of| of["row"] == row(system)).unwrap();
    let known = |system: &str| {
        ["runs", "runs_unknown", "not_recovered"].map(|key| of_row(system)[key].as_u64().unwrap())
    };
    assert_eq!((known("puma"), known("passenger")), ([7, 0, 1], [6, 1, 0]));
    let words = of_row("passenger")["words"].to_string();
    assert!(words.contains("began 0.5 s after the warm-up"), "{words}");
    assert!(words.contains("lost no request") && words.contains("cost unknown in 1 of 7 runs"), "{words}");
    let hostile = &page["loads"][0]["event_costs"]["events"][1];
    assert_eq!(hostile["name"], "restart <b>db</b>", "text of plans stays text");
    assert_eq!(hostile["figures"][0]["rows"][0]["middle"], Value::Null);
}

#[test]
fn event_times_count_from_end_of_warm_up_in_every_format() {
    let study = studies::with_events();
    let run = &study.runs[0];
    let written = |format: &str| {
        let mut out = Vec::new();
        let options = Options { color: false, width: 120, is_wide: true };
        report::write(report::format(format).unwrap(), std::slice::from_ref(run), &options, &mut out)
            .unwrap();
        String::from_utf8(out).unwrap()
    };
    let (page, json) =
        (pages::document(&written("html")), serde_json::from_str::<Value>(&written("json")).unwrap());
    let happened = page["runs"][0]["happened"].as_array().unwrap();
    let marked = page["runs"][0]["events"].as_array().unwrap();
    for (place, (name, at)) in [("deploy #1", 0.5), ("deploy #2", 1.6)].into_iter().enumerate() {
        let near = |value: &Value| (value.as_f64().unwrap() - at).abs() < 0.001;
        assert_eq!(happened[place]["name"], name);
        assert!(near(&happened[place]["begun_s"]), "{}", happened[place]);
        assert!(marked.iter().any(|mark| mark["text"] == name && near(&mark["at_s"])), "{marked:?}");
        assert!(near(&json["events"][place]["at_s"]), "{}", json["events"][place]);
        let terminal = written("terminal");
        let line = terminal.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(&format!("{at:.1} s")), "{line}");
    }
    // The drawing begins with the load, one second earlier.
    assert_eq!(happened[0]["course"]["from_s"], -1.0);
}
