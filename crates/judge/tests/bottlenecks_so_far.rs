//! Bottlenecks of a study in progress: each configuration has the likely bottleneck of its runs so far.

use crate::stored::{BLOCK, Queue, Stored, connections, ending, invalid, place};
use evidence::{
    Cause, Distorted, Distortion, Ending, Event, Level, Outage, OutageTime, Procedure, Reading, StudyId,
    Validity, Verdict,
};
use fixtures::reading;
use judge::bottleneck::{SettingBottleneck, bottlenecks, causes_of_failed, causes_of_runs};

/// Returns the readings of one second of two cores: busy share of each, and cores that the system used.
fn readings(busy: f64, system: f64) -> Vec<Reading> {
    let cores = ["core0", "core1"].into_iter();
    let of_core = |core| {
        [reading("machine", "cpu_user_s", core, busy), reading("machine", "cpu_idle_s", core, 1.0 - busy)]
    };
    let mut readings: Vec<Reading> = cores.flat_map(of_core).collect();
    readings.push(reading("system", "cpu_user_s", "", system));
    readings
}

fn found(stored: &Stored, study: &StudyId) -> Vec<(String, &'static str)> {
    let found = bottlenecks(&stored.load(study)).unwrap().into_iter();
    found
        .map(|SettingBottleneck { setting, bottleneck, .. }| (setting.system, bottleneck.resource.code))
        .collect()
}

#[test]
fn study_in_progress_has_bottlenecks_of_its_runs_so_far() {
    let stored = Stored::new();
    let planned = vec![place(1, 1, BLOCK, "busy"), place(2, 1, BLOCK, "idle"), place(3, 1, BLOCK, "later")];
    let study = stored.study(Procedure::Blocks, 1, planned.clone());
    assert_eq!(found(&stored, &study), []);
    // Some of the requests failed.
    let queue = Queue { fails_every: 20, ..Queue::default() };
    let ending = evidence::Ending { spread: Some(connections(4)), ..ending() };
    for (place, busy, system) in [(&planned[0], 0.97, 1.8), (&planned[1], 0.2, 0.3)] {
        let run = stored.run(Some((&study, place)), Some(&queue), &ending).id;
        for second in 0..13 {
            stored.store.keep_readings(&run, second, &readings(busy, system)).unwrap();
        }
    }
    assert_eq!(
        found(&stored, &study),
        [("busy".to_owned(), "machine_cpu"), ("idle".to_owned(), "unknown")],
        "one was not run yet"
    );
}

#[test]
fn valid_runs_take_precedence_over_invalid_ones() {
    let stored = Stored::new();
    let planned = vec![place(1, 1, BLOCK, "a"), place(2, 2, BLOCK, "a")];
    let study = stored.study(Procedure::Blocks, 2, planned.clone());
    // An open load that was answered in full requests no more.
    let (failing, ok) = (Queue { fails_every: 20, ..Queue::default() }, Queue::default());
    stored.run(Some((&study, &planned[0])), Some(&failing), &invalid());
    assert_eq!(found(&stored, &study), [("a".to_owned(), "unknown")]);
    stored.run(Some((&study, &planned[1])), Some(&ok), &ending());
    assert_eq!(found(&stored, &study), [("a".to_owned(), "load")]);
}

/// Returns the ending of a run of which only one figure is invalid.
fn spoiled(figure: Distorted) -> Ending {
    let distorts = Distorted::ALL.map(|of| {
        let level = if of == figure { Level::Invalid } else { Level::Valid };
        Distortion { figure: of, level, by_share: None, by_us: None }
    });
    let cause = Cause {
        code: "wake_lag".to_owned(),
        sentence: "late".to_owned(),
        remedy: String::new(),
        distorts: distorts.to_vec(),
    };
    let validity = Validity { verdict: Level::Invalid, causes: vec![cause], ..Validity::default() };
    Ending { verdict: Verdict::Invalid, validity, ..ending() }
}

