//! Whatever stands in the file, reading it ends in a run or in an error: no panic, no endless work, no huge allocation.

mod sample;

use std::fs;
use std::path::{Path, PathBuf};

use record::Phase;
use rusqlite::Connection;
use store::{RunId, Store, StoreError};

fn stored_run(folder: &Path) -> (PathBuf, RunId) {
    let path = folder.join("s");
    let store = Store::open(&path).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    for second in 0..4 {
        store.keep_second(&id, 0, &[sample::interval(second, Phase::Measured, second * 1_000)]).unwrap();
    }
    store.finish(&id, &sample::ending()).unwrap();
    (path, id)
}

fn load_after(sql: &str) -> Result<store::Run, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = stored_run(folder.path());
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).unwrap();
    drop(connection);
    let store = Store::open_existing(&path)?;
    store.runs(10)?;
    store.load(&id)
}

#[test]
fn rows_with_impossible_values_are_refused() {
    let long_ago = "UPDATE part SET second = -1";
    for sql in [
        long_ago,
        "UPDATE part SET step = 9",
        "UPDATE part SET step = 70000",
        "UPDATE part SET phase = 2",
        "UPDATE part SET histograms = x'ffffffffffffffffffffffff'",
        "UPDATE part SET histograms = x''",
        "UPDATE part SET histograms = zeroblob(13)",
        "UPDATE part SET histograms = zeroblob(60000000)",
        "UPDATE part SET received_bytes = 9223372036854775807",
        "UPDATE part SET planned = 9223372036854775807, sent = 9223372036854775807",
        "UPDATE part SET sent = sent + 1",
        "UPDATE part SET ok = ok + 1",
        "UPDATE status SET status = 70000",
        "UPDATE status SET count = -1",
        "UPDATE status SET count = 9223372036854775807",
        "UPDATE error SET count = 9223372036854775807",
        "UPDATE error SET code = -1",
        "UPDATE request SET outcome = 'never'",
        "UPDATE request SET connection = -1",
        "UPDATE run SET model = 'ajar'",
        "UPDATE run SET host = '{'",
        "UPDATE run SET plan = replace(hex(zeroblob(50000)), '00', '[')",
        "UPDATE run SET warm_up_ns = -1",
        "UPDATE ending SET verdict = 'splendid'",
        "UPDATE ending SET validity = '[]'",
        "UPDATE ending SET spread = '{}'",
        "UPDATE ending SET generator = 'null'",
        "DELETE FROM step",
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) \
         INSERT INTO step SELECT 1, i, 'x' FROM n",
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO status SELECT 1, i, i, 1 FROM n",
        "INSERT INTO status SELECT part, position + 1, status, count FROM status",
    ] {
        let error = load_after(sql).expect_err(sql);
        let is_named = matches!(
            error,
            StoreError::Damaged { .. } | StoreError::DamagedRun { .. } | StoreError::Identity { .. }
        );
        assert!(is_named, "{sql}: {error:?}");
    }
}

#[test]
fn strange_but_possible_values_are_read() {
    for sql in [
        "UPDATE run SET started_at_unix_ms = -9223372036854775808",
        "UPDATE run SET started_at_unix_ms = 9223372036854775807",
        "UPDATE part SET second = 9223372036854775807",
        "UPDATE part SET first_sent_ns = 9223372036854775807, last_finished_ns = 0",
        "UPDATE run SET title = replace(hex(zeroblob(100000)), '00', 'x')",
        "DELETE FROM request",
    ] {
        load_after(sql).expect(sql);
    }
}

#[test]
fn a_name_that_is_none_is_refused() {
    let error = load_after("UPDATE run SET id = 'x'").unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_packed_histogram_cannot_blow_up_many_times_over() {
    // Each part is a few hundred bytes that unpack to megabytes; only one is unpacked at a time.
    let mut wide = Vec::new();
    let mut histogram = record::Histogram::new();
    (0..42).for_each(|power| histogram.record(1 << power));
    (0..12).for_each(|_| histogram.encode(&mut wide));
    let hex: String = wide.iter().map(|byte| format!("{byte:02x}")).collect();
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO part SELECT i, 1, 0, i, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, x'{hex}' FROM n"
    );
    assert_eq!(load_after(&sql).unwrap().seconds().count(), 1_901 + 4);
}

#[test]
fn broken_pages_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = stored_run(folder.path());
    // Everything into the main file.
    Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    let whole = fs::read(&path).unwrap();
    let copy = folder.path().join("copy");
    let mut place = 1usize;
    for round in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..4 {
            // A full-period step through the file.
            place = (place * 1_103_515_245 + 12_345) % bytes.len();
            bytes[place] ^= 1 << (place % 8);
        }
        if round % 10 == 0 {
            bytes.truncate(place);
        }
        fs::write(&copy, &bytes).unwrap();
        if let Ok(store) = Store::open_existing(&copy) {
            drop(store.runs(10));
            if let Ok(run) = store.load(&id) {
                run.seconds().for_each(drop);
            }
        }
    }
}
