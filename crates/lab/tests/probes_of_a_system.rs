//! Tests that a system is measured below its keepers: each process by name, including daemonized descendants.

use std::thread;
use std::time::Duration;

use crate::support::Bench;
use lab::probes::{Look, Subject, Watch};

/// Max number of looks that a test waits for.
const LOOKS_MAX: usize = 20;

fn processes(look: &Look, subject: &str) -> Option<f64> {
    let mut readings = look.readings.iter();
    readings.find(|r| r.subject == subject && r.metric == "processes").map(|reading| reading.value)
}

#[test]
fn each_process_is_measured_with_its_daemonized_descendants() {
    let bench = Bench::new();
    let detaching = "setsid sh -c 'sleep 60 & sleep 61 &'; exec sleep 62";
    let recipe = bench.recipe(vec![bench.script("web", detaching), bench.script("db", "exec sleep 63")]);
    let system = lab::start(recipe, &|| false).expect("it starts");
    let roots = system.roots().into_iter().map(|root| (root.name, root.keeper_pid)).collect();
    let watch = Watch::begin(Subject { roots, ..Subject::default() });
    let mut looks: Vec<Look> = Vec::new();
    let is_seen =
        |look: &Look| ["web", "db", "system"].map(|name| processes(look, name)) == [3.0, 1.0, 4.0].map(Some);
    while looks.len() < LOOKS_MAX && !looks.iter().any(is_seen) {
        looks.extend(watch.take());
        thread::sleep(Duration::from_millis(20));
    }
    assert!(looks.iter().any(is_seen), "{:?}", looks.last());
    assert!(system.stop().failures.is_empty());
    let (looks, _) = watch.end();
    assert_eq!(processes(looks.last().unwrap(), "system"), Some(0.0));
    bench.assert_clean();
}
