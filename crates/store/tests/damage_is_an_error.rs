//! Any file content results in a run or an error, but no panic, endless loop, or huge allocation.

use crate::sample;
use std::fs;
use std::path::{Path, PathBuf};

use evidence::{NewRun, RunId, Study, StudyEnding, Verdict};
use record::Phase;
use rusqlite::Connection;
use store::{Store, StoreError};

fn stored_run(folder: &Path) -> (PathBuf, RunId) {
    let path = folder.join("s");
    let store = Store::open(&path).unwrap();
    let new = sample::new_study();
    let study = store.begin_study(&new).unwrap();
    let place = Some((study.clone(), new.planned[0].clone()));
    let id = store.begin(&NewRun { place, ..sample::new_run() }).unwrap();
    for second in 0..4 {
        store.keep_second(&id, 0, &[sample::interval(second, Phase::Measured, second * 1_000)]).unwrap();
        store.keep_readings(&id, second, &sample::readings(second)).unwrap();
    }
    store.keep_output(&id, "app", b"listening", 3).unwrap();
    store.keep_gates(&id, &sample::gates()).unwrap();
    store.finish(&id, &sample::failed()).unwrap();
    store
        .finish_study(&study, &StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Partial, why: None })
        .unwrap();
    (path, id)
}

/// Reads all data of a study.
fn read_study(store: &Store) -> Result<Study, StoreError> {
    store.studies()?;
    let id = store.find_study("last")?;
    store.missing(&id)?;
    store.load_study(&id)
}

/// Changes a file and removes its checksums, which files of earlier versions and forged files lack.
fn change(folder: &Path, sql: &str) -> (PathBuf, RunId) {
    let (path, id) = stored_run(folder);
    let connection = Connection::open(&path).unwrap();
    let unchecked = "UPDATE part SET checksum = NULL; UPDATE readings SET checksum = NULL;";
    connection.execute_batch(&format!("PRAGMA foreign_keys = off; {unchecked} {sql}")).unwrap();
    (path, id)
}

fn load_after(sql: &str) -> Result<evidence::Run, StoreError> {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = change(folder.path(), sql);
    let store = Store::open_existing(&path)?;
    store.runs(10)?;
    store.load(&id)
}

#[test]
fn rows_with_invalid_values_are_rejected() {
    let long_ago = "UPDATE part SET second = -1";
    for sql in [
        long_ago,
        "UPDATE part SET step = 9",
        "UPDATE step SET unit = 'miles'",
        "UPDATE step SET part_of = 0",
        "UPDATE step SET part_of = 9 WHERE number = 1",
        "UPDATE step SET part_of = -1 WHERE number = 1",
        "INSERT INTO step VALUES (1, 2, '', 'requests', 1), (1, 3, '', 'requests', NULL)",
        "UPDATE run SET latency_limit_ns = -1",
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
        "UPDATE ending SET generator = json_set(generator, '$.mean_in_flight', 'many')",
        "UPDATE ending SET steadiness = '{}'",
        "DELETE FROM step",
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 70000) \
         INSERT INTO step (run, number, name) SELECT 1, i, 'x' FROM n",
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO status SELECT 1, i, i, 1 FROM n",
        "INSERT INTO status SELECT part, position + 1, status, count FROM status",
    ] {
        let error = load_after(sql).expect_err(sql);
        assert!(is_named(&error), "{sql}: {error:?}");
    }
}

fn is_named(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged { .. } | StoreError::Evidence(_))
}

