//! While a study goes on, whoever makes its runs can ask what probably limits each setting by the runs so far.

use crate::stored::{BLOCK, Queue, Stored, connections, ending, invalid, place};
use fixtures::reading;
use judge::bottleneck::{OfSetting, bottlenecks};
use store::{Procedure, Reading, StudyId};

/// What was read of two cores in a second: how busy both were, and how many cores the system used.
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
    found.map(|OfSetting { setting, bottleneck, .. }| (setting.system, bottleneck.resource.code)).collect()
}

#[test]
fn a_study_that_goes_on_has_bottlenecks_of_the_runs_so_far() {
    let stored = Stored::new();
    let planned = vec![place(1, 1, BLOCK, "busy"), place(2, 1, BLOCK, "idle"), place(3, 1, BLOCK, "later")];
    let study = stored.study(Procedure::Blocks, 1, planned.clone());
    assert_eq!(found(&stored, &study), []);
    // More was asked for than was answered.
    let queue = Queue { fails_every: 20, ..Queue::default() };
    let ending = store::Ending { spread: Some(connections(4)), ..ending() };
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
fn runs_that_may_be_believed_speak_before_those_that_may_not() {
    let stored = Stored::new();
    let planned = vec![place(1, 1, BLOCK, "a"), place(2, 2, BLOCK, "a")];
    let study = stored.study(Procedure::Blocks, 2, planned.clone());
    // An open load that was answered in full asks for no more.
    let (failing, ok) = (Queue { fails_every: 20, ..Queue::default() }, Queue::default());
    stored.run(Some((&study, &planned[0])), Some(&failing), &invalid());
    assert_eq!(found(&stored, &study), [("a".to_owned(), "unknown")]);
    stored.run(Some((&study, &planned[1])), Some(&ok), &ending());
    assert_eq!(found(&stored, &study), [("a".to_owned(), "load")]);
}
