//! Tables in the shape of TPC-C satisfy the consistency conditions of the specification before any load.

use crate::place;
use loading::{Error, Options};
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};
use sql::workload::tpcc::CONDITIONS;

const OPTIONS: fn() -> Options = || Options { scale: 2, table_size: 1_000, ..Options::default() };

#[test]
fn new_tables_on_postgresql_are_consistent() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    let database = place::postgres(&server, Postgres::DATABASE);
    let loaded = place::prepare("tpcc-payment", &OPTIONS(), &database, &()).unwrap();
    let rows = |name: &str| loaded.tables.iter().find(|(table, _)| table == name).map(|(_, rows)| *rows);
    assert_eq!(rows("tpcc_warehouse"), Some(2));
    assert_eq!(rows("tpcc_order_line"), Some(2 * 10 * 30 * 10));
    for condition in CONDITIONS {
        assert_eq!(server.sql(condition.query).unwrap().trim(), "0", "{}", condition.clause);
    }
    server
        .sql(
            "DELETE FROM tpcc_order_line WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 5 AND ol_number = 2",
        )
        .unwrap();
    server.sql("UPDATE tpcc_district SET d_ytd = d_ytd + 1 WHERE d_w_id = 2 AND d_id = 3").unwrap();
    server.sql("DELETE FROM tpcc_new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 25").unwrap();
    server.sql("DELETE FROM tpcc_orders WHERE o_w_id = 2 AND o_d_id = 9 AND o_id = 30").unwrap();
    let found = CONDITIONS.map(|condition| server.sql(condition.query).unwrap().trim().to_owned());
    assert_eq!(found, ["1", "1", "1", "2"]);
}

#[test]
fn new_tables_on_mariadb_are_consistent() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    place::prepare("tpcc-payment", &OPTIONS(), &place::mariadb(&server), &()).unwrap();
    for condition in CONDITIONS {
        assert_eq!(server.sql(condition.query).unwrap().trim(), "0", "{}", condition.clause);
    }
}

#[test]
fn number_of_items_has_limits() {
    let workload = sql::workload::find_for_tables("tpcc-like").unwrap();
    let few = Options { table_size: 10, ..Options::default() };
    let error = loading::Plan::new(workload, sql::Engine::PostgreSql, &few).unwrap_err();
    assert!(matches!(&error, Error::Options(what) if what.contains("1000 to 100000")), "{error}");
    let on_sqlite = loading::Plan::new(workload, sql::Engine::Sqlite, &Options::default()).unwrap_err();
    assert!(on_sqlite.to_string().contains("PostgreSQL and MySQL"), "{on_sqlite}");
}
