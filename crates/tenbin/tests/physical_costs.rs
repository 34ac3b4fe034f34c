//! Physical cost of a fixed number of transactions: equal to the database's own counters.

use std::fs;

use crate::support::Home;
use serde_json::Value;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

const TABLE: &str = "CREATE TABLE items (id int PRIMARY KEY, owner int, word varchar(40))";
const REQUESTS: u64 = 300;

fn load(home: &Home, url: &str, script: &str) -> Value {
    let path = home.path().join("load.sql");
    fs::write(&path, script).expect("a script");
    let (path, requests) = (path.to_string_lossy(), REQUESTS.to_string());
    home.run(&[url, "-f", &path, "-c", "3", "-n", &requests, "--format", "json"]).json()
}

fn cost(json: &Value, name: &str) -> f64 {
    json["cost"][name].as_f64().unwrap_or_else(|| panic!("no {name}: {}", json["cost"]))
}

fn numbers(text: &str, between: char) -> Vec<f64> {
    text.trim().split(between).map(|field| field.parse().expect("a number")).collect()
}

#[test]
fn costs_of_postgresql_equal_its_own_counters() {
    let server = Postgres::start(&PostgresSettings::default().with("autovacuum", "off")).expect("a server");
    let rows = "INSERT INTO items SELECT n, n % 10, 'word' FROM generate_series(1, 1000) n; CHECKPOINT";
    server.sql(&format!("{TABLE}; {rows}")).expect("a table");
    let counters = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), \
        (SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) FROM pg_statio_user_tables), \
        (SELECT sum(seq_tup_read) FROM pg_stat_user_tables), (SELECT sum(idx_tup_fetch) FROM pg_stat_user_tables), \
        (SELECT sum(n_tup_upd) FROM pg_stat_user_tables), pg_table_size('items'), pg_indexes_size('items')";
    let read = || numbers(&server.sql(counters).expect("counters"), '|');
    let home = Home::new();
    let (before, script) =
        (read(), "\\set id random(1, 1000)\nUPDATE items SET owner = owner + 1 WHERE id = :id;\n");
    let json = load(&home, &server.admin_url(), script);
    let after = read();
    assert_eq!(json["outcomes"]["ok"], REQUESTS, "{json}");
    let each = |place: usize| (after[place] - before[place]) / REQUESTS as f64;
    let wal = cost(&json, "wal_bytes_per_request");
    // The server itself logs a few records meanwhile.
    assert!(wal > 60.0 && (wal - each(0)).abs() < 0.05 * wal, "{wal} and {}", each(0));
    let pages = cost(&json, "pages_hit_per_request") + cost(&json, "pages_read_per_request");
    assert_eq!(pages, each(1), "{json}");
    assert_eq!(cost(&json, "rows_by_scan_per_request"), each(2));
    assert_eq!((cost(&json, "rows_by_index_per_request"), each(3)), (1.0, 1.0));
    assert_eq!((cost(&json, "rows_written_per_request"), each(4)), (1.0, 1.0));
    assert_eq!([cost(&json, "table_bytes_after"), cost(&json, "index_bytes_after")], [after[5], after[6]]);
    assert_eq!(cost(&json, "table_bytes_before"), before[5]);
    let scanning = load(&home, &server.admin_url(), "SELECT count(*) FROM items WHERE owner = -1;\n");
    assert_eq!(cost(&scanning, "rows_by_scan_per_request"), 1_000.0);
    let report = home.run(&["report", scanning["run"]["id"].as_str().expect("an id"), "--wide"]).stdout;
    assert!(report.contains("rows read by scans 1,000.0"), "{report}");
}

#[test]
fn costs_of_mariadb_equal_its_own_counters() {
    let server = MariaDb::start(&MariaDbSettings::default()).expect("a server");
    server
        .sql(&format!("{TABLE}; INSERT INTO items SELECT seq, seq % 10, 'word' FROM seq_1_to_1000"))
        .expect("a table");
    let names = "'Innodb_os_log_written','Handler_read_key','Handler_read_rnd_next'";
    let read = || -> Vec<(String, f64)> {
        let text =
            server.sql(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")).expect("counters");
        let line = |line: &str| {
            line.split_once('\t').map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        };
        text.lines().filter_map(line).collect()
    };
    let home = Home::new();
    let script = "\\set id random(1, 1000)\nUPDATE items SET owner = owner + 1 WHERE id = :id;\n";
    let before = read();
    let json = load(&home, &server.admin_url(), script);
    let after = read();
    assert_eq!(json["outcomes"]["ok"], REQUESTS, "{json}");
    let each = |name: &str| {
        let value = |all: &[(String, f64)]| {
            all.iter().find(|(known, _)| known == name).map_or(0.0, |(_, value)| *value)
        };
        (value(&after) - value(&before)) / REQUESTS as f64
    };
    let redo = cost(&json, "wal_bytes_per_request");
    assert!(
        redo > 20.0 && (redo - each("Innodb_os_log_written")).abs() < 0.1 * redo,
        "{redo}, {}",
        each("Innodb_os_log_written")
    );
    assert!((cost(&json, "rows_by_index_per_request") - 1.0).abs() < 0.05, "{json}");
    let scanning = load(&home, &server.admin_url(), "SELECT count(*) FROM items WHERE owner = -1;\n");
    // The status of the server has some rows of the questions of the monitor, too.
    assert!((cost(&scanning, "rows_by_scan_per_request") - 1_001.0).abs() < 10.0, "{scanning}");
}

#[test]
fn sizes_of_sqlite_equal_its_pages() {
    let home = Home::new();
    let path = home.path().join("items.db");
    let connection = rusqlite::Connection::open(&path).expect("a file");
    connection.execute_batch(TABLE).expect("a table");
    let pages = || -> i64 {
        connection
            .query_row(
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
                [],
                |row| row.get(0),
            )
            .expect("pages")
    };
    let before = pages();
    let url = format!("sqlite:{}", path.display());
    let path = home.path().join("load.sql");
    fs::write(&path, "INSERT INTO items (owner, word) VALUES (1, 'a long word of some bytes');\n")
        .expect("a script");
    let json =
        home.run(&[&url, "-f", &path.to_string_lossy(), "-c", "1", "-n", "300", "--format", "json"]).json();
    assert_eq!(json["outcomes"]["ok"], 300, "{json}");
    assert_eq!(cost(&json, "file_bytes_before"), before as f64);
    assert_eq!(cost(&json, "file_bytes_after"), pages() as f64);
    assert!(pages() > before);
}
