//! Ceilings are stored by shape of the load and layout of the machine.

use rusqlite::Connection;
use store::{Store, StoreError};

#[test]
fn latest_ceiling_of_a_shape_and_layout_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.ceiling("GET 100 users", "2 cores").unwrap(), None);
    store.keep_ceiling("GET 100 users", "2 cores", 80_000.5, 1).unwrap();
    store.keep_ceiling("GET 100 users", "2 cores, shared", 40_000.0, 2).unwrap();
    store.keep_ceiling("'; DROP TABLE ceiling; --", "\u{202e}", 1.0, 3).unwrap();
    store.keep_ceiling("GET 100 users", "2 cores", 90_000.25, 4).unwrap();
    drop(store);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(store.ceiling("GET 100 users", "2 cores").unwrap(), Some(90_000.25));
    assert_eq!(store.ceiling("GET 100 users", "2 cores, shared").unwrap(), Some(40_000.0));
    assert_eq!(store.ceiling("'; DROP TABLE ceiling; --", "\u{202e}").unwrap(), Some(1.0));
    assert_eq!(store.ceiling("GET 100 users", "").unwrap(), None);
}

#[test]
fn invalid_rates_are_neither_stored_nor_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    for per_s in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let answer = store.keep_ceiling("a", "b", per_s, 0);
        assert!(matches!(answer, Err(StoreError::Unstorable { .. })), "{per_s}");
    }
    let long = "x".repeat(5_000);
    assert!(matches!(store.keep_ceiling(&long, "b", 1.0, 0), Err(StoreError::Unstorable { .. })));
    store.keep_ceiling("a", "b", 1.0, 0).unwrap();
    Connection::open(&path).unwrap().execute_batch("UPDATE ceiling SET per_s = 9e999").unwrap();
    let error = store.ceiling("a", "b").unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}