#[test]
fn invalid_monitored_data_is_rejected() {
    for sql in [
        "UPDATE readings SET packed = x'ff'",
        "UPDATE readings SET packed = x'ffffffffff'",
        "UPDATE readings SET packed = x'00'",
        "UPDATE readings SET packed = x'0008'",
        "UPDATE readings SET packed = x'0009000000000000000000'",
        "UPDATE readings SET packed = x'00ff'",
        "UPDATE readings SET packed = x'0400'",
        "UPDATE readings SET packed = x'00027ff0'",
        "UPDATE readings SET packed = x'00027ff8'",
        "UPDATE readings SET packed = substr(packed, 1, length(packed) - 1)",
        "UPDATE readings SET packed = CAST(packed || x'7f' AS BLOB)",
        "UPDATE readings SET packed = randomblob(5000)",
        "UPDATE readings SET second = -1",
        "DELETE FROM reading_kind WHERE number = 3",
        "DELETE FROM reading_kind WHERE number = 0",
        "UPDATE reading_kind SET number = number + 10",
        "WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 65536) \
         INSERT INTO reading_kind SELECT 1, i, 'x', 'y', '' FROM n",
        "UPDATE output SET text = zeroblob(1048577)",
        "UPDATE output SET dropped_bytes = -1",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) \
         INSERT INTO output (run, process, text, dropped_bytes) SELECT 1, 'x', x'', 0 FROM n",
        "UPDATE gate SET bound = 9e999",
        "UPDATE gate SET observed = -9e999",
        "UPDATE gate SET decision = 'maybe'",
        "UPDATE gate SET low = 2.0, high = 1.0",
        "UPDATE gate SET low = -1.0",
        "WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) \
         INSERT INTO gate SELECT 1, i, 'x', NULL, NULL, 0.0, '', 0, NULL, NULL, NULL, NULL FROM n",
        "UPDATE ending SET not_available = '[[1]]'",
        "UPDATE run SET place = 99",
        "UPDATE place SET study = 99",
        "UPDATE place SET block = -1",
        "UPDATE place SET position = 4294967296 + position",
        "UPDATE place SET knobs = '{}'",
        "UPDATE study SET id = 's-'",
    ] {
        let error = load_after(sql).expect_err(sql);
        assert!(is_named(&error), "{sql}: {error:?}");
    }
}

#[test]
fn invalid_studies_are_rejected() {
    for sql in [
        "UPDATE study SET host = '{'",
        "UPDATE study SET gates = '[1]'",
        "UPDATE study SET stamps = 'null'",
        "UPDATE study SET matters = 9e999",
        "UPDATE study SET blocks = -1",
        "UPDATE study SET writer = '{}'",
        "UPDATE study SET id = 'x'",
        "UPDATE study_ending SET verdict = 'splendid'",
        "UPDATE study SET procedure = '{\"kind\":\"guess\"}'",
        "UPDATE study SET procedure = '{}'",
        "UPDATE study SET procedure = '{\"kind\":\"duel\",\"pilot_blocks\":-1}'",
        "UPDATE study SET procedure = '{\"kind\":\"duel\",\"pilot_blocks\":3,\"more\":1}'",
        "UPDATE study SET procedure = '{\"kind\":\"capacity\",\"slos\":[],\"resolution\":1e999,\"confirm_runs\":1,\
         \"has_overload\":true,\"runs_max\":9}'",
        "UPDATE study SET also = '{}'",
        "UPDATE study SET within_s = -9e999",
        "UPDATE place SET stage = 'encore'",
        "UPDATE place SET users = 0",
        "UPDATE place SET users = -1",
        "UPDATE place SET users = 4294967296",
        "UPDATE place SET rate_per_s = 9e999",
        "UPDATE place SET rate_per_s = -0.0",
        "UPDATE place SET users = 1, rate_per_s = 1.0",
        "UPDATE place SET position = -1 - position",
        "UPDATE place SET knobs = '[\"x\"]'",
        "UPDATE part SET ok = ok + 1",
        "UPDATE run SET id = 'x'",
        "UPDATE readings SET packed = x'00'",
        "WITH RECURSIVE n (i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
         INSERT INTO place (study, position, block, system, variant, knobs, load) \
         SELECT 1, i, 0, '', '', '[]', '' FROM n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, _) = change(folder.path(), sql);
        let error = read_study(&Store::open_existing(&path).unwrap()).expect_err(sql);
        assert!(is_named(&error), "{sql}: {error:?}");
    }
}

#[test]
fn unusual_but_valid_values_are_loaded() {
    for sql in [
        "UPDATE run SET started_at_unix_ms = -9223372036854775808",
        "UPDATE run SET started_at_unix_ms = 9223372036854775807",
        "UPDATE part SET second = 9223372036854775807",
        "UPDATE run SET latency_limit_ns = 9223372036854775807, connects_each = 7",
        "UPDATE step SET unit = 'transactions'",
        "UPDATE step SET part_of = 0 WHERE number = 1",
        "UPDATE part SET first_sent_ns = 9223372036854775807, last_finished_ns = 0",
        "UPDATE run SET title = replace(hex(zeroblob(100000)), '00', 'x')",
        "DELETE FROM request",
        "UPDATE readings SET packed = x''",
        "UPDATE readings SET packed = x'0000800000'",
        "UPDATE readings SET second = 9223372036854775807",
        "UPDATE gate SET holds = 7, text = ''",
        "UPDATE output SET process = replace(hex(zeroblob(100000)), '00', 'x')",
        "DELETE FROM failure",
        "UPDATE run SET place = NULL",
    ] {
        load_after(sql).expect(sql);
    }
}

