//! The 100 ms windows of a load survive a round trip, and a changed bit is an error.

use record::{Loss, Moment};
use rusqlite::Connection;
use store::{Store, StoreError};

use crate::sample;

const MS: u64 = 1_000_000;

fn window(number: u64, answers: u64) -> Moment {
    let mut window = Moment { planned: answers + 1, sent: answers + 1, ..Moment::numbered(number) };
    (0..answers).for_each(|answer| window.note_ok((answer + 1) * MS, (100 * number + answer) * MS));
    window.note_lost(Loss::Reset, 100 * number * MS);
    window
}

#[test]
fn parts_of_windows_add_up_and_changed_bits_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let (run, other) = (store.begin(&sample::new_run()).unwrap(), store.begin(&sample::new_run()).unwrap());
    store.keep_moments(&run, &[window(0, 3), window(1, 90)]).unwrap();
    store.keep_moments(&run, &[window(1, 4), window(7, 0)]).unwrap();
    store.keep_moments(&run, &[]).unwrap();
    let error = store.keep_moments(&run, &[window(2, 1), window(1, 1)]).unwrap_err();
    assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");

    let windows = store.load(&run).unwrap().moments();
    let figures: Vec<_> = windows.iter().map(|window| (window.number, window.ok, window.lost())).collect();
    assert_eq!(figures, [(0, 3, 1), (1, 94, 2), (7, 0, 1)]);
    assert_eq!(store.load(&other).unwrap().moments(), []);

    let copy = folder.path().join("copy");
    store.export_run(&run, &copy).unwrap();
    assert_eq!(Store::open_existing(&copy).unwrap().load(&run).unwrap().moments(), windows);

    let raw = Connection::open(&path).unwrap();
    raw.execute("UPDATE moments SET packed = CAST(replace(packed, x'01', x'02') AS BLOB)", []).unwrap();
    let error = store.load(&run).unwrap_err().to_string();
    assert!(error.contains("its checksum differs"), "{error}");
}
