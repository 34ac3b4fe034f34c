//! Connection to a database file. Requests are executed when their replies are read.

use std::fmt::Write as _;
use std::iter;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode};
use sql::{Engine, split};
use wire::sql::{Number, RowSink, ServerError, SessionEvent, Statement, Transaction, Value as SqlValue};
use wire::{Cancel, ErrorClass, Greeting, Interrupt, PeerFault};

use crate::activity::{self, Connection as Activity};
use crate::database::Database;
use crate::errors;
use crate::work::{Item, RequestQueue};

/// A connection to SQLite.
#[derive(Debug)]
pub struct Session {
    database: Arc<Database>,
    connection: Option<Connection>,
    /// State of the connection for monitors. `None` while it is closed.
    activity: Option<Arc<Activity>>,
    work: RequestQueue,
    server_error: ServerError,
    has_begun_reply: bool,
}

/// Result of a statement.
struct StatementResult {
    rows: u64,
    has_rows: bool,
}

impl Session {
    /// Creates a session, which opens the database on login.
    pub fn new(database: Arc<Database>) -> Self {
        let (connection, work, server_error) = (None, RequestQueue::default(), ServerError::default());
        Self { database, connection, activity: None, work, server_error, has_begun_reply: false }
    }

    /// Keeps a new connection, which waits for locks in sight of a monitor.
    fn keep(&mut self, mut connection: Connection) {
        // The timeout was checked when the connection was opened.
        let timeout_ms = self.database.busy_timeout_ms().unwrap_or(0);
        // Without this handler, SQLite waits in its own, which has the same timeout.
        let _ = connection.busy_handler(Some(activity::wait_for_lock));
        self.activity = Some(Activity::new(timeout_ms));
        self.connection = Some(connection);
    }

    fn run(&self, item: &Item, rows: &mut dyn RowSink) -> rusqlite::Result<Option<StatementResult>> {
        let (Item::Run { text, values, is_kept }, Some(connection)) = (item, &self.connection) else {
            return Ok(None);
        };
        let text = self.work.text(text.clone());
        let values = self.work.values(values.clone());
        let changes = connection.total_changes();
        if *is_kept {
            perform(&mut *connection.prepare_cached(text)?, values, rows)
        } else {
            perform(&mut connection.prepare(text)?, values, rows)
        }
        .map(|done| {
            let changed = connection.total_changes().wrapping_sub(changes);
            Some(StatementResult { rows: if done.has_rows { done.rows } else { changed }, ..done })
        })
    }
}

/// Runs a statement to its end. Rows that are not read are only counted.
fn perform<'a>(
    statement: &mut rusqlite::Statement<'_>,
    values: impl Iterator<Item = SqlValue<'a>>,
    sink: &mut dyn RowSink,
) -> rusqlite::Result<StatementResult> {
    for (number, value) in values.enumerate() {
        statement.raw_bind_parameter(number + 1, to_sql_value(value))?;
    }
    let columns = statement.column_count();
    let needs_rows = sink.needs_rows();
    if needs_rows {
        for (number, name) in statement.column_names().enumerate() {
            sink.column(number as u16, name.as_bytes());
        }
    }
    let (mut rows, mut text) = (0, String::new());
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        rows += 1;
        if !needs_rows {
            continue;
        }
        for column in 0..columns {
            sink.value(column as u16, to_text(row.get_ref(column)?, &mut text));
        }
        sink.finish_row();
    }
    Ok(StatementResult { rows, has_rows: columns > 0 })
}

