//! Events survive a round trip with their run.

use crate::sample;
use evidence::{Event, EventOutcome};
use store::{Store, StoreError};

fn deploy() -> Event {
    Event {
        name: "deploy".to_owned(),
        action: "signal USR1 to web\u{1b}[31m'; DROP TABLE event; --".to_owned(),
        planned_ns: Some(20_000_000_000),
        ..Event::default()
    }
}

fn ended(begun_ns: u64, ended_ns: u64) -> Event {
    Event {
        begun_ns: Some(begun_ns),
        ended_ns: Some(ended_ns),
        exit: Some(3),
        output: b"\xff\x00 restarted".to_vec(),
        dropped_bytes: 7,
        failure: Some("exited with code 3".to_owned()),
        may_fail: true,
        ..deploy()
    }
}

#[test]
fn event_replaces_its_earlier_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    let second = Event { occurrence: 1, ..deploy() };
    let never = Event { name: "after".to_owned(), planned_ns: None, ..deploy() };
    store.keep_events(&id, &[never.clone(), second.clone(), deploy()]).unwrap();
    assert_eq!(store.load(&id).unwrap().events(), [deploy(), second.clone(), never.clone()]);

    let killed = Event { exit: None, signal: Some(9), ..ended(21_000_000_000, 21_000_000_000) };
    store.keep_events(&id, &[Event { occurrence: 1, ..ended(20_000_000_001, 22_000_000_000) }]).unwrap();
    store.keep_events(&id, std::slice::from_ref(&killed)).unwrap();
    let run = store.load(&id).unwrap();
    let [first, then, last] = run.events() else { panic!("{:?}", run.events()) };
    assert_eq!((first.occurrence, first.lasting_ns(), first.exit), (1, Some(1_999_999_999), Some(3)));
    assert_eq!((then, last), (&killed, &never));

    let exported = folder.path().join("exported");
    store.export_run(&id, &exported).unwrap();
    assert_eq!(Store::open(&exported).unwrap().load(&id).unwrap().events(), run.events());
    store.delete(&id).unwrap();
    let file = rusqlite::Connection::open(folder.path().join("s")).unwrap();
    let left: i64 = file.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn shared_report_has_redacted_texts_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    store.keep_events(&id, &[ended(1, 2)]).unwrap();
    let mut run = store.load(&id).unwrap();
    run.rewrite(
        &|text| text.len().to_string(),
        &|error| error.message.clone(),
        &|_, label| label.to_owned(),
        &|_| Vec::new(),
    );
    let [event] = run.events() else { panic!("{:?}", run.events()) };
    let texts = (&event.name[..], &event.action[..], event.failure.as_deref(), event.output.len());
    assert_eq!(texts, ("6", "46", Some("18"), 0));
}

#[test]
fn state_of_an_event_follows_from_its_times_and_failure() {
    let begun = Event { begun_ns: Some(5), ..deploy() };
    let done = Event { ended_ns: Some(5), ..begun.clone() };
    let outcomes = [deploy(), begun, done, ended(1, 2)].map(|event| event.outcome());
    use EventOutcome::{Done, Failed, NotBegun, Underway};
    assert_eq!(outcomes, [NotBegun, Underway, Done, Failed]);
}

#[test]
fn impossible_events_are_neither_stored_nor_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    let not_begun = Event { begun_ns: None, ..ended(0, 2) };
    let flood = Event { output: vec![b'x'; Event::OUTPUT_BYTES_MAX + 1], ..deploy() };
    let far = Event { planned_ns: Some(u64::MAX), ..deploy() };
    for event in [ended(3, 2), not_begun, flood, far] {
        let error = store.keep_events(&id, &[deploy(), event]).unwrap_err();
        assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");
    }
    let many: Vec<Event> = (0..=1_000).map(|occurrence| Event { occurrence, ..deploy() }).collect();
    assert!(matches!(store.keep_events(&id, &many), Err(StoreError::Unstorable { .. })));
    assert!(store.load(&id).unwrap().events().is_empty(), "all or none");

    store.keep_events(&id, &[ended(2, 3)]).unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    for damage in ["begun_ns = 4", "begun_ns = -1", "output = zeroblob(65537)", "dropped_bytes = -1"] {
        file.execute_batch(&format!("SAVEPOINT d; UPDATE event SET {damage}; RELEASE d")).unwrap();
        let error = store.load(&id).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{damage}: {error}");
        store.keep_events(&id, &[ended(2, 3)]).unwrap();
    }
}
