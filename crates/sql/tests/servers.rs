//! Transactions on real servers: statements and numbers of pgbench, all workloads, and retries of conflicts.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use crate::line::TestClient;
use servers::{MariaDb, MariaDbSettings, PgBouncer, Postgres, PostgresSettings};
use sql::script::{Allow, Language, ScriptSet};
use sql::workload::{self, Style, Tables, WORKLOADS, Workload};
use sql::{Engine, Mode, RowCount, Settings, Sql, TransactionStep};
use wire::Next;
use wire::sql::{Login, Secret};
use wire::{Conversation as _, ErrorClass, Script as _};

const MODES: [(Mode, &str); 3] =
    [(Mode::Simple, "simple"), (Mode::Extended, "extended"), (Mode::Prepared, "prepared")];

fn login(user: &str, password: &str, database: &str) -> Arc<Login> {
    let password = Some(Secret(password.to_owned()));
    let database = Some(database.to_owned());
    Arc::new(Login { user: user.to_owned(), password, database, ..Login::default() })
}

fn all_scripts(text: &str) -> (ScriptSet, [TransactionStep; 1]) {
    let mut all_scripts = ScriptSet::new();
    assert_eq!(all_scripts.add("test", text.as_bytes(), Language::Extended, Allow::Nothing), Ok(0), "{text}");
    (all_scripts, [TransactionStep { name: "step".to_owned(), script: 0, expects: None }])
}

fn on_postgres(text: &str, settings: Settings) -> Sql {
    let (all_scripts, steps) = all_scripts(text);
    let login = login(Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE);
    sql::on_server(Engine::PostgreSql, all_scripts, &steps, settings, login, false, [5; 18]).unwrap()
}