/// Converts a value for SQLite as its literal in SQL text would be. Numbers with a decimal point become doubles.
fn to_sql_value(value: SqlValue<'_>) -> ToSqlOutput<'_> {
    let Some(bytes) = value.text() else { return ToSqlOutput::Owned(Value::Null) };
    let as_double = || std::str::from_utf8(bytes).ok()?.parse().ok();
    let number = match value.number() {
        Some(Number::Integer(number)) => Some(Value::Integer(number)),
        Some(Number::Double(number)) => Some(Value::Real(number)),
        Some(Number::Unsigned(_) | Number::Decimal) => as_double().map(Value::Real),
        None => None,
    };
    number.map_or(ToSqlOutput::Borrowed(ValueRef::Text(bytes)), ToSqlOutput::Owned)
}

/// Formats a value as text. `None` for NULL.
fn to_text<'a>(value: ValueRef<'a>, text: &'a mut String) -> Option<&'a [u8]> {
    text.clear();
    match value {
        ValueRef::Null => return None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => return Some(bytes),
        ValueRef::Integer(number) => {
            let _ = write!(text, "{number}");
        }
        ValueRef::Real(number) => {
            let _ = write!(text, "{number:?}");
        }
    }
    Some(text.as_bytes())
}

/// True if the text has a body with its own semicolons.
fn has_body(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().take(4);
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("CREATE"))
        && words.any(|word| word.eq_ignore_ascii_case("TRIGGER"))
}

impl wire::sql::Session for Session {
    fn greet(&mut self) -> Greeting {
        Greeting::Await
    }

    fn greeted(&mut self, _bytes: &[u8]) -> Result<(usize, Greeting), PeerFault> {
        match self.database.open() {
            Ok(connection) => self.keep(connection),
            Err(words) => {
                let sentence = "the database cannot be opened";
                return Err(PeerFault::new(ErrorClass::LoginRefused, 0, sentence).with_peer_message(words));
            }
        }
        Ok((0, Greeting::Done))
    }

    fn secured(&mut self) -> Greeting {
        Greeting::Done
    }

    fn outgoing(&self) -> &[u8] {
        &[]
    }

    fn clear(&mut self) {
        self.work.clear();
    }

    fn query(&mut self, text: &[u8]) {
        self.has_begun_reply = false;
        let text = String::from_utf8_lossy(text);
        if has_body(&text) {
            self.work.push(&text, &mut iter::empty(), false);
        } else {
            for statement in split(&text, Engine::Sqlite) {
                self.work.push(statement, &mut iter::empty(), false);
            }
        }
        self.work.push_ready();
    }

    fn execute(&mut self, statement: Statement<'_>, values: &mut dyn Iterator<Item = SqlValue<'_>>) {
        self.has_begun_reply = false;
        self.work.push(statement.text, values, statement.is_kept);
    }

    fn sync(&mut self) {
        self.work.push_ready();
    }

    fn received(
        &mut self,
        _bytes: &[u8],
        rows: &mut dyn RowSink,
    ) -> Result<(usize, SessionEvent), PeerFault> {
        let Some(item) = self.work.pop() else { return Ok((0, SessionEvent::NeedMore)) };
        if item == Item::Ready {
            return Ok((0, SessionEvent::Ready));
        }
        let result = match &self.activity {
            Some(activity) => activity.run_call(|| self.run(&item, rows)),
            None => self.run(&item, rows),
        };
        let event = match result {
            Ok(Some(StatementResult { rows, has_rows })) => SessionEvent::Succeeded { rows, has_rows },
            Ok(None) => return Err(not_open()),
            Err(error) => {
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) {
                    activity::note_rejection();
                }
                self.server_error = errors::server_error(&error);
                self.work.skip_to_ready();
                SessionEvent::Rejected
            }
        };
        self.has_begun_reply = true;
        Ok((0, event))
    }

    fn transaction(&self) -> Transaction {
        match &self.connection {
            Some(connection) if !connection.is_autocommit() => Transaction::Open,
            _ => Transaction::Idle,
        }
    }

    fn last_error(&self) -> &ServerError {
        &self.server_error
    }

    fn has_begun_reply(&self) -> bool {
        self.has_begun_reply
    }

    fn farewell(&self) -> &[u8] {
        &[]
    }

    fn cancel(&self) -> Option<Cancel> {
        None
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let handle = self.connection.as_ref()?.get_interrupt_handle();
        Some(Box::new(move || handle.interrupt()))
    }

    fn forget(&mut self) {
        self.connection = None;
        self.activity = None;
        self.work.clear();
        self.has_begun_reply = false;
    }
}

fn not_open() -> PeerFault {
    let sentence = "a statement was to be run on a database that is not open";
    PeerFault::new(ErrorClass::ProtocolError, 0, sentence)
}
