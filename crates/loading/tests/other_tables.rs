//! Tables on MariaDB and SQLite: equal rows, and equality with `sysbench prepare`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::place::{self, StoppingObserver};
use loading::{Error, MARKS, Options};
use servers::{MariaDb, MariaDbSettings};

fn start() -> MariaDb {
    MariaDb::start(&MariaDbSettings::default()).unwrap()
}

/// Query of the complete schema of the tables.
const SCHEMA: &str = "
SELECT table_name, column_name, column_type, is_nullable, column_default, extra FROM information_schema.columns
WHERE table_schema = database() ORDER BY table_name, ordinal_position;
SELECT table_name, index_name, column_name, non_unique FROM information_schema.statistics
WHERE table_schema = database() ORDER BY table_name, index_name;
SELECT table_name, engine, auto_increment FROM information_schema.tables WHERE table_schema = database() ORDER BY 1;
";

const SUMS: &str = "
SELECT count(*), sum(aid), sum(bid), sum(abalance), sum(length(filler)) FROM pgbench_accounts;
SELECT count(*), sum(tid), sum(bid), sum(tbalance), count(filler) FROM pgbench_tellers;
SELECT count(*), sum(bid), sum(bbalance), count(filler) FROM pgbench_branches;
SELECT count(*) FROM pgbench_history;
";

#[test]
fn tables_on_mariadb_match_sysbench() {
    let server = start();
    let mut sysbench = Command::new("sysbench");
    sysbench.args(["oltp_read_write", "--db-driver=mysql", "--mysql-host=127.0.0.1", "--tables=2"]);
    sysbench.args(["--table-size=1500", "--mysql-db=tenbin", "--mysql-user=tenbin"]);
    sysbench
        .arg(format!("--mysql-port={}", server.port()))
        .arg(format!("--mysql-password={}", MariaDb::PASSWORD));
    let made = sysbench.arg("prepare").stdout(Stdio::null()).status();
    assert!(made.expect("sysbench is there: apt-get install sysbench").success());
    let theirs = server.sql(SCHEMA).unwrap();

    let database = place::mariadb(&server);
    let options = Options { tables: 2, table_size: 1500, ..Options::default() };
    let refused = place::prepare("oltp-read-write", &options, &database, &()).unwrap_err();
    assert!(matches!(&refused, Error::Exists { tables } if tables.len() == 2), "{refused}");
    let options = Options { fresh: true, ..options };
    place::prepare("oltp-read-write", &options, &database, &()).unwrap();
    assert_eq!(server.sql(SCHEMA).unwrap(), theirs);
    let shape = "SELECT count(*), min(length(c)), max(length(pad)), min(k) > 0, max(k) <= 1500 FROM sbtest2";
    assert_eq!(server.sql(shape).unwrap().trim(), "1500\t119\t59\t1\t1");

    place::prepare("postcodes-read", &Options { rows: Some(2000), ..Options::default() }, &database, &())
        .unwrap();
    let found = "SELECT count(*), count(DISTINCT code), sum(city LIKE '%市') FROM tenbin_postcodes";
    assert_eq!(server.sql(&format!("SET NAMES utf8mb4; {found}")).unwrap().trim(), "2000\t2000\t2000");
    place::prepare("sign-up", &Options::default(), &database, &()).unwrap();
    let sign_up = "INSERT INTO tenbin_accounts (email, name, created) VALUES ('a', 'b', CURRENT_TIMESTAMP)";
    server.sql(sign_up).unwrap();
    assert!(server.sql(sign_up).is_err());
}

#[test]
fn interrupted_load_on_mariadb_resumes_without_loss_or_duplicates() {
    let mut server = start();
    let database = place::mariadb(&server);
    let options = Options { scale: 3, jobs: 2, ..Options::default() };
    let stopped =
        place::prepare("tpcb-like", &options, &database, &StoppingObserver::until(120_000)).unwrap_err();
    assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
    server.restart_immediate().unwrap();
    // Simulates an interruption between two tables.
    server.sql("DROP TABLE pgbench_history").unwrap();
    place::prepare("tpcb-like", &options, &place::mariadb(&server), &()).unwrap();
    let sums = server.sql(SUMS).unwrap();
    let expected = "300000\t45000150000\t600000\t0\t0\n30\t465\t60\t0\t0\n3\t6\t0\t0\n0\n";
    assert_eq!(sums, expected);
    assert!(server.sql(&format!("SELECT 1 FROM {MARKS}")).is_err());
}

#[test]
fn sqlite_file_is_filled_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bank.db");
    let database = place::sqlite(file.clone());
    let options = Options { scale: 3, ..Options::default() };
    let stopped =
        place::prepare("tpcb-like", &options, &database, &StoppingObserver::until(150_000)).unwrap_err();
    assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
    let refused = place::prepare("tpcb-like", &Options::default(), &database, &()).unwrap_err();
    assert!(matches!(refused, Error::Different { .. }), "{refused}");
    let loaded = place::prepare("tpcb-like", &options, &database, &()).unwrap();
    assert!(loaded.rows_before >= 100_000);
    let sums: Vec<_> =
        SUMS.split(';').filter(|sql| !sql.trim().is_empty()).map(|sql| ask(&file, sql)).collect();
    let expected = ["300000|45000150000|600000|0|25200000", "30|465|60|0|0", "3|6|0|0", "0"];
    assert_eq!(sums, expected);
    assert_eq!(ask(&file, "SELECT count(*) FROM sqlite_schema WHERE name = 'tenbin_loading'"), "0");

    let options = Options { tables: 2, table_size: 1500, ..Options::default() };
    place::prepare("oltp-read-write", &options, &database, &()).unwrap();
    assert_eq!(
        ask(&file, "SELECT count(*), max(id), min(length(c)), min(length(pad)) FROM sbtest2"),
        "1500|1500|119|59"
    );
    assert_eq!(ask(&file, "SELECT count(*) FROM sqlite_schema WHERE name IN ('k_1', 'k_2')"), "2");
    let refused = place::prepare("oltp-read-write", &options, &database, &()).unwrap_err();
    assert!(matches!(refused, Error::Exists { .. }), "{refused}");
    place::prepare("oltp-read-write", &Options { fresh: true, ..options }, &database, &()).unwrap();
    place::prepare("postcodes-insert", &Options::default(), &database, &()).unwrap();
    assert_eq!(ask(&file, "SELECT count(*) FROM tenbin_postcodes"), "0");
}

#[test]
fn file_that_is_no_database_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter.txt");
    let text = "Dear Ann, ".repeat(200);
    std::fs::write(&file, &text).unwrap();
    let said = place::prepare(
        "tpcb-like",
        &Options { fresh: true, ..Options::default() },
        &place::sqlite(file.clone()),
        &(),
    );
    assert!(said.unwrap_err().to_string().contains("not a database"));
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
}

/// Runs a query. Returns one row with `|` between fields.
fn ask(file: &Path, sql: &str) -> String {
    let connection = rusqlite::Connection::open(file).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values = (0..columns).map(|column| row.get::<_, i64>(column).map(|value| value.to_string()));
        Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    };
    statement.query_row((), row).unwrap()
}
