//! Own statements and rows of plans, in real databases.

use std::sync::Arc;

use load::values::Source;
use loading::{
    Database, DrawnColumn, Error, HeldSession, OwnData, OwnRows, OwnTable, SqlText, load_own_data,
};
use servers::{MariaDb, Postgres};

use crate::place;

fn sql(file: Option<&str>, text: &str) -> SqlText {
    SqlText { file: file.map(Into::into), text: text.to_owned() }
}

fn drawn(count: u64) -> OwnTable {
    let column = |source, null_share, seed| DrawnColumn { source, null_share, seed };
    let words = ["it's", "b\\c", "d\te"].map(Box::from);
    let columns = vec![
        column(Source::Sequence { from: 1, until: None, by: 1 }, 0.0, 1),
        column(Source::Uniform { min: 1, max: 9 }, 0.0, 2),
        column(Source::Words { words: Arc::from(words) }, 0.5, 3),
        column(Source::Uuid, 0.0, 4),
        column(Source::Moment { from_s: 86_400, until_s: 999_999 }, 0.0, 5),
    ];
    let names = ["id", "amount", "word", "code", "at"].map(str::to_owned).to_vec();
    OwnTable { name: "items".to_owned(), columns: names, rows: Arc::new(OwnRows::drawn(count, columns)) }
}

fn data(count: u64) -> OwnData {
    let schema = "-- items\nCREATE TABLE items (extra int, id int PRIMARY KEY, amount int NOT NULL, word varchar(9), code char(36), at timestamp);\n\
                  CREATE INDEX by_amount ON items (amount);\n";
    let after = "CREATE TABLE sums AS SELECT count(*) AS n FROM items";
    OwnData {
        sql: vec![sql(Some("schema.sql"), schema), sql(None, after)],
        tables: vec![drawn(count)],
        jobs: 2,
        fresh: false,
    }
}

fn ask(database: &Database, sql: &str) -> Vec<String> {
    let answer = HeldSession::open(database, Arc::default()).unwrap().ask(sql).unwrap();
    answer.into_iter().flatten().map(Option::unwrap_or_default).collect()
}

/// Rows are equal in every database, regardless of how they are written.
const FACTS: &str =
    "SELECT count(*), sum(amount), min(id), max(id), count(word), (SELECT n FROM sums) FROM items";
const WORDS: &str = "SELECT word FROM items WHERE word IS NOT NULL GROUP BY word ORDER BY word";

fn is_filled(database: &Database) -> Vec<String> {
    let data = data(250_000);
    let loaded = load_own_data(&data, database, &()).unwrap();
    assert_eq!(loaded.tables, [("items".to_owned(), 250_000)]);
    assert_eq!(ask(database, WORDS), ["b\\c", "d\te", "it's"]);
    let again = load_own_data(&data, database, &()).unwrap_err();
    assert_eq!(again, Error::OwnExists { tables: vec!["items".to_owned(), "sums".to_owned()] });
    load_own_data(&OwnData { fresh: true, ..data }, database, &()).unwrap();
    ask(database, FACTS)
}

#[test]
fn own_tables_have_the_same_rows_in_every_database() {
    let (postgres, mariadb) =
        (Postgres::start(&Default::default()).unwrap(), MariaDb::start(&Default::default()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let facts = is_filled(&place::sqlite(folder.path().join("own.db")));
    assert_eq!(facts[0], "250000");
    assert_eq!(facts[5], "250000", "statements after the tables find the rows");
    assert_eq!(is_filled(&place::postgres(&postgres, "postgres")), facts);
    assert_eq!(is_filled(&place::mariadb(&mariadb)), facts);
}

#[test]
fn rejected_statistics_leave_the_rows_and_a_note() {
    let server = Postgres::start(&Default::default()).unwrap();
    let database = place::postgres(&server, "postgres");
    let function = |body: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION f(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN {body} END$$"
        )
    };
    // ANALYZE computes the expressions of indexes.
    let after = format!(
        "{}; CREATE INDEX ON items (f(id)); {}",
        function("RETURN id;"),
        function("RAISE 'none today';")
    );
    let mut data = data(10);
    data.sql.push(sql(None, &after));
    let loaded = load_own_data(&data, &database, &()).unwrap();
    assert_eq!(loaded.tables, [("items".to_owned(), 10)]);
    assert!(loaded.notes[0].contains("rejected VACUUM ANALYZE (P0001: none today)"), "{loaded:?}");
    assert_eq!(ask(&database, "SELECT count(*) FROM items"), ["10"]);
}

fn fails(database: &Database, data: &OwnData) -> String {
    load_own_data(data, database, &()).unwrap_err().to_string()
}

#[test]
fn errors_name_file_line_and_the_servers_reason() {
    let (postgres, mariadb) =
        (Postgres::start(&Default::default()).unwrap(), MariaDb::start(&Default::default()).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let sqlite = place::sqlite(folder.path().join("own.db"));
    let csv = b"id,amount\n1,2\n2,\"3\"\n3,\n4,5\n".to_vec();
    let rows = Arc::new(OwnRows::csv("items.csv", csv.into()).unwrap());
    let columns = vec!["id".to_owned(), "amount".to_owned()];
    let table = OwnTable { name: "own".to_owned(), columns, rows };
    let statements = |text: &str| OwnData {
        sql: vec![sql(Some("s.sql"), text)],
        jobs: 1,
        fresh: true,
        ..OwnData::default()
    };
    for database in [&place::postgres(&postgres, "postgres"), &place::mariadb(&mariadb), &sqlite] {
        let wrong =
            fails(database, &statements("CREATE TABLE own (id int);\n\nINSERT INTO missing VALUES (1);"));
        assert!(wrong.contains("(s.sql, line 3)") && wrong.contains("missing"), "{wrong}");
        let create = statements("CREATE TABLE own (id int, amount int NOT NULL);");
        let wrong = fails(database, &OwnData { tables: vec![table.clone()], ..create });
        assert!(wrong.contains("items.csv, line 4") && wrong.contains("amount"), "{wrong}");
        let good = statements("CREATE TABLE own (id int, amount int);");
        load_own_data(&OwnData { tables: vec![table.clone()], ..good }, database, &()).unwrap();
        assert_eq!(ask(database, "SELECT count(*), sum(amount) FROM own"), ["4", "10"]);
        let wrong = fails(database, &OwnData { tables: vec![table.clone()], jobs: 1, ..OwnData::default() });
        assert!(wrong.contains("own has rows already"), "{wrong}");
    }
}
