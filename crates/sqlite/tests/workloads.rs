//! Runs every built-in workload on SQLite.

use sql::SqlConversation;
use sql::script::{Allow, Language, ScriptSet};
use sql::workload::{Style, Tables, WORKLOADS, Workload};
use sql::{Engine, Mode, RowCount, Settings, TransactionStep};
use sqlite::{Database, sqlite};
use wire::{Conversation as _, ErrorClass, Greeting, Next, Progress, Reply, Script as _, Stage};

const TABLES: [(Tables, &str); 5] = [
    (
        Tables::Pgbench,
        "CREATE TABLE pgbench_accounts (aid INTEGER PRIMARY KEY, bid INT, abalance INT);
        CREATE TABLE pgbench_tellers (tid INTEGER PRIMARY KEY, bid INT, tbalance INT);
        CREATE TABLE pgbench_branches (bid INTEGER PRIMARY KEY, bbalance INT);
        CREATE TABLE pgbench_history (tid INT, bid INT, aid INT, delta INT, mtime TIMESTAMP);
        INSERT INTO pgbench_branches VALUES (1, 0)",
    ),
    (
        Tables::Sbtest,
        "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INT, c TEXT, pad TEXT);
        CREATE TABLE sbtest2 (id INTEGER PRIMARY KEY, k INT, c TEXT, pad TEXT);
        INSERT INTO sbtest1 VALUES (1, 1, 'c', 'p'); INSERT INTO sbtest2 VALUES (1, 1, 'c', 'p')",
    ),
    (
        Tables::SbtestEmpty,
        "CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INT); CREATE TABLE sbtest2 (id INTEGER PRIMARY KEY, k INT)",
    ),
    (
        Tables::Postcodes,
        "CREATE TABLE tenbin_postcodes (jis TEXT, old_code TEXT, code TEXT, prefecture_kana TEXT, city_kana TEXT,
        town_kana TEXT, prefecture TEXT, city TEXT, town TEXT, is_divided TEXT, has_lots TEXT, has_blocks TEXT,
        is_joint TEXT, updated TEXT, reason TEXT)",
    ),
    (Tables::Accounts, "CREATE TABLE tenbin_accounts (email TEXT UNIQUE, name TEXT, created TIMESTAMP)"),
];

fn one(text: &str) -> ScriptSet {
    let mut all_scripts = ScriptSet::new();
    assert_eq!(all_scripts.add("test", text.as_bytes(), Language::Extended, Allow::Nothing), Ok(0), "{text}");
    all_scripts
}

fn open(database: &Database, text: &str, settings: Settings, number: u32) -> SqlConversation {
    let step = TransactionStep { name: "step".to_owned(), script: 0, expects: None };
    let script = sqlite(one(text), &[step], settings, database.clone()).unwrap();
    let mut conversation = script.open(number);
    assert_eq!(conversation.greet(), Greeting::Await);
    assert_eq!(conversation.greeted(&[]).unwrap(), (0, Greeting::Done));
    conversation
}

/// Runs a transaction. Returns its reply, and the number of parts that ended.
fn transact(conversation: &mut SqlConversation) -> (Reply, usize) {
    let mut parts = 0;
    let mut next = conversation.begin(0);
    for _ in 0..10_000 {
        match next {
            Next::Done(reply) => return (reply, parts),
            Next::Send | Next::Await => {}
            other => panic!("{other:?}"),
        }
        next = match conversation.received(&[]).unwrap() {
            Progress::NeedMore => Next::Await,
            Progress::Replied { used: 0, reply } => Next::Done(reply),
            Progress::PartReplied { used: 0, part, next } => {
                parts += usize::from(part.is_some());
                next
            }
            other => panic!("{other:?}"),
        };
    }
    panic!("it does not end");
}

fn settings(workload: &Workload, mode: Mode) -> Settings {
    let value = |name: &str, default: u32| match name {
        "tables" => 2,
        "table_size" => 100,
        _ => default,
    };
    let variables = workload.variables.iter().filter(|variable| variable.name != "scale");
    let variables = variables
        .map(|variable| (variable.name.to_owned(), value(variable.name, variable.default).to_string()));
    Settings { mode, clients: 2, variables: variables.collect(), ..Settings::default() }
}

