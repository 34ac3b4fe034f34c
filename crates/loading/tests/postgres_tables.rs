//! Tables on a real PostgreSQL server equal those of `pgbench -i` and of `sysbench prepare`.

use std::process::Stdio;

use crate::place::{self, StoppingObserver};
use loading::{Error, MARKS, Options, PartitionMethod};
use servers::{Postgres, PostgresSettings};

fn start() -> Postgres {
    Postgres::start(&PostgresSettings::default()).unwrap()
}

/// Query of the complete schema of tables: columns, storage, constraints, indexes, partitions.
const SCHEMA: &str = "
SELECT 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  pg_get_expr(d.adbin, d.adrelid), c.relkind, c.relpersistence, c.reloptions, pg_get_expr(c.relpartbound, c.oid)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 2, 3;
SELECT 'index', indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 2;
SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace ORDER BY 2, 3;
SELECT 'vacuumed', relname, reltuples FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 2;
";

const SUMS: &str = "
SELECT count(*), md5(string_agg(a::text, ',' ORDER BY aid)) FROM pgbench_accounts a;
SELECT count(*), md5(string_agg(t::text, ',' ORDER BY tid)) FROM pgbench_tellers t;
SELECT count(*), md5(string_agg(b::text, ',' ORDER BY bid)) FROM pgbench_branches b;
SELECT count(*) FROM pgbench_history;
";

const DROP: &str = "DROP TABLE pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history";

fn run_pgbench(server: &Postgres, arguments: &[&str]) {
    let mut pgbench = server.client("pgbench", "postgresql-contrib").unwrap();
    pgbench.args(["-i", "-q"]).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(pgbench.status().unwrap().success(), "{}", server.log());
}

#[test]
fn tables_match_pgbench() {
    let server = start();
    let database = place::postgres(&server, Postgres::DATABASE);
    let plain = Options::default();
    let cases: [(&[&str], Options); 4] = [
        (&["-s", "2"], Options { scale: 2, ..plain.clone() }),
        (&["--foreign-keys", "-F", "70"], Options { foreign_keys: true, fillfactor: 70, ..plain.clone() }),
        (&["--partitions=3"], Options { partitions: 3, ..plain.clone() }),
        (
            &["--partitions=2", "--partition-method=hash"],
            Options { partitions: 2, partition_method: PartitionMethod::Hash, ..plain.clone() },
        ),
    ];
    for (arguments, options) in cases {
        run_pgbench(&server, arguments);
        let theirs = [SCHEMA, SUMS].map(|sql| server.sql(sql).unwrap());
        server.sql(DROP).unwrap();
        let watch = StoppingObserver::default();
        let loaded = place::prepare("tpcb-like", &options, &database, &watch).unwrap();
        let ours = [SCHEMA, SUMS].map(|sql| server.sql(sql).unwrap());
        assert_eq!(ours, theirs, "{arguments:?}");
        assert_eq!(watch.most(), loaded.tables.iter().map(|(_, rows)| rows).sum::<u64>());
        assert_eq!(loaded.rows_before, 0);
        server.sql(DROP).unwrap();
    }
}

#[test]
fn unlogged_tables_are_not_logged() {
    let server = start();
    let database = place::postgres(&server, Postgres::DATABASE);
    run_pgbench(&server, &["--unlogged-tables"]);
    let theirs = server.sql(SCHEMA).unwrap();
    let options = Options { unlogged: true, fresh: true, ..Options::default() };
    place::prepare("select-only", &options, &database, &()).unwrap();
    assert_eq!(server.sql(SCHEMA).unwrap(), theirs);
}

#[test]
fn tables_match_sysbench() {
    let server = start();
    let mut sysbench = std::process::Command::new("sysbench");
    sysbench.args(["oltp_read_write", "--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--tables=3"]);
    sysbench.args(["--table-size=1500", "--pgsql-db=postgres", "--pgsql-user=postgres"]);
    sysbench
        .arg(format!("--pgsql-port={}", server.port()))
        .arg(format!("--pgsql-password={}", Postgres::PASSWORD));
    let made = sysbench.arg("prepare").stdout(Stdio::null()).status();
    assert!(made.expect("sysbench is there: apt-get install sysbench").success());
    server.sql("VACUUM ANALYZE").unwrap();
    let next = "SELECT nextval('sbtest2_id_seq')";
    let theirs = [SCHEMA, next].map(|sql| server.sql(sql).unwrap());
    let database = place::postgres(&server, Postgres::DATABASE);
    let options = Options { tables: 3, table_size: 1500, ..Options::default() };

    let refused = place::prepare("oltp-read-write", &options, &database, &()).unwrap_err();
    assert!(matches!(&refused, Error::Exists { tables } if tables.len() == 3), "{refused}");
    place::prepare("oltp-read-write", &Options { fresh: true, ..options.clone() }, &database, &()).unwrap();
    assert_eq!([SCHEMA, next].map(|sql| server.sql(sql).unwrap()), theirs);

    let rows = "SELECT md5(string_agg(s::text, ',' ORDER BY id)) FROM sbtest3 s";
    let first = server.sql(rows).unwrap();
    let other_way = Options { fresh: true, jobs: 1, ..options };
    place::prepare("oltp-point-select", &other_way, &database, &()).unwrap();
    assert_eq!(server.sql(rows).unwrap(), first);
}