fn on_mariadb(text: &str, settings: Settings) -> Sql {
    let (all_scripts, steps) = all_scripts(text);
    let login = login(MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    sql::on_server(Engine::MySql, all_scripts, &steps, settings, login, false, [5; 18]).unwrap()
}

/// Statements and values in a server log, without process IDs.
fn statements(log: &str) -> Vec<String> {
    let of_interest = |line: &&str| line.contains("LOG:  ") || line.contains("DETAIL:  ");
    let own = ["pg_catalog", "select count(*) from pgbench_branches", "checkpoint"];
    let lines = log.lines().filter(of_interest).filter(|line| !own.iter().any(|own| line.contains(own)));
    lines.filter_map(|line| Some(line.split_once("|")?.1.to_owned())).collect()
}

#[test]
fn server_log_matches_pgbench() {
    let settings = PostgresSettings::default().with("log_statement", "all").with("log_line_prefix", "%p|");
    let server = Postgres::start(&settings).unwrap();
    let pgbench = |arguments: &[&str]| {
        let output =
            server.client("pgbench", "postgresql-contrib").unwrap().args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    pgbench(&["-i", "-n", "-q"]);
    for (mode, word) in MODES {
        for name in ["tpcb-like", "simple-update", "select-only"] {
            let event = |ask: &dyn Fn()| {
                let before = server.log().len();
                ask();
                // The server may write its log after it has replied.
                let mut event = Vec::new();
                for _ in 0..50 {
                    sleep(Duration::from_millis(20));
                    let now = statements(&servers::with_pgbench_names(&server.log()[before..]));
                    if !now.is_empty() && now == event {
                        break;
                    }
                    event = now;
                }
                event
            };
            let theirs =
                event(&|| pgbench(&["-n", "-t", "3", "-c", "1", "--random-seed=5", "-M", word, "-b", name]));
            let ours = event(&|| {
                let settings = Settings { mode, seed: 5, ..Settings::default() };
                let text = workload::find(name).unwrap().script(Engine::PostgreSql, Style::default(), None);
                let script = on_postgres(&text.unwrap(), settings);
                let mut line = TestClient::open(script.open(0), server.port());
                (0..3).for_each(|_| assert_eq!(line.transact().rejection, None));
            });
            assert!(ours.len() >= 3, "{ours:?}");
            assert_eq!(ours, theirs, "{name} {word}");
        }
    }
}

fn on_postgres_in_run(run: u8, text: &str, mode: Mode) -> Sql {
    let ((all_scripts, steps), settings) = (all_scripts(text), Settings { mode, ..Settings::default() });
    let login = login(Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE);
    // Each run draws a nonce.
    sql::on_server(Engine::PostgreSql, all_scripts, &steps, settings, login, false, [run; 18]).unwrap()
}

#[test]
fn prepared_statements_work_behind_a_transaction_pooler() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    let settings = [("pool_mode", "transaction"), ("server_round_robin", "1")];
    let pooler = PgBouncer::start(&server, &settings).unwrap();
    server.sql("CREATE TABLE first (n int); CREATE TABLE second (n int)").unwrap();
    // While the transactions of two lines are open, the pooler needs two connections to the server, and keeps both.
    let open = on_postgres_in_run(0, "BEGIN;\nCOMMIT;\n", Mode::Simple);
    let mut lines = [0, 1].map(|number| TestClient::open(open.open(number), pooler.port()));
    let nexts = lines.each_mut().map(|line| {
        let next = line.conversation.begin(0);
        line.go(&next)
    });
    lines.iter_mut().zip(nexts).for_each(|(line, next)| assert_eq!(line.finish(next).rejection, None));
    for (run, table, other) in [(1, "first", "second"), (2, "second", "first"), (3, "first", "second")] {
        server.sql("TRUNCATE first, second").unwrap();
        let script = on_postgres_in_run(run, &format!("INSERT INTO {table} VALUES (1);\n"), Mode::Prepared);
        let mut lines = [0, 1, 2].map(|number| TestClient::open(script.open(number), pooler.port()));
        let ok = (0..60).filter(|number| lines[number % 3].transact().rejection.is_none()).count();
        let rows = |table| server.sql(&format!("SELECT count(*) FROM {table}")).unwrap().trim().to_owned();
        assert!(ok > 0, "run {run}");
        assert_eq!((rows(table), rows(other)), (ok.to_string(), "0".to_owned()), "run {run}");
    }
}

/// Tables for the workloads, as (PostgreSQL's or MariaDB's) words for a number that counts itself.
fn tables(tables: Tables, counting: &str) -> String {
    match tables {
        Tables::Pgbench => "CREATE TABLE pgbench_accounts (aid INT PRIMARY KEY, abalance INT);
            CREATE TABLE pgbench_tellers (tid INT PRIMARY KEY, tbalance INT);
            CREATE TABLE pgbench_branches (bid INT PRIMARY KEY, bbalance INT);
            CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP)"
            .to_owned(),
        Tables::Sbtest => ["1", "2"]
            .map(|table| {
                format!(
                    "CREATE TABLE sbtest{table} (id {counting} PRIMARY KEY, k INT, c CHAR(120), pad CHAR(60))"
                )
            })
            .join(";"),
        Tables::SbtestEmpty => ["1", "2"]
            .map(|table| format!("CREATE TABLE sbtest{table} (id INT PRIMARY KEY, k INT)"))
            .join(";"),
        Tables::Postcodes => "CREATE TABLE tenbin_postcodes (jis CHAR(5), old_code CHAR(5), code CHAR(7),
            prefecture_kana VARCHAR(99), city_kana VARCHAR(99), town_kana VARCHAR(99), prefecture VARCHAR(99),
            city VARCHAR(99), town VARCHAR(99), is_divided CHAR(1), has_lots CHAR(1), has_blocks CHAR(1),
            is_joint CHAR(1), updated CHAR(1), reason CHAR(1))"
            .to_owned(),
        Tables::Tpcc => String::new(),
        Tables::Accounts => {
            "CREATE TABLE tenbin_accounts (email VARCHAR(99) UNIQUE, name VARCHAR(99), created TIMESTAMP)"
                .to_owned()
        }
    }
}

/// Runs all workloads in all modes, with suitable settings.
fn every_workload(engine: Engine, mut run: impl FnMut(&Workload, &str, Settings)) {
    // The transactions of TPC-C need rows: crates/loading and crates/tenbin try them.
    for workload in WORKLOADS.iter().filter(|workload| workload.tables != Tables::Tpcc) {
        for (mode, _) in MODES {
            for style in workload.styles {
                let needs_pipeline = *style == Style::Pipelined;
                if needs_pipeline && (mode == Mode::Simple || engine != Engine::PostgreSql) {
                    continue;
                }
                let value = |name: &str, default| if name == "tables" { 2 } else { default };
                let variables = workload.variables.iter().map(|variable| {
                    (variable.name.to_owned(), value(variable.name, variable.default).to_string())
                });
                let retries = workload.retries(engine).to_vec();
                let variables = variables.collect();
                let settings =
                    Settings { mode, max_tries: 9, retries, variables, clients: 2, ..Settings::default() };
                run(workload, &workload.script(engine, *style, None).unwrap(), settings);
            }
        }
    }
}

