//! Events of a plan act on the system under load, are stored with the run, and fail it if they fail.

use std::fs;

use serde_json::Value;

use crate::support::Home;
use crate::support::systems::assert_nothing_is_left;

fn run(home: &Home, events: &str, actions: &str) -> Value {
    let path = home.path().join("plan.yaml");
    let text = format!(
        "scenario:\n  - get: /status\nload: {{ rate: 50/s, warm-up: 300ms, for: 1500ms, connections: 4, timeout: 5s }}\n\
         events: {{ {events} }}\nsystems:\n  web:\n    start: '{{tenbin}} target --listen 127.0.0.1:{{port}}'\n    \
         events: {{ {actions} }}\n"
    );
    fs::write(&path, text).expect("written");
    // A failed run has another exit code.
    let output = home.run(&["run", &path.to_string_lossy(), "--format", "json"]);
    let study: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_nothing_is_left(home);
    study["runs"][0].clone()
}

fn event_values<'a>(run: &'a Value, key: &str) -> Vec<(&'a str, &'a Value)> {
    let events = run["events"].as_array().expect("a list");
    events.iter().map(|event| (event["name"].as_str().expect("a name"), &event[key])).collect()
}

#[test]
fn events_are_stored_with_their_times() {
    let home = Home::new();
    let run = run(
        &home,
        "early: { at: -100ms }, stall: { at: 200ms }, deploy: { after: stall, delay: 100ms }, often: { at: 0s, every: 500ms, times: 2 }",
        "early: { run: echo early }, stall: { pause: web, for: 200ms }, deploy: { restart: web }, often: { run: 'true' }",
    );
    assert!(run["failure"].is_null(), "{run}");
    let outcomes = event_values(&run, "outcome");
    let names: Vec<&str> = outcomes.iter().map(|(name, _)| *name).collect();
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == "done"), "{outcomes:?}");
    assert_eq!(names.len(), 5);
    assert_eq!(names[0], "early");
    assert!(names.iter().position(|name| *name == "stall") < names.iter().position(|name| *name == "deploy"));
    for ((name, planned), (_, begun)) in
        event_values(&run, "planned_s").into_iter().zip(event_values(&run, "begun_s"))
    {
        assert!(begun.as_f64().expect("a time") >= planned.as_f64().expect("a time"), "{name}");
    }
    let early = event_values(&run, "planned_s")[0].1;
    assert!((early.as_f64().expect("a time") - 0.2).abs() < 1e-9, "100 ms before the warm-up ends: {early}");
}

#[test]
fn failed_event_fails_the_run_unless_it_is_optional() {
    let home = Home::new();
    let failing = "run: [ sh, -c, 'echo why; exit 3' ]";
    let failed = run(&home, "deploy: { at: 100ms }", &format!("deploy: {{ {failing} }}"));
    assert_eq!((&failed["verdict"], &failed["failure"]["stage"]), (&"aborted".into(), &"event".into()));
    let what = failed["failure"]["what"].as_str().expect("a text");
    assert!(
        what.contains("deploy") && what.contains("code 3") && what.contains("last output: why"),
        "{what}"
    );
    assert_eq!(event_values(&failed, "exit"), [("deploy", &3.into())]);

    let allowed = run(&home, "deploy: { at: 100ms }", &format!("deploy: {{ {failing}, may-fail: true }}"));
    assert!(allowed["failure"].is_null(), "{allowed}");
    assert_eq!(event_values(&allowed, "outcome"), [("deploy", &"failed".into())]);
    assert!(allowed["notes"].to_string().contains("as it may"), "{allowed}");

    let hanging = run(&home, "deploy: { at: 100ms }", "deploy: { run: sleep 50, within: 200ms }");
    let what = hanging["failure"]["what"].as_str().expect("a text");
    assert!(what.contains("did not end within 200 ms"), "{what}");
    let killed = run(&home, "deploy: { at: 100ms }", "deploy: { signal: KILL }");
    assert_eq!(killed["failure"]["stage"], "died");

    let flood = "run: [ sh, -c, 'head -c 20000000 /dev/zero | tr \"\\0\" x; echo why; exit 3' ]";
    let flooding = run(&home, "deploy: { at: 100ms }", &format!("deploy: {{ {flood} }}"));
    let what = flooding["failure"]["what"].as_str().expect("a text");
    assert!(what.contains("code 3") && what.len() < 1_000, "{what}");
}

#[test]
fn proxy_can_be_restarted_and_takes_orders_afterwards() {
    let home = Home::new();
    let path = home.path().join("plan.yaml");
    let text = "scenario: [ get: /status ]\nload: { rate: 50/s, warm-up: 300ms, for: 1500ms, connections: 4, timeout: 5s }\n\
         events: { again: { at: 100ms }, slower: { after: again, delay: 100ms } }\nsystems:\n  web:\n    processes:\n      \
         app: { start: '{tenbin} target --listen 127.0.0.1:{port.app}' }\n    \
         proxies: { far: { to: '127.0.0.1:{port.app}' } }\n    url: 'http://127.0.0.1:{port.far}'\n    \
         events: { again: { restart: proxy far }, slower: { slow: { link: far, delay: 30ms }, for: 500ms } }\n";
    fs::write(&path, text).expect("written");
    let output = home.run(&["run", &path.to_string_lossy(), "--format", "json"]);
    let study: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let run = &study["runs"][0];
    assert!(run["failure"].is_null(), "{run}");
    assert_eq!(event_values(run, "outcome"), [("again", &"done".into()), ("slower", &"done".into())]);
    let slowest = run["service_time_us"]["max"].as_f64().expect("a time");
    assert!(slowest >= 60_000.0, "the order reached the new proxy: {slowest}");
    assert_nothing_is_left(&home);
}
