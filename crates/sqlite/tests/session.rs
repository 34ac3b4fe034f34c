//! Session on real files: statements, rows, errors, transactions, and settings.

use std::path::Path;
use std::sync::Arc;

use sqlite::{Database, Session};
use wire::sql::{RowSink, Session as _, SessionEvent, Statement, Transaction, Value};
use wire::{ErrorClass, Greeting};

/// Rows as lists of texts.
#[derive(Debug, Default)]
struct Taken {
    columns: Vec<String>,
    row: Vec<Option<String>>,
    rows: Vec<Vec<Option<String>>>,
}

impl RowSink for Taken {
    fn needs_rows(&self) -> bool {
        true
    }

    fn column(&mut self, number: u16, name: &[u8]) {
        assert_eq!(usize::from(number), self.columns.len());
        self.columns.push(String::from_utf8(name.to_vec()).unwrap());
    }

    fn value(&mut self, column: u16, value: Option<&[u8]>) {
        assert_eq!(usize::from(column), self.row.len());
        self.row.push(value.map(|value| String::from_utf8(value.to_vec()).unwrap()));
    }

    fn finish_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }
}

fn database(folder: &Path) -> Database {
    Database { creates_file: true, ..Database::new(folder.join("test.db")) }
}

fn open(database: Database) -> Session {
    let mut session = Session::new(Arc::new(database));
    assert_eq!(session.greet(), Greeting::Await);
    assert_eq!(session.greeted(&[]).unwrap(), (0, Greeting::Done));
    session
}

/// Collects all events up to the end of the requests.
fn hear(session: &mut Session, rows: &mut dyn RowSink) -> Vec<SessionEvent> {
    let mut all = Vec::new();
    for _ in 0..100 {
        let (used, event) = session.received(&[], rows).unwrap();
        assert_eq!(used, 0);
        all.push(event);
        if event == SessionEvent::Ready {
            break;
        }
    }
    all
}

fn ask(session: &mut Session, text: &str) -> Vec<SessionEvent> {
    session.clear();
    session.query(text.as_bytes());
    hear(session, &mut ())
}

fn execute(
    session: &mut Session,
    text: &str,
    values: &[Option<&[u8]>],
    rows: &mut dyn RowSink,
) -> Vec<SessionEvent> {
    session.clear();
    let statement = Statement { number: 0, text, is_kept: true };
    session.execute(statement, &mut values.iter().copied().map(Value::from));
    session.sync();
    hear(session, rows)
}

fn changed(rows: u64) -> SessionEvent {
    SessionEvent::Succeeded { rows, has_rows: false }
}

#[test]
fn statements_change_and_send_rows() {
    let folder = tempfile::tempdir().unwrap();
    let session = &mut open(database(folder.path()));
    assert_eq!(
        ask(session, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)"),
        [changed(0), SessionEvent::Ready]
    );
    let insert = "INSERT INTO t VALUES (?, ?)";
    let zip = [Some(&b"1"[..]), Some(&b"0601234"[..])];
    assert_eq!(execute(session, insert, &zip, &mut ()), [changed(1), SessionEvent::Ready]);
    assert_eq!(execute(session, insert, &[Some(b"2"), None], &mut ()), [changed(1), SessionEvent::Ready]);
    let mut taken = Taken::default();
    let event =
        execute(session, "SELECT id, name FROM t WHERE id < ? ORDER BY id", &[Some(b"9")], &mut taken);
    assert_eq!(event, [SessionEvent::Succeeded { rows: 2, has_rows: true }, SessionEvent::Ready]);
    assert_eq!(taken.columns, ["id", "name"]);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(taken.rows, [vec![text("1"), text("0601234")], vec![text("2"), None]]);
    assert_eq!(ask(session, "UPDATE t SET name = 'x'"), [changed(2), SessionEvent::Ready]);
    let nothing_found = [SessionEvent::Succeeded { rows: 0, has_rows: true }, SessionEvent::Ready];
    assert_eq!(execute(session, "SELECT * FROM t WHERE id = ?", &[Some(b"7")], &mut ()), nothing_found);
}

#[test]
fn statements_of_a_text_are_answered_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let session = &mut open(database(folder.path()));
    let event = ask(session, "CREATE TABLE t (a); INSERT INTO t VALUES (';'); SELECT * FROM t");
    assert_eq!(
        event,
        [changed(0), changed(1), SessionEvent::Succeeded { rows: 1, has_rows: true }, SessionEvent::Ready]
    );
    let event = ask(session, "INSERT INTO t VALUES (1); INSERT INTO nowhere VALUES (1); DELETE FROM t");
    assert_eq!(
        event,
        [changed(1), SessionEvent::Rejected, SessionEvent::Ready],
        "what follows a refusal is left out"
    );
    let trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t; DELETE FROM t; END";
    assert_eq!(ask(session, trigger), [changed(0), SessionEvent::Ready]);
}

