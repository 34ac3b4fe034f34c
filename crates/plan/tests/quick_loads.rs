//! `loads` of `quick`: a quick run has only the loads with these names.

use plan::{EventMoment, Study};

const APP: &str = "systems: { app: { start: \"app {port}\", events: { deploy: { run: x } } } }";

fn read(text: &str, is_quick: bool) -> Result<Study, String> {
    Study::from_bytes(text.as_bytes(), "p.yaml", "p".to_owned(), "/".into(), is_quick)
        .map_err(|errors| errors.to_string())
}

/// A plan with three loads: two that follow one scenario each, and one of an external load generator.
fn three(quick: &str, rest: &str) -> String {
    format!(
        "scenarios: {{ a: {{ steps: [ get: /a ] }}, b: {{ steps: [ get: /b ] }} }}\n\
         load:\n  - {{ name: steady, scenario: a, users: 1, for: 30s }}\n  \
         - {{ name: peak, scenario: b, users: 9, ramp-up: 5s, for: 20s }}\n  \
         - {{ name: ab, tool: \"ab -t {{seconds}} {{url}}/\", for: 10s }}\n\
         systems: {{ app: {{ start: \"app {{port}}\" }} }}\nquick: {{ for: 1s, warm-up: 0s, loads: {quick} }}\n{rest}"
    )
}

fn names(study: &Study) -> Vec<&str> {
    study.loads.iter().map(|load| load.name.as_str()).collect()
}

#[test]
fn only_quick_run_drops_loads_and_it_keeps_their_order() {
    let text = three("[ ab, steady ]", "");
    assert_eq!(names(&read(&text, false).expect("a plan")), ["steady", "peak", "ab"]);
    let quick = read(&text, true).expect("the ramp-up of what is left out may be longer than a quick run");
    assert_eq!(names(&quick), ["steady", "ab"]);
    assert!(!quick.explain().contains("peak"), "{}", quick.explain());
    assert_eq!(names(&read(&three("ab", ""), true).expect("one name is a list of one")), ["ab"]);
}

#[test]
fn drops_gates_on_steps_of_dropped_loads() {
    let gates = "gates: [ \"GET /a: p99<1s\", \"GET /b: p99<1s\", errors<1%, max<1s from 0s to 5s ]\n";
    let gates = |loads: &str, is_quick| -> Vec<String> {
        let study = read(&three(loads, gates), is_quick).expect("a plan");
        study.gates.into_iter().map(|gate| gate.text).collect()
    };
    assert_eq!(gates("[ steady ]", false).len(), 4);
    assert_eq!(gates("[ steady ]", true), ["GET /a: p99<1s", "errors<1%"]);
    assert_eq!(gates("[ ab ]", true), ["errors<1%"], "another tool reports no steps");
}

#[test]
fn keeps_events_within_remaining_loads() {
    let plan = |loads: &str| {
        format!(
            "scenario: [ get: / ]\nload:\n  - {{ name: rate, rate: 9/s, for: 20s }}\n  \
             - {{ name: staged, stages: [ {{ for: 20s, to: 9/s }} ] }}\n{APP}\nevents: {{ deploy: {{ at: 9s }} }}\n\
             diagnose: confirm\nquick: {{ loads: {loads}, for: 2s, events: {{ deploy: {{ at: 1s }} }} }}\n"
        )
    };
    let staged = read(&plan("[ staged ]"), true).expect("a plan");
    assert_eq!(
        staged.events[0].moment,
        EventMoment::At { at_ns: 1_000_000_000, every_ns: None, times: None }
    );
    assert!(staged.experiment.is_none(), "no experiment changes stages");
    assert!(read(&plan("[ rate ]"), true).expect("a plan").experiment.is_some());
}

#[test]
fn unknown_load_is_an_error_in_quick_and_full_run() {
    for (loads, what, help) in [
        ("[ steady, paek ]", "unknown load `paek`", "did you mean `peak`?"),
        ("[ nightly ]", "unknown load `nightly`", "write one of `steady`, `peak`, `ab`"),
        ("[]", "`loads` is an empty list", "add at least one item"),
        ("[ peak, peak ]", "the load `peak` is listed twice", "remove one of the two"),
        ("{ peak: 1 }", "`loads` cannot be a mapping", "write `loads: [ steady, peak ]`"),
    ] {
        for is_quick in [false, true] {
            let errors = read(&three(loads, ""), is_quick).expect_err(loads);
            assert!(errors.contains(what) && errors.contains(help), "{loads}: {errors}");
            // The `ramp-up` of a selected load is too long for a quick run, which is a second error.
            let count = if loads.contains("peak,") { 2 } else { 1 };
            assert_eq!(errors.matches("error: ").count(), count, "{loads}: {errors}");
        }
    }
}