#[test]
fn study_tables_accept_their_workloads() {
    let server = start();
    let database = place::postgres(&server, Postgres::DATABASE);
    let options = Options { rows: Some(2000), ..Options::default() };
    place::prepare("postcodes-read", &options, &database, &()).unwrap();
    let found = "SELECT count(*), count(DISTINCT code), max(length(code)) FROM tenbin_postcodes";
    assert_eq!(server.sql(found).unwrap().trim(), "2000|2000|7");
    let indexes = "SELECT count(*) FROM pg_indexes WHERE tablename = 'tenbin_postcodes'";
    assert_eq!(server.sql(indexes).unwrap().trim(), "2");
    place::prepare("sign-up", &Options::default(), &database, &()).unwrap();
    let sign_up = "INSERT INTO tenbin_accounts (email, name, created) VALUES ('a', 'b', CURRENT_TIMESTAMP)";
    server.sql(sign_up).unwrap();
    assert!(server.sql(sign_up).is_err());
    place::prepare("bulk-insert", &Options { tables: 2, ..Options::default() }, &database, &()).unwrap();
    server.sql("INSERT INTO sbtest2 VALUES (1, 1)").unwrap();
}

/// Query of the number of pages with only frozen rows, and of all pages.
const FROZEN: &str = "SELECT count(*) FILTER (WHERE v.all_frozen), count(*)
FROM pg_visibility_map('pgbench_accounts') v";

#[test]
fn rows_are_frozen_when_written() {
    let server = Postgres::start(&PostgresSettings::default().with("log_statement", "all")).unwrap();
    server.sql("CREATE EXTENSION pg_visibility").unwrap();
    let database = place::postgres(&server, Postgres::DATABASE);
    place::prepare("tpcb-like", &Options { scale: 2, ..Options::default() }, &database, &()).unwrap();
    let found = server.sql(FROZEN).unwrap();
    let (frozen, pages) = found.trim().split_once('|').unwrap();
    assert!(frozen == pages && pages.parse::<u32>().unwrap() > 1000, "{found}");
    let log = server.log();
    assert!(log.contains("count(*) FROM pgbench_history"), "{log}");
    assert!(!log.contains("count(*) FROM pgbench_accounts"), "its key has counted its rows");
}

#[test]
fn interrupted_load_resumes_without_loss_or_duplicates() {
    // One table in chunks, and one in a single transaction.
    for partitions in [0, 2] {
        let mut server = start();
        let options = Options { scale: 4, partitions, ..Options::default() };
        run_pgbench(&server, &["-s", "4", &format!("--partitions={partitions}")]);
        let whole = server.sql(SUMS).unwrap();
        server.sql(DROP).unwrap();

        let database = place::postgres(&server, Postgres::DATABASE);
        let stopped =
            place::prepare("tpcb-like", &options, &database, &StoppingObserver::until(150_000)).unwrap_err();
        assert!(matches!(stopped, Error::Stopped { .. }), "{stopped}");
        let watch = StoppingObserver::killing_server(server.pid(), 300_000);
        let broken = place::prepare("tpcb-like", &options, &database, &watch).unwrap_err();
        assert!(
            matches!(broken, Error::Broken { .. } | Error::Refused { .. } | Error::Connect { .. }),
            "{broken}"
        );
        server.restart_immediate().unwrap();
        let marks = server.sql(&format!("SELECT count(*) FROM {MARKS}")).unwrap();
        assert!(marks.trim().parse::<u32>().unwrap() >= 1);

        let other = Options { scale: 3, ..options.clone() };
        let refused = place::prepare("tpcb-like", &other, &database, &()).unwrap_err().to_string();
        assert!(refused.contains("scale 4") && refused.contains("--drop"), "{refused}");

        let before = server.sql("SELECT count(*) FROM pgbench_accounts").unwrap();
        let loaded = place::prepare("tpcb-like", &Options { jobs: 1, ..options }, &database, &()).unwrap();
        assert!(loaded.rows_before >= before.trim().parse().unwrap());
        assert_eq!(server.sql(SUMS).unwrap(), whole);
        assert!(server.sql(&format!("SELECT 1 FROM {MARKS}")).is_err());
    }
}

/// An observer that deletes a row before indexes are built.
struct RowDeleter<'a>(&'a Postgres);

impl loading::Observer for RowDeleter<'_> {
    fn stage(&self, words: &str) {
        if words == "indexes" {
            self.0.sql("DELETE FROM pgbench_accounts WHERE aid = 7").unwrap();
        }
    }
}

#[test]
fn missing_row_is_detected() {
    let server = start();
    let database = place::postgres(&server, Postgres::DATABASE);
    let said = place::prepare("tpcb-like", &Options::default(), &database, &RowDeleter(&server)).unwrap_err();
    let words = said.to_string();
    assert!(matches!(said, Error::Wrong { .. }) && words.contains("99999 rows from 1 to 100000"), "{words}");
}

#[test]
fn errors_have_context_and_no_password() {
    let server = start();
    let database = place::postgres(&server, "no_such_database");
    let said = place::prepare("tpcb-like", &Options::default(), &database, &()).unwrap_err();
    let words = said.to_string();
    assert!(words.contains("no_such_database") && words.contains(&server.port().to_string()), "{words}");
    assert!(!format!("{words} {said:?}").contains(Postgres::PASSWORD));

    server.sql("CREATE TABLE pgbench_tellers (mine int)").unwrap();
    let database = place::postgres(&server, Postgres::DATABASE);
    let said = place::prepare("tpcb-like", &Options::default(), &database, &()).unwrap_err().to_string();
    assert!(said.contains("pgbench_tellers") && said.contains("--drop"), "{said}");
    server.sql("INSERT INTO pgbench_tellers VALUES (1)").unwrap();
}