/// SQL that recreates the tables of a workload empty.
fn recreate_tables(of: Tables, counting: &str) -> String {
    let tables = tables(of, counting);
    let names = tables.split("CREATE TABLE ").filter_map(|table| table.split_whitespace().next());
    let drops: String = names.map(|name| format!("DROP TABLE IF EXISTS {name};")).collect();
    drops + &tables
}

#[test]
fn every_workload_runs_on_postgresql() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    every_workload(Engine::PostgreSql, |workload, text, settings| {
        server.sql(&recreate_tables(workload.tables, "SERIAL")).unwrap();
        let script = on_postgres(text, settings);
        for number in 0..2 {
            let mut line = TestClient::open(script.open(number), server.port());
            for _ in 0..3 {
                assert_eq!(line.transact().rejection, None, "{}:\n{text}", workload.name);
            }
        }
    });
}

#[test]
fn every_workload_runs_on_mariadb() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    every_workload(Engine::MySql, |workload, text, settings| {
        let utf8 = "SET NAMES utf8mb4; ALTER DATABASE CHARACTER SET utf8mb4;";
        server.sql(&(utf8.to_owned() + &recreate_tables(workload.tables, "INT AUTO_INCREMENT"))).unwrap();
        let script = on_mariadb(text, settings);
        for number in 0..2 {
            let mut line = TestClient::open(script.open(number), server.port());
            for _ in 0..3 {
                assert_eq!(line.transact().rejection, None, "{}:\n{text}", workload.name);
            }
        }
    });
}

/// Results of a script's statements as text from MariaDB, after its transaction in a mode.
fn numbers_in(
    server: &MariaDb,
    language: Language,
    mode: Mode,
    variables: &[(&str, &str)],
    script: &str,
) -> String {
    let mut all_scripts = ScriptSet::new();
    assert_eq!(all_scripts.add("test", script.as_bytes(), language, Allow::Nothing), Ok(0), "{script}");
    let step = TransactionStep { name: "step".to_owned(), script: 0, expects: None };
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let (bindings, numbers) = (vec!["drawn".to_owned()], vec![0]);
    let settings =
        Settings { mode, variables: variables.collect(), bindings, numbers, ..Settings::default() };
    let login = login(MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    server
        .sql(
            "DROP TABLE IF EXISTS big, chars; CREATE TABLE big (id INT, v BIGINT, d DECIMAL(30,4), f DOUBLE);
            INSERT INTO big VALUES (1, 9007199254740993, 12345678901234567890.1234, 0.5);
            CREATE TABLE chars (c VARCHAR(9), hit INT DEFAULT 0);
            INSERT INTO chars (c) VALUES ('5'), ('5.0'), ('05'), ('1');",
        )
        .unwrap();
    let script =
        sql::on_server(Engine::MySql, all_scripts, &[step], settings, login, false, [5; 18]).unwrap();
    let mut line = TestClient::open(script.open(0), server.port());
    line.conversation.set(0, b"2");
    // Twice over one connection: types of values may change between executions.
    (0..2).for_each(|_| assert_eq!(line.transact().rejection, None));
    server.sql("SELECT v, d, f FROM big; SELECT GROUP_CONCAT(c, ':', hit ORDER BY c) FROM chars").unwrap()
}

#[test]
fn numbers_are_equal_in_every_mode_on_mariadb() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    let add = "UPDATE big SET v = v + :x, d = d + :x, f = f + :x WHERE id = 1;";
    let find = "UPDATE chars SET hit = hit + 1 WHERE c = :x;";
    for (language, variables, script) in [
        (Language::Pgbench, &[][..], format!("\\set x 2\n{add}")),
        (Language::Pgbench, &[], format!("\\set x random(1, 2) * 0 + 0.25\n{add}")),
        (Language::Pgbench, &[], "\\set x 1e+20 / 10000\nUPDATE big SET d = d + :x, f = f + :x;".to_owned()),
        (Language::Pgbench, &[("x", "007")], add.to_owned()),
        (Language::Pgbench, &[("x", "-0.0001")], add.to_owned()),
        (Language::Pgbench, &[("x", "9223372036854775808")], "UPDATE big SET d = d + :x;".to_owned()),
        (Language::Pgbench, &[], "SELECT 3 AS x \\gset\n".to_owned() + add),
        (Language::Pgbench, &[("x", "5")], find.to_owned()),
        (Language::Pgbench, &[("x", "5.0")], find.to_owned()),
        (Language::Pgbench, &[], format!("\\set x true\n{find}")),
        (Language::Extended, &[], format!("\\set x 2\n{add}")),
        (Language::Extended, &[], format!("\\set x 0.25\n{add}")),
        (Language::Extended, &[], format!("\\set x 5\n{find}")),
        (Language::Extended, &[("x", "5")], find.to_owned()),
        (Language::Extended, &[("x", "05")], find.to_owned()),
        (Language::Extended, &[], "\\set x null\nUPDATE big SET f = coalesce(:x, 7);".to_owned()),
    ] {
        let [simple, extended, prepared] =
            MODES.map(|(mode, _)| numbers_in(&server, language, mode, variables, &script));
        assert_eq!((&extended, &prepared), (&simple, &simple), "{variables:?} {script}");
    }
    let drawn = add.replace(":x", ":drawn");
    for (mode, _) in MODES {
        for exact in [
            numbers_in(&server, Language::Pgbench, mode, &[("x", "2")], add),
            numbers_in(&server, Language::Extended, mode, &[], &drawn),
        ] {
            let expected = "9007199254740997\t12345678901234567894.1234\t4.5\n";
            assert!(exact.starts_with(expected), "{exact}");
        }
    }
}