#[test]
fn invalid_name_is_rejected() {
    let error = load_after("UPDATE run SET id = 'x'").unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn only_one_packed_histogram_is_decoded_at_a_time() {
    // Each part is a few hundred bytes that decode to megabytes. Only one is decoded at a time.
    let mut wide = Vec::new();
    let mut histogram = record::Histogram::new();
    (0..42).for_each(|power| histogram.record(1 << power));
    (0..12).for_each(|_| histogram.encode(&mut wide));
    let hex: String = wide.iter().map(|byte| format!("{byte:02x}")).collect();
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO part SELECT i, 1, 0, i, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, x'{hex}', NULL, 0, 0, 0, 0 FROM n"
    );
    assert_eq!(load_after(&sql).unwrap().seconds().count(), 1_901 + 4);
}

#[test]
fn every_changed_bit_of_a_second_is_detected() {
    for (table, columns) in [
        (
            "part",
            "step second phase planned sent not_sent ok refused failed timed_out unfinished received_bytes sent_bytes \
             connections first_sent_ns last_finished_ns other_errors",
        ),
        ("status", "status count"),
        ("error", "class code message count"),
        (
            "request",
            "outcome status connection intended_ns sent_ns first_byte_ns finished_ns connect_ns received_bytes \
             sent_bytes",
        ),
        ("readings", "second"),
    ] {
        for column in columns.split_whitespace() {
            let first = format!("WHERE rowid = (SELECT min(rowid) FROM {table})");
            let first = if matches!(table, "part" | "readings") { first.as_str() } else { "" };
            let changed = match column {
                "class" | "message" => format!("substr({column}, 1, 1) || 'x' || substr({column}, 3)"),
                "outcome" => "iif(outcome = 'ok', 'failed', 'ok')".to_owned(),
                _ => format!("coalesce({column}, 0) + iif({column} % 2 = 1, -1, 1)"),
            };
            is_seen(&format!("UPDATE {table} SET {column} = {changed} {first}"));
        }
    }
    is_seen("DELETE FROM status");
    is_seen("DELETE FROM request");
    is_seen("UPDATE part SET run = (SELECT max(number) FROM run) WHERE number = 1");
}

#[test]
fn every_changed_bit_of_packed_data_is_detected() {
    for (table, column) in [("part", "histograms"), ("readings", "packed")] {
        let folder = tempfile::tempdir().unwrap();
        let (path, id) = stored_run(folder.path());
        let connection = Connection::open(&path).unwrap();
        let select = format!("SELECT {column} FROM {table} WHERE number = 2");
        let whole: Vec<u8> = connection.query_row(&select, [], |row| row.get(0)).unwrap();
        let put = |bytes: &[u8]| {
            connection
                .execute(&format!("UPDATE {table} SET {column} = ?1 WHERE number = 2"), [bytes])
                .unwrap();
        };
        let store = Store::open_existing(&path).unwrap();
        for bit in (0..whole.len() * 8).step_by(3) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            put(&bytes);
            let error = store.load(&id).expect_err("a bit differs");
            assert!(error.to_string().contains("checksum differs"), "{error}");
            assert!(error.to_string().contains(id.as_str()), "{error}");
        }
        put(&whole);
        store.load(&id).unwrap();
    }
}

fn is_seen(sql: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = stored_run(folder.path());
    let other = Store::open(&path).unwrap().begin(&sample::new_run()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(&format!("PRAGMA foreign_keys = off; {sql}")).unwrap();
    let store = Store::open_existing(&path).unwrap();
    let error = store.load(&id).and_then(|_| store.load(&other)).expect_err(sql);
    assert!(is_named(&error), "{sql}: {error:?}");
}

#[test]
fn damaged_pages_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = stored_run(folder.path());
    // Moves all data into the main file.
    Connection::open(&path).unwrap().query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    let whole = fs::read(&path).unwrap();
    let copy = folder.path().join("copy");
    let mut place = 1usize;
    for round in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..4 {
            // Full-period step through the file.
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
                run.readings().for_each(drop);
            }
            drop(read_study(&store));
        }
    }
}