#[test]
fn invalid_tail_does_not_affect_the_bottleneck() {
    let stored = Stored::new();
    let run = |queue: Queue, of: Distorted| stored.run(None, Some(&queue), &spoiled(of));
    let (failing, ok) = (Queue { fails_every: 20, ..Queue::default() }, Queue::default());
    let [with_tail, without] = [run(ok, Distorted::Tail), run(failing, Distorted::Throughput)];
    let first = |runs: &[&evidence::Run]| causes_of_runs(runs).unwrap()[0].resource.code;
    assert_eq!(first(&[&without, &with_tail]), "load", "of the one whose throughput may be believed");
    assert_eq!(first(&[&without]), "unknown", "of the other where there is none");
}

#[test]
fn failed_rate_is_not_reported_as_below_capacity() {
    let stored = Stored::new();
    let run = stored.run(None, Some(&Queue::default()), &ending());
    for second in 0..13 {
        stored.store.keep_readings(&run.id, second, &readings(0.97, 1.8)).unwrap();
    }
    let run = stored.store.load(&run.id).unwrap();
    let (causes, runs) = causes_of_failed(&[&run]).unwrap();
    assert_eq!((causes[0].resource.code, runs), ("machine_cpu", 1));
    assert!(!causes.iter().any(|cause| cause.resource.code == "load"), "{causes:?}");
    let spoiled = stored.run(None, Some(&Queue::default()), &spoiled(Distorted::Throughput));
    assert_eq!(causes_of_failed(&[&spoiled]).unwrap(), (Vec::new(), 0), "nothing may be said of it");
}

#[test]
fn readings_after_the_load_are_ignored() {
    let stored = Stored::new();
    let queue = Queue { fails_every: 20, ..Queue::default() };
    let run = stored.run(None, Some(&queue), &evidence::Ending { spread: Some(connections(4)), ..ending() });
    // One second of warm-up, 12 seconds of load, and 12 seconds in which the system is idle.
    for second in 0..25 {
        let read = if second < 13 { readings(0.97, 1.8) } else { readings(0.01, 0.01) };
        stored.store.keep_readings(&run.id, second, &read).unwrap();
    }
    let run = stored.store.load(&run.id).unwrap();
    let causes = causes_of_runs(&[&run]).unwrap();
    assert_eq!(causes[0].resource.code, "machine_cpu", "{causes:?}");
    assert!(causes[0].because.starts_with("both cores were 97 % busy: the system used 1.80"), "{causes:?}");
}

/// Stores a run of 12 s with outages at the given seconds, each within an event of the plan named `event` if it is set.
fn stopped_at(seconds: &[f64], event: Option<&str>) -> evidence::Run {
    let stored = Stored::new();
    let time =
        |from_s: &f64| OutageTime { from_s: *from_s, to_s: from_s + 0.8, lasting_s: 0.8, is_open: false };
    let outage = Outage {
        longest_s: 0.8,
        gone_share: 0.2,
        times: seconds.iter().map(time).collect(),
        starvation: None,
    };
    let queue = Queue { fails_every: 20, ..Queue::default() };
    let run = stored.run(None, Some(&queue), &evidence::Ending { outage: Some(outage), ..ending() });
    let events = seconds.iter().zip(0..).filter_map(|(from_s, occurrence)| {
        let begun_ns = (1e9 + from_s * 1e9) as u64;
        let name = event?.to_owned();
        let ended_ns = Some(begun_ns + 800_000_000);
        Some(Event { name, occurrence, begun_ns: Some(begun_ns), ended_ns, ..Event::default() })
    });
    stored.store.keep_events(&run.id, &events.collect::<Vec<_>>()).unwrap();
    stored.store.load(&run.id).unwrap()
}

#[test]
fn outages_during_planned_events_are_no_pauses() {
    let first = |run: &evidence::Run| causes_of_runs(&[run]).unwrap().remove(0);
    let at = [2.0, 5.0, 8.0];
    let alone = first(&stopped_at(&at, None));
    assert_eq!(alone.resource.code, "pauses");
    assert!(!alone.because.contains("event"), "{}", alone.because);
    let planned = first(&stopped_at(&at, Some("stall")));
    assert_ne!(planned.resource.code, "pauses");
    let told = "; no request was answered ok for 2.40 s during the plan's event `stall`";
    assert!(planned.because.ends_with(told), "{}", planned.because);
}