const ROWS: &str = "CREATE TABLE t (id INT PRIMARY KEY, a INT); INSERT INTO t VALUES (1, 0), (2, 0)";

#[test]
fn serialization_failure_is_retried_on_postgresql() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    server.sql(ROWS).unwrap();
    let text = "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT a FROM t;\nUPDATE t SET a = a + 1 WHERE id = 1;\nEND;";
    for (mode, _) in MODES {
        for (max_tries, status, class) in [(1, 1, Some(ErrorClass::SerializationFailure)), (2, 2, None)] {
            let script = on_postgres(text, Settings { mode, max_tries, ..Settings::default() });
            let mut slow = TestClient::open(script.open(0), server.port());
            let mut next = slow.conversation.begin(0);
            for _ in 0..2 {
                next = slow.go(&next);
                assert_eq!(next, Next::Send);
            }
            assert_eq!(TestClient::open(script.open(1), server.port()).transact().rejection, None);
            let reply = slow.finish(next);
            assert_eq!((reply.status, reply.rejection.map(|rejection| rejection.class)), (status, class));
            assert_eq!((reply.reusable, slow.transact().rejection), (true, None));
        }
    }
}

#[test]
fn deadlock_is_retried_on_mariadb() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    server.sql(ROWS).unwrap();
    let text = |first: u8, second: u8| {
        let update = |id: u8| format!("UPDATE t SET a = a + 1 WHERE id = {id};\n");
        ["BEGIN;\n", &update(first), &update(second), "COMMIT;"].concat()
    };
    for (mode, _) in MODES {
        let open = |text: &str| {
            let settings = Settings { mode, max_tries: 5, ..Settings::default() };
            TestClient::open(on_mariadb(text, settings).open(0), server.port())
        };
        let (mut one, mut other) = (open(&text(1, 2)), open(&text(2, 1)));
        // Prepared in advance, so that each holds its first row after two replies.
        assert_eq!((one.transact().rejection, other.transact().rejection), (None, None));
        let has_one_row = |line: &mut TestClient| {
            let mut next = line.conversation.begin(0);
            let answers = if mode == Mode::Extended { 3 } else { 2 };
            for _ in 0..answers {
                next = line.go(&next);
            }
            next
        };
        let (next_of_one, next_of_other) = (has_one_row(&mut one), has_one_row(&mut other));
        let waiting = std::thread::spawn(move || one.finish(next_of_one));
        let replies = [other.finish(next_of_other), waiting.join().unwrap()];
        assert!(replies.iter().all(|reply| reply.rejection.is_none()), "{replies:?}");
        assert_eq!(replies.iter().map(|reply| reply.status).sum::<u16>(), 3, "one of them is tried twice");
    }
}

/// A script that finds one row only if two values are stored unchanged: a text with everything that could end a quotation, and a
/// number that could begin a comment.
fn odd_values(backslash: &str) -> (ScriptSet, [TransactionStep; 1], Settings) {
    let text = r"\'; DROP TABLE t; -- \\' $$ é";
    let script = format!(
        "\\set n 0 - 5\nSELECT 1 FROM t WHERE CHAR_LENGTH(:text) = {} AND 10-:n = 15\n\
         AND REPLACE(:text, {backslash}, '') = '''; DROP TABLE t; -- '' $$ é' AND id = 1;",
        text.chars().count()
    );
    let (all_scripts, [step]) = all_scripts(&script);
    let settings = Settings { variables: vec![("text".into(), text.into())], ..Settings::default() };
    (all_scripts, [TransactionStep { expects: Some(RowCount::exactly(1)), ..step }], settings)
}