#[test]
fn every_workload_runs_in_every_mode() {
    for workload in WORKLOADS.iter().filter(|workload| workload.runs_on(Engine::Sqlite)) {
        for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
            for style in workload.styles.iter().filter(|style| **style != Style::Pipelined) {
                let folder = tempfile::tempdir().unwrap();
                let database = Database {
                    creates_file: true,
                    settings: vec![("synchronous".to_owned(), "off".to_owned())],
                    ..Database::new(folder.path().join("test.db"))
                };
                let (_, tables) = TABLES.iter().find(|(tables, _)| *tables == workload.tables).unwrap();
                let tables = tables.replace(';', " \\;");
                let (made, _) = transact(&mut open(&database, &tables, Settings::default(), 0));
                assert_eq!(made.rejection, None, "{tables}");

                let script = workload.script(Engine::Sqlite, *style, None).unwrap();
                let statements = one(&script).statements().len();
                for number in 0..2 {
                    let mut conversation = open(&database, &script, settings(workload, mode), number);
                    for _ in 0..3 {
                        let (reply, parts) = transact(&mut conversation);
                        let what = format!("{} {mode:?} {style:?}: {:?}", workload.name, reply.rejection);
                        assert_eq!((reply.rejection, reply.status), (None, 1), "{what}");
                        assert_eq!(parts, if statements == 1 { 0 } else { statements }, "{what}");
                        assert_eq!(conversation.stage(), Stage::Idle);
                    }
                }
            }
        }
    }
}

#[test]
fn conflict_is_rolled_back_and_retried() {
    let folder = tempfile::tempdir().unwrap();
    let settings_of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let database = Database {
        creates_file: true,
        settings: vec![settings_of("journal_mode", "wal"), settings_of("busy_timeout", "1")],
        ..Database::new(folder.path().join("test.db"))
    };
    let retrying = Settings { max_tries: 3, ..Settings::default() };
    transact(&mut open(&database, "CREATE TABLE t (a); INSERT INTO t VALUES (0)", Settings::default(), 0));
    let mut reader = open(&database, "BEGIN; SELECT * FROM t; UPDATE t SET a = a + 1; END", retrying, 0);
    let mut writer = open(&database, "UPDATE t SET a = 9", Settings::default(), 0);
    assert_eq!(reader.begin(0), Next::Send);
    // The reader has begun to read when the writer writes, which makes its snapshot stale.
    for _ in 0..2 {
        assert!(matches!(reader.received(&[]).unwrap(), Progress::PartReplied { next: Next::Send, .. }));
    }
    assert_eq!(transact(&mut writer).0.rejection, None);
    let mut refused = Vec::new();
    let reply = loop {
        match reader.received(&[]).unwrap() {
            Progress::Replied { reply, .. } => break reply,
            Progress::PartReplied { part, next, .. } => {
                let rejection = part.and_then(|part| part.rejection);
                refused.extend(rejection.map(|rejection| (rejection.class, reader.explain(rejection))));
                if let Next::Done(reply) = next {
                    break reply;
                }
            }
            Progress::NeedMore | Progress::Redirected { .. } => panic!("nothing more will come"),
        }
    };
    assert_eq!(refused, [(ErrorClass::SerializationFailure, "517: database is locked".to_owned())]);
    assert_eq!((reply.status, reply.rejection), (2, None));
}

#[test]
fn running_statement_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database { creates_file: true, ..Database::new(folder.path().join("test.db")) };
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let mut conversation = open(&database, endless, Settings::default(), 0);
    let interrupt = conversation.interrupt().unwrap();
    interrupt();
    let (done, is_done) = std::sync::mpsc::channel();
    let interrupter = std::thread::spawn(move || {
        // The statement must be running to be interrupted, which cannot be observed, so this interrupts repeatedly.
        for _ in 0..10_000 {
            interrupt();
            if is_done.recv_timeout(std::time::Duration::from_millis(1)).is_ok() {
                return true;
            }
        }
        false
    });
    let (reply, _) = transact(&mut conversation);
    done.send(()).unwrap();
    assert!(interrupter.join().unwrap());
    assert_eq!(reply.rejection.map(|rejection| rejection.class), Some(ErrorClass::Canceled));
}

#[test]
fn values_within_quotes_are_read_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database { creates_file: true, ..Database::new(folder.path().join("quotes.db")) };
    let text = "SELECT 1 FROM (SELECT '[{v}]' AS \"x{v}\", '{{v}}' AS `y{v}`) /* {v} */ \
        WHERE \"x{v}\" = '[' || :v || ']' AND `y{v}` = '{' || 'v}';";
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        for value in ["434", "it's", r"\", "a\"b`c*/", "''"] {
            let expects = Some(RowCount::exactly(1));
            let step = TransactionStep { name: "step".to_owned(), script: 0, expects };
            let settings = Settings { mode, bindings: vec!["v".to_owned()], ..Settings::default() };
            let script = sqlite(one(text), &[step], settings, database.clone()).unwrap();
            let mut conversation = script.open(0);
            assert_eq!(conversation.greet(), Greeting::Await);
            assert_eq!(conversation.greeted(&[]).unwrap(), (0, Greeting::Done));
            conversation.set(0, value.as_bytes());
            let (reply, _) = transact(&mut conversation);
            assert_eq!(reply.rejection, None, "{mode:?} {value}");
        }
    }
}
