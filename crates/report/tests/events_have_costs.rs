//! What events cost is in every report, and a hostile name stays text.

use crate::{pages, runs};
use fixtures::OwnStore;
use record::{Loss, Moment};
use report::Options;
use serde_json::Value;
use store::{Cost, Event, EventCost, Judged, LevelBefore, Lost, Recovery, Run};

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

/// A run with an event that cost something, one whose cost nobody knows, and one that did not begin.
fn run() -> Run {
    let store = OwnStore::new();
    let kept = runs::Kept::load(&runs::new_run(), &[], Some(&runs::ending()));
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

fn written(format: &str, is_wide: bool) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 120, is_wide };
    report::write(report::format(format).unwrap(), &[run()], &options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_read_a_line_for_each_event() {
    for format in ["terminal", "md"] {
        let text = written(format, false);
        let line =
            text.lines().find(|line| line.contains("deploy") && line.contains("800 ms")).unwrap_or_default();
        for figure in ["12 (2 rejected, 10 reset) + 3 stale", "20.0 ms", "812 ms", "900 ms"] {
            assert!(line.contains(figure), "{figure} in {line:?} of\n{text}");
        }
        assert!(text.contains("too little is known from before it"), "{text}");
        assert!(text.contains("never"), "{text}");
    }
}

#[test]
fn programs_read_the_same() {
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
fn the_page_has_the_course_around_each_event() {
    let page = pages::of_runs(&[run()]);
    let document = pages::document(&page);
    let happened = document["runs"][0]["happened"].as_array().unwrap();
    assert_eq!(happened[0]["cost"]["lost"], 12);
    let course = &happened[0]["course"];
    let sum = |key: &str| course[key].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!((sum("ok"), sum("planned"), sum("lost")), (400, 400, 1));
    assert_eq!(happened[1]["why"], "too little is known from before it");
    assert_eq!(happened[2]["begun_s"], Value::Null);
}