#[test]
fn values_arrive_unchanged_for_any_backslash_setting() {
    for setting in ["on", "off"] {
        let settings = PostgresSettings::default().with("standard_conforming_strings", setting);
        let server = Postgres::start(&settings).unwrap();
        server.sql(ROWS).unwrap();
        let (all_scripts, steps, settings) = odd_values("chr(92)");
        let login = login(Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE);
        let script =
            sql::on_server(Engine::PostgreSql, all_scripts, &steps, settings, login, false, [5; 18]).unwrap();
        let reply = TestClient::open(script.open(0), server.port()).transact();
        assert_eq!(reply.rejection, None, "{setting}");
    }
    for setting in ["STRICT_TRANS_TABLES", "NO_BACKSLASH_ESCAPES"] {
        let server = MariaDb::start(&MariaDbSettings::default().with("sql_mode", setting)).unwrap();
        server.sql(ROWS).unwrap();
        let (all_scripts, steps, settings) = odd_values("char(92)");
        let login = login(MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
        let script =
            sql::on_server(Engine::MySql, all_scripts, &steps, settings, login, false, [5; 18]).unwrap();
        let reply = TestClient::open(script.open(0), server.port()).transact();
        assert_eq!(reply.rejection, None, "{setting}");
    }
}

/// Values that would leave their quotes without escaping.
const ESCAPING_VALUES: [&str; 6] = ["434", "it's", r"\", r"\' OR 1=1 --", "a\"b`c*/", "''"];

/// Stores each value in every mode within every kind of quotes. Returns the stored texts, in brackets.
fn stored_in_quotes(
    open: impl Fn(&str, Settings) -> Sql,
    port: u16,
    statements: &[&str],
    stored: impl Fn() -> String,
) -> Vec<String> {
    let mut all = Vec::new();
    for (mode, _) in MODES {
        for value in ESCAPING_VALUES {
            let bindings = vec!["v".to_owned()];
            let script = open(&statements.join("\n"), Settings { mode, bindings, ..Settings::default() });
            let mut line = TestClient::open(script.open(0), port);
            line.conversation.set(0, value.as_bytes());
            assert_eq!(line.transact().rejection, None, "{mode:?} {value}");
            all.push(stored());
        }
    }
    all
}

#[test]
fn values_within_quotes_are_stored_unchanged() {
    let insert = |text: &str| format!("INSERT INTO q VALUES ({text}) /* {{v}} */;");
    let expected: Vec<String> =
        MODES.iter().flat_map(|_| ESCAPING_VALUES).map(|value| format!("[{value}|{{v}}]")).collect();
    for setting in ["on", "off"] {
        let settings = PostgresSettings::default().with("standard_conforming_strings", setting);
        let server = Postgres::start(&settings).unwrap();
        server.sql("CREATE TABLE q (a TEXT)").unwrap();
        for text in [
            "'[{v}|{{v}}]'",
            "E'[{v}|{{v}}]'",
            "N'[{v}|{{v}}]'",
            "(SELECT \"x[{v}|{{v}}]\" FROM (SELECT '[{v}|{{v}}]' AS \"x[{v}|{{v}}]\") AS \"{v}\")",
        ] {
            let stored =
                stored_in_quotes(on_postgres, server.port(), &["DELETE FROM q;", &insert(text)], || {
                    server.sql("SELECT a FROM q").unwrap().trim_end().to_owned()
                });
            assert_eq!(stored, expected, "{setting} {text}");
        }
    }
    for setting in ["STRICT_TRANS_TABLES", "NO_BACKSLASH_ESCAPES"] {
        let server = MariaDb::start(&MariaDbSettings::default().with("sql_mode", setting)).unwrap();
        server.sql("CREATE TABLE q (a TEXT)").unwrap();
        for text in [
            "'[{v}|{{v}}]'",
            "\"[{v}|{{v}}]\"",
            "(SELECT `x[{v}|{{v}}]` FROM (SELECT '[{v}|{{v}}]' AS `x[{v}|{{v}}]`) AS `x{v}`)",
        ] {
            let stored =
                stored_in_quotes(on_mariadb, server.port(), &["DELETE FROM q;", &insert(text)], || {
                    server.sql("SELECT HEX(a) FROM q").unwrap().trim_end().to_owned()
                });
            let expected: Vec<String> = expected.iter().map(|text| hexadecimal(text)).collect();
            assert_eq!(stored, expected, "{setting} {text}");
        }
    }
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}
