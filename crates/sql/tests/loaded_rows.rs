//! `\\copy` loads rows that it makes: into real servers, and with answers that a server should not give.

use std::sync::Arc;

use crate::line::TestClient;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Mode, Settings, Sql, TransactionStep};
use wire::sql::{Login, Secret};
use wire::{Conversation as _, ErrorClass, Script as _};

const SCRIPT: &str = "\\set rows 250\n\\copy items (id, owner, word) :rows (serial(), random(1, 50), concat('a\\tb', digits('##')))\n";

fn script(engine: Engine, text: &str, mode: Mode, [user, password, database]: [&str; 3]) -> Sql {
    let mut scripts = ScriptSet::new();
    scripts.add("load", text.as_bytes(), Language::Extended, Allow::Nothing).unwrap();
    let step = TransactionStep { name: "load".to_owned(), script: 0, expects: None };
    let login = Login {
        user: user.to_owned(),
        password: Some(Secret(password.to_owned())),
        database: Some(database.to_owned()),
        ..Login::default()
    };
    let settings = Settings { mode, ..Settings::default() };
    sql::on_server(engine, scripts, &[step], settings, Arc::new(login), false, [5; 18]).unwrap()
}

/// Class and words of the refusal of one transaction. `None` if it ended ok.
fn rejection(line: &mut TestClient) -> Option<(ErrorClass, String)> {
    let rejection = line.transact().rejection?;
    Some((rejection.class, line.conversation.explain(rejection)))
}

#[test]
fn rows_are_loaded_into_postgresql_in_every_mode() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    server.sql("CREATE TABLE items (id int PRIMARY KEY, owner int, word text)").unwrap();
    let login = [Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE];
    for (_, mode) in Mode::NAMES {
        let script = script(Engine::PostgreSql, SCRIPT, *mode, login);
        let mut line = TestClient::open(script.open(0), server.port());
        assert_eq!((rejection(&mut line), rejection(&mut line)), (None, None), "{mode:?}");
        assert_eq!(line.conversation.content().rows, Some(250));
        let sums = "SELECT count(*), count(DISTINCT id), min(owner) > 0, bool_and(word = 'a\\tb' || right(word, 2)) FROM items";
        assert_eq!(server.sql(sums).unwrap().trim(), "500|500|t|t", "{mode:?}");
        let (class, words) =
            rejection(&mut TestClient::open(script.open(0), server.port())).expect("the keys exist");
        assert_eq!(class, ErrorClass::Constraint, "{words}");
        server.sql("TRUNCATE items").unwrap();
    }
    let wrong = script(Engine::PostgreSql, "\\copy nothing (a) 3 (1)\n", Mode::Simple, login);
    let mut line = TestClient::open(wrong.open(0), server.port());
    for _ in 0..2 {
        assert_eq!(rejection(&mut line).map(|(class, _)| class), Some(ErrorClass::MissingObject));
    }
}

#[test]
fn rows_are_loaded_into_mariadb_and_counted() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    server.sql("CREATE TABLE items (id INT PRIMARY KEY, owner INT, word VARCHAR(9))").unwrap();
    let login = [MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE];
    for (_, mode) in Mode::NAMES {
        let script = script(Engine::MySql, SCRIPT, *mode, login);
        let mut line = TestClient::open(script.open(0), server.port());
        assert_eq!((rejection(&mut line), rejection(&mut line)), (None, None), "{mode:?}");
        let sums = "SELECT COUNT(*), COUNT(DISTINCT id), MIN(owner) > 0, SUM(word = CONCAT('a', CHAR(92), 'tb', RIGHT(word, 2))) FROM items";
        assert_eq!(server.sql(sums).unwrap().trim(), "500\t500\t1\t500", "{mode:?}");
        // With LOCAL, the server skips rows whose keys exist, and reports only how many it took.
        let skipped = rejection(&mut TestClient::open(script.open(0), server.port()));
        assert_eq!(skipped, Some((ErrorClass::Rows, "the server took 0 of 250 rows".to_owned())));
        server.sql("TRUNCATE items").unwrap();
    }
    server.sql("SET GLOBAL local_infile = 0").unwrap();
    let script = script(Engine::MySql, SCRIPT, Mode::Simple, login);
    let (class, words) =
        rejection(&mut TestClient::open(script.open(0), server.port())).expect("it is forbidden");
    assert_eq!(class, ErrorClass::MissingPrivilege, "{words}");
}

#[test]
fn invalid_copy_commands_are_errors_with_position() {
    for (text, what) in [
        ("\\copy\n", "write \\copy TABLE (COLUMNS) ROWS (VALUES)"),
        ("\\copy items 5 (1)\n", "write \\copy TABLE"),
        ("\\copy items (a; DROP TABLE b) 5 (1)\n", "write \\copy TABLE"),
        ("\\copy items (a, b) 5 (1)\n", "2 columns, and 1 values"),
        ("\\copy items (a) 0 (1)\n", "the number of rows is not between 1 and 1000000"),
        ("\\copy items (a) 5 (nothing())\n", "unexpected function name"),
        ("\\copy items (a) 5 (1\n", "syntax error"),
        ("\\copy items (a) 5\n", "syntax error"),
    ] {
        let errors =
            ScriptSet::new().add("load", text.as_bytes(), Language::Extended, Allow::Nothing).unwrap_err();
        assert!(errors[0].to_string().contains(what) && errors[0].line == 1, "{text}: {}", errors[0]);
    }
    let mut scripts = ScriptSet::new();
    scripts.add("load", SCRIPT.as_bytes(), Language::Extended, Allow::Nothing).unwrap();
    let step = TransactionStep { name: "load".to_owned(), script: 0, expects: None };
    let open = |_| -> Box<dyn wire::sql::Session> { panic!("it is never opened") };
    let error = Sql::new(scripts, &[step], Settings::default(), Engine::Sqlite, open).unwrap_err();
    assert!(error.contains("\\copy works with PostgreSQL and MySQL only"), "{error}");
}
