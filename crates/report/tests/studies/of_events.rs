//! Studies that compare by the cost of an event.

use evidence::{Compare, Cost, LevelBefore, Lost, Reading, Recovery, StudyPlace};

use super::{Behaviour, Stored, What, app_servers, behaviour, keep_events};

const MS: u64 = 1_000_000;

const DEPLOYMENTS: [Behaviour; 2] =
    [behaviour("reload", "", 400, What::Works), behaviour("restart", "", 400, What::Works)];

/// Cost of one deployment.
fn cost(outage_ns: u64, lost: u64, recovery: Recovery) -> Cost {
    Cost {
        from_ns: 1_000 * MS,
        to_ns: 3_500 * MS,
        planned: 1_000,
        errors: lost,
        lost: Lost { connect: lost, ..Lost::default() },
        outage_ns,
        worst_response_ns: Some(outage_ns + 12 * MS),
        recovery,
        before: LevelBefore { ok_per_s: 400.0, response_mean_ns: 5e6, ..LevelBefore::default() },
        ..Cost::default()
    }
}

/// A reload costs nothing, and a restart costs an outage that varies between blocks.
fn deployment(place: &StudyPlace) -> Cost {
    let luck = u64::from(place.block * 7 % 8);
    match place.system.as_str() {
        "restart" => {
            cost((780 + 5 * luck) * MS, u64::from(place.block % 2), Recovery::After((900 + 9 * luck) * MS))
        }
        _ => cost(0, 0, Recovery::After(0)),
    }
}

/// After most restarts, the system does not recover within the observed time.
fn endless(place: &StudyPlace) -> Cost {
    match (place.system.as_str(), place.block) {
        ("restart", 2..) => cost(800 * MS, 3, Recovery::NotWithin(2_500 * MS)),
        _ => deployment(place),
    }
}

/// All events cost nothing.
fn nothing(_: &StudyPlace) -> Cost {
    cost(0, 0, Recovery::After(0))
}

fn compared(by: &str, matters: f64, cost: fn(&StudyPlace) -> Cost) -> Stored {
    let mut script = app_servers();
    script.behaviours = &DEPLOYMENTS;
    script.events =
        Some(Box::new(move |store, run, place| keep_events(store, run, &[("deploy", cost(place))])));
    (script.new.title, script.new.gates) = ("deployments".to_owned(), Vec::new());
    script.new.question = Some("What does a deployment cost?".to_owned());
    script.new.stamps = Vec::new();
    script.new.compare = Compare {
        by: by.to_owned(),
        higher_is_better: false,
        matters,
        also: vec!["event deploy: recovery".to_owned(), "lost".to_owned()],
        baseline: Some("restart".to_owned()),
        ..fixtures::compare()
    };
    script.through_store()
}

/// Comparison by outage with a minimum effect of 20 ms, against a baseline and by further costs.
pub(crate) fn deployments() -> Stored {
    compared("event deploy: outage", 20e6, deployment)
}

/// A deployment that takes longer with a restart, and a pause that stops both systems.
pub(crate) fn two_events() -> Stored {
    let mut script = app_servers();
    script.behaviours = &DEPLOYMENTS;
    script.more_readings = stopped;
    script.events = Some(Box::new(|store, run, place| {
        let luck = u64::from(place.block * 5 % 8);
        let paused = cost((900 + luck) * MS, 0, Recovery::After((940 + 5 * luck) * MS));
        let paused = Cost { from_ns: 2_000 * MS, to_ns: 4_000 * MS, ..paused };
        let deployed = Cost { to_ns: 2_000 * MS, ..deployment(place) };
        keep_events(store, run, &[("deploy", deployed), ("pause", paused)]);
    }));
    (script.new.title, script.new.gates) = ("deployments".to_owned(), Vec::new());
    script.new.question = Some("What do a deployment and a pause cost?".to_owned());
    script.new.compare = Compare {
        by: "outage".to_owned(),
        higher_is_better: false,
        matters: 20e6,
        also: vec!["lost".to_owned()],
        ..fixtures::compare()
    };
    script.through_store()
}

/// Readings of the second of the pause, in which threads are stopped, and of the deployment, in which there is no process.
fn stopped(place: &StudyPlace, second: u64) -> Vec<Reading> {
    let of_app = |metric: &str, label: &str, value: f64| fixtures::reading("app", metric, label, value);
    let mut readings = vec![of_app("thread_samples", "", 20.0)];
    match (second, place.system.as_str()) {
        (1, "restart") => readings.push(of_app("processes", "", 0.0)),
        (2, _) => {
            readings
                .extend([of_app("threads_stopped", "worker", 3.6), of_app("threads_poll", "worker", 0.4)]);
        }
        _ => readings.push(of_app("threads_poll", "worker", 4.0)),
    }
    readings
}

/// Comparison of both systems by recovery, although one of them mostly does not recover.
pub(crate) fn never_back() -> Stored {
    let mut stored = compared("recovery", 20e6, endless);
    (stored.study.new.compare.baseline, stored.study.new.compare.also) = (None, Vec::new());
    stored
}

/// Comparison by lost requests without any lost requests.
pub(crate) fn without_cost() -> Stored {
    let mut stored = compared("lost", 1.0, nothing);
    (stored.study.new.compare.baseline, stored.study.new.compare.also) = (None, Vec::new());
    stored
}