#[test]
fn transactions_are_open_until_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let session = &mut open(database(folder.path()));
    ask(session, "CREATE TABLE t (a UNIQUE)");
    assert_eq!(session.transaction(), Transaction::Idle);
    ask(session, "BEGIN");
    assert_eq!(session.transaction(), Transaction::Open);
    ask(session, "INSERT INTO t VALUES (1)");
    assert_eq!(ask(session, "INSERT INTO t VALUES (1)"), [SessionEvent::Rejected, SessionEvent::Ready]);
    assert_eq!(session.transaction(), Transaction::Open);
    assert_eq!(session.last_error().sqlstate.as_str(), "23505");
    assert_eq!(session.last_error().number, 2067);
    assert_eq!(session.last_error().text, "UNIQUE constraint failed: t.a");
    ask(session, "ROLLBACK");
    assert_eq!(session.transaction(), Transaction::Idle);
    assert_eq!(ask(session, "SELECT * FROM t")[0], SessionEvent::Succeeded { rows: 0, has_rows: true });
}

#[test]
fn errors_have_states() {
    let folder = tempfile::tempdir().unwrap();
    let session = &mut open(database(folder.path()));
    ask(session, "CREATE TABLE t (a NOT NULL CHECK (a < 9))");
    for (text, state) in [
        ("SELEC 1", "42000"),
        ("SELECT * FROM nowhere", "42704"),
        ("INSERT INTO t VALUES (NULL)", "23000"),
        ("INSERT INTO t VALUES (10)", "23000"),
    ] {
        assert_eq!(ask(session, text), [SessionEvent::Rejected, SessionEvent::Ready], "{text}");
        assert_eq!(session.last_error().sqlstate.as_str(), state, "{text}");
        assert!(!session.last_error().text.is_empty());
    }
    let too_many = execute(session, "SELECT 1", &[Some(b"1")], &mut ());
    assert_eq!(too_many, [SessionEvent::Rejected, SessionEvent::Ready]);
}

#[test]
fn lock_wait_follows_busy_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let settings = vec![("busy_timeout".to_owned(), "1".to_owned())];
    let database = Database { settings, ..database(folder.path()) };
    let (holder, other) = (&mut open(database.clone()), &mut open(database));
    ask(holder, "CREATE TABLE t (a)");
    ask(holder, "BEGIN IMMEDIATE");
    assert_eq!(ask(other, "INSERT INTO t VALUES (1)"), [SessionEvent::Rejected, SessionEvent::Ready]);
    assert_eq!(other.last_error().sqlstate.as_str(), "55P03");
    ask(holder, "COMMIT");
    assert_eq!(ask(other, "INSERT INTO t VALUES (1)"), [changed(1), SessionEvent::Ready]);
}

#[test]
fn settings_are_applied() {
    for (name, value, shown) in [
        ("journal_mode", "WAL", "wal"),
        ("journal_mode", "truncate", "truncate"),
        ("journal_mode", "off", "off"),
        ("synchronous", "normal", "1"),
        ("synchronous", "extra", "3"),
        ("cache_size", "-4000", "-4000"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let settings = vec![(name.to_owned(), value.to_owned())];
        let session = &mut open(Database { settings, ..database(folder.path()) });
        let mut taken = Taken::default();
        execute(session, &format!("PRAGMA {name}"), &[], &mut taken);
        assert_eq!(taken.rows, [vec![Some(shown.to_owned())]], "{name}");
    }
}

#[test]
fn open_errors_have_messages() {
    let folder = tempfile::tempdir().unwrap();
    let no_database = folder.path().join("no.db");
    std::fs::write(
        &no_database,
        "this is a text, and rather longer than the head of a page of a database".repeat(20),
    )
    .unwrap();
    let set = |name: &str, value: &str| Database {
        settings: vec![(name.to_owned(), value.to_owned())],
        ..database(folder.path())
    };
    for (database, words) in [
        (Database::new(folder.path().join("missing.db")), "there is no such file"),
        (Database::new(no_database), "file is not a database"),
        (set("journal_mode", "fast"), "journal_mode cannot be \"fast\""),
        (set("synchronous", "1; DROP TABLE t"), "synchronous cannot be"),
        (set("cache_size", "many"), "cache_size: \"many\" is no whole number"),
        (set("colour", "red"), "the setting \"colour\" is not known"),
    ] {
        let fault = Session::new(Arc::new(database)).greeted(&[]).unwrap_err();
        assert_eq!(fault.class, ErrorClass::LoginRefused);
        assert!(fault.message().contains(words), "{}", fault.message());
    }
}

#[test]
fn database_can_be_read_only() {
    let folder = tempfile::tempdir().unwrap();
    ask(&mut open(database(folder.path())), "CREATE TABLE t (a)");
    let session = &mut open(Database { is_read_only: true, ..database(folder.path()) });
    assert_eq!(ask(session, "INSERT INTO t VALUES (1)"), [SessionEvent::Rejected, SessionEvent::Ready]);
    assert_eq!(session.last_error().sqlstate.as_str(), "25006");
}

#[test]
fn session_can_be_closed_and_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let session = &mut open(database(folder.path()));
    ask(session, "CREATE TABLE t (a)");
    ask(session, "BEGIN; INSERT INTO t VALUES (1)");
    session.forget();
    assert_eq!(session.transaction(), Transaction::Idle);
    session.greeted(&[]).unwrap();
    assert_eq!(ask(session, "SELECT * FROM t")[0], SessionEvent::Succeeded { rows: 0, has_rows: true });
    assert_eq!(session.received(&[], &mut ()).unwrap(), (0, SessionEvent::NeedMore));
}
