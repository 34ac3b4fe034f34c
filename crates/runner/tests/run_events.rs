//! Events of a run: complete, in order, stored before they are published, and not delayed by subscribers.

use std::sync::mpsc;
use std::thread;

use crate::fakes::{RecordedStream, World, program, store, study};
use evidence::Run;
use progress::{Detail, Frame, RunEvent, Subscription};
use record::{Counts, Phase};
use runner::{CompletedRun, Runner, StudyRunner};
use store::Store;
use study::{begin_study, procedure};

/// Plan of a system that is started, with tables and an event.
const PLAN: &str = "scenario: [ workload: select-only ]\nload: { users: 1, warm-up: 1s, for: 3s }\n\
                    events: { vacuum: { at: 1500ms } }\nsystems:\n  db:\n    start: 'db {port}'\n    \
                    url: 'postgres://bench@127.0.0.1:{port}/bench'\n    prepare: { workload: select-only }\n    \
                    events: { vacuum: { run: 'vacuum' } }\n";

/// Makes the run of the plan.
fn make(world: &World, store: &Store, heard: &RecordedStream) -> (CompletedRun, Run) {
    let study = study(PLAN);
    let id =
        begin_study(&study, procedure(&study), serde_json::Value::Null, None, None, store).expect("a study");
    let place = store.missing(&id).expect("it is planned").swap_remove(0);
    let bench =
        StudyRunner::new(Runner { store, tools: world.tools() }, &study, &id, program()).expect("cores");
    let made = bench.make(&place, None, 7, &heard.stream).expect("made");
    let run = store.load(&made.run).expect("it is kept");
    (made, run)
}

fn kind(event: &RunEvent) -> &'static str {
    match event {
        RunEvent::Filling(_) => "filling",
        RunEvent::Began(_) => "began",
        RunEvent::Second(_) => "second",
        RunEvent::Reading(_) => "reading",
        RunEvent::Event(_) => "event",
        RunEvent::LoadEnded => "load ended",
        RunEvent::Finding(_) => "finding",
        RunEvent::Ended(_) => "ended",
        _ => "other",
    }
}

/// All frames of a queue, each with the number of frames lost before it.
fn frames(subscription: &Subscription) -> Vec<(u64, Frame)> {
    subscription.close();
    std::iter::from_fn(|| subscription.recv())
        .map(|received| (received.missed, (*received.frame).clone()))
        .collect()
}

#[test]
fn run_with_event_publishes_all_events_in_order() {
    let (world, heard, (store, _folder)) = (World::new(), RecordedStream::nothing(), store());
    let all = heard.stream.subscribe(99, Detail::Intervals);
    let (made, run) = make(&world, &store, &heard);
    let frames: Vec<Frame> = frames(&all).into_iter().map(|(_, frame)| frame).collect();
    assert!((0..).zip(&frames).all(|(number, frame)| frame.number == number), "{frames:?}");
    let kinds: Vec<&str> = frames.iter().map(|frame| kind(&frame.event)).collect();
    let expected = [
        "filling",
        "began",
        "second",
        "reading",
        "second",
        "reading",
        "event",
        "second",
        "reading",
        "second",
        "reading",
        // Readings of the whole load come once, at its end.
        "reading",
        "load ended",
        "ended",
    ];
    assert_eq!(kinds, expected);
    assert!(frames[1..].iter().all(|frame| frame.run.as_ref() == Some(&made.run)), "{frames:?}");

    let mut counts = Counts::default();
    let (mut readings, mut events) = (0, Vec::new());
    for frame in &frames {
        match &frame.event {
            RunEvent::Second(second) => {
                second.intervals.values().flatten().for_each(|part| counts.add(&part.tally.counts));
            }
            RunEvent::Reading(look) => readings += look.readings.len(),
            RunEvent::Event(event) => events.push((**event).clone()),
            RunEvent::Ended(ended) => assert_eq!(ended.ending.verdict, made.ending.verdict),
            _ => {}
        }
    }
    let mut kept = Counts::default();
    Phase::ALL.iter().for_each(|phase| kept.add(&run.whole(*phase).expect("it adds up").counts));
    assert_eq!(counts, kept);
    assert_eq!(readings, run.readings().count());
    assert_eq!(events, run.events());
    assert_eq!(events[0].begun_ns, Some(2_500_000_000), "its time counts from the end of the warm-up");
}

#[test]
fn second_is_stored_before_it_is_published() {
    let (world, heard, (store, _folder)) = (World::new(), RecordedStream::nothing(), store());
    let connection = rusqlite::Connection::open(store.path()).expect("the same file");
    let (sent, kept) = mpsc::channel();
    heard.stream.listen(move |frame| {
        if let RunEvent::Second(second) = &frame.event {
            let parts = "SELECT count(*) FROM part WHERE second = ?1";
            let parts: i64 =
                connection.query_row(parts, [second.second as i64], |row| row.get(0)).expect("a count");
            sent.send((second.second, parts)).expect("it is received");
        }
    });
    make(&world, &store, &heard);
    assert_eq!(kept.try_iter().collect::<Vec<_>>(), [(0, 1), (1, 1), (2, 1), (3, 1)]);
}

#[test]
fn stalled_subscriber_delays_nothing_and_counts_lost_frames() {
    let (quiet, (first_store, _first_folder)) = (World::new(), store());
    make(&quiet, &first_store, &RecordedStream::nothing());

    let (world, heard, (store, _folder)) = (World::new(), RecordedStream::nothing(), store());
    let stalled = heard.stream.subscribe(2, Detail::Intervals);
    let (wake, sleeps) = mpsc::channel::<()>();
    let subscriber = thread::spawn(move || {
        let first = stalled.recv();
        sleeps.recv().expect("it is woken");
        (first, frames(&stalled))
    });
    let (made, run) = make(&world, &store, &heard);
    // The subscriber still sleeps although the run is over.
    assert_eq!(run.whole(Phase::Measured).expect("it adds up").counts.ok, 300);
    let of_load = |world: &World| -> Vec<String> {
        world.moments().into_iter().filter(|moment| moment != "quiet").collect()
    };
    assert_eq!(of_load(&world), of_load(&quiet), "every second has come at its place");
    let published = heard.events().len() as u64;
    wake.send(()).expect("it sleeps");
    let (first, rest) = subscriber.join().expect("no panic");
    let lost_first = first.map(|first| first.missed).expect("a frame");
    let lost: u64 = rest.iter().map(|(missed, _)| missed).sum();
    assert_eq!(
        lost_first + 1 + lost + rest.len() as u64,
        published,
        "each frame is received or counted as lost"
    );
    assert!(lost > 0 && rest.len() == 2, "{rest:?}");
    let Some((_, Frame { event: RunEvent::Ended(ended), .. })) = rest.last() else { panic!("{rest:?}") };
    assert_eq!(ended.ending, made.ending);
}
